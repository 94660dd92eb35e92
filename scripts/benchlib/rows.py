"""The rows of scripts/bench: how each number is measured and what it should come to."""

import collections.abc
import dataclasses
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from benchlib import session


class NotMeasured(Exception):
    """The row's number could not be had: neither ok nor not."""


@dataclasses.dataclass
class Result:
    id: str
    value: float
    ok: bool
    detail: dict


@dataclasses.dataclass
class Row:
    id: str
    what: str
    unit: str
    reach: str
    measure: collections.abc.Callable[[pathlib.Path], list[Result]]


ROWS: dict[str, Row] = {}


def row(id: str, what: str, unit: str, reach: str):
    def register(function):
        ROWS[id] = Row(id, what, unit, reach, function)
        return function

    return register


def _evaluate(programs, task, candidates, *options):
    try:
        return session.evaluate(programs, task, candidates, *options)
    except session.EvaluationFailed as error:
        raise NotMeasured(str(error)) from error


def _percentile(values, q):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(q * len(ordered)) - 1))]


ADD = """
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}
"""


@row("eval_cpp_ms", "One `cpp` evaluation at `quick`, reference runner warm: compile cache warm, compile cold", "ms",
     "p50 ≤ 500 warm, ≤ 1500 cold")
def eval_cpp_ms(programs):
    count = 15
    with tempfile.TemporaryDirectory() as folder:
        warm = pathlib.Path(folder, "warm.cc")
        warm.write_text(ADD, encoding="utf-8")
        cold = []
        for i in range(count):
            path = pathlib.Path(folder, f"cold{i}.cc")
            # Another source for the cache, the same for the compiler; the folder's name is new in every run.
            path.write_text(f"// {folder} {i}\n{ADD}", encoding="utf-8")
            cold.append(path)
        # The first evaluation starts the slot and its reference runner.
        warm_ms = [1e3 * a.took_s for a in _evaluate(programs, "add", [warm] * (count + 1))[1:]]
        cold_ms = [1e3 * a.took_s for a in _evaluate(programs, "add", [warm] + cold)[1:]]
    results = []
    for name, values, limit in (("warm", warm_ms, 500), ("cold", cold_ms, 1500)):
        p50 = statistics.median(values)
        detail = {"n": len(values), "p90": round(_percentile(values, 0.9), 1), "max": round(max(values), 1), "task": "add"}
        results.append(Result(f"eval_cpp_ms/{name}", p50, p50 <= limit, detail))
    return results


# Dies at the next full second of CLOCK_MONOTONIC_RAW, so that the bench knows when without being told.
DEATH = """
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <unistd.h>
extern "C" void run(const float*, const float*, float*, int64_t) {{
  timespec start, now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &start);
  do clock_gettime(CLOCK_MONOTONIC_RAW, &now); while (now.tv_sec == start.tv_sec);
  {death};
}}
"""
DEATHS = {
    "SIGSEGV": "*static_cast<volatile int*>(nullptr) = 1",
    "SIGKILL": "kill(getpid(), SIGKILL)",
    "exit": "_exit(0)",
}


@row("death_to_verdict_ms", "A candidate dies (SIGSEGV, SIGKILL, exit) → its record has arrived", "ms", "≤ 50 each")
def death_to_verdict_ms(programs):
    each = 5
    results = []
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder, "patient.yaml")
        # The candidate waits for up to a second, which the cap relative to the reference would not let it.
        profile.write_text("trials: 1\nhidden_shape_trials: 0\nhidden_distributions: false\nmin_rounds: 0\nmax_rounds: 0\n"
                           "solo_rounds: 0\nruntime_cap: 1000000\ncall_timeout_ms: 10000\n", encoding="utf-8")
        for name, death in DEATHS.items():
            source = pathlib.Path(folder, f"{name}.cc")
            source.write_text(DEATH.format(death=death), encoding="utf-8")
            arrivals = _evaluate(programs, "add", [source] * each, "--profile", str(profile))
            statuses = {a.record["status"] for a in arrivals}
            if statuses != {"runtime_error"}:
                raise NotMeasured(f"{name}: expected runtime_error, got {sorted(statuses)}")
            after = [1e3 * (a.at_raw_s % 1.0) for a in arrivals]
            detail = {"n": each, "median": round(statistics.median(after), 2),
                      "note": "the record's way through the program's output included"}
            results.append(Result(f"death_to_verdict_ms/{name}", max(after), max(after) <= 50, detail))
    return results


# A loop that the compiler can neither shorten nor overlap; the output does not depend on its length.
SPIN = """
extern "C" void run(const float* x, const float* y, float* z, int64_t n) {{
  uint64_t state = 1;
  for (int64_t i = 0; i < {trips}; ++i) asm volatile("imulq %1, %0" : "+r"(state) : "r"(uint64_t{{3}}));
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}}
"""
SPIN_TRIPS = 4_000_000


@row("known_ratio_cpu", "Kernels 1.25×, 2× and 10× slower by construction (trip count of a compute-bound loop)", "",
     "each within 3 %")
def known_ratio_cpu(programs):
    results = []
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder, "long.yaml")
        profile.write_text("trials: 1\nhidden_shape_trials: 0\nhidden_distributions: false\nmin_rounds: 8\nmax_rounds: 12\n"
                           "solo_rounds: 30\nstarts: 2\nruntime_cap: 1000000\n", encoding="utf-8")
        base = pathlib.Path(folder, "base.cc")
        base.write_text(SPIN.format(trips=SPIN_TRIPS), encoding="utf-8")
        # So few elements that the loop is all of the time: otherwise the ratio is not what its trip count says.
        task = pathlib.Path(folder, "add_small.yaml")
        shipped = pathlib.Path(__file__).resolve().parents[2] / "configs/tasks/add.yaml"
        task.write_text(re.sub(r"cpu: \{n: \d+\}", "cpu: {n: 4096}", shipped.read_text(encoding="utf-8")), encoding="utf-8")
        for ratio in (1.25, 2.0, 10.0):
            slower = pathlib.Path(folder, f"slower{ratio}.cc")
            slower.write_text(SPIN.format(trips=int(SPIN_TRIPS * ratio)), encoding="utf-8")
            arrivals = _evaluate(programs, str(task), [slower], "--baseline", str(base), "--profile", str(profile))
            record = arrivals[0].record
            if record["status"] != "success":
                raise NotMeasured(f"{ratio}×: {record['status']}: {record['reason']}")
            measured = 1.0 / record["speedup"]["speedup"]
            error = measured / ratio - 1.0
            detail = {"slower_by": round(measured, 4), "error": round(error, 4), "candidate_us": record["candidate_us"],
                      "baseline_us": record["baseline_us"]}
            results.append(Result(f"known_ratio_cpu/{ratio:g}", measured, abs(error) <= 0.03, detail))
    return results


@row("aa_cpu", "The same source as baseline and candidate, 100 evaluations at `standard`", "",
     "covers 1 in 90–99; median half-width ≤ 2 %; spread within 25 % of the stated standard error; lower bound above 1 in "
     "≤ 5 %, never above 1.01")
def aa_cpu(programs, count=100):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "same.cc")
        source.write_text(ADD, encoding="utf-8")
        arrivals = _evaluate(programs, "add", [source] * count, "--baseline", str(source), "--profile", "standard")
    estimates = [a.record["speedup"] for a in arrivals if a.record["status"] == "success"]
    stated = [e for e in estimates if e["interval_stated"]]
    if len(stated) < 2:
        raise NotMeasured(f"{len(stated)} of {count} evaluations stated an interval")
    covered = 100.0 * sum(e["lower"] <= 1.0 <= e["upper"] for e in stated) / len(stated)
    half_width = statistics.median(e["half_width"] for e in stated)
    spread = statistics.stdev(math.log(e["speedup"]) for e in stated)
    standard_error = statistics.median(e["standard_error"] for e in stated)
    above_one = 100.0 * sum(e["lower"] > 1.0 for e in stated) / len(stated)
    highest_lower = max(e["lower"] for e in stated)
    detail = {"evaluations": count, "success": len(estimates), "stated": len(stated),
              "statuses": _count(a.record["status"] for a in arrivals)}
    return [
        Result("aa_cpu/covered", covered, 90 <= covered <= 99, detail),
        Result("aa_cpu/half_width", half_width, half_width <= 0.02, detail),
        Result("aa_cpu/spread_over_error", spread / standard_error, 0.75 <= spread / standard_error <= 1.25,
               detail | {"spread": spread, "standard_error": standard_error}),
        Result("aa_cpu/lower_above_1", above_one, above_one <= 5, detail),
        Result("aa_cpu/highest_lower", highest_lower, highest_lower <= 1.01, detail),
    ]


def _count(values):
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts


def program_row(id: str, what: str, unit: str, reach: str, program: str, *arguments: str):
    """A row that a C++ program of tests/bench measures: it prints [{id, value, ok, detail}, …]."""

    @row(id, what, unit, reach)
    def measure(programs):
        return _run_program(programs, program, *arguments)

    return measure


def _run_program(programs, program, *arguments):
    if not (programs / program).exists():
        raise NotMeasured(f"no program {program} in this build")
    run = subprocess.run([programs / program, "--json", "-", *arguments], capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        raise NotMeasured(f"{program}: exit code {run.returncode}: {run.stderr.strip()[-500:]}")
    return [Result(r["id"], r["value"], r["ok"], r.get("detail", {})) for r in json.loads(run.stdout)]


program_row("box_start_ms", "Start a box and run `true`, beside `bwrap` with the same namespaces in the same run", "ms",
            "≤ 10 median, and faster than bwrap", "bench_box")


@row("server_steps_per_s", "Steps a second over the wire, null evaluator, no store, and server_p50_us: one client's median; "
     "beside a Python server (pyzmq, msgpack) of the same calls", "1/s", "≥ 20,000; p50 ≤ 150 µs")
def server_steps_per_s(programs):
    results = _run_program(programs, "bench_serve", "--row", "server_steps_per_s")
    with tempfile.TemporaryDirectory() as folder:
        sample = pathlib.Path(folder, "step.msgpack")
        _run_program(programs, "bench_serve", "--sample", str(sample))
        script = pathlib.Path(__file__).with_name("python_server.py")
        with subprocess.Popen([sys.executable, script, "tcp://127.0.0.1:*", sample], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as server:
            try:
                endpoint = server.stdout.readline().strip()
                if not endpoint:
                    raise NotMeasured(f"the Python server: {server.stderr.read().strip()[-300:]}")
                theirs = _run_program(programs, "bench_serve", "--row", "server_steps_per_s", "--endpoint", endpoint)
            finally:
                server.kill()
    for ours, python in zip(results, theirs):
        ours.detail |= {"python": python.value, "ratio_to_python": round(ours.value / python.value, 2)}
    return results


program_row("durable_steps_per_s", "The same with the durable store, 64 clients; one client's p50 beside fdatasync", "1/s",
            "≥ 10,000; p50 ≤ fdatasync + 0.5 ms", "bench_serve", "--row", "durable_steps_per_s")
program_row("sessions_10k", "Memory of each of 10,000 open sessions; then 1,000 clients step at once", "B",
            "≤ 4096; no lost or doubled reply", "bench_serve", "--row", "sessions_10k")
program_row("death_to_reply_ms", "From a candidate's death to the reply on the wire", "ms", "≤ 60", "bench_serve", "--row",
            "death_to_reply_ms")
program_row("scaling_slots", "Evaluations a second on 1, 8, 64 slots whose evaluator sleeps, over linear", "",
            "≥ 0.95", "bench_serve", "--row", "scaling_slots")
program_row("store_appends_per_s", "Durable appends of small rollouts, 8 writers with 32 in flight each, beside the same "
            "store with one transaction an append", "1/s", "≥ 20000", "bench_store")


program_row("pair_p50_us", "One bucket pair drawn from 1 M rollouts of one task, beside the same draw in plain SQL", "µs",
            "p50 < 1000", "bench_pair")
program_row("environment_step_us", "Processor time of a step in process, null evaluator, no store; memory of an open session",
            "µs, B", "≤ 20; ≤ 4096", "bench_environment")
