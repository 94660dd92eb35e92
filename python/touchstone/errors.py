"""What can go wrong between a client and a server. What a candidate did is never among it: that is data in a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class TouchstoneError(Exception):
    """A request was not done.

    `code` is the wire's word (docs/wire.md), `fault` is whose it was ("request" or "environment"), `field` names what
    is wrong in the request and `limit` what it may be, where there is such a thing. `request_id` is the request's:
    calling again with `request_id=` never does a thing twice.
    """

    code = "error"
    fault = "environment"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        fault: str | None = None,
        field: str | None = None,
        limit: Any = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.fault = fault or type(self).fault
        self.field = field
        self.limit = limit
        self.request_id = request_id


class InvalidArgumentError(TouchstoneError):
    """A field of the request is wrong; the message names it and its limit."""

    code = "invalid_argument"
    fault = "request"


class NotFoundError(TouchstoneError):
    """No such task, method, session or rollout."""

    code = "not_found"
    fault = "request"


class SessionClosedError(TouchstoneError):
    """The episode has ended; the message says why."""

    code = "closed"
    fault = "request"


class ConflictError(TouchstoneError):
    """A step of this session is in flight, or `turn` is another than the next."""

    code = "conflict"
    fault = "request"


class VersionError(TouchstoneError):
    """Client and server speak different versions of the protocol."""

    code = "version"
    fault = "request"


class TooLargeError(TouchstoneError):
    """The request is above `limit` bytes."""

    code = "too_large"
    fault = "request"


class InternalError(TouchstoneError):
    """A failure of the server."""

    code = "internal"


class BusyError(TouchstoneError):
    """The server's queue was full for longer than the client's patience. Come back after `retry_after` seconds."""

    code = "busy"

    def __init__(self, message: str, *, retry_after: float | None = None, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.retry_after = retry_after


class UnavailableError(TouchstoneError):
    """No server is there, it is shutting down, or none of its slots works."""

    code = "unavailable"


class RequestTimeoutError(TouchstoneError, TimeoutError):
    """No answer within the time that the caller gave. The request may still be worked on: ask again by its id."""

    code = "timeout"


class ProtocolError(TouchstoneError):
    """The server's answer is not what docs/wire.md says."""

    code = "protocol"


class ClientClosedError(TouchstoneError):
    """The client was closed while the request waited, or before."""

    code = "client_closed"
    fault = "request"


class NoRewardError(TouchstoneError):
    """A step has no reward: no candidate can earn or lose one by it. `result` is the whole `StepResult`."""

    code = "no_reward"

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


class EnvironmentFault(NoRewardError):
    """A step has no reward because the environment failed, not the candidate."""

    code = "environment_fault"


_BY_CODE = {
    kind.code: kind
    for kind in (
        InvalidArgumentError,
        NotFoundError,
        SessionClosedError,
        ConflictError,
        VersionError,
        TooLargeError,
        InternalError,
        BusyError,
        UnavailableError,
    )
}


def error_from_wire(fields: Mapping[str, Any], request_id: str | None) -> TouchstoneError:
    """The exception for the payload of an error reply; a code that this client does not know is a TouchstoneError."""
    code = fields.get("code")
    kind = _BY_CODE.get(str(code), TouchstoneError)
    common: dict[str, Any] = {
        "code": str(code) if code is not None else None,
        "fault": fields.get("fault"),
        "field": fields.get("field") or None,
        "limit": fields.get("limit"),
        "request_id": request_id,
    }
    retry_after_ms = fields.get("retry_after_ms")
    if issubclass(kind, BusyError):
        common["retry_after"] = retry_after_ms / 1000 if isinstance(retry_after_ms, int | float) else None
    return kind(str(fields.get("message") or f"the server answered '{code}' without a message"), **common)
