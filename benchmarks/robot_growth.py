"""How the operations of inverse dynamics grow with the number of joints, and what deriving and compiling takes."""

from __future__ import annotations

from math import log

import numpy as np

from appell.higher_order import Dynamics
from benchmarks.robot_arms import arm
from benchmarks.table import Counts
from benchmarks.timing import CPU, once


def run(quick: bool) -> Counts:
    """Arms whose axes are parallel, and arms with arbitrary axes and full inertia tensors."""
    lengths = (7, 15) if quick else (7, 15, 30, 60)
    rows = []
    for planar, K in ((True, 2), (False, 2), (False, 3), (False, 4)):
        counts = [Dynamics(arm(n, planar)).operations(K) for n in lengths]
        order = log(counts[-1] / counts[-2]) / log(lengths[-1] / lengths[-2])
        words = ", ".join(["tau", "tau'", "tau''"][: K - 1])
        name = f"{'parallel' if planar else 'arbitrary'} axes: {words}"
        rows.append([name, *counts, counts[-1] / lengths[-1], f"n^{order:.2f}"])
    n = 7 if quick else 30
    chain = arm(n)

    def derive_and_compile() -> None:
        robot = Dynamics(chain)
        robot.inverse(np.zeros((n, 3)))
        robot.inverse(np.zeros((2, n, 3)))

    seconds = once(derive_and_compile, CPU)
    columns = ["arm and quantity", *(f"n = {k}" for k in lengths), f"per joint, n = {lengths[-1]}", "grows like"]
    note = f"Inverse dynamics of {n} joints derived and compiled, SIMD code too: {seconds:.2f} s of processor time."
    return Counts("10. Operations of inverse dynamics of an arm of n joints", columns, rows, [note])
