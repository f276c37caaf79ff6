"""A two-link arm draws a line: plan it, see what it demands, follow it with a drive that knows nothing of friction.

Aim: a task as a constraint, the limits that the plan breaks, the pace at which it keeps them, and a tracking law on a
mechanism that differs from the law's model.
Source: the programme as in Jarzębowska's work; the law is computed torque.
"""

import sys

import sympy as sp

import appell as ap
from appell.planning import Limits, follow

q1, q2 = ap.coordinates("q1 q2", "rad")
tau1, tau2 = ap.inputs("tau1 tau2", "N*m")

ground = ap.Frame("ground")
upper = ground.rotate("z", q1)
lower = upper.rotate("z", q2)
elbow = upper.point(0.5, 0)
hand = elbow + lower.vector(0.4, 0)
bodies = [
    ap.RigidBody("upper arm", 2, elbow / 2, upper, (0, 0, 0.04)),
    ap.RigidBody("forearm", 1.5, elbow + lower.vector(0.2, 0), lower, (0, 0, 0.02)),
]
motors = ap.Generalized({q1: tau1, q2: tau2}, "motors")
arm = ap.Model(ground, (q1, q2), bodies, [motors], name="arm")

along = (1 - sp.cos(sp.pi * ap.t)) / 2  # from rest to rest in a second
task = follow(hand, ground.point(0.6 - along / 2, 0.2 + along / 2), name="line")
drawn = ap.Model(ground, (q1, q2), bodies, [], [task], name="arm on a line", start={q1: -0.4, q2: 1.5}, until=1.0)
plan = ap.plan(drawn, limits=Limits(torque={q1: 2.5, q2: 1.0}))
print(plan, "\n")
slower = plan.suggest()
print(f"feasible at {slower.motion.times[-1]:.3f} s instead of {plan.motion.times[-1]:.3f} s\n")

law = ap.control.ComputedTorque(arm, rates=12.0)
rough = ap.friction.Coulomb(q2, kinetic=0.1).on(ap.friction.Viscous(q1, 0.4).on(arm))
run = ap.track(ap.compile(ap.derive(rough)), slower, law, limits={"tau1": 3.5, "tau2": 1.5}, start={q1: -0.3})
print(run)

if len(sys.argv) > 1:
    run.plot(sys.argv[1])
