"""Slips of every day: a thing of another kind than is needed is named, with what to type instead."""

import numpy as np
import pytest

import appell as ap
from appell.errors import FormulationError, ModelError

x, y, theta = ap.coordinates("x y theta")
m, height = ap.parameters("m height")
ground = ap.Frame("ground")
point = ground.point(x, y)
bob = ap.Particle("bob", m, point)
disk = ap.RigidBody("disk", 1, point, ground.rotate("z", theta), (1, 1, 1))


def model(**changes):
    return ap.Model(**({"ground": ground, "coordinates": (x, y), "bodies": [bob], "name": "thing"} | changes))


@pytest.fixture(scope="module")
def system():
    return ap.compile(ap.derive(model()))


SLIPS = {
    "a mass of none": (lambda: ap.Particle("bob", None, point), "mass of 'bob' must be a number or a formula"),
    "a vector for a mass": (lambda: ap.Particle("bob", ground.x, point), r"got ground.x"),
    "one body": (lambda: model(bodies=bob), r"bodies=\[...\] around the Particle"),
    "one force": (lambda: model(forces=ap.Gravity(-9.81 * ground.y)), r"forces=\[...\] around the Gravity"),
    "values in order": (lambda: model(values=[1.0]), r"given by name, \{name: 1.0\}; got \[1.0\]"),
    "text for a row": (lambda: ap.Holonomic("x**2 + y**2 - 1"), r"formula in the model's symbols, got 'x\*\*2"),
    "a body for a point": (lambda: ap.Spring(ground.point(0, 0), bob, 1, 1), "must be a point such as bob.center"),
    "a body before its torque": (lambda: ap.Torque(disk, ground.z), r"vector such as 3\*ground.x, got the body 'disk'"),
    "numbers for parameters": (lambda: model().with_parameters({height: 1.0}), r"system.bind\(\{H: 1.0\}\)"),
    "components of a letter": (lambda: ground.components(x), r"A vector such as 3\*ground.x is needed here, got x"),
    "a vector times a letter": (lambda: point.dot(x), "is needed here, got x"),
    "a vector by a vector": (lambda: point / ground.x, r"use a.dot\(b\)"),
    "a derivative from no frame": (lambda: point.dt("ground"), r"v.dt\(ground\); got 'ground'"),
    "a place of one number": (lambda: ground.pin(theta, at=3), "A place needs two or three components"),
    "a contact in numbers": (lambda: ap.Rolling(disk, (0, 0)), "the contact must be a point"),
    "one direction": (lambda: ap.Rolling(disk, point, along=ground.y), "along= is a list of directions"),
    "velocity at a number": (lambda: disk.velocity_at(3), "A place on 'disk' must be a point such as"),
    "names in a list": (lambda: ap.coordinates(["x", "y"]), 'one text such as "a b"'),
    "a vector for a rate": (lambda: ap.Stream(bob, ground.x, rate=ground.x), "The rate of the stream 'stream' must be"),
    "a stream at numbers": (lambda: ap.Stream(disk, ground.x, -1, at=(1, 2)), "at= of the stream 'stream' is a point"),
    "a source in words": (lambda: ap.Stream(disk, ground.x, -1, source="tank"), r"frame.point\(a, b\), got 'tank'"),
    "a vector that drains": (lambda: ap.drained(ground.x, x), "The rate of what drains must be a number or a formula"),
    "a vector along a coordinate": (lambda: ap.Generalized({x: ground.x}), "The force along x must be"),
    "a vector for an energy": (lambda: ap.Potential(ground.x), "The energy of 'potential' must be"),
    "a stiffness in words": (
        lambda: ap.Spring(point, ground.point(0, 0), "stiff"),
        "stiffness of .spring. must be",
    ),
    "a vector that damps": (lambda: ap.Damper(point, ground.x, ground.x), "The coefficient of 'damper' must be"),
    "a vector for a moment": (
        lambda: ap.RigidBody("disk", 1, point, ground, (1, 1, ground.x)),
        "The inertia of 'disk' must be",
    ),
    "a vector for a state": (lambda: model(states={ap.states("z"): ground.x}), "The rate of z must be"),
    "a vector for a speed": (
        lambda: ap.derive(model(), ap.GibbsAppell(speeds={ap.speeds("u"): point, ap.speeds("v"): x.rate})),
        r"The speed u must be a number or a formula in the model's symbols, got x\*ground.x",
    ),
    "nothing to derive": (lambda: ap.derive(None), "A Model is needed here, got None"),
}


@pytest.mark.parametrize("case", SLIPS, ids=lambda name: name.replace(" ", "-"))
def test_slips_are_named(case):
    slip, words = SLIPS[case]
    with pytest.raises(ModelError, match=words):
        slip()


def test_starts_and_values_are_given_by_name(system):
    with pytest.raises(ModelError, match=r"Starting values are given by name, \{name: 1.0\}; got \[1.0, 0.0\]"):
        ap.simulate(system.bind({m: 1.0}), [1.0, 0.0], until=1.0)
    with pytest.raises(ModelError, match="given by name"):
        system.bind([1.0])


@pytest.mark.parametrize(
    ("home", "typo", "meant"), [(ap, "Rigidbody", "RigidBody"), (ap.library, "rolling_disc", "disk")]
)
def test_names_that_are_not_there_have_a_neighbour(home, typo, meant):
    with pytest.raises(AttributeError, match=f"{typo}'; did you mean '.*{meant}'"):
        getattr(home, typo)


def test_a_joint_may_be_at_a_point():
    crank = ground.pin(theta)
    for joint in (crank.pin, crank.slide):
        components = joint(x, at=(2, 1, 0)).point(1, 0, 0) - joint(x, at=crank.point(2, 1)).point(1, 0, 0)
        assert ground.components(components) == (0, 0, 0)
    assert ground.components(crank.planar(x, y, theta, at=ground.point(1, 2)).origin) == ground.components(
        ground.point(1, 2) + x * crank.x + y * crank.y
    )


def test_dependent_coordinates_by_name():
    sleigh = ap.library.chaplygin_sleigh()
    assert [str(q) for q in ap.derive(sleigh, ap.GibbsAppell(dependent="x")).dependent] == ["x"]
    assert [str(q) for q in ap.derive(sleigh, ap.Voronets(dependent=["y"])).dependent] == ["y"]
    with pytest.raises(FormulationError, match="z cannot be dependent: it is not a coordinate"):
        ap.derive(sleigh, ap.GibbsAppell(dependent=["z"]))


def test_a_coordinate_without_inertia_is_named():
    idle = model(coordinates=(x, y, theta))
    motion = ap.simulate(ap.compile(ap.derive(idle)).bind({m: 1.0}), {x: 1.0}, until=1.0)
    assert motion.outcome is ap.Outcome.SINGULAR
    assert "theta' has no inertia there" in motion.detail
    assert "theta has no inertia" in str(ap.verify(idle, states=2))
    assert np.isfinite(motion.times).all()
