"""The starting multipliers of programmes of order 3 and more, from accelerations and higher rates at the start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import casadi as ca
import numpy as np

from appell.equations import Equations
from appell.errors import InconsistentStartError, MissingValueError
from appell.graph.sparse import stacked
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.newton import newton
from appell.kinematics.programme import Along, direction
from appell.model.model import Model
from appell.model.programme import chains
from appell.once import once

ARRIVED = 1e-14  # where Newton's steps end
ENOUGH = 1e-9  # share of the forces that multipliers may leave


def rate_names(model: Model) -> dict[str, tuple[int, int]]:
    """Accelerations and higher rates that may be given at the start: name -> coordinate, order."""
    top = max((row.order for row in model.programme), default=2)
    return {q.derivative(k).label: (i, k) for k in range(2, top) for i, q in enumerate(model.coordinates)}


def multiplier_names(model: Model) -> list[str]:
    """The states of programmes."""
    return [z.label for row in model.programme for chain in chains(row, model.coordinates) for z in chain]


def complete(
    equations: Equations,
    values: Mapping[str, float],
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    z: np.ndarray,
    keep: Mapping[str, float],
    levels: bool = False,
) -> np.ndarray:
    """The extra states with the multipliers of programmes found.

    They satisfy the accelerations and higher rates that are given, and the programme itself at every level below the
    one that is demanded: where the given values do not suffice, or everywhere.

    Args:
        equations: The equations.
        values: Numbers of parameters and inputs.
        t: Time.
        q: Positions.
        v: Velocities.
        z: Extra states; those of the programmes that are not kept are found.
        keep: What the user gave, by name.
        levels: Whether the programme must vanish at every level, whatever is given.
    """
    model = equations.model
    owned = multiplier_names(model)
    names = [name for name in owned if name not in keep]
    if not names and not levels:
        return z
    labels = [s.label for s in model.states]
    free = tuple(labels.index(name) for name in names)
    needed = sum(row.order - 2 for row in model.programme)
    given = tuple(name for name in rate_names(model) if name in keep and names)
    residual, slopes, from_levels = _conditions(equations.mechanics, given, free, levels or len(given) < needed)
    wanted, p = [keep[name] for name in given], [values[s.label] for s in model.parameters]
    numbers = tuple(np.array(e, dtype=float) for e in (_inputs(equations, values), p, wanted))
    z, column, left = np.array(z, dtype=float), list(free), np.inf
    best = z[column]

    def rows(_: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z[column] = places[0]
        r = np.array(residual(t, q, v, z, *numbers)).reshape(1, -1)
        return r, np.array(slopes(t, q, v, z, *numbers)).reshape(1, r.size, len(free))

    def enough(_: np.ndarray, residual: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        return (np.abs(residual) <= ARRIVED).all(axis=1)

    rng, trial = np.random.default_rng(5), best
    for attempt in range(12):
        found, (rest,) = newton(rows, trial[None], np.arange(len(free)), enough)
        if rest < left:
            best, left = found[0], rest
        if left < ENOUGH:
            break
        trial = rng.normal(0, 3.0 ** (attempt + 1) / 10, len(free))
    if not left < ENOUGH:
        _refuse(given, [name for name in owned if name in keep], from_levels, left)
    z[column] = best
    if not free:
        return z
    rank = _rank(np.array(slopes(t, q, v, z, *numbers)).reshape(-1, len(free)))
    if rank < len(free):
        _explain(model, len(free) - rank, names, [*given, *from_levels])
    return z


def _inputs(equations: Equations, values: Mapping[str, float]) -> list[float]:
    """Numbers of the inputs; those that act must be known, for the accelerations are."""
    if absent := [name for name in equations.mechanics.held if name not in values]:
        raise MissingValueError(
            f"The start of a programme of order 3 or more needs numbers for the inputs {', '.join(absent)}; "
            f"bind({{{absent[0]!r}: ...}}) first."
        )
    return [values.get(s.label, 0.0) for s in equations.model.inputs]


def _rank(slopes: np.ndarray) -> int:
    if not slopes.size:
        return 0
    return int(np.linalg.matrix_rank(slopes, tol=1e-9 * max(1.0, float(np.abs(slopes).max()))))


@once
def _conditions(
    mechanics: Mechanics, given: tuple[str, ...], free: tuple[int, ...], levels: bool
) -> tuple[ca.Function, ca.Function, tuple[str, ...]]:
    """What multipliers must fulfil, its slopes in those that are free, and the names of what programmes demand.

    Functions of t, q, v, z, w, p and the values of the rates that are given.

    Args:
        mechanics: The model on the graph.
        given: Rates that are given.
        free: Extra states that are not.
        levels: Whether programmes must vanish at every level.
    """
    model, x = mechanics.model, mechanics.variables
    along = Along(mechanics)
    wanted, rates = ca.SX.sym("wanted", len(given)), rate_names(model)
    rows = [along.jet(rates[name][1])[rates[name][0]] - wanted[k] for k, name in enumerate(given)]
    named = []
    if levels:
        for row in model.programme:
            for times in range(row.raised):
                if row.own_order + times >= 2:
                    rows.append(along.residual(row, times))
                    named.append(row.name + ".rate" * times)
    for row in model.programme:  # Gauss's force begins along the gradient of its row
        if row.gauss:
            B = ca.substitute(direction(mechanics, row), mechanics.a, along.jet(2))
            for level in zip(*chains(row, model.coordinates), strict=True):
                force = ca.vertcat(*[x.lower.memo[z] for z in level])
                rows.append(force - B * (ca.dot(B, force) / ca.dot(B, B)))
    column = ca.densify(stacked(rows))
    arguments = [x.t, x.q, x.v, x.z, x.w, x.p, wanted]
    return (
        ca.Function("conditions", arguments, [column], {"cse": True}),
        ca.Function("slopes", arguments, [ca.densify(ca.jacobian(column, x.z[list(free)]))], {"cse": True}),
        tuple(named),
    )


def _refuse(given: Iterable[str], multipliers: Sequence[str], levels: Sequence[str], left: float) -> None:
    said, itself = ", ".join(given), ", ".join(map(repr, levels))
    over = f"at the start (left over: {left:.3g})"
    if levels and (said or multipliers):
        held = ", ".join(filter(None, (said, *multipliers)))
        raise InconsistentStartError(
            f"With {held} as given, no multipliers of the programmes fulfil {itself} {over}: the programme itself says "
            "what they are. Give fewer of these values, or a start that fulfils it."
        )
    raise InconsistentStartError(
        f"No multipliers of the programmes give {said or 'the programme at its lower levels'} {over}: the equations of "
        "motion allow accelerations only within what the programmes' forces can do. Give fewer or other values."
    )


def _explain(model: Model, count: int, names: list[str], known: list[str]) -> None:
    rows = ", ".join(f"{row.name!r} (order {row.order})" for row in model.programme)
    rates = [name for name in rate_names(model) if name not in known]
    raise InconsistentStartError(
        f"The programme {rows} needs {count} more initial value{'s' * (count > 1)}; "
        f"give {count} of {', '.join(rates)}, or of the multipliers {', '.join(names)}"
        + (f" (known so far: {', '.join(known)})." if known else ".")
    )
