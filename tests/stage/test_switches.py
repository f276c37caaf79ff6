"""First approximations where forces switch: refused where there is no derivative, taken where there is one."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import EquilibriumError

x = ap.coordinates("x")
f = ap.inputs("f")


def pushed(force, **more):
    """A unit mass under a force."""
    ground = ap.Frame("ground")
    body = ap.Particle("body", 1, ground.point(x, 0))
    return ap.Model(ground, x, [body], [ap.Generalized({x: force})], name="body", **more)


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (-100 * sp.Max(x, 0) - 3 * sp.Min(x, 0), r"turn a corner where x = 0"),
        (1 - 2 * x - sp.Max(x - sp.Rational(1, 2), 0), r"turn a corner where x = 1/2"),
        (sp.Piecewise((-x, x < 0), (-3 * x, True)), r"turn a corner where x = 0"),
        (-x - sp.sign(x.rate) / 2, r"jump where x' = 0"),
        # What switches beside it without harm is not named.
        (-2 * x - abs(x) - x.rate * abs(x.rate), r"turn a corner where x = 0\. Linearise"),
    ],
)
def test_a_corner_has_no_first_approximation(force, message):
    with pytest.raises(EquilibriumError, match=message):
        ap.linearize(pushed(force))
    with pytest.raises(EquilibriumError, match=message):
        ap.stability(pushed(force))


def test_an_input_at_its_limit_has_none():
    with pytest.raises(EquilibriumError, match=r"turn a corner where f = 1"):
        ap.linearize(ap.equilibrium(pushed(-x + sp.Max(-1, sp.Min(1, f)), values={f: 1.0})))


@pytest.mark.parametrize(
    ("force", "A"),
    [
        (-x - sp.Abs(x.rate) * x.rate, [[0, 1], [-1, 0]]),
        (-sp.Max(x, 0) - sp.Min(2 * x, 0) / 2, [[0, 1], [-1, 0]]),
        (sp.Piecewise((-x - x**2, x < 0), (-x + x**2, True)), [[0, 1], [-1, 0]]),
        (1 - 2 * x - sp.Max(x - 5, 0), [[0, 1], [-2, 0]]),
    ],
)
def test_a_switch_without_a_corner_does_no_harm(force, A):
    np.testing.assert_allclose(ap.linearize(pushed(force)).A, A, rtol=0, atol=1e-12)


def test_a_loop_with_limits_is_linear_between_them():
    """The roots of s^3 + kd s^2 + kp s + ki; its integral is no force that Kelvin's theorems know."""
    model = pushed(f)
    controller = ap.control.regulate(model, {f: (ap.control.PID(kp=20, ki=4, kd=8, clamp=2, limit=30), 1 - x)})
    loop = ap.compile(ap.derive(controller.on(model)).close(controller.laws))
    proof = ap.stability(ap.equilibrium(loop, starts=1))
    np.testing.assert_allclose(np.sort(proof.roots), np.sort_complex(np.roots([1, 8, 20, 4])), rtol=1e-9, atol=0)
    assert proof.forces is None
