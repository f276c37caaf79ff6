"""A two-link arm whose hand draws a path of programmed curvature."""

from __future__ import annotations

from sympy import cos, sin

from appell.model.body import RigidBody
from appell.model.force import Generalized
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters, t
from appell.model.task import curvature
from appell.model.values import whole


def curvature_arm(order: int = 2, realization: str = "ideal") -> Model:
    r"""A horizontal two-link arm; the path of its hand has the curvature $\kappa = k_0 + k_1\sin t$.

    The programme $\dot x\ddot y - \dot y\ddot x - \kappa v^3 = 0$ is of order two in the joint angles; how fast the
    hand goes is left to the dynamics. Differentiated once it is a programme on the rate of the curvature, order three:
    the same motion from the same start.

    Options: order, 2 (curvature) or 3 (its rate); realization, "ideal", or for order 3 "gauss", another motion.

    Parameters of the model: l1, l2, lengths; m1, m2, masses of uniform links; tau, amplitude of the torque tau cos t of
    the shoulder; c, damping of the elbow; k0, k1 of the curvature.

    Reference: Jarzebowska et al., section 2 (programmes of order two and three).
    """
    q1, q2 = coordinates("q1 q2", "rad", "angle of the shoulder; angle of the elbow")
    l1, l2, m1, m2 = parameters(
        "l1 l2 m1 m2",
        "m m kg kg",
        "length of the upper arm; length of the forearm; mass of the upper arm; mass of the forearm",
    )
    tau, c, k0, k1 = parameters(
        "tau c k0 k1",
        "N*m N*m*s/rad 1/m 1/m",
        "amplitude of the torque of the shoulder; damping of the elbow; mean curvature of the path; amplitude of the "
        "curvature",
    )

    ground = Frame("ground")
    upper = ground.rotate("z", q1, "upper")
    lower = upper.rotate("z", q2, "lower")
    elbow = upper.point(l1, 0)
    arm = RigidBody("upper arm", m1, elbow / 2, upper, (0, 0, m1 * l1**2 / 12))
    forearm = RigidBody("forearm", m2, elbow + lower.vector(l2 / 2, 0), lower, (0, 0, m2 * l2**2 / 12))
    hand = elbow + lower.vector(l2, 0)
    return Model(
        ground,
        (q1, q2),
        [arm, forearm],
        [Generalized({q1: tau * cos(t), q2: -c * q2.rate}, "joints")],
        [curvature(hand, k0 + k1 * sin(t), differentiate=whole("order", order, 2) - 2, realization=realization)],
        name="curvature arm",
        description="a two-link arm whose hand draws a path of programmed curvature",
        values={l1: 0.5, l2: 0.4, m1: 2.0, m2: 1.5, tau: 0.3, c: 0.1, k0: 2.0, k1: 1.0},
        start={q1: 0.3, q2: 1.2, q1.rate: 0.8, q2.rate: 0.5},
        until=1.5,
    )
