"""What may be left out of a first approximation: coordinates on which nothing else depends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from appell.analysis.tangent import Tangent
from appell.errors import EquilibriumError, ModelError
from appell.model.values import unknown

if TYPE_CHECKING:
    from appell.analysis.blocks import Jets

STEADY = 1e-7  # acceleration, against the size of what makes it up, that still counts as rest
UNSEEN = 1e-9  # share of all else, in natural units, that depends on a coordinate on which nothing does


def left_out(tangent: Tangent, ignore: list[str], jet: Jets | None = None) -> tuple[str, ...]:
    """The coordinates that are no part of the states; raises unless only cyclic ones run.

    Args:
        tangent: The equations about the point.
        ignore: Cyclic coordinates at rest to leave out as well.
        jet: Derivatives of energies, forces and constraints at the point, where they are known.
    """
    model = tangent.at.model
    labels = [s.label for s in model.coordinates]
    for name in ignore:
        if name not in labels:
            raise ModelError(unknown(name, labels, f"coordinate of {model.name!r}"))
    if not np.any(tangent.at.state.v) and not ignore:
        quick = jet if tangent.steady.autonomous else None
        residual = tangent.rest() if quick is None else quick.imbalance(tangent.at, STEADY)
        if residual > STEADY:
            raise EquilibriumError(
                f"The point is not an equilibrium of {model.name!r} with these inputs: relative residual "
                f"{residual:.2g}; find one by equilibrium(system, {{...}})."
            )
        return ()
    running = {name for name in changing(tangent) if name in labels}
    dropped = blind(tangent, running | set(ignore))
    moving = [name for name in changing(tangent) if name not in dropped]
    if moving:
        raise EquilibriumError(
            f"The point is not a steady motion of {model.name!r}: {', '.join(moving[:4])} would change, and "
            f"{'they are' if len(moving) > 1 else 'it is'} not cyclic (or not at equilibrium)."
            + _remedy(tangent, running | set(ignore), set(moving), ignore)
        )
    stubborn = [name for name in ignore if name not in dropped]
    if stubborn:
        raise EquilibriumError(f"{', '.join(stubborn)} cannot be ignored: the motion depends on it.")
    return tuple(name for name in labels if name in dropped)


def changing(tangent: Tangent) -> tuple[str, ...]:
    """Entries of (q, u, z) that do not keep their values."""
    scale = np.linalg.norm(tangent.full * np.maximum(np.abs(tangent.x), 1.0), axis=1) + 1.0
    return tuple(np.array(tangent.names)[np.abs(tangent.rates) > STEADY * scale].tolist())


def _remedy(tangent: Tangent, candidates: set[str], moving: set[str], ignore: list[str]) -> str:
    """What to ignore besides, where only coordinates that nothing else needs depend on what moves."""
    more = [name for name in ignorable(tangent) if name not in candidates]
    if not moving <= blind(tangent, candidates | set(more)):
        return ""
    for name in tuple(more):
        fewer = [e for e in more if e != name]
        if moving <= blind(tangent, candidates | set(fewer)):
            more = fewer
    return f" With ignore={[*ignore, *more]!r} it is one: nothing else depends on {', '.join(sorted(moving))}."


def ignorable(tangent: Tangent) -> tuple[str, ...]:
    """Coordinates that could move although nothing depends on them, and that are not left out."""
    unseen, rows = blind(tangent, set(tangent.names)), tangent.seen[0][1]
    held = np.diag(np.linalg.pinv(rows, rcond=1e-9) @ rows) > 1 - UNSEEN
    names = (s for s, at_rest in zip(tangent.names, held, strict=True) if not at_rest)
    return tuple(s for s in names if s in unseen and s not in tangent.dropped)


def blind(tangent: Tangent, candidates: set[str]) -> set[str]:
    """The most of some coordinates on which nothing else depends: they may depend on each other.

    Args:
        tangent: The equations about the point.
        candidates: Names of coordinates.
    """
    places = tangent.names[: len(tangent.at.model.coordinates)]
    found = [i for i, name in enumerate(places) if name in candidates]
    while found:
        seen = np.max([_share(found, *sample) for sample in tangent.seen], axis=0)
        if not np.any(seen > UNSEEN):
            break
        found = [i for i, share in zip(found, seen, strict=True) if share <= UNSEEN]
    return {places[i] for i in found}


def shows(tangent: Tangent, names: set[str]) -> bool:
    """Whether a displacement of some coordinates pushes a system at rest: then no speeds hide them.

    Args:
        tangent: The equations about the point.
        names: Names of coordinates.
    """
    found = [i for i, name in enumerate(tangent.names) if name in names]
    return not np.any(tangent.at.state.v) and bool(np.any(_share(found, *tangent.seen[0]) > UNSEEN))


def _share(found: list[int], slope: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """How much of all else depends on each of some coordinates, as far as rows among them let them move."""
    others = np.setdiff1d(np.arange(slope.shape[0]), found)
    size = float(np.max(np.abs(slope[np.isfinite(slope)]), initial=0.0))
    apart = ~np.any(rows[:, others], axis=1)  # such as the norm of a quaternion
    moved = np.vstack([slope[others], size * rows[~apart]])[:, found]
    if np.any(rows[apart][:, found]) and np.all(np.isfinite(moved)):
        inner = rows[apart][:, found]
        moved = moved - moved @ np.linalg.pinv(inner, rcond=1e-9) @ inner
    moved = np.where(np.isfinite(moved), np.abs(moved), np.inf)
    return np.max(moved, axis=0, initial=0.0) / max(size, 1e-300)
