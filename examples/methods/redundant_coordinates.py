"""The tumbling of a free body in quaternions: more coordinates than freedoms, kept on their constraint.

Aim: the four components of a unit quaternion describe three freedoms without a singular attitude. The model adds the
norm as a constraint by itself, which is kept by projection; the speeds are the components of the angular velocity, in
which nothing becomes singular. Spun about its middle axis, the body turns over again and again (Dzhanibekov's effect).
Source: Euler 1765; Landau and Lifshitz, Mechanics, section 37: the middle component of the angular velocity is an
elliptic sine, whose zeros are 2 K(k)/p apart.
"""

import sys

import numpy as np
from scipy.special import ellipkm1

import appell as ap

attitude = ap.coordinates("e0 e1 e2 e3")
ground = ap.Frame("ground")
frame = ground.spherical(*attitude)
I1, I2, I3 = 1.0, 2.0, 3.0
body = ap.RigidBody("body", 1.0, ground.point(0, 0), frame, (I1, I2, I3))
model = ap.Model(ground, attitude, [body], name="free body")
print(model)

omega = frame.components(body.angular_velocity)
flip = ap.Event(omega[1], name="flip")
system = ap.compile(ap.derive(model)).bind()
# At (1, 0, 0, 0) the rates of e1, e2, e3 are half the components of the angular velocity.
start = system.state({"e0": 1.0, "e1.rate": 0.0005, "e2.rate": 0.5, "e3.rate": 0.0005})
about = dict(zip(("omega1", "omega2", "omega3"), omega, strict=True))
motion = ap.simulate(system, start, until=100.0, events=[flip], outputs=about)
print("\n".join(motion.summary().splitlines()[:2]))
print(f"speeds {', '.join(map(str, system.equations.speeds))}, changed {len(motion.info['switches'])} times\n")
print(motion.check(), "\n")

momentum = ground.components(frame.vector(I1 * omega[0], I2 * omega[1], I3 * omega[2]))
drift = max(np.ptp(motion.evaluate(component)) for component in momentum)
print(f"angular momentum constant to {drift:.1e} kg m^2/s")

E2, M2 = I1 * 1e-6 + I2 + I3 * 1e-6, I1**2 * 1e-6 + I2**2 + I3**2 * 1e-6  # 2E and M^2
p = np.sqrt((I3 - I2) * (M2 - E2 * I1) / (I1 * I2 * I3))
k2 = (I2 - I1) * (E2 * I3 - M2) / ((I3 - I2) * (M2 - E2 * I1))
gap = np.diff([occurrence.t for occurrence in motion.occurrences])
print(f"seconds between flips {gap}, exact {2 * ellipkm1(1 - k2) / p:.8f}")

if len(sys.argv) > 1:
    motion.plot(*about, path=sys.argv[1])
