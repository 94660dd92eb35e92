"""One DEALER socket in one thread of its own, and requests that any thread may put to it.

A request is sent again by its id after the connection was lost or when no answer has come for a while: the server
answers it again and does not do it again. Nothing ever waits inside `recv`, so giving up on one request cannot lose
the answer to another.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import functools
import math
import os
import pathlib
import random
import socket
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import msgpack
import zmq
from zmq.utils.monitor import recv_monitor_message

from touchstone.errors import (
    BusyError,
    ClientClosedError,
    ProtocolError,
    RequestTimeoutError,
    TouchstoneError,
    UnavailableError,
    error_from_wire,
)

FIRST_RESEND_S = 10.0  # an answer that is not there by then may have been lost; doubled each time
LAST_RESEND_S = 60.0
RETRY_UNAVAILABLE_S = 0.5


@dataclass(frozen=True)
class CurveKeys:
    """Z85 text of the server's public key and of this client's pair. `repr` does not show the secret one."""

    server_public: str
    public: str
    secret: str = field(repr=False)

    @staticmethod
    def load(path: str | os.PathLike[str], server_public: str) -> CurveKeys:
        """From a file of `touchstone keys new`."""
        lines = dict(line.split(maxsplit=1) for line in pathlib.Path(path).read_text().splitlines())
        return CurveKeys(server_public, lines["public"], lines["secret"])


@dataclass
class _Request:
    id: str
    method: str
    payload: bytes
    what: str  # for people: what is waited for
    future: Future[dict[str, Any]]
    started: float
    deadline: float
    send_at: float = 0.0  # 0: now
    sends: int = 0
    resend_after: float = field(default_factory=lambda: FIRST_RESEND_S)
    refused: TouchstoneError | None = None  # the last "busy" or "unavailable"
    refused_since: float = math.inf


class Connection:
    """Thread-safe. A process that was forked from the owner's may not use it, and is told so."""

    def __init__(self, address: str, keys: CurveKeys | None, connect_timeout: float, patience: float) -> None:
        self.address = address
        self._connect_timeout = connect_timeout
        self._patience = patience
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._inbox: collections.deque[Callable[[], None]] = collections.deque()
        self._closing = False
        self._failure: BaseException | None = None
        # From here on only the thread's.
        self._requests: dict[str, _Request] = {}
        self._connected_once = False
        self._lost_at = time.monotonic()  # math.inf: the connection stands
        self._context = zmq.Context()
        try:
            self._socket = self._open_socket(keys)
        except (zmq.ZMQError, ValueError) as error:
            self._context.destroy(0)
            raise UnavailableError(f"cannot connect to '{address}': {error}") from error
        self._wake_read, self._wake_write = socket.socketpair()
        self._wake_read.setblocking(False)
        self._wake_write.setblocking(False)
        self._thread = threading.Thread(target=self._run, name=f"touchstone {address}", daemon=True)
        self._thread.start()
        _open_connections.add(self)

    def call(self, method: str, payload: bytes, request_id: str, timeout: float, what: str) -> Future[dict[str, Any]]:
        """The payload of the reply, or its error. Cancelling the future forgets the request."""
        if os.getpid() != self._pid:
            raise RuntimeError("a touchstone client does not survive fork(): make one in each process")
        now = time.monotonic()
        request = _Request(request_id, method, payload, what, Future(), now, now + timeout)
        forget = functools.partial(self._post, functools.partial(self._forget, request))
        request.future.add_done_callback(lambda future: forget() if future.cancelled() else None)
        if not self._post(lambda: self._take(request)):
            raise self._why_ended(what)
        return request.future

    def close(self) -> None:
        """Ends what waits with ClientClosedError. Any number of times; not from a callback of a future."""
        if os.getpid() != self._pid:
            return
        self._post(lambda: None, closing=True)
        self._thread.join()

    # --- any thread -------------------------------------------------------------------------------------------------

    def _post(self, action: Callable[[], None], closing: bool = False) -> bool:
        with self._lock:
            if self._closing:
                return False
            self._closing = closing
            self._inbox.append(action)
            with contextlib.suppress(BlockingIOError):  # then it is awake
                self._wake_write.send(b"x")
        return True

    def _why_ended(self, what: str) -> TouchstoneError:
        if self._failure is not None:
            return TouchstoneError(f"no answer to {what}: the client's own thread failed: {self._failure!r}")
        return ClientClosedError(f"no answer to {what}: the client of {self.address} is closed")

    # --- the connection's thread ------------------------------------------------------------------------------------

    def _open_socket(self, keys: CurveKeys | None) -> zmq.Socket[bytes]:
        opened = self._context.socket(zmq.DEALER)
        opened.linger = 0
        opened.immediate = True  # nothing is queued for a server that is not there: requests are kept here
        opened.sndhwm = opened.rcvhwm = 0
        opened.reconnect_ivl, opened.reconnect_ivl_max = 50, 1000
        opened.heartbeat_ivl, opened.heartbeat_timeout = 5_000, 20_000  # a half-open connection ends
        opened.ipv6 = "[" in self.address
        if keys is not None:
            opened.curve_serverkey = keys.server_public.encode()
            opened.curve_publickey = keys.public.encode()
            opened.curve_secretkey = keys.secret.encode()
        self._monitor = opened.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED)
        opened.connect(self.address)
        return opened

    def _run(self) -> None:
        try:
            while not self._closing:
                self._turn()
        except BaseException as error:  # a bug of ours must not leave callers waiting for ever
            self._failure = error
        finally:
            with self._lock:
                self._closing = True
            self._finish()

    def _finish(self) -> None:
        while self._inbox:  # requests that came in at the last moment are answered, too
            self._inbox.popleft()()
        for request in list(self._requests.values()):
            self._fail(request, self._why_ended(request.what))
        self._socket.disable_monitor()
        self._monitor.close(0)
        self._context.destroy(0)
        self._wake_read.close()
        self._wake_write.close()

    def _turn(self) -> None:
        while self._inbox:
            self._inbox.popleft()()
        now = time.monotonic()
        for request in list(self._requests.values()):
            self._give_up_when_late(request, now)
        unsent = self._send_what_is_due(now)
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN | (zmq.POLLOUT if unsent else 0))
        poller.register(self._monitor, zmq.POLLIN)
        poller.register(self._wake_read, zmq.POLLIN)
        wait = self._next_event(unsent) - time.monotonic()
        poller.poll(None if wait == math.inf else max(0, math.ceil(wait * 1000)))
        with contextlib.suppress(BlockingIOError):
            while self._wake_read.recv(4096):
                pass
        self._follow_connection()
        self._receive()

    def _take(self, request: _Request) -> None:
        if request.id in self._requests:
            error = TouchstoneError(f"request id '{request.id}' is already waited for", fault="request", field="id")
            _settle(request.future, error=error)
        elif not request.future.done():
            self._requests[request.id] = request

    def _forget(self, request: _Request) -> None:
        if self._requests.get(request.id) is request:
            del self._requests[request.id]

    def _fail(self, request: _Request, error: TouchstoneError) -> None:
        self._forget(request)
        error.request_id = request.id
        _settle(request.future, error=error)

    def _give_up_when_late(self, request: _Request, now: float) -> None:
        waited = now - request.started
        if now >= request.deadline:
            state = "connected" if self._lost_at == math.inf else f"not connected for {now - self._lost_at:.1f} s"
            refused = f"; last refusal: {request.refused}" if request.refused else ""
            self._fail(
                request,
                RequestTimeoutError(
                    f"no answer to {request.what} from {self.address} in {waited:.1f} s "
                    f"(request {request.id}, sent {request.sends} times, {state}{refused})"
                ),
            )
        elif request.refused is not None and now - request.refused_since >= self._patience:
            self._fail(request, request.refused)
        elif self._lost_at != math.inf:
            limit = self._patience if self._connected_once else self._connect_timeout
            if now - max(self._lost_at, request.started) >= limit:
                state = "has been away" if self._connected_once else "does not answer"
                self._fail(
                    request,
                    UnavailableError(f"the server at {self.address} {state}: waited {waited:.1f} s for {request.what}"),
                )

    def _send_what_is_due(self, now: float) -> bool:
        """True: something is left to be sent as soon as the socket can."""
        for request in self._requests.values():
            if request.send_at > now:
                continue
            try:
                frames = [request.id.encode(), request.method.encode(), request.payload]
                self._socket.send_multipart(frames, zmq.NOBLOCK)
            except zmq.Again:
                return True
            request.sends += 1
            request.send_at = now + request.resend_after
            request.resend_after = min(2 * request.resend_after, LAST_RESEND_S)
        return False

    def _next_event(self, unsent: bool) -> float:
        when = math.inf
        for request in self._requests.values():
            when = min(when, request.deadline, request.refused_since + self._patience)
            if request.send_at > 0 and not unsent:
                when = min(when, request.send_at)
            if self._lost_at != math.inf:
                limit = self._patience if self._connected_once else self._connect_timeout
                when = min(when, max(self._lost_at, request.started) + limit)
        return when

    def _follow_connection(self) -> None:
        while self._monitor.poll(0):
            if recv_monitor_message(self._monitor)["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self._connected_once, self._lost_at = True, math.inf
                continue
            self._lost_at = min(self._lost_at, time.monotonic())
            # Whatever had been sent may be lost. What was refused keeps its time to come back.
            for request in self._requests.values():
                if request.refused is None:
                    request.send_at, request.resend_after = 0.0, FIRST_RESEND_S

    def _receive(self) -> None:
        while True:
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            # What answers nothing that is waited for is a second answer to something sent twice, or not an answer.
            request = self._requests.get(frames[0].decode("ascii", "replace"))
            if request is not None:
                self._answer(request, frames[1:])

    def _answer(self, request: _Request, frames: list[bytes]) -> None:
        try:
            kind, payload = frames
            fields = msgpack.unpackb(payload)
            if kind not in (b"ok", b"error") or not isinstance(fields, dict):
                raise ValueError(f"a reply of kind {kind!r:.20} with a {type(fields).__name__}")
        except Exception as unreadable:  # the list of what msgpack raises is long
            self._fail(request, ProtocolError(f"the answer to {request.what} cannot be read: {unreadable}"))
            return
        if kind == b"ok":
            self._forget(request)
            _settle(request.future, result=fields)
            return
        error = error_from_wire(fields, request.id)
        if not isinstance(error, BusyError | UnavailableError):
            self._fail(request, error)
            return
        now = time.monotonic()
        request.refused = error
        request.refused_since = min(request.refused_since, now)
        pause = (error.retry_after if isinstance(error, BusyError) else None) or RETRY_UNAVAILABLE_S
        request.send_at = now + pause * random.uniform(1.0, 1.25)  # not all clients at once
        request.resend_after = FIRST_RESEND_S


def _settle(
    future: Future[dict[str, Any]], *, result: dict[str, Any] | None = None, error: TouchstoneError | None = None
) -> None:
    if not future.set_running_or_notify_cancel():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result or {})


_open_connections: weakref.WeakSet[Connection] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for connection in list(_open_connections):
        connection.close()
