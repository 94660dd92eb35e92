"""Runs every command and every Python block of the documents as printed.

A page is one session: its blocks run in their order, in one shell, in a folder that looks like the checkout. Fences
of the languages `sh` and `python` are run; `EXEMPT` lists what is not, and why.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The command as it is printed, without its comment -> why it is not run here.
EXEMPT = {
    "scripts/bootstrap": "installs; CI runs it",
    "scripts/demo": "installs and builds; the test `demo` runs what follows",
    "scripts/test": "is what runs this test",
    "scripts/bench": "takes many minutes",
    "cmake --preset ci && cmake --build --preset ci --target programs": "builds; CI does it",
    "build/ci/bin/touchstone calibrate": "takes minutes and changes this host's calibration",
    ".deps/venv/bin/python python/examples/train_reinforce.py --task matmul --plot learning.png": (
        "takes minutes; train_test.py runs it with fewer draws"
    ),
}

# Files that the commands of README.md name as the user's own.
MINE = {
    "mine.cc": "softmax.cc",
    "a.cc": "softmax.cc",
    "b.cc": "softmax_fast.cc",
    "c.cc": "softmax.cc",
    "old.cc": "softmax.cc",
    "new.cc": "softmax_fast.cc",
}


def blocks(page: str) -> list[tuple[str, str]]:
    """(language, text) of each fenced block. A block ends with as many backticks as it began with."""
    found = []
    lines = iter((ROOT / page).read_text().splitlines())
    for line in lines:
        opening = re.match(r"(`{3,})(\w*)$", line)
        if not opening:
            continue
        text = ""
        for inner in lines:
            if inner == opening.group(1):
                break
            text += inner + "\n"
        else:
            raise AssertionError(f"{page}: a block is not closed:\n{text}")
        found.append((opening.group(2), text))
    return found


def session(page: str) -> tuple[str, set[str]]:
    """A shell script of what is to be run, and which exemptions were used."""
    script = ["set -euo pipefail", "trap 'code=$?; { kill $(jobs -p) && wait; } 2>/dev/null || true; exit $code' EXIT"]
    used: set[str] = set()
    for number, (language, text) in enumerate(blocks(page)):
        if language == "python":
            script.append(f".deps/venv/bin/python -B - <<'END_OF_BLOCK_{number}'\n{text}END_OF_BLOCK_{number}")
        elif language == "sh":
            for line in text.splitlines():
                command = re.sub(r"\s+#.*$", "", line).strip()
                if command in EXEMPT:
                    used.add(command)
                elif command:
                    # Exit code 1 is an answer, on a busy machine: not every candidate successful, fewer than a pair.
                    judges = re.match(r"build/ci/bin/touchstone (eval|reproduce|replay pairs) ", command)
                    script.append(f"echo '+ {command}'\n{command}" + (" || [ $? -eq 1 ]" if judges else ""))
    return "\n".join(script), used


class Documents(unittest.TestCase):
    def run_page(self, page: str) -> str:
        script, _ = session(page)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for entry in ROOT.iterdir():
                (folder / entry.name).symlink_to(entry)
            for file, honest in MINE.items():
                (folder / file).symlink_to(ROOT / "tests" / "honest" / honest)
            environment = {
                key: value for key, value in os.environ.items() if not key.startswith(("TOUCHSTONE_", "PYTHON"))
            }
            done = subprocess.run(
                ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=540
            )
        self.assertEqual(done.returncode, 0, f"{page}:\n{script}\n--- printed:\n{done.stdout}{done.stderr}")
        print(f"{page}:\n{done.stdout}", file=sys.stderr)
        return done.stdout

    def test_readme(self) -> None:
        self.run_page("README.md")

    def test_quickstart(self) -> None:
        printed = self.run_page("docs/quickstart.md")
        self.assertIn("compile_error candidate", printed)
        self.assertRegex(printed, r"(?m)^(success|unstable) \d")

    def test_wire(self) -> None:
        self.run_page("docs/wire.md")

    def test_every_exemption_stands_in_a_document(self) -> None:
        used = set().union(*(session(page)[1] for page in ("README.md", "docs/quickstart.md", "docs/wire.md")))
        self.assertEqual(used, EXEMPT.keys())


if __name__ == "__main__":
    unittest.main()
