"""A block on a moving belt, held by a spring: stick and slip.

Aim: dry friction as it is written, with a sign in it. While the block sticks, the argument of the sign stays at zero:
the run finds the sticking, keeps the block exactly at the speed of the belt, and finds the moment it lets go.
Source: a standard test of friction models; sticking as in Filippov 1960. Static friction is larger than sliding
friction, mu(v) = mu_k + (mu_s - mu_k) exp(-(v/v_s)^2), so the oscillation sustains itself.
"""

import sys

import numpy as np
import sympy as sp

import appell as ap

x = ap.coordinates("x", "m", "block")
m, k, g, belt = ap.parameters("m k g belt", "kg N/m m/s^2 m/s")
mu_s, mu_k, v_s = ap.parameters("mu_s mu_k v_s", "- - m/s")

ground = ap.Frame("ground")
block = ap.Particle("block", m, ground.point(x, 0))
slip = belt - x.rate
grip = mu_k + (mu_s - mu_k) * sp.exp(-((slip / v_s) ** 2))
model = ap.Model(
    ground,
    x,
    [block],
    [ap.Spring(ground.point(0, 0), block.center, k), ap.Generalized({x: m * g * grip * sp.sign(slip)}, "friction")],
    name="block on a belt",
    values={m: 1.0, k: 40.0, g: 9.81, belt: 0.2, mu_s: 0.6, mu_k: 0.4, v_s: 0.1},
)

system = ap.compile(ap.derive(model)).bind()
motion = ap.simulate(system, {x: 0.0}, until=10.0, points=2001)
print(motion, "\n")

print("       time [s]   spring force [N]   speed [m/s]")
for occurrence in motion.occurrences[:6]:
    state = motion.at(occurrence.t)
    print(f"{occurrence.t:15.12f}   {40 * state[x]:16.12f}   {state[x.rate]:.12f}")
sticking = np.abs(motion[x.rate] - 0.2) < 1e-12
print("\n" + repr(motion.check()))
print(f"\nsticks {100 * float(sticking.mean()):.1f} % of the time; lets go at mu_s m g = {0.6 * 9.81:.3f} N")

if len(sys.argv) > 1:
    motion.plot(x, x.rate, path=sys.argv[1])
