"""Starting states: what the user gave, completed by the constraints, and what to say when that fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from appell.code.multiplier_start import complete, rate_names
from appell.code.state import State, names_of
from appell.errors import InconsistentStartError, ModelError
from appell.kinematics.consistency import (
    NOISE,
    contradicting,
    project_positions,
    project_velocities,
    sizes,
    tolerances,
)
from appell.model.values import unknown

if TYPE_CHECKING:
    from appell.code.system import System

CLOSE = 1e-9  # difference of values, or share of a residual, up to which they are the same
SOLVED = 1e-15  # noise of coordinates that Newton's method has found
TINY = 1e-3  # what is smaller is judged by its own size


def check_names(system: System, *given: Mapping[str, float]) -> None:
    """Raise if starting values have names that no entry of the state has."""
    labels = (*names_of(system.model), *(s.label for s in system.equations.speeds), *rate_names(system.model))
    known = tuple(dict.fromkeys(labels))
    for values in given:
        for label in values:
            if label not in known:
                raise ModelError(unknown(label, known, f"entry of the state of {system.model.name!r}"))


def given_state(system: System, given: Mapping[str, float], t: float) -> State:
    """Positions as given, rates and speeds as given, the remaining rates from the constraints."""
    check_names(system, given)
    model, mechanics = system.model, system.equations.mechanics
    q = np.array([given.get(s.label, 0.0) for s in model.coordinates])
    z = np.array([given.get(s.label, 0.0) for s in model.states])
    if mechanics.position_rows and not system.unbound and system.equations.formulation.projects:
        residual, off = _off(system, t, q, z)
        rows = len(mechanics.position_rows)
        worst = int(np.argmax(off[:rows]))
        if off[worst] > 1:
            row = mechanics.row_names[mechanics.position_rows[worst]]
            raise InconsistentStartError(
                f"The starting positions violate the constraint {row!r} by {residual[worst]:.3g}. "
                "Use system.consistent(keep={...}, near={...}) to find positions on the constraints."
            )
    return _completed(system, _with_velocities(system, q, z, given, {}, t, {}), given)


def _off(system: System, t: float, q: np.ndarray, z: np.ndarray, noise: float = NOISE) -> tuple[np.ndarray, np.ndarray]:
    """What positions leave of rows and lower levels, and that in units of what they may leave."""
    mechanics = system.equations.mechanics
    found, slopes = (np.array(e) for e in mechanics.levels["position"](t, q, system.p, z))
    off = _measured(found[:, 0], tolerances(slopes, 0.1 * sizes(slopes, q), noise))
    if np.any(off > 1):  # else the slopes say enough
        terms = np.array(mechanics.position_terms(t, q, system.p, z)).ravel()
        off = _measured(found[:, 0], tolerances(slopes, terms, noise))
    return found[:, 0], off


def _off_in_rates(
    system: System, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same of velocities."""
    found, slopes = (np.array(e) for e in system.equations.mechanics.levels["velocity"](t, q, v, z, system.p))
    terms = sizes(slopes, v) + np.abs(found[:, 0] - slopes @ v)
    return found[:, 0], _measured(found[:, 0], tolerances(slopes, terms))


def _measured(found: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Sizes in units; infinite where there is no number, or nothing is allowed."""
    size = np.abs(found)
    off = np.divide(size, units, out=np.where(size > 0, np.inf, 0.0), where=units > 0)
    return np.where(np.isfinite(size), off, np.inf)


def violated(system: System, state: State, limit: float) -> str | None:
    """The row that a state violates most, in words, if by more than so many times what a start may leave.

    Args:
        system: The system.
        state: The state.
        limit: How many times.
    """
    mechanics = system.equations.mechanics
    names, found, off = [mechanics.row_names[i] for i in mechanics.position_rows], np.zeros(0), np.zeros(0)
    if names:
        found, off = (e[: len(names)] for e in _off(system, state.t, state.q, state.z))
    if mechanics.row_names:
        rates = [i for i in range(len(mechanics.row_names)) if i not in mechanics.acceleration_rows]
        left, more = (e[rates] for e in _off_in_rates(system, state.t, state.q, state.v, state.z))
        names += [mechanics.row_names[i] + ".rate" * (i in mechanics.position_rows) for i in rates]
        found, off = np.append(found, left), np.append(off, more)
    worst = int(np.argmax(off)) if off.size else 0
    return f"the constraint {names[worst]!r} by {found[worst]:.3g}" if off.size and off[worst] > limit else None


def _completed(system: System, state: State, given: Mapping[str, float]) -> State:
    """The state with the extra states that the formulation knows from the others."""
    equations = system.equations
    z = equations.formulation.complete(equations, state, given, system.values, system.p)
    return replace(state, array=np.concatenate([state.q, state.v, z]))


def _with_velocities(
    system: System,
    q: np.ndarray,
    z: np.ndarray,
    keep: Mapping[str, float],
    near: Mapping[str, float],
    t: float,
    changes: dict[str, tuple[float, float]],
    levels: bool = False,
) -> State:
    model, equations, mechanics = system.model, system.equations, system.equations.mechanics
    rates = [s.rate.label for s in model.coordinates]
    quasi = [s for s in equations.speeds if s.label not in rates]
    kept = np.array([label in keep for label in rates])
    v = np.array([near.get(label, 0.0) for label in rates])

    def by_speeds(given: Mapping[str, float]) -> State:
        """The rates v with some speeds as given."""
        x = system.to_x(State(model, np.concatenate([q, v, z]), t))
        for i, speed in enumerate(equations.speeds):
            x[q.size + i] = given.get(speed.label, x[q.size + i])
        return system.from_x(t, x)

    if any(s.label in near for s in quasi):
        v = by_speeds(near).v
    if any(s.label in keep for s in quasi):
        own = [s.label for s in equations.speeds]
        if clash := [label for label in rates if label in keep and label not in own]:
            raise ModelError(
                f"Give either speeds ({', '.join(map(str, quasi))}) or rates ({', '.join(clash)}), not both."
            )
        state = by_speeds(keep)
        z = complete(system, t, state.q, state.v, z, keep, levels) if model.programme else z
        state = State(model, np.concatenate([state.q, state.v, z]), float(t))
        if not np.all(np.isfinite(state.v)):
            raise InconsistentStartError(
                f"The speeds {', '.join(map(str, quasi))} are dependent at these positions and do not give the rates; "
                "choose others in the formulation."
            )
        return state
    v = np.array([keep.get(label, rate) for label, rate in zip(rates, v, strict=True)])
    found, left = project_velocities(mechanics, t, q, v, z, system.p, np.flatnonzero(~kept), levels=levels)
    if not equations.formulation.projects and not levels:
        found, left = v, 0.0
    counted = None if levels else len(mechanics.row_names)
    if left > 0 and np.any(_off_in_rates(system, t, q, found, z)[1][:counted] > 1):
        _explain_velocities(system, t, q, found, z, left, [r for r, k in zip(rates, kept, strict=True) if k])
    for label, old, new, fixed in zip(rates, v, found, kept, strict=True):
        if not fixed and label in near and abs(new - old) > CLOSE:
            changes[label] = (float(old), float(new))
    if model.programme:
        z = complete(system, t, q, found, z, keep, levels)
    return State(model, np.concatenate([q, found, z]), float(t), changes)


def _explain_velocities(
    system: System, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, left: float, kept: list[str]
) -> None:
    mechanics = system.equations.mechanics
    found, J = (np.array(e) for e in mechanics.levels["velocity"](t, q, v, z, system.p))
    residual, names = found.ravel(), (*mechanics.row_names, *mechanics.level_names[1])
    row = names[int(np.argmax(np.abs(residual)))]
    held = ""
    if kept:
        held = f" while {', '.join(kept)} " + ("keeps its given value" if len(kept) == 1 else "keep their given values")
    if ways := _ways(system, t, q, v, z, kept):
        raise InconsistentStartError(
            f"The constraint {row!r} can be satisfied in more than one way{held}, and from where the search begins "
            f"none is nearest; for example {', or '.join(ways)}. Give one of them, or guesses near=... on the "
            "wanted branch."
        )
    said = f"No velocities satisfy the constraint {row!r} (left over: {left:.3g})"
    if against := contradicting(residual, J, names):
        raise InconsistentStartError(f"{said}: at these positions the rows {', '.join(against)} contradict each other.")
    said += f"{held}; give fewer of them, or" if kept else " at these positions;"
    raise InconsistentStartError(f"{said} give guesses near=... on the wanted branch.")


def _ways(system: System, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, kept: list[str]) -> list[str]:
    """Up to two ways to satisfy rows that are nonlinear in the velocities, in words; none if none is found."""
    mechanics, rates = system.equations.mechanics, [s.rate.label for s in system.model.coordinates]
    free = np.array([i for i, rate in enumerate(rates) if rate not in kept], dtype=int)
    if mechanics.linear or not free.size:
        return []
    random, size, ways = np.random.default_rng(1), max(1.0, float(np.max(np.abs(v)))), []
    for sign in (1, -1, 1, -1, 1, -1):
        guess = v.copy()
        guess[free] = sign * size * random.uniform(0.3, 1.2, free.size)
        found, left = project_velocities(mechanics, t, q, guess, z, system.p, free, levels=True)
        words = ", ".join(f"{rates[i]} = {found[i]:.6g}" for i in free)
        if left <= CLOSE * max(1.0, float(np.max(np.abs(found)))) and words not in ways:
            ways.append(words)
    return ways[:2]


def consistent_state(system: System, keep: Mapping[str, float], near: Mapping[str, float], t: float) -> State:
    """Positions and velocities on the constraints with some values kept."""
    check_names(system, keep, near)
    model, mechanics = system.model, system.equations.mechanics
    labels = [s.label for s in model.coordinates]
    guesses = {**model.start, **near}
    higher = [name for name in (*(z.label for z in model.states), *rate_names(model)) if name in guesses]
    if model.programme:
        keep = {**{name: guesses[name] for name in higher}, **keep}
    q = np.array([keep.get(label, guesses.get(label, 0.0)) for label in labels])
    z = np.array([keep.get(s.label, guesses.get(s.label, 0.0)) for s in model.states])
    free = np.flatnonzero([label not in keep for label in labels])

    def arrived(q: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """The positions near q on all rows, in whatever units they are; what they leave, and whether they are there."""
        span = float(np.max(np.abs(q), initial=0.0))
        options = {"levels": z, "tolerance": 0.0}
        found, left = project_positions(mechanics, t, q, system.p, free, **options)
        if left > CLOSE and span > 1:  # far away in metres may be near
            other, rest = project_positions(mechanics, t, q, system.p, free, **options, reach=span)
            found, left = (other, rest) if rest < left else (found, left)
        return found, left, bool(np.all(_off(system, t, found, z, noise=SOLVED)[1] < 1))

    found, left, there = arrived(q)
    if not there:
        rng, width = np.random.default_rng(1), float(np.max(np.abs(q), initial=0.0))
        for _ in range(40):  # a bad guess may sit on a saddle of the residual
            trial = q.copy()
            trial[free] += rng.normal(0, 0.5 * (width if 0 < width < TINY else max(1.0, width / 10)), free.size)
            candidate, rest, there = arrived(trial)
            if there or rest < left:
                found, left = candidate, rest
            if there:
                break
    if not there:
        _explain_positions(system, t, found, z, [label for label in labels if label in keep], free.size)
    span = float(np.max(np.abs(found), initial=0.0))
    changes = {
        label: (float(old), float(new))
        for label, old, new in zip(labels, q, found, strict=True)
        if abs(new - old) > CLOSE * (span if span < TINY else 1.0)
    }
    state = _with_velocities(system, found, z, keep, {**model.start, **near}, t, changes, levels=True)
    return _completed(system, state, {**near, **keep})


def _explain_positions(system: System, t: float, q: np.ndarray, z: np.ndarray, kept: list[str], free: int) -> None:
    mechanics = system.equations.mechanics
    residual = np.array(mechanics.levels["position"](t, q, system.p, z)[0]).ravel()
    names = (*(mechanics.row_names[i] for i in mechanics.position_rows), *mechanics.level_names[0])
    worst = int(np.argmax(np.abs(residual)))
    count = len([i for i in mechanics.position_rows if i in system.equations.split.rows])
    reason = (
        f"{count} independent position rows have only {free} coordinates to adjust; keep fewer than {', '.join(kept)}"
        if free < count
        else "the dimensions may not close, or the guess is on another branch; give near=... closer to a real one"
    )
    raise InconsistentStartError(
        f"No positions satisfy the constraint {names[worst]!r} (nearest miss {abs(residual[worst]):.3g}): {reason}."
    )
