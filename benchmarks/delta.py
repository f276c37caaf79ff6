"""The Delta robot: from the model to gains beside SymPy's route, the Stewart platform, closed-loop runs per second."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import scipy.linalg

import appell as ap
from benchmarks.models import same
from benchmarks.table import Comparison, Comparisons
from benchmarks.timing import WALL, once

POSE, PHI, TORQUE = (0.0, 0.0, -0.9), 0.114629043788892274, -17.6633064869428808
WEIGHTS = np.diag([1e4] * 3 + [1e2] * 3)


def ours() -> np.ndarray:
    """Derive, compile, linearise, gains; the pose is given to both sides."""
    system = ap.compile(ap.derive(ap.library.delta_robot())).bind()
    state = ap.State(system.model, np.array([PHI] * 3 + [*POSE] + [0.0] * 6))
    return ap.control.lqr(ap.linearize(system, state, dependent=["x", "y", "z"]), WEIGHTS, 1.0).K


def sympys() -> np.ndarray:
    """The same by LagrangesMethod and its linearize, with numbers for the parameters from the beginning."""
    import sympy as sp
    from sympy.physics.mechanics import LagrangesMethod, ReferenceFrame, dynamicsymbols

    p = ap.library.delta_robot().values
    t = dynamicsymbols._t
    phi, place = dynamicsymbols("phi1:4"), dynamicsymbols("x y z")
    torques = dynamicsymbols("tau1:4")
    v = [e.diff(t) for e in place]
    T, V, rows = p["m_p"] * sum(e**2 for e in v) / 2, p["m_p"] * p["g"] * place[2], []
    for i, angle in enumerate(phi):
        c, s = cos(2 * pi * i / 3), sin(2 * pi * i / 3)
        reach = p["R_b"] - p["R_p"] + p["L1"] * sp.cos(angle)
        E = [reach * c, reach * s, -p["L1"] * sp.sin(angle)]
        w = [e.diff(t) for e in E]
        T += (p["I_a"] + p["I_g"]) * angle.diff(t) ** 2 / 2
        T += p["m_f"] / 6 * sum(a * a + a * b + b * b for a, b in zip(w, v, strict=True))
        V += -p["m_a"] * p["g"] * p["r_a"] * sp.sin(angle) + p["m_f"] * p["g"] / 2 * (place[2] + E[2])
        rows.append(sum((a - b) ** 2 for a, b in zip(place, E, strict=True)) - p["L2"] ** 2)
    q = [*phi, *place]
    N = ReferenceFrame("N")
    drag = [p["b_a"]] * 3 + [p["b_p"]] * 3
    push = [*torques, 0, 0, 0]

    class Driven(LagrangesMethod):
        """Generalized forces given directly."""

        def form_lagranges_equations(self) -> None:
            super().form_lagranges_equations()
            self._term4 = sp.Matrix([a - d * e.diff(t) for a, d, e in zip(push, drag, q, strict=True)])
            self._f_d = self._f_d + self._term4
            self.eom = self._term1 - self._term2 - self._term3 - self._term4

    method = Driven(T - V, q, hol_coneqs=rows, frame=N)
    method.form_lagranges_equations()
    point = {**dict(zip(q, [PHI] * 3 + [*POSE], strict=True)), **dict.fromkeys(torques, TORQUE)}
    rest = {**{e.diff(t): 0 for e in q}, **{e.diff(t, 2): 0 for e in q}}
    loads = method.solve_multipliers(op_point={**point, **rest})
    A, B, _ = method.linearize(
        q_ind=phi, qd_ind=[e.diff(t) for e in phi], q_dep=place, qd_dep=v, op_point={**point, **rest, **loads},
        A_and_B=True,
    )  # fmt: skip
    A, B = np.array(A, dtype=float), np.array(B, dtype=float)
    S = scipy.linalg.solve_continuous_are(A, B, WEIGHTS, np.eye(B.shape[1]))
    return B.T @ S


def run(quick: bool) -> Comparisons:
    """Seconds of the processor; the runs per second by the clock on the wall, on all cores."""
    expected = ours()
    mine = min(once(ours) for _ in range(3))
    theirs = None
    if not quick:
        found: list[np.ndarray] = []
        theirs = once(lambda: found.append(sympys()))
        same("SymPy", expected, found[0])
    stewart = once(lambda: ap.compile(ap.derive(ap.library.stewart_platform())).bind())
    system = ap.compile(ap.derive(ap.library.delta_robot())).bind()
    state = ap.State(system.model, np.array([PHI] * 3 + [*POSE] + [0.0] * 6))
    feedback = ap.control.lqr(ap.linearize(system, state, dependent=["x", "y", "z"]), WEIGHTS, 1.0)
    count = 64 if quick else 2048
    rng = np.random.default_rng(0)
    starts = [
        feedback.start(dict(zip(feedback.lin.states, rng.uniform(-0.05, 0.05, 6), strict=True))) for _ in range(64)
    ]
    starts = [starts[k % 64] for k in range(count)]
    ap.sweep(feedback.system, {"start": starts[:8]}, until=1.0, points=2)
    seconds = once(lambda: ap.sweep(feedback.system, {"start": starts}, until=1.0, points=2), WALL)
    return Comparisons(
        "Delta robot: derive, compile, linearise, optimal gains",
        [Comparison("Delta robot, model to gains", mine, "SymPy LagrangesMethod", theirs, None if quick else 100.0)],
        (
            f"Stewart platform, derive and compile: {stewart:.2f} s (aim: under 5 s)",
            f"closed-loop Delta robots, 1 s at 1e-9: {count / seconds:.0f} runs a second",
        ),
    )
