"""Dynamics of higher order: switches, batches, derivatives, reactions, messages."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import appell as ap
from appell.errors import AppellError
from appell.higher_order import Dynamics, Friction, Profile, catalan, formula, polynomial, unified, verify

RNG = np.random.default_rng(2)
LOAD = (-6, 3, 10, 0.2, 0.9, -0.4)


@pytest.fixture(scope="module")
def arm():
    return Dynamics(ap.library.rrp_arm(), LOAD, Friction(0.3, 0.1, 0.05, smoothing=0.2))


def along(Q, t):
    """A motion with these derivatives at t = 0, a polynomial in time, with its derivatives at t."""
    rows = []
    for row in Q:
        polynomial = np.polynomial.Polynomial([c / np.prod(range(1, k + 1)) for k, c in enumerate(row)])
        rows.append([polynomial.deriv(r)(t) if r else polynomial(t) for r in range(len(row))])
    return np.array(rows)


def test_parts_add_up(arm):
    parts = arm.forces(RNG.normal(size=(3, 6)))
    assert list(parts) == ["inertia", "gravity", "payload", "driving", "friction"]
    total = sum(value for name, value in parts.items() if name != "driving")
    assert_allclose(parts["driving"], total, rtol=1e-13, atol=1e-11)


@pytest.mark.parametrize("part", ["inertia", "gravity", "payload", "friction", "driving"])
def test_rates_are_rates(arm, part):
    """Each column is the time derivative of the one before, part by part."""
    Q, h = RNG.normal(size=(3, 6)), 1e-3
    here = arm.forces(Q)[part]
    at = {k: arm.forces(along(Q, k * h))[part] for k in (-2, -1, 1, 2)}
    slope = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
    size = np.abs(here).max()
    assert_allclose(slope[:, :2], here[:, 1:3], rtol=1e-5, atol=1e-6 * size)


def test_many_states_at_once(arm):
    Q = RNG.normal(size=(2, 17, 3, 5))
    found = arm.inverse(Q)
    assert found.shape == (2, 17, 3, 3)
    assert_allclose(found[1, 5], arm.inverse(Q[1, 5]), rtol=1e-13, atol=1e-12)
    assert_allclose(arm.energy(Q, 2)[0, 3], arm.energy(Q[0, 3], 2), rtol=1e-13, atol=0)
    f, n = arm.reactions(Q)
    assert f.shape == n.shape == (2, 17, 3, 3, 3)
    assert arm.gradient(Q, 2, 1).shape == (2, 17, 3)
    assert arm.mass_matrix(Q[..., 0]).shape == (2, 17, 3, 3)


def test_forward_undoes_inverse(arm):
    Q = RNG.normal(size=(3, 6))
    plain = Dynamics(arm.chain, LOAD, Friction(0.3))
    for dynamics in (arm, plain, Dynamics(arm.chain)):
        found = dynamics.forward(Q[:, 0], Q[:, 1], dynamics.inverse(Q))
        assert_allclose(found, Q, rtol=1e-9, atol=1e-9)


def test_forward_of_many_states(arm):
    Q = RNG.normal(size=(11, 3, 5))
    assert_allclose(arm.forward(Q[..., 0], Q[..., 1], arm.inverse(Q)), Q, rtol=1e-8, atol=1e-8)


def test_a_payload_that_changes():
    """A payload with derivatives acts as Leibniz says."""
    chain, Q = ap.library.rrp_arm(), RNG.normal(size=(3, 4))
    wrench = RNG.normal(size=(6, 2))
    both = Dynamics(chain, wrench).forces(Q)["payload"]
    held = Dynamics(chain, wrench[:, 0]).forces(Q)["payload"]
    grows = Dynamics(chain, wrench[:, 1]).forces(Q)["payload"]
    assert_allclose(both[:, 0], held[:, 0], rtol=1e-14, atol=1e-14)
    assert_allclose(both[:, 1], held[:, 1] + grows[:, 0], rtol=1e-13, atol=1e-13)


def test_static_reactions_carry_the_weight():
    chain = ap.library.rrp_arm()
    Q = np.zeros((3, 3))
    Q[:, 0] = RNG.normal(size=3)
    f, n = Dynamics(chain).reactions(RNG.normal(size=3)[:, None] * [1, 0, 0] + Q, inertia=False)
    assert_allclose(np.linalg.norm(f[..., 0], axis=1), 9.81 * np.array([9.5, 4.5, 1.5]), rtol=1e-13, atol=0)
    assert n.shape == (3, 3, 1)


def test_reactions_give_the_drives(arm):
    Q = RNG.normal(size=(3, 4))
    f, n = arm.reactions(Q)
    tau = arm.inverse(Q, friction=False)
    assert_allclose(n[0, 2], tau[0], rtol=1e-12, atol=1e-12)  # about z
    assert_allclose(n[1, 1], tau[1], rtol=1e-12, atol=1e-12)  # about y
    assert_allclose(f[2, 0], tau[2], rtol=1e-12, atol=1e-12)  # along x


def test_matrices_by_pairings(arm):
    q, v, unit = RNG.normal(size=3), RNG.normal(size=3), np.eye(3)
    M = [[arm.pairing(q, [a], [b]) for b in unit] for a in unit]
    assert_allclose(M, arm.mass_matrix(q), rtol=1e-13, atol=1e-13)
    V = [arm.pairing(q, [a], [v, v]) for a in unit]
    Q = np.stack([q, v, 0 * q], axis=1)
    only = arm.inverse(Q, gravity=False, payload=False, friction=False)[:, 0]
    assert_allclose(V, only, rtol=1e-12, atol=1e-12)


def test_catalan_numbers_and_the_coefficients():
    assert [catalan(p) for p in range(1, 7)] == [1, 2, 5, 14, 42, 132]
    assert unified(2, 3) == [(1, 2, 0.25), (2, 0, 0.5)]
    with pytest.raises(AppellError, match="m >= k"):
        unified(3, 3)


def test_identities_hold_on_a_helical_tree():
    joints = [
        ap.Joint("z", mass=2, center=(0.1, 0.2, 0), inertia=(0.1, 0.2, 0.25), name="waist"),
        ap.Joint(
            "x", at=(0.3, 0, 0.1), kind="helical", pitch=0.3, mass=1, center=(0, 0.1, 0.1), inertia=(0.1, 0.1, 0.1)
        ),
        ap.Joint("y", at=(0, 0.4, 0), mass=1, center=(0.1, 0, 0.1), inertia=(0.1, 0.05, 0.1), parent="waist"),
    ]
    found = verify(ap.Chain(joints, name="tree"), order=3)
    assert found.ok
    assert found.worst < 1e-12
    assert "Q'' by the unified theorem, m = 4" in found.found


def test_orders_may_be_integers_of_numpy():
    two = np.int64(2)
    chain = ap.library.planar_2r()
    dynamics, Q = Dynamics(chain), np.array([[0.3, 0.7, -1.1, 2.0], [-0.8, 1.2, 0.9, -1.5]])
    assert dynamics.energy(Q, two) == dynamics.energy(Q, 2)
    assert formula(chain, two, "3|3") == formula(chain, 2, "3|3")
    path = polynomial([0, 0], [1, 1], 1.0)
    assert Profile(dynamics, path, order=two).order == 2
    assert path(0.5, two).shape == (2, 3)
    system = ap.compile(ap.derive(chain, ap.HigherOrder(two))).bind()
    assert [w.label for w in system.equations.inputs] == ["tau1.rate.rate", "tau2.rate.rate"]
    motion = ap.simulate(ap.compile(ap.derive(chain)).bind({"tau1": 0, "tau2": 0}), until=0.1, points=2)
    np.testing.assert_array_equal(motion.acceleration_energy(two), motion.acceleration_energy(2))
    assert verify(chain, order=np.int64(1)).order == 1
    assert catalan(np.int64(40)) == catalan(40)  # more than 64 bits hold
    assert unified(two, np.int64(3)) == unified(2, 3)


@pytest.mark.parametrize("order", [True, 1.0, "1", -1, None])
def test_orders_are_whole_numbers(arm, order):
    chain = arm.chain
    asked = [
        lambda: arm.energy(np.ones((3, 5)), order),
        lambda: arm.gradient(np.ones((3, 5)), order, 1),
        lambda: arm.gradient(np.ones((3, 5)), 1, order),
        lambda: arm.terms(np.ones((3, 5)), order),
        lambda: formula(chain, order),
        lambda: ap.HigherOrder(order),
        lambda: verify(chain, order=order),
        lambda: Profile(arm, polynomial([0, 0, 0], [1, 1, 1], 1.0), order=order),
        lambda: polynomial([0], [1], 1.0)(0.5, order),
    ]
    for ask in asked:
        with pytest.raises(AppellError, match="must be a whole number"):
            ask()


def test_messages(arm):
    with pytest.raises(AppellError, match="lists of lists of 3 numbers; got 3"):
        arm.pairing(np.zeros(3), 3, [np.ones(3)])
    with pytest.raises(AppellError, match=r"needs 3 numbers, one for each joint; got 1\.0"):
        arm.pairing(np.zeros(3), np.ones(3), [np.ones(3)])
    with pytest.raises(AppellError, match="states must be a whole number, 1 or more; got 'many'"):
        verify(ap.library.planar_2r(), states="many")
    with pytest.raises(AppellError, match="at least: an array of shape"):
        arm.inverse(np.zeros((3, 2)))
    with pytest.raises(AppellError, match="order 1 of the joint 'q2'"):
        arm.inverse([[0, 0, 0], [0, np.nan, 0], [0, 0, 0]])
    with pytest.raises(AppellError, match="six finite numbers"):
        Dynamics(arm.chain, payload=(1, 2, 3))
    with pytest.raises(AppellError, match="one for each of q1, q2, q3"):
        Dynamics(arm.chain, friction=Friction(viscous=(1, 2)))
    with pytest.raises(AppellError, match="not negative"):
        Dynamics(arm.chain, friction=Friction(dry=-1))
    with pytest.raises(AppellError, match="joint 'q2' stands still"):
        Dynamics(arm.chain, friction=Friction(dry=0.1, diameter=1)).inverse([[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 1]])
    with pytest.raises(AppellError, match=r"from 0 to 2, got 3"):
        arm.gradient(np.zeros((3, 4)), 1, 3)
    with pytest.raises(AppellError, match=r"for an appell.Chain, got Model"):
        Dynamics(ap.library.rolling_disk())


def test_formulas_are_what_the_numbers_are():
    chain = ap.library.planar_2r()
    arm, Q = Dynamics(chain), RNG.normal(size=(2, 4))
    letters = {q.derivative(k): Q[i, k] for i, q in enumerate(chain.coordinates) for k in range(4)}
    letters |= {s: chain.values[s.label] for s in chain.parameters}
    for p in (0, 1, 2):
        assert_allclose(float(formula(chain, p).subs(letters)), arm.energy(Q, p), rtol=1e-12, atol=0)
        for name, value in arm.terms(Q, p).items():
            assert_allclose(float(formula(chain, p, name).subs(letters)), value, rtol=1e-11, atol=1e-12)
    with pytest.raises(AppellError, match=r"has no term '4\|4'"):
        formula(chain, 1, "4|4")


def test_native_code_and_no_simd_give_the_same(arm):
    Q = RNG.normal(size=(4, 3, 4))
    for machine in ("casadi", "auto"):
        other = Dynamics(arm.chain, LOAD, arm.friction, machine=machine)
        assert_allclose(other.inverse(Q), arm.inverse(Q), rtol=1e-12, atol=1e-12)
    with pytest.raises(AppellError, match="machine='gpu'"):
        Dynamics(arm.chain, machine="gpu")


def test_identities_between_numbers_that_are_not_finite_do_not_hold():
    with np.errstate(all="ignore"):
        found = verify(ap.library.planar_2r(), order=1, values=dict.fromkeys(("l1", "c1", "l2", "c2"), 1e160), states=2)
    assert not found.ok
    assert "all hold" not in repr(found)


@pytest.mark.parametrize("machine", ["auto", "casadi", "c"])
def test_repeated_single_calls_are_what_the_first_one_gave(machine):
    """The short way in of repeated calls knows switches and shapes, and refuses what the first call would refuse."""
    chain = ap.library.rrp_arm()
    arm, Q = Dynamics(chain, LOAD, machine=machine), RNG.normal(size=(3, 4))
    for options in ({}, {"gravity": False}, {"payload": False, "inertia": False}):
        first = arm.inverse(Q, **options)
        assert_allclose(first, Dynamics(chain, LOAD).inverse(Q.tolist(), **options), rtol=1e-13, atol=1e-13)
        for given in (Q.copy(), Q.tolist(), np.asfortranarray(Q), Q.astype(np.longdouble)):
            assert_allclose(arm.inverse(given, **options), first, rtol=1e-13, atol=1e-13)
    assert arm.inverse(Q[:, :3]).shape == (3, 1)
    Q[1, 2] = np.nan
    with pytest.raises(AppellError, match="order 2 of the joint 'q2' is not a finite number"):
        arm.inverse(Q)
    with pytest.raises(AppellError, match="Driving forces need numbers"):
        arm.inverse(np.zeros((3, 4)) + 1j)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda chain: Dynamics(chain, payload="heavy"), "payload is six finite numbers"),
        (lambda chain: Dynamics(chain, friction=0.3), r"friction=0.3; give appell.higher_order.Friction"),
        (lambda chain: Dynamics(chain, friction=Friction({"q1": 1.0})), r"Friction\(viscous=...\) needs one number"),
        (lambda chain: Dynamics(chain, values={"m9": 1.0}), "no parameter 'm9'"),
        (lambda chain: Dynamics(chain).mass_matrix("abc"), "mass matrix needs"),
        (
            lambda chain: Dynamics(chain).forward([0.1], [0.2], np.ones((3, 1))),
            r"need the shape \(3,\) of the forces; got \(1,\) for q",
        ),
    ],
)
def test_what_is_no_number_is_refused(ask, message):
    with pytest.raises(AppellError, match=message):
        ask(ap.library.rrp_arm())


def test_energy_of_a_robot_on_a_light_carriage():
    """The first link has no mass: nothing but the second contributes."""
    joints = [ap.Joint("x", kind="prismatic"), ap.Joint("z", mass=2, center=(0.5, 0, 0), inertia=(0, 0.1, 0.1))]
    Q = np.array([[0.1, 0.3, -0.2], [0.4, -0.7, 0.9]])
    x, w, angle = 0.3, -0.7, 0.4
    v2 = (x - 0.5 * w * np.sin(angle)) ** 2 + (0.5 * w * np.cos(angle)) ** 2
    assert_allclose(Dynamics(ap.Chain(joints)).energy(Q, 0), v2 + 0.05 * w**2, rtol=1e-14)


def test_accelerations_with_friction_of_an_arm_with_a_light_wrist():
    """Newton's method ends at rounding, which is large where the last link is light; each state for itself."""
    rng = np.random.default_rng(11)
    friction = Friction(rng.uniform(0.1, 1, 6), rng.uniform(0.05, 0.2, 6), rng.uniform(0.02, 0.1, 6))
    puma = Dynamics(ap.library.six_axis_arm(), friction=friction)
    Q = rng.normal(size=(40, 6, 3))
    tau = puma.inverse(Q)
    found = puma.forward(Q[..., 0], Q[..., 1], tau)
    assert_allclose(found, Q, rtol=0, atol=1e-9)
    for i in (0, 17, 39):
        assert_allclose(puma.forward(*Q[i].T[:2], tau[i]), found[i], rtol=0, atol=1e-9)
    with pytest.raises(AppellError, match=r"mass matrix needs q of shape \(..., 6\), a number a joint; got \(3,\)"):
        puma.mass_matrix([1, 2, 3])


def test_identities_of_a_single_hinge_whose_energies_do_not_depend_on_its_angle():
    hinge = ap.Chain([ap.Joint("z", mass=2, center=(0.5, 0, 0), inertia=(0, 0, 0.1))], gravity=(0, -9.81, 0))
    assert verify(hinge, order=3).ok
