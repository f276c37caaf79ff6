"""What a programme means for the equations: their order, how many initial numbers there are, and which to give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from appell.code.system import System
from appell.kinematics.consistency import suggested, suggested_start
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.kinematics.typical import sample_split
from appell.model.constraint import Row
from appell.model.model import Model, counted
from appell.model.programme import programme_states
from appell.model.values import check_kind


@dataclass(frozen=True, kw_only=True)
class Programme:
    """The orders of a model with programmed constraints.

    Attributes:
        model: Name of the model.
        rows: All rows, material and programmed.
        coordinates: How many coordinates there are, n.
        order: Order of the resulting equations, max(2, max p).
        dimension: How many initial numbers there are, 2(n - K) + sum p over the K independent rows.
        positions: Coordinates whose starting values are free; the others follow.
        velocities: Rates whose starting values are free.
        higher: For each row of order 3 and more, what must be given beyond positions and velocities.
    """

    model: str
    rows: tuple[Row, ...]
    coordinates: int
    order: int
    dimension: int
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    higher: tuple[str, ...]

    def __repr__(self) -> str:
        lines = [
            f"{self.model}: {self.coordinates} coordinate{'s' * (self.coordinates != 1)} under "
            f"{counted(self.rows, 'row')}, equations of order {self.order}, {self.dimension} initial numbers"
        ]
        for row in self.rows:
            kind = "material" if not row.programmed else f"driven by {row.drive}" if row.drive else "programmed"
            raised = f", differentiated {row.raised} time{'s' * (row.raised > 1)}" if row.raised else ""
            lines.append(f"  {row.name}: {kind}, order {row.order}{raised}")
        lines.append("give at the start: " + (", ".join((*self.positions, *self.velocities)) or "nothing"))
        return "\n".join([*lines, *(f"  {line}" for line in self.higher)])


def orders(model: Model, system: System | None = None) -> Programme:
    """The order of a model's equations and the initial data they need.

    Args:
        model: A model, with programmed constraints or without.
        system: Its system, if there is one already.

    Example:
        >>> import appell as ap
        >>> orders(ap.library.jerk_cart_pendulum())
        jerk cart pendulum: 2 coordinates under 1 row, equations of order 3, 5 initial numbers
          jerk: programmed, order 3
        give at the start: x, theta, x.rate, theta.rate
          for 'jerk': 1 of x.rate.rate, theta.rate.rate or lambda_jerk
    """
    check_kind(model, Model, "a model, and its system if there is one: orders(model, system)")
    if system is not None:
        check_kind(system, System, "the system of the model, compile(derive(model))")
    rows, n = (*model.rows, *model.programme), len(model.coordinates)
    mechanics = system.equations.mechanics if system is not None else Mechanics(model)
    independent = [*(model.rows[i] for i in sample_split(mechanics).rows), *model.programme]
    free_q, free_v = _free(mechanics)
    higher = []
    for row in model.programme:
        wanted = row.order - 2 - sum(row.own_order + k >= 2 for k in range(row.raised))
        names = [q.derivative(k).label for k in range(2, row.order) for q in model.coordinates]
        if wanted > 0:
            forces = [z.label for z in programme_states([row], model.coordinates)]
            higher.append(f"for {row.name!r}: {wanted} of {', '.join(names)} or {', '.join(forces)}")
        else:
            higher.append(f"for {row.name!r}: nothing, the programme gives it at its lower levels")
    return Programme(
        model=model.name,
        rows=rows,
        coordinates=n,
        order=max(2, *(row.order for row in rows)) if rows else 2,
        dimension=2 * (n - len(independent)) + sum(row.order for row in independent),
        positions=tuple(model.coordinates[i].label for i in free_q),
        velocities=tuple(model.coordinates[i].rate.label for i in free_v),
        higher=tuple(higher),
    )


def _free(mechanics: Mechanics) -> tuple[list[int], list[int]]:
    """Positions and velocities that the rows leave free near the suggested start."""
    model, n = mechanics.model, len(mechanics.model.coordinates)
    rng = np.random.default_rng(1)
    p = mechanics.sample_values(rng)
    q, v = (e + 1e-3 * rng.normal(size=n) for e in suggested_start(model, 0.1))
    z = suggested(model, model.states, 1.0)
    J = np.array(mechanics.functions["velocity"](0.0, q, v, z, p)[1])
    found = []
    for top in (0, 1):
        chosen = [i for i, row in enumerate(model.rows) if row.order <= top]
        taken = Split.at(J[chosen]).dependent if chosen and np.all(np.isfinite(J)) else ()
        found.append([i for i in range(n) if i not in taken])
    return found[0], found[1]
