"""Whether rows leave a motion: which coincide at their highest derivatives, material and programmed together."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from appell.errors import FormulationError
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.programme import direction, gradient_row
from appell.kinematics.saddle import Alike, own_units
from appell.kinematics.split import Split, unit_rows
from appell.kinematics.typical import sample_state
from appell.model.constraint import Row

DEPENDENT = 1e-9  # singular value of rows of length one at which they say nothing new
POWERLESS = 1e-10  # reach of drives at which they do not enforce their rows


@dataclass(frozen=True, eq=False)
class TopRows:
    """The coefficients B of the highest derivatives in all rows.

    Attributes:
        rows: The rows, those of order 2 or less first.
        function: B in t, q, v, a, z, p.
        pushing: M, and the directions along which the rows are enforced, of the same arguments.
        alike: Coordinates that are measured alike.
    """

    rows: tuple[Row, ...]
    function: ca.Function
    pushing: ca.Function
    alike: Alike

    @classmethod
    def of(cls, mechanics: Mechanics) -> TopRows:
        """Stack the rows of a model."""
        x, model = mechanics.variables, mechanics.model
        rows = (*model.rows, *model.programme)
        B = ca.vertcat(mechanics.C, *[gradient_row(mechanics, row) for row in model.programme])
        S = ca.vertcat(mechanics.J, *[direction(mechanics, row).T for row in model.programme])
        arguments = [x.t, x.q, x.v, mechanics.a, x.z, x.p]
        pushing = [ca.densify(e) for e in (mechanics.lagrange[0], S)]
        return cls(
            rows,
            ca.Function("top", arguments, [ca.densify(B)], {"cse": True}),
            ca.Function("pushing", arguments, pushing, {"cse": True}),
            x.quaternions,
        )

    @property
    def servo(self) -> tuple[Row, ...]:
        """Rows that drives along some coordinates enforce."""
        return tuple(row for row in self.rows if row.drive is not None)

    def at(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray, z: np.ndarray, p: np.ndarray) -> np.ndarray:
        """B at a state, its rows of length one."""
        return unit_rows(self.raw(t, q, v, a, z, p))

    def raw(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray, z: np.ndarray, p: np.ndarray) -> np.ndarray:
        """B at a state, its rows as they are."""
        return np.array(self.function(t, q, v, a, z, p)).reshape(len(self.rows), -1)

    def reach(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray, z: np.ndarray, p: np.ndarray) -> float:
        r"""How well the drives reach what the rows demand: 1 if the rows enforce themselves, 0 if drives are powerless.

        The smallest cosine, in the metric of the masses, between displacements that the rows allow and those that the
        drives leave alone. Where it vanishes $C M^{-1} S$ is singular.
        """
        if not self.servo:
            return 1.0
        import scipy.linalg  # slow to import, and few models have drives

        M, S = (np.array(e) for e in self.pushing(t, q, v, a, z, p))
        d = own_units(M, self.alike)
        allowed, left = (scipy.linalg.null_space(unit_rows(e * d)) for e in (self.raw(t, q, v, a, z, p), S))
        if left.shape[1] > allowed.shape[1]:
            return 0.0
        sizes, axes = np.linalg.eigh(M * d * d[:, None])  # zero along what only the rows let move
        root = np.sqrt(np.maximum(sizes, 0.0))[:, None] * axes.T
        allowed, left = (np.linalg.qr(root @ e)[0] for e in (allowed, left))
        return float(np.linalg.svd(left.T @ allowed, compute_uv=False).min(initial=1.0))


def coinciding(B: np.ndarray) -> list[tuple[int, ...]]:
    """Sets of rows that depend on each other, one for each missing rank."""
    if B.shape[0] == 0:
        return []
    u, sizes, _ = np.linalg.svd(B)
    full = np.zeros(B.shape[0])
    full[: sizes.size] = sizes
    missing = u[:, full <= DEPENDENT * max(1.0, full[0])]
    return [tuple(np.flatnonzero(np.abs(column) > 1e-6).tolist()) for column in missing.T]


def check_movable(mechanics: Mechanics, split: Split) -> None:
    """Refuse a model whose rows leave nothing to move."""
    model, left = mechanics.model, len(mechanics.model.coordinates) - len(split.rows)
    if model.rows and left <= 0 and left + model.driven <= 0:
        raise FormulationError(
            f"{model.name!r} is over-constrained: its {len(split.rows)} independent constraint rows "
            f"({', '.join(mechanics.row_names[i] for i in split.rows)}) fix all {len(model.coordinates)} coordinates "
            "at a typical state. Remove rows or add coordinates; if the mechanism moves only for special dimensions, "
            "give these as values=... and a start on the constraints to the Model."
        )


def check_rank(mechanics: Mechanics) -> None:
    """Refuse programmes whose rows coincide with others at every typical state.

    Rows of matter may repeat each other (a closed loop often does); a programmed row that repeats others either follows
    from them, and is left out, or contradicts them or hides a row of lower order, and is refused.
    """
    model = mechanics.model
    if not model.programmed:
        return
    top = TopRows.of(mechanics)
    powerless = bool(top.servo)
    rng = np.random.default_rng(19)
    p, n = mechanics.sample_values(rng), len(model.coordinates)
    found: set[tuple[int, ...]] | None = None
    sizes, consistent = np.zeros(0), True
    for reach in (0.1, 0.3, 1.0, 1.0):
        state = sample_state(mechanics, rng, p, reach, tries=6)
        if state is None:
            continue
        q, v, z = state
        a = rng.uniform(-1, 1, n)
        B = top.at(0.0, q, v, a, z, p)
        if not np.all(np.isfinite(B)):
            continue
        here = {rows for rows in coinciding(B) if any(top.rows[i].programmed for i in rows)}
        found = here if found is None else found & here
        sizes = np.linalg.svd(B, compute_uv=False)
        consistent = consistent and _follow(mechanics, state, p)
        powerless = powerless and not top.reach(0.0, q, v, a, z, p) > POWERLESS
    for rows in sorted(found or ()):
        named = [top.rows[i] for i in rows]
        if consistent and all(row.order <= 2 for row in named):
            continue
        raise FormulationError(_message(model.name, named, sizes))
    if powerless and found is not None:
        drives = ", ".join(str(row.drive) for row in top.servo)
        names = ", ".join(repr(row.name) for row in top.servo)
        raise FormulationError(
            f"The drives along {drives} of {model.name!r} cannot enforce {names}: their forces do not reach the "
            "accelerations that the rows demand (C M^-1 S is singular). Drive other coordinates, or programme a "
            "quantity that these drives move at once."
        )


def _follow(mechanics: Mechanics, state: tuple[np.ndarray, np.ndarray, np.ndarray], p: np.ndarray) -> bool:
    """Whether some accelerations satisfy all rows of order 2 or less."""
    w = np.zeros(mechanics.variables.w.numel())
    _, _, _, gamma, C = (np.array(e) for e in mechanics.functions["multiplier"](0.0, *state, w, p))
    if not C.size:
        return True
    a = np.linalg.lstsq(C, gamma[:, 0], rcond=1e-10)[0]
    return bool(np.max(np.abs(C @ a - gamma[:, 0])) < 1e-8 * max(1.0, float(np.max(np.abs(gamma)))))


def _message(model: str, rows: list[Row], sizes: np.ndarray) -> str:
    names = " and ".join(f"{row.name!r} (order {row.order})" for row in rows)
    top = max(rows, key=lambda row: row.order)
    if len(rows) == 1:
        return (
            f"The programme {names} of {model!r} has no highest derivative left on the constraints: its coefficients "
            "vanish at every typical state. Write it in another form, of the order that it really has."
        )
    text = (
        f"The rows {names} of {model!r} coincide: on the constraints the coefficients of their highest derivatives are "
        f"dependent (singular values {', '.join(f'{s:.3g}' for s in sizes)}), so that no force can enforce them apart. "
    )
    if not top.order:
        return f"{text}They ask for different positions sooner or later; leave one of them away."
    return (
        f"{text}A combination of them is a hidden row of order {top.order - 1} or less. Replace {top.name!r} by that "
        "row: write the task in the variables that the other rows leave free, at a lower order."
    )
