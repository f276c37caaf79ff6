"""Constraints that are not linear in the accelerations: Gauss's principle, minimised by hand, is the judge."""

import numpy as np
import pytest
import scipy.optimize
import sympy as sp

import appell as ap
from appell.code.agreement import Rivals
from appell.errors import EquilibriumError, InconsistentStartError, ModelError
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.typical import sample_split

x, y, s = ap.coordinates("x y s")
m, g, c = ap.parameters("m g c")
push = ap.inputs("push")
ground = ap.Frame("ground")
ax, ay = x.rate.rate, y.rate.rate


def falling(row):
    ball = ap.Particle("ball", mass=m, center=ground.point(x, y))
    return ap.Model(
        ground, coordinates=(x, y), bodies=[ball], forces=[ap.Gravity(-g * ground.y)], constraints=[row],
        values={"m": 2.0, "g": 9.81},
    )  # fmt: skip


def gauss(M, F, rows, guess):
    """The accelerations of least constraint, by a general-purpose optimiser."""
    free = np.linalg.solve(M, F)
    found = scipy.optimize.minimize(
        lambda a: (a - free) @ M @ (a - free) / 2,
        guess,
        jac=lambda a: M @ (a - free),
        constraints=[{"type": "eq", "fun": row} for row in rows],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return found.x


def test_the_size_of_the_acceleration_is_given():
    """A particle whose |a| is c falls with c: the free acceleration, shortened."""
    model = falling(ap.Nonholonomic(ax**2 + ay**2 - 16, name="size"))
    system = ap.compile(ap.derive(model))
    motion = ap.simulate(system, system.state({x.rate: 1.5}), until=2.0)
    assert motion.outcome is ap.Outcome.DONE
    np.testing.assert_allclose(motion.states(np.array([2.0]))[0], [3.0, -8.0, 1.5, -8.0], rtol=1e-13, atol=1e-13)
    proof = motion.check()
    assert proof.ok
    assert proof.acceleration is not None
    assert proof.acceleration < 1e-14


@pytest.fixture(scope="module")
def coupled():
    """A bead, and a cart on a time-dependent track; a curved row ties their accelerations; an input acts."""
    cart = ap.Particle("cart", mass=3 * m, center=ground.point(s, sp.Rational(1, 5) * sp.sin(s)))
    ball = ap.Particle("ball", mass=m, center=ground.point(x, y))
    a = s.rate.rate
    rows = [
        ap.Holonomic(y - sp.cos(x) / 3 - ap.t / 10, name="track"),
        ap.Nonholonomic(ax**2 + a * ay + a**2 + x.rate * s.rate - c**2, name="tie"),
    ]
    forces = [ap.Gravity(-g * ground.y), ap.Force(push * ground.x, cart, name="push")]
    return ap.Model(
        ground, coordinates=(x, y, s), bodies=[ball, cart], forces=forces, constraints=rows,
        values={"m": 1.3, "g": 9.81, "c": 5.0, "push": 4.0},
    )  # fmt: skip


def test_against_an_optimiser(coupled):
    systems = [ap.compile(ap.derive(coupled, f)) for f in (ap.GibbsAppell(), ap.Multipliers(), ap.UdwadiaKalaba())]
    mechanics = systems[0].equations.mechanics
    rng = np.random.default_rng(5)
    for _ in range(8):
        state = systems[0].consistent({x: rng.uniform(-1, 1), s: rng.uniform(-1, 1), x.rate: 0.4, s.rate: -0.3})
        found = [system.accelerations(state) for system in systems]
        np.testing.assert_allclose(found[1], found[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found[2], found[0], rtol=1e-12, atol=1e-12)
        p = systems[0].p
        M, F, *_ = (np.array(e) for e in mechanics.functions["multiplier"](0.0, state.q, state.v, state.z, [4.0], p))
        q, v = state.q, state.v
        rows = [
            lambda a, q=q, v=v: a[1] + np.sin(q[0]) * a[0] / 3 + np.cos(q[0]) * v[0] ** 2 / 3,
            lambda a, v=v: a[0] ** 2 + a[2] * a[1] + a[2] ** 2 + v[0] * v[2] - 25.0,
        ]
        expected = gauss(M, F[:, 0], rows, found[0] + rng.uniform(-0.3, 0.3, 3))
        np.testing.assert_allclose(found[0], expected, rtol=2e-6, atol=2e-6)  # the optimiser's own accuracy
        for row in rows:
            assert abs(row(found[0])) < 1e-12


def test_a_run_under_input_and_its_proof(coupled):
    system = ap.compile(ap.derive(coupled))
    motion = ap.simulate(system, system.consistent({x: 0.2, s: 0.1, x.rate: 0.3}), until=0.4, method="dop853")
    proof = motion.check()
    assert motion.outcome is ap.Outcome.DONE
    assert proof.ok, proof
    assert set(proof.agreement) >= {"Lagrange multipliers", "Udwadia-Kalaba"}
    force = motion.reactions()["force"]
    assert np.all(np.isfinite(force))


def test_changing_mass():
    """Thrust and a curved row: all formulations agree on a rocket whose acceleration has a given size."""
    fuel = ap.states("fuel")
    rocket = ap.Particle("rocket", mass=m + fuel, center=ground.point(x, y))
    jet = ap.Stream(rocket, -40 * (ground.x + 2 * ground.y))
    model = ap.Model(
        ground, coordinates=(x, y), bodies=[rocket], forces=[ap.Gravity(-g * ground.y), jet],
        constraints=[ap.Nonholonomic(ax**2 + ay**2 - c**2, name="size")], states={fuel: -sp.Rational(1, 2)},
        values={"m": 1.0, "g": 9.81, "c": 6.0}, start={"fuel": 3.0},
    )  # fmt: skip
    assert ap.verify(model).worst < 1e-12
    system = ap.compile(ap.derive(model))
    state = system.state({fuel: 3.0})
    free = np.array([20.0, 40.0 - 4 * 9.81])  # thrust 0.5 * 40 * (1, 2)
    np.testing.assert_allclose(system.accelerations(state), 6 * free / np.linalg.norm(free), rtol=1e-12, atol=0)


def test_the_branch_that_is_asked_for_is_kept():
    """Ax^2 = 9 with a force that turns round: next to +3 the motion stays there, whatever the force does."""
    ball = ap.Particle("ball", mass=m, center=ground.point(x, y))
    swing = ap.Force(50 * sp.cos(2 * ap.t) * ground.x, ball, name="swing")

    def build(near):
        return ap.Model(
            ground, coordinates=(x, y), bodies=[ball], forces=[swing],
            constraints=[ap.Nonholonomic(ax**2 - 9, name="square", near=near)], values={"m": 2.0},
        )  # fmt: skip

    kept = ap.simulate(ap.compile(ap.derive(build({ax: 3}))), until=2.0)
    assert kept.outcome is ap.Outcome.DONE
    np.testing.assert_allclose(kept.states(np.array([2.0]))[0][0], 6.0, rtol=1e-12, atol=0)
    lost = ap.simulate(ap.compile(ap.derive(build(None))), until=2.0)
    assert not lost.outcome.ok
    assert abs(lost.times[-1] - np.pi / 4) < 0.05  # where the force vanishes and both branches are as near


def test_no_real_solution():
    model = falling(ap.Nonholonomic(ax**2 + ay**2 + 1, name="impossible"))
    with pytest.raises(InconsistentStartError, match=r"'impossible' has no real solution"):
        ap.simulate(ap.compile(ap.derive(model)), until=1.0)
    proof = ap.verify(model)
    assert not proof.ok
    assert "NOTHING COMPARED" in repr(proof)
    assert "the constraint 'impossible' has no real solution" in repr(proof)


@pytest.mark.parametrize(
    ("near", "row", "message"),
    [
        ({x: 1}, ax**2 - 1, "says where accelerations are"),
        ({ax: ay}, ax**2 - 1, "contains an acceleration"),
        ({ax: 1}, x.rate - 1, "is for rows on accelerations"),
    ],
)
def test_a_branch_that_makes_no_sense(near, row, message):
    with pytest.raises(ModelError, match=message):
        ap.Nonholonomic(row, near=near)


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_accelerations_that_turn_round_are_followed(method):
    """A force of 6 N turns three times; |a| = 4: x = 4 (1 - cos w t)/w^2, y = 4 (w t - sin w t)/w^2."""
    w = sp.Rational(3, 2)
    ball = ap.Particle("ball", mass=m, center=ground.point(x, y))
    turning = ap.Force(6 * (sp.cos(w * ap.t) * ground.x + sp.sin(w * ap.t) * ground.y), ball)
    row = ap.Nonholonomic(ax**2 + ay**2 - 16, name="size")
    model = ap.Model(ground, coordinates=(x, y), bodies=[ball], forces=[turning], constraints=[row], values={"m": 2.0})
    motion = ap.simulate(ap.compile(ap.derive(model)), until=12.0, method=method)
    assert motion.outcome is ap.Outcome.DONE, motion.summary()
    t = motion.times
    expected = 4 / 1.5**2 * np.array([1 - np.cos(1.5 * t), 1.5 * t - np.sin(1.5 * t)])
    np.testing.assert_allclose(motion.states(t)[:, :2].T, expected, rtol=0, atol=1e-9)


def test_steps_of_newton_s_method_do_not_blunt_what_is_compared(coupled):
    """They correct what they round: neither agreement nor what counts as zero is measured by all their terms."""
    mechanics = Mechanics(coupled)
    system = ap.compile(ap.derive(coupled))
    state = system.consistent({x: 0.2, s: 0.1, x.rate: 0.3})
    size = np.max(np.abs(system.accelerations(state)))
    measure = Rivals(mechanics, sample_split(mechanics)).measure(1.0, 0.0, state.q, state.v, state.z, [4.0], system.p)
    assert measure.size < 100 * size
    motion = ap.simulate(system, state, until=0.1, events=[ap.Event(s.rate - 2)])
    flow = motion.stretches[0].flow
    assert flow is not None
    _, haste = flow.size_machine(0.0, system.to_x(state), [4.0], system.p)
    assert np.max(haste) < 100 * size


def test_where_branches_part_within_a_short_step_the_run_ends():
    a, b = ap.coordinates("a b")
    upper = ground.rotate("z", a)
    bobs = [ap.Particle("one", 1, upper.point(1, 0)), ap.Particle("two", 2, upper.point(1, 0) + upper.rotate("z", b).x)]
    row = ap.Nonholonomic(a.rate.rate**2 - 4 * b.rate.rate**2 + a.rate.rate - 1)
    model = ap.Model(
        ground, (a, b), bobs, [ap.Gravity(-9.81 * ground.y)], [row], start={a: 1, b: 0.5, a.rate: 1}
    )  # fmt: skip
    levels = [ap.Event(a.rate - level) for level in (-2, -1, -0.5, 0.3, 0.6, 0.9, 1.2)]
    motion = ap.simulate(ap.compile(ap.derive(model)), until=2.0, events=levels)
    assert motion.outcome is ap.Outcome.BRANCH_LOST


@pytest.mark.parametrize("row", [ax - ay - x + 3, ax**3 / 50 + ax - ay - x + 3])
def test_a_row_on_accelerations_has_its_place_in_an_equilibrium(row):
    u = ap.inputs("u")
    ball = ap.Particle("ball", 2, ground.point(x, y))
    forces = [ap.Generalized({x: -2 * x - x.rate, y: -3 * y - y.rate + u})]
    model = ap.Model(ground, (x, y), [ball], forces, [ap.Nonholonomic(row, "row")])
    with pytest.raises(EquilibriumError, match=r"the constraint 'row' cannot be met\. With x left free .* at x = 3\."):
        ap.equilibrium(model, {x: 0.5})
    rest = ap.equilibrium(model, {y: 1})
    np.testing.assert_allclose([rest["x"], rest["u"], rest["row"]], [3, 9, 6], rtol=1e-12)
    np.testing.assert_allclose(rest.system.accelerations(rest.state), 0, atol=1e-12)


def test_rest_is_on_the_branch_of_the_motion():
    ball = ap.Particle("ball", 2, ground.point(x, y))

    def found(**near):
        row = ap.Nonholonomic(ax * (ax - 5) - (y - 1), "row", **near)
        model = ap.Model(ground, (x, y), [ball], [ap.Generalized({x: -2 * x, y: 3 - 3 * y})], [row])
        return ap.equilibrium(model, {x: -20})

    with pytest.raises(EquilibriumError, match=r"could rest on one branch of 'row', but its motion is on another"):
        found()
    assert found(near={ax: 0})["y"] == 1
