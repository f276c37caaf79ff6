"""Friction and drives at joints."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import ModelError

x, y = ap.coordinates("x y")
push = ap.inputs("push")
ground = ap.Frame("ground")


def block(force=0, coordinate=x, mass=2.0):
    body = ap.Particle(f"block {coordinate}", mass, ground.point(coordinate, 0))
    return ap.Model(ground, coordinate, [body], [ap.Force(force * ground.x, body)] if force != 0 else [])


def run(model, start, until, **options):
    return ap.simulate(ap.compile(ap.derive(model)), start, until, **options)


def test_viscous():
    motion = run(ap.friction.Viscous(x, 3.0).on(block()), {x.rate: 4.0}, 2.0)
    assert motion.at(2.0)["x.rate"] == pytest.approx(4 * np.exp(-3.0), rel=1e-12)


def test_a_block_slides_and_stops():
    """Mu = 5 N on 2 kg: it stops after 4 / 2.5 s, 4^2 / 5 m on, and stays there."""
    motion = run(ap.friction.Coulomb(x, 5.0).on(block()), {x.rate: 4.0}, 3.0)
    assert motion.at(3.0)["x"] == pytest.approx(16 / 5, rel=1e-12)
    assert motion.at(3.0)["x.rate"] == pytest.approx(0, abs=1e-12)
    assert motion.check().ok


def test_a_slip_between_two_bodies_acts_on_both():
    two = ap.Model(
        ground, (x, y), [ap.Particle("a", 1.0, ground.point(x, 0)), ap.Particle("b", 3.0, ground.point(y, 0))]
    )
    motion = run(ap.friction.Viscous(x.rate - y.rate, 0.7).on(two), {x.rate: 4.0}, 20.0)
    assert motion.at(20.0)["x.rate"] == pytest.approx(1.0, rel=1e-7)
    momentum = motion[x.rate + 3 * y.rate].values
    np.testing.assert_allclose(momentum, 4.0, rtol=1e-13, atol=0)


def test_lugre_creeps_to_the_steady_force():
    """Pulled with constant speed, the bristles bend until sigma_0 z = G(v)."""
    rub = ap.friction.LuGre(x, 100.0, 1.0, 0.4, kinetic=2.0, static=3.0, stribeck=0.1, name="rub")
    pulled = rub.on(block(push)).add(ap.Prescribed(x, 0.2 * ap.t, "pull"))
    body = ap.Particle("other", 1.0, ground.point(0, y))
    motion = run(pulled.add(body, coordinates=[y]), {"x.rate": 0.2}, 2.0, inputs={push: 0.0})
    expected = 2 + np.exp(-4.0) + 0.4 * 0.2
    assert motion[rub.resistance].values[-1] == pytest.approx(expected, rel=1e-8)
    assert motion.at(2.0)["rub_z"] == pytest.approx((2 + np.exp(-4.0)) / 100, rel=1e-8)


def test_lugre_holds_below_static_friction_and_dissipates():
    rub = ap.friction.LuGre(x, 1000.0, 20.0, 0.0, kinetic=2.0, static=3.0, stribeck=0.1, name="rub")
    motion = run(rub.on(block(push)), {}, 4.0, inputs={push: 1.9})
    assert abs(motion.at(4.0)["x"]) < 0.01  # it gives by the bristles only
    assert motion.check().ok
    free = run(rub.on(block()), {x.rate: 1.0}, 2.0)
    assert abs(free.at(2.0)["x.rate"]) < 1e-3  # the bristles still tremble
    assert free.check().work["rub"] < 0


def test_narrow_curves_are_not_stepped_over():
    """Exp(-(v/v_S)^2) is flat far away: a Taylor series there does not announce it, so another method is taken."""
    rub = ap.friction.LuGre(x, 1.0, 0.02, 0.0, kinetic=0.2, static=0.1, stribeck=0.001)
    model = rub.on(block(sp.Rational(3, 10) * sp.sin(3 * ap.t)))
    chosen = run(model, {x.rate: 0.3}, 4.0)
    assert chosen.info["method"] == "dop853"
    assert "exp" in chosen.info["reason"]
    other = run(model, {x.rate: 0.3}, 4.0, method="Radau", rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(chosen.states([4.0]), other.states([4.0]), rtol=0, atol=3e-9)


def test_a_flexible_drive_and_a_gear():
    """A motor coordinate behind a gear of 3: the joint feels 3 times what the motor gives, momentum is kept."""
    frame, axle = ground.rotate("z", x), ground.rotate("z", y)
    arm, rotor = (
        ap.RigidBody(name, 1.0, ground.point(0, 0), f, (0, 0, inertia))
        for name, f, inertia in (("arm", frame, 2.0), ("rotor", axle, 0.05))
    )
    model = ap.Model(ground, (x, y), [arm, rotor])
    motion = run(ap.friction.FlexibleDrive(x, y, 80.0, ratio=3).on(model), {y.rate: 6.0}, 3.0)
    np.testing.assert_allclose(motion[2 * x.rate + 3 * 0.05 * y.rate].values, 0.9, rtol=1e-12, atol=0)
    stiff = run(model.add(ap.friction.gear(y, x, 3)), {y.rate: 6.0, x.rate: 2.0}, 1.0)
    assert stiff.at(1.0)["x"] == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ap.friction.Viscous(push, 1.0).force, "contains no rate of a coordinate"),
        (lambda: ap.friction.Coulomb(x, 1.0, static=2.0), "give stribeck="),
        (lambda: ap.friction.Coulomb(x, -1.0), "kinetic= of 'dry friction' must be finite and not negative, got -1"),
        (lambda: ap.friction.Coulomb(None, 1.0), "What rubs, a coordinate or a velocity, must be"),
        (lambda: ap.friction.LuGre(x, 1e5, 1.0, 0.0, 0.0), "kinetic= of 'friction' must be finite and above zero"),
        (lambda: ap.friction.FlexibleDrive(push, 0, 1.0), "A drive turns a coordinate"),
        (lambda: ap.friction.FlexibleDrive(x, 0, 1.0, ratio=0), "ratio of 'drive' must not be zero"),
        (lambda: ap.friction.FlexibleDrive(x, 0, 1.0).on([]), "Got .*; give the appell.Model that 'drive'"),
        (lambda: ap.friction.Viscous(x, 1.0).on({x}), "Got .*; give the appell.Model that 'viscous friction'"),
        (lambda: ap.friction.declared(block()), "joints of an appell.Chain declare friction, got Model"),
    ],
)
def test_bad_friction(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_what_friction_just_holds_is_no_disagreement():
    """Two slips of equal limits in series: the first block is driven by just what holds it, and stays."""
    two = ap.Model(
        ground,
        (x, y),
        [ap.Particle("a", 1.0, ground.point(x, 0)), ap.Particle("b", 1.0, ground.point(y, 0))],
        [ap.Generalized({y: 3.0}, name="pull")],
    )
    model = ap.friction.Coulomb(x, 2.0).on(ap.friction.Coulomb(x.rate - y.rate, 2.0).on(two))
    motion = run(model, {}, 2.0)
    assert (motion.at(2.0)["x"], motion.at(2.0)["y"]) == pytest.approx((0, 2), abs=1e-12)
    assert motion.check().ok
