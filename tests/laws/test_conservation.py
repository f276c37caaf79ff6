"""Laws that hold whatever the numbers are."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.kinematics.consistency import sample_state
from appell.kinematics.mechanics import Mechanics

MODELS = [name for name in ap.library.names() if name != "sprayer"]


@pytest.mark.parametrize("name", MODELS)
def test_the_mass_matrix_is_symmetric_and_positive_definite(name):
    model = ap.library.model(name)
    equations = ap.derive(model)
    if not equations.definite:
        pytest.skip("a thrust that contains accelerations makes the matrix unsymmetric")
    system = ap.compile(equations).bind(dict.fromkeys((w.label for w in model.inputs), 0.0))
    rng = np.random.default_rng(5)
    done = 0
    while done < 4:
        found = sample_state(equations.mechanics, rng, system.p, 0.4)
        assert found is not None
        x = system.to_x(ap.State(model, np.concatenate(found)))
        A = system.mass_matrix(0.0, x)
        if not np.all(np.isfinite(A)) or np.linalg.cond(A) > 1e10:
            continue
        done += 1
        assert np.max(np.abs(A - A.T)) <= 1e-12 * np.max(np.abs(A))
        assert np.min(np.linalg.eigvalsh((A + A.T) / 2)) > 0


def test_energy_of_the_rolling_disk_is_kept_to_1e12():
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    motion = ap.simulate(system, until=10.0)
    energies = np.array([system.energy(motion.at(t))["total"] for t in np.linspace(0, 10, 101)])
    assert np.ptp(energies) <= 1e-12 * abs(energies[0])


def test_a_motion_run_backwards_returns():
    system = ap.compile(ap.derive(ap.library.four_bar())).bind()
    out = ap.simulate(system, until=3.0)
    turned = out.at(3.0)
    n = len(turned.q)
    back = ap.simulate(system, turned + np.concatenate([np.zeros(n), -2 * turned.v]), until=6.0)
    np.testing.assert_allclose(back.at(6.0).q, out.at(0.0).q, atol=1e-11)


def test_free_bodies_keep_their_momentum():
    """Two rigid bodies joined by a ball joint (quaternion) and a spring, floating free."""
    x, y, z, a, b, c = ap.coordinates("x y z a b c")
    e = ap.coordinates("e0 e1 e2 e3")
    ground = ap.Frame("ground")
    first = ground.free(x, y, z, a, b, c)
    second = first.spherical(*e, at=(0.4, 0, 0))
    big = ap.RigidBody("big", 2.0, first.point(0.1, 0.05, 0), first, (0.2, 0.3, 0.4, 0.02, 0, 0.01))
    small = ap.RigidBody("small", 0.7, second.point(0.3, 0, 0.1), second, (0.01, 0.03, 0.02))
    model = ap.Model(
        ground,
        (x, y, z, a, b, c, *e),
        [big, small],
        [ap.Spring(first.point(0, 0.2, 0), second.point(0.2, 0.2, 0), 5.0, 0.3)],
        start={"e0": 1.0},
    )
    system = ap.compile(ap.derive(model)).bind()
    start = system.consistent(
        {x.rate: 0.3, a.rate: 1.0, b.rate: -0.4, "e1.rate": 0.8, "e0": 1, "e1": 0, "e2": 0, "e3": 0}
    )
    momentum = {
        f"p{i}": sum(body.mass * ground.components(body.center.dt(ground))[i] for body in (big, small))
        for i in range(3)
    }
    spin = {}
    for body in (big, small):
        turning = body.frame.vector(*(body.inertia * sp.Matrix(body.frame.components(body.angular_velocity))))
        total = body.mass * body.center.cross(body.center.dt(ground)) + turning
        for i in range(3):
            spin[f"L{i}"] = spin.get(f"L{i}", 0) + ground.components(total)[i]
    motion = ap.simulate(system, start, until=4.0, points=41, outputs={**momentum, **spin}, method="dop853")
    for name in (*momentum, *spin):
        assert np.ptp(motion.columns[name]) < 1e-10, name
    assert motion.check().ok


def test_ball_on_a_turning_table_runs_on_a_circle():
    """A homogeneous ball's centre turns at 2/7 of the table's rate."""
    model = ap.library.rolling_ball()
    system = ap.compile(ap.derive(model)).bind()
    rate = 2 / 7 * system.values["Omega"]
    motion = ap.simulate(system, until=2 * np.pi / rate)
    first, last = motion.at(0.0), motion.at(motion.times[-1])
    assert (last["x"], last["y"]) == pytest.approx((first["x"], first["y"]), abs=1e-9)
    assert np.ptp(motion["x"].values) > 1e-2


def test_order_of_convergence_of_dop853():
    """Eighth order: the error falls with the tolerance, and faster than the number of steps grows."""
    system = ap.compile(ap.derive(ap.library.pendulum_chain(2))).bind()
    start = system.state({"q1": 1.0, "q2": -0.5})
    exact = ap.simulate(system, start, until=3.0, method="taylor").at(3.0).array
    errors, steps = [], []
    for tolerance in (1e-5, 1e-7, 1e-9, 1e-11):
        motion = ap.simulate(system, start, until=3.0, method="dop853", rtol=tolerance)
        errors.append(np.max(np.abs(motion.at(3.0).array - exact)))
        steps.append(motion.info["steps"])
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope < -6
    assert errors[-1] < 1e-9


def test_power_balance_counts_a_prescribed_drive():
    """The rod of a driven pendulum is moved by a constraint that depends on time: its reaction does work."""
    system = ap.compile(ap.derive(ap.library.driven_pendulum())).bind()
    proof = ap.simulate(system, until=5.0).check()
    assert proof.balance < 1e-12
    assert abs(proof.work["reactions"]) > 1e-3


def test_power_balance_counts_a_carrier():
    """A bead on a rod that is turned at a given rate: no constraint is written, the drive still works."""
    s = ap.coordinates("s")
    ground = ap.Frame("ground")
    rod = ground.rotate("z", 2 * ap.t)
    model = ap.Model(ground, s, [ap.Particle("bead", 0.5, rod.point(s, 0))])
    system = ap.compile(ap.derive(model)).bind()
    motion = ap.simulate(system, {s: 0.1}, until=2.0)
    assert motion.at(2.0)["s"] == pytest.approx(0.1 * np.cosh(4.0), rel=1e-12)
    assert motion.check().balance < 1e-12


def test_mechanics_agree_on_the_mass_matrix():
    """From the kinetic energy (Lagrange) and from the acceleration energy (Newton, Euler)."""
    import casadi as ca

    for name in ("rolling-disk", "bicycle", "pendulum-chain", "slider-crank"):
        mechanics = Mechanics(ap.library.model(name))
        x = mechanics.variables
        from_S = ca.jacobian(ca.gradient(mechanics.S, mechanics.a), mechanics.a)
        difference = ca.Function("d", x.arguments, [ca.densify(mechanics.lagrange[0] - from_S)])
        rng = np.random.default_rng(1)
        numbers = [rng.uniform(0.2, 1.2, part.numel()) for part in x.arguments]
        assert np.max(np.abs(np.array(difference(*numbers)))) < 1e-10
