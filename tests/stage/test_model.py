"""A model is checked when it is built: every mistake is named, with what to type instead."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import CompileError, FormulationError, ModelError, UndeclaredError

x, y, theta = ap.coordinates("x y theta")
m, k, g = ap.parameters("m k g")
tank = ap.states("tank")
u = ap.speeds("u")
w = ap.inputs("w")
ground = ap.Frame("ground")
disk = ap.RigidBody("disk", 1, ground.point(x, y), ground.rotate("z", theta), (1, 1, 1))


def particle(mass=m, center=None, name="bob"):
    return ap.Particle(name, mass, ground.point(x, y) if center is None else center)


def model(**changes):
    given = {"ground": ground, "coordinates": (x, y), "bodies": [particle()]}
    return ap.Model(**(given | changes))


def test_a_model_lists_its_letters_in_a_fixed_order():
    built = model(forces=[ap.Gravity(-g * ground.y), ap.Generalized({x: w - k * x * tank})], states={tank: -w})
    assert [s.name for s in built.parameters] == ["g", "k", "m"]
    assert [s.name for s in built.inputs] == ["w"]
    assert repr(built) == (
        "Model 'model': 2 coordinates, 1 body, 2 forces, 0 constraint rows, 1 extra state, inputs w, parameters g k m"
    )
    assert built.degrees_of_freedom == 2


def test_rows_that_follow_from_others_take_no_freedom():
    assert ap.library.bricard().degrees_of_freedom == 1
    tied = model(constraints=[ap.Holonomic(x - 2 * y, "tie"), ap.Nonholonomic(x.rate - 2 * y.rate, "the same")])
    assert tied.degrees_of_freedom == 1


def test_a_model_cannot_be_changed():
    built = model()
    with pytest.raises(AttributeError):
        built.name = "another"
    assert built.add(ap.Holonomic(x - y)) is not built
    assert len(built.rows) == 0


def test_add_keeps_what_there_is():
    built = model(forces=[ap.Gravity(-g * ground.y)], name="thing", values={m: 2.0, g: 9.81}, start={x: 1.0}, until=3.0)
    more = built.add(
        ap.Particle("second", m, ground.point(0, theta)),
        ap.Holonomic(x - y, "tie"),
        ap.Generalized({theta: -k * theta}),
        coordinates=[theta],
        states={tank: -tank},
    )
    assert [b.name for b in more.bodies] == ["bob", "second"]
    assert more.coordinates == (x, y, theta)
    assert [r.name for r in more.rows] == ["tie"]
    assert (more.name, more.until, dict(more.values), dict(more.start)) == (
        "thing",
        3.0,
        {"m": 2.0, "g": 9.81},
        {"x": 1.0},
    )
    assert list(more.states) == [tank]


def test_a_quaternion_brings_its_norm():
    attitude = ap.coordinates("e0 e1 e2 e3")
    frame = ground.rotate_quaternion(*attitude)
    body = ap.RigidBody("body", m, ground.point(0, 0), frame, (m, m, m))
    built = ap.Model(ground, attitude, [body])
    (row,) = built.rows
    assert row.name == "norm of (e0, e1, e2, e3)"
    assert row.order == 0
    assert len(built.add(ap.Gravity(-g * ground.z)).rows) == 1
    assert len(ap.Model(ground, attitude, [body], constraints=built.constraints).rows) == 1


def test_a_quaternion_brings_its_norm_whatever_it_turns():
    turn = ap.coordinates("e0 e1 e2 e3")
    frame = ground.rotate_quaternion(*turn)
    bobs = [ap.Particle(f"bob {k}", m, ground.point(x, y) + frame.vector(k, 1, 0)) for k in range(3)]
    other = ap.RigidBody("other", m, ground.point(x, y), ground.rotate("z", theta), (0, 0, m))
    table = ap.RigidBody("table", m, frame.origin, frame)
    for bodies, forces, constraints in (
        (bobs, [], []),
        ([other], [ap.Force(g * frame.x, other)], []),
        ([other], [ap.Torque(g * ground.z, other, frame)], []),
        ([other], [], [ap.Holonomic(other.center - frame.point(1, 0, 0))]),
        ([other], [], [ap.Rolling(other, ground.point(x, 0), on=table)]),
    ):
        built = ap.Model(ground, (x, y, theta, *turn), bodies, forces, constraints)
        assert [row.name for row in built.rows if row.name.startswith("norm")] == ["norm of (e0, e1, e2, e3)"]


def test_equal_names_of_forces_and_constraints_are_numbered():
    built = model(
        forces=[ap.Generalized({x: 1}), ap.Generalized({y: 1}), ap.Gravity(-g * ground.y)],
        constraints=[ap.Holonomic([x - y, x + y - 1])],
    )
    assert [f.name for f in built.forces] == ["generalized 1", "generalized 2", "gravity"]
    twice = model(constraints=[ap.Holonomic([x - y]), ap.Holonomic(x + y)])
    assert [r.name for r in twice.rows] == ["holonomic 1", "holonomic 2"]


def test_constraints_in_every_notation():
    assert ap.Holonomic(sp.Eq(x, y)).rows[0].expression == x - y
    loop = ap.Holonomic(x * ground.x + (y - 1) * ground.y, "loop")
    assert [(r.name, r.expression) for r in loop.rows] == [("loop.x", x), ("loop.y", y - 1)]
    turned = ground.rotate("z", theta)
    seen = ap.Holonomic(x * ground.x, "loop", frame=turned)
    assert [r.name for r in seen.rows] == ["loop.x", "loop.y"]
    assert ap.Prescribed(x, sp.sin(ap.t), "shaker").rows[0].expression == x - sp.sin(ap.t)
    assert ap.Nonholonomic(x.rate**2 + y.rate**2 - k).rows[0].order == 1


WRONG = {
    "a symbol of SymPy": (
        lambda: model(forces=[ap.Generalized({x: sp.Symbol("c") * x})]),
        UndeclaredError,
        r"In the force 'generalized': 'c' is not declared. .*c = appell.parameters\('c'\)",
    ),
    "a near miss": (
        lambda: model(forces=[ap.Generalized({x: sp.Symbol("thet")})], coordinates=(x, y, theta)),
        UndeclaredError,
        r"'thet' is not declared. Did you mean 'theta'\?",
    ),
    "SymPy's symbol of the same name": (
        lambda: model(forces=[ap.Generalized({x: -sp.Symbol("x")})]),
        UndeclaredError,
        r"'x' is not declared. A coordinate or state of that name was declared",
    ),
    "SymPy's t": (
        lambda: model(forces=[ap.Generalized({x: sp.Symbol("t")})]),
        UndeclaredError,
        "Time is appell.t, not a symbol made by SymPy",
    ),
    "a coordinate left out": (
        lambda: model(forces=[ap.Generalized({x: theta})]),
        UndeclaredError,
        "'theta' is not declared. Add it to the coordinates",
    ),
    "its rate": (lambda: model(forces=[ap.Generalized({x: theta.rate})]), UndeclaredError, "Add it to the coordinates"),
    "a state left out": (lambda: model(forces=[ap.Generalized({x: tank})]), UndeclaredError, "Add it to the states"),
    "a speed": (
        lambda: model(forces=[ap.Generalized({x: u})]),
        UndeclaredError,
        "Speeds are defined in the formulation and cannot stand in a model",
    ),
    "the rate of a speed": (lambda: model(forces=[ap.Generalized({x: u.rate})]), UndeclaredError, "Speeds are defined"),
    "in a mass": (lambda: model(bodies=[particle(sp.Symbol("M"))]), UndeclaredError, "'bob'.*'M' is not declared"),
    "in a position": (
        lambda: model(bodies=[particle(m, ground.point(x, sp.Symbol("h")))]),
        UndeclaredError,
        "'bob'.*'h' is not declared",
    ),
    "in a rotation": (
        lambda: model(bodies=[particle(m, ground.rotate("z", sp.Symbol("phi"), "arm").point(x, y))]),
        UndeclaredError,
        "In the rotation of 'arm': 'phi' is not declared",
    ),
    "in a constraint": (
        lambda: model(constraints=[ap.Holonomic(x - sp.Symbol("l"), "rod")]),
        UndeclaredError,
        "In the constraint 'rod': 'l' is not declared",
    ),
    "in the rate of a state": (
        lambda: model(states={tank: -sp.Symbol("f")}),
        UndeclaredError,
        "In the rate of 'tank': 'f' is not declared",
    ),
    "in gravity": (lambda: model(forces=[ap.Gravity(-sp.Symbol("g") * ground.y)]), UndeclaredError, "'gravity'"),
    "in a torque": (
        lambda: model(forces=[ap.Torque(sp.Symbol("T") * ground.z, ground.rotate("z", x))]),
        UndeclaredError,
        "'torque': 'T' is not declared",
    ),
    "in a damper": (
        lambda: model(forces=[ap.Damper(ground.point(0, 0), ground.point(x, y), sp.Symbol("c"))]),
        UndeclaredError,
        "'damper': 'c' is not declared",
    ),
    "a coordinate made by SymPy": (
        lambda: ap.Model(ground, sp.Function("q")(sp.Symbol("t")), [ap.Particle("bob", m, ground.point(x, y))]),
        ModelError,
        r"q\(t\) is not a coordinate; make it by appell.coordinates\('q'\)",
    ),
    "an unknown function": (
        lambda: model(forces=[ap.Generalized({x: sp.Function("f")(x)})]),
        UndeclaredError,
        r"SymPy knows f\(x\) by its name only",
    ),
    "a sum that stands as it was written": (
        lambda: model(forces=[ap.Generalized({x: sp.Sum(sp.Symbol("i") * x, (sp.Symbol("i"), 0, 3))})]),
        ModelError,
        r"SymPy has not worked out Sum\(.*\); write .doit\(\)",
    ),
    "an integral": (
        lambda: model(forces=[ap.Generalized({x: 2 * sp.Integral(sp.sin(x), x)})]),
        ModelError,
        r"SymPy has not worked out Integral\(sin\(x\), x\); write .doit\(\)",
    ),
    "a derivative": (
        lambda: model(forces=[ap.Generalized({x: sp.Derivative(sp.Function("f")(x), x)})]),
        UndeclaredError,
        r"write q.rate for velocities",
    ),
    "an infinite formula": (
        lambda: model(forces=[ap.Generalized({x: sp.oo})]),
        ModelError,
        "The force along x must be finite, got oo",
    ),
    "a NaN formula": (
        lambda: model(forces=[ap.Generalized({x: x * sp.nan})]),
        ModelError,
        "The force along x must be finite, got nan",
    ),
    "a formula that is infinite somewhere": (
        lambda: model(forces=[ap.Generalized({x: sp.Piecewise((sp.oo, x > 0), (1, True))})]),
        ModelError,
        "is not finite",
    ),
    "a force along no coordinate": (lambda: model(forces=[ap.Generalized({theta: 1})]), UndeclaredError, "'theta'"),
    "no coordinate": (
        lambda: model(coordinates=()),
        ModelError,
        r"at least one coordinate: coordinates=appell.coordinates",
    ),
    "no body": (lambda: model(bodies=[]), ModelError, "at least one body; add an appell.Particle or appell.RigidBody"),
    "a parameter as coordinate": (
        lambda: model(coordinates=(x, m)),
        ModelError,
        r"m is not a coordinate; make it by appell.coordinates\('m'\)",
    ),
    "a function of time as coordinate": (
        lambda: model(coordinates=(x, sp.Function("s")(sp.Symbol("t")))),
        ModelError,
        r"s\(t\) is not a coordinate; make it by appell.coordinates\('s'\)",
    ),
    "a coordinate as state": (
        lambda: model(states={theta: 1}),
        ModelError,
        r"theta is not an extra state; make it by appell.states\('theta'\)",
    ),
    "a coordinate twice": (lambda: model(coordinates=(x, y, x)), ModelError, "'x' occurs twice"),
    "a state called as a coordinate": (lambda: model(states={ap.states("x"): 1}), ModelError, "'x' occurs twice"),
    "a parameter called as a coordinate": (
        lambda: model(forces=[ap.Generalized({x: ap.parameters("y")})]),
        ModelError,
        "The name 'y' is used for two different things",
    ),
    "an input called as a parameter": (
        lambda: model(forces=[ap.Generalized({x: ap.inputs("m")})]),
        ModelError,
        "The name 'm' is used for two different things",
    ),
    "two bodies of one name": (
        lambda: model(bodies=[particle(), particle()]),
        ModelError,
        "Two bodies are called 'bob'",
    ),
    "a text as force": (
        lambda: model(forces=["gravity"]),
        ModelError,
        "'gravity' is not a force but a str; write appell.Force",
    ),
    "a force as constraint": (
        lambda: model(constraints=[ap.Gravity(-g * ground.y)]),
        ModelError,
        "is not a constraint",
    ),
    "a constraint as force": (lambda: model(forces=[ap.Holonomic(x)]), ModelError, "is not a force but a Holonomic"),
    "a turned ground": (lambda: model(ground=ground.rotate("z", theta)), ModelError, "begins with its inertial frame"),
    "nothing left to move": (
        lambda: model(constraints=[ap.Nonholonomic([x.rate - y.rate, y.rate], "stop")]),
        ModelError,
        r"2 velocity constraints on 2 coordinates leave nothing that can move: stop\[0\], stop\[1\]",
    ),
    "a value nobody asked for": (
        lambda: model(values={k: 1.0}),
        ModelError,
        "'k' is not a parameter or input of this model",
    ),
    "a misspelt value": (lambda: model(values={"mm": 1.0}), ModelError, r"Did you mean 'm'\?"),
    "an infinite value": (lambda: model(values={m: np.inf}), ModelError, "The value of 'm' must be a finite number"),
    "a NaN start": (lambda: model(start={x: np.nan}), ModelError, "The value of 'x' must be a finite number"),
    "a force at a point of a particle": (
        lambda: ap.Force(ground.x, ground.point(x, 1), body=particle()),
        ModelError,
        r"on the particle 'bob' it acts where that is: write Force\(vector, particle\)",
    ),
    "a particle without mass": (lambda: particle(0), ModelError, "The mass of the particle 'bob' is zero"),
    "a mass that cancels": (lambda: particle(m - m), ModelError, "The mass of the particle 'bob' is zero"),
    "a negative mass": (lambda: particle(-1.5), ModelError, "The mass of 'bob' must not be negative, got -1.5"),
    "an infinite mass": (lambda: particle(np.inf), ModelError, "The mass of 'bob' must be finite"),
    "a complex mass": (lambda: particle(sp.I), ModelError, "The mass of 'bob' must be a finite real number"),
    "a center that is no point": (
        lambda: particle(m, (1, 2)),
        ModelError,
        r"must be a point such as ground.point\(x, y\)",
    ),
    "a body of nothing": (
        lambda: ap.RigidBody("rod", 0, ground.point(x, y), ground),
        ModelError,
        "'rod' has neither mass nor inertia",
    ),
    "a frame that is none": (
        lambda: ap.RigidBody("rod", 1, ground.point(x, y), "ground"),
        ModelError,
        "The frame of 'rod' must be an appell.Frame, got 'ground'.",
    ),
    "no frame": (
        lambda: ap.RigidBody("rod", 1, ground.point(x, y)),
        ModelError,
        r"got None; what does not turn is an appell.Particle\(name, mass, center\)\.",
    ),
    "an inertia that is none": (
        lambda: ap.RigidBody("rod", 1, ground.point(x, y), ground, ap.shapes.Sphere(1, mass=1)),
        ModelError,
        "The inertia of 'rod' needs 3 moments",
    ),
    "a wrong inertia": (
        lambda: ap.RigidBody("rod", 1, ground.point(x, y), ground, (1, 2)),
        ModelError,
        "The inertia of 'rod' needs 3 moments",
    ),
    "a negative inertia": (
        lambda: ap.RigidBody("rod", 1, ground.point(x, y), ground, (1, -2, 1)),
        ModelError,
        "The moments of inertia of 'rod' must be finite and not negative, got -2",
    ),
    "a skew inertia": (
        lambda: ap.RigidBody("rod", 1, ground.point(x, y), ground, sp.Matrix(3, 3, range(9))),
        ModelError,
        "The inertia of 'rod' must be a symmetric 3 by 3 matrix",
    ),
    "a number as force": (lambda: ap.Force(3, particle()), ModelError, r"a Force must be a vector such as 3\*ground.x"),
    "a force at a frame": (lambda: ap.Force(ground.x, ground), ModelError, "acts at a point or on a body"),
    "a torque on a particle": (lambda: ap.Torque(ground.z, particle()), ModelError, "acts on a rigid body or a frame"),
    "gravity as a number": (lambda: ap.Gravity(-9.81), ModelError, r"must be a vector such as"),
    "a generalized force along a rate": (lambda: ap.Generalized({x.rate: 1}), ModelError, "belong to coordinates"),
    "velocities in Holonomic": (
        lambda: ap.Holonomic(x.rate),
        ModelError,
        "Use Nonholonomic for constraints on velocities",
    ),
    "no velocities in Nonholonomic": (
        lambda: ap.Nonholonomic(x - y),
        ModelError,
        "Use Holonomic for constraints on positions",
    ),
    "a motion in words": (lambda: ap.Prescribed(x, "sin(t)"), ModelError, "What 'prescribed' follows must be"),
    "near an acceleration without its name": (
        lambda: ap.Nonholonomic(x.rate.rate**2 - 1, near=1),
        ModelError,
        "near= of 'nonholonomic' is a formula by acceleration",
    ),
    "extra states without rates": (lambda: model(states=[tank]), ModelError, "given with their rates, states="),
    "an end that is no time": (lambda: model(until="soon"), ModelError, "'until' must be a finite number, got 'soon'"),
    "laws without their inputs": (lambda: ap.derive(model()).close([1]), ModelError, "Laws are given by input"),
    "no coordinate in Holonomic": (lambda: ap.Holonomic(m - 1), ModelError, "contains no coordinate"),
    "a Python function as a law": (
        lambda: ap.derive(model(forces=[ap.Generalized({x: w})])).close({w: abs}),
        ModelError,
        "The law of w must be a number or a formula",
    ),
    "a law with a gain of its own": (
        lambda: ap.derive(model(forces=[ap.Generalized({x: w})])).close({w: -k * x}),
        ModelError,
        r"k does not occur in the model, .* has no value here; add it by model.with_parameters\(k\)",
    ),
    "a Python function as an event": (
        lambda: ap.Event(lambda t, x: x[0]),
        ModelError,
        "The expression of an event must be",
    ),
    "a text as a reset": (lambda: ap.Event(x, reset={x: "1"}), ModelError, "The new value of 'x' at an event must be"),
    "a Python function that vanishes": (
        lambda: ap.Holonomic(abs),
        ModelError,
        "The expression of the constraint 'holonomic' must be a number or a formula",
    ),
    "an inequality": (lambda: ap.Holonomic(x > 0), ModelError, "or a formula in the model's symbols, got x > 0"),
    "two rows of one name": (
        lambda: model(constraints=[ap.Holonomic(ground.point(x, y), "a"), ap.Holonomic(x - y, "a.x")]),
        ModelError,
        "Two constraint rows are called 'a.x'",
    ),
    "the zero vector": (lambda: ap.Holonomic(0 * ground.x, "loop"), ModelError, "'loop' is the zero vector"),
    "a particle that rolls": (lambda: ap.Rolling(particle(), ground.point(x, y)), ModelError, "Only a RigidBody rolls"),
    "rolling on a frame": (
        lambda: ap.Rolling(
            ap.RigidBody("b", m, ground.point(x, 0), ground.pin(y), (m, m, m)),
            ground.point(x, 0),
            on=ground.rotate("z", ap.t),
        ),
        ModelError,
        "on= is the RigidBody it rolls on",
    ),
    "a contact that never slips": (
        lambda: ap.Rolling(ap.RigidBody("b", m, ground.point(1, 0), ground, (m, m, m)), ground.point(0, 0)),
        ModelError,
        "never slips by construction|is the zero vector",
    ),
    "a table outside the model moved by an extra state": (
        lambda: model(
            coordinates=(x, y, theta),
            bodies=[disk],
            constraints=[ap.Rolling(disk, disk.center, on=ap.RigidBody("table", 1, ground.point(tank), ground))],
            states={tank: 1},
        ),
        ModelError,
        "place of 'table', which is not among the bodies, depends on the extra state tank.*a Prescribed motion",
    ),
}


@pytest.mark.parametrize("case", WRONG, ids=lambda name: name.replace(" ", "-"))
def test_mistakes_are_named(case):
    wrong, error, words = WRONG[case]
    with pytest.raises(error, match=words):
        wrong()


def test_what_is_added_comes_one_by_one():
    with pytest.raises(ModelError, match=r"Got \[Gravity.*one by one, model\.add\(gravity, spring\)"):
        model().add([ap.Gravity(ground.y)])


LATER = {
    "a rate in a position": (
        lambda: model(bodies=[particle(m, ground.point(x, x.rate))]),
        ModelError,
        "the rate x' cannot stand in a position",
    ),
    "an input in a position": (
        lambda: model(bodies=[particle(m, ground.point(x, w))]),
        ModelError,
        "the input w cannot stand in a position",
    ),
    "a rate in a potential": (
        lambda: model(forces=[ap.Potential(x.rate**2)]),
        ModelError,
        "Use Generalized for forces that depend on velocities",
    ),
    "an input in a position row": (
        lambda: model(constraints=[ap.Holonomic(x - w, "tie")]),
        ModelError,
        "the constraint 'tie'",
    ),
    "an input in a velocity row": (
        lambda: model(constraints=[ap.Nonholonomic(x.rate - w, "tie")]),
        ModelError,
        "'tie' contains an input",
    ),
    "a function the graph has not": (
        lambda: model(forces=[ap.Generalized({x: sp.gamma(x)})]),
        CompileError,
        r"Cannot translate gamma in gamma\(x\)",
    ),
    "all coordinates fixed": (
        lambda: model(constraints=[ap.Holonomic(x - 1, "a"), ap.Holonomic(y - x, "b")]),
        FormulationError,
        r"over-constrained: its 2 independent constraint rows \(a, b\)",
    ),
}


@pytest.mark.parametrize("case", LATER, ids=lambda name: name.replace(" ", "-"))
def test_mistakes_that_show_when_the_equations_are_derived(case):
    wrong, error, words = LATER[case]
    built = wrong()
    with pytest.raises(error, match=words):
        ap.compile(ap.derive(built)).bind({"m": 1.0})


@pytest.mark.parametrize("where", ["body", "force"])
def test_a_second_ground(where):
    other = ap.Frame("other")
    changes = (
        {"bodies": [particle(m, other.point(x, y))]} if where == "body" else {"forces": [ap.Gravity(-g * other.y)]}
    )
    with pytest.raises(ModelError, match="two different grounds"):
        ap.compile(ap.derive(model(**changes)))


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (lambda x, z: -x.rate.rate / 10, r"In the force 'force': x'' is an acceleration; .* add it to a body"),
        (lambda x, z: z.rate, r"In the force 'force': z' is the rate of an extra state; write -2\*z instead of it"),
    ],
)
def test_rates_that_a_force_cannot_contain(force, message):
    x, z, ground = ap.coordinates("x"), ap.states("z"), ap.Frame("ground")
    body = ap.Particle("body", mass=1, center=ground.point(x, 0))
    with pytest.raises(ModelError, match=message):
        ap.Model(ground, (x,), [body], [ap.Force(force(x, z) * ground.x, body)], states={z: -2 * z})


def test_drives_stand_in_the_order_of_what_they_drive():
    q = ap.coordinates("q1:13")
    joints = [ap.Joint("z", at=(i, 0, 0), mass=1, inertia=(1, 1, 1), name=s.name) for i, s in enumerate(q)]
    chain = ap.Chain(joints)
    assert [w.name for w in chain.inputs] == [f"tau{i}" for i in range(1, 13)]
    push, k9, k10 = ap.inputs("a_push"), *ap.parameters("k9 k10")
    more = chain.add(
        ap.Generalized({q[3]: -k10 * q[3] - k9 * q[3].rate}), ap.Force(push * chain.ground.x, chain.tool_point)
    )
    assert [w.name for w in more.inputs] == [*(f"tau{i}" for i in range(1, 13)), "a_push"]
    assert [p.name for p in more.parameters] == ["k9", "k10"]


def test_a_parameter_that_a_model_has_may_be_added_again():
    one = model().with_parameters(k, m, k)
    assert [s.name for s in one.parameters if s in (k, m)] == ["m", "k"]
    assert len(one.parameters) == len(model().parameters) + 1
    with pytest.raises(ModelError, match="The name 'x' is used for two different things"):
        model().with_parameters(ap.parameters("x"))
