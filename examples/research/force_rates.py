"""Drives that need time: how quickly may an arm move if its torques cannot jump?

Aim: slow a point-to-point motion down until torques and torque rates are within what the drives can do.
Source: Negrean and others 2025 (forces of higher order); Guarino Lo Bianco 2009 (recursive torque rates).
"""

import sys

import numpy as np

import appell as ap

arm = ap.higher_order.Dynamics(ap.library.rrp_arm(), payload=(0, 0, -20, 0, 0, 0))
start, end = [0.0, 0.3, 0.2], [1.5, -0.6, 0.6]
torque, rate = (25.0, 40.0, 60.0), (60.0, 90.0, 150.0)

# As quick as the joints themselves allow.
move = ap.higher_order.polynomial(start, end, degree=7, limits={"velocity": 3.0, "jerk": 120.0})
found = ap.higher_order.Profile(arm, move).check(torque, rate)
print(f"{move.end:.4f} s: {found}")

# Slower by bisection, until no drive is asked for too much.
quick, slow = 1.0, 4.0
while slow / quick > 1 + 1e-6:
    middle = np.sqrt(quick * slow)
    ok = ap.higher_order.Profile(arm, move.slowed(middle)).check(torque, rate).ok
    quick, slow = (quick, middle) if ok else (middle, slow)
kept = move.slowed(slow)
profile = ap.higher_order.Profile(arm, kept)
print(f"{kept.end:.4f} s: {profile.check(torque, rate)}")
print("largest rates:", profile.check(torque, rate).peaks["rate"].round(3), "of", rate)

if len(sys.argv) > 1:
    profile.plot(sys.argv[1])
