"""What a formulation is: a principle that says what it accepts and derives equations from a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
import sympy as sp

from appell.equations import Equations
from appell.errors import FormulationError
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.saddle import REGULAR, condition, without_inertia
from appell.kinematics.split import Split
from appell.kinematics.typical import sample_split, sample_state
from appell.model.symbols import Coordinate, Speed, quoted

if TYPE_CHECKING:
    from appell.code.state import State

RESTLESS = 6.0  # growth of the dependent velocities, against the best choice, at which the choice is changed


class AbstractFormulation(ABC):
    """A principle of mechanics.

    Attributes:
        name: As the literature calls it.
        accepts: Kinds of constraint it is valid for: `holonomic`, `linear` and `nonlinear` (in the velocities),
            `acceleration` (on accelerations), `servo` (programmed, enforced by drives along some coordinates).
        multipliers: Whether multipliers are among its unknowns.
        inertial: Whether, under constraints, the mass matrix of the free system must be regular.
        reference: Where it comes from.
        speeds: Quasi-velocities of the user's, if there are any.
        dependent: The coordinates whose velocities the rows shall give, if the user chose them.
        angular: Along which axes angular velocities take the place of the rates of quaternions, if they do.
    """

    name: ClassVar[str]
    accepts: ClassVar[frozenset[str]]
    multipliers: ClassVar[bool] = False
    inertial: ClassVar[bool] = False
    reference: ClassVar[str] = ""
    speeds: Mapping[Speed, Any] | None = None
    dependent: tuple[Coordinate | str, ...] | None = None
    angular: str | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.given.items())})"

    @property
    def given(self) -> dict[str, Any]:
        """Its options by name, those that are not as they are by themselves."""
        options = signature(type(self)).parameters.values()
        found = {option.name: getattr(self, option.name, option.default) for option in options}
        return {o.name: found[o.name] for o in options if found[o.name] not in (o.default, None, (), {})}

    @abstractmethod
    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """The equations of a model for a given choice of rows and dependent coordinates."""

    def check(self, mechanics: Mechanics) -> None:
        """Refuse a model this principle is not valid for, and say what is."""
        got = kinds(mechanics)
        refused = sorted(got - self.accepts)
        if refused:
            from appell.formulation import FORMULATIONS

            able = [f.__name__ for f in FORMULATIONS if got <= f.accepts]
            raise FormulationError(
                f"{self.name} accepts constraints of kind {', '.join(sorted(self.accepts))}, but "
                f"{mechanics.model.name!r} has {', '.join(refused)} ones: {', '.join(_named(mechanics, refused))}. "
                f"Use {' or '.join(able) if able else 'another formulation'}."
            )
        if self.inertial and mechanics.model.rows:
            self._check_inertia(mechanics)

    def inertia(self, mechanics: Mechanics, M: np.ndarray, J: np.ndarray) -> np.ndarray:
        """What must be regular at a state.

        Args:
            mechanics: The model on the graph.
            M: The mass matrix of the free system there.
            J: The constraint rows there.
        """
        return M

    def _check_inertia(self, mechanics: Mechanics) -> None:
        """Refuse a model in which some coordinates have no inertia of their own at a typical state."""
        rng = np.random.default_rng(7)
        p = mechanics.sample_values(rng)
        state = sample_state(mechanics, rng, p, 0.3)
        if state is None:
            return
        w = np.zeros(mechanics.variables.w.numel())
        free, _, J, _, _ = (np.array(e) for e in mechanics.functions["multiplier"](0.0, *state, w, p))
        M = self.inertia(mechanics, free, J)
        if not np.all(np.isfinite(M)) or condition(M) <= REGULAR:
            return
        from appell.formulation import FORMULATIONS

        got, idle = kinds(mechanics), without_inertia(M, mechanics.model.coordinates)
        able = [
            f.__name__
            for f in FORMULATIONS
            if got <= f.accepts and not (f.inertial and condition(f().inertia(mechanics, free, J)) > REGULAR)
        ]
        raise FormulationError(
            f"{self.name} needs the mass matrix of the free system to be regular, but in {mechanics.model.name!r} "
            f"it is singular: there is no inertia along {idle} alone. Use {' or '.join(able)}."
        )

    def choose(self, mechanics: Mechanics) -> Split:
        """Rows and dependent coordinates: the user's choice, or the best at a typical state."""
        best, model = sample_split(mechanics, self.rows_by), mechanics.model
        if self.dependent is None:
            return best
        order = {q: i for i, q in enumerate(model.coordinates)}
        named = {q.label: q for q in model.coordinates}
        dependent = tuple(dict.fromkeys(named.get(q, q) if isinstance(q, str) else q for q in self.dependent))
        for q in dependent:
            if q not in order:
                raise FormulationError(f"{q} cannot be dependent: it is not a coordinate of {model.name!r}.")
        if len(dependent) != len(best.rows):
            rows, many = len(best.rows), len(best.rows) != 1
            raise FormulationError(
                f"dependent= takes as many coordinates as there are independent constraint rows; {model.name!r} has "
                f"{rows} row{'s' * many}, got {len(dependent)}. "
                + (f"Give {rows} of: {', '.join(map(str, order))}." if rows else "Leave it out.")
            )
        columns = sorted(order[q] for q in dependent)
        if ca.sprank(ca.sparsify(mechanics.J[list(best.rows), columns])) < len(columns):
            others = ", ".join(str(model.coordinates[i]) for i in best.dependent)
            raise FormulationError(
                f"{', '.join(map(str, dependent))} cannot be dependent: the constraint rows do not give their rates. "
                f"Take {others}, or leave the choice to appell."
            )
        return Split(best.rows, tuple(columns))

    def complete(
        self,
        equations: Equations,
        state: State,
        given: Mapping[str, float],
        values: Mapping[str, float],
        p: np.ndarray,
    ) -> np.ndarray:
        """The extra states of a start; another principle may know more about them than what was given.

        Args:
            equations: Its equations.
            state: The start; extra states are zero where none was given.
            given: What was given, by label.
            values: Numbers of parameters and inputs, by label.
            p: Those of the parameters, in order.
        """
        return state.z

    @property
    def completes(self) -> bool:
        """Whether it knows extra states of a start, see `complete`."""
        return False

    @property
    def projects(self) -> bool:
        """Whether a run keeps the constraints by projection; the equations may do it themselves (Baumgarte)."""
        return True

    @property
    def fixed(self) -> bool:
        """Whether the user chose the speeds, so that they must not be changed during a run."""
        return self.speeds is not None or self.dependent is not None

    @property
    def rows_by(self) -> str:
        """Which function of the mechanics gives the rows by the velocities among which dependent ones are chosen."""
        return "jacobian" if self.angular is None else f"jacobian_{self.angular}"

    @property
    def patience(self) -> float:
        """Growth of the dependent velocities, against the best choice, at which a run changes the choice."""
        return RESTLESS

    def movable(self, mechanics: Mechanics, split: Split) -> tuple[int, ...]:
        """The coordinates a run moves to stay on the position rows: all; none means that it may begin off them."""
        return tuple(range(len(mechanics.model.coordinates)))


def kinds(mechanics: Mechanics) -> set[str]:
    """The kinds of constraint a model has."""
    return {_kind(mechanics, i) for i in range(len(mechanics.model.rows))}


def _kind(mechanics: Mechanics, i: int) -> str:
    row = mechanics.model.rows[i]
    order = row.order
    if row.drive is not None:
        return "servo"
    if order == 1:
        return "nonlinear" if ca.depends_on(mechanics.J[i, :], mechanics.variables.v) else "linear"
    return "holonomic" if order == 0 else "acceleration"


def _named(mechanics: Mechanics, refused: list[str]) -> list[str]:
    return [repr(row.name) for i, row in enumerate(mechanics.model.rows) if _kind(mechanics, i) in refused]


def dependent_ones(
    dependent: Iterable[Coordinate | str] | Coordinate | str | None,
) -> tuple[Coordinate | str, ...] | None:
    """What the user wants to be dependent; one by itself is a list of one."""
    if dependent is None:
        return None
    several = isinstance(dependent, Iterable) and not isinstance(dependent, str | sp.Basic)
    named = tuple(dependent) if several else (dependent,)
    if not all(isinstance(q, sp.Symbol | str) for q in named):
        raise FormulationError(
            f"dependent= takes coordinates, or their names, in a list such as [x, 'y']; got {quoted(dependent)}."
        )
    return named


def speed_formulas(speeds: Mapping[Speed, Any] | None) -> dict[Speed, Any] | None:
    """Quasi-velocities of the user's and their formulas."""
    if speeds is not None and not isinstance(speeds, Mapping):
        raise FormulationError(
            f"speeds= takes speeds with their formulas, {{u: x.rate}} with u = appell.speeds('u'); got {speeds!r}."
        )
    return dict(speeds) if speeds else None
