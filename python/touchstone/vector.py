"""`touchstone.VectorEnv`: many episodes at once, first finished first."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack, cast

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from touchstone._calls import ResetOptions
from touchstone.client import Client
from touchstone.errors import RequestTimeoutError, TouchstoneError
from touchstone.gym import (
    Observed,
    SourceText,
    observation_space,
    observe,
    reset_info,
    reward_or_nan,
    step_info,
)
from touchstone.results import StepResult

Batch = tuple[Observed, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]

LONGEST_WAIT_S = 30.0  # of one collect


@dataclass
class _Row:
    env_id: int
    observation: Observed
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class VectorEnv(gymnasium.vector.VectorEnv[Observed, Sequence[str], NDArray[Any]]):
    """`num_envs` episodes of one server, over submit and collect; arguments as of `Env`.

    `reset` and `step` do what Gymnasium says of vector environments with the autoreset mode NEXT_STEP: an episode that
    has ended is reset by its next step, which ignores the action and has the reward 0. `send` and `recv` are for those
    who do not want to wait for the slowest: `send` gives actions to some environments, `recv` returns the
    `batch_size` that finished first, with `info["env_id"]`. A step without a reward has the reward NaN, with
    `info["fault"]` and `info["why_no_reward"]`: raising would lose the others. A request that failed ends its episode
    as truncated, with the exception in `info["error"]`. Not thread-safe.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int,
        tasks: str | Sequence[str] = (),
        *,
        batch_size: int | None = None,
        client: Client | None = None,
        address: str | None = None,
        actions: Literal["source", "response"] = "source",
        **options: Unpack[ResetOptions],
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, not {num_envs}")
        if not 1 <= (batch_size or num_envs) <= num_envs:
            raise ValueError(f"batch_size must be 1 … num_envs ({num_envs}), not {batch_size}")
        if actions not in ("source", "response"):
            raise ValueError(f"actions must be 'source' or 'response', not {actions!r}")
        self.num_envs = num_envs
        self.batch_size = batch_size or num_envs
        self.single_action_space = SourceText()
        self.single_observation_space = cast("gymnasium.Space[Observed]", observation_space())
        self.action_space = cast("gymnasium.Space[Sequence[str]]", batch_space(self.single_action_space, num_envs))
        self.observation_space = cast("gymnasium.Space[Observed]", batch_space(self.single_observation_space, num_envs))
        self._tasks = tasks
        self._options = options
        self._actions = actions
        self._own_client = client is None
        self._client = client or Client(address)
        self._sessions: list[str | None] = [None] * num_envs  # None: the next step resets
        self._last: list[Observed] = [{}] * num_envs
        self._waiting: dict[str, int] = {}  # request id -> env
        self._ready: list[_Row] = []

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Opens an episode in each. `seed`: the first one's, the others count up; or one for each. `options` as of
        `Env.reset`. What was sent and not received is cancelled."""
        seeds: list[int | None]
        if seed is None or isinstance(seed, int):
            super().reset(seed=seed)
            seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} environments")
        for request_id in self._waiting:
            self._client.cancel(request_id)
        self._waiting.clear()
        self._ready.clear()
        rows = [self._open(i, each, options or {}) for i, each in enumerate(seeds)]
        return _observations(rows), _infos(rows)

    def step(self, actions: Sequence[str]) -> Batch:
        """One step of each; waits for all."""
        self.send(actions)
        return self._batch(sorted(self._take(self.num_envs, None), key=lambda row: row.env_id))

    def send(self, actions: Sequence[str], env_ids: Sequence[int] | None = None) -> None:
        """Gives one action to each of `env_ids` (default: all). Does not wait for an evaluation."""
        ids = list(range(self.num_envs)) if env_ids is None else [int(i) for i in env_ids]
        if len(actions) != len(ids):
            raise ValueError(f"{len(actions)} actions for {len(ids)} environments")
        for env_id in ids:
            if not 0 <= env_id < self.num_envs:
                raise ValueError(f"env_ids: {env_id} is not one of the {self.num_envs} environments")
            if env_id in self._waiting.values() or any(row.env_id == env_id for row in self._ready):
                raise ValueError(f"env_ids: environment {env_id} has not been received since its last action")
            if not self._last[env_id]:
                raise gymnasium.error.ResetNeeded("no episode is open: call reset()")
        for env_id, action in zip(ids, actions, strict=True):
            session = self._sessions[env_id]
            if session is None:
                self._ready.append(self._open(env_id, None, {}))
                continue
            source, response = (action, None) if self._actions == "source" else (None, action)
            try:
                self._waiting[self._client.submit_step(session, source, response=response)] = env_id
            except TouchstoneError as error:
                self._ready.append(self._failed(env_id, error))

    def recv(self, timeout: float | None = None) -> Batch:
        """The `batch_size` environments that finished first, in the order of finishing; fewer where fewer were sent.
        `timeout`: seconds, then RequestTimeoutError, and nothing is lost."""
        if not self._waiting and not self._ready:
            raise RuntimeError("recv() without send(): nothing is on its way")
        return self._batch(self._take(self.batch_size, timeout))

    def close_extras(self, **kwargs: Any) -> None:
        for session in self._sessions:
            if session is not None:
                self._client.close_session(session)
        self._sessions = [None] * self.num_envs
        if self._own_client:
            self._client.close()

    # --- private ----------------------------------------------------------------------------------------------------

    def _open(self, env_id: int, seed: int | None, options: dict[str, Any]) -> _Row:
        session, self._sessions[env_id] = self._sessions[env_id], None
        if session is not None:
            self._client.close_session(session)
        drawn = int(self.np_random.integers(2**63)) if seed is None else seed
        asked: dict[str, Any] = {**self._options, "seed": drawn, **options}
        reset = self._client.reset(asked.pop("tasks", self._tasks), **asked)
        self._sessions[env_id] = reset.session
        self._last[env_id] = observe(reset.observation)
        return _Row(env_id, self._last[env_id], 0.0, False, False, reset_info(reset))

    def _failed(self, env_id: int, error: TouchstoneError) -> _Row:
        self._sessions[env_id] = None
        info = {"error": error, "fault": error.fault, "why_no_reward": str(error)}
        return _Row(env_id, self._last[env_id], math.nan, False, True, info)

    def _finished(self, env_id: int, step: StepResult) -> _Row:
        if step.terminated or step.truncated:
            self._sessions[env_id] = None
        self._last[env_id] = observe(step.observation)
        return _Row(env_id, self._last[env_id], reward_or_nan(step), step.terminated, step.truncated, step_info(step))

    def _take(self, count: int, timeout: float | None) -> list[_Row]:
        count = min(count, len(self._waiting) + len(self._ready))
        end = math.inf if timeout is None else time.monotonic() + timeout
        while len(self._ready) < count:
            wait = min(LONGEST_WAIT_S, end - time.monotonic())
            if wait <= 0:
                raise RequestTimeoutError(f"{len(self._ready)} of {count} steps finished within {timeout} s")
            for finished in self._client.collect(list(self._waiting), max=count - len(self._ready), wait=wait).results:
                env_id = self._waiting.pop(finished.id)
                if isinstance(finished.result, StepResult):
                    self._ready.append(self._finished(env_id, finished.result))
                else:
                    error = finished.error or TouchstoneError(f"request {finished.id} was answered as {finished.call}")
                    self._ready.append(self._failed(env_id, error))
        taken, self._ready = self._ready[:count], self._ready[count:]
        return taken

    def _batch(self, rows: list[_Row]) -> Batch:
        return (
            _observations(rows),
            np.array([row.reward for row in rows], np.float64),
            np.array([row.terminated for row in rows], np.bool_),
            np.array([row.truncated for row in rows], np.bool_),
            _infos(rows),
        )


def _observations(rows: list[_Row]) -> Observed:
    """As the batched space has them: texts as tuples, numbers as arrays."""
    batch: Observed = {}
    for key in rows[0].observation:
        values = [row.observation[key] for row in rows]
        batch[key] = tuple(values) if isinstance(values[0], str) else np.array(values)
    return batch


def _infos(rows: list[_Row]) -> dict[str, Any]:
    """Gymnasium's form: an array for each key, and under `_key` which rows have it."""
    infos: dict[str, Any] = {"env_id": np.array([row.env_id for row in rows])}
    for key in {key: None for row in rows for key in row.info}:
        has = np.array([key in row.info for row in rows])
        values = np.full(len(rows), None, dtype=object)
        for i, row in enumerate(rows):
            values[i] = row.info.get(key)
        infos[key] = values.astype(np.float64) if has.all() and isinstance(values[0], float) else values
        infos[f"_{key}"] = has
    return infos
