"""Velocities that jump: a prescribed motion turns a corner, and what hangs on it is struck."""

from __future__ import annotations

import numpy as np

from appell.code.code import Code

JOLT = 1e-9  # share of the velocities by which they must jump to count


def struck(
    code: Code, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray, before: np.ndarray, after: np.ndarray
) -> np.ndarray:
    """x = (q, u, z) behind a corner, where the constraints change the velocities at the same speeds.

    By d'Alembert's principle for impulses, K_u' M (v - before) = 0: those of the constraints do no work on what is free
    to move.

    Args:
        code: The equations as functions.
        t: Time.
        x: The state before.
        w: Inputs.
        p: Parameters.
        before: q' before the corner.
        after: q' behind it at the speeds of before.
    """
    n, jump = before.size, after - before
    if code.equations.chart.redundant or not np.max(np.abs(jump)) > JOLT * max(1.0, np.max(np.abs(before))):
        return x
    speeds = slice(n, n + len(code.equations.speeds))
    M = np.array(code.equations.mechanics.functions["multiplier"](t, x[:n], before, x[speeds.stop :], w, p)[0])
    K = code.spread(t, x, w, p)[0]
    x = np.array(x)
    x[speeds] -= np.linalg.solve(K.T @ M @ K, K.T @ M @ jump)
    return x
