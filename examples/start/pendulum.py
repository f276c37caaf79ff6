"""The smallest complete run: a pendulum released in the horizontal, and its period.

Aim: every stage once. Declare a model, derive, compile, simulate, check; then compare the period, found as an event,
with the exact one, 4 K(1/2) sqrt(l/g).
Source: problem A01 of the IFToMM library of multibody benchmarks (m = 1, l = 1, g = 9.81).
"""

import sys

from scipy.special import ellipk

import appell as ap

angle = ap.coordinates("angle", "rad")
m, l, g = ap.parameters("m l g", "kg m m/s^2")

ground = ap.Frame("ground")
rod = ground.pin(angle)  # hinged at the origin, turning about z
bob = ap.Particle("bob", m, rod.point(0, -l))
model = ap.Model(ground, angle, [bob], [ap.Gravity(-g * ground.y)], name="pendulum")

equations = ap.derive(model)  # by the Gibbs-Appell principle
print(equations.text(), "\n")

system = ap.compile(equations).bind({m: 1.0, l: 1.0, g: 9.81})
start = system.state({angle: -1.5707963267948966})
turn = ap.Event(angle.rate, direction=-1, name="back")  # the far turning point, half a period on
motion = ap.simulate(system, start, until=10.0, events=[turn])
print(motion, "\n")
print(motion.check(), "\n")

first, second = (occurrence.t for occurrence in motion.occurrences[:2])
exact = 4 * ellipk(0.5) / 9.81**0.5
print(f"period {second - first:.14f} s, exact {exact:.14f} s")

if len(sys.argv) > 1:
    motion.plot(angle, path=sys.argv[1])
