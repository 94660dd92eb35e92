"""Every call of docs/wire.md: what is sent, and how its answer is read. No input and output here."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar

import msgpack

from touchstone.errors import ProtocolError, error_from_wire
from touchstone.results import (
    Collected,
    Finished,
    Reply,
    ResetResult,
    Sample,
    ScoreResult,
    StepResult,
    ValidateResult,
    decode,
)

PROTOCOL_VERSION = 1
T = TypeVar("T")


class CallOptions(TypedDict, total=False):
    """`timeout`: seconds that the caller waits at most (default: the client's). `request_id`: 1 to 64 printable ASCII
    characters; a request that was made before under this id is answered again and not done again."""

    timeout: float
    request_id: str


class JobOptions(CallOptions, total=False):
    """`deadline`: seconds from now, waiting in the server's queue included; past it the result has the status
    "deadline". `priority`: −10 … 10, higher is sooner. `prompt_hash` and `policy_version` are kept with the rollout."""

    deadline: float
    priority: int
    prompt_hash: str
    policy_version: str


class StepOptions(JobOptions, total=False):
    """`turn`: the turn that the caller means, from 0; another one is a ConflictError (default: whichever is next)."""

    turn: int


class ScoreOptions(JobOptions, total=False):
    """`method`: a file of configs/methods (default "default"), which `profile`, `reward` and `size` override.
    `baseline_source`: time against this candidate, not the reference. `group_id` groups rollouts in the store."""

    method: str
    profile: str
    reward: str
    size: str
    baseline_source: str
    group_id: str


class ResetOptions(CallOptions, total=False):
    """`method`: a file of configs/methods (default "default"), which the rest overrides. `seed` fixes task, exemplars
    and texts. `target_speedup` ends an episode that reaches it, `budget` one that takes longer (seconds). `exemplars`:
    how many stored rollouts the first observation shows, drawn by `selector` from records up to `exemplars_as_of`."""

    method: str
    seed: int
    profile: str
    reward: str
    size: str
    max_turns: int
    target_speedup: float
    budget: float
    exemplars: int
    selector: str
    exemplars_as_of: int
    group_id: str
    policy_version: str
    baseline_source: str


class SampleOptions(TypedDict, total=False):
    """`selector`: "uniform", "top_k" or "cuda_l1" (two distinct score buckets; `temperature`, `bucket_width`). The same
    `seed` and `as_of` draw the same rollouts again. `group_id`: only of this group. `timeout`: seconds."""

    selector: str
    count: int
    seed: int
    as_of: int
    group_id: str
    temperature: float
    bucket_width: float
    timeout: float


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, ready to be sent, and what makes a value of its answer."""

    method: str
    payload: bytes
    request_id: str
    timeout: float | None
    what: str
    read: Callable[[dict[str, Any]], T]
    is_job: bool = False  # giving up on it cancels it


# What `collect` can hand out: submitted requests, and direct ones whose answer found no connection.
_REPLIES: dict[str, type[Reply]] = {
    "reset": ResetResult,
    "step": StepResult,
    "score": ScoreResult,
    "validate": ValidateResult,
}
_SECONDS = {"budget": "budget_ms", "deadline": "deadline_ms", "wait": "wait_ms"}


class Calls:
    """The calls of one client by its name. Thread-safe."""

    def __init__(self, client: str) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._handed_out: set[str] = set()  # by collect, not yet acknowledged

    def reset(self, tasks: str | Sequence[str], options: ResetOptions) -> Call[ResetResult]:
        names = [tasks] if isinstance(tasks, str) else list(tasks)
        what = f"reset on {', '.join(names[:3]) or 'any task'}"
        return self._call("reset", {"tasks": names}, options, ResetOptions, what, _reader(ResetResult))

    def step(self, session: str, source: str | None, response: str | None, options: StepOptions) -> Call[StepResult]:
        fields = {"session": session, "source": source, "response": response}
        return self._call("step", fields, options, StepOptions, f"step of {session}", _reader(StepResult), is_job=True)

    def score(self, task: str, source: str | None, response: str | None, options: ScoreOptions) -> Call[ScoreResult]:
        fields = {"task": task, "source": source, "response": response}
        return self._call("score", fields, options, ScoreOptions, f"score on {task}", _reader(ScoreResult), is_job=True)

    def validate(self, rollout: str, options: JobOptions) -> Call[ValidateResult]:
        what = f"validate of {rollout}"
        return self._call(
            "validate", {"rollout": rollout}, options, JobOptions, what, _reader(ValidateResult), is_job=True
        )

    def submit(self, call: str, fields: dict[str, Any], options: StepOptions | ScoreOptions) -> Call[str]:
        kind = StepOptions if call == "step" else ScoreOptions
        request_id = options.get("request_id") or new_request_id()

        def read(reply: dict[str, Any]) -> str:
            if reply.get("accepted") is not True:
                raise ProtocolError(f"the answer to submit does not accept: {reply!r:.80}", request_id=request_id)
            return request_id

        with_id: Mapping[str, Any] = {**options, "request_id": request_id}
        return self._call("submit", {"call": call, **fields}, with_id, kind, f"submit of a {call}", read)

    def collect(self, ids: Iterable[str] | None, most: int, wait: float, timeout: float | None) -> Call[Collected]:
        with self._lock:
            acknowledged = sorted(self._handed_out)
        fields = {"ids": None if ids is None else list(ids), "max": most, "wait": wait, "ack": acknowledged or None}

        def read(reply: dict[str, Any]) -> Collected:
            results = [_finished(item) for item in reply.get("results") or ()]
            with self._lock:
                self._handed_out.difference_update(acknowledged)
                new = [result for result in results if result.id not in self._handed_out]
                self._handed_out.update(result.id for result in new)
            return Collected(tuple(new), int(reply.get("pending") or 0))

        options: CallOptions = {"timeout": wait + 60.0 if timeout is None else timeout}
        return self._call("collect", fields, options, CallOptions, "collect", read)

    def cancel(self, request_id: str) -> Call[bool]:
        return self._call("cancel", {"id": request_id}, {}, CallOptions, f"cancel of {request_id}", _flag("cancelled"))

    def close_session(self, session: str) -> Call[bool]:
        return self._call("close", {"session": session}, {}, CallOptions, f"close of {session}", _flag("closed"))

    def sample(self, task: str, options: SampleOptions) -> Call[Sample]:
        fields = {"task": task}
        return self._call("sample", fields, options, SampleOptions, f"sample of {task}", _reader(Sample), named=False)

    def ask(self, method: str) -> Call[dict[str, Any]]:
        """describe, health, metrics: no fields, an answer as it comes."""
        return self._call(method, {}, {}, CallOptions, method, lambda reply: reply, named=False)

    def _call(
        self,
        method: str,
        fields: Mapping[str, Any],
        options: Mapping[str, Any],
        known: type,
        what: str,
        read: Callable[[dict[str, Any]], T],
        *,
        named: bool = True,
        is_job: bool = False,
    ) -> Call[T]:
        if unknown := set(options) - set(known.__annotations__):
            raise TypeError(f"{method} has no option '{sorted(unknown)[0]}'; it has {', '.join(known.__annotations__)}")
        payload: dict[str, Any] = {"v": PROTOCOL_VERSION}
        if named:
            payload["client"] = self._client
        for name, value in {**fields, **options}.items():
            if value is None or name in CallOptions.__annotations__:
                continue
            payload[_SECONDS.get(name, name)] = round(value * 1000) if name in _SECONDS else value
        request_id = options.get("request_id") or new_request_id()
        return Call(method, msgpack.packb(payload), request_id, options.get("timeout"), what, read, is_job)


def new_request_id() -> str:
    return uuid.uuid4().hex


def _reader(kind: type[T]) -> Callable[[dict[str, Any]], T]:
    return lambda reply: decode(kind, reply)


def _flag(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda reply: decode(bool, reply.get(name), name)


def _finished(item: Any) -> Finished:
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        raise ProtocolError(f"a collected result is {item!r:.80}", field="results")
    request_id, call = item["id"], str(item.get("call"))
    if item.get("ok") is not True:
        return Finished(request_id, call, None, error_from_wire(item.get("error") or {}, request_id))
    if call not in _REPLIES:
        raise ProtocolError(f"a collected result of call '{call}'", field="results.call")
    return Finished(request_id, call, decode(_REPLIES[call], item.get("reply"), "results.reply"), None)
