"""For slime: `--custom-rm-path touchstone.adapters.slime.custom_rm`.

`sample.label` is the id of the task. Where there is no reward (the environment failed) the sample is removed from the
loss; slime still counts its 0.0 in the advantages' normalisation.
"""

from __future__ import annotations

from typing import Any

from touchstone.adapters._shared import shared_client
from touchstone.errors import TouchstoneError


async def custom_rm(args: Any, sample: Any, **kwargs: Any) -> float:
    """`args.touchstone_address` and `args.touchstone_method` are used where they are set."""
    options = {"method": method} if (method := getattr(args, "touchstone_method", None)) else {}
    reward: float | None = None
    try:
        client = shared_client(getattr(args, "touchstone_address", None))
        reward = (await client.score(str(sample.label), response=sample.response, **options)).reward
    except TouchstoneError as error:
        if error.fault == "request":
            raise
    if reward is None:
        sample.remove_sample = True
        return 0.0
    return reward
