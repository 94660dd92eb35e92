"""A server of one's own, for notebooks, demos and tests: `with LocalServer("build/ci/bin/touchstone") as server:`."""

from __future__ import annotations

import atexit
import os
import pathlib
import signal
import subprocess
from collections.abc import Mapping
from types import TracebackType
from typing import IO

from touchstone.errors import UnavailableError


class LocalServer:
    """Runs `touchstone serve` on loopback ports that are free. `address` and `health_address` are for clients.

    `store`: folder of the rollouts, made where it is not there; None: nothing is kept. `settings`: options of the
    server (`touchstone serve --list`). `log`: where its stderr goes; default: this process's. The constructor waits
    until it serves; UnavailableError when it ends instead. The server ends with `stop`, or when this process exits.
    """

    def __init__(
        self,
        program: str | os.PathLike[str] = "touchstone",
        *,
        store: str | os.PathLike[str] | None = None,
        settings: Mapping[str, object] | None = None,
        log: IO[str] | None = None,
    ) -> None:
        self.program = pathlib.Path(program)
        self.store = None if store is None else pathlib.Path(store)
        self.address = "tcp://127.0.0.1:*"
        self.health_address = "tcp://127.0.0.1:*"
        self._settings = dict(settings or {})
        self._log = log
        self._process: subprocess.Popen[str] | None = None
        atexit.register(self._end_with_this_process)
        self.start()

    @property
    def pid(self) -> int:
        return self._running().pid

    def start(self) -> None:
        """Again, after it had ended: at the same addresses, with the same store."""
        settings: dict[str, object] = {
            "server.endpoint": self.address,
            "server.health_endpoint": self.health_address,
            "server.metrics_address": "",
            "store.folder": self.store or "",
            **self._settings,
        }
        command: list[str | os.PathLike[str]] = [self.program, "serve"]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, text=True)
        told: dict[str, str] = {}
        assert self._process.stdout is not None
        for line in self._process.stdout:
            name, _, value = line.strip().partition(" ")
            told[name] = value
            if name == "ready":
                self.address, self.health_address = told["endpoint"], told["health"]
                return
        code = self._process.wait()
        raise UnavailableError(
            f"{self.program} serve ended with exit code {code} before it served; its stderr says why"
        )

    def stop(self) -> int:
        """Asks it to end, waits for what runs, and returns its exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it as a crash would."""
        self._end(signal.SIGKILL)

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            raise RuntimeError("the server is not running")
        return self._process

    def _end(self, how: signal.Signals) -> int:
        process = self._running()
        process.send_signal(how)
        code = process.wait()
        if process.stdout is not None:
            process.stdout.close()
        self._process = None
        return code

    def _end_with_this_process(self) -> None:
        if self._process is not None:
            self.stop()

    def __enter__(self) -> LocalServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_with_this_process()
