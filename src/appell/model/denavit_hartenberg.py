r"""Chains from Denavit-Hartenberg rows, in both conventions.

Standard:  $T_i = T_{i-1}\,R_z(\theta)\,T_z(d)\,T_x(a)\,R_x(\alpha)$, the joint moves about or along $z_{i-1}$.
Modified:  $T_i = T_{i-1}\,R_x(\alpha)\,T_x(a)\,R_z(\theta)\,T_z(d)$, the joint moves about or along $z_i$.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.model.joint import Joint, Link, checked_kind, joint_names, order
from appell.model.placement import Placement, check_finite
from appell.model.rotation import exact_quarters, exact_zero, unit_axis
from appell.model.screw_joints import made_link
from appell.model.values import formula_of

CONVENTIONS = ("standard", "modified")


def links_from_rows(
    rows: Sequence[Sequence[Any]], joints: Sequence[Joint], convention: str, base: Placement
) -> list[Link]:
    """Links from rows (theta, d, a, alpha) and the links' data.

    Args:
        rows: For each joint theta, d, a, alpha; the joint variable is added to theta or to d.
        joints: For each its kind, and mass, center, inertia, names and limits of its link.
        convention: standard or modified.
        base: Where the frame 0 of the rows is in the ground.
    """
    if convention not in CONVENTIONS:
        raise ModelError(f"The convention of the rows is {convention!r}; there are: {', '.join(CONVENTIONS)}.")
    if not (isinstance(rows, Sequence | np.ndarray) and isinstance(joints, Sequence)):
        raise ModelError("Give a list of rows (theta, d, a, alpha) and a list of appell.Joint(...), one for each row.")
    if len(rows) != len(joints):
        raise ModelError(f"{len(rows)} rows and {len(joints)} joints were given; each row needs its joint.")
    names = joint_names(joints)
    order(names, [None] * len(names))
    links: list[Link] = []
    for i, (row, joint, name) in enumerate(zip(rows, joints, names, strict=True)):
        if joint.frame is not None or joint.parent is not None or any(e != 0 for e in joint.at):
            raise ModelError(f"The row of the joint {name!r} says where it is; leave out at, frame and parent.")
        if joint.kind == "helical":
            raise ModelError(f"The joint {name!r} is helical; rows are for revolute and prismatic joints.")
        theta, d, a, alpha = _row(row, name)
        if convention == "standard":
            before = Placement()
            after = Placement.turned((a * sp.cos(theta), a * sp.sin(theta), d), ("z", theta), ("x", alpha))
        else:
            before = Placement.turned((a, 0, 0), ("x", alpha))
            after = Placement.turned((0, 0, d), ("z", theta))
        if i == 0:
            before = base.after(before)
        links.append(
            made_link(
                joint=joint,
                link=joint.link or f"link{i + 1}",
                name=name,
                parent=i - 1,
                axis=unit_axis("z"),
                pitch=checked_kind(joint.kind, joint.pitch, name),
                before=before,
                after=after,
            )
        )
    return links


def _row(row: Sequence[Any], name: str) -> tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr]:
    if not isinstance(row, Iterable):
        raise ModelError(f"The row of the joint {name!r} needs theta, d, a, alpha; got {row!r}.")
    values = [exact_zero(formula_of(e, f"A number in the row of the joint {name!r}")) for e in row]
    if len(values) != 4:
        raise ModelError(f"The row of the joint {name!r} needs theta, d, a, alpha; got {len(values)} numbers.")
    check_finite(values, f"The row of the joint {name!r}")
    theta, d, a, alpha = values
    return exact_quarters(theta), d, a, exact_quarters(alpha)
