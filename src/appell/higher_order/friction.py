"""Joint friction that grows with the load of the joint, and its time derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.errors import ModelError
from appell.graph.series import Series, derivative, function, product, sqrt, tanh
from appell.kinematics.newton_euler import NewtonEuler
from appell.model.values import number


@dataclass(frozen=True)
class Friction:
    r"""$Q_{fd,i} = b_i\dot q_i + \mu_i\,(d_i/2)\,|k_i\times f_i|\,\mathrm{sgn}\,\dot q_i$ (no d/2 for slides), (129).

    f is the whole force in the joint, so the friction grows with load, weight and acceleration. It acts along the axis,
    and $k\times f$ does not contain what acts along the axis: nothing is implicit in inverse dynamics.

    Args:
        viscous: b, one number for each joint or one for all.
        dry: mu, likewise.
        diameter: d of the bearing, likewise; not used by prismatic joints.
        smoothing: Speed v_s of tanh(q'/v_s) in place of the sign; left out: the sign itself, whose derivatives exist
            only while a joint moves.

    Reference: Negrean et al. 2025, (129)-(132).
    """

    viscous: Any = 0.0
    dry: Any = 0.0
    diameter: Any = 0.0
    smoothing: float | None = None

    def column(self, name: str, joints: Sequence[str]) -> np.ndarray:
        """One of the coefficients for every joint.

        Args:
            name: `"viscous"`, `"dry"` or `"diameter"`.
            joints: Names of the joints.
        """
        try:
            given = np.asarray(getattr(self, name), dtype=float)
        except (TypeError, ValueError):
            raise ModelError(
                f"Friction({name}=...) needs one number, or one for each of {', '.join(joints)}; got "
                f"{getattr(self, name)!r}."
            ) from None
        if given.ndim and given.shape != (len(joints),):
            raise ModelError(
                f"Friction({name}=...) needs one number, or one for each of {', '.join(joints)}; got {given.tolist()}."
            )
        if not np.all(np.isfinite(given)) or np.any(given < 0):
            raise ModelError(f"Friction({name}=...) needs numbers that are not negative; got {given.tolist()}.")
        return np.broadcast_to(given, (len(joints),))

    def checked(self, joints: Sequence[str]) -> Friction:
        """The same, refused if a number is missing or negative.

        Args:
            joints: Names of the joints.
        """
        for name in ("viscous", "dry", "diameter"):
            self.column(name, joints)
        if self.smoothing is not None and not number("smoothing", self.smoothing) > 0:
            raise ModelError(f"Friction(smoothing=...) is a speed above zero, or None; got {self.smoothing!r}.")
        return self


def friction_series(friction: Friction, recursion: NewtonEuler, q: Sequence[Series], length: int) -> list[Series]:
    """The series of Q_fd along a motion that the recursion has gone through.

    Args:
        friction: The coefficients.
        recursion: Forces in the joints.
        q: Series of the joint variables.
        length: How many coefficients.
    """
    joints = recursion.skeleton.joints
    names = [joint.name for joint in joints]
    b, mu, d = (friction.column(name, names) for name in ("viscous", "dry", "diameter"))
    found: list[Series] = []
    for i, joint in enumerate(joints):
        rate = derivative(q[i])[:length]
        total: Series = [float(b[i]) * x for x in rate]
        factor = float(mu[i] * d[i] / 2 if joint.turns else mu[i])
        if factor:
            x, y = (component[:length] for component in recursion.moving[i].f[:2])
            load = sqrt([u + v for u, v in zip(product(x, x), product(y, y), strict=True)])
            if friction.smoothing is None:
                direction: Series = [function("sign", rate[0]), *([0] * (length - 1))]
            else:
                direction = tanh([r / friction.smoothing for r in rate])
            total = [u + factor * v for u, v in zip(total, product(load, direction), strict=True)]
        found.append(total)
    return found
