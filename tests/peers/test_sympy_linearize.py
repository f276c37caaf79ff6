"""SymPy's LagrangesMethod.linearize on the same systems, by its own conventions of q_ind and q_dep."""

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import LagrangesMethod, ReferenceFrame, dynamicsymbols

import appell as ap


def test_pendulum():
    t = dynamicsymbols._t
    x, y = dynamicsymbols("x y")
    m, l, g = 0.3, 0.5, 9.81
    frame = ReferenceFrame("N")
    lagrangian = m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 - m * g * y
    method = LagrangesMethod(lagrangian, [x, y], hol_coneqs=[x**2 + y**2 - l**2], frame=frame)
    method.form_lagranges_equations()
    point = {x: 0, y: -l, x.diff(t): 0, y.diff(t): 0}
    lam = method.solve_multipliers(op_point={**point, x.diff(t, 2): 0, y.diff(t, 2): 0})
    A, _, _ = method.linearize(
        q_ind=[x], qd_ind=[x.diff(t)], q_dep=[y], qd_dep=[y.diff(t)], op_point={**point, **lam}, A_and_B=True
    )
    model = ap.library.spherical_pendulum()
    rest = next(e for e in ap.equilibrium(model).branches if e["z"] < 0)
    mine = ap.linearize(rest, dependent=["z"])
    keep = [mine.states.index(s) for s in ("x", "x.rate")]
    np.testing.assert_allclose(mine.A[np.ix_(keep, keep)], np.array(A, dtype=float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("theta", [0.294670313317130416, 1.41751379467845405])
def test_slider_crank(theta):
    """Spring, gravity and no damper: everything comes from a Lagrangian."""
    t = dynamicsymbols._t
    q = th, ph, xs = dynamicsymbols("theta phi x_s")
    a, l, e, mc, mr, ms, k, s0, g = 0.1, 0.3, 0.02, 0.5, 0.8, 1.2, 200.0, 0.3, 9.81
    cx, cy = a * sp.cos(th) + l / 2 * sp.cos(ph), a * sp.sin(th) - l / 2 * sp.sin(ph)
    T = mc * a**2 / 6 * th.diff(t) ** 2 + mr * (cx.diff(t) ** 2 + cy.diff(t) ** 2) / 2
    T += mr * l**2 / 24 * ph.diff(t) ** 2 + ms * xs.diff(t) ** 2 / 2
    V = mc * g * a / 2 * sp.sin(th) + mr * g * cy + k * (xs - s0) ** 2 / 2
    rows = [a * sp.cos(th) + l * sp.cos(ph) - xs, a * sp.sin(th) - l * sp.sin(ph) - e]
    method = LagrangesMethod(T - V, list(q), hol_coneqs=rows, frame=ReferenceFrame("N"))
    method.form_lagranges_equations()
    system = ap.compile(ap.derive(ap.library.slider_crank())).bind({"tau": 0.0, "c": 0.0})
    rest = next(e for e in ap.equilibrium(system).branches if abs(e["theta"] - theta) < 1e-6)
    point = {th: rest["theta"], ph: rest["phi"], xs: rest["x_s"], **{e.diff(t): 0 for e in q}}
    point.update({e.diff(t, 2): 0 for e in q})
    lam = method.solve_multipliers(op_point=point)
    A, _, _ = method.linearize(
        q_ind=[th],
        qd_ind=[th.diff(t)],
        q_dep=[ph, xs],
        qd_dep=[ph.diff(t), xs.diff(t)],
        op_point={**point, **lam},
        A_and_B=True,
    )
    mine = ap.linearize(rest, dependent=["phi", "x_s"])
    np.testing.assert_allclose(mine.A, np.array(A, dtype=float), rtol=1e-9, atol=1e-9)


class Driven(LagrangesMethod):
    """LagrangesMethod with generalized forces given directly."""

    def __init__(self, lagrangian, q, rows, forces):
        super().__init__(lagrangian, q, hol_coneqs=rows, frame=ReferenceFrame("N"))
        self.given = sp.Matrix(forces)

    def form_lagranges_equations(self):
        super().form_lagranges_equations()
        self._term4 = self.given
        self._f_d = self._f_d + self.given
        self.eom = self._term1 - self._term2 - self._term3 - self.given


def linearized(method, q, independent, point):
    """A and B by SymPy, with the multipliers of the rest in the operating point."""
    t = dynamicsymbols._t
    method.form_lagranges_equations()
    rest = {**{e.diff(t): 0 for e in q}, **{e.diff(t, 2): 0 for e in q}, **point}
    loads = method.solve_multipliers(op_point=rest)
    others = [e for e in q if e not in independent]
    A, B, _ = method.linearize(
        q_ind=independent, qd_ind=[e.diff(t) for e in independent], q_dep=others, qd_dep=[e.diff(t) for e in others],
        op_point={**rest, **loads}, A_and_B=True,
    )  # fmt: skip
    return np.array(A, dtype=float), np.array(B, dtype=float)


@pytest.mark.parametrize(("beta", "dependent"), [(-0.05, "alpha"), (0.03, "theta")])
def test_ball_and_beam(beta, dependent):
    """T and Pi in closed form, with friction, a motor and a tilted base, for either dependent coordinate."""
    model = ap.library.ball_and_beam()
    p, t = model.values, dynamicsymbols._t
    q = th, xi, al = dynamicsymbols("theta xi alpha")
    tau = dynamicsymbols("tau")
    dth, dxi, dal = (e.diff(t) for e in q)
    L, d, l, h, R, g = (p[s] for s in ("L", "d", "l", "h", "R", "g"))
    T = p["J_b"] * dal**2 / 2 + p["m"] * ((dxi - h * dal) ** 2 + xi**2 * dal**2) / 2
    T += p["J_s"] * (dal - dxi / R) ** 2 / 2 + p["J_w"] * dth**2 / 2
    T += p["m_l"] / 6 * (L**2 * dal**2 + L * d * dal * dth * sp.cos(al - th) + d**2 * dth**2)
    V = p["M_b"] * g * L / 2 * sp.sin(al + beta) + p["m"] * g * (xi * sp.sin(al + beta) + h * sp.cos(al + beta))
    V += p["m_l"] * g / 2 * (L * sp.sin(al + beta) + d * sp.sin(th + beta))
    row = (L * sp.cos(al) - L + d - d * sp.cos(th)) ** 2 + (L * sp.sin(al) - d * sp.sin(th) + l) ** 2 - l**2
    forces = {th: tau - p["b_theta"] * dth, xi: -p["b_xi"] * dxi, al: -p["b_alpha"] * dal}
    rest = ap.equilibrium(ap.compile(ap.derive(model)).bind({"beta": beta}), {"xi": 0.2})
    point = {th: rest["theta"], xi: 0.2, al: rest["alpha"], tau: rest["tau"]}
    order = sorted(q, key=lambda e: e.name == dependent)  # SymPy wants the dependent one last
    method = Driven(T - V, order, [row], [forces[e] for e in order])
    A, B = linearized(method, order, order[:2], point)
    mine = ap.linearize(rest, dependent=[dependent])
    np.testing.assert_allclose(mine.A, A, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mine.B, B, rtol=1e-9, atol=1e-12)


def test_delta_robot_off_the_middle():
    """Three rods, friction and three motors, at a pose without symmetry."""
    model = ap.library.delta_robot()
    p, t = model.values, dynamicsymbols._t
    phi, place, torques = dynamicsymbols("phi1:4"), dynamicsymbols("x y z"), dynamicsymbols("tau1:4")
    q = [*phi, *place]
    v = [e.diff(t) for e in place]
    T, V, rows = p["m_p"] * sum(e**2 for e in v) / 2, p["m_p"] * p["g"] * place[2], []
    for i, angle in enumerate(phi):
        c, s = np.cos(2 * np.pi * i / 3), np.sin(2 * np.pi * i / 3)
        reach = p["R_b"] - p["R_p"] + p["L1"] * sp.cos(angle)
        E = [reach * c, reach * s, -p["L1"] * sp.sin(angle)]
        w = [e.diff(t) for e in E]
        T += (p["I_a"] + p["I_g"]) * angle.diff(t) ** 2 / 2
        T += p["m_f"] / 6 * sum(a * a + a * b + b * b for a, b in zip(w, v, strict=True))
        V += -p["m_a"] * p["g"] * p["r_a"] * sp.sin(angle) + p["m_f"] * p["g"] / 2 * (place[2] + E[2])
        rows.append(sum((a - b) ** 2 for a, b in zip(place, E, strict=True)) - p["L2"] ** 2)
    forces = [tau - p["b_a"] * e.diff(t) for tau, e in zip(torques, phi, strict=True)] + [-p["b_p"] * e for e in v]
    rest = ap.equilibrium(model, {"x": 0.1, "y": 0.05, "z": -0.85}, starts=2)
    names = ["phi1", "phi2", "phi3", "x", "y", "z"]
    point = {e: rest[name] for e, name in zip(q, names, strict=True)}
    point.update({tau: rest[f"tau{i + 1}"] for i, tau in enumerate(torques)})
    A, B = linearized(Driven(T - V, q, rows, forces), q, list(phi), point)
    mine = ap.linearize(rest, dependent=["x", "y", "z"])
    np.testing.assert_allclose(mine.A, A, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mine.B, B, rtol=1e-9, atol=1e-12)
