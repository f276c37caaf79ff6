"""The rattleback prefers one sense of turning: a sweep over the spin it is given.

Aim: a stone that rolls on an ellipsoid, its axes of inertia a little off those of the surface, spun both ways at many
rates; which of them turn round within 10 s, and when. Energy is constant all the while, angular momentum about the
vertical is not: the ground pushes sideways.
Source: Kane and Levinson 1982, Int. J. Non-Linear Mech. 17, 175-186 (the stone); the turning round at -5 rad/s is
theirs.
"""

import sys

import numpy as np

import appell as ap

model = ap.library.rattleback()
yaw = model.coordinates[2]
system = ap.compile(ap.derive(model)).bind()
turned = ap.Event(yaw.rate, name="stands still")
spins = np.concatenate([np.linspace(-8, -1, 15), np.linspace(1, 8, 15)])
study = ap.sweep(system, {yaw.rate: spins}, until=10.0, points=101, columns=[yaw.rate], events=[turned], progress=False)

print("spin [rad/s]   turns round after")
for spin, when in zip(spins, study["event_time"].sel(event="stands still").values, strict=True):
    print(f"{spin:8.1f}       {f'{when:.2f} s' if np.isfinite(when) else '-'}")

if len(sys.argv) > 1:
    study.plot("yaw.rate", against="yaw.rate", path=sys.argv[1])
