"""One client for each address and process, made when it is first asked for."""

from __future__ import annotations

import os
import threading

from touchstone.client import AsyncClient

_clients: dict[tuple[int, str | None], AsyncClient] = {}
_lock = threading.Lock()


def shared_client(address: str | None) -> AsyncClient:
    """Default address: TOUCHSTONE_ADDRESS, as of `Client`. Any thread, any event loop; a forked worker gets its own."""
    with _lock:
        key = (os.getpid(), address)
        if key not in _clients:
            _clients[key] = AsyncClient(address)
        return _clients[key]
