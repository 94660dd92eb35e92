"""What the numbers were measured on, and whether it was quiet."""

import os
import pathlib
import platform
import subprocess
import time

MAX_BUSY = 0.15  # share of all processors' time


def _ticks() -> tuple[int, int]:
    """(idle, all) clock ticks of all processors since the start of the machine."""
    fields = [int(word) for word in pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n")[0].split()[1:9]]
    return fields[3] + fields[4], sum(fields)


def busy_share(seconds: float) -> float:
    """The share of the processors' time that was not idle over the next `seconds`."""
    idle_before, all_before = _ticks()
    time.sleep(seconds)
    idle, every = _ticks()
    return 1.0 - (idle - idle_before) / max(1, every - all_before)


def describe() -> dict:
    """Processor, cores, memory, kernel; no names of hosts."""
    cpu = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), "unknown")
    memory_kib = int(pathlib.Path("/proc/meminfo").read_text().split()[1])
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_gib": round(memory_kib / 2**20, 1),
            "kernel": platform.release(), "date": time.strftime("%Y-%m-%d", time.gmtime())}


def commit(root: pathlib.Path) -> str:
    run = subprocess.run(["git", "-C", root, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return run.stdout.strip()
