"""Chains of many links: derivation, machine code and one evaluation, and how they grow from 15 to 60 links."""

from __future__ import annotations

import tempfile

import numpy as np

import appell as ap
from benchmarks.table import Counts, duration
from benchmarks.timing import CPU, in_new_process, once, per_call

GROWTH = 15, 60  # lengths between which times are compared
ROUNDS = 3  # processes of which the best counts there


def arm(joints: int) -> ap.Model:
    """A spatial arm: hinges about z, y and x by turns, bodies without any symmetry, masses as parameters."""
    ground = ap.Frame("ground")
    frame, letters, bodies = ground, [], []
    for i in range(joints):
        letters.append(ap.coordinates(f"q{i}"))
        frame = frame.pin(letters[-1], "zyx"[i % 3], (0, 0.1, 0.3) if i else (0, 0, 0))
        mass, inertia = ap.parameters(f"m{i}"), (0.02, 0.03, 0.01, 0.001, 0.002, -0.001)
        bodies.append(ap.RigidBody(f"body {i}", mass, frame.point(0.02, 0.03, 0.15), frame, inertia))
    values = {f"m{i}": 1.0 for i in range(joints)}
    return ap.Model(ground, letters, bodies, [ap.Gravity(-9.81 * ground.z)], name="arm", values=values)


def measure(kind: str, links: int) -> tuple[int, float, float, float, float]:
    """Operations, and processor time to derive, to compile a batch, of one evaluation, and to run; in a new process."""
    make = ap.library.pendulum_chain if kind == "plane" else arm
    ap.compile(ap.derive(make(3))).rhs(0.0, np.zeros((6, 8)))  # everything imported
    model = make(links)
    made: list[ap.Equations] = []
    derive = once(lambda: made.append(ap.derive(model)), CPU)
    system = ap.compile(made[0])
    states = np.random.default_rng(1).uniform(-1, 1, (2 * links, 8))
    compile_ = once(lambda: system.rhs(0.0, states), CPU)
    x = states[:, 0].copy()
    call = per_call({"one": lambda: system.rhs(0.0, x)}, 20)["one"]
    start = system.state(dict(zip(model.coordinates, 0.3 * x[:links], strict=True)))
    run = once(lambda: ap.simulate(system, start, 1.0, points=2, progress=False, rtol=1e-9), CPU)
    return made[0].operations, derive, compile_, call, run


def run(quick: bool) -> Counts:
    """Planar chains and spatial arms."""
    rows = []
    for kind, lengths in (
        (("plane", (5, 10)), ("space", (4,))) if quick else (("plane", (*GROWTH, 100)), ("space", (7, 30)))
    ):
        found = {}
        for links in lengths:
            rounds = []
            for _ in range(ROUNDS if links in GROWTH else 1):
                with tempfile.TemporaryDirectory(prefix="heyoka-") as folder:
                    rounds.append(in_new_process("benchmarks.big_trees", "measure", [kind, links], folder))
            found[links] = [min(values) for values in zip(*rounds, strict=True)]
            operations, *seconds = found[links]
            rows.append([f"{links} links, {kind}", operations, operations / links, *map(duration, seconds)])
        if set(GROWTH) <= set(found):
            growth = [b / a for a, b in zip(*(found[links] for links in GROWTH), strict=True)]
            rows.append(
                [
                    f"from {GROWTH[0]} to {GROWTH[1]} links",
                    f"{growth[0]:.1f}x",
                    "",
                    *(f"{ratio:.1f}x" for ratio in growth[1:]),
                ]
            )
    columns = ["chain", "operations", "per link", "derive", "machine code", "one call", "1 s of motion"]
    return Counts(
        "8. Big trees of bodies",
        columns,
        rows,
        [
            "Processor time in a process of its own, cache empty, formulation chosen by itself; best of"
            f" {ROUNDS} for {GROWTH[0]} and {GROWTH[1]} links.",
            "One call from Python on CasADi's machine; motion at 1e-9.",
        ],
    )
