"""What a quadratic cost weighs, and how a law is written."""

import numpy as np
import pytest

import appell as ap
from appell.errors import ControlError


def test_dependent_coordinates_and_formulas_are_weighed():
    """With the platform weighed, the arms as states give the same loop as the platform as states."""
    rest = ap.equilibrium(ap.library.delta_robot(), {"x": 0, "y": 0, "z": -0.9})
    weights = {"x": 100, "y": 100, "z": 400, "z.rate": 3}
    arms, platform = (ap.linearize(rest, dependent=names) for names in (["x", "y", "z"], ["phi1", "phi2", "phi3"]))
    one, other = (ap.control.lqr(lin, weights, 0.1) for lin in (arms, platform))
    found, known = (e.roots[np.lexsort((e.roots.imag, e.roots.real.round(8)))] for e in (one, other))  # some are double
    np.testing.assert_allclose(found, known, rtol=0, atol=1e-10)
    x, y = (q for q in rest.model.coordinates if q.label in ("x", "y"))
    turned = ap.control.lqr(arms, {x + y: 50, x - y: 50, "z": 400, "z.rate": 3}, 0.1)
    np.testing.assert_allclose(turned.K, one.K, rtol=0, atol=1e-10)


def test_what_was_left_out_is_no_output():
    x, y = ap.coordinates("x y")
    f, ground = ap.inputs("f"), ap.Frame("ground")
    ball = ap.Particle("ball", 1.0, ground.point(x, y))
    model = ap.Model(ground, (x, y), [ball], [ap.Generalized({x: f - x, y: f})])
    lin = ap.linearize(ap.equilibrium(model, {x: 0}), ignore=[y])
    for outputs in ([y], ["y"], [x + y]):
        with pytest.raises(ControlError, match="y is not a state of this linearisation"):
            lin.output_matrix(outputs)


def test_a_law_is_written_without_what_rounding_leaves():
    """Two masses that know nothing of each other."""
    x, y = ap.coordinates("x y")
    f, g, ground = ap.inputs("f"), ap.inputs("g"), ap.Frame("ground")
    bodies = [ap.Particle("a", 1.0, ground.point(x, 0)), ap.Particle("b", 2.0, ground.point(0, y))]
    model = ap.Model(ground, (x, y), bodies, [ap.Generalized({x: f + x - 0.3 * x.rate, y: g - y})])
    text = repr(ap.control.lqr(ap.linearize(ap.equilibrium(model, {x: 0, y: 0})), 1.0, 1.0))
    law = {line.split(" = ")[0].strip(): line for line in text.splitlines() if " = " in line}
    assert "y" not in law["f"]
    assert "x" not in law["g"]


def test_wheels_that_turn_against_each_other_are_named_where_nothing_weighs_them():
    """Two wheels on one axle turn a platform; no torque between them changes the momentum of all three."""
    phi, a, b = ap.coordinates("phi a b")
    s, r = ap.inputs("s r")
    ground = ap.Frame("ground")
    platform = ground.pin(phi)
    bodies = [
        ap.RigidBody(name, 1.0, ground.origin, frame, (0, 0, inertia))
        for name, frame, inertia in (
            ("platform", platform, 2.0),
            ("one", platform.pin(a), 0.1),
            ("two", platform.pin(b), 0.1),
        )
    ]
    model = ap.Model(ground, (phi, a, b), bodies, [ap.Generalized({a: s, b: r})], name="platform")
    lin = ap.linearize(ap.equilibrium(model, {phi: 0}), ignore=[a, b])
    with pytest.raises(ControlError, match=r"Q gives no weight to root 0 \(1 a.rate -1 b.rate\)"):
        ap.control.lqr(lin, {phi: 1})
    feedback = ap.control.lqr(lin, {phi: 1, a.rate - b.rate: 0.01}, 1.0)
    # phi'' = -(s + r)/2 and a'' - b'' = (s - r)/0.1, with s + r and s - r weighed by 1/2 each
    spin = -np.sqrt(0.01 * 2) / 0.1
    swing = np.sqrt(np.sqrt(2) / 2) * np.exp(1j * np.pi * np.array([0.75, -0.75]))
    found = [root for root in feedback.roots if abs(root) > 1e-6]
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex([spin, *swing]), rtol=0, atol=1e-9)


def test_an_angle_that_is_neither_weighed_nor_needed_can_be_left_out():
    """A pendulum balanced by a wheel; the angle of the wheel matters to nobody."""
    lean, spin = ap.coordinates("lean spin")
    u, ground = ap.inputs("u"), ap.Frame("ground")
    rod = ground.pin(lean)
    wheel = ap.RigidBody("wheel", 0.1, rod.point(0, 0.13), rod.pin(spin, at=(0, 0.13, 0)), (0, 0, 2.5e-5))
    model = ap.Model(ground, (lean, spin), [wheel], [ap.Gravity(-9.81 * ground.y), ap.Generalized({spin: u})])
    rest = ap.equilibrium(model, {lean: 0})
    with pytest.raises(ControlError, match=r"root 0 \(1 spin\).*ignore=\['spin'\]"):
        ap.control.lqr(ap.linearize(rest), {lean: 100, spin.rate: 0.01})
    feedback = ap.control.lqr(ap.linearize(rest, ignore=["spin"]), {lean: 100, spin.rate: 0.01})
    assert feedback.certificate.verdict.name == "ASYMPTOTIC"
