"""What Krasinskiy 2025 prints, what is true, and the proof that runs; see docs/errata/redundant-coordinates.md.

Numbers in parentheses are the equations of the source. Truth is Lagrange's equations with multipliers, (5).
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.kinematics.mechanics import Mechanics

BALL, TILTED, DELTA = ap.library.ball_and_beam(), ap.library.ball_and_beam(tilt=-0.05), ap.library.delta_robot()


def everything() -> ap.Model:
    """Three degrees of freedom in five coordinates with T_2, T_1, T_0, a potential, and forces of every kind."""
    r1, r2, r3, s1, s2 = ap.coordinates("r1 r2 r3 s1 s2")
    u = ap.inputs("u")
    ground = ap.Frame("ground")
    turning = ground.rotate("z", 1.3 * ap.t)
    particles = [
        ap.Particle("a", 1.1, turning.point(r1 + s1 * s2, r2 - s1**2 / 2, r3 + s2)),
        ap.Particle("b", 0.7, turning.point(s1 + r1 * r2, s2, r3 * r1)),
        ap.Particle("c", 1.9, turning.point(r3, s1 - s2, r2)),
    ]
    forces = [
        ap.Potential(sp.cos(r1) * s2 + r3 * s1**2 + 0.4 * r2),
        ap.Generalized({r1: u - 0.3 * r1.rate + 0.2 * s1, r3: 0.1 * r2 * s2.rate}),
        ap.Generalized({s1: -0.4 * s1.rate + 0.7, s2: 0.5 * r2 - 0.2 * r1.rate * s2}),
    ]
    rows = [
        ap.Holonomic(s1 + s1**3 / 3 + 0.3 * s2 * r1 - r1 * r2 - sp.sin(r3) / 2, "first"),
        ap.Holonomic(s2 + 0.2 * s1**2 - r2**2 - 0.4 * r1 * r3, "second"),
    ]
    return ap.Model(ground, (r1, r2, r3, s1, s2), particles, forces, rows, name="everything", values={u: 0.6})


class Parts:
    """T, W, Q, F of a model and what the source makes of them, in q, q' on the graph; r first, then s."""

    def __init__(self, model: ap.Model, dependent: tuple[str, ...]) -> None:
        self.model, self.mechanics = model, Mechanics(model)
        mechanics, x = self.mechanics, self.mechanics.variables
        names = [q.name for q in model.coordinates]
        self.s = [names.index(name) for name in dependent]
        self.r = [i for i in range(len(names)) if i not in self.s]
        n = len(names)
        still = ca.SX.zeros(n)
        self.q, self.v = x.q, x.v
        self.T = mechanics.T
        momentum = ca.gradient(self.T, x.v)
        self.a = ca.jacobian(momentum, x.v)
        self.a1 = ca.substitute(momentum, x.v, still)
        self.W = mechanics.V - ca.substitute(self.T, x.v, still)
        self.Q = sum((f.Q for f in mechanics.forces if f.potential is None), ca.SX.zeros(n))
        J = mechanics.J
        self.F_r, self.F_s = J[:, self.r], J[:, self.s]
        self.B = -ca.solve(self.F_s, self.F_r)
        self.N = ca.SX(n, len(self.r))
        self.N[self.r, :], self.N[self.s, :] = ca.SX.eye(len(self.r)), self.B

    def along(self, column: ca.SX) -> ca.SX:
        """D_j of each entry of a column."""
        return ca.jacobian(column, self.q) @ self.N

    def at(self, expressions: list[ca.SX], q, v=None, w=None) -> list[np.ndarray]:
        x, model = self.mechanics.variables, self.model
        v = np.zeros(len(q)) if v is None else v
        w = [model.values[s.label] for s in model.inputs] if w is None else w
        p = [model.values[s.label] for s in model.parameters]
        function = ca.Function("at", x.arguments, [ca.densify(e) for e in expressions])
        found = function(0.0, q, v, [], w, p)
        return [np.array(e) for e in (found if isinstance(found, tuple | list) else [found])]


def truth(model, state, w=None):
    system = ap.compile(ap.derive(model, ap.Multipliers())).bind(w or {})
    return system.accelerations(state)


def state_of(model, seed=1):
    system = ap.compile(ap.derive(model, ap.Shulgin())).bind()
    rng = np.random.default_rng(seed)
    given = {q: rng.uniform(0.2, 0.7) for q in model.coordinates[:3]}
    rates = {q.rate: rng.uniform(-1, 1) for q in model.coordinates[:3]}
    return system.consistent({**given, **rates}, near={"s1": 0.3, "s2": 0.3})


def independent_accelerations(parts, state, sign):
    """r'' from d/dt T*_r' - T*_r - sign B' T*_s = Q_r + B' Q_s; sign is 1 in (14) and -1 in (27)."""
    u, y = ca.SX.sym("u", len(parts.r)), ca.SX.sym("y", len(parts.r))
    K = parts.N @ u
    T_star = ca.substitute(parts.T, parts.v, K)
    force = ca.substitute(parts.Q - ca.gradient(parts.mechanics.V, parts.q), parts.v, K)
    rate = ca.jtimes(ca.gradient(T_star, u), ca.vertcat(parts.q, u), ca.vertcat(K, y))
    slope = ca.gradient(T_star, parts.q)
    left = rate - slope[parts.r] - sign * parts.B.T @ slope[parts.s]
    A, minus_b = ca.linear_coeff(left - parts.N.T @ force, y, True)
    A, minus_b = (ca.substitute(e, u, parts.v[parts.r]) for e in (A, minus_b))
    A, minus_b = parts.at([A, minus_b], state.q, state.v)
    return np.linalg.solve(A, -minus_b[:, 0])


# Equations of motion.


def test_27_has_the_wrong_sign_of_the_dependent_slopes():
    """(27) puts Q_r - B'(T*_s - Q_s) where (14) has Q_r + B'(T*_s + Q_s)."""
    model = everything()
    parts, state = Parts(model, ("s1", "s2")), state_of(model)
    expected = truth(model, state)[:3]
    np.testing.assert_allclose(independent_accelerations(parts, state, 1), expected, rtol=1e-12, atol=1e-13)
    assert np.max(np.abs(independent_accelerations(parts, state, -1) - expected)) > 0.02


@pytest.mark.parametrize(
    ("model", "dependent", "given", "inputs", "right", "printed"),
    [
        (
            BALL,
            ("alpha",),
            {"theta": 2.0, "xi": 0.3, "theta.rate": -10.0, "xi.rate": 0.3, "near": {"alpha": 0.05}},
            {"tau": -0.05},
            55.4468079939945,
            34.93,
        ),
        (
            DELTA,
            ("x", "y", "z"),
            {"x": -0.2, "y": 0.2, "z": -1.0, "phi1.rate": -4.0, "phi2.rate": 5.0, "phi3.rate": 1.0, "near": {}},
            {"tau1": 0.0, "tau2": 0.0, "tau3": 0.0},
            19.5242277293582,
            2.11,
        ),
    ],
    ids=["ball and beam", "Delta robot"],
)
def test_27_on_real_machines(model, dependent, given, inputs, right, printed):
    given = dict(given)
    near = given.pop("near")
    system = ap.compile(ap.derive(model, ap.Shulgin())).bind(inputs)
    state, parts = system.consistent(given, near), Parts(model, dependent)
    parts.model = ap.Model(
        model.ground,
        model.coordinates,
        model.bodies,
        model.forces,
        model.constraints,
        values={**model.values, **inputs},
    )
    assert independent_accelerations(parts, state, 1)[0] == pytest.approx(right, rel=1e-11)
    assert independent_accelerations(parts, state, -1)[0] == pytest.approx(printed, abs=0.005)


def test_13_has_an_index_lost_in_the_mixed_term():
    """a* = a_rr + a_rs B + B' a_sr + B' a_ss B; printed a_mu,gamma B_mu,gamma B_mu,rho for the second part."""
    model = everything()
    parts, state = Parts(model, ("s1", "s2")), state_of(model)
    a, B, N = parts.at([parts.a, parts.B, parts.N], state.q)
    r, s = parts.r, parts.s
    right = a[np.ix_(r, r)] + a[np.ix_(r, s)] @ B + B.T @ a[np.ix_(s, r)] + B.T @ a[np.ix_(s, s)] @ B
    np.testing.assert_allclose(right, N.T @ a @ N, rtol=1e-13, atol=1e-14)
    mixed = np.einsum("mg,mg,mp->gp", a[np.ix_(s, r)], B, B)
    printed = a[np.ix_(r, r)] + mixed + B.T @ a[np.ix_(s, r)] + B.T @ a[np.ix_(s, s)] @ B
    assert np.max(np.abs(printed - right)) > 0.02


def test_15_in_indices():
    """The explicit scalar form with its indices in place gives the accelerations; the printed gyroscopic part not."""
    model = everything()
    parts, state = Parts(model, ("s1", "s2")), state_of(model)
    n = len(parts.r)
    a_star, a1_star = parts.N.T @ parts.a @ parts.N, parts.N.T @ parts.a1
    Da = parts.along(ca.vec(a_star))
    force = parts.N.T @ parts.Q
    expressions = [a_star, Da, parts.along(a1_star), parts.along(parts.W), force]
    expressions += [ca.jacobian(a1_star, parts.q), parts.B]
    A, Da, Da1, DW, Q, slopes, B = parts.at(expressions, state.q, state.v)
    Da = Da.reshape(n, n, n, order="F")  # Da[l, k, j] = D_j a*_lk
    rate = state.v[parts.r]
    carried = np.einsum("lkj,k,j->l", Da, rate, rate) - np.einsum("kjl,k,j->l", Da, rate, rate) / 2
    gyro = Da1 - Da1.T  # D_k a*_l - D_l a*_k

    def accelerations(gyroscopic):
        return np.linalg.solve(A, Q[:, 0] - carried - gyroscopic @ rate - DW[0])

    expected = truth(model, state)[:3]
    np.testing.assert_allclose(accelerations(gyro), expected, rtol=1e-12, atol=1e-13)
    on_r, on_s = slopes[:, parts.r], slopes[:, parts.s]
    third = np.einsum("ml,lk->lk", B, on_r)  # printed: B_mu,l d a*_l / d q_r
    printed = on_r - on_r.T + third - (on_s @ B).T
    assert np.max(np.abs(printed - gyro)) > 0.1
    assert np.max(np.abs(accelerations(printed) - expected)) > 0.1


def test_the_multipliers_of_10_are_not_those_of_5():
    """lambda of (10), (11) is F_s' lambda of (5)."""
    model = everything()
    parts, state = Parts(model, ("s1", "s2")), state_of(model)
    system = ap.compile(ap.derive(model, ap.Multipliers())).bind()
    at = (0.0, system.to_x(state))
    unknowns = np.linalg.solve(system.mass_matrix(*at), system.forcing(*at))
    mechanics = parts.mechanics
    M, F = mechanics.lagrange
    E = M @ mechanics.a - F
    by_11 = parts.at([ca.substitute(E[parts.s], mechanics.a, unknowns[:5])], state.q, state.v)[0][:, 0]
    (F_s,) = parts.at([parts.F_s], state.q)
    np.testing.assert_allclose(by_11, F_s.T @ unknowns[5:], rtol=1e-11, atol=1e-12)
    assert np.max(np.abs(by_11 - unknowns[5:])) > 0.1


def test_sizes_of_the_models():
    """(14) has 2n + m equations of first order, (5) with (1) 2n + 3m unknowns: 2m less, not m; (26) has 2n, not n."""
    for model, n, m in ((BALL, 2, 1), (DELTA, 3, 3), (ap.library.stewart_platform(), 6, 6)):
        assert len(ap.derive(model, ap.Shulgin()).states) == 2 * n + m
        full = ap.derive(model, ap.Multipliers())
        assert len(full.states) + m == 2 * n + 3 * m


def test_second_kind_equations_are_feasible_and_the_same():
    """The slider-crank with phi(theta), x_s(theta) solved by hand: one coordinate, no constraint."""
    redundant = ap.library.slider_crank()
    theta = redundant.coordinates[0]
    value = redundant.values
    a, l, e = (sp.Float(value[name], 30) for name in "ale")
    angle = sp.asin((a * sp.sin(theta) - e) / l)
    place = a * sp.cos(theta) + l * sp.cos(angle)
    ground = ap.Frame("ground")
    arm, bar = ground.rotate("z", theta), ground.rotate("z", -angle)
    m_c, m_r, m_s, k, c = (value[name] for name in ("m_c", "m_r", "m_s", "k", "c"))
    crank = ap.RigidBody("crank", m_c, a / 2 * arm.x, arm, (0, 0, m_c * a**2 / 12))
    rod = ap.RigidBody("rod", m_r, a * arm.x + l / 2 * bar.x, bar, (0, 0, m_r * l**2 / 12))
    slope = sp.diff(place, theta)
    minimal = ap.Model(
        ground,
        (theta,),
        [crank, rod, ap.Particle("slider", m_s, ground.point(place, e))],
        [
            ap.Gravity(-value["g"] * ground.y),
            ap.Potential(k * (place - value["s_0"]) ** 2 / 2),
            ap.Generalized({theta: 0.2 - c * slope**2 * theta.rate}),
        ],
    )
    one, other = (ap.compile(ap.derive(model, ap.Shulgin())).bind() for model in (minimal, redundant))
    for angle_now, rate in ((1.0, 5.0), (-0.6, 12.0), (2.5, -3.0)):
        state = other.consistent({theta: angle_now, theta.rate: rate})
        expected = other.accelerations(state)[0]
        assert one.accelerations(one.state({theta: angle_now, theta.rate: rate}))[0] == pytest.approx(
            expected, rel=1e-12
        )


# The first approximation.


def approximation(model, dependent, q, w):
    """The blocks of (24) and (29) from their definitions."""
    parts = Parts(model, dependent)
    r, s = parts.r, parts.s
    W_q, W_qq = ca.gradient(parts.W, parts.q), ca.hessian(parts.W, parts.q)[0]
    a1_star = parts.N.T @ parts.a1
    Da1 = parts.along(a1_star)
    expressions = [parts.N.T @ parts.a @ parts.N, Da1 - Da1.T, W_qq, W_q, parts.Q, parts.N]
    expressions += [ca.jacobian(parts.Q, parts.v), ca.jacobian(parts.Q, parts.q), parts.along(ca.vec(parts.B))]
    A, G, W_qq, W_q, Q, N, f, p, DB = parts.at(expressions, q, w=w)
    B = N[s]
    curvature = DB.reshape(len(s), len(r), len(r), order="F")  # D_k B_mu,i
    plain = N.T @ W_qq @ N
    split = W_qq[np.ix_(r, r)] + W_qq[np.ix_(r, s)] @ B + B.T @ W_qq[np.ix_(s, r)] + B.T @ W_qq[np.ix_(s, s)] @ B
    np.testing.assert_allclose(plain, split, rtol=1e-12, atol=1e-13)  # C_3 = C_2'
    right = np.einsum("m,mik->ik", (W_q - Q)[s, 0], curvature)
    printed = np.einsum("m,mik->ik", W_q[s, 0], curvature)
    damping, positional = N.T @ f @ N, N.T @ p @ N
    return {"A": A, "G": G, "C": plain, "CB": right, "CB printed": printed, "f": damping, "p": positional, "N": N}


def roots(A, G, D, C):
    n = len(A)
    P = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(A, C), -np.linalg.solve(A, G + D)]])
    return np.linalg.eigvals(P)


def assert_roots(found, expected, tolerance):
    left = list(found)
    for root in expected:
        nearest = min(left, key=lambda other: abs(other - root))
        assert abs(nearest - root) < tolerance * max(1.0, abs(root))
        left.remove(nearest)


def pair(real, imaginary):
    return [complex(real, imaginary), complex(real, -imaginary)]


E3 = [0.526535985923502765, 0.2, 0.05]
D1 = [0.114629043788892274] * 3 + [0.0, 0.0, -0.9]
D2 = [0.031430215049114665, 0.493308660644727178, 0.244613523705773646, 0.15, -0.10, -0.95]
CASES = {
    # model, dependent, q0, inputs: true roots; without C^B; with the printed C^B, that is without Q_s
    "ball and beam, theta dependent": (
        TILTED,
        ("theta",),
        E3,
        [0.0668520247144461876],
        [-14.613932045, *pair(-0.131380333153, 0.51878225392), 9.07375501935],
        [-6.460210332, *pair(-0.6233021399, 1.642922924), 1.90387692],
        [-5.417304436, *pair(-0.9785320855, 1.871784756), 1.571430915],
    ),
    "Delta robot, arms dependent": (
        DELTA,
        ("phi1", "phi2", "phi3"),
        D1,
        [-17.6633064869428808] * 3,
        [-1.59561943643, 1.16334850766, *2 * pair(-0.188694854182, 2.51497781762)],
        [*pair(-0.2161354644, 0.9584280152), *2 * pair(-0.1886948542, 0.7733298384)],
        [*2 * [-3.172560246], *2 * [2.795170538], *pair(-0.2161354644, 2.366366079)],
    ),
    "Delta robot off the middle, arms dependent": (
        DELTA,
        ("phi1", "phi2", "phi3"),
        D2,
        [-20.8769049277655537, -13.3501758285410384, -17.8451153190045985],
        [-1.08937073111, 0.667131197099, *pair(-0.186139103912, 2.6233743871), *pair(-0.181143422481, 2.8936914715)],
        [*pair(-0.1996956197, 1.690807645), *pair(-0.1920229295, 0.3891666052), *pair(-0.1866837442, 1.15907031)],
        [-3.152895998, -2.856157489, 2.49904862, 2.781300556, *pair(-0.2140501377, 2.152750384)],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_24_leaves_the_inputs_out_of_the_curvature(case):
    """C^B has W_s - Q_s, not W_s: where a motor sits on a dependent coordinate the printed one is wrong.

    Left out altogether, the unstable Delta robot comes out as stable.
    """
    model, dependent, q, w, true, without, printed = case
    block = approximation(model, dependent, q, w)
    A, G, D = block["A"], block["G"], -block["f"]
    C = block["C"] - block["p"]
    assert_roots(roots(A, G, D, C + block["CB"]), true, 1e-8)
    assert_roots(roots(A, G, D, C), without, 1e-8)
    assert_roots(roots(A, G, D, C + block["CB printed"]), printed, 1e-8)
    state = ap.State(model, np.concatenate([q, np.zeros(len(q))]))
    holding = dict(zip((u.name for u in model.inputs), w, strict=True))
    bound = ap.compile(ap.derive(model, ap.Shulgin())).bind(holding)
    for terms, expected in ((True, true), (False, without)):
        lin = ap.linearize(bound, state, dependent=dependent, multiplier_terms=terms)
        assert_roots(lin.eigenvalues, expected, 1e-8)
    # and the nonlinear equations say the same: 2n roots and m zero roots
    chosen = [q for q in model.coordinates if q.name in dependent]
    system = ap.compile(ap.derive(model, ap.Shulgin(dependent=chosen))).bind(
        dict(zip((u.name for u in model.inputs), w, strict=True))
    )
    x = system.to_x(ap.State(model, np.concatenate([q, np.zeros(len(q))])))
    assert_roots(np.linalg.eigvals(system.jacobian(0.0, x)), [*true, *[0.0] * len(dependent)], 2e-6)


def test_24_has_the_forces_of_the_right_hand_side_with_their_sign():
    """D = -N' f N and P = -N' p N; printed with plus."""
    model, dependent, q, w, true, _, _ = CASES["ball and beam, theta dependent"]
    block = approximation(model, dependent, q, w)
    wrong = roots(block["A"], block["G"], block["f"], block["C"] + block["CB"] + block["p"])
    assert np.min(np.abs(wrong - true[0])) > 0.1
    assert np.all(np.linalg.eigvalsh(-block["f"]) > 0)  # friction


def test_32_and_33():
    """(33) has E lambda where -E belongs; in (32) the lost -h changes no determinant."""
    model, dependent, q, w, _, _, _ = CASES["Delta robot, arms dependent"]
    block = approximation(model, dependent, q, w)
    A, damping, C = block["A"], block["G"] - block["f"], block["C"] + block["CB"] - block["p"]
    n, m, root = 3, 3, 0.37
    P21, b = -np.linalg.solve(A, C), -np.linalg.solve(A, damping)
    E, zero = np.eye(n), np.zeros((n, n))
    expected = np.linalg.det(A * root**2 + damping * root + C) / np.linalg.det(A)
    right = np.block([[E * root, -E], [-P21, E * root - b]])
    printed = np.block([[E * root, E * root], [-P21, E * root - b]])
    assert np.linalg.det(right) == pytest.approx(expected, rel=1e-12)
    assert abs(np.linalg.det(printed) / expected - 1) > 0.01
    h = np.random.default_rng(0).normal(size=(n, m))
    for corner in (zero, -h):
        full = np.block([[E * root, -E, zero], [-P21, E * root - b, corner], [zero, zero, np.eye(m) * root]])
        assert np.linalg.det(full) == pytest.approx(expected * root**m, rel=1e-12)


def test_38_has_the_velocity_in_the_back_emf():
    """L i' + R i + k theta' = e; printed with the acceleration. And the torque n K i belongs into the equations."""
    (tau,) = BALL.inputs
    current, voltage = ap.states("current"), ap.inputs("voltage")
    theta = BALL.coordinates[0]
    gear, L_a, R_a = 4.2 * 0.1491, 0.01, 18.91
    law = (voltage - R_a * current - gear * theta.rate) / L_a
    model = BALL.add(ap.Generalized({theta: 0}), states={current: law})
    equations = ap.derive(model, ap.Shulgin(dependent=[BALL.coordinates[2]])).close({tau: gear * current})
    i0 = 0.07891164 / gear
    system = ap.compile(equations).bind({"voltage": R_a * i0})
    x = system.to_x(system.state({"xi": 0.2, "current": i0}))
    np.testing.assert_allclose(system.rhs(0.0, x), 0, rtol=0, atol=1e-10)
    J = system.jacobian(0.0, x)
    true = [-1840.30245983, -55.4663737844, *pair(-0.557922993293, 0.81697035795), 0.863700188107, 0.0]
    assert_roots(np.linalg.eigvals(J), true, 1e-8)
    # printed: k theta'' in place of k theta'; i' then takes theta'' from the other rows
    i, speed = 5, 3
    wrong = J.copy()
    wrong[i, speed] = 0
    wrong[i] -= gear / L_a * J[speed]
    assert np.min(np.abs(np.linalg.eigvals(wrong) - true[0])) > 100


def test_17_needs_the_constraints_besides():
    """n equations have a family of solutions, one for every value of F: here a pendulum of any length."""
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", 0.3, ground.point(x, y))
    model = ap.Model(ground, (x, y), [bob], [ap.Gravity(-9.81 * ground.y)], [ap.Holonomic(x**2 + y**2 - 0.25)])
    system = ap.compile(ap.derive(model, ap.Shulgin(dependent=[y], drift=0))).bind()
    for depth in (-0.3, -0.5, -0.9):
        np.testing.assert_allclose(system.rhs(0.0, [0.0, depth, 0.0]), 0, rtol=0, atol=1e-15)


def test_remark_1_the_linear_lever_is_right_to_first_order_on_a_level_base():
    """alpha = d/L theta + 0 theta^2 + ...: C^B = 0 at theta = 0, and not elsewhere."""
    theta, c2, c3, c4 = sp.symbols("theta c2 c3 c4")
    L, d, l = sp.Rational(2, 5), sp.Rational(1, 25), sp.Rational(11, 100)
    alpha = d / L * theta + c2 * theta**2 + c3 * theta**3 + c4 * theta**4
    F = (
        (L * (sp.cos(alpha) - 1) + d * (1 - sp.cos(theta))) ** 2
        + (L * sp.sin(alpha) + l - d * sp.sin(theta)) ** 2
        - l**2
    )
    terms = sp.Poly(sp.series(F, theta, 0, 5).removeO(), theta)
    found = {}
    for letter, power in ((c2, 2), (c3, 3), (c4, 4)):
        found[letter] = sp.solve(terms.coeff_monomial(theta**power).subs(found), letter)[0]
    assert found[c2] == 0
    assert found[c3] == -d * (L**2 - d**2) / (6 * L**3)
    assert found[c4] == -(d**2) * (L - d) ** 2 / (8 * L**3 * l)
    level = approximation(BALL, ("alpha",), [0.0, 0.2, 0.0], [0.07891164])
    np.testing.assert_allclose(level["CB"], 0, rtol=0, atol=1e-15)
    tilted = approximation(TILTED, ("alpha",), E3, [0.0668520247144461876])
    assert tilted["CB"][0, 0] == pytest.approx(-0.0460344515808, rel=1e-10)
    slope, curvature = 0.0845008599609418, -0.0613893857452073
    assert tilted["N"][2, 0] == pytest.approx(slope, rel=1e-12)
    parts = Parts(TILTED, ("alpha",))
    (found_curvature,) = parts.at([parts.along(parts.B.T)[0, 0]], E3)
    assert found_curvature[0, 0] == pytest.approx(curvature, rel=1e-11)
