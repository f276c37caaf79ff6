"""Why there is no state on the constraints as it is wanted, and what to give instead."""

from __future__ import annotations

import numpy as np

from appell.equations import Equations
from appell.errors import InconsistentStartError
from appell.kinematics.consistency import contradicting, project_velocities

CLOSE = 1e-9  # share of a residual that counts as none


def no_positions(equations: Equations, residual: np.ndarray, kept: list[str], free: int) -> InconsistentStartError:
    """Why no positions are on the rows.

    Args:
        equations: The equations.
        residual: What the nearest ones leave of the rows and lower levels.
        kept: Coordinates that are held.
        free: How many are not.
    """
    mechanics = equations.mechanics
    names = (*(mechanics.row_names[i] for i in mechanics.position_rows), *mechanics.level_names[0])
    worst = int(np.argmax(np.abs(residual)))
    count = len([i for i in mechanics.position_rows if i in equations.split.rows])
    reason = (
        f"{count} independent position rows need {count} coordinates to adjust and have {free}; keep fewer of "
        f"{', '.join(kept)}"
        if free < count
        else "the dimensions may not close, or the guess is on another branch; give near=... closer to a real one"
    )
    return InconsistentStartError(
        f"No positions satisfy the constraint {names[worst]!r} (nearest miss {abs(residual[worst]):.3g}): {reason}."
    )


def no_velocities(
    equations: Equations,
    p: np.ndarray,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    z: np.ndarray,
    left: float,
    kept: list[str],
) -> InconsistentStartError:
    """Why no velocities are on the rows.

    Args:
        equations: The equations.
        p: Parameters.
        t: Time.
        q: Positions.
        v: The nearest velocities.
        z: Extra states.
        left: The largest residual that they leave.
        kept: Rates that are held.
    """
    mechanics = equations.mechanics
    found, J = (np.array(e) for e in mechanics.levels["velocity"](t, q, v, z, p))
    residual, names = found.ravel(), (*mechanics.row_names, *mechanics.level_names[1])
    row = names[int(np.argmax(np.abs(residual)))]
    held = ""
    if kept:
        held = f" while {', '.join(kept)} " + ("keeps its given value" if len(kept) == 1 else "keep their given values")
    if ways := _ways(equations, p, t, q, v, z, kept):
        return InconsistentStartError(
            f"The constraint {row!r} can be satisfied in more than one way{held}, and none is nearest to the guess; "
            f"for example {', or '.join(ways)}. Give one of them, or guesses near=... on the wanted branch."
        )
    said = f"No velocities satisfy the constraint {row!r} (left over: {left:.3g})"
    if against := contradicting(residual, J, names):
        return InconsistentStartError(
            f"{said}: at these positions the rows {', '.join(against)} contradict each other."
        )
    said += f"{held}; give fewer of them, or" if kept else " at these positions;"
    return InconsistentStartError(f"{said} give guesses near=... on the wanted branch.")


def _ways(
    equations: Equations, p: np.ndarray, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, kept: list[str]
) -> list[str]:
    """Up to two ways to satisfy rows that are nonlinear in the velocities, in words; none if none is found."""
    mechanics, rates = equations.mechanics, [s.rate.label for s in equations.model.coordinates]
    free = np.array([i for i, rate in enumerate(rates) if rate not in kept], dtype=int)
    if mechanics.linear or not free.size:
        return []
    random, size, ways = np.random.default_rng(1), max(1.0, float(np.max(np.abs(v)))), []
    for sign in (1, -1, 1, -1, 1, -1):
        guess = v.copy()
        guess[free] = sign * size * random.uniform(0.3, 1.2, free.size)
        found, left = project_velocities(mechanics, t, q, guess, z, p, free, levels=True)
        words = ", ".join(f"{rates[i]} = {found[i]:.6g}" for i in free)
        if left <= CLOSE * max(1.0, float(np.max(np.abs(found)))) and words not in ways:
            ways.append(words)
    return ways[:2]
