"""For verl, as `reward.custom_reward_function.path` (this file) with `name: compute_score`.

`ground_truth` is the id of the task, or `extra_info["task"]` where there is one. verl knows only numbers: where the
environment failed the score is 0.0, and `fault` says so in reward_extra_info.
"""

from __future__ import annotations

from typing import Any

from touchstone.adapters._shared import shared_client
from touchstone.errors import TouchstoneError


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: dict[str, Any] | None = None,
    *,
    address: str | None = None,
    timeout: float = 600.0,
    **options: Any,
) -> dict[str, Any]:
    """`options` are those of `Client.score`. Ends after `timeout` seconds by itself, for verl's naive manager waits for
    ever."""
    task = str((extra_info or {}).get("task") or ground_truth)
    try:
        score = await shared_client(address).score(task, response=solution_str, timeout=timeout, **options)
    except TouchstoneError as error:
        if error.fault == "request":
            raise
        return _row(None, error.code, "environment", str(error), 0.0)
    return _row(score.reward, score.status, score.fault, score.reason, score.info.result.rewarded_speedup)


def _row(reward: float | None, status: str, fault: str, reason: str, speedup: float) -> dict[str, Any]:
    """The same keys each time, as verl wants its extra columns."""
    return {
        "score": 0.0 if reward is None else reward,
        "has_reward": reward is not None,
        "status": status,
        "fault": fault,
        "reason": reason,
        "speedup": speedup,
    }
