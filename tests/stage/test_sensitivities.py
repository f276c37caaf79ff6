"""Sensitivities: slopes of motions against closed forms, against each other, and against differences of runs."""

import numpy as np
import pytest
import sympy as sp

import appell as ap

ground, t = ap.Frame("ground"), ap.t
x, y = ap.coordinates("x y", "m")
m, g, e, mu, l, k, c = ap.parameters("m g e mu l k c")
VALUES = {m: 1.3, g: 9.81, e: 0.7, mu: 0.2, l: 0.9, k: 4.0, c: 0.3}


def system_of(coordinates, bodies, forces, constraints=(), formulation=None, **settings):
    model = ap.Model(ground, coordinates, bodies, forces, constraints, **settings)
    equations = ap.derive(model, formulation) if formulation else ap.derive(model)
    own = {s.label for s in (*model.parameters, *model.inputs)}
    return ap.compile(equations).bind({s: value for s, value in VALUES.items() if s.label in own})


def differences(run, name, at, h, of):
    """Fourth differences of whole runs: `run(values)` for values of one name around `at`."""
    found = [of(run({name: at + k * h})) for k in (-2, -1, 1, 2)]
    return (8 * (found[2] - found[1]) - (found[3] - found[0])) / (12 * h)


def close(found, wanted, tolerance=1e-9):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(1.0, np.max(np.abs(wanted))))


def test_a_bouncing_ball_has_the_slopes_of_its_closed_form():
    system = system_of(y, [ap.Particle("ball", m, ground.point(0, y))], [ap.Gravity(-g * ground.y)])
    system = ap.compile(ap.derive(system.model.with_parameters(e))).bind({m: 1.3, g: 9.81, e: 0.7})
    bounce = ap.Event(y, direction=-1, reset={y.rate: -e * y.rate}, name="bounce")
    motion = ap.simulate(system, {y: 1.2}, until=0.9, events=[bounce], points=19)
    found = motion.sensitivities([e, g, y, m])
    h = sp.Symbol("h")
    first = sp.sqrt(2 * h / g)
    later = e * g * first * (t - first) - g * (t - first) ** 2 / 2
    height = sp.Piecewise((h - g * t**2 / 2, t < first), (later, True))
    numbers = {e: 0.7, g: 9.81, h: 1.2}
    for letter, label in ((e, "e"), (g, "g"), (h, "y.start")):
        slope = sp.lambdify(t, sp.diff(height, letter).subs(numbers))
        close(found["y"].sel(by=label), [float(slope(s)) for s in motion.times], 1e-12)
        moment = found["event_time"].sel(by=label, event="bounce")
        close(moment, float(sp.diff(first, letter).subs(numbers)), 1e-12)
    assert not found["y"].sel(by="m").any()


def test_what_friction_stops_keeps_the_slopes_of_where_it_stops():
    friction = ap.Generalized({x: -mu * m * g * sp.sign(x.rate)}, "friction")
    system = system_of(x, [ap.Particle("block", m, ground.point(x, 0))], [friction])
    motion = ap.simulate(system, {x: 0.0, x.rate: 2.0}, until=2.0, points=21)
    found, v = motion.sensitivities([mu, x.rate, m]), 2.0
    stop = v / (0.2 * 9.81)
    at_rest = motion.times > stop
    close(found["x"].sel(by="mu")[at_rest], np.full(at_rest.sum(), -(v**2) / (2 * 0.2**2 * 9.81)), 1e-11)
    close(found["x"].sel(by="x.rate.start")[at_rest], np.full(at_rest.sum(), stop), 1e-11)
    close(found["x.rate"].sel(by="mu"), np.where(at_rest, 0, -9.81 * motion.times), 1e-11)
    close(found["event_time"][:2, 0], [-v / (0.2**2 * 9.81), 1 / (0.2 * 9.81)], 1e-11)
    assert np.abs(found["x"].sel(by="m")).max() < 1e-12


def test_what_breaks_loose_has_the_slopes_of_its_moment():
    friction = ap.Generalized({x: k * t - mu * m * g * sp.sign(x.rate)}, "pull and friction")
    system = system_of(x, [ap.Particle("block", m, ground.point(x, 0))], [friction])
    motion = ap.simulate(system, until=2.0, points=21)
    found, loose = motion.sensitivities([mu, k]), 0.2 * 1.3 * 9.81 / 4
    after = np.clip(motion.times - loose, 0, None)  # x = k (t - t0)^3 / 6 m
    close(motion["x"], 4 * after**3 / (6 * 1.3), 1e-11)
    close(found["x"].sel(by="mu"), -4 * after**2 / (2 * 1.3) * (1.3 * 9.81 / 4), 1e-10)
    close(found["x"].sel(by="k"), after**3 / (6 * 1.3) + 4 * after**2 / (2 * 1.3) * loose / 4, 1e-10)


def test_a_pendulum_with_a_stop_has_the_same_slopes_in_redundant_coordinates():
    angle = ap.coordinates("angle", "rad")
    weight = [ap.Gravity(-g * ground.y)]
    swing = system_of(angle, [ap.Particle("bob", m, ground.pin(angle).point(0, -l))], weight)
    rod = ap.Holonomic(x**2 + y**2 - l**2, "rod")
    formulation = ap.GibbsAppell(dependent=[y])
    other = system_of((x, y), [ap.Particle("bob", m, ground.point(x, y))], weight, [rod], formulation)
    hits = [ap.Event(l * sp.sin(angle) + 0.1, direction=-1, reset={angle.rate: -0.7 * angle.rate})]
    knocks = [ap.Event(x + 0.1, direction=-1, reset={x.rate: -0.7 * x.rate})]
    start = float(np.arcsin(0.4 / 0.9))
    one = ap.simulate(swing, {angle: start}, until=2.7, events=hits, points=16)
    two = ap.simulate(other, other.consistent({x: 0.4}, {y: -1}), until=2.7, events=knocks, points=16)
    assert len(one.occurrences) == len(two.occurrences) == 2
    place = {"x": l * sp.sin(angle), "y": -l * sp.cos(angle)}
    close(np.array([one[f] for f in place.values()]), np.array([two[n] for n in place]), 1e-11)
    a, b = one.sensitivities([l, g, angle], list(place.values())), two.sensitivities([l, g, x])
    by_angle = {str(f): a[str(f)].sel(by="angle.start") for f in place.values()}
    for name, formula in place.items():
        f = str(formula)
        close(b[name].sel(by="g"), a[f].sel(by="g"))
        close(b[name].sel(by="x.start"), by_angle[f] / (0.9 * np.cos(start)))
        close(b[name].sel(by="l"), a[f].sel(by="l") - by_angle[f] * np.tan(start) / 0.9)  # x is held there
    close(b["event_time"].sel(by="g"), a["event_time"].sel(by="g"))


@pytest.mark.parametrize(
    ("name", "by", "until"),
    [
        ("spherical-pendulum", "l", 10.0),
        ("four-bar", "lb", 1.0),
        ("delta-robot", "L1", 0.5),
        ("hauled-chain", "F", 2.0),
    ],
)
def test_slopes_are_those_of_whole_runs_through_changes_of_speeds(name, by, until):
    system = ap.compile(ap.derive(ap.library.model(name))).bind()
    start = ap.simulate(system, until=0.1).at(0.0)
    motion = ap.simulate(system, start, until=until, points=11)
    free = motion.stretches[0].code.equations
    keep = {s.label: start[s.label] for i, s in enumerate(free.coordinates) if i not in free.split.dependent}
    keep |= {s.label: start[s.label] for s in free.speeds}

    def run(values):
        other = system.bind(values)
        near = {q.label: start[q.label] for q in free.coordinates if q.label not in keep}
        return ap.simulate(other, other.consistent(keep, near), until=until, points=11)

    found = motion.sensitivities(by)
    assert name != "spherical-pendulum" or motion.info["switches"]
    h = 2e-4 * system.values[by]
    for q in (s.label for s in free.coordinates):
        close(found[q].sel(by=by), differences(run, by, system.values[by], h, lambda r, q=q: r[q].values), 1e-7)


def test_slopes_by_quasi_velocities_are_those_of_whole_runs():
    model, letters = ap.library.rolling_disk(), ap.speeds("w1 w2 w3")
    disk = model.bodies[0]
    omega = disk.frame.parent.components(disk.angular_velocity)
    system = ap.compile(ap.derive(model, ap.GibbsAppell(speeds=dict(zip(letters, omega, strict=True))))).bind()
    start = {"lean": 0.2, "w1": 0.1, "w2": 5.0, "w3": 0.4}
    motion = ap.simulate(system, start, until=3.0, points=13)
    found = motion.sensitivities(["w2", "r"], ["x", "w3", "lean"])

    def run(values):
        numbers = {n: v for n, v in values.items() if n == "r"}
        return ap.simulate(
            system.bind(numbers), {**start, **values, **numbers} if not numbers else start, 3.0, points=13
        )

    for name, label, at in (("w2", "w2.start", 5.0), ("r", "r", system.values["r"])):
        for q in ("x", "w3", "lean"):
            close(found[q].sel(by=label), differences(run, name, at, 2e-4 * at, lambda r, q=q: r[q].values), 1e-8)


@pytest.mark.parametrize("rate", [None, 10.0])
def test_inputs_by_functions_of_time_are_the_same_for_all(rate):
    F = ap.inputs("F", "N")
    system = system_of(x, [ap.Particle("cart", m, ground.point(x, 0))], [ap.Generalized({x: F}, "drive")])
    motion = ap.simulate(system, until=1.0, inputs={F: lambda t: np.cos(3 * t)}, rate=rate, points=11)
    close(motion.sensitivities(m)["x"].sel(by="m"), -motion["x"] / 1.3, 1e-11)
    with pytest.raises(ap.AppellError, match=r"Python functions give .* so 'F' is not one number"):
        motion.sensitivities(F)
    feedback = ap.simulate(system, {x: 1.0}, until=1.0, control=lambda t, state: -state[x], rate=rate)
    with pytest.raises(ap.AppellError, match=r"give the feedback as formulas, inputs=\{tau: -k \* angle\}"):
        feedback.sensitivities(m)


def test_inputs_that_are_held_and_feedback_by_formulas():
    F = ap.inputs("F", "N")
    model = system_of(x, [ap.Particle("cart", m, ground.point(x, 0))], [ap.Generalized({x: F}, "drive")]).model
    system = ap.compile(ap.derive(model.with_parameters(k))).bind({m: 1.3, k: 4.0})
    held = ap.simulate(system, until=1.0, inputs={F: 2.0}, points=11)
    close(held.sensitivities(F)["x"].sel(by="F"), held.times**2 / (2 * 1.3), 1e-12)
    closed = ap.simulate(system, {x: 1.0}, until=2.0, inputs={F: -k * x}, points=11)
    w = np.sqrt(4 / 1.3)
    found = closed.sensitivities([k, x], [x, F, x.rate.rate])
    close(found["x"].sel(by="k"), -np.sin(w * closed.times) * closed.times * w / 8, 1e-11)
    close(found["F"].sel(by="k"), -closed["x"] - 4 * found["x"].sel(by="k"), 1e-11)
    close(found["x.rate.rate"].sel(by="x.start"), -(w**2) * np.cos(w * closed.times), 1e-11)
    with pytest.raises(ap.AppellError, match="'F' is given by a formula; vary the parameters in it"):
        closed.sensitivities(F)


@pytest.mark.parametrize("formulation", [None, ap.Multipliers()])
def test_held_inputs_of_a_constrained_system(formulation):
    """No row contains an input: a pendulum in the plane has the slopes of one in its angle."""
    F, angle = ap.inputs("F", "N"), ap.coordinates("angle")
    weight, held = ap.Gravity(-g * ground.y), {"until": 2.0, "inputs": {F: 2.0}, "points": 11}
    rod = ap.Holonomic(x**2 + y**2 - l**2, "rod")
    bobs = [ap.Particle("bob", m, ground.point(x, y)), ap.Particle("bob", m, ground.pin(angle).point(0, -l))]
    parted, turned = (
        system_of(q, [bob], [weight, ap.Force(F * ground.x, bob)], rows, how)
        for q, bob, rows, how in zip(((x, y), angle), bobs, ([rod], []), (formulation, None), strict=True)
    )
    found = ap.simulate(parted, {x: 0.0, y: -0.9}, **held).sensitivities([F, m])
    wanted = ap.simulate(turned, **held).sensitivities([F, m], [l * sp.sin(angle), -l * sp.cos(angle)])
    for q, formula in zip("xy", wanted.data_vars, strict=False):
        close(found[q].values, wanted[formula].values, 1e-9)


@pytest.mark.parametrize("method", ["cvodes", "Radau"])
def test_stiff_motions_have_slopes_as_well(method):
    current = ap.states("current", "A")
    forces = [ap.Generalized({x: current}, "motor")]
    rates = {current: 1e4 * (k * sp.cos(t) - current)}
    system = system_of(x, [ap.Particle("cart", m, ground.point(x, 0))], forces, states=rates)
    motion = ap.simulate(system, {current: 2.0}, until=1.0, method=method, points=11)
    found = motion.sensitivities([k, current, m], [current, x])
    slow = (1e8 * np.cos(motion.times) + 1e4 * np.sin(motion.times)) / (1e8 + 1)  # of i' = 1e4 (k cos t - i)
    fast = np.exp(-1e4 * motion.times)
    close(found["current"].sel(by="k"), slow - 1e8 / (1e8 + 1) * fast, 1e-8)
    close(found["current"].sel(by="current.start"), fast, 1e-8)
    close(found["x"].sel(by="m"), -motion["x"] / 1.3, 1e-7)


def test_the_slopes_of_a_period_have_the_determinant_of_liouville():
    """Of a pendulum on a pivot that shakes: the multipliers of Floquet, whose product damping alone decides."""
    angle = ap.coordinates("angle", "rad")
    pivot = ground.at((0, sp.Rational(1, 20) * sp.cos(30 * t)))
    bob = ap.Particle("bob", m, pivot.pin(angle).point(0, l))
    forces = [ap.Gravity(-g * ground.y), ap.Generalized({angle: -c * angle.rate}, "damping")]
    system = system_of(angle, [bob], forces)
    period = 2 * np.pi / 30
    motion = ap.simulate(system, {angle: 0.0}, until=period, points=2)
    found = motion.sensitivities([angle, angle.rate], [angle, angle.rate]).isel(t=-1)
    monodromy = np.array([found["angle"], found["angle.rate"]])
    assert np.linalg.det(monodromy) == pytest.approx(np.exp(-0.3 / (1.3 * 0.9**2) * period), abs=1e-11)


def test_what_is_free_at_the_start_is_told():
    system = ap.compile(ap.derive(ap.library.four_bar(), ap.GibbsAppell(dependent=["q1", "q3"]))).bind()
    motion = ap.simulate(system, until=0.2, points=3)
    for name in ("q1", "q1.rate"):
        with pytest.raises(ap.AppellError, match=f"'{name}' follows from others at the start; free are q2, q2.rate"):
            motion.sensitivities(name)


@pytest.mark.parametrize(
    ("by", "of", "words"),
    [
        ("lenght", None, "'lenght' is not a parameter, input or entry of the first state"),
        ([], None, "Name what is varied, each once"),
        (["g", "g"], None, "Name what is varied, each once"),
        (3, None, "give a letter, a name or a formula"),
        ("g", "angel", "'angel' is not a quantity of 'pendulum chain'"),
        ("g", t, "'t' is a name that a table of slopes needs for itself"),
    ],
)
def test_wrong_names_are_told(by, of, words):
    motion = ap.simulate(ap.compile(ap.derive(ap.library.pendulum_chain(1))).bind(), until=0.1)
    with pytest.raises(ap.AppellError, match=words):
        motion.sensitivities(by, of)


def test_a_motion_from_a_file_has_none(tmp_path):
    system = system_of(x, [ap.Particle("cart", m, ground.point(x, 0))], [ap.Generalized({x: -k * x}, "spring")])
    motion = ap.simulate(system, {x: 1.0}, until=1.0)
    with pytest.raises(ap.AppellError, match="simulate again for its sensitivities"):
        ap.load(motion.save(tmp_path / "motion.nc")).sensitivities(k)


def spring_and(event):
    """A cart on a spring, x = x0 cos wt, with an event, and w."""
    system = system_of(x, [ap.Particle("cart", m, ground.point(x, 0))], [ap.Generalized({x: -k * x}, "spring")])
    return ap.simulate(system, {x: 1.0}, until=2.0, events=[event]), np.sqrt(4 / 1.3)


@pytest.mark.heyoka
@pytest.mark.parametrize("depth", [1e-2, 1e-8])
def test_an_event_that_is_hardly_passed_has_its_steep_slope(depth):
    motion, w = spring_and(ap.Event(x + 1 - depth, direction=-1, name="low"))
    moment = motion.sensitivities(x)["event_time"].sel(by="x.start", event="low")
    exact = (depth - 1) / (w * np.sqrt(depth * (2 - depth)))
    assert float(moment) == pytest.approx(exact, rel=1e-15 / depth + 1e-11)


def test_an_event_that_comes_to_zero_without_a_rate_has_none():
    motion, _ = spring_and(ap.Event(x**3, direction=-1))
    with pytest.raises(ap.AppellError, match="an event is only touched, or its formula is flat there"):
        motion.sensitivities(x)


def test_nothing_is_said_of_what_is_behind_an_impulse():
    angle = ap.coordinates("angle", "rad")
    bob = ap.Particle("bob", m, ground.point(x, 0) + l * ground.pin(angle).x)
    corner = ap.Prescribed(x, sp.Max(0, t - 1))
    system = system_of((x, angle), [bob], [ap.Gravity(-g * ground.y)], [corner])
    motion = ap.simulate(system, {angle: 0.3}, until=2.0)
    with pytest.raises(ap.AppellError, match="velocities jump by an impulse, beyond which sensitivities are not known"):
        motion.sensitivities(angle)


def test_slopes_where_a_row_is_not_linear_in_the_velocities():
    """Appell and Hamel's row, c^2 z'^2 = x'^2 + y'^2: all rates are kept, and z' follows at the start."""
    z = ap.coordinates("z")
    row = ap.Nonholonomic(c**2 * z.rate**2 - x.rate**2 - y.rate**2, "cone")
    ball = ap.Particle("ball", m, ground.point(x, y, z))
    system = system_of((x, y, z), [ball], [ap.Gravity(-g * ground.z)], [row])

    def run(values):
        start = {x.rate: values.get("x.rate", 1.0), y.rate: 0.5}
        other = system.bind({c: values.get("c", 0.3)})
        return ap.simulate(other, other.consistent(keep=start, near={z.rate: -4.0}), until=0.2, points=3)

    found, entries = run({}).sensitivities([c, x.rate], of=["x", "z", "z.rate"]), ("x", "z", "z.rate")
    for label, name, at in (("c", "c", 0.3), ("x.rate.start", "x.rate", 1.0)):
        slopes = np.array([found[e].sel(by=label) for e in entries])
        close(slopes, differences(run, name, at, 1e-4, lambda motion: np.array([motion[e] for e in entries])), 1e-8)
