"""Chaplygin's sleigh in its natural speeds, against the closed solution.

Aim: with quasi-velocities u (along the blade) and omega (turning) the equations come out as the textbook has them,
u' = a omega^2 and (I + m a^2) omega' = -m a u omega, and the run reproduces the closed solution.
Source: Chaplygin 1911; Neimark and Fufaev 1972, chapter II.
"""

import sys

import numpy as np

import appell as ap

model = ap.library.chaplygin_sleigh()
x, y, theta = model.coordinates
sleigh = model.bodies[0]
u, omega = ap.speeds("u omega", "m/s rad/s")
contact = model.ground.point(x, y)
along = sleigh.velocity_at(contact).dot(sleigh.frame.x)  # any formula in coordinates, their rates and time

rates = ap.derive(model)
print(rates.text(), "\n")
natural = ap.derive(model, ap.GibbsAppell(speeds={u: along, omega: theta.rate}))
print(natural.text(), "\n")

system = ap.compile(natural).bind({"m": 1.0, "I": 0.1, "a": 0.1})
motion = ap.simulate(system, system.state({u: 1.0, omega: 1.0}), until=10.0)

# u = U tanh(k t + c), omega = W sech(k t + c)
m, inertia, a, energy = 1.0, 0.1, 0.1, (1.0 + 0.11) / 2
U, W = np.sqrt(2 * energy / m), np.sqrt(2 * energy / (inertia + m * a**2))
k, c = a * m * U / (inertia + m * a**2), np.arctanh(1.0 / U)
error = np.abs(motion[u] - U * np.tanh(k * motion.times + c)).max()
error_turning = np.abs(motion[omega] - W / np.cosh(k * motion.times + c)).max()
print(f"largest error against the closed solution: u {float(error):.1e}, omega {float(error_turning):.1e}")
print(f"energy at the end {system.energy(motion.at(10.0))['total']:.15f} J, at the start {energy:.15f} J")

if len(sys.argv) > 1:
    motion.plot(u, omega, path=sys.argv[1])
