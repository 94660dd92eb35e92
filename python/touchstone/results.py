"""What a server answers, as typed values. Fields have the names of docs/wire.md and docs/result.md; times are in the
units that those pages give, other durations in seconds."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union

from touchstone.errors import ProtocolError, TouchstoneError

T = TypeVar("T")


@dataclass(frozen=True)
class Exemplar:
    """A stored rollout that the prompt shows, and the probability with which it was drawn."""

    rollout: str
    source: str
    score: float
    probability: float


@dataclass(frozen=True)
class Observation:
    """What a policy sees; all of it may go into a prompt. `prompt` is the message for the next turn: all of it after a
    reset, what is new after a step."""

    task: str
    statement: str
    interface_name: str
    signature: str
    header: str
    reference: str
    device: dict[str, str]
    turn: int
    turns_left: int
    seconds_left: float | None
    best_speedup: float
    outcome: str
    feedback: str
    exemplars: tuple[Exemplar, ...]
    prompt: str


@dataclass(frozen=True)
class Speedup:
    """Baseline time / candidate time with its interval; `interval_stated` False: the ends mean nothing."""

    speedup: float
    lower: float
    upper: float
    interval_stated: bool
    reason: str = ""


@dataclass(frozen=True)
class Evidence:
    """A finding. Only severity "condemns" decides anything."""

    id: str
    severity: str
    explanation: str
    numbers: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """How one evaluation ended. `raw` has every field of docs/result.md that a policy may see."""

    id: str
    status: str
    fault: str
    reason: str
    task: str
    speedup: Speedup
    rewarded_speedup: float
    rewarded_lower_bound: float
    baseline_us: float
    candidate_us: float
    evidence: tuple[Evidence, ...]
    diagnostics: str
    raw: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class RewardTerm:
    """One summand or factor of a reward; `value` None: it cannot be computed here, `why_undefined` says why."""

    name: str
    value: float | None
    why_undefined: str = ""


@dataclass(frozen=True)
class RolloutInfo:
    """What is said of one stored rollout besides the observation. The span of the code counts characters of the
    response; -1: there is none."""

    rollout: str
    result: Verdict
    terms: tuple[RewardTerm, ...]
    reward_preset: str
    why_none: str
    code_begin: int
    code_end: int
    code_length: int


@dataclass(frozen=True)
class ResetResult:
    """An episode was opened. `reward_low` and `reward_high` are the declared range of its rewards."""

    session: str
    observation: Observation
    reward_preset: str
    reward_low: float
    reward_high: float
    exemplars_as_of: int


class _Judged:
    """What a step and a scored candidate have in common."""

    info: RolloutInfo

    @property
    def status(self) -> str:
        """How the evaluation ended: "success", "incorrect", … (docs/result.md)."""
        return self.info.result.status

    @property
    def fault(self) -> str:
        """Whose fault: "none", "candidate" or "environment"; with "environment" there is no reward."""
        return self.info.result.fault

    @property
    def reason(self) -> str:
        """One sentence for people."""
        return self.info.result.reason


@dataclass(frozen=True)
class StepResult(_Judged):
    """A step was judged and stored. `reward` None: none may follow (`info.why_none`)."""

    session: str
    observation: Observation
    reward: float | None
    reward_increment: float
    best_speedup: float
    terminated: bool
    truncated: bool
    info: RolloutInfo


@dataclass(frozen=True)
class ScoreResult(_Judged):
    """A candidate was judged outside an episode, and stored. `reward` None: none may follow (`info.why_none`)."""

    reward: float | None
    info: RolloutInfo


@dataclass(frozen=True)
class ValidateResult:
    """A stored rollout was measured again. `ratio`: again / stored, 0 where one of them has no speedup."""

    again: ScoreResult
    stored_speedup: float
    ratio: float
    agrees: bool


Reply = ResetResult | StepResult | ScoreResult | ValidateResult


@dataclass(frozen=True)
class Finished:
    """A request that has been answered: by `result` of its `call`, or by `error` where nothing was done."""

    id: str
    call: str
    result: Reply | None
    error: TouchstoneError | None


@dataclass(frozen=True)
class Collected:
    """What `collect` found; `pending` requests of this client are still worked on."""

    results: tuple[Finished, ...]
    pending: int


@dataclass(frozen=True)
class SampleItem:
    """A stored rollout that was drawn, with the probability that it had at its place."""

    rollout: str
    sequence: int
    source: str
    score: float
    probability: float


@dataclass(frozen=True)
class Sample:
    """Drawn rollouts, fewer than asked for where there are not enough. The same seed and `as_of` draw them again."""

    items: tuple[SampleItem, ...]
    as_of: int


_HINTS: dict[type, dict[str, Any]] = {}


def decode(kind: type[T], value: object, path: str = "reply") -> T:
    """`value`, as msgpack gave it, as a `kind`; ProtocolError names the place where it is something else. Keys that
    this client does not know are left alone: a newer server may send them."""
    return typing.cast(T, _decode(kind, value, path))


def _decode(kind: Any, value: Any, path: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return _decode_struct(typing.cast(type, kind), value, path)
    origin = typing.get_origin(kind)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        kind = next(part for part in typing.get_args(kind) if part is not type(None))
        return _decode(kind, value, path)
    if origin is tuple and isinstance(value, list | tuple):
        inner = typing.get_args(kind)[0]
        return tuple(_decode(inner, item, f"{path}[{i}]") for i, item in enumerate(value))
    if origin is dict and isinstance(value, Mapping):
        inner = typing.get_args(kind)[1]
        return {str(key): _decode(inner, item, f"{path}.{key}") for key, item in value.items()}
    if kind is Any:
        return value
    if kind is float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if value in ("nan", "inf", "-inf"):  # as docs/result.md writes them
            return float(value)
    elif isinstance(value, kind if isinstance(kind, type) else ()) and not (kind is int and isinstance(value, bool)):
        return value
    raise ProtocolError(f"{path} is {value!r:.80}, not {kind}", field=path)


def _decode_struct(kind: type, value: Any, path: str) -> Any:
    if not isinstance(value, Mapping):
        raise ProtocolError(f"{path} is {value!r:.80}, not a map", field=path)
    hints = _HINTS.setdefault(kind, typing.get_type_hints(kind))
    fields: dict[str, Any] = {}
    for each in dataclasses.fields(kind):
        place = f"{path}.{each.name}"
        if each.name == "raw":
            fields["raw"] = dict(value)
        elif each.name in value:
            fields[each.name] = _decode(hints[each.name], value[each.name], place)
        elif type(None) in typing.get_args(hints[each.name]):
            fields[each.name] = None
        elif each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING:
            raise ProtocolError(f"{place} is missing", field=place)
    return kind(**fields)
