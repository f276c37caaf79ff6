"""A million short runs to disk: the memory that takes."""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path

from benchmarks.models import Chain, appell_system
from benchmarks.table import Counts
from benchmarks.timing import in_new_process

LIMIT = 2.0  # GB


def measure(count: int) -> dict[str, float]:
    """Sweep a double pendulum over random starts in a process of its own."""
    import appell as ap
    from appell.ensemble import Uniform

    system = appell_system(Chain(2))
    with tempfile.TemporaryDirectory(prefix="appell-") as folder:
        path = Path(folder, "study.zarr")
        over = {"q1": Uniform(-1, 1), "q2": Uniform(-1, 1)}
        began = time.perf_counter()
        study = ap.sweep(system, over, runs=count, until=0.1, points=3, out=path, progress=False)
        seconds = time.perf_counter() - began
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        done = study.outcomes["DONE"]
    return {"runs": done, "seconds": seconds, "peak": _peak(), "size": size / 2**20}


def _peak() -> float:
    """Largest memory of this process in GB; `ru_maxrss` would count that of the process which started it."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    line = next(e for e in status.read_text().splitlines() if e.startswith("VmHWM:"))
    return int(line.split()[1]) / 2**20


def run(quick: bool) -> Counts:
    """One row."""
    count = 20_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory(prefix="heyoka-") as folder:
        found = in_new_process("benchmarks.million", "measure", [count], folder)
    row = [f"{count} double pendulums, 0.1 s, 3 times each", f"{found['peak']:.2f} GB of {LIMIT:g} GB",
           f"{found['size']:.0f} MB", f"{found['runs'] / found['seconds']:.0f}"]  # fmt: skip
    return Counts(
        "5d. Short runs streamed to disk",
        ["runs", "largest memory", "on disk", "runs a second"],
        [row],
        ["The whole process, Python, LLVM and all; compilation is in the time."],
    )
