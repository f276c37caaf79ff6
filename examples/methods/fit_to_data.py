"""A pendulum with unknown friction, fitted to a measured swing.

Aim: parameters from data. The run gives the angle at the measured times, and its slopes by the parameters, through
every reversal of the friction; SciPy's least squares does the rest, and the slopes at the end say how well each number
is known.
Source: the measurement is made here, by numbers that the fit does not know and noise of 2 mrad.
"""

import sys

import numpy as np
from scipy.optimize import least_squares

import appell as ap

angle = ap.coordinates("angle", "rad", "angle of the rod")
m, l, g, viscous, dry = ap.parameters("m l g viscous dry", "kg m m/s^2 N*m*s N*m")

ground = ap.Frame("ground")
rod = ap.RigidBody("rod", m, ground.pin(angle).point(0, -l / 2), ground.pin(angle), (0, 0, m * l**2 / 12))
weight = ap.Gravity(-g * ground.y)
model = ap.Model(ground, angle, [rod], [weight], name="rod", values={m: 0.4, l: 0.5, g: 9.81})
model = ap.friction.Coulomb(angle, kinetic=dry, viscous=viscous).on(model)
system = ap.compile(ap.derive(model))

times = np.linspace(0, 6, 121)
names, truth = (viscous, dry, l), np.array([0.0030, 0.0060, 0.52])


def swing(numbers):
    """A run with other numbers, tabulated at the measured times."""
    bound = system.bind(dict(zip(names, numbers, strict=True)))
    return ap.simulate(bound, {angle: 1.2}, until=6.0, at=times, progress=False)


def slopes(numbers):
    """How the angle changes with them."""
    return swing(numbers).sensitivities(names, angle)["angle"].values.T


measured = swing(truth)["angle"].values + np.random.default_rng(4).normal(0, 2e-3, times.size)
fit = least_squares(lambda x: swing(x)["angle"].values - measured, [1e-3, 1e-3, 0.5], slopes, x_scale=[1e-3, 1e-3, 0.1])
spread = np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac)) * 2 * fit.cost / (times.size - len(names)))

print(f"{fit.nfev} evaluations, {1e3 * np.sqrt(2 * fit.cost / times.size):.2f} mrad left")
for name, found, deviation, true in zip(names, fit.x, spread, truth, strict=True):
    print(f"{name!s:8} {found:.5f} +- {deviation:.5f}   (measured with {true:.5f})")

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(times, measured, ".", color="#999999", label="measured")
    axes.plot(times, swing(fit.x)["angle"], color="#0072b2", label="fitted")
    axes.set(xlabel="t [s]", ylabel="angle [rad]")
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=160)
