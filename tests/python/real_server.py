"""The server of this build (TOUCHSTONE_BIN) with a store in a temporary folder."""

from __future__ import annotations

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

import touchstone

ROOT = pathlib.Path(__file__).resolve().parents[2]


class RealServer(touchstone.LocalServer):
    """Both ends of its life are the test's: call stop()."""

    def __init__(self, **settings: object) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="touchstone-python-test-"))
        super().__init__(os.environ["TOUCHSTONE_BIN"], store=self.folder / "rollouts", settings=settings)

    @property
    def port_of_nothing(self) -> int:
        """A port of loopback at which nobody listens."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    def run_example(self, name: str, *arguments: str | os.PathLike[str]) -> str:
        """What an example prints that uses this server."""
        command = [sys.executable, "-B", ROOT / "python" / "examples" / name, "--address", self.address, *arguments]
        return _output(command)

    def stored_source(self, rollout: str) -> str:
        """The source of a rollout as the store has it, read by another process beside the running server."""
        assert self.store is not None
        return _output([self.program, "replay", "show", self.store, rollout, "--text", "source"])

    def stop(self) -> int:
        try:
            return super().stop()
        finally:
            shutil.rmtree(self.folder)


def new_keys(path: pathlib.Path) -> str:
    """Writes a key pair to `path`; the public key."""
    return _output([os.environ["TOUCHSTONE_BIN"], "keys", "new", path]).strip()


def _output(command: list[str | os.PathLike[str]]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout
