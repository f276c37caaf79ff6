"""Gibbs-Appell's equations under long rows, by the chain rule over all velocities."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import appell as ap
from appell.formulation.projected import has_short_ways, is_long, projected
from appell.kinematics.chart import Chart
from appell.kinematics.mechanics import Mechanics


def spatial_four_bar() -> ap.Model:
    """Crank and rocker on hinges and a coupler on two balls, bodies of seven coordinates each, all joints as rows."""
    ground, bodies, frames = ap.Frame("ground"), [], []
    for name, mass, inertia in (
        ("crank", 1.0, (0.01, 0.02, 0.02)),
        ("coupler", 1.5, (0.01, 0.3, 0.3)),
        ("rocker", 1.2, (0.01, 0.1, 0.1)),
    ):
        letters = ap.coordinates(" ".join(f"{letter}_{name}" for letter in "xyzabcd"))
        frames.append(ground.free(*letters))
        bodies.append((letters, ap.RigidBody(name, mass, frames[-1].origin, frames[-1], inertia)))
    crank, coupler, rocker = frames
    joints = [
        ap.Holonomic(crank.point(-0.2, 0, 0), "pivot"),
        ap.Holonomic([crank.z.dot(ground.x), crank.z.dot(ground.y)], "hinge"),
        ap.Holonomic(crank.point(0.2, 0, 0) - coupler.point(-0.75, 0, 0), "ball"),
        ap.Holonomic(coupler.point(0.75, 0, 0) - rocker.point(0.5, 0, 0), "other ball"),
        ap.Holonomic(rocker.point(-0.5, 0, 0) - ground.point(1.2, 0.3, 0.2), "other pivot"),
        ap.Holonomic([rocker.z.dot(ground.y), rocker.z.dot(ground.z)], "other hinge"),
    ]
    near = {"a_crank": 0.96, "d_crank": -0.27, "a_coupler": 0.88, "b_coupler": 0.13, "c_coupler": 0.29}
    near |= {"d_coupler": 0.36, "a_rocker": 0.68, "b_rocker": 0.2, "c_rocker": 0.68, "d_rocker": 0.2}
    near |= {"x_crank": 0.17, "y_crank": -0.1, "x_coupler": 0.77, "y_coupler": 0.32, "z_coupler": -0.32}
    near |= {"x_rocker": 1.2, "y_rocker": 0.57, "z_rocker": -0.22}
    letters = [s for own, _ in bodies for s in own]
    weight = ap.Gravity(-9.81 * ground.z)
    return ap.Model(ground, letters, [body for _, body in bodies], [weight], joints, name="four-bar", start=near)


def leaking() -> ap.Model:
    """A slider crank whose slider loses mass, on a rod as long as its tank is full."""
    angle, other, place = ap.coordinates("angle other place")
    m, r = ap.parameters("m r")
    tank = ap.states("tank")
    ground = ap.Frame("ground")
    crank, rod = ground.rotate("z", angle), ground.rotate("z", other)
    wheel = ap.RigidBody("crank", 1.0, r / 2 * crank.x, crank, (0, 0, r**2))
    bar = ap.RigidBody("rod", m, r * crank.x + 2 * r * rod.x, rod, (0, 0, m * r**2))
    slider = ap.Particle("slider", tank, ground.point(place, 0))
    loop = r * crank.x + 4 * r * rod.x - ground.point(place, 0.1 * r)
    reach = ap.Nonholonomic(ground.components(crank.x)[0] * angle.rate - tank * other.rate, "odd gear")
    return ap.Model(
        ground, (angle, other, place), [wheel, bar, slider], [ap.Gravity(-9.81 * ground.y)],
        [ap.Holonomic(ground.components(loop)[1], "guide"), reach], {tank: -0.3 * tank},
        name="leaking", values={m: 0.7, r: 0.4}, start={tank: 2.0, angle: 0.7},
    )  # fmt: skip


MODELS = {
    "four-bar": spatial_four_bar,
    "leaking": leaking,
    "Delta robot": ap.library.delta_robot,
    "bicycle": ap.library.bicycle,
    "rattleback": ap.library.rattleback,
}


@pytest.mark.parametrize("angular", [None, "own"])
@pytest.mark.parametrize("name", MODELS)
def test_both_ways_give_the_same_rates(name, angular):
    mechanics = Mechanics(MODELS[name]())
    formulation = ap.GibbsAppell(angular=angular)
    split = formulation.choose(mechanics)
    direct = formulation._direct(formulation._chart(mechanics, split))
    chart, A, b = projected(direct.chart, angular)
    rng = np.random.default_rng(4)
    t, x, w, p = (rng.uniform(0.4, 1.2, e.numel()) for e in direct.arguments)
    for own in mechanics.variables.quaternions:
        x[own] /= np.linalg.norm(x[own])
    found = ap.Equations(formulation, chart, chart.thaw(A), chart.thaw(b), definite=True)
    rates, expected = (np.array(e.rhs(t, x, w, p)).ravel() for e in (found, direct))
    np.testing.assert_allclose(rates, expected, rtol=1e-9, atol=1e-9 * np.max(np.abs(expected)))
    ways = (ca.Function("a", e.arguments, [ca.densify(e.qddot)]) for e in (found, direct))
    second, expected = (np.array(function(t, x, w, p)).ravel() for function in ways)
    np.testing.assert_allclose(second, expected, rtol=1e-9, atol=1e-9 * np.max(np.abs(expected)))


def test_the_shorter_way_is_taken():
    for name, build in MODELS.items():
        equations = ap.derive(build(), ap.GibbsAppell())
        formulation, chart = equations.formulation, Chart.of(equations.mechanics, equations.split)
        direct = formulation._direct(chart)
        assert equations.operations <= direct.operations, name
    assert is_long(chart, None)
    assert has_short_ways(chart.mechanics)  # it rolls


def test_a_closed_loop_of_free_bodies():
    model = spatial_four_bar()
    assert model.degrees_of_freedom == 2
    system = ap.compile(ap.derive(model)).bind()
    assert system.equations.operations < 0.7 * ap.derive(model, ap.GibbsAppell()).operations
    start = system.consistent({}, near={"d_crank.rate": 2.0, "b_coupler.rate": 1.0})
    oracle = ap.compile(ap.derive(model, ap.Multipliers())).bind()
    found, expected = (e.accelerations(start) for e in (system, oracle))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
