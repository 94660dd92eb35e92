"""Mutants of right kernels: sources of tests/hostile/mutants with one of their MUTANT_… macros defined.

    python3 scripts/benchlib/mutants.py FOLDER     writes each as <task>__<mutant>.cc, and <task>.cc without mutation
"""

import pathlib
import re
import sys
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "hostile" / "mutants"


def render(folder: pathlib.Path) -> dict[str, dict[str, pathlib.Path]]:
    """Writes all sources into `folder`: for each task its mutants by name; "" is the right kernel, the control."""
    rendered: dict[str, dict[str, pathlib.Path]] = {}
    for source in sorted(SOURCES.glob("*.cc")):
        text = source.read_text(encoding="utf-8")
        names = sorted(set(re.findall(r"MUTANT_([a-z0-9_]+)", text)))
        files = rendered.setdefault(source.stem, {})
        for name in ["", *names]:
            path = folder / (f"{source.stem}__{name}.cc" if name else f"{source.stem}.cc")
            path.write_text((f"#define MUTANT_{name} 1\n#line 1\n" if name else "") + text, encoding="utf-8")
            files[name] = path
    return rendered


def register(rows, session) -> None:
    """Adds the row to the module `rows`, measured through the module `session`. That no mutant is equal to its kernel under the float64 oracle is what the
    test Kernels.EveryMutantFails shows; so none is excluded here."""

    @rows.row("mutants_missed_cpu", "Mutants of right kernels over all tasks that get no `incorrect`", "%", "≤ 1")
    def mutants_missed_cpu(programs):
        missed, count, controls = [], 0, {}
        with tempfile.TemporaryDirectory() as folder:
            for task, files in render(pathlib.Path(folder)).items():
                try:
                    arrivals = session.evaluate(programs, task, list(files.values()), "--profile", "check")
                except session.EvaluationFailed as error:
                    raise rows.NotMeasured(f"{task}: {error}") from error
                for name, arrival in zip(files, arrivals):
                    status = arrival.record["status"]
                    if not name:
                        controls[task] = status
                        continue
                    count += 1
                    if status != "incorrect":
                        missed.append(f"{task}__{name}: {status}")
        refused = {task: status for task, status in controls.items() if status != "success"}
        if refused:
            raise rows.NotMeasured(f"kernels without mutation are not accepted: {refused}")
        share = 100.0 * len(missed) / count
        detail = {"mutants": count, "missed": missed, "excluded as equal": [], "controls": len(controls)}
        return [rows.Result("mutants_missed_cpu", share, share <= 1, detail)]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    print(sum(len(files) for files in render(target).values()), "sources in", target)
