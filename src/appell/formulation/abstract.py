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
from appell.kinematics.chart import Split
from appell.kinematics.consistency import sample_split, sample_state
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.rank import check_rank
from appell.kinematics.saddle import REGULAR, condition, without_inertia
from appell.model.model import Model
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
    """

    name: ClassVar[str]
    accepts: ClassVar[frozenset[str]]
    multipliers: ClassVar[bool] = False
    inertial: ClassVar[bool] = False
    reference: ClassVar[str] = ""
    speeds: Mapping[Speed, Any] | None = None
    dependent: tuple[Coordinate | str, ...] | None = None

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
        return chosen_split(mechanics, self.dependent)

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


def listed(dependent: Iterable[Coordinate | str] | Coordinate | str | None) -> tuple[Coordinate | str, ...] | None:
    """What the user wants to be dependent; one by itself is a list of one."""
    if dependent is None:
        return None
    named = (dependent,) if isinstance(dependent, Coordinate | str) else dependent
    if not isinstance(named, Iterable) or not all(isinstance(q, sp.Symbol | str) for q in named):
        raise FormulationError(
            f"dependent= takes coordinates, or their names, in a list such as [x, 'y']; got {quoted(dependent)}."
        )
    return tuple(named)


def speed_formulas(speeds: Mapping[Speed, Any] | None) -> dict[Speed, Any] | None:
    """Quasi-velocities of the user's and their formulas."""
    if speeds is not None and not isinstance(speeds, Mapping):
        raise FormulationError(
            f"speeds= takes speeds with their formulas, {{u: x.rate}} with u = appell.speeds('u'); got {speeds!r}."
        )
    return dict(speeds) if speeds else None


def chosen_split(mechanics: Mechanics, dependent: tuple[Coordinate | str, ...] | None) -> Split:
    """The split with the dependent coordinates the user wants, or the best at a typical state."""
    chosen = sample_split(mechanics)
    if dependent is None:
        return chosen
    named = {q.label: q for q in mechanics.model.coordinates}
    dependent = tuple(named.get(q, q) if isinstance(q, str) else q for q in dependent)
    order = {q: i for i, q in enumerate(mechanics.model.coordinates)}
    for q in dependent:
        if q not in order:
            raise FormulationError(f"{q} cannot be dependent: it is not a coordinate of {mechanics.model.name!r}.")
    if len(set(dependent)) != len(chosen.rows):
        raise FormulationError(
            f"{len(dependent)} dependent coordinates were given, but there are {len(chosen.rows)} independent "
            f"constraint rows; give {len(chosen.rows)} of: {', '.join(map(str, order))}."
        )
    columns = sorted(order[q] for q in dependent)
    if ca.sprank(ca.sparsify(mechanics.J[list(chosen.rows), columns])) < len(columns):
        others = ", ".join(str(mechanics.model.coordinates[i]) for i in chosen.dependent)
        raise FormulationError(
            f"{', '.join(map(str, dependent))} cannot be dependent: the constraint rows do not give their rates. Take "
            f"{others}, or leave the choice to appell."
        )
    return Split(chosen.rows, tuple(columns))


def derive(model: Model, formulation: AbstractFormulation | None = None) -> Equations:
    """The equations of motion of a model by a principle of mechanics.

    Args:
        model: The model.
        formulation: The principle. If left out, `Recursive()` for free trees of three coordinates or more and for
            big ones with few constraints, where it takes fewer operations; `GPME()` where drives along chosen
            coordinates enforce a programme; `GibbsAppell()` for all others.

    Returns:
        Equations A y = b without multipliers (the oracles excepted).

    Example:
        >>> import appell as ap
        >>> print(ap.derive(ap.library.rolling_disk()).summary().splitlines()[0][:41])
        rolling disk by Gibbs-Appell: 8 states, 3
    """
    mechanics = Mechanics(model)
    if formulation is None:
        from appell.formulation.choice import automatic

        return automatic(mechanics)
    return derived(mechanics, formulation)


def derived(mechanics: Mechanics, chosen: AbstractFormulation) -> Equations:
    """The equations of a model on the graph, if the principle accepts it and something is left to move."""
    model = mechanics.model
    if not isinstance(chosen, AbstractFormulation):
        meant = chosen if isinstance(chosen, type) and issubclass(chosen, AbstractFormulation) else None
        example = "GibbsAppell" if meant is None else meant.__name__
        raise FormulationError(f"Got {chosen!r} as a formulation; give one such as appell.{example}().")
    chosen.check(mechanics)
    check_rank(mechanics)
    split = chosen.choose(mechanics)
    if model.rows and len(split.rows) >= len(model.coordinates) + model.driven:
        raise FormulationError(
            f"{model.name!r} is over-constrained: its {len(split.rows)} independent constraint rows "
            f"({', '.join(mechanics.row_names[i] for i in split.rows)}) fix all {len(model.coordinates)} coordinates "
            "at a typical state. Remove rows or add coordinates; if the mechanism moves only for special dimensions, "
            "give these as values=... and a start on the constraints to the Model."
        )
    return chosen.derive(mechanics, split)
