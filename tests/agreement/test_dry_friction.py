"""Dry friction in long equations: bodies with seven coordinates each, hinged by rows, against two angles in NumPy."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import appell as ap

R, G, C = 0.4, 9.81, 0.25
MASSES, LIMITS = np.array([1.3, 0.9]), np.array([0.8, 0.35])
INERTIAS = [m * R**2 * np.array(shape) for m, shape in zip(MASSES, [(1, 1.2, 0.5), (0.8, 1.1, 0.5)], strict=True)]
ANGLES, RATES, UNTIL = np.array([0.4, 0.7]), np.array([1.5, -2.0]), 2.2
FORMULATIONS = {
    "components of angular velocities": lambda: ap.GibbsAppell(angular="own"),
    "rates of quaternions": ap.GibbsAppell,
    "recursive": ap.Recursive,
    "Shulgin": ap.Shulgin,
    "multipliers": ap.Multipliers,
}


def hinged(drag: bool) -> ap.Model:
    """A body on a hinge of the ground, and one on a hinge of the first across it; dry friction in both.

    With drag, what resists the tip has a corner in height and jumps along the first axis, along which only the second
    hinge moves it: two kinks on one motion.
    """
    ground = ap.Frame("ground")
    end, carrier, letters, bodies, rows, slips = ground.point(0, 0, 0), ground, [], [], [], []
    for k, (mass, inertia) in enumerate(zip(MASSES, INERTIAS, strict=True)):
        place, turn = ap.coordinates(f"x{k} y{k} z{k}"), ap.coordinates(f"a{k} b{k} c{k} d{k}")
        center, frame = ground.point(*place), ground.rotate_quaternion(*turn)
        axis, others = (frame.y, (carrier.x, carrier.z)) if k else (frame.z, (carrier.x, carrier.y))
        rows.append(ap.Holonomic(center - R * frame.x - end, name=f"joint {k}"))
        rows.append(ap.Holonomic([axis.dot(other) for other in others], name=f"hinge {k}"))
        slips.append((frame.angular_velocity - carrier.angular_velocity).dot(axis))
        bodies.append(ap.RigidBody(f"body {k}", mass, center, frame, tuple(inertia)))
        end, carrier = center + R * frame.x, frame
        letters += [*place, *turn]
    _, v, w = ground.components(end.dt(ground))
    resistance = ap.Force(-C * sp.Abs(v) * v * ground.y - C * sp.sign(w) * ground.z, end, name="drag")
    forces = [ap.Gravity(-G * ground.y), *([resistance] if drag else [])]
    model = ap.Model(ground, letters, bodies, forces, rows, name="hinged")
    for k, (slip, limit) in enumerate(zip(slips, LIMITS, strict=True)):
        model = ap.friction.Coulomb(slip, limit, name=f"friction {k}").on(model)
    return model


def attitudes(angles):
    first = Rotation.from_euler("z", angles[0])
    return first, first * Rotation.from_euler("y", angles[1])


def coordinates(angles):
    """Where both bodies are, as their fourteen coordinates."""
    found, end = [], np.zeros(3)
    for turned in attitudes(angles):
        x, y, z, w = turned.as_quat()
        arm = turned.apply([R, 0, 0])
        found += [*(end + arm), *(np.sign(w) * np.array([w, x, y, z]))]
        end = end + 2 * arm
    return np.array(found)


def mechanics(angles, rates, drag):
    """Inertia, forces without friction, and the limits of friction about both hinges."""
    first, second = attitudes(angles)
    axes = [np.array([0.0, 0, 1]), first.apply([0.0, 1, 0])]
    turns = [np.array([axes[0], 0 * axes[0]]).T, np.array(axes).T]  # angular velocities by the rates
    omegas = [turn @ rates for turn in turns]
    bias = np.cross(omegas[0], axes[1]) * rates[1]  # of the angular acceleration of the second
    arms = [first.apply([R, 0, 0]), second.apply([R, 0, 0])]
    swings = [np.cross(turn.T, arm).T for turn, arm in zip(turns, arms, strict=True)]
    pulls = [np.cross(omega, np.cross(omega, arm)) for omega, arm in zip(omegas, arms, strict=True)]
    centers, biases = [swings[0], 2 * swings[0] + swings[1]], [pulls[0], 2 * pulls[0] + pulls[1]]
    biases[1] = biases[1] + np.cross(bias, arms[1])
    M, f, limits = np.zeros((2, 2)), np.zeros(2), LIMITS.copy()
    for k, turned in enumerate((first, second)):
        inertia = turned.as_matrix() @ np.diag(INERTIAS[k]) @ turned.as_matrix().T
        M += MASSES[k] * centers[k].T @ centers[k] + turns[k].T @ inertia @ turns[k]
        f -= MASSES[k] * centers[k].T @ (biases[k] + [0, G, 0])
        f -= turns[k].T @ (inertia @ bias * k + np.cross(omegas[k], inertia @ omegas[k]))
    if drag:  # the tip is at -2 R sin of the second angle along the axis of the first hinge
        tip = 2 * (swings[0] + swings[1])
        f -= C * abs(tip[1] @ rates) * (tip[1] @ rates) * tip[1]
        limits[1] += C * 2 * R * abs(np.cos(angles[1]))
    return M, f, limits


def forced(y, modes, drag):
    """Accelerations in some modes, and how much friction takes of its limits where it sticks."""
    M, f, limits = mechanics(y[:2], y[2:], drag)
    a, slips = np.zeros(2), modes != 0
    a[slips] = np.linalg.solve(M[np.ix_(slips, slips)], (f - limits * modes)[slips])
    return a, (f - M @ a) / limits


@cache
def by_hand(drag):
    """Times at which friction switches, and both angles and rates at the end."""
    t, y, modes, switches = 0.0, np.append(ANGLES, RATES), np.sign(RATES), []
    while True:

        def guard(_, y, k, modes=modes):
            return modes[k] * y[2 + k] if modes[k] else 1 - abs(forced(y, modes, drag)[1][k])

        events = [lambda t, y, k=k, guard=guard: guard(t, y, k) for k in (0, 1)]
        for event in events:
            event.terminal, event.direction = True, -1
        leg = solve_ivp(
            lambda _, y, modes=modes: np.append(y[2:], forced(y, modes, drag)[0]), (t, UNTIL), y, "DOP853",
            events=events, rtol=1e-12, atol=1e-13, max_step=0.05,
        )  # fmt: skip
        t, y = leg.t[-1], leg.y[:, -1]
        if leg.status == 0:
            return np.array(switches), y
        k = 0 if leg.t_events[0].size else 1
        switches.append(t)
        if modes[k] == 0:  # it breaks loose to where it was held from
            modes = np.where(np.arange(2) == k, np.sign(forced(y, modes, drag)[1][k]), modes)
            continue
        y[2 + k] = 0.0
        free = np.array([j == k or modes[j] == 0 for j in (0, 1)])
        for trial in product((0.0, 1.0, -1.0), repeat=int(free.sum())):
            tried = modes.copy()
            tried[free] = trial
            a, shares = forced(y, tried, drag)
            if np.all(np.where(tried == 0, np.abs(shares) < 1, tried * a > 0)[free]):
                modes = tried
                break


@pytest.mark.parametrize("drag", [False, True], ids=["hinges", "hinges and drag"])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_friction_at_hinges_of_free_bodies_switches_as_it_does_in_angles(name, drag):
    when, end = by_hand(drag)
    assert when.size >= 3
    model = hinged(drag)
    system = ap.compile(ap.derive(model, FORMULATIONS[name]())).bind()
    h = 1e-3 * RATES
    rates = (8 * (coordinates(ANGLES + h) - coordinates(ANGLES - h)) - coordinates(ANGLES + 2 * h)) / 12e-3
    rates += coordinates(ANGLES - 2 * h) / 12e-3
    labels = [q.label for q in model.coordinates]
    near = dict(zip(labels, coordinates(ANGLES), strict=True))
    near |= dict(zip([f"{label}.rate" for label in labels], rates, strict=True))
    motion = ap.simulate(system, system.consistent({}, near=near), UNTIL)
    assert motion.outcome.ok
    found = [o.t for o in motion.occurrences if o.name.startswith("friction")]
    np.testing.assert_allclose(np.unique(np.round(found, 9)), when, rtol=0, atol=1e-8)
    here = motion.at(UNTIL)
    np.testing.assert_allclose([here[label] for label in labels], coordinates(end[:2]), rtol=0, atol=1e-8)
