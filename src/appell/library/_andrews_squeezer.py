"""Andrews' squeezing mechanism."""

from __future__ import annotations

from appell.model.body import RigidBody
from appell.model.constraint import Holonomic
from appell.model.force import Spring, Torque
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def andrews_squeezer() -> Model:
    """Andrews' squeezing mechanism: a motor turns a crank, which works seven small bodies and stretches a spring.

    Three loops that end in one pin of the second body, six rows on seven angles, one degree of freedom. Everything lies
    in the plane and nothing weighs. In 0.03 s the crank turns two and a half times: a usual test of integrators for
    constrained motion.

    Parameters of the model: m1 ... m7 and i1 ... i7, masses and central moments of inertia; rr, ra, d, da, ss, sa, sb,
    sc, sd, e, ea, zt, ta, tb, zf, fa, u, ua, ub, lengths within the bodies; xa, ya, xb, yb, the two fixed pins besides
    the crank's at the origin; xc, yc, where the spring is fixed; c0, l0, its stiffness and free length; mom, torque of
    the motor. All letters are those of the reference.
    Coordinates: beta of the crank and Theta of the rod on it; gamma of the body that the spring pulls; delta and
    epsilon of the bodies on the pin at (xa, ya), Phi and Omega of those on them. Theta, Phi, Omega are relative.

    Reference: Andrews and Ormrod 1986; Hairer and Wanner 1996, section VII.7, whose numbers these are;
    problem A03 of the IFToMM library of multibody benchmarks (Gonzalez et al. 2006).
    """
    names = "beta Theta gamma Phi delta Omega epsilon"
    beta, Theta, gamma, Phi, delta, Omega, epsilon = q = coordinates(names, "rad", "angle of a body")
    m = parameters("m1:8", "kg", "mass of a body")
    i = parameters("i1:8", "kg*m^2", "central moment of inertia of a body")
    rr, d, ss, e, zt, zf, u = arms = parameters("rr d ss e zt zf u", "m", "distance of the two pins of a body")
    centers = parameters("ra da sa sb ea ta tb fa ua ub", "m", "place of the centre of a body")
    ra, da, sa, sb, ea, ta, tb, fa, ua, ub = centers
    fixed = xa, ya, xb, yb, xc, yc = parameters("xa ya xb yb xc yc", "m", "place of a fixed point")
    sc, sd = ends = parameters("sc sd", "m", "place of the end of the spring on body 3")
    c0, l0, mom = parameters("c0 l0 mom", "N/m m N*m", "stiffness of the spring; its free length; torque of the motor")

    ground = Frame("ground")
    crank = ground.pin(beta)
    rod = crank.pin(Theta, at=(rr, 0, 0))
    rocker = ground.pin(gamma, at=(xb, yb, 0))
    left = ground.pin(delta, at=(xa, ya, 0))
    upper = left.pin(Phi, at=(zt, 0, 0))
    right = ground.pin(epsilon, at=(xa, ya, 0))
    lower = right.pin(Omega, at=(0, -u, 0))
    places = (
        crank.point(ra, 0), rod.point(-da, 0), rocker.point(sb, -sa), upper.point(0, ea - e), left.point(ta, tb),
        lower.point(zf - fa, 0), right.point(-ub, -ua),
    )  # fmt: skip
    frames = crank, rod, rocker, upper, left, lower, right
    bodies = [
        RigidBody(f"body {k + 1}", m[k], place, frame, (0, 0, i[k]))
        for k, (place, frame) in enumerate(zip(places, frames, strict=True))
    ]
    knee = rod.point(-d, 0)
    masses = 0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498
    inertias = 2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5
    to_centers = 0.00092, 0.0115, 0.01874, 0.01043, 0.01421, 0.02308, 0.00916, 0.01421, 0.01228, 0.00449
    values = {
        **dict(zip((*m, *i), (*masses, *inertias), strict=True)),
        **dict(zip(arms, (0.007, 0.028, 0.035, 0.02, 0.04, 0.02, 0.04), strict=True)),
        **dict(zip(centers, to_centers, strict=True)),
        **dict(zip(fixed, (-0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072), strict=True)),
        **dict(zip((*ends, c0, l0, mom), (0.018, 0.02, 4530.0, 0.07785, 0.033), strict=True)),
    }
    angles = (
        -0.06171389001427650, 0.0, 0.4552798191630704, 0.2226683901658859, 0.4873649795438426, -0.2226683901658859,
        1.230547444549821,
    )  # fmt: skip
    return Model(
        ground,
        q,
        bodies,
        [
            Torque(mom * ground.z, bodies[0], name="motor"),
            Spring(rocker.point(sd, -sc), ground.point(xc, yc), c0, l0, name="spring"),
        ],
        [
            Holonomic(knee - rocker.point(0, -ss), "knee on body 3"),
            Holonomic(knee - upper.point(0, -e), "knee on body 4"),
            Holonomic(knee - lower.point(zf, 0), "knee on body 6"),
        ],
        name="Andrews' squeezer",
        description="a motor works seven bodies in three loops within hundredths of a second",
        values=values,
        start=dict(zip(q, angles, strict=True)),
        until=0.03,
    )
