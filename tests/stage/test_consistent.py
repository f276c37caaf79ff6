"""Starting states: what must stay stays, what was changed is said, what is impossible is explained."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import InconsistentStartError, ModelError
from appell.kinematics.consistency import row_units
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.typical import sample_state, sample_states


def system_of(name, formulation=None):
    return ap.compile(ap.derive(ap.library.model(name), formulation)).bind()


@pytest.fixture(scope="module")
def four_bar():
    return system_of("four-bar")


@pytest.fixture(scope="module")
def disk():
    """The rolling disk in quasi-velocities w1, w2, w3."""
    model = ap.library.rolling_disk()
    (body,) = model.bodies
    omega = body.frame.components(body.angular_velocity)
    return system_of("rolling-disk", ap.GibbsAppell(speeds=dict(zip(ap.speeds("w1 w2 w3"), omega, strict=True))))


def worst(system, state):
    return max(map(abs, system.residual(state).values()))


@pytest.mark.parametrize("q1", [-2.0, 0.0, 0.5, 1.3])
def test_kept_values_stay_and_the_rest_is_found(four_bar, q1):
    state = four_bar.consistent({"q1": q1, "q1.rate": 1.5})
    assert state["q1"] == q1
    assert state["q1.rate"] == 1.5
    assert worst(four_bar, state) < 1e-12
    for name, (before, after) in state.changes.items():
        assert before == four_bar.model.start[name]
        assert after == state[name] != before


def test_changes_are_reported_with_both_values(four_bar):
    state = four_bar.consistent({"q1": 0.5}, near={"q2": 0.3, "q3": -2.0, "q2.rate": 1.0})
    assert set(state.changes) == {"q2", "q3", "q2.rate"}
    assert state.changes["q2"][0] == 0.3
    assert "changed to lie on the constraints:" in repr(state)
    assert f"q2: 0.3 -> {state['q2']:.9g}" in repr(state)
    assert four_bar.consistent().changes == {}


def test_a_rough_guess_decides_the_branch(four_bar):
    """For one q1 there are two assemblies, mirrored at the diagonal."""
    one = four_bar.consistent({"q1": 0.3}, near={"q2": 0.1, "q3": -2.5})
    other = four_bar.consistent({"q1": 0.3}, near={"q2": -0.8, "q3": 2.5})
    assert one["q3"] < 0 < other["q3"]
    assert worst(four_bar, other) < 1e-12


def test_a_quaternion_left_out_turns_nothing_and_its_scalar_part_is_what_it_lacks():
    place, e = ap.coordinates("x y z"), ap.coordinates("e0:4")
    ground = ap.Frame("ground")
    frame = ground.free(*place, *e)
    body = ap.RigidBody("body", 1, frame.origin, frame, (1, 2, 2.5))
    system = ap.compile(ap.derive(ap.Model(ground, (*place, *e), [body]))).bind()
    for given, attitude in (
        ({}, [1, 0, 0, 0]),
        ({e[1]: 0.6}, [0.8, 0.6, 0, 0]),
        ({e[3]: -1.0}, [0, 0, 0, -1]),
        ({e[0]: 0.6, e[2]: -0.8}, [0.6, 0, -0.8, 0]),
    ):
        for state in (system.state(given), system.consistent(given), system.consistent(near=given)):
            np.testing.assert_allclose(state.q, [0, 0, 0, *attitude], rtol=0, atol=1e-15)
    assert ap.simulate(system, {place[0].rate: 2.0}, until=1.0).at(1.0)["x"] == pytest.approx(2.0)
    with pytest.raises(InconsistentStartError, match="norm of"):
        system.state({e[0]: 0.6})
    lying = ap.sweep(system, {e[1]: [0.0, 0.6, 1.0]}, until=0.1, points=2)
    np.testing.assert_allclose(np.ravel(lying["e0"].isel(t=0)), [1, 0.8, 0], rtol=0, atol=1e-15)


def test_without_a_guess_something_is_found_all_the_same(four_bar):
    bare = ap.Model(
        four_bar.model.ground, four_bar.model.coordinates, four_bar.model.bodies, four_bar.model.forces,
        four_bar.model.constraints, values=four_bar.model.values,
    )  # fmt: skip
    system = ap.compile(ap.derive(bare)).bind()
    state = system.consistent({"q1": 0.4})  # q2 = q3 = 0 is a singular guess
    assert state["q1"] == 0.4
    assert worst(system, state) < 1e-9


def test_positions_that_do_not_close_are_refused_with_the_row(four_bar):
    with pytest.raises(
        InconsistentStartError, match=r"violate the constraint 'loop.\w' by .* Use system.consistent\(keep="
    ):
        four_bar.state({"q1": 0.5})
    with pytest.raises(InconsistentStartError, match=r"violate the constraint 'loop.\w' by"):
        ap.simulate(four_bar, {"q1": 0.5}, until=1.0)


@pytest.mark.parametrize(
    ("keep", "words"),
    [
        (
            {"q1": 0.5, "q2": 0.1, "q3": -2.0},
            r"2 independent position rows need 2 coordinates to adjust and have 0; keep fewer of q1, q2, q3",
        ),
        ({"q1": 0.5, "q2": 0.1}, r"2 independent position rows need 2 coordinates to adjust and have 1"),
        (
            {"q1": 0.5, "q1.rate": 1.0, "q2.rate": 3.0},
            r"No velocities satisfy .*while q1.rate, q2.rate keep their given values",
        ),
    ],
)
def test_too_much_is_kept(four_bar, keep, words):
    with pytest.raises(InconsistentStartError, match=words):
        four_bar.consistent(keep)


def test_dimensions_that_do_not_close_are_explained(four_bar):
    with pytest.raises(InconsistentStartError, match=r"nearest miss 3\.\d+\): the dimensions may not close"):
        four_bar.bind({"la": 10.0}).consistent()


def test_rows_that_contradict_each_other():
    x, y = ap.coordinates("x y")
    ground = ap.Frame()
    rows = ap.Holonomic(x - 1, "left"), ap.Holonomic(x - 2, "right")
    system = ap.compile(ap.derive(ap.Model(ground, (x, y), [ap.Particle("p", 1, ground.point(x, y))], (), rows))).bind()
    with pytest.raises(
        InconsistentStartError, match=r"No positions satisfy the constraint '(left|right)' \(nearest miss 0.5\)"
    ):
        system.consistent()


@pytest.mark.parametrize("how", ["state", "consistent"])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"q9": 1.0},
            r"'q9' is not an entry of the state of 'four-bar linkage'. There are: q1, q2, q3, q1.rate, q2.rate, .*\.",
        ),
        ({"q1.rat": 1.0}, r"Did you mean 'q1.rate'\?"),
        ({"q1": np.nan}, "The value of 'q1' must be a finite number, got nan"),
        ({"q1": "ten"}, "The value of 'q1' must be a finite number, got 'ten'"),
    ],
)
def test_wrong_names_and_numbers(four_bar, how, given, words):
    with pytest.raises(ModelError, match=words):
        getattr(four_bar, how)(given)


def test_wrong_guesses(four_bar):
    with pytest.raises(ModelError, match="'q9' is not an entry"):
        four_bar.consistent(near={"q9": 1.0})


def test_speeds_give_the_rates(disk):
    state = disk.state({"lean": 0.1, "w1": 0.3, "w2": 8.0})
    np.testing.assert_allclose(disk.to_x(state), [0, 0.1, 0, 0, 0, 0.3, 8.0, 0.0], rtol=0, atol=1e-15)
    assert state["x.rate"] == pytest.approx(0.26 * 8.0)
    assert worst(disk, state) < 1e-14


def test_speeds_that_are_not_given_stay_near_the_guess(disk):
    assert disk.to_x(disk.consistent({"w1": 1.0}))[5:] == pytest.approx([1.0, 10.0, 0.15])
    assert disk.to_x(disk.consistent(near={"w2": 5.0}))[5:] == pytest.approx([-0.2, 5.0, 0.15])
    kept = disk.consistent({"lean.rate": 0.7}, near={"w2": 5.0})
    assert kept["lean.rate"] == 0.7
    assert disk.to_x(kept)[5:] == pytest.approx([0.7, 5.0, 0.15])


def test_speeds_and_rates_do_not_mix(disk):
    with pytest.raises(ModelError, match=r"Give either speeds \(w1, w2, w3\) or rates \(yaw.rate\), not both"):
        disk.state({"w1": 1.0, "yaw.rate": 2.0})


def test_nonlinear_rows_follow_the_guess_to_its_branch():
    system = system_of("appell-hamel")
    state = system.consistent({"z.rate": 2.0}, near={"x.rate": 1.0, "y.rate": 1.0})
    np.testing.assert_allclose(state.v, [1.5 * 2**0.5, 1.5 * 2**0.5, 2.0], rtol=1e-12)
    other = system.consistent({"z.rate": 2.0}, near={"x.rate": -1.0, "y.rate": 0.0})
    np.testing.assert_allclose(other.v, [-3.0, 0.0, 2.0], rtol=0, atol=1e-12)
    with pytest.raises(InconsistentStartError, match=r"the constraint 'slope' .*while x.rate, z.rate keep"):
        system.consistent({"z.rate": 2.0, "x.rate": 4.0})


def test_the_ways_to_complete_nonlinear_rows_are_told():
    """x'^2 + y'^2 = 2.25 z'^2 with x' = 3, y' = 0: z' = 2 or -2, and z' = 0 is as far from both."""
    with pytest.raises(InconsistentStartError, match=r"'slope' can be .*z.rate = 2, or z.rate = -2\. Give one of them"):
        system_of("appell-hamel").state({"x.rate": 3.0, "y.rate": 0.0})


def test_rows_that_depend_on_time_are_met_at_that_time():
    system = system_of("driven-pendulum")
    state = system.consistent(t=0.5)
    A, w = system.values["A"], system.values["w"]
    assert state.t == 0.5
    assert state["h"] == pytest.approx(A * np.sin(w * 0.5), abs=1e-14)
    assert state["h.rate"] == pytest.approx(A * w * np.cos(w * 0.5), abs=1e-14)


def test_extra_states_are_kept_as_given():
    x, tank = ap.coordinates("x"), ap.states("tank")
    ground = ap.Frame()
    cart = ap.Particle("cart", tank, ground.point(x, 0))
    system = ap.compile(ap.derive(ap.Model(ground, x, [cart], states={tank: -2}))).bind()
    assert list(system.state({"tank": 5.0, "x.rate": 1.0})) == [0.0, 1.0, 5.0]
    assert list(system.consistent({"tank": 5.0})) == [0.0, 0.0, 5.0]


def test_a_state_is_a_labelled_array(four_bar):
    state = four_bar.consistent()
    q1 = four_bar.model.coordinates[0]
    assert state[q1] == state["q1"] == state.q[0] == state.to_dict()["q1"]
    assert state[q1.rate] == state["q1'"] == state.v[0]
    assert (len(state), np.asarray(state).shape, state.z.size) == (6, (6,), 0)
    np.testing.assert_array_equal((state + np.eye(6)[3]).v, state.v + np.eye(3)[0])
    assert state.names == ("q1", "q2", "q3", "q1.rate", "q2.rate", "q3.rate")
    with pytest.raises(ModelError, match=r"The state has 6 entries .*, got 2 to add"):
        state + np.ones(2)
    with pytest.raises(ModelError, match="'q7' is not an entry of the state"):
        state["q7"]


def test_x_and_back(disk):
    x = np.array([0.3, 0.1, 1.0, -0.2, 0.4, 0.5, -2.0, 0.7])
    np.testing.assert_allclose(disk.to_x(disk.from_x(0.0, x)), x, rtol=1e-14)


def test_states_of_other_models_and_off_the_constraints_cannot_start(four_bar, disk):
    with pytest.raises(ModelError, match=r"This is a state of 'rolling disk' .*; one of 'four-bar linkage' is"):
        ap.simulate(four_bar, disk.state({"lean": 0.1}), until=1.0)
    with pytest.raises(InconsistentStartError, match=r"The start violates the constraint 'loop.*Use system.consistent"):
        ap.simulate(four_bar, four_bar.consistent() + 0.1 * np.eye(6)[1], until=1.0)
    with pytest.raises(InconsistentStartError, match="The starting value of 'q1' is not finite"):
        ap.simulate(four_bar, ap.State(four_bar.model, np.full(6, np.nan)), until=1.0)
    for ask in (four_bar.to_x, four_bar.energy, four_bar.residual, four_bar.accelerations):
        with pytest.raises(ModelError, match="This is a state of 'rolling disk'"):
            ask(disk.state({"lean": 0.1}))


@pytest.mark.parametrize("length", [1e-9, 1e-6, 1e-3, 1.0, 1e6, 1e10])
def test_starts_do_not_depend_on_the_unit_of_length(length):
    """A pendulum in redundant coordinates, from nanometres to the size of a planet's orbit."""
    x, y = ap.coordinates("x y")
    size, ground = ap.parameters("size"), ap.Frame("ground")
    rod = ap.Holonomic(x**2 + y**2 - size**2, "rod")
    bob = ap.Particle("bob", 1.0, ground.point(x, y))
    model = ap.Model(
        ground, (x, y), [bob], [ap.Gravity(-9.81 * ground.y)], [rod], values={size: length},
        start={x: length * np.sin(1), y: -length * np.cos(1)},
    )  # fmt: skip
    system = ap.compile(ap.derive(model)).bind()
    start = system.consistent(keep={x: 0.6 * length}, near={y: -length})
    assert start[y] == pytest.approx(-0.8 * length, rel=1e-14, abs=0)
    assert set(start.changes) == {"y"}
    assert system.consistent()[x] == pytest.approx(length * np.sin(1), rel=1e-15, abs=0)
    moving = system.consistent(keep={x: 0.6 * length, x.rate: 3 * np.sqrt(length)}, near={y: -length})
    assert moving[y.rate] == pytest.approx(3 * np.sqrt(length) * 0.6 / 0.8, rel=1e-13, abs=0)
    with pytest.raises(InconsistentStartError, match="violate the constraint 'rod'"):
        system.state({x: 0.6 * length, y: -0.5 * length})
    with pytest.raises(InconsistentStartError, match="No positions satisfy the constraint 'rod'"):
        system.consistent(keep={x: 1.1 * length}, near={y: -length})
    motion = ap.simulate(system, moving, until=np.sqrt(length))
    assert motion.check().ok
    np.testing.assert_allclose(motion[(x**2 + y**2) / size**2], 1, rtol=0, atol=1e-13)


@pytest.mark.parametrize("length", [1e-7, 1e-6, 1e-4, 1.0, 1e3])
def test_velocities_and_given_states_do_not_depend_on_the_unit_of_length(length):
    x, y = ap.coordinates("x y")
    size, ground = ap.parameters("size"), ap.Frame("ground")
    bob = ap.Particle("bob", 1.0, ground.point(x, y))
    rod = ap.Holonomic(x**2 + y**2 - size**2, "rod")
    model = ap.Model(ground, (x, y), [bob], [], [rod], values={size: length})
    system = ap.compile(ap.derive(model, ap.GibbsAppell(dependent=[x]))).bind()
    place = {x: 0.6 * length, y: -0.8 * length}
    assert system.state({**place, x.rate: 0.1 * length})[y.rate] == pytest.approx(0.075 * length, rel=1e-12, abs=0)
    with pytest.raises(InconsistentStartError, match="No velocities satisfy the constraint 'rod'"):
        system.state({**place, x.rate: length, y.rate: -5 * length})
    far = ap.State(model, np.array([0.6, -1.0, 0.0, 0.0]) * length)
    with pytest.raises(InconsistentStartError, match="The start violates the constraint 'rod' by"):
        ap.simulate(system, far, until=1.0)
    study = ap.sweep(system, {"start": [far] * 10}, until=1.0, progress=False)
    assert study.outcomes == {"NOT_STARTED": 10}


def test_noise_is_no_violation():
    """0.3 - 3 * 0.1 is not zero, and nobody means what it is."""
    x, angle = ap.coordinates("x angle")
    ground = ap.Frame("ground")
    bob = ap.RigidBody("bob", 1.0, ground.point(x, 0), ground.rotate("z", angle), (0, 0, 1))
    model = ap.Model(ground, (x, angle), [bob], [], [ap.Holonomic(x - 0.5 * sp.sin(angle), "cam")])
    system = ap.compile(ap.derive(model)).bind()
    for noise in (0.3 - 3 * 0.1, 1e-13, 3e-11):
        assert system.state({x: noise, x.rate: noise})[x] == noise
    with pytest.raises(InconsistentStartError, match="'cam' by 1e-08"):
        system.state({x: 1e-8})


@pytest.mark.parametrize("name", ["delta-robot", "four-bar", "draining-rover"])
def test_states_sampled_together_are_those_sampled_one_by_one(name):
    mechanics, reaches = Mechanics(ap.library.model(name)), (0.0, 0.3, 0.3)
    p = mechanics.sample_values(np.random.default_rng(1))
    units = row_units(mechanics, p)[0]
    units = np.where(np.isfinite(units), units, 1.0)
    together = sample_states(mechanics, np.random.default_rng(2), p, reaches, units=units)
    rng = np.random.default_rng(2)
    for reach, found in zip(reaches, together, strict=True):
        alone = sample_state(mechanics, rng, p, reach, roughly=True, units=units)
        for mine, other in zip(found, alone, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12)
