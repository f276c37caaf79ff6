"""A walker without a motor: two legs, a hip and two small feet go down a slope for ever, if they are let go right.

Aim: the gait, by Newton's method with the slopes of a whole step, through the heel strike; and the multipliers of
Floquet, which say that it is stable.
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

# A step from one moment at which the standing leg is upright to the next: x(T) = x(0) for b, a', b' and the time T.
names, x = ["a", "b", "a.rate", "b.rate"], np.array([0.05, -0.06, 0.28, 3.87])
for _ in range(20):
    step = ap.simulate(system, dict(zip(names, [0.0, *x[:3]], strict=True)), until=x[3], events=[strike])
    slopes = step.sensitivities(names).isel(t=-1)
    S, end = np.array([slopes[name] for name in names]), step.at(x[3]).array
    missed = end - np.array([0.0, *x[:3]])
    if np.abs(missed).max() < 1e-13:
        break
    x -= np.linalg.solve(np.column_stack([(S - np.eye(4))[:, 1:], system.rhs(x[3], end)]), missed)

print(f"a step takes {x[3]:.6f}, missed by {np.abs(missed).max():.0e}; heel strike at {step.occurrences[0].t:.6f}")
print("multipliers: " + ", ".join(f"{e:.4f}" for e in np.linalg.eigvals(S)))

pushed = dict(zip(names, [0.0, *(1.03 * x[:3])], strict=True))
walk = ap.simulate(system, pushed, until=10 * x[3], events=[strike], points=2001)
late = np.diff([o.t for o in walk.occurrences])
print("steps after a start that is off by 3 %: " + ", ".join(f"{e:.4f}" for e in late))

if len(sys.argv) > 1:
    walk.plot(a, b, path=sys.argv[1])
