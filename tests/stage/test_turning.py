"""Angular velocities in place of the rates of quaternions."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from sympy import cos, sin

import appell as ap
from appell.errors import FormulationError
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.turning import ARM, AXES

VALUES = {"m": 1.3, "r": 0.4, "g": 9.81}


def placed(ground: ap.Frame, name: str):
    """A body of a mass of its own with seven coordinates, and its centre and frame."""
    place, turn = ap.coordinates(f"x{name} y{name} z{name}"), ap.coordinates(f"a{name} b{name} c{name} d{name}")
    m, r = ap.parameters("m r")
    center, frame = ground.point(*place), ground.rotate_quaternion(*turn)
    body = ap.RigidBody(f"body {name}", m, center, frame, (m * r**2, 1.2 * m * r**2, m * r**2 / 2))
    return (*place, *turn), body, center, frame


def rolling() -> ap.Model:
    """A ball with a heavy side on a plane."""
    x, y = ap.coordinates("x y")
    turn = ap.coordinates("a b c d")
    m, r, g = ap.parameters("m r g")
    ground = ap.Frame("ground")
    frame = ground.rotate_quaternion(*turn)
    contact = ground.point(x, y)
    center = contact + r * ground.z - r / 5 * frame.x
    ball = ap.RigidBody("ball", m, center, frame, (m * r**2 / 3, m * r**2 / 2, m * r**2 / 2))
    forces, rows = [ap.Gravity(-g * ground.z)], [ap.Rolling(ball, contact)]
    return ap.Model(ground, (x, y, *turn), [ball], forces, rows, name="ball", values=VALUES)


def linked(count: int, hinged: bool = False) -> ap.Model:
    """Bodies that hang on each other by ball joints, or by hinges about their own z axes."""
    ground, r, g = ap.Frame("ground"), *ap.parameters("r g")
    end, carrier = ground.point(0, 0, 0), ground
    letters, bodies, rows = [], [], []
    for k in range(count):
        own, body, center, frame = placed(ground, str(k))
        rows.append(ap.Holonomic(center - r * frame.x - end, name=f"joint {k}"))
        if hinged:
            rows.append(ap.Holonomic([frame.z.dot(carrier.x), frame.z.dot(carrier.y)], name=f"hinge {k}"))
        end, carrier = center + r * frame.x, frame
        letters += own
        bodies.append(body)
    return ap.Model(ground, letters, bodies, [ap.Gravity(-g * ground.y)], rows, name="linked", values=VALUES)


def on_a_rod() -> ap.Model:
    """A body at a distance from the origin: every rate of its centre is given by the row at some states only."""
    ground, r, g = ap.Frame("ground"), *ap.parameters("r g")
    letters, body, center, frame = placed(ground, "")
    corner = center - r * frame.z
    rod = ap.Holonomic(corner.dot(corner) - 4 * r**2, name="rod")
    return ap.Model(ground, letters, [body], [ap.Gravity(-g * ground.z)], [rod], name="rod", values=VALUES)


def started(system: ap.System) -> ap.State:
    """A lively start near the attitude of the ground."""
    names = [s.label for s in system.model.coordinates]
    rates = {f"{name}.rate": 0.7 - 0.3 * k for k, name in enumerate(names) if name[0] in "bcd"}
    near = {name: 1.0 if name[0] == "a" else 0.2 * k for k, name in enumerate(names)}
    return system.consistent({}, near={**near, **rates})


MODELS = {
    "rolling": rolling,
    "hanging": lambda: linked(1),
    "two hanging": lambda: linked(2),
    "hinged": lambda: linked(1, True),
    "two hinged": lambda: linked(2, True),
    "rod": on_a_rod,
}


@pytest.mark.parametrize("name", MODELS)
def test_fewer_operations_than_in_rates(name):
    model = MODELS[name]()
    assert ap.derive(model).formulation.angular in AXES
    assert ap.derive(model).operations < ap.derive(model, ap.GibbsAppell()).operations


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("name", MODELS)
def test_the_motion_is_that_of_multipliers(name, axes):
    model, ends = MODELS[name](), []
    for formulation in (ap.GibbsAppell(angular=axes), ap.Multipliers()):
        system = ap.compile(ap.derive(model, formulation)).bind()
        motion = ap.simulate(system, started(system), 2.0, method="dop853", rtol=1e-11, atol=1e-11)
        assert motion.outcome.ok
        ends.append([float(motion[q][-1]) for q in model.coordinates])
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-8)


@pytest.mark.parametrize("axes", AXES)
def test_the_basis_turns_velocities_into_rates(axes):
    mechanics = Mechanics(linked(2))
    x, turning = mechanics.variables, mechanics.turning(axes)
    t, q, z, p = (block[0] for block in x.scattered(1))
    v = np.random.default_rng(3).normal(size=q.size)
    formulas = x.lower.column([formula for _, formula in turning.formulas])
    s = np.array(function(x, formulas)(t, q, v, z, p)).ravel()
    for own in x.quaternions:
        s[own[0]] = q[own] @ v[own]  # the rate of the length, whose letter is never a speed
        s[own[1:]] /= ARM
    np.testing.assert_allclose(np.array(function(x, turning.basis)(t, q, v, z, p)) @ s, v, atol=1e-13)


def function(x, graph):
    return ca.Function("graph", [x.t, x.q, x.v, x.z, x.p], [ca.densify(graph)])


def test_a_row_whose_terms_all_vanish_is_kept():
    system = ap.compile(ap.derive(linked(1, True))).bind()
    assert ap.simulate(system, started(system), 2.0).check().ok


def test_a_body_that_turns_over_never_changes_its_speeds():
    system = ap.compile(ap.derive(linked(1))).bind()
    motion = ap.simulate(system, started(system), 20.0)
    assert motion.outcome.ok
    assert not motion.info["switches"]


def test_dependent_velocities_change_where_rows_want_it():
    system = ap.compile(ap.derive(on_a_rod())).bind()
    motion = ap.simulate(system, started(system), 6.0)
    assert motion.outcome.ok
    assert motion.info["switches"]
    assert motion.check().ok


def test_the_choice_of_axes_is_one_of_two_and_by_itself():
    with pytest.raises(FormulationError, match="'own', 'carrier', got 'body'"):
        ap.GibbsAppell(angular="body")
    with pytest.raises(FormulationError, match="only one"):
        ap.GibbsAppell(dependent=["x"], angular="own")


def odd(which: str) -> ap.Model:
    """Two bodies that hang on each other by a hook, with quaternions that are not one for each body and norm."""
    ground, t = ap.Frame("ground"), ap.t
    first, body, center, frame = placed(ground, "1")
    second, other, place, turned = placed(ground, "2")
    letters, bodies = [*first, *second], [body, other]
    rows = [ap.Holonomic(place + 0.3 * turned.x - center - 0.2 * frame.y), ap.Holonomic(frame.x.dot(turned.z))]
    a, b, c, d = first[3:]
    if which == "norm said again":
        rows.insert(0, ap.Holonomic([3 * (a**2 + b**2 + c**2 + d**2 - 1), sum(e**2 for e in second[3:]) - 1]))
    elif which == "prescribed":
        course = (cos(t / 9), 0.6 * sin(t / 9), 0.8 * sin(t / 9), 0)
        rows += [ap.Prescribed(e, given + 0 * t) for e, given in zip((a, b, c, d), course, strict=True)]
    elif which == "turned back":
        bodies.append(ap.RigidBody("back", 1, ground.origin, ground.rotate_quaternion(a, -b, -c, -d), (0.2, 0.1, 0.2)))
    elif which == "half shared":
        e, f = ap.coordinates("e f")
        bodies.append(ap.RigidBody("half", 1, ground.origin, ground.rotate_quaternion(a, b, e, f), (0.2, 0.1, 0.2)))
        letters += [e, f]
    elif which == "names alike":
        bodies = [
            ap.RigidBody(f"a{k}b", e.mass, e.center, e.frame, e.inertia) for k, e in zip("- ", bodies, strict=True)
        ]
    elif which == "in series":
        inner = ap.coordinates("i j k l")
        beyond = frame.rotate_quaternion(*inner)
        bodies.insert(0, ap.RigidBody("beyond", 1, center + 0.3 * beyond.x, beyond, (0.2, 0.1, 0.2)))
        letters += inner
    start = {a: 0.8, b: 0.4, c: 0.2, d: 0.4, second[3]: 1, "e": 0.4, "f": 0.2, "i": 1}
    known = {s.label for s in letters}
    start = {s: e for s, e in start.items() if str(s) in known}
    return ap.Model(
        ground, letters, bodies, [ap.Gravity(-9.81 * ground.z)], rows, values={"m": 1.3, "r": 0.4}, start=start
    )


ODD = ("norm said again", "prescribed", "turned back", "half shared", "names alike", "in series")


@pytest.mark.parametrize("which", ODD)
def test_quaternions_that_are_not_one_for_each_body_and_norm(which):
    model = odd(which)
    assert ap.derive(model).operations > 0
    found = ap.verify(model, *(ap.GibbsAppell(angular=axes) for axes in AXES), states=4)
    assert found.ok, found
    assert len(found.formulations) > len(ap.verify(model, states=4).formulations)


def test_no_two_speeds_have_one_name():
    for which in ODD:
        letters = [s for s, _ in Mechanics(odd(which)).turning("own").formulas]
        assert len({s.name for s in letters}) == len(letters)
    names = [s.name for s, _ in Mechanics(odd("in series")).turning("own").formulas]
    assert {"w_beyond_x", "w_body_1_x", "w_body_2_x"} <= {*names}  # the outer body has not the name of the inner turn


def test_a_model_without_quaternions_of_coordinates():
    ground, (x, y, angle) = ap.Frame("ground"), ap.coordinates("x y angle")
    frame = ground.rotate("z", angle)
    corner = ground.point(x, y) + 0.4 * frame.x
    body = ap.RigidBody("body", 1.0, ground.point(x, y), frame, (0, 0, 0.2))
    rod = ap.Holonomic(corner.dot(corner + 0.3 * frame.y + sin(x) * ground.y) - 1)
    model = ap.Model(ground, (x, y, angle), [body], [ap.Gravity(-9.81 * ground.y)], [rod], start={x: 1})
    found = ap.verify(model, *(ap.GibbsAppell(angular=axes) for axes in AXES), states=4)
    assert found.ok, found
    assert len(found.formulations) > len(ap.verify(model, states=4).formulations)


@pytest.mark.parametrize("axis", "xyz")
def test_an_angular_velocity_is_known_where_it_is_no_speed(axis):
    """Along a motion whose speeds change: as a quantity with its rate, in an event, in a law, in a sweep."""
    turn, ground, push = ap.coordinates("a b c d"), ap.Frame("ground"), ap.inputs("push")
    frame = ground.spherical(*turn)
    top = ap.RigidBody("top", 1.0, frame.point(0, 0, 0.3), frame, (0.2, 0.3, 0.1))
    level = ap.Holonomic(frame.x.dot(ground.z), "level")
    forces = [ap.Gravity(-9.81 * ground.z), ap.Torque(push * frame.z, top)]
    model = ap.Model(ground, turn, [top], forces, [level], values={push: 0.0})
    system = ap.compile(ap.derive(model, ap.GibbsAppell(angular="own"))).bind()
    start = system.consistent(near={"a": 0.9, "b": 0.2, "d": 0.1, "b.rate": 1.0, "d.rate": 1.0})
    w, formula = ap.speeds(f"w_top_{axis}"), frame.angular_velocity.dot(getattr(frame, axis))

    def run(**options):
        return ap.simulate(system, start, until=1.0, points=11, **options)

    motion = run()
    assert len(motion.info["switches"]) >= 2
    for one, other in ((w, formula), (w.rate, formula.diff(ap.t)), (w * turn[0].derivative(3), None)):
        other = formula * turn[0].derivative(3) if other is None else other
        np.testing.assert_allclose(motion[one], motion[other], rtol=0, atol=1e-9)
    middle = float(np.median(motion[w]))
    happened = [
        [o.t for o in run(events=[ap.Event(e - middle)]).occurrences if o.name == "event"] for e in (w, formula)
    ]
    assert happened[0] == pytest.approx(happened[1], abs=1e-9)
    assert happened[0]
    ends = [run(inputs={push: -e / 5}).states([1.0])[0] for e in (w, formula)]
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-9)
    swept = ap.sweep(system, {push: [0.0, 0.1]}, start=start, until=1.0, outputs={"w": w, "same": formula})
    np.testing.assert_allclose(swept["w"], swept["same"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("formulation", [None, ap.GibbsAppell(), ap.Recursive(), ap.Multipliers()])
def test_particles_that_a_quaternion_turns_are_a_rigid_body(formulation):
    places, masses = np.array([(1.0, 0.2, 0), (-0.3, 0.8, 0.5), (0.1, -0.4, 1.2)]), np.array([1.0, 2.0, 0.7])
    turn, ground = ap.coordinates("a b c d"), ap.Frame("ground")
    frame = ground.spherical(*turn)
    bobs = [ap.Particle(f"bob {k}", masses[k], frame.point(*places[k])) for k in range(3)]
    model = ap.Model(ground, turn, bobs, [ap.Gravity(-9.81 * ground.z)], start={"a": 1})
    system = ap.compile(ap.derive(model, formulation)).bind()
    state = system.consistent(near={"a": 0.8, "b": 0.5, "c": -0.3, "a.rate": 0.4, "b.rate": 0.7, "c.rate": -1.1})
    (s, *v), rate, acceleration = state.q, state.v, system.accelerations(state)

    def turning(e: np.ndarray) -> np.ndarray:
        """The vector of 2 q* e, along the axes of the frame."""
        return 2 * (s * e[1:] - e[0] * np.array(v) - np.cross(v, e[1:]))

    w, alpha = turning(rate), turning(acceleration)
    x, y, z = v
    down = np.array([2 * (x * z - s * y), 2 * (y * z + s * x), s * s - x * x - y * y + z * z])  # ground.z in its axes
    moved = np.cross(alpha, places) + np.cross(w, np.cross(w, places))
    moment = np.cross(places, masses[:, None] * (moved + 9.81 * down)).sum(axis=0)
    np.testing.assert_allclose(moment, 0, rtol=0, atol=1e-12)
    assert abs(state.q @ acceleration + rate @ rate) < 1e-13
