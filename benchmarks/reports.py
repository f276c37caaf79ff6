"""How large the reports of 10 s runs are and how long they take to write, imports included for the first one."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import appell as ap
from benchmarks.table import Counts

MODELS = ("rolling-disk", "four-bar", "bicycle", "sprayer")


def run(quick: bool) -> Counts:
    """Reports with animation, plots, equations and proof; and an animation of 50 bodies."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS[:1] if quick else MODELS:
            system = ap.compile(ap.derive(ap.library.model(name)))
            motion = ap.simulate(system, until=1.0 if quick else 10.0, progress=False)
            path = Path(folder) / "report.html"
            begun, spent = time.perf_counter(), time.process_time()
            ap.report(motion, path)
            took, used = time.perf_counter() - begun, time.process_time() - spent
            rows.append([f"report, {name}", f"{path.stat().st_size / 1e6:.2f}", f"{used:.2f}", f"{took:.2f}"])
        chain = ap.library.pendulum_chain(links=5 if quick else 50, mass="points")
        motion = ap.simulate(ap.compile(ap.derive(chain)), until=1.0 if quick else 10.0, points=101, progress=False)
        begun, spent = time.perf_counter(), time.process_time()
        motion.animate(path)
        took, used = time.perf_counter() - begun, time.process_time() - spent
        rows.append(
            [f"animation, {len(chain.bodies)} bodies", f"{path.stat().st_size / 1e6:.2f}", f"{used:.2f}", f"{took:.2f}"]
        )
    columns = ["what", "MB (aim: 10)", "processor s (aim: 3)", "s"]
    return Counts("Reports and animations of 10 s runs", columns, rows)
