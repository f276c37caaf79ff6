"""Verify: every applicable formulation at random consistent states, pair against pair."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from appell.code.agreement import SINGULAR, Rivals
from appell.code.constants import check_masses
from appell.errors import FormulationError, InconsistentStartError
from appell.formulation.abstract import AbstractFormulation
from appell.formulation.derive import apply
from appell.kinematics.consistency import jacobian_at, row_units, suggested, suggested_start
from appell.kinematics.differentiated import Differentiated
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.rank import check_movable, check_rank
from appell.kinematics.saddle import own_units
from appell.kinematics.split import Split
from appell.kinematics.typical import sample_split, sample_state
from appell.model.model import Model
from appell.model.rules import numbers_of
from appell.model.values import whole

ENOUGH = 1e-10  # difference of accelerations, against their size, up to which formulations agree
STRAINED = 100.0  # growth of the rates from which on a state is near a singular one
SPARE = 5  # so many states without finite accelerations are put up with for each that has them


@dataclass(frozen=True)
class Verification:
    """The result of `verify`.

    Attributes:
        model: Name of the model.
        pairs: For each pair of formulations the largest relative disagreement of q''.
        states: How many states were compared.
        residual: Largest residual of the constraints at those states.
        rounding: What rounding alone may make of the accelerations, large where a matrix is nearly singular.
        left_out: Why other states gave no finite accelerations, and how many of them did not.
    """

    model: str
    pairs: Mapping[tuple[str, str], float]
    states: int
    residual: float
    rounding: float = 0.0
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def worst(self) -> float:
        """The largest disagreement of any pair; nan if nothing was compared."""
        return max(self.pairs.values(), default=0.0) if self.states else float("nan")

    @property
    def ok(self) -> bool:
        """Whether all formulations agree to 1e-10, or as far as rounding lets them, at states enough."""
        return self.worst <= max(ENOUGH, self.rounding) and self._enough

    @property
    def _enough(self) -> bool:
        return sum(self.left_out.values()) < SPARE * self.states

    @property
    def verdict(self) -> str:
        """What was found, in a few words."""
        tried = self.states + sum(self.left_out.values())
        if not self.states:
            return f"NOTHING COMPARED: none of {tried} random states gave finite accelerations"
        if self.worst > max(ENOUGH, self.rounding):
            return f"DISAGREEMENT: worst {self.worst:.2e}"
        if not self._enough:
            return f"TOO LITTLE COMPARED: only {self.states} of {tried} random states gave finite accelerations"
        if not self.pairs:
            return "only one formulation accepts this model: nothing to compare"
        return f"all agree: worst {self.worst:.2e}"

    @property
    def remarks(self) -> list[str]:
        """A sentence for each reason for which states were left out."""
        return [
            f"at {count} random state{'s' if count > 1 else ''} accelerations are not finite: {cause}"
            for cause, count in self.left_out.items()
        ]

    @property
    def formulations(self) -> list[str]:
        """Names of those compared, in order."""
        return list(dict.fromkeys(name for pair in self.pairs for name in pair))

    def triangle(self) -> list[list[str]]:
        """A row for each formulation: its number and name, and its disagreement with each of those before it."""
        names = self.formulations
        return [
            [f"{i + 1} {name}", *(f"{self.pairs[other, name]:.1e}" for other in names[:i])]
            for i, name in enumerate(names)
        ]

    def __repr__(self) -> str:
        lines = [
            f"{self.model}: {self.states} random consistent states (constraint residuals up to {self.residual:.1e})"
        ]
        rows = self.triangle()
        if rows:
            wide = max(len(row[0]) for row in rows)
            lines.append("  " + " " * wide + "".join(f"{i + 1:>9}" for i in range(len(rows) - 1)))
            lines += [f"  {row[0]:<{wide}}" + "".join(f"{e:>9}" for e in row[1:]) for row in rows]
        return "\n".join([*lines, *(f"  {words}" for words in (*self.remarks, self.verdict))])

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import section_html

        return section_html(self)


def verify(
    model: Model,
    *formulations: AbstractFormulation,
    values: Mapping[Any, float] | None = None,
    states: int = 20,
    seed: int = 0,
) -> Verification:
    """Compare every formulation that accepts a model at random states on its constraints, at random times.

    States at which one of them has no finite accelerations are left out for all, and counted.

    Args:
        model: The model.
        formulations: More to compare, for instance with quasi-velocities of your own.
        values: Numbers of parameters and inputs; the model's suggestions, else random ones, where left out.
        states: How many states.
        seed: Seed of the random numbers.

    Example:
        >>> import appell as ap
        >>> found = ap.verify(ap.library.four_bar(), states=5)
        >>> found.ok, found.worst < 1e-12
        (True, True)
    """
    states, seed = whole("states", states), whole("seed", seed, 0)
    mechanics = Mechanics(model)
    check_rank(mechanics)
    split = sample_split(mechanics)
    check_movable(mechanics, split)
    also = [apply(formulation, mechanics) for formulation in formulations]
    for equations in also:
        if isinstance(equations.mechanics, Differentiated):
            raise FormulationError(
                f"{equations.formulation!r} has accelerations among its states, so that there is nothing to compare at "
                "a state. motion.check() compares along a motion; appell.higher_order.verify(chain) has the identities "
                "of a robot."
            )
    rivals = Rivals(mechanics, split, also)
    given = numbers_of(model, values)
    suggested = {**model.values, **given}
    check_masses(mechanics, np.array([suggested.get(s.label, np.nan) for s in model.parameters]))
    rng, clock = np.random.default_rng(seed), np.random.default_rng((seed, 1))
    until = model.until  # falls to where states are found: what a model says may end before the run it suggests
    pairs: dict[tuple[str, str], float] = {}
    residual, rounding, done, tries = 0.0, 0.0, 0, 0
    left_out: Counter[str] = Counter()
    while done < states and left_out.total() < SPARE * states:
        tries += 1
        p = np.array([given.get(s.label, model.values.get(s.label, rng.uniform(0.5, 1.5))) for s in model.parameters])
        w = np.array([given.get(s.label, rng.normal()) for s in model.inputs])
        t = clock.uniform(0.0, until)
        units = _Units(mechanics, t, p)
        state = sample_state(mechanics, rng, p, t=t, units=units.places, rates=units.rates)
        if state is None or tries > 20 * states:
            if tries > 5 + 3 * (done + left_out.total()):
                raise InconsistentStartError(
                    f"No state on the constraints of {model.name!r} was found; give the model values=... with which it "
                    "can be assembled and a start=... near a real configuration."
                )
            until = t if state is None else until
            continue
        q, v, z = state
        measure = rivals.measure(1 / (model.until or 1.0), t, q, v, z, w, p)
        jacobian = jacobian_at(mechanics, t, q, v, z, p) * measure.units
        growth = split.growth(jacobian)
        if growth > STRAINED or len(Split.at(jacobian, rtol=1e-3).rows) != len(split.rows):
            continue  # near a singular configuration rounding would be blamed on the formulations
        found = rivals.accelerations(t, q, v, z, w, p)
        noise = rivals.rounding(t, q, v, z, w, p)
        if not (noise < SINGULAR and all(np.all(np.isfinite(value)) for value in found.values())):
            left_out[rivals.cause(found, t, q, v, z, w, p)] += 1
            until = t
            continue
        rounding = max(rounding, noise * max(1.0, growth) ** 2)  # elimination has rows and columns times that growth
        for a, b in itertools.combinations(found, 2):
            pairs[a, b] = max(pairs.get((a, b), 0.0), measure.disagreement(found[a], found[b]))
        if model.rows:
            e = np.array(mechanics.functions["velocity"](t, q, v, z, p)[0])
            residual = max(residual, float(np.max(np.abs(e))))
        done += 1
    return Verification(model.name, pairs, done, residual, rounding, left_out)


class _Units:
    """What random states at a time are measured in, so that those of mechanisms of every size are alike.

    Args:
        mechanics: The model on the graph.
        t: The time.
        p: Values of the parameters.
    """

    def __init__(self, mechanics: Mechanics, t: float, p: np.ndarray) -> None:
        self.mechanics, self.t, self.p = mechanics, t, p

    @property
    def places(self) -> np.ndarray:
        """Of coordinates: one, or less if rows say so; of those in no row less if beside these their inertia does."""
        model = self.mechanics.model
        q, v = suggested_start(model)
        z = suggested(model, model.states, 1.0)
        units = row_units(self.mechanics, self.p)[0]
        known, own = np.isfinite(units), self._own(q, v, z)
        longest = np.min(own[known] / units[known]) if known.any() else np.min(own)
        return np.fmin(1.0, np.where(known, units, own / longest))

    def rates(self, q: np.ndarray, v: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Of rates, of like kinetic energies: the fastest is one in a second, or all are as fast as v."""
        own = self._own(q, v, z)
        return own * max(1 / np.max(own), np.max(np.abs(v) / own))

    def _own(self, q: np.ndarray, v: np.ndarray, z: np.ndarray) -> np.ndarray:
        w = np.zeros(len(self.mechanics.model.inputs))
        M = np.array(self.mechanics.functions["multiplier"](self.t, q, v, z, w, self.p)[0])
        return own_units(M, self.mechanics.variables.quaternions) if np.all(np.isfinite(M)) else np.ones(q.size)
