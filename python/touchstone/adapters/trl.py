"""For TRL's GRPOTrainer:

    trainer = GRPOTrainer(..., reward_funcs=touchstone_reward(method="default"))

A data set row names its task in the column `task`. A completion whose evaluation has no reward (the environment
failed) gets None: TRL leaves it out of its group's baseline and gives it no advantage.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Unpack

from touchstone._calls import ScoreOptions
from touchstone.adapters._shared import shared_client
from touchstone.errors import TouchstoneError

Completion = str | Sequence[dict[str, Any]]  # text, or chat messages
RewardFunction = Callable[..., Awaitable[list[float | None]]]


def touchstone_reward(
    address: str | None = None, task_column: str = "task", **options: Unpack[ScoreOptions]
) -> RewardFunction:
    """`options`: those of `Client.score`. All completions of a batch are judged at once. Only a request that is wrong
    raises, for it would be wrong for every completion."""

    async def reward(
        prompts: Sequence[Any], completions: Sequence[Completion], completion_ids: Any = None, **columns: Any
    ) -> list[float | None]:
        return await asyncio.gather(
            *(one(task, completion) for task, completion in zip(columns[task_column], completions, strict=True))
        )

    async def one(task: str, completion: Completion) -> float | None:
        text = completion if isinstance(completion, str) else str(completion[-1]["content"])
        try:
            return (await shared_client(address).score(task, response=text, **options)).reward
        except TouchstoneError as error:
            if error.fault == "request":
                raise
            return None

    reward.__name__ = "touchstone_reward"
    return reward
