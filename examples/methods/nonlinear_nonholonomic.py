"""A particle whose speed is kept constant under gravity: a constraint nonlinear in the velocities.

Aim: x'^2 + y'^2 = v^2 without multipliers, by Chetaev's rule. Voronets' equations are not valid for it and refuse; the
others agree. The force of the constraint does work here, and the power balance accounts for it.
Source: Chetaev 1932 for the rule; the closed solution is sin(theta) = -tanh(g t/v - artanh(sin(theta_0))) for the
direction theta of the velocity, x = v^2/g (theta_0 - theta), y = v^2/g ln(cos(theta)/cos(theta_0)).
"""

import sys

import numpy as np

import appell as ap

x, y = ap.coordinates("x y", "m")
m, v, g = ap.parameters("m v g", "kg m/s m/s^2")
ground = ap.Frame("ground")
particle = ap.Particle("particle", m, ground.point(x, y))
model = ap.Model(
    ground,
    (x, y),
    [particle],
    [ap.Gravity(-g * ground.y)],
    [ap.Nonholonomic(x.rate**2 + y.rate**2 - v**2, "speed")],
    name="constant speed",
    values={m: 1.0, v: 2.0, g: 9.81},
    start={x.rate: 2 * np.cos(1), y.rate: 2 * np.sin(1)},
)

try:
    ap.derive(model, ap.Voronets())
except ap.AppellError as error:
    print(error, "\n")
print(ap.verify(model), "\n")

motion = ap.simulate(ap.compile(ap.derive(model)), until=1.0)
print(motion)
print(motion.check(), "\n")

theta = np.arcsin(-np.tanh(9.81 * motion.times / 2 - np.arctanh(np.sin(1))))
exact = 4 / 9.81 * np.array([1 - theta, np.log(np.cos(theta) / np.cos(1))])
error = np.abs(np.array([motion[x], motion[y]]) - exact).max()
print(f"largest error against the closed solution: {error:.1e} m")

if len(sys.argv) > 1:
    motion.plot(x, y, x.rate, y.rate, path=sys.argv[1])
