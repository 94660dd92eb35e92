"""The Python client of Touchstone, an environment that judges kernels written by language models.

Client, AsyncClient     the calls of docs/wire.md (client.py)
Observation, …          what they answer (results.py)
TouchstoneError, …      what can go wrong (errors.py)
Env, VectorEnv          Gymnasium environments (with the extra `gym`)
adapters                the reward for TRL, verl and slime
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from touchstone._connection import CurveKeys
from touchstone.client import DEFAULT_ADDRESS, AsyncClient, Client
from touchstone.errors import (
    BusyError,
    ClientClosedError,
    ConflictError,
    EnvironmentFault,
    InternalError,
    InvalidArgumentError,
    NoRewardError,
    NotFoundError,
    ProtocolError,
    RequestTimeoutError,
    SessionClosedError,
    TooLargeError,
    TouchstoneError,
    UnavailableError,
    VersionError,
)
from touchstone.local import LocalServer
from touchstone.results import (
    Collected,
    Evidence,
    Exemplar,
    Finished,
    Observation,
    ResetResult,
    RewardTerm,
    RolloutInfo,
    Sample,
    SampleItem,
    ScoreResult,
    Speedup,
    StepResult,
    ValidateResult,
    Verdict,
)

if TYPE_CHECKING:
    from touchstone.gym import Env, SourceText
    from touchstone.vector import VectorEnv

__version__ = "0.1.0"

_NEED_GYM = {"Env": "gym", "SourceText": "gym", "VectorEnv": "vector"}


def __getattr__(name: str) -> Any:
    """Loads the Gymnasium environments when they are asked for: the client itself needs no Gymnasium."""
    if name not in _NEED_GYM:
        raise AttributeError(f"module 'touchstone' has no attribute '{name}'")
    try:
        return getattr(importlib.import_module(f"touchstone.{_NEED_GYM[name]}"), name)
    except ModuleNotFoundError as error:
        raise ImportError(f"touchstone.{name} needs {error.name}: pip install 'touchstone[gym]'") from error


__all__ = [
    "DEFAULT_ADDRESS",
    "AsyncClient",
    "BusyError",
    "Client",
    "ClientClosedError",
    "Collected",
    "ConflictError",
    "CurveKeys",
    "Env",
    "EnvironmentFault",
    "Evidence",
    "Exemplar",
    "Finished",
    "InternalError",
    "InvalidArgumentError",
    "LocalServer",
    "NoRewardError",
    "NotFoundError",
    "Observation",
    "ProtocolError",
    "RequestTimeoutError",
    "ResetResult",
    "RewardTerm",
    "RolloutInfo",
    "Sample",
    "SampleItem",
    "ScoreResult",
    "SessionClosedError",
    "SourceText",
    "Speedup",
    "StepResult",
    "TooLargeError",
    "TouchstoneError",
    "UnavailableError",
    "ValidateResult",
    "VectorEnv",
    "Verdict",
    "VersionError",
]
