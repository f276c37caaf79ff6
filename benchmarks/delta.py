"""The Delta robot: from the model to gains beside SymPy's route, the Stewart platform, closed-loop runs per second."""

from __future__ import annotations

from math import cos, pi, sin
from statistics import median
from typing import NamedTuple

import numpy as np
import scipy.linalg
import sympy as sp
import sympy.physics.mechanics as me

import appell as ap
from benchmarks.models import same
from benchmarks.table import Comparison, Comparisons
from benchmarks.timing import WALL, Action, forget, once

POSE, PHI, TORQUE = (0.0, 0.0, -0.9), 0.114629043788892274, -17.6633064869428808
STATE = np.array([PHI] * 3 + [*POSE, 1.0, -0.5, 0.3, -0.45416718784411, 0.286051143446064, -0.12062122656133])
WEIGHTS = np.diag([1e4] * 3 + [1e2] * 3)
NAMES = "R_b R_p L1 L2 m_a r_a I_a I_g m_f m_p b_a b_p g"
VALUES = {name: value for name, value in ap.library.delta_robot().values.items() if name in NAMES.split()}


class Made(NamedTuple):
    """What both sides end with: a nonlinear right-hand side at a state, the first approximation, gains."""

    accelerations: np.ndarray
    A: np.ndarray
    B: np.ndarray
    K: np.ndarray


def ours() -> Made:
    """Derive, compile, one value of the nonlinear equations, linearise, gains; the pose is given to both sides."""
    system = ap.compile(ap.derive(ap.library.delta_robot())).bind()
    state = ap.State(system.model, np.array([PHI] * 3 + [*POSE] + [0.0] * 6))
    lin = ap.linearize(system, state, dependent=["x", "y", "z"])
    moving = system.rhs(0.0, system.to_x(ap.State(system.model, STATE)))[6:]  # phi'' of the three arms
    return Made(moving, lin.A, lin.B, ap.control.lqr(lin, WEIGHTS, 1.0).K)


def sympys() -> Made:
    """The same by LagrangesMethod, lambdify(cse), its linearize, and SciPy's solver of Riccati's equation.

    Parameters are letters on both sides, so that other numbers need no new derivation.
    """
    letters = dict(zip(VALUES, sp.symbols(list(VALUES)), strict=True))
    numbers = {letters[name]: value for name, value in VALUES.items()}
    p, t = letters, me.dynamicsymbols._t
    phi, place = me.dynamicsymbols("phi1:4"), me.dynamicsymbols("x y z")
    torques = me.dynamicsymbols("tau1:4")
    v = [e.diff(t) for e in place]
    T, V, rows = p["m_p"] * sum(e**2 for e in v) / 2, p["m_p"] * p["g"] * place[2], []
    for i, angle in enumerate(phi):
        c, s = cos(2 * pi * i / 3), sin(2 * pi * i / 3)  # not sqrt(3): its solver would take minutes
        reach = p["R_b"] - p["R_p"] + p["L1"] * sp.cos(angle)
        E = [reach * c, reach * s, -p["L1"] * sp.sin(angle)]
        w = [e.diff(t) for e in E]
        T += (p["I_a"] + p["I_g"]) * angle.diff(t) ** 2 / 2
        T += p["m_f"] / 6 * sum(a * a + a * b + b * b for a, b in zip(w, v, strict=True))
        V += -p["m_a"] * p["g"] * p["r_a"] * sp.sin(angle) + p["m_f"] * p["g"] / 2 * (place[2] + E[2])
        rows.append(sum((a - b) ** 2 for a, b in zip(place, E, strict=True)) - p["L2"] ** 2)
    q = [*phi, *place]
    rates = [e.diff(t) for e in q]
    drag = [p["b_a"]] * 3 + [p["b_p"]] * 3
    push = [*torques, 0, 0, 0]

    class Driven(me.LagrangesMethod):
        """Generalized forces given directly."""

        def form_lagranges_equations(self) -> None:
            super().form_lagranges_equations()
            self._term4 = sp.Matrix([a - d * e for a, d, e in zip(push, drag, rates, strict=True)])
            self._f_d = self._f_d + self._term4
            self.eom = self._term1 - self._term2 - self._term3 - self._term4

    method = Driven(T - V, q, hol_coneqs=rows, frame=me.ReferenceFrame("N"))
    method.form_lagranges_equations()
    f = sp.lambdify([*q, *rates, *torques, *letters.values()], [method.mass_matrix_full, method.forcing_full], cse=True)
    M, F = f(*STATE, *[TORQUE] * 3, *numbers.values())
    accelerations = np.linalg.solve(M, F[:, 0])[6:9]
    point = {**dict(zip(q, [PHI] * 3 + [*POSE], strict=True)), **dict.fromkeys(torques, TORQUE)}
    rest = {**dict.fromkeys(rates, 0), **{e.diff(t): 0 for e in rates}}
    loads = method.solve_multipliers(op_point={**point, **rest, **numbers})
    A, B, _ = method.linearize(
        q_ind=phi, qd_ind=rates[:3], q_dep=place, qd_dep=v, op_point={**point, **rest, **numbers, **loads},
        A_and_B=True,
    )  # fmt: skip
    A, B = np.array(A, dtype=float), np.array(B, dtype=float)
    S = scipy.linalg.solve_continuous_are(A, B, WEIGHTS, np.eye(B.shape[1]))
    return Made(accelerations, A, B, B.T @ S)


def cold(action: Action) -> float:
    """Seconds one run takes with SymPy's cache empty."""
    forget()
    return once(action)


def run(quick: bool) -> Comparisons:
    """Seconds of the processor; the runs per second by the clock on the wall, on all cores."""
    expected, theirs = ours(), None
    mine, found = [cold(ours) for _ in range(7)], []
    if not quick:
        theirs = cold(lambda: found.append(sympys()))
        for part, value in zip(expected, found[0], strict=True):
            same("SymPy", part, value)
        mine += [cold(ours) for _ in range(7)]
    stewart = once(lambda: ap.compile(ap.derive(ap.library.stewart_platform())).bind())
    system = ap.compile(ap.derive(ap.library.delta_robot())).bind()
    state = ap.State(system.model, np.array([PHI] * 3 + [*POSE] + [0.0] * 6))
    feedback = ap.control.lqr(ap.linearize(system, state, dependent=["x", "y", "z"]), WEIGHTS, 1.0)
    count = 64 if quick else 8192
    rng = np.random.default_rng(0)
    starts = [
        feedback.start(dict(zip(feedback.lin.states, rng.uniform(-0.05, 0.05, 6), strict=True))) for _ in range(64)
    ]
    starts = [starts[k % 64] for k in range(count)]
    ap.sweep(feedback.system, {"start": starts[:8]}, until=1.0, points=2)
    seconds = min(
        once(lambda: ap.sweep(feedback.system, {"start": starts}, until=1.0, points=2), WALL)
        for _ in range(1 if quick else 3)
    )
    return Comparisons(
        "Delta robot: derive, compile, linearise, optimal gains",
        [
            Comparison(
                "Delta robot, model to gains",
                median(mine),
                "SymPy LagrangesMethod, lambdify(cse), linearize",
                theirs,
                None if quick else 100.0,
                note="one value of phi'' in motion, A, B and K agree to 1e-9",
            )
        ],
        (
            "Processor time, everything imported, SymPy's cache empty; the median of ours beside the peer.",
            "Both end with a function for x' (the peer solves for its multipliers too), A and B, optimal gains, and "
            "keep the parameters as letters; the peer's text has directions of the arms as numbers, T and V by hand.",
            f"Stewart platform, derive and compile: {stewart:.2f} s (aim: under 5 s)",
            f"closed-loop Delta robots, 1 s at 1e-9: {count / seconds:.0f} runs a second",
        ),
    )
