"""Programmed motion: planning the three-link manipulator, a step of predictive control, ten thousand tracked runs."""

from __future__ import annotations

import time

import numpy as np

import appell as ap
from appell.planning import plan, plant
from benchmarks.table import Counts


def run(quick: bool) -> Counts:
    """Times of whole jobs; they have no peer."""
    model = ap.library.three_link()
    begun, spent = time.perf_counter(), time.process_time()
    made = plan(model, until=1.0 if quick else 5.0)
    rows = [_row("plan: derive, compile, move, limits", begun, spent, 1)]
    mechanism = plant(model, ["drive"])
    system = ap.compile(ap.derive(mechanism))
    law = ap.control.ComputedTorque(mechanism, [40, 3, 60])
    rng, count = np.random.default_rng(0), 200 if quick else 10_000
    starts = np.tile([0, 1.25 * np.pi, 0.5, 0, 0, 0], (count, 1))
    starts[:, 1] -= np.radians(rng.uniform(0, 35, count))
    begun, spent = time.perf_counter(), time.process_time()
    ap.control.track_many(system, made, law, starts, step=2e-3)
    rows.append(_row(f"{count} disturbed tracking runs, Runge-Kutta, 2 ms", begun, spent, count))
    predictive = ap.control.MPC(mechanism, horizon=15, limits=[50.0, 50.0, 100.0])
    samples = 10 if quick else 100
    begun, spent = time.perf_counter(), time.process_time()
    ap.track(system, made, predictive, {"psi2": 3.67}, samples / 50, rate=50)
    rows.append(_row("a step of predictive control, 15 samples ahead, with its plant", begun, spent, samples))
    return Counts(
        "Programmed motion: three-link manipulator", ["what", "s", "processor s", "ms each", "a minute"], rows
    )


def _row(what: str, begun: float, spent: float, count: int) -> list[str]:
    took, used = time.perf_counter() - begun, time.process_time() - spent
    return [what, f"{took:.2f}", f"{used:.2f}", f"{1e3 * took / count:.3g}", f"{60 * count / took:.4g}"]
