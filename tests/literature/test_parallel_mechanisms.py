"""Library mechanisms in redundant coordinates: closed forms, holding inputs, and what their docstrings claim."""

import numpy as np
import pytest

import appell as ap


def system_of(name, formulation=None, **values):
    return ap.compile(ap.derive(ap.library.model(name), formulation or ap.Shulgin())).bind(values)


def roots_at(system, state):
    return np.linalg.eigvals(system.jacobian(state.t, system.to_x(state)))


HELD = {
    "ball-and-beam": {"theta": 0.0, "xi": 0.2, "alpha": 0.0},
    "delta-robot": {"x": 0.0, "y": 0.0, "z": -0.9},
    "five-bar": {"x": 0.0, "y": 0.4},
    "stewart-platform": {"x": 0.0, "y": 0.0, "z": 0.9, "yaw": 0.0, "pitch": 0.0, "roll": 0.0},
    "cart-lever-pendulum": {"theta": np.pi / 2, "phi": 0.0},
}


@pytest.mark.parametrize("name", HELD)
def test_the_suggested_inputs_hold_the_pose_the_docstring_names(name):
    system = system_of(name)
    rest = {q.rate: 0.0 for q in system.model.coordinates}
    found = system.consistent(HELD[name])
    state = ap.State(system.model, np.concatenate([found.q, np.zeros(len(rest))]))
    np.testing.assert_allclose(system.accelerations(state), 0, rtol=0, atol=2e-12)


def test_the_five_bar_falls_over_under_constant_torques():
    system = system_of("five-bar")
    state = system.consistent({"x": 0.0, "y": 0.4, "theta1.rate": 0.0, "theta2.rate": 0.0})
    assert max(roots_at(system, state).real) > 1.0


def test_stewart_platform_in_both_splits():
    """Pose independent or legs independent: the same accelerations and, in a run, the same motion."""
    model = ap.library.stewart_platform()
    pose, legs = model.coordinates[:6], model.coordinates[6:]
    ends = []
    for dependent in (legs, pose):
        system = system_of("stewart-platform", ap.Shulgin(dependent=dependent))
        motion = ap.simulate(system, until=0.2, method="DOP853", rtol=1e-11, atol=1e-12, points=5)
        assert not motion.info["switches"]
        assert motion.outcome is ap.Outcome.DONE
        ends.append(motion.at(0.2))
        assert max(abs(e) for e in system.residual(ends[-1]).values()) < 1e-13
    np.testing.assert_allclose(ends[0].array, ends[1].array, rtol=0, atol=1e-10)


def test_conical_pendulum_circles_and_its_disturbance_has_the_known_frequency():
    system = system_of("conical-pendulum")
    rate = np.sqrt(9.81 / 0.4)
    state = system.state({"rho": 0.3, "z": -0.4, "psi.rate": rate})
    np.testing.assert_allclose(system.accelerations(state), 0, rtol=0, atol=1e-13)
    found = np.sort(np.abs(roots_at(system, state)))
    # psi itself, its momentum, the constraint, and the swing
    np.testing.assert_allclose(found[:3], 0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found[3:], rate * np.sqrt(1 + 3 * 0.64), rtol=1e-12, atol=0)


@pytest.mark.parametrize("values", [{}, {"k": 40.0, "s_0": 0.2, "b": 0.2}])
def test_watt_governor_turns_steadily_at_the_speed_of_its_balance(values):
    """psi'^2 = (dV/d alpha)/(2 m L^2 sin alpha cos alpha), dV/d alpha by differences along the link's constraint."""
    system = system_of("watt-governor", **values)
    value, step = system.values, 1e-4

    def depth(alpha):
        return value["a"] * np.cos(alpha) + np.sqrt(value["b"] ** 2 - (value["a"] * np.sin(alpha)) ** 2)

    def V(alpha):
        s = depth(alpha)
        balls = -2 * value["m"] * 9.81 * value["L"] * np.cos(alpha)
        return balls - value["M"] * 9.81 * s + value["k"] / 2 * (s - value["s_0"]) ** 2

    alpha = 0.6
    slope = (8 * (V(alpha + step) - V(alpha - step)) - (V(alpha + 2 * step) - V(alpha - 2 * step))) / (12 * step)
    rate = np.sqrt(slope / (2 * value["m"] * value["L"] ** 2 * np.sin(alpha) * np.cos(alpha)))
    state = system.state({"alpha": alpha, "s": depth(alpha), "psi.rate": rate})
    np.testing.assert_allclose(system.accelerations(state), 0, rtol=0, atol=1e-8)
    if not values:
        assert system.model.start["psi.rate"] == pytest.approx(rate, rel=1e-10)


@pytest.mark.parametrize(("friction", "stable"), [(0.5, False), (20.0, True)])
def test_watt_governor_with_an_engine_needs_friction(friction, stable):
    """Vyshnegradsky: whoever has no friction at the sleeve has no governor."""
    model = ap.library.watt_governor()
    _, _, s = model.coordinates
    (tau,) = model.inputs
    start = model.start
    law = 20.0 * (s - start["s"])  # the balls fly out, the sleeve rises, the valve closes
    system = ap.compile(ap.derive(model, ap.Shulgin()).close({tau: law})).bind({"c": friction})
    state = system.state({**start, "alpha.rate": 0.0, "s.rate": 0.0})
    roots = sorted(roots_at(system, state), key=abs)
    assert max(abs(root) for root in roots[:2]) < 1e-6  # psi itself, and the constraint
    assert (max(root.real for root in roots[2:]) < 0) == stable


@pytest.mark.parametrize(("theta", "held"), [(np.pi / 2, True), (0.7, True), (0.0, False), (np.pi, False)])
def test_the_crank_cannot_hold_the_pendulum_at_its_dead_centres(theta, held):
    """Rank of (B, AB, A^2 B, A^3 B) of the first approximation in theta, phi and their rates."""
    model = ap.library.cart_lever_pendulum()
    system = system_of("cart-lever-pendulum", ap.Shulgin(dependent=[model.coordinates[2]]))
    state = system.consistent({"theta": theta, "phi": 0.0, "theta.rate": 0.0, "phi.rate": 0.0})
    x = system.to_x(state)
    push = system.rhs(0.0, x, [1.0]) - system.rhs(0.0, x, [0.0])
    weight = -system.rhs(0.0, x, [0.0])[3] / push[3]
    system = system.bind({"tau": weight})
    np.testing.assert_allclose(system.rhs(0.0, x), 0, rtol=0, atol=1e-12)
    kept = [0, 1, 3, 4]
    A = system.jacobian(0.0, x)
    # s follows x by s = B r near the equilibrium
    slope = np.array([system.rhs(0.0, x + np.eye(5)[3 + i])[2] for i in range(2)])
    reduced = A[np.ix_(kept, kept)] + np.outer(A[kept, 2], [*slope, 0.0, 0.0])
    columns = [push[kept]]
    for _ in range(3):
        columns.append(reduced @ columns[-1])
    scaled = np.array([c / np.linalg.norm(c) for c in columns]).T
    assert (np.linalg.matrix_rank(scaled, tol=1e-6) == 4) == held
