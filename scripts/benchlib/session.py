"""`touchstone eval --json -` as a stream of records, each with the moment at which it arrived."""

import dataclasses
import json
import pathlib
import subprocess
import time


@dataclasses.dataclass
class Arrival:
    record: dict
    at_raw_s: float  # CLOCK_MONOTONIC_RAW when the line had been read
    took_s: float  # since the arrival before, or since the start of the program


class EvaluationFailed(Exception):
    pass


def evaluate(programs: pathlib.Path, task: str, candidates: list[pathlib.Path], *options: str) -> list[Arrival]:
    """Evaluates the candidates one after another on one slot."""
    command = [programs / "touchstone", "eval", task, *candidates, "--json", "-", *options]
    arrivals = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        before = time.clock_gettime(time.CLOCK_MONOTONIC_RAW)
        for line in process.stdout:
            now = time.clock_gettime(time.CLOCK_MONOTONIC_RAW)
            arrivals.append(Arrival(json.loads(line), now, now - before))
            before = now
        said = process.stderr.read()
    if len(arrivals) != len(candidates) or process.returncode not in (0, 1):
        raise EvaluationFailed(f"touchstone eval {task}: exit code {process.returncode}: {said.strip()[-500:]}")
    return arrivals
