"""The same mechanism in micrometres and in kilometres: everything scales, nothing is lost."""

import functools

import numpy as np
import pytest

import appell as ap
from appell.cli.stabilization import Stabilization
from appell.motion.projection import Projection

SIZES = [(1e-6, 1.0, 1.0), (1e-6, 1e-18, 1e-3), (1e3, 1e9, 1e3**0.5), (1e6, 1.0, 1e3)]  # of length, mass and time
FIVE_BAR = 0.10982032818114812  # x of the library's five-bar robot after 1.5 s without torques
sizes = pytest.mark.parametrize("size", SIZES, ids=["um", "light um", "km", "1000 km"])


def factor(unit, length, mass, time):
    """How many times larger a number in some unit becomes."""
    units = {"": 1.0, "1": 1.0, "kg": mass, "m": length, "s": time, "rad": 1.0, "N": mass * length / time**2}
    found = 1.0
    for k, part in enumerate(unit.split("/")):
        for word in part.split("*"):
            base, _, power = word.partition("^")
            found *= units[base] ** ((-1) ** min(k, 1) * int(power or 1))
    return found


def scaled(model, size):
    """The same model with all lengths, masses and times so many times as large, and these factors by name."""
    letters = (*model.parameters, *model.inputs, *model.coordinates)
    factors = {s.label: factor(s.unit, *size) for s in letters}
    factors |= {q.rate.label: factors[q.label] / size[2] for q in model.coordinates}
    values, start = ({name: value * factors[name] for name, value in e.items()} for e in (model.values, model.start))
    return model.rebuilt(values=values, start=start), factors


def equilibria(model, factors):
    """Positions of all equilibria without inputs, in the units of the first model, with roots and verdicts."""
    system = ap.compile(ap.derive(model)).bind({w: 0.0 for w in model.inputs})
    found = []
    for rest in ap.equilibrium(system, starts=40).branches:
        lin = ap.linearize(rest)
        place = [value / factors[name] for name, value in rest.positions.items()]
        found.append((np.round(place, 7) + 0.0, lin.eigenvalues, ap.stability(lin).verdict))
    return sorted(found, key=lambda e: e[0].tolist())


@functools.cache
def ordinary(name):
    """A model of the library and its equilibria."""
    model = getattr(ap.library, name)()
    return model, equilibria(model, {q.label: 1.0 for q in model.coordinates})


@sizes
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "spherical_pendulum"])
def test_equilibria_of_every_size_are_the_same(name, size):
    model, here = ordinary(name)
    there = equilibria(*scaled(model, size))
    assert len(there) == len(here)
    for (place, roots, verdict), (large, slow, same) in zip(here, there, strict=True):
        np.testing.assert_allclose(large, place, rtol=0, atol=1e-6)
        atol = 1e-9 * np.max(np.abs(roots))
        np.testing.assert_allclose(np.sort(slow.real) * size[2], np.sort(roots.real), rtol=0, atol=atol)
        np.testing.assert_allclose(np.sort(slow.imag) * size[2], np.sort(roots.imag), rtol=0, atol=atol)
        assert same is verdict


@sizes
def test_stabilisation_of_every_size_is_the_same(size):
    length, mass, time = size
    energy = mass * length**2 / time**2
    model, _ = scaled(ap.library.ball_and_beam(tilt=-0.05), size)
    rest = ap.equilibrium(model, {"xi": 0.2 * length})
    assert rest["xi"] == 0.2 * length
    assert rest["tau"] / energy == pytest.approx(0.0668520247144461876, rel=1e-9)
    lin = ap.linearize(rest, dependent=["alpha"])
    weights = {"theta": 1, "xi": 200 / length**2, "theta.rate": 0.01 * time**2, "xi.rate": 10 * (time / length) ** 2}
    feedback = ap.control.lqr(lin, weights, 50 / energy**2)
    gains = feedback.K[0] / energy * [1, length, 1 / time, length / time]
    known = [0.274838448939977, -2.02351309727068, 0.0190339009310443, -1.2379583476534]
    np.testing.assert_allclose(gains, known, rtol=1e-8, atol=0)
    assert feedback.certificate.verdict.name == "ON_CONSTRAINTS"
    assert all(condition.holds for condition in feedback.certificate.conditions)
    placed = ap.control.place(lin, np.array([-2, -2, -2, -2]) / time)
    np.testing.assert_allclose(np.poly(placed.A * time), np.poly([-2] * 4), rtol=1e-7, atol=0)
    observer = ap.control.luenberger(lin, ["theta", "xi"], np.array([-30, -31, -32, -33]) / time)
    np.testing.assert_allclose(np.sort(observer.roots.real) * time, [-33, -32, -31, -30], rtol=1e-6, atol=0)
    ap.control.output_feedback(feedback, observer)  # is not refused for want of units


@sizes
def test_rows_of_every_size_are_kept_alike(size):
    """Beside the rows by a billionth of a turn, which is far less than 1e-14 m in a mechanism of micrometres."""
    model, _ = scaled(ap.library.four_bar(), size)
    system = ap.compile(ap.derive(model)).bind()
    projection = Projection(system.code, system.p)
    x = system.to_x(system.consistent(near=model.start))
    x[0] += 1e-9
    assert projection(0.0, x)
    left = system.equations.mechanics.functions["position"](0.0, x[:3], system.p)[0]
    assert np.max(np.abs(np.array(left))) < 1e-14 * size[0]
    motion = ap.simulate(system, until=0.5 * size[2])
    assert max(motion.check().shares) < 1e-14


@sizes
def test_dead_centres_of_every_size_are_no_forks(size):
    """Places in metres and angles in one row: where angles stop moving it, places still do."""
    model, factors = scaled(ap.library.five_bar(), size)
    system = ap.compile(ap.derive(model)).bind({w: 0.0 for w in model.inputs})
    motion = ap.simulate(system, until=1.5 * size[2])
    assert motion.outcome is ap.Outcome.DONE
    end = motion.at(motion.times[-1])
    assert end["x"] / factors["x"] == pytest.approx(FIVE_BAR, abs=1e-7)


def work(model, **wanted):
    """What `appell stabilize` does with a model, everything as it suggests."""
    return Stabilization(
        model=model, formulation=None, values={}, guess={}, wanted=wanted, weights={}, price=None, dependent=None,
        inputs=None, ignore=[], limits=None, push={}, until=None, runs=0,
    )  # fmt: skip


@pytest.mark.parametrize("size", SIZES[1:3], ids=["light um", "km"])
def test_suggestions_of_the_command_line_fit_the_size(size):
    model, factors = scaled(ap.library.ball_and_beam(), size)
    found = work(model, xi=0.2 * size[0])
    assert found.ok
    assert found.pushes["xi"] / factors["xi"] == pytest.approx(-0.01)


def test_the_command_line_wants_all_coordinates_that_can_be_wanted():
    """Six legs hold six coordinates of the platform; wishing for one of them would leave a family of five."""
    model = ap.library.stewart_platform()
    assert len(work(model).suggested(ap.compile(ap.derive(model)).bind())) == 6


UNITS = [*SIZES, (1.0, 1e-9, 1.0), (1.0, 1e9, 1.0), (1.0, 1.0, 1e6)]
units = pytest.mark.parametrize("size", UNITS, ids=["um", "light um", "km", "1000 km", "light", "heavy", "slow"])


@units
@pytest.mark.parametrize("name", ["rolling_disk", "rolling_ball", "ball_and_beam"])
def test_formulations_of_every_size_agree(name, size):
    model, _ = scaled(getattr(ap.library, name)(), size)
    found = ap.verify(model, states=4)
    assert found.ok, found


@units
def test_wrong_formulas_are_found_in_every_size(size):
    """What the paper prints for p = 1, in a mechanism however slow, light or small."""
    model, _ = scaled(ap.library.rolling_disk(), size)
    assert not ap.verify(model, ap.GPME(order=1, literal=["P1"]), states=2).ok


@units
def test_checks_of_every_size_are_the_same(size):
    model, _ = scaled(ap.library.rolling_disk(), size)
    system = ap.compile(ap.derive(model, ap.GPME())).bind()
    found = ap.simulate(system, until=0.3 * size[2]).check()
    assert found.ok, found
    assert max(found.agreement.values()) < 1e-12
