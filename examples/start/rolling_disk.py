"""A disk rolling on a plane: five coordinates, two nonholonomic constraints, three equations.

Aim: quasi-velocities chosen by hand, equations as a textbook prints them, a run to machine precision, its proof.
Source: Appell 1900; Neimark and Fufaev 1972, chapter II.
"""

import sys

import appell as ap

x, y = ap.coordinates("x y", "m")
yaw, lean, spin = ap.coordinates("yaw lean spin", "rad")
w1, w2, w3 = ap.speeds("w1 w2 w3", "rad/s")
m, r, g = ap.parameters("m r g", "kg m m/s^2")

ground = ap.Frame("ground")
plane = ground.rotate("z", yaw).rotate("x", lean)  # carries the disk's plane, does not spin
wheel = plane.rotate("y", spin)
contact = ground.point(x, y)
inertia = (m * r**2 / 4, m * r**2 / 2, m * r**2 / 4)
disk = ap.RigidBody("disk", m, contact + r * plane.z, wheel, inertia)
model = ap.Model(
    ground,
    coordinates=(x, y, yaw, lean, spin),
    bodies=[disk],
    forces=[ap.Gravity(-g * ground.z)],
    constraints=[ap.Rolling(disk, contact)],
    name="disk",
)

omega = plane.components(disk.angular_velocity)  # in axes that do not spin: the spin angle drops out
equations = ap.derive(model, ap.GibbsAppell(speeds=dict(zip((w1, w2, w3), omega, strict=True))))
print(equations.text(), "\n")
print(ap.verify(model, equations.formulation), "\n")

system = ap.compile(equations).bind({m: 1.0, r: 0.3, g: 9.81})
start = system.state({lean: 0.1, w1: 0.3, w2: 8.0})
motion = ap.simulate(system, start, until=10.0)
print(motion, "\n")
print(motion.check(), "\n")

contact_force = motion.reactions("rolling")  # never computed during the run
print(f"largest lean {float(motion[lean].max()):.9f} rad")
print(f"largest force along y of the ground {float(abs(contact_force['rolling.y']).max()):.6f} N")

if len(sys.argv) > 1:
    motion.plot(yaw, lean, w1, w2, w3, path=sys.argv[1])
