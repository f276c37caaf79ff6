"""Starting states: what the user gave, completed by the constraints, for one system or for many side by side.

What cannot be completed is a matter of its own system: the others do not notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.code.bindings import Bindings, Found, Values, one, part
from appell.code.multiplier_start import complete, rate_names
from appell.code.no_start import no_positions, no_velocities
from appell.code.state import AtState, State, check_state, names_of
from appell.code.violation import off_in_positions, off_in_rates, violations
from appell.equations import Equations
from appell.errors import AppellError, InconsistentStartError, ModelError
from appell.graph.numeric import SideBySide
from appell.kinematics.consistency import project_positions, project_velocities
from appell.model.model import QuaternionNorm
from appell.model.values import numbers, unknown

if TYPE_CHECKING:
    from appell.code.system import System

CLOSE = 1e-9  # difference of values up to which they are the same
SOLVED = 1e-15  # noise of coordinates that Newton's method has found
TINY = 1e-3  # what is smaller is judged by its own size
TRIES = 40  # other places from which positions are looked for
BEYOND = 100  # times what a state may leave of rows, from which it cannot start


def check_names(equations: Equations, *given: Values) -> None:
    """Raise if starting values have names that no entry of the state has."""
    model = equations.model
    known = tuple(dict.fromkeys((*names_of(model), *(s.label for s in equations.speeds), *rate_names(model))))
    curved = [u.label for u in equations.formulation.speeds or () if u.label not in known]
    for values in given:
        for label in values:
            if label in curved:
                raise ModelError(
                    f"The speed {label!r} is not linear in the rates, so that several rates have one value of it; give "
                    "the rates themselves, those that the constraints leave free."
                )
            if label not in known:
                raise ModelError(unknown(label, known, f"entry of the state of {model.name!r}"))


def given_state(system: System, given: Mapping[str, float], t: float) -> State:
    """Positions as given, rates and speeds as given, the remaining rates from the constraints."""
    check_names(system.equations, given)
    return _only(system, t, given_states(Bindings.alone(system), given, t))


def consistent_state(system: System, keep: Mapping[str, float], near: Mapping[str, float], t: float) -> State:
    """Positions and velocities on the constraints with some values kept."""
    check_names(system.equations, keep, near)
    found = consistent_states(Bindings.alone(system), keep, near, t)
    state = _only(system, t, found)
    assert found.guesses is not None
    span = float(np.max(np.abs(state.q), initial=0.0))
    limits = [CLOSE * (span if span < TINY else 1.0)] * state.q.size + [CLOSE] * state.v.size
    entries = zip(state.names, found.guesses[0], state.array, limits, strict=False)
    return replace(state, changes={n: (float(a), float(b)) for n, a, b, limit in entries if abs(b - a) > limit})


def starting_state(system: System, start: State | AtState | Mapping[Any, float] | None) -> State:
    """The state a run begins with: one on the constraints, the model's suggestion if none is given."""
    if start is None:
        return suggested_state(system)
    if isinstance(own := getattr(start, "state", None), State):
        start = own
    if not isinstance(start, State):
        return given_state(system, numbers(start, "Starting values"), 0.0)
    check_state(start, system.model)
    if refusal := unfit(Bindings.alone(system), start.t, start.array[None, :]):
        raise refusal[0]
    return start


def suggested_state(system: System) -> State:
    """The model's suggested start, on the constraints."""
    state = _only(system, 0.0, suggested_states(Bindings.alone(system)))
    suggested = {name: value for name, value in system.model.start.items() if name in state.names}
    return replace(state, changes={n: (e, state[n]) for n, e in suggested.items() if abs(state[n] - e) > CLOSE})


def _only(system: System, t: float, found: Found) -> State:
    """The state of a system alone."""
    if found.errors:
        raise found.errors[0]
    return State(system.model, found.array[0], float(t))


def suggested_states(these: Bindings) -> Found:
    """The model's suggested start: as it is if it lies on the constraints, else next to it."""
    model = these.equations.model
    check_names(these.equations, model.start)
    known = names_of(model)
    given = {name: value for name, value in model.start.items() if name in known}
    speeds = {name: value for name, value in model.start.items() if name not in known}
    if not model.constraints:
        return given_states(these, {**given, **speeds}, 0.0)
    found = consistent_states(these, {**given, **speeds}, {}, 0.0)
    if (again := found.lost(InconsistentStartError)).size:
        found.put(again, consistent_states(these.part(again), speeds, given, 0.0))
    return found


def unfit(these: Bindings, t: float, array: np.ndarray) -> dict[int, AppellError]:
    """Why states cannot start a run, of those that cannot.

    Args:
        these: The systems.
        t: Time.
        array: Their states (q, q', z), a row each.
    """
    names, errors = names_of(these.equations.model), {}
    for i in np.flatnonzero(~np.isfinite(array).all(axis=1)).tolist():
        bad = names[int(np.argmin(np.isfinite(array[i])))]
        errors[i] = InconsistentStartError(f"The starting value of {bad!r} is not finite.")
    if these.kept_on_rows:
        for i, words in violations(these, t, array, BEYOND).items():
            said = f"The start violates {words}. Use system.consistent(keep={{...}}, near={{...}}) to find a state on"
            errors.setdefault(i, InconsistentStartError(f"{said} the constraints."))
    return errors


def given_states(these: Bindings, given: Values, t: float) -> Found:
    """Positions as given, rates and speeds as given, the remaining rates from the constraints."""
    model, mechanics = these.equations.model, these.equations.mechanics
    q, z = _begun(these, given), these.rows([s.label for s in model.states], given)
    found = Found(np.full((len(these), len(names_of(model))), np.nan))
    if mechanics.position_rows and these.kept_on_rows:
        residual, off = (e[:, : len(mechanics.position_rows)] for e in off_in_positions(these, t, q, z))
        for i in np.flatnonzero((off > 1).any(axis=1)).tolist():
            worst = int(np.argmax(off[i]))
            row = mechanics.row_names[mechanics.position_rows[worst]]
            found.errors[i] = InconsistentStartError(
                f"The starting positions violate the constraint {row!r} by {residual[i, worst]:.3g}. "
                "Use system.consistent(keep={...}, near={...}) to find positions on the constraints."
            )
    on = found.good
    held, own = part(given, on), these.part(on)
    moving = _with_velocities(own, q[on], z[on], held, {}, t, levels=False)
    found.put(on, _completed(own, moving, held, held, t, levels=False))
    return found


def consistent_states(these: Bindings, keep: Values, near: Values, t: float) -> Found:
    """Positions and velocities on the constraints with some values kept, the others nearest to what is guessed."""
    model = these.equations.model
    labels, guesses = [s.label for s in model.coordinates], {**model.start, **near}
    higher = [name for name in (*(z.label for z in model.states), *rate_names(model)) if name in guesses]
    if model.programme:
        keep = {**{name: guesses[name] for name in higher}, **keep}
    guess, z = _begun(these, keep, guesses), these.rows([s.label for s in model.states], keep, guesses)
    free = np.flatnonzero([label not in keep for label in labels])
    q, there = _positions(these, t, guess, z, free)
    found = Found(np.full((len(these), len(names_of(model))), np.nan))
    kept, lost = [label for label in labels if label in keep], np.flatnonzero(~there)
    left = off_in_positions(these.part(lost), t, q[lost], z[lost])[0]
    for i, residual in zip(lost.tolist(), left, strict=True):
        found.errors[i] = no_positions(these.equations, residual, kept, free.size)
    on = found.good
    held, own = part(keep, on), these.part(on)
    moving = _with_velocities(own, q[on], z[on], held, part(guesses, on), t, levels=True)
    found.put(on, _completed(own, moving, held, part({**near, **keep}, on), t, levels=True))
    found.guesses = np.concatenate([guess, np.full_like(guess, np.nan)], axis=1)
    found.guesses[on, len(labels) :] = moving.guesses
    return found


def _begun(these: Bindings, *given: Values) -> np.ndarray:
    """Positions as given, else zero; the scalar part of a quaternion, if not given, is what it lacks of length one."""
    coordinates = these.equations.model.coordinates
    q = these.rows([s.label for s in coordinates], *given)
    for norm in (c for c in these.equations.model.constraints if isinstance(c, QuaternionNorm)):
        if set(norm.quaternion) <= set(coordinates):
            scalar, *vector = (coordinates.index(e) for e in norm.quaternion)
            if not any(coordinates[scalar].label in values for values in given):
                q[:, scalar] = np.sqrt(np.maximum(0.0, 1 - np.sum(q[:, vector] ** 2, axis=1)))
    return q


def _positions(
    these: Bindings, t: float, q: np.ndarray, z: np.ndarray, free: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The positions nearest to q on all rows, in whatever units they are, and which are there."""
    mechanics = these.equations.mechanics

    def arrived(q: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Those of some systems near q, what they leave, and whether they are there."""
        own, span = these.part(which), np.abs(q).max(axis=1, initial=0.0)

        def projected(some: np.ndarray, reach: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            levels = z[which[some]]
            return project_positions(
                mechanics, t, q[some], own.p[some], free, levels=levels, tolerance=0.0, reach=reach
            )

        found, left = projected(np.arange(which.size), 1.0)
        far = np.flatnonzero((left > CLOSE) & (span > 1))  # far away in metres may be near
        if far.size:
            other, rest = projected(far, span[far])
            better = rest < left[far]
            found[far[better]], left[far[better]] = other[better], rest[better]
        return found, left, (off_in_positions(own, t, found, z[which], noise=SOLVED)[1] < 1).all(axis=1)

    found, left, there = arrived(q, np.arange(len(these)))
    lost, rng, width = np.flatnonzero(~there), np.random.default_rng(1), np.abs(q).max(axis=1, initial=0.0)
    spread = 0.5 * np.where((0 < width) & (width < TINY), width, np.maximum(1.0, width / 10))
    for _ in range(TRIES if free.size else 0):  # a bad guess may sit on a saddle of the residual
        if not lost.size:
            break
        trial = q[lost]
        trial[:, free] += spread[lost, None] * rng.standard_normal(free.size)
        candidate, rest, there[lost] = arrived(trial, lost)
        better = there[lost] | (rest < left[lost])
        found[lost[better]], left[lost[better]] = candidate[better], rest[better]
        lost = lost[~there[lost]]
    return found, there


def _with_velocities(
    these: Bindings, q: np.ndarray, z: np.ndarray, keep: Values, near: Values, t: float, levels: bool
) -> Found:
    """States at these positions: rates and speeds as kept, the others nearest to what is guessed."""
    equations = these.equations
    rates = [s.rate.label for s in equations.model.coordinates]
    quasi = [s for s in equations.speeds if s.label not in rates]
    kept, v = np.array([label in keep for label in rates]), these.rows(rates, near)
    if any(s.label in near for s in quasi):
        v = _by_speeds(these, q, v, z, near, t)
    if any(s.label in keep for s in quasi):
        own = [s.label for s in equations.speeds]
        if clash := [label for label in rates if label in keep and label not in own]:
            raise ModelError(
                f"Give either speeds ({', '.join(map(str, quasi))}) or rates ({', '.join(clash)}), not both."
            )
        v = _by_speeds(these, q, v, z, keep, t)
        found = Found(np.concatenate([q, v, z], axis=1), guesses=np.full_like(v, np.nan))
        for i in np.flatnonzero(~np.isfinite(v).all(axis=1)).tolist():
            found.errors[i] = InconsistentStartError(
                f"The speeds {', '.join(map(str, quasi))} are dependent at these positions and do not give the rates; "
                "choose others in the formulation."
            )
        return found
    v, mechanics, rest = these.rows(rates, keep, dict(zip(rates, v.T, strict=True))), equations.mechanics, ~kept
    array, left = project_velocities(mechanics, t, q, v, z, these.p, np.flatnonzero(rest), levels=levels)
    if not equations.formulation.projects and not levels:
        array, left = v, np.zeros(len(v))
    found = Found(np.concatenate([q, array, z], axis=1))
    counted = None if levels else len(mechanics.row_names)
    if np.any(left > 0):
        off = (left > 0) & (off_in_rates(these, t, q, array, z)[1][:, :counted] > 1).any(axis=1)
        held = [label for label in rates if label in keep]
        for i in np.flatnonzero(off).tolist():
            found.errors[i] = no_velocities(
                equations, these.p[i], t=t, q=q[i], v=array[i], z=z[i], left=left[i], kept=held
            )
    guessed = rest & np.array([label in near for label in rates])
    found.guesses = np.where(guessed, v, np.nan)
    return found


def _by_speeds(these: Bindings, q: np.ndarray, v: np.ndarray, z: np.ndarray, given: Values, t: float) -> np.ndarray:
    """The rates v with some speeds as given."""
    code, count = these.code, len(these)
    u = SideBySide(code.speeds.function)(count, t, q, v, z, these.p)[0][:, :, 0]
    for i, speed in enumerate(these.equations.speeds):
        if speed.label in given:
            u[:, i] = given[speed.label]
    x = np.concatenate([q, u, z], axis=1)
    return SideBySide(code.rates.function)(count, t, x, 0.0, these.p)[0][:, :, 0]  # rates never contain inputs


def _completed(these: Bindings, found: Found, keep: Values, given: Values, t: float, levels: bool) -> Found:
    """The same with the extra states that follow from the others: multipliers, and what the formulation knows."""
    equations, model = these.equations, these.equations.model
    if not (model.programme or equations.formulation.completes):
        return found
    for i in found.good.tolist():
        state, values = State(model, found.array[i], t), one(these.values, i)
        try:
            if model.programme:
                z = complete(equations, values, t=t, q=state.q, v=state.v, z=state.z, keep=one(keep, i), levels=levels)
                state = replace(state, array=np.concatenate([state.q, state.v, z]))
            z = equations.formulation.complete(equations, state, one(given, i), values, these.p[i])
            found.array[i] = np.concatenate([state.q, state.v, z])
        except AppellError as error:
            found.refuse({i: error})
    return found
