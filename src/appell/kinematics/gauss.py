"""Rows that are not linear in the accelerations: solved for them by Gauss's principle, on the graph."""

from __future__ import annotations

import casadi as ca

from appell.kinematics.saddle import Alike, bordered, saddle, solve_in_own_units

APPROACH, NEWTON = 4, 10  # steps with the mass matrix alone, then with the curvature of the rows


def conditions(
    M: ca.SX, F: ca.SX, J: ca.SX, gamma: ca.SX, f: ca.SX, a: ca.SX, multiplier: ca.SX | None
) -> tuple[ca.SX, ca.SX]:
    r"""Matrix and right-hand side of one Newton step for the acceleration of least constraint.

    $$ \begin{bmatrix} M - \sum\lambda f_{aa} & -J^T & -f_a^T \\ J & 0 & 0 \\ f_a & 0 & 0 \end{bmatrix}
       \begin{bmatrix} a \\ \mu \\ \lambda \end{bmatrix}_{+} =
       \begin{bmatrix} F - \sum\lambda f_{aa}\,a \\ \gamma \\ f_a a - f \end{bmatrix} $$

    Args:
        M: Mass matrix of the free system.
        F: Its forces.
        J: Coefficients of the rows that are linear in the accelerations.
        gamma: Their right-hand side.
        f: The other rows, in a.
        a: The accelerations on the graph.
        multiplier: Multipliers of f; with None the curvature of f is left out.
    """
    slope = ca.jacobian(f, a)
    H = ca.SX(a.numel(), a.numel())
    if multiplier is not None:
        H = ca.jacobian(ca.jtimes(f, a, multiplier, True), a)
    rows = ca.vertcat(J, slope)
    return bordered(M - H, rows, rows), ca.vertcat(F - H @ a, gamma, slope @ a - f)


def least_constraint(
    M: ca.SX,
    F: ca.SX,
    J: ca.SX,
    gamma: ca.SX,
    f: ca.SX,
    a: ca.SX,
    near: ca.SX | None = None,
    alike: Alike = (),
) -> ca.SX:
    r"""The acceleration of least constraint, $\min_a \tfrac12 (a - M^{-1}F)^T M (a - M^{-1}F)$ under $f(a) = 0$.

    A fixed number of steps of `conditions` is part of the graph, the first few without the curvature of f, which far
    from the solution points anywhere. Of several branches of f = 0 it is the one next to where the steps begin.

    Args:
        M: Mass matrix of the free system.
        F: Its forces.
        J: Coefficients of the rows that are linear in the accelerations.
        gamma: Their right-hand side.
        f: The other rows, in a.
        a: The accelerations on the graph.
        near: Where the steps begin; the acceleration without the rows f if left out.
        alike: Coordinates that are measured alike.
    """
    n, linear = a.numel(), J.shape[0]
    multiplier = ca.SX.sym("lambda", f.numel())
    others = [s for s in ca.symvar(ca.veccat(M, F, J, gamma, f)) if not ca.depends_on(s, a)]
    if near is None:
        near = saddle(M, J, J, F, gamma, alike)[:n]
    now, pull = near, ca.SX.zeros(f.numel())
    for given, steps in ((None, APPROACH), (multiplier, NEWTON)):
        solution = solve_in_own_units(*conditions(M, F, J, gamma, f, a, given), M, alike)
        step = ca.Function("step", [a, multiplier, *others], [solution[:n], solution[n + linear :]])
        for _ in range(steps):
            now, pull = step(now, pull, *others)
    return now
