"""Forces by fractional powers, as of Hertz's contact or of an orifice, that come to zero and go on behind it."""

import mpmath
import numpy as np
import pytest
import sympy as sp

import appell as ap

x = ap.coordinates("x")
k, n = ap.parameters("k n")
ground = ap.Frame("ground")
BALL = ap.Particle("ball", 1, ground.point(x, 0))


def along_x(force, name="force"):
    return ap.Model(ground, x, [BALL], [ap.Force(force * ground.x, BALL)], name=name)


def quarter(power):
    """A quarter of the period of x'' = -|x|^n sign(x) from the amplitude 1."""
    energy = 1 / (power + 1)
    slowness = lambda s: 1 / mpmath.sqrt(2 * energy * (1 - s ** (power + 1)))  # noqa: E731
    return float(mpmath.quad(slowness, [0, 0.5, 0.9, 0.99, 1]))


@pytest.mark.parametrize("method", ["auto", "dop853", "DOP853"])
@pytest.mark.parametrize(
    ("force", "power"),
    [
        (-(sp.Abs(x) ** sp.Rational(3, 2)) * sp.sign(x), 1.5),
        (-(sp.Abs(x) ** 1.2) * sp.sign(x), 1.2),
        (-(sp.Max(x, 0) ** 1.5) + sp.Max(-x, 0) ** 1.5, 1.5),
        (sp.Piecewise((-(x**1.5), x > 0), ((-x) ** 1.5, True)), 1.5),
        (-sp.sqrt(sp.Abs(x)) * sp.sign(x), 0.5),
        (-x * sp.sqrt(sp.Abs(x)), 1.5),
        (-sp.cbrt(sp.Abs(x)) * sp.sign(x), 1 / 3),
    ],
    ids=str,
)
def test_an_oscillator_of_any_power_has_its_period(force, power, method):
    system = ap.compile(ap.derive(along_x(force))).bind()
    period = 4 * quarter(power)
    motion = ap.simulate(system, {x: 1.0}, until=period, method=method, points=5)
    assert motion.outcome is ap.Outcome.DONE
    np.testing.assert_allclose(motion[x], [1, 0, -1, 0, 1], atol=1e-7)
    started = ap.simulate(system, {x: 0.0, x.rate: np.sqrt(2 / (power + 1))}, until=period / 4, method=method)
    assert float(started[x][-1]) == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("depth", [sp.Max(-x, 0), sp.Piecewise((-x, x < 0), (0, True)), (sp.Abs(x) - x) / 2], ids=str)
def test_a_ball_on_hertzs_contact_comes_back_to_its_height(depth):
    weight, stiffness, height = 9.81, 1e4, 0.3
    system = ap.compile(ap.derive(along_x(k * depth**n - weight))).bind({k: stiffness, n: 1.5})
    fall = np.sqrt(2 * height / weight)

    with mpmath.workdps(40):

        def speed_squared(s):
            return 2 * (weight * (height + s) - stiffness * s ** mpmath.mpf(2.5) / 2.5)

        deepest = mpmath.findroot(speed_squared, (0.005, 0.05), solver="illinois")
        slowness = lambda u: 2 * u * deepest / mpmath.sqrt(abs(speed_squared(deepest * (1 - u**2))))  # noqa: E731
        contact = 2 * float(mpmath.quad(slowness, [0, 0.1, 1]))
    motion = ap.simulate(system, {x: height}, until=2 * fall + contact, rtol=1e-12, atol=1e-14)
    assert motion.outcome is ap.Outcome.DONE
    assert [event.t for event in motion.occurrences] == pytest.approx([fall, fall + contact], abs=1e-8)
    assert float(motion[x][-1]) == pytest.approx(height, abs=1e-8)
    assert motion.check().ok


def test_what_a_condition_keeps_positive_may_have_a_parameter_before_it():
    scaled = sp.Piecewise(((k * (n - x)) ** 1.5, x < n), (0, True))
    plain = sp.Max(n - x, 0) ** 1.5
    ends = []
    for force, stiffness in ((scaled, 4.0), (plain * k, 8.0)):
        system = ap.compile(ap.derive(along_x(100 * force - 9.81))).bind({k: stiffness, n: 0.3})
        motion = ap.simulate(system, {x: 0.6}, until=2.0)
        assert motion.outcome is ap.Outcome.DONE
        ends.append(float(motion[x][-1]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-8)


@pytest.mark.parametrize("base", [-sp.Abs(x), x - 2, sp.Abs(x) - 2], ids=str)
def test_a_negative_base_is_no_number(base):
    system = ap.compile(ap.derive(along_x(sp.Pow(base, 1.5, evaluate=False)))).bind()
    assert ap.simulate(system, {x: 0.5}, until=1.0).outcome is ap.Outcome.NOT_FINITE


def test_taylors_method_says_why_it_ends_at_zero():
    system = ap.compile(ap.derive(along_x(-(sp.Abs(x) ** 1.5) * sp.sign(x)))).bind()
    motion = ap.simulate(system, {x: 1.0}, until=5.0, method="taylor")
    assert motion.outcome is ap.Outcome.NOT_FINITE
    assert "chosen by the caller, but a root or fractional power of what comes to zero has no Taylor series" in str(
        motion
    )


def test_many_runs_go_through_zero_as_one_does():
    system = ap.compile(ap.derive(along_x(-k * sp.Abs(x) ** 1.5 * sp.sign(x)))).bind({k: 1.0})
    study = ap.sweep(system, {k: [1.0, 4.0], x: 1.0}, until=4 * quarter(1.5), points=5)
    np.testing.assert_allclose(np.array(study[x])[0], [1, 0, -1, 0, 1], atol=1e-7)
    np.testing.assert_allclose(np.array(study[x])[1], [1, -1, 1, -1, 1], atol=1e-7)


def test_a_power_of_what_nothing_keeps_positive_is_not_finite_beyond():
    system = ap.compile(ap.derive(along_x(x**1.5 - 2 + 0 * sp.Abs(x)))).bind()
    assert ap.simulate(system, {x: 0.5}, until=5.0).outcome is ap.Outcome.NOT_FINITE
