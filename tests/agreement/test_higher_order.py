"""Equations of higher order against the equations of motion: the same motion, driven by force rates."""

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from numpy.polynomial import chebyshev
from numpy.testing import assert_allclose

import appell as ap
from appell.errors import AppellError
from appell.higher_order import Dynamics, unified
from appell.kinematics.acceleration_energies import acceleration_energy
from appell.kinematics.mechanics import Mechanics
from appell.reporting.run_source import run_source


def last(motion, model):
    return np.array([float(motion[s][-1]) for q in model.coordinates for s in (q.label, q.rate.label)])


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", ["planar-2r", "rrp-arm"])
def test_a_robot_driven_by_force_rates(name, order):
    arm = ap.library.model(name)
    system = ap.compile(ap.derive(arm, ap.HigherOrder(order))).bind()
    start = {**arm.start, "tau1": 5.0, "tau2": -1.0}
    force = 5 + 1.5 * sp.sin(2 * ap.t)
    if order == 2:
        start["tau1.rate"] = 3.0
    rate = sp.diff(force, ap.t, order)
    motion = ap.simulate(system, start, until=0.7, inputs={"tau1" + ".rate" * order: rate})
    plain = ap.compile(ap.derive(arm)).bind({"tau2": -1.0})
    wanted = ap.simulate(plain, arm.start, until=0.7, inputs={"tau1": force})
    assert_allclose(last(motion, arm), last(wanted, arm), rtol=1e-11, atol=1e-11)
    assert_allclose(float(motion["tau1"][-1]), float(force.subs(ap.t, 0.7)), rtol=1e-12, atol=0)
    assert motion.check().ok


def test_jerks_are_those_of_forward_dynamics():
    arm = ap.library.rrp_arm()
    system = ap.compile(ap.derive(arm, ap.HigherOrder(2))).bind()
    rng = np.random.default_rng(4)
    tau = rng.normal(size=(3, 3))
    names = [f"tau{i}" for i in (1, 2, 3)]
    start = {**arm.start, **dict(zip(names, tau[:, 0], strict=True))}
    start |= {f"{n}.rate": x for n, x in zip(names, tau[:, 1], strict=True)}
    state = system.state(start)
    Q = Dynamics(arm).forward(state.q, state.v, tau)
    for k in (2, 3):
        found = [state[q.derivative(k)] for q in arm.coordinates]
        assert_allclose(found, Q[:, k], rtol=1e-12, atol=1e-12)
    rates = system.rhs(0.0, system.to_x(state), tau[:, 2])
    assert_allclose(rates[-3:], Q[:, 4], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    "name", ["slider-crank", "rolling-disk", "driven-pendulum", "spherical-pendulum", "leaking-disk"]
)
def test_constrained_models_move_as_before(name):
    """Also through a change of dependent velocities, which the spherical pendulum needs."""
    model = ap.library.model(name)
    until = min(model.until, 1.0)
    system = ap.compile(ap.derive(model, ap.HigherOrder())).bind()
    motion = ap.simulate(system, system.consistent(near=model.start), until=until)
    plain = ap.compile(ap.derive(model)).bind()
    wanted = ap.simulate(plain, plain.consistent(near=model.start), until=until)
    assert_allclose(last(motion, model), last(wanted, model), rtol=1e-9, atol=1e-9)
    assert motion.check().ok


def derivative(motion, formula, t, order):
    """By a polynomial of degree 27 through values around t."""
    x = np.cos(np.pi * (np.arange(28) + 0.5) / 28)
    series = chebyshev.chebfit(x, motion.evaluate(formula, t + 0.06 * x), 27)
    return chebyshev.chebval(0, chebyshev.chebder(series, order)) / 0.06**order


def energy_by_differences(motion, p, t):
    """König's sum over bodies, centres and axes differentiated numerically."""
    ground, total = motion.system.model.ground, 0.0
    for body in motion.system.model.bodies:
        axes = (body.frame.x, body.frame.y, body.frame.z) if isinstance(body, ap.RigidBody) else ()
        x, *turn = (
            np.array([derivative(motion, e, t, p + 1) for e in ground.components(vector)])
            for vector in (body.center, *axes)
        )
        total += motion.evaluate(body.mass, [t])[0] * x @ x / 2
        if axes:
            inertia = np.array([motion.evaluate(e, [t])[0] for e in body.inertia.flat()]).reshape(3, 3)
            planar = np.trace(inertia) / 2 * np.eye(3) - inertia
            total += np.sum(np.array(turn).T @ planar * np.array(turn).T) / 2
    return total


@pytest.mark.parametrize("name", ["rolling-disk", "rolling-ball", "four-bar", "slider-crank", "leaking-sleigh"])
def test_acceleration_energies_of_loops_and_wheels(name):
    """Along a motion, inputs as formulas of time, masses that change, quaternions."""
    model = ap.library.model(name)
    inputs = {w: 0.2 * sp.sin(3 * ap.t) for w in model.inputs}
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), until=1.0, inputs=inputs, at=[0.0, 0.5, 1.0])
    for p in range(4):
        found = float(motion.acceleration_energy(p)[1])
        assert_allclose(energy_by_differences(motion, p, 0.5), found, rtol=3 * 10.0 ** (2 * p - 11), atol=0)


def test_acceleration_energies_of_a_robot_along_a_motion():
    """As by its recursion, from q, q', ... of the motion; also where accelerations are states."""
    arm = ap.library.rrp_arm()
    start = {"q1": 0.1, "q2": 0.2, "q3": 0.3, "q1.rate": 1.0}
    force = 0.1 * sp.cos(ap.t)
    system = ap.compile(ap.derive(arm)).bind({"tau2": -8.0, "tau3": 6.0})
    motion = ap.simulate(system, start, until=0.5, inputs={"tau1": force}, points=2)
    by_rates = ap.compile(ap.derive(arm, ap.HigherOrder(1))).bind()
    start |= {"tau1": 0.1, "tau2": -8.0, "tau3": 6.0}
    other = ap.simulate(by_rates, start, until=0.5, inputs={"tau1.rate": sp.diff(force, ap.t)}, points=2)
    Q = np.array([[float(motion[q.derivative(k)][-1]) for k in range(5)] for q in arm.coordinates])
    for p in range(4):
        expected = Dynamics(arm).energy(Q, p)
        assert_allclose([float(m.acceleration_energy(p)[-1]) for m in (motion, other)], expected, rtol=1e-11, atol=0)


@pytest.mark.parametrize(("k", "m"), [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4)])
def test_the_unified_theorem_holds_for_what_moves_in_time_by_itself(k, m):
    """Bodies on a carrier that moves as given, x = x(q, t): the rates of the forces of inertia by Lagrange's T."""
    a, b, c = ap.coordinates("a b c")
    ground = ap.Frame("ground")
    carrier = ground.at(ground.point(sp.sin(ap.t), ap.t**2 / 3, 0)).rotate("x", ap.t / 2).rotate("y", a)
    arm = carrier.rotate("z", b)
    body = ap.RigidBody("body", 2, carrier.point(0.3, 0.1, sp.cos(ap.t) * c), arm, (0.3, 0.4, 0.5))
    point = ap.Particle("point", 1.3, arm.point(c, 0.2, a * b))
    mechanics = Mechanics(ap.Model(ground, (a, b, c), [body, point]))
    time, q = mechanics.variables.t, mechanics.variables.q
    jets = [q, *(ca.SX.sym(f"q{r}", 3) for r in range(1, m + k + 1))]

    def rate(e, times):
        for _ in range(times):
            e = ca.jtimes(e, ca.vertcat(time, *jets[:-1]), ca.vertcat(1, *jets[1:]))
        return e

    T = acceleration_energy(mechanics, jets[:2])
    forces = rate(rate(ca.gradient(T, jets[1]), 1) - ca.gradient(T, q), k - 1)
    total = sum(f * rate(acceleration_energy(mechanics, jets[: p + 2]), s) for p, s, f in unified(k, m))
    both = ca.Function("both", [time, *jets], [forces, ca.gradient(total, jets[m])])
    rng = np.random.default_rng(1)
    wanted, found = (np.array(e) for e in both(0.37, *(rng.normal(0, 0.5, 3) for _ in jets)))
    assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


def test_generic_and_recursive_derivations_agree():
    """The same arm as a plain model (one that has had a force added) and as a chain."""
    arm = ap.library.planar_2r()
    q1 = arm.coordinates[0]
    more = arm.add(ap.Generalized({q1: 0 * q1}, "nothing"))
    assert type(more) is ap.Model
    a, b = (ap.compile(ap.derive(m, ap.HigherOrder(2))).bind() for m in (arm, more))
    rng = np.random.default_rng(0)
    for _ in range(5):
        x, w = rng.normal(size=a.equations.x.numel()), rng.normal(size=2)
        assert_allclose(a.rhs(0.0, x, w), b.rhs(0.0, x, w), rtol=1e-11, atol=1e-10)


def test_what_is_refused():
    with pytest.raises(AppellError, match="nonlinear ones"):
        ap.derive(ap.library.appell_hamel(), ap.HigherOrder())
    with pytest.raises(AppellError, match="order of HigherOrder must be a whole number, 1 or more; got 0"):
        ap.HigherOrder(0)
    x = ap.coordinates("x")
    ground = ap.Frame("ground")
    body = ap.Particle("block", 1, ground.point(x, 0, 0))
    rub = ap.Generalized({x: -sp.sign(x.rate)}, "rub")
    with pytest.raises(AppellError, match=r"'rub' .* has a kink"):
        ap.derive(ap.Model(ground, (x,), [body], [rub]), ap.HigherOrder())
    with pytest.raises(AppellError, match="accelerations among its states, so that there is nothing to compare"):
        ap.verify(ap.library.slider_crank(), ap.HigherOrder())


def test_motions_are_drawn_and_told(tmp_path):
    """Their model has states that were inputs; who draws, tells or judges it knows that."""
    model = ap.library.slider_crank()
    system = ap.compile(ap.derive(model, ap.HigherOrder())).bind()
    motion = ap.simulate(system, {**model.start, "tau": 0.2}, until=0.3, inputs={"tau.rate": 0.2 * sp.cos(3 * ap.t)})
    assert "3 bodies" in repr(motion.animate(tmp_path / "crank.html"))
    again = {}
    exec(run_source(motion).removesuffix("print(motion.check())"), again)
    assert_allclose(again["motion"].states(0.3), motion.states(0.3), rtol=1e-12, atol=1e-12)
    for judge in (ap.equilibrium, ap.galerkin, lambda system: ap.integral_principle(system, motion)):
        with pytest.raises(AppellError, match=r"accelerations among .* derive the system by GibbsAppell\(\)"):
            judge(system)


def test_starts_follow_from_the_forces():
    x, F = ap.coordinates("x"), ap.inputs("F")
    ground = ap.Frame("ground")
    model = ap.Model(ground, (x,), [ap.Particle("block", 2, ground.point(x, 0, 0))], [ap.Generalized({x: F})])
    system = ap.compile(ap.derive(model, ap.HigherOrder())).bind({"F.rate": 6.0})
    with pytest.raises(AppellError, match="give F in the start"):
        system.state({})
    assert system.state({"F": 1.0})["x.rate.rate"] == 0.5
    with pytest.raises(AppellError, match=r"does not follow from the forces at the start, which give 0\.5"):
        system.state({"F": 1.0, "x.rate.rate": 0.6})
    motion = ap.simulate(system, {"F": 1.0}, until=1.0)
    assert_allclose(float(motion["x"][-1]), 0.75, rtol=1e-13, atol=0)  # t^2/4 + t^3/2
