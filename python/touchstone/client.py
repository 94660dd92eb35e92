"""Clients of `touchstone serve`: `Client` waits, `AsyncClient` is for asyncio.

Both keep one connection with a thread of its own. They reconnect by themselves, send a request that may have been lost
again under its id (which never does a thing twice), and come back later where the server says that it is busy. What a
candidate did, even where it crashed or cheated, is a result; exceptions (touchstone/errors.py) say that a request was
not done.
"""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, TypeVar, Unpack

from touchstone._calls import (
    Call,
    Calls,
    JobOptions,
    ResetOptions,
    SampleOptions,
    ScoreOptions,
    StepOptions,
)
from touchstone._connection import Connection, CurveKeys
from touchstone.results import Collected, ResetResult, Sample, ScoreResult, StepResult, ValidateResult

T = TypeVar("T")

DEFAULT_ADDRESS = "tcp://127.0.0.1:5555"


class _Base:
    """What both clients have in common."""

    def __init__(
        self,
        address: str | None = None,
        *,
        name: str | None = None,
        keys: CurveKeys | None = None,
        timeout: float = 600.0,
        connect_timeout: float = 10.0,
        patience: float = 60.0,
    ) -> None:
        """`address`: of the server; default: the environment variable TOUCHSTONE_ADDRESS, else tcp://127.0.0.1:5555.
        `name`: 1 to 64 printable ASCII characters by which the server knows this client. Results belong to the name:
        give one to find them again from another process. `keys`: for a server that wants CURVE. In seconds: `timeout`
        of a call that has none of its own; `connect_timeout` until a first connection; `patience` with a server that
        is busy, restarting or gone, before BusyError or UnavailableError. Does not wait for the server."""
        self.address = address or os.environ.get("TOUCHSTONE_ADDRESS") or DEFAULT_ADDRESS
        self.name = name or f"py-{socket.gethostname()[:20]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._timeout = timeout
        self._calls = Calls(self.name)
        self._connection = Connection(self.address, keys, connect_timeout, patience)

    def _send(self, call: Call[T]) -> Future[dict[str, Any]]:
        timeout = self._timeout if call.timeout is None else call.timeout
        return self._connection.call(call.method, call.payload, call.request_id, timeout, call.what)

    def _abandon(self, call: Call[T], future: Future[dict[str, Any]]) -> None:
        """The caller went away (Ctrl-C, a cancelled task): the server need not go on with it either."""
        if future.cancel() and call.is_job:
            self._send(self._calls.cancel(call.request_id))


class Client(_Base):
    """A client whose calls wait. May be used from several threads at once; not across fork()."""

    def _wait(self, call: Call[T]) -> T:
        future = self._send(call)
        try:
            return call.read(future.result())
        except BaseException:
            if not future.done():
                self._abandon(call, future)
            raise

    def describe(self) -> dict[str, Any]:
        """What the server offers: tasks, methods, rewards with their ranges, profiles, selectors, limits, device."""
        return self._wait(self._calls.ask("describe"))

    def reset(self, tasks: str | Sequence[str] = (), **options: Unpack[ResetOptions]) -> ResetResult:
        """Opens an episode on one of `tasks`, drawn by the seed; none named: on any that the server has."""
        return self._wait(self._calls.reset(tasks, options))

    def step(
        self, session: str, source: str | None = None, *, response: str | None = None, **options: Unpack[StepOptions]
    ) -> StepResult:
        """Judges a candidate: its `source`, or a model's whole `response`, of which the last fenced block of the
        interface's language is taken. Waits until it is judged and stored, usually seconds."""
        return self._wait(self._calls.step(session, source, response, options))

    def score(
        self, task: str, source: str | None = None, *, response: str | None = None, **options: Unpack[ScoreOptions]
    ) -> ScoreResult:
        """Judges a candidate outside an episode; otherwise as `step`."""
        return self._wait(self._calls.score(task, source, response, options))

    def validate(self, rollout: str, **options: Unpack[JobOptions]) -> ValidateResult:
        """Measures a stored rollout again and compares."""
        return self._wait(self._calls.validate(rollout, options))

    def submit_step(
        self, session: str, source: str | None = None, *, response: str | None = None, **options: Unpack[StepOptions]
    ) -> str:
        """As `step`, but returns at once, when the request is stored: its id, by which `collect` has the result."""
        fields = {"session": session, "source": source, "response": response}
        return self._wait(self._calls.submit("step", fields, options))

    def submit_score(
        self, task: str, source: str | None = None, *, response: str | None = None, **options: Unpack[ScoreOptions]
    ) -> str:
        """As `score`, but returns at once, when the request is stored: its id, by which `collect` has the result."""
        fields = {"task": task, "source": source, "response": response}
        return self._wait(self._calls.submit("score", fields, options))

    def collect(
        self, ids: Iterable[str] | None = None, *, max: int = 64, wait: float = 30.0, timeout: float | None = None
    ) -> Collected:
        """Finished requests of this client's name (of `ids`, where given), first finished first: as soon as there is
        one, or none after `wait` seconds. Each is handed out once by this object; what the process had not come back
        from when it died is handed out again to the next of the same name. From one thread at a time."""
        return self._wait(self._calls.collect(ids, max, wait, timeout))

    def cancel(self, request_id: str) -> bool:
        """Ends a request that waits or runs; it is answered with the status "cancelled". False: nothing to end."""
        return self._wait(self._calls.cancel(request_id))

    def sample(self, task: str, **options: Unpack[SampleOptions]) -> Sample:
        """Draws stored rollouts of a task: exemplars, or a contrastive pair."""
        return self._wait(self._calls.sample(task, options))

    def close_session(self, session: str) -> bool:
        """Ends an episode. False: it had ended before."""
        return self._wait(self._calls.close_session(session))

    def health(self) -> dict[str, Any]:
        """How the server is: `ok`, slots with their states, waiting and running requests, sessions, store. A client of
        the server's health address gets this even while all else is stuck."""
        return self._wait(self._calls.ask("health"))

    def metrics(self) -> str:
        """The server's metrics, in Prometheus' text format."""
        return str(self._wait(self._calls.ask("metrics")).get("text", ""))

    def close(self) -> None:
        """Ends the connection; calls that wait in other threads raise ClientClosedError. Episodes stay open."""
        self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(_Base):
    """A client for asyncio, of any event loop and any number of tasks. Calls mean what those of `Client` do.
    Cancelling the task that awaits a step, score or validate cancels that on the server, too."""

    async def _wait(self, call: Call[T]) -> T:
        future = self._send(call)
        try:
            # Shielded, so that it is we who cancel it, and know whether it was in time.
            return call.read(await asyncio.shield(asyncio.wrap_future(future)))
        except asyncio.CancelledError:
            self._abandon(call, future)
            raise

    async def describe(self) -> dict[str, Any]:
        """As `Client.describe`."""
        return await self._wait(self._calls.ask("describe"))

    async def reset(self, tasks: str | Sequence[str] = (), **options: Unpack[ResetOptions]) -> ResetResult:
        """As `Client.reset`."""
        return await self._wait(self._calls.reset(tasks, options))

    async def step(
        self, session: str, source: str | None = None, *, response: str | None = None, **options: Unpack[StepOptions]
    ) -> StepResult:
        """As `Client.step`."""
        return await self._wait(self._calls.step(session, source, response, options))

    async def score(
        self, task: str, source: str | None = None, *, response: str | None = None, **options: Unpack[ScoreOptions]
    ) -> ScoreResult:
        """As `Client.score`."""
        return await self._wait(self._calls.score(task, source, response, options))

    async def validate(self, rollout: str, **options: Unpack[JobOptions]) -> ValidateResult:
        """As `Client.validate`."""
        return await self._wait(self._calls.validate(rollout, options))

    async def submit_step(
        self, session: str, source: str | None = None, *, response: str | None = None, **options: Unpack[StepOptions]
    ) -> str:
        """As `Client.submit_step`."""
        fields = {"session": session, "source": source, "response": response}
        return await self._wait(self._calls.submit("step", fields, options))

    async def submit_score(
        self, task: str, source: str | None = None, *, response: str | None = None, **options: Unpack[ScoreOptions]
    ) -> str:
        """As `Client.submit_score`."""
        fields = {"task": task, "source": source, "response": response}
        return await self._wait(self._calls.submit("score", fields, options))

    async def collect(
        self, ids: Iterable[str] | None = None, *, max: int = 64, wait: float = 30.0, timeout: float | None = None
    ) -> Collected:
        """As `Client.collect`; from one task at a time."""
        return await self._wait(self._calls.collect(ids, max, wait, timeout))

    async def cancel(self, request_id: str) -> bool:
        """As `Client.cancel`."""
        return await self._wait(self._calls.cancel(request_id))

    async def sample(self, task: str, **options: Unpack[SampleOptions]) -> Sample:
        """As `Client.sample`."""
        return await self._wait(self._calls.sample(task, options))

    async def close_session(self, session: str) -> bool:
        """As `Client.close_session`."""
        return await self._wait(self._calls.close_session(session))

    async def health(self) -> dict[str, Any]:
        """As `Client.health`."""
        return await self._wait(self._calls.ask("health"))

    async def metrics(self) -> str:
        """As `Client.metrics`."""
        return str((await self._wait(self._calls.ask("metrics"))).get("text", ""))

    async def close(self) -> None:
        """As `Client.close`."""
        await asyncio.to_thread(self._connection.close)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
