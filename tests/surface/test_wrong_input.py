"""What a tired user types in the wrong place is refused in words: a text for a number, a model for a table, None.

Each entry is a call with one argument left open; no absurd thing in that place may give a fault from inside, or pass.
"""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell import control, friction, higher_order, planning, shapes, view

theta, phi, x, y = ap.coordinates("theta phi x y")
m, tau, w = ap.parameters("m"), ap.inputs("tau"), ap.speeds("w")
ground = ap.Frame("ground")
arm = ground.rotate("z", theta)
rod = ap.RigidBody("rod", m, arm.x, arm, (0, 0, 1))
pendulum = ap.Model(
    ground,
    [theta],
    [rod],
    [ap.Gravity(-9.81 * ground.y), ap.Generalized({theta: tau})],
    name="pendulum",
    values={m: 1.0, tau: 0.0},
    start={theta: 0.3},
)
system = ap.compile(ap.derive(pendulum)).bind()
motion = ap.simulate(system, until=0.1, points=3, progress=False)
rest = ap.equilibrium(pendulum, {theta: 0.0})
lin = ap.linearize(rest)
feedback = control.lqr(lin)
link = ap.Joint(mass=1, center=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
chain = ap.Chain([link])
dynamics = higher_order.Dynamics(chain)
path = higher_order.polynomial([0], [1], 1.0)
box = shapes.Box(1, 1, 1, mass=1).distribution
point = ground.point(x, y)

TEXT, NOTHING, NAN = "a", None, float("nan")
THINGS = (pendulum, motion, ground.x, len, object())

NUMBERS = {
    "motion.at": motion.at,
    "motion.states": motion.states,
    "motion.inputs_at": motion.inputs_at,
    "system.rhs": lambda t: system.rhs("now" if t is None else t, np.zeros(2)),
    "system.rhs of a list": lambda t: system.rhs(t, [0.0, 0.0]),
    "system.jacobian": lambda t: system.jacobian(t, np.zeros(2)),
    "system.mass_matrix": lambda t: system.mass_matrix(t, np.zeros(2)),
    "system.from_x": lambda t: system.from_x(t, np.zeros(2)),
    "state +": system.state().__add__,
    "feedback(t)": lambda t: feedback(t, system.state()),
    "galerkin": lambda until: ap.galerkin(system, until=until or "now", points=3),
    "integral principle": lambda rtol: ap.integral_principle(system, motion, rtol=rtol or "small"),
    "Shulgin's drift": lambda drift: ap.Shulgin(drift=drift),
    "slowed": path.slowed,
    "peaks": path.peaks,
    "an order of a profile": lambda order: higher_order.Profile(dynamics, path).at(0.5, order),
    "a duration": lambda duration: higher_order.polynomial([0], [1], duration),
    "an order of a chain": chain.series,
    "an order of a robot": dynamics.operations,
    "catalan": higher_order.catalan,
    "unified": lambda m: higher_order.unified(1, m),
    "identities": lambda states: higher_order.verify(chain, 2, states=states),
    "roots": view.roots,
    "structural roots": lambda count: view.roots([-1.0, 0.0], count),
    "a root locus": lambda values: view.root_locus(lambda p: [[p]], values),
    "structural roots of a locus": lambda count: view.root_locus(lambda p: [[p]], [1.0], structural=count),
    "a stability map": lambda values: view.stability_map(lambda a, b: [[a - b]], ("a", values), ("b", [1.0])),
    "Bode's A": lambda A: view.bode(A, [[1.0]], [[1.0]]),
    "Bode's D": lambda D: view.bode(lin, D=D if D is not None else "zero"),
    "Bode's frequencies": lambda omega: view.bode(lin, frequencies=omega if omega is not None else "all"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_no_number_is_refused(name):
    for absurd in (TEXT, NOTHING, [TEXT], [NOTHING], {TEXT: TEXT}, theta, sp.Symbol("theta"), *THINGS):
        with pytest.raises(ap.AppellError):
            NUMBERS[name](absurd)


BY_NAME = {
    "generalized forces": lambda given: ap.Generalized(given or "none"),
    "outputs of a run": lambda given: ap.simulate(system, until=0.1, outputs=given),
    "extra states": lambda given: pendulum.add(ap.Potential(theta), states=given),
    "values of a drawing": lambda given: pendulum.draw(values=given),
    "the start of a drawing": lambda given: pendulum.draw(start=given),
    "values of a model": lambda given: ap.Model(ground, [theta], [rod], values=given),
    "values of a chain": lambda given: chain.numbers(given),
    "values of a robot": lambda given: higher_order.Dynamics(chain, values=given),
    "values of a comparison": lambda given: ap.verify(pendulum, values=given, states=1),
    "values of a body": box.principal,
    "bounds of a trajectory": path.within,
    "guesses of speeds": lambda given: ap.QuasiAccelerations({w: theta.rate}, {w.rate: theta.rate.rate}, given),
    "options of the library": lambda given: ap.library.model("pendulum-chain", given),
    "colours": lambda given: view.Look(colors=given),
    "shapes": lambda given: view.Look(shapes=given),
    "work and precision": view.work_precision,
}


@pytest.mark.parametrize("name", BY_NAME)
def test_what_is_not_given_by_name_is_refused(name):
    for absurd in (TEXT, 3, NAN, [TEXT], theta, *THINGS):
        with pytest.raises(ap.AppellError):
            BY_NAME[name](absurd)


OF_A_KIND = {
    "the shape of a body": lambda given: ap.RigidBody("b", m, point, arm, (1, 1, 1), shape=given),
    "the look of a model": lambda given: ap.Model(ground, [theta], [rod], look=given),
    "the frame of a constraint": lambda given: ap.Holonomic(theta - phi, frame=given),
    "the frame of a task": lambda given: planning.path_speed(point, 1.0, frame=given),
    "the axes of a task": lambda given: planning.follow(point, ground.point(1, 1), axes=given),
    "directions of rolling": lambda given: ap.Rolling(rod, point, along=given),
    "more coordinates": lambda given: pendulum.add(coordinates=given),
    "dependent coordinates": lambda given: ap.derive(ap.library.knife_edge(), ap.Voronets(dependent=given)),
    "dependent coordinates of a linearisation": lambda given: ap.linearize(rest, dependent=given),
    "the point of a certificate": lambda given: ap.stability(lin, given),
    "the system of a file": lambda given: ap.load("no.nc", given),
    "the equations of a feedback": feedback.close,
    "the model of a friction": friction.Viscous(theta.rate, 0.1).on,
    "the motor of a gear": lambda given: friction.gear(given, theta, 10),
    "limits of a robot": planning.Limits.of,
    "coordinates of a reference": lambda given: control.Reference.of({theta: ap.t}, given),
    "a feedforward": lambda given: control.PID(1).loop("e", theta, feedforward=[given]),
    "the constant of a motor": lambda given: control.Motor(1, 1, back_emf=[given]),
    "the function of a root locus": lambda given: view.root_locus(given, [1.0]),
    "a motion over time": lambda given: view.over_time(given, []),
    "the upward direction": lambda given: view.Look(up=given),
    "further results of a report": lambda given: ap.report(motion, also=given),
    "joints of rows": lambda given: ap.Chain.from_dh([(0, 0, 1, 0)], [given]),
    "a system for the integral principle": lambda given: ap.integral_principle([given], motion),
    "the tests of the integral principle": lambda given: ap.integral_principle(system, motion, given),
    "an inertia tensor": lambda given: shapes.MassDistribution.of(1, (0, 0, 0), given),
    "what is measured": lambda given: lin.output_matrix([given if given != 3.5 else None]),
    "the code of a system": ap.System,
    "links of a chain": lambda given: ap.library.pendulum_chain(links=given),
    "stages of a rocket": lambda given: ap.library.rocket(stages=given),
    "the payload of a rocket": lambda given: ap.library.rocket(payload=given if given != 3.5 else None),
    "the angle of an arm": lambda given: ap.library.three_link(angle=given if given != 3.5 else None),
    "the friction of an arm": lambda given: ap.library.three_link(friction=given),
    "the order of an arm": lambda given: ap.library.curvature_arm(order=given),
    "what a model is about": ap.library.about,
    "vertices": lambda given: shapes.Triangle(given, mass=1),
}


@pytest.mark.parametrize("name", OF_A_KIND)
def test_what_is_of_another_kind_is_refused(name):
    for absurd in ("nonsense", 3.5, NAN, object(), system):
        with pytest.raises(ap.AppellError):
            OF_A_KIND[name](absurd)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: motion.at("x"), "The times at which a motion is asked for must be numbers, got 'x'."),
        (lambda: motion.at([0.0, 0.1]), r"at takes one time, got 2; motion.states\(times\) takes several."),
        (lambda: view.roots("a"), "Roots must be finite numbers, got 'a'."),
        (lambda: ap.Holonomic([]), "The constraint 'holonomic' is an empty list and forbids nothing."),
        (lambda: ground.point(NAN, 0), "must be finite, got nan"),
        (lambda: ap.Spring(ground.point(0, 0), point, sp.oo), "must be finite, got oo"),
        (lambda: ap.Event(theta, True), r"-1, 0 or \+1, got True; to stop, stop=True"),
        (lambda: ap.derive(pendulum).latex("pendulum.tex"), "simplify= is True, False or left out, got 'pendulum.tex'"),
        (
            lambda: ap.Model(ground, [theta], [rod], [ap.Gravity(ground.y, -m)]),
            "The name of a force is a text, got -m in Gravity",
        ),
        (lambda: ap.Model(ground, [x], [ap.Particle(m, 1, point)]), "The name of a body is a text, got m in Particle"),
        (lambda: ap.Model(ground, [theta], [rod], [], [ap.Holonomic(theta, 3)]), "The name of a constraint is a text"),
        (lambda: ap.stability(feedback), "which has a certificate already: write feedback.certificate."),
        (lambda: ap.library.about("rolling disc"), "'rolling disc' is not a model of the library. Did you mean"),
        (lambda: control.SlotineLi(pendulum, [], 1, 1, 1), "nothing to learn"),
        (lambda: ap.coordinates("x y", "m", "place; height; width"), "2 names but 3 descriptions"),
        (lambda: ap.coordinates("x", "m", 3), "The words of coordinates are one text"),
    ],
)
def test_a_refusal_says_what_was_got_and_what_is_needed(call, words):
    with pytest.raises(ap.AppellError, match=words):
        call()
