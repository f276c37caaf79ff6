"""A bouncing ball and a leaking cart: events that reset, kinks that are located.

Aim: a bounce is an event with a reset; bounces that pile up (Zeno) end the run, and the run names their limit. A
condition inside the equations (here: the outlet closes at 110 kg) needs no event: kinks are located by themselves.
Source: the limit is the geometric series sqrt(2h/g) (1 + e)/(1 - e); the cart's speed the integral of F/m(t).
"""

import sys
from math import log, sqrt

import sympy as sp

import appell as ap

ground = ap.Frame("ground")

height = ap.coordinates("height", "m")
ball = ap.Particle("ball", 1.0, ground.point(0, 0, height))
falling = ap.Model(ground, height, [ball], [ap.Gravity(-9.81 * ground.z)], name="ball")
bounce = ap.Event(height, direction=-1, reset={height.rate: -0.8 * height.rate}, name="bounce")
motion = ap.simulate(ap.compile(ap.derive(falling)), {height: 1.0}, until=10.0, events=[bounce])
print(motion)
print(motion.check())
print(f"exact limit {sqrt(2 / 9.81) * 1.8 / 0.2:.9f} s\n")

place = ap.coordinates("place", "m")
mass = ap.states("mass", "kg")  # what leaks out has the speed of the cart and pushes nothing
cart = ap.Particle("cart", mass, ground.point(place, 0))
leak = sp.Piecewise((-2, mass > 110), (0, True))
leaking = ap.Model(ground, place, [cart], [ap.Force(10 * ground.x, cart)], states={mass: leak}, name="leaking cart")
run = ap.simulate(ap.compile(ap.derive(leaking)), {mass: 120.0}, until=10.0)
print(run)
print(run.check())
end = run.at(10.0)
print(f"mass at the end {end[mass]:.12f} kg, exact 110 kg")
print(f"speed at the end {end[place.rate]:.12f} m/s, exact {5 * log(120 / 110) + 50 / 110:.12f} m/s")

if len(sys.argv) > 1:
    motion.plot(height, height.rate, path=sys.argv[1])
