"""What a chain is put together from: letters, frames, screws, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import MissingValueError, ModelError
from appell.model.chain_data import ChainData
from appell.model.frame import Frame
from appell.model.inertia import warn_if_impossible
from appell.model.joint import Link
from appell.model.screws import hat
from appell.model.symbols import Evolving, Input, Parameter, Time, coordinates


def link_frames(ground: Frame, links: Sequence[Link], q: Sequence[sp.Expr]) -> tuple[Frame, ...]:
    """The frames of the links, hung one on the other: seat, joint, link; q has the variables of all joints."""
    frames: list[Frame] = []
    for link, x in zip(links, q, strict=True):
        outer = ground if link.parent < 0 else frames[link.parent]
        seat = link.before.frame(outer, f"seat of {link.joint}")
        if link.kind == "prismatic":
            moving = seat.slide(x, link.axis, name=link.name)
        else:
            moving = seat.pin(x, link.axis, [link.pitch * x * k for k in link.axis], link.name)
        frames.append(link.after.frame(moving, link.name))
    return tuple(frames)


def body_screw(link: Link) -> np.ndarray:
    """A_i = Ad(F_i^-1) (k, h k), or (0, k) for a prismatic joint."""
    k, R = sp.Matrix(link.axis), link.after.rotation
    if link.kind == "prismatic":
        return np.array([*[sp.Integer(0)] * 3, *(R.T * k)], dtype=object)
    # The axis passes the origin of the joint's frame, which is at -R'f in the link's frame.
    w, point = R.T * k, -R.T * sp.Matrix(link.after.shift)
    return np.array([*w, *(point.cross(w) + link.pitch * w)], dtype=object)


def object_array(matrix: sp.Matrix) -> np.ndarray:
    """A SymPy matrix as an array of formulas."""
    return np.array(matrix.tolist(), dtype=object)


def floats(array: np.ndarray, values: Mapping[str, float]) -> np.ndarray:
    """Formulas as floats; refuses letters without a number and those that change."""
    result = np.empty(array.shape)
    for place, formula in np.ndenumerate(array):
        formula = sp.sympify(formula)
        for s in sorted(formula.free_symbols, key=str):
            if isinstance(s, Evolving | Input | Time):
                raise ModelError(f"The chain has {formula} in its data, which is no constant: {s} changes.")
            if getattr(s, "label", str(s)) not in values:
                raise MissingValueError(
                    f"The parameter {s} of the chain has no number; give values={{{str(s)!r}: ...}}."
                )
        if formula.free_symbols:
            formula = formula.subs({s: values[s.label] for s in formula.free_symbols})
        result[place] = float(formula)
    return result


def letters(make: Any, names: Sequence[str], kinds: Sequence[str]) -> tuple[Any, ...]:
    """Coordinates or inputs with units that fit the kinds of joints."""
    turning, sliding = ("rad", "m") if make is coordinates else ("N*m", "N")
    made = make(" ".join(names), " ".join(sliding if kind == "prismatic" else turning for kind in kinds))
    return made if isinstance(made, tuple) else (made,)


def link_formulas(links: Sequence[Link]) -> list[sp.Expr]:
    """Every formula that stands in the data of links."""
    found: list[sp.Expr] = []
    for link in links:
        found += [link.mass, *link.center, *link.inertia, *link.axis, link.pitch]
        for place in (link.before, link.after):
            found += [*place.shift, *(e for k, angle in place.turns for e in (*k, angle))]
    return found


def check_moved_mass(links: Sequence[Link]) -> None:
    """Every coordinate must move something that has inertia."""
    heavy = [link.mass != 0 or not link.inertia.is_zero_matrix for link in links]
    for i in reversed(range(len(links))):
        if links[i].parent >= 0:
            heavy[links[i].parent] |= heavy[i]
    _check_moved(links, heavy, "no mass and no inertia", "a mass")


def check_moved_inertia(links: Sequence[Link], data: ChainData) -> None:
    """M_jj = tr(S_j N_j S_j') > 0 at a generic pose, with N_j the pseudo-inertia of all that joint j carries."""
    q = np.sin(1.0 + np.arange(data.n))[:, None]
    poses, screws = data.poses(q)[0], hat(data.spatial_screws(q)[0])
    N = poses @ data.pseudo @ np.swapaxes(poses, 1, 2)
    for j in reversed(range(data.n)):
        if data.parents[j] >= 0:
            N[data.parents[j]] += N[j]
    felt = [bool(np.trace(S @ I @ S.T) > 1e-14 * np.trace(I)) for S, I in zip(screws, N, strict=True)]
    _check_moved(links, felt, "no inertia about its axis", "an inertia")


def _check_moved(links: Sequence[Link], felt: Sequence[bool], lack: str, remedy: str) -> None:
    """Refuse the last joint that nothing resists, neither along itself nor along one that moves with it."""
    led = {link.follows[0] for link, there in zip(links, felt, strict=True) if there and link.follows is not None}
    for i in reversed(range(len(links))):
        if not felt[i] and links[i].follows is None and i not in led:
            raise ModelError(
                f"The link {links[i].name!r} and all that the joint {links[i].joint!r} carries have {lack}, so that "
                f"nothing says how it moves; give the link {remedy}, or fix the joint."
            )


def warn_with_values(links: Sequence[Link], values: Mapping[str, float]) -> None:
    """Warn about links that cannot exist where suggested values give letters their numbers."""
    for link in links:
        found = link.inertia.free_symbols
        if found and all(isinstance(s, Parameter) and s.label in values for s in found):
            warn_if_impossible(link.name, 1, link.inertia.subs({s: values[s.label] for s in found}))


def joint_variables(q: Any, names: Sequence[str]) -> np.ndarray:
    """Values of the coordinates of a chain, of shape (..., n): finite floats, or formulas.

    Args:
        q: What was given.
        names: The coordinates.
    """
    q = np.asarray(q)
    if q.ndim == 0 or q.shape[-1] != len(names):
        raise ModelError(f"This chain has {len(names)} coordinates, {', '.join(names)}; got shape {q.shape}.")
    if q.dtype != object:
        try:
            q = q.astype(float, casting="same_kind")
        except TypeError:
            raise ModelError(f"The coordinates {', '.join(names)} must be numbers; got {q.tolist()}.") from None
        if not np.isfinite(q).all():
            bad = names[int(np.argwhere(~np.isfinite(q))[0][-1])]
            raise ModelError(f"The variable of the joint {bad!r} must be a finite number.")
    return q
