"""The package as a user gets it: installed from the checkout and as a built wheel, without a network."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python"

# Run by the interpreter of the environment that the package was installed into.
CHECK = """
import importlib.metadata, pathlib, sys
import touchstone
folder = pathlib.Path(touchstone.__file__).parent
assert folder.is_relative_to(sys.prefix), f"imported from {folder}"
assert (folder / "py.typed").exists()
assert importlib.metadata.version("touchstone") == touchstone.__version__
try:
    touchstone.Client("tcp://127.0.0.1:9", connect_timeout=0.05).describe()
except touchstone.UnavailableError:
    pass
else:
    raise AssertionError("something answers at port 9")
import gymnasium, touchstone.gym
assert gymnasium.spec("Touchstone-v0").nondeterministic
"""


class Installing(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run_python(self, python: str | pathlib.Path, *arguments: str | pathlib.Path) -> None:
        done = subprocess.run([python, *arguments], capture_output=True, text=True, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def pip(self, *arguments: str | pathlib.Path) -> None:
        self.run_python(sys.executable, "-W", "ignore", "-m", "pip", "--disable-pip-version-check", *arguments)

    def build_wheel(self) -> pathlib.Path:
        self.pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", self.folder, PACKAGE)
        return next(self.folder.glob("touchstone-*.whl"))

    def check_installed(self, what: pathlib.Path) -> None:
        target = self.folder / "environment"
        self.run_python(sys.executable, "-m", "venv", "--without-pip", target)
        python = target / "bin" / "python"
        site = next(target.glob("lib/python*/site-packages"))
        # The dependencies are those of this interpreter's environment: behind what is installed here.
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
        self.pip("--python", python, "install", "--no-deps", "--no-build-isolation", "--no-index", what)
        self.run_python(python, "-c", CHECK)

    def test_from_the_checkout(self) -> None:
        self.check_installed(PACKAGE)

    def test_as_a_wheel_that_holds_the_package_and_nothing_else(self) -> None:
        wheel = self.build_wheel()
        names = set(zipfile.ZipFile(wheel).namelist())
        sources = {str(path.relative_to(PACKAGE)) for path in (PACKAGE / "touchstone").rglob("*.py")}
        self.assertLessEqual(sources | {"touchstone/py.typed"}, names)
        self.assertFalse({name for name in names - sources if "dist-info" not in name} - {"touchstone/py.typed"})
        self.check_installed(wheel)


if __name__ == "__main__":
    unittest.main()
