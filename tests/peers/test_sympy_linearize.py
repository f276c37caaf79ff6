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
