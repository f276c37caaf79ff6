"""A walker without a motor: two legs, a hip and two small feet go down a slope for ever, if they are let go right.

Aim: the gait, a motion that is periodic through its heel strikes, and the multipliers of Floquet, which say that it is
stable.
Source: Garcia, Chatterjee, Ruina and Coleman 1998, J. Biomech. Eng. 120, 281-288, whose feet have no mass at all.
"""

import sys

import numpy as np
import sympy as sp

import appell as ap

a, b = ap.coordinates("a b", "rad")  # of the leg that stands and of the one that swings, from the normal of the slope
M, m, l, g, slope = ap.parameters("M m l g slope", "kg kg m m/s^2 rad")

ground = ap.Frame("ground")
hip = l * ground.pin(a).y
foot = hip - l * ground.pin(b).y
weight = ap.Gravity(g * (sp.sin(slope) * ground.x - sp.cos(slope) * ground.y))
values = {M: 1.0, m: 1e-3, l: 1.0, g: 1.0, slope: 0.009}
bodies = [ap.Particle("hip", M, hip), ap.Particle("foot", m, foot)]
system = ap.compile(ap.derive(ap.Model(ground, (a, b), bodies, [weight], name="walker", values=values))).bind()

# The legs change their roles. The moment of momentum about the new foot is kept, and about the hip that of the leg
# which leaves the ground, so that it hangs from the hip without turning it.
c = sp.cos(a - b)
turn = c * a.rate / (1 + m / M * sp.sin(a - b) ** 2)
strike = ap.Event(a + b, direction=-1, reset={a: b, b: a, a.rate: turn, b.rate: c * turn}, name="heel strike")

# A step from one moment at which the standing leg is upright to the next.
guess = {a: 0.0, b: 0.05, a.rate: -0.06, b.rate: 0.28}
gait = ap.periodic(system, guess, 3.87, hold=a, events=[strike])
print(gait, f"heel strike after {gait.motion.occurrences[0].t:.6f} s", sep="\n")

pushed = {name: 1.03 * value for name, value in gait.state.to_dict().items()}
walk = ap.simulate(system, pushed, until=10 * gait.period, events=[strike], points=2001)
late = np.diff([o.t for o in walk.occurrences])
print("steps after a start that is off by 3 %: " + ", ".join(f"{e:.4f}" for e in late))

if len(sys.argv) > 1:
    walk.plot(a, b, path=sys.argv[1])
