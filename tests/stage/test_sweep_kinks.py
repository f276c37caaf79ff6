"""Kinks in lanes: friction that sticks and slips, saturation, tanks that run dry, as single runs have them."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.ensemble.lone_kink import LoneKink

RNG = np.random.default_rng(1)
GROUND = ap.Frame("ground")

pytestmark = pytest.mark.usefixtures("lanes_for_few")


def mass(force, **values):
    """A mass on a line under a force."""
    x = ap.coordinates("x")
    model = ap.Model(GROUND, x, [ap.Particle("mass", 1, GROUND.point(x))], [ap.Generalized({x: force(x)})])
    return ap.compile(ap.derive(model)).bind(values)


def on_a_belt():
    k, mu, V = ap.parameters("k mu V")

    def force(x):
        slip = x.rate - V
        return -k * x - mu * sp.sign(slip) * (1 + sp.exp(-3 * sp.Abs(slip))) - x.rate / 5

    rows = [{"x": a, "x.rate": b, "V": c} for a, b, c in RNG.uniform((-1, -1, 0.1), (1, 1, 1), (6, 3)).tolist()]
    return mass(force, k=4.0, mu=2.5, V=0.3), rows, 12.0, ()


def coming_to_rest():
    mu = ap.parameters("mu")
    return mass(lambda x: -4 * x - mu * sp.sign(x.rate), mu=0.5), [{"x": v} for v in (-2.5, 0.1, 1.0, 2.9)], 8.0, ()


def saturated():
    return (
        mass(lambda x: -4 * x * sp.Abs(x) - sp.Min(2, sp.Max(-2, 3 * x.rate))),
        [{"x": v} for v in (-3.0, 0.2, 1.7)], 8.0, (),
    )  # fmt: skip


def two_blocks():
    """One on the other, both with friction, one of them pushed: each kink sticks by itself and with the other."""
    u, v = ap.coordinates("u v")
    bodies = [ap.Particle("lower", 1, GROUND.point(u)), ap.Particle("upper", 1, GROUND.point(v))]
    between, below = sp.sign(v.rate - u.rate) / 2, sp.sign(u.rate) / 10
    force = ap.Generalized({u: -4 * u + between - below, v: -between + sp.sin(3 * ap.t)})
    rows = [{"u": a, "v": b} for a, b in RNG.uniform(-1, 1, (5, 2)).tolist()]
    return ap.compile(ap.derive(ap.Model(GROUND, (u, v), bodies, [force]))).bind(), rows, 8.0, ()


def on_a_circle():
    """A bead with both coordinates, whose friction kinks where its dependent velocity may be the other one."""
    x, y = ap.coordinates("x y")
    forces = [ap.Gravity(-9.81 * GROUND.y), ap.Generalized({x: -sp.sign(x.rate) / 2})]
    model = ap.Model(
        GROUND, (x, y), [ap.Particle("bead", 1, GROUND.point(x, y))], forces, [ap.Holonomic(x**2 + y**2 - 1)]
    )
    rows = [{"x": float(np.sin(a)), "y": -float(np.cos(a))} for a in (0.3, 1.1, 1.9)]
    return ap.compile(ap.derive(model)).bind(), rows, 4.0, ()


def bouncing():
    """A reset that may set a sliding body in motion again."""
    x, y = ap.coordinates("x y")
    forces = [ap.Gravity(-9.81 * GROUND.y), ap.Generalized({x: -0.3 * sp.sign(x.rate)})]
    model = ap.Model(GROUND, (x, y), [ap.Particle("ball", 1, GROUND.point(x, y))], forces)
    floor = ap.Event(y, direction=-1, reset={y.rate: -0.8 * y.rate, x.rate: x.rate - 0.1}, name="floor")
    rows = [{"x.rate": a, "y": b} for a, b in RNG.uniform((-1, 0.5), (1, 2), (5, 2)).tolist()]
    return ap.compile(ap.derive(model)).bind(), rows, 2.0, (floor,)


def staged():
    system = ap.compile(ap.derive(ap.library.rocket())).bind()
    return system, [{"g": v} for v in (9.0, 9.81)], 200.0, tuple(ap.library.rocket_events())


def pushed_off():
    """What sticks on a square wave of forces, of which some are larger than friction can hold."""
    F = ap.parameters("F")

    def force(x):
        return -x - sp.sign(x.rate) * (1 + sp.exp(-3 * sp.Abs(x.rate))) / 2 - F * sp.sign(sp.sin(4 * ap.t))

    return mass(force, F=1.0), [{"F": v} for v in (0.5, 1.1, 2.0, 3.0)], 4.0, ()


CASES = (pushed_off, on_a_belt, coming_to_rest, saturated, two_blocks, on_a_circle, bouncing, staged)


def simulated(system, row, until, **options):
    letters = {p.label for p in system.model.parameters}
    bound = system.bind({n: v for n, v in row.items() if n in letters})
    start = {**system.model.start, **{n: v for n, v in row.items() if n not in letters}}
    state = bound.consistent(start) if system.model.rows else start
    return ap.simulate(bound, state, until, rtol=1e-10, method="dop853", progress=False, **options)


@pytest.mark.parametrize("case", CASES)
def test_lanes_give_what_single_runs_give(case):
    system, rows, until, events = case()
    # Where a body begins to slip, a guard leaves zero with its rate: the moment is known to the root of rounding.
    close = {"rtol": 1e-10, "atol": 1e-7 if case is on_a_belt else 1e-9}
    study = ap.sweep(system, rows, until=until, points=31, events=events, rtol=1e-10, progress=False)
    assert study["lane"].values.all()
    assert not study.info["reasons"]
    happened = 0
    for i, row in enumerate(rows):
        motion = simulated(system, row, until, points=31, events=events)
        assert list(ap.Outcome)[study.codes[i]] is motion.outcome
        happened += len(motion.occurrences)
        for name in study.info["columns"]:
            np.testing.assert_allclose(study[name].values[i], motion.columns[name], **close, err_msg=f"{name}, {row}")
    assert happened


@pytest.mark.parametrize("case", CASES)
def test_lanes_settled_at_once_are_those_settled_one_by_one(case, monkeypatch):
    system, rows, until, events = case()
    options = {"until": until, "points": 31, "events": events, "progress": False}
    at_once = LoneKink.settle
    settled = []

    def watched(self, *places, **others):
        found = at_once(self, *places, **others)
        settled.append(found.done.sum())
        return found

    monkeypatch.setattr(LoneKink, "settle", watched)
    together = ap.sweep(system, rows, **options)
    assert sum(settled) > 0 or case in (saturated, staged)  # a corner of a corner, a tank that stays empty
    monkeypatch.setattr(LoneKink, "of", lambda *_: None)
    assert ap.sweep(system, rows, **options).dataset.equals(together.dataset)


def test_machine_code_gives_the_same():
    pytest.importorskip("heyoka")
    system, rows, until, _ = two_blocks()
    quick = ap.compile(system.equations, "heyoka").bind()
    plain, compiled = (ap.sweep(s, rows, until=until, points=9, rtol=1e-10, progress=False) for s in (system, quick))
    for name in plain.info["columns"]:
        np.testing.assert_allclose(compiled[name], plain[name], rtol=0, atol=1e-9)


def test_a_run_does_not_depend_on_its_neighbours():
    system, rows, until, _ = two_blocks()
    together = ap.sweep(system, rows, until=until, points=9, progress=False)
    for i, row in enumerate(rows):
        alone = ap.sweep(system, [row], until=until, points=9, progress=False)
        np.testing.assert_array_equal(alone["u"].values[0], together["u"].values[i])


def test_rest_is_exact_and_friction_at_rest_holds_what_pulls():
    """While a block rides on the belt its friction is the pull of the spring; a formula that kinks says so."""
    x = ap.coordinates("x")
    k, mu, V = ap.parameters("k mu V")
    friction = -mu * sp.sign(x.rate - V)
    model = ap.Model(GROUND, x, [ap.Particle("block", 1, GROUND.point(x))], [ap.Generalized({x: -k * x + friction})])
    system = ap.compile(ap.derive(model)).bind({"k": 4.0, "mu": 5.0, "V": 0.3})
    outputs = {"friction": friction, "pull": k * x, "acceleration": x.rate.rate, "speed": sp.Abs(x.rate)}
    rows = [{"x": 0.0, "x.rate": 0.3, "V": 0.3}, {"x": 0.2, "x.rate": 0.5, "V": 0.5}]
    study = ap.sweep(system, rows, until=1.8, points=10, outputs=outputs, progress=False)
    assert study["lane"].values.all()
    for i, row in enumerate(rows):
        alone = simulated(system, row, 1.8, points=10, outputs=outputs)
        for values in ({name: study[name].values[i] for name in outputs}, alone.columns):
            np.testing.assert_allclose(values["friction"], values["pull"], rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(values["acceleration"], 0, rtol=0, atol=1e-12)
            np.testing.assert_allclose(values["speed"], row["V"], rtol=1e-12, atol=0)


def test_a_switched_force_has_its_mean_while_it_slides():
    """x'' = F = -2 sign(x + x'): on x' = -x the force that holds it there is -x'."""
    x, F = ap.coordinates("x"), ap.inputs("F")
    model = ap.Model(GROUND, x, [ap.Particle("mass", 1, GROUND.point(x))], [ap.Generalized({x: F})])
    system = ap.compile(ap.derive(model).close({F: -2 * sp.sign(x + x.rate)})).bind()
    study = ap.sweep(system, {"x": [0.3, 1.0]}, until=6.0, points=13, rtol=1e-10, progress=False)
    alone = simulated(system, {"x": 1.0}, 6.0, points=13)
    for force, v in ((study["F"][1].values, study["x.rate"][1].values), (alone.columns["F"], alone.columns["x.rate"])):
        np.testing.assert_allclose(force[4:], -v[4:], rtol=1e-9, atol=1e-10)


def test_velocities_that_jump_are_made_one_by_one_and_said_so():
    q, x = ap.coordinates("q x")
    cart = GROUND.point(sp.Abs(sp.sin(ap.t)))
    bob = ap.Particle("bob", 1, cart + sp.sin(q) * GROUND.x - sp.cos(q) * GROUND.y)
    free = ap.Particle("free", 1, GROUND.point(x))
    model = ap.Model(GROUND, (q, x), [bob, free], [ap.Gravity(-9.81 * GROUND.y)])
    study = ap.sweep(ap.compile(ap.derive(model)), {"q": [0.1, 0.2]}, until=4.0, points=4, progress=False)
    assert study.info["reasons"] == {"positions or velocities may jump at kinks": 2}
    assert not study["lane"].values.any()


def test_outputs_that_jump_at_countless_places_mean_what_they_say():
    x = ap.coordinates("x")
    system = mass(lambda x: -4 * x - sp.sign(x.rate))
    outputs = {"thirds": sp.floor(3 * x)}
    study = ap.sweep(system, {"x": [0.1, 1.0]}, until=5.0, points=6, outputs=outputs, progress=False)
    alone = simulated(system, {"x": 1.0}, 5.0, points=6, outputs=outputs)
    assert any(s.family for s in alone.stretches)
    np.testing.assert_array_equal(study["thirds"], np.floor(3 * study["x"]))
    np.testing.assert_array_equal(alone.columns["thirds"], np.floor(3 * alone.columns["x"]))


def test_friction_that_is_not_the_same_both_ways_sticks():
    """-2 against what moves back, 4 + x against what moves on; by hand x stays where v = 0 is reached."""
    system = mass(lambda x: -x - sp.sign(x.rate) * (2 + sp.Heaviside(x.rate, 0) * (2 + x)))
    study = ap.sweep(system, {"x": [0.1, 1.0], "x.rate": [0.5, 40.0]}, until=0.5, points=3, progress=False)
    assert study.outcomes == {"DONE": 4}
    for run, (x, v) in enumerate(((0.1, 0.5), (1.0, 0.5))):
        reached = ((x + 2) ** 2 + v**2 / 2) ** 0.5 - 2  # v² + 2 (x + 2)² is kept on the way there
        np.testing.assert_allclose(study["x"].sel(run=2 * run)[-1], reached, rtol=0, atol=1e-9)


def test_what_sticks_in_no_single_way_fails_alone():
    """Modes act on two states, on one of them not linearly: on v = 0 x' depends on how, and only what sticks ends."""
    x, heat, ground = ap.coordinates("x"), ap.states("heat"), ap.Frame("ground")
    push = ap.Generalized({x: 1 - x - sp.exp(sp.sign(x.rate))})
    model = ap.Model(ground, x, [ap.Particle("mass", 1, ground.point(x, 0))], [push], states={heat: sp.sign(x.rate)})
    system = ap.compile(ap.derive(model)).bind()
    study = ap.sweep(system, {"x": [0.1, 0.3], "x.rate": [0.5, 40.0]}, until=0.5, points=3, progress=False)
    assert study.outcomes == {"DONE": 2, "UNDECIDED": 2}
    assert set(study.failures["x.rate.start"]) == {0.5}
    assert study.failures["reason"].str.contains("cannot be resolved uniquely").all()
    alone = ap.simulate(system, {"x": 0.3, "x.rate": 0.5}, until=0.5)
    assert alone.outcome is ap.Outcome.UNDECIDED
    assert "cannot be resolved uniquely" in alone.detail
    assert float(alone["x.rate"][-1]) == pytest.approx(0, abs=1e-12)
    assert 0 < float(alone.times[-1]) < 0.5


def test_no_pulse_of_a_programme_is_lost():
    """A force that is there only near some crests of t/10 sin(w t), along a motion that has no scale of its own."""
    u, w = ap.inputs("u"), ap.parameters("w")
    system = mass(lambda x: u)

    def pulses(rate):
        return {u: 1000 * sp.Max(0, ap.t / 10 * sp.sin(rate * ap.t) - 0.9)}

    speeds = [5.0, 17.0, 38.0]
    study = ap.sweep(system, {w: speeds}, inputs=pulses(w), until=10.0, points=3, progress=False)
    t = np.linspace(0, 10, 1_000_001)
    for k, rate in enumerate(speeds):
        expected = np.trapezoid(1000 * np.maximum(0, t / 10 * np.sin(rate * t) - 0.9), t)
        assert float(study["x.rate.end"][k]) == pytest.approx(expected, abs=1e-6)
        for method in ("taylor", "dop853", "DOP853"):
            run = ap.simulate(system, until=10.0, inputs=pulses(rate), method=method)
            assert float(run["x.rate"][-1]) == pytest.approx(expected, abs=1e-6)
    assert study["lane"].values.all()


def test_what_is_only_looked_at_does_not_pile_up_with_kinks():
    """Two blocks on a belt: a zero of x, and velocities that agree within less and less time, by chance."""
    u, v = ap.coordinates("u v")
    V, F = ap.parameters("V F")
    slip, between = u.rate - V, v.rate - u.rate
    bodies = [ap.Particle("lower", 1, GROUND.point(u)), ap.Particle("upper", sp.Rational(1, 2), GROUND.point(v))]
    rough = sp.sign(slip) * (1 + sp.exp(-2 * sp.Abs(slip)) / 2) + u.rate * sp.Abs(u.rate) / 20
    grip = 3 * sp.sign(between) / 10
    force = ap.Generalized({u: -4 * u - rough + grip, v: F * sp.sin(2 * ap.t) - grip})
    system = ap.compile(ap.derive(ap.Model(GROUND, (u, v), bodies, [force])))
    seen = ap.Event(u, name="zero")
    row = {"u": -0.1109189978837144, "V": 0.999601524092645, "F": 0.6669710278892623}
    study = ap.sweep(system, [row] * 9, until=8.0, points=5, events=[seen])
    assert study.outcomes == {"DONE": 9}
    assert study["lane"].values.all()
    motion = simulated(system.bind({"V": row["V"], "F": row["F"]}), {"u": row["u"]}, 8.0, events=[seen])
    assert motion.outcome is ap.Outcome.DONE
