"""`touchstone.Env`: one episode after the other as a Gymnasium environment. Importing this module tells
Gymnasium of it: `gymnasium.make("touchstone.gym:Touchstone-v0", tasks="add")`."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any, Literal, Unpack, cast

import gymnasium
import numpy as np

from touchstone._calls import ResetOptions
from touchstone.client import Client
from touchstone.errors import EnvironmentFault, NoRewardError
from touchstone.results import Observation, ResetResult, StepResult

Observed = dict[str, Any]

MAX_TEXT_BYTES = 4 << 20
MAX_SOURCE_BYTES = 1 << 20  # the server's default; `describe` says what a server takes
MAX_TURNS = 10_000
MAX_SPEEDUP = 1e9


class SourceText(gymnasium.Space[str]):
    """Any Unicode text of at most `max_bytes` in UTF-8: source code, or what a model says. (Gymnasium's own `Text`
    lists the characters that may occur.) Samples are short lines of printable ASCII."""

    def __init__(self, max_bytes: int = MAX_SOURCE_BYTES, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=str, seed=seed)
        self.max_bytes = max_bytes

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        if mask is not None or probability is not None:
            raise ValueError("a SourceText has neither mask nor probability")
        length = self.np_random.integers(1, min(80, self.max_bytes) + 1)
        return "".join(self.np_random.choice(list(string.ascii_letters + string.digits + " ;(){}"), size=length))

    def contains(self, x: Any) -> bool:
        if not isinstance(x, str):
            return False
        try:
            return len(x.encode()) <= self.max_bytes
        except UnicodeEncodeError:  # half of a surrogate pair is not text
            return False

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"SourceText({self.max_bytes})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourceText) and other.max_bytes == self.max_bytes


def observation_space() -> gymnasium.spaces.Dict:
    """What `observe` makes. `prompt` is the text for the policy; the rest is for programs."""
    return gymnasium.spaces.Dict(
        {
            "prompt": SourceText(MAX_TEXT_BYTES),
            "task": SourceText(256),
            "outcome": SourceText(256),
            "feedback": SourceText(MAX_TEXT_BYTES),
            "turn": gymnasium.spaces.Discrete(MAX_TURNS + 1),
            "turns_left": gymnasium.spaces.Discrete(MAX_TURNS + 1),
            "best_speedup": gymnasium.spaces.Box(0.0, MAX_SPEEDUP, (), np.float64),
        }
    )


def observe(observation: Observation) -> Observed:
    return {
        "prompt": observation.prompt,
        "task": observation.task,
        "outcome": observation.outcome,
        "feedback": observation.feedback,
        "turn": observation.turn,
        "turns_left": observation.turns_left,
        "best_speedup": np.asarray(observation.best_speedup, np.float64),
    }


def reset_info(reset: ResetResult) -> dict[str, Any]:
    return {"session": reset.session, "observation": reset.observation, "reward_preset": reset.reward_preset}


def step_info(step: StepResult) -> dict[str, Any]:
    """Scalars for loggers, and the whole `StepResult`. `speedup` is 0 where there is none."""
    return {
        "status": step.status,
        "fault": step.fault,
        "reason": step.reason,
        "why_no_reward": step.info.why_none,
        "rollout": step.info.rollout,
        "speedup": step.info.result.rewarded_speedup,
        "reward_increment": step.reward_increment,
        "result": step,
    }


def reward_or_nan(step: StepResult) -> float:
    return math.nan if step.reward is None else step.reward


class Env(gymnasium.Env[Observed, str]):
    """An action is the source of a candidate or, with `actions="response"`, a model's whole answer.

    `tasks`: one is drawn for each episode; none: any that the server has. `client`: one that others use, too; default:
    one of its own to `address`. `no_reward`: what a step without a reward does: "raise" EnvironmentFault where the
    environment failed and NoRewardError where the method gives none, or "nan" with `info["fault"]` and
    `info["why_no_reward"]`. Other keywords: those of `Client.reset`, for every episode; `options` of `reset` has
    precedence and may name `tasks`. A step waits until the candidate is judged and stored. Not thread-safe.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        tasks: str | Sequence[str] = (),
        *,
        client: Client | None = None,
        address: str | None = None,
        actions: Literal["source", "response"] = "source",
        no_reward: Literal["raise", "nan"] = "raise",
        render_mode: None = None,
        **options: Unpack[ResetOptions],
    ) -> None:
        if actions not in ("source", "response"):
            raise ValueError(f"actions must be 'source' or 'response', not {actions!r}")
        if no_reward not in ("raise", "nan"):
            raise ValueError(f"no_reward must be 'raise' or 'nan', not {no_reward!r}")
        self.action_space = SourceText()
        self.observation_space = cast("gymnasium.Space[Observed]", observation_space())
        self.render_mode = render_mode
        self._tasks = tasks
        self._options = options
        self._actions = actions
        self._no_reward = no_reward
        self._own_client = client is None
        self._client = client or Client(address)
        self._session: str | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Opens an episode, and ends the one before where it was open. Without `seed` it is drawn from `np_random`."""
        super().reset(seed=seed)
        self._end_episode()
        drawn = int(self.np_random.integers(2**63)) if seed is None else seed
        asked: dict[str, Any] = {**self._options, "seed": drawn, **(options or {})}
        reset = self._client.reset(asked.pop("tasks", self._tasks), **asked)
        self._session = reset.session
        return observe(reset.observation), reset_info(reset)

    def step(self, action: str) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Judges a candidate. Whatever it does is an observation; exceptions are the environment's."""
        if self._session is None:
            raise gymnasium.error.ResetNeeded("no episode is open: call reset()")
        source, response = (action, None) if self._actions == "source" else (None, action)
        step = self._client.step(self._session, source, response=response)
        if step.terminated or step.truncated:
            self._session = None
        if step.reward is None and self._no_reward == "raise":
            kind = EnvironmentFault if step.fault == "environment" else NoRewardError
            raise kind(f"no reward for rollout {step.info.rollout}: {step.info.why_none or step.reason}", step)
        return observe(step.observation), reward_or_nan(step), step.terminated, step.truncated, step_info(step)

    def close(self) -> None:
        self._end_episode()
        if self._own_client:
            self._client.close()

    def _end_episode(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            self._client.close_session(session)


if "Touchstone-v0" not in gymnasium.registry:
    gymnasium.register(
        id="Touchstone-v0",
        entry_point="touchstone.gym:Env",
        vector_entry_point="touchstone.vector:VectorEnv",
        nondeterministic=True,  # rewards are measured times
    )
