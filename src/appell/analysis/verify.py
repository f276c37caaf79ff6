"""Verify: every applicable formulation at random consistent states, pair against pair."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.code.agreement import Rivals, disagreement
from appell.errors import FormulationError, InconsistentStartError, ModelError
from appell.formulation.abstract import AbstractFormulation
from appell.kinematics.chart import Split
from appell.kinematics.consistency import jacobian_at, sample_split, sample_state
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.rank import check_rank
from appell.model.model import Model
from appell.model.symbols import key

ENOUGH = 1e-10


@dataclass(frozen=True)
class Verification:
    """What verify found.

    Attributes:
        model: Name of the model.
        pairs: For each pair of formulations the largest relative disagreement of q''.
        states: How many states were tried.
        residual: Largest residual of the constraints at those states.
        rounding: What rounding alone may make of the accelerations of a big model.
    """

    model: str
    pairs: Mapping[tuple[str, str], float]
    states: int
    residual: float
    rounding: float = 0.0

    @property
    def worst(self) -> float:
        """The largest disagreement of any pair."""
        return max(self.pairs.values(), default=0.0)

    @property
    def ok(self) -> bool:
        """Whether all formulations agree to 1e-10, or as far as rounding lets them."""
        return self.worst <= max(ENOUGH, self.rounding)

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
        if not rows:
            return "\n".join([*lines, "  only one formulation accepts this model: nothing to compare"])
        wide = max(len(row[0]) for row in rows)
        lines.append("  " + " " * wide + "".join(f"{i + 1:>9}" for i in range(len(rows) - 1)))
        lines += [f"  {row[0]:<{wide}}" + "".join(f"{e:>9}" for e in row[1:]) for row in rows]
        return "\n".join([*lines, f"  {'all agree' if self.ok else 'DISAGREEMENT'}: worst {self.worst:.2e}"])

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import verification_html

        return verification_html(self)


def verify(
    model: Model,
    formulation: AbstractFormulation | None = None,
    *,
    values: Mapping[Any, float] | None = None,
    states: int = 20,
    seed: int = 0,
) -> Verification:
    """Compare every formulation that accepts a model at random states on its constraints.

    Args:
        model: The model.
        formulation: One more to compare, for instance with quasi-velocities of your own.
        values: Numbers of parameters and inputs; the model's suggestions, else random ones, where left out.
        states: How many states.
        seed: Seed of the random numbers.
    """
    mechanics = Mechanics(model)
    check_rank(mechanics)
    split = sample_split(mechanics)
    if model.rows and len(split.rows) >= len(model.coordinates) + bool(model.programmed):
        raise FormulationError(f"{model.name!r} is over-constrained; nothing is left to compare.")
    also = None
    if formulation is not None:
        formulation.check(mechanics)
        also = formulation.derive(mechanics, formulation.choose(mechanics))
    rivals = Rivals(mechanics, split, also)
    given = {key(n): float(v) for n, v in (values or {}).items()}
    known = {s.label for s in (*model.parameters, *model.inputs)}
    for name in given:
        if name not in known:
            raise ModelError(f"{name!r} is no parameter or input of {model.name!r}; it has {', '.join(sorted(known))}.")
    rng = np.random.default_rng(seed)
    pairs: dict[tuple[str, str], float] = {}
    residual, rounding, done, tries = 0.0, 0.0, 0, 0
    while done < states:
        tries += 1
        p = np.array([given.get(s.label, model.values.get(s.label, rng.uniform(0.5, 1.5))) for s in model.parameters])
        w = np.array([given.get(s.label, rng.normal()) for s in model.inputs])
        state = sample_state(mechanics, rng, p)
        if state is None or tries > 20 * states:
            if tries > 5 + 3 * done:
                raise InconsistentStartError(
                    f"No state on the constraints of {model.name!r} was found; give the model values=... with which it "
                    "can be assembled and a start=... near a real configuration."
                )
            continue
        q, v, z = state
        jacobian = jacobian_at(mechanics, 0.0, q, v, z, p)
        if split.growth(jacobian) > 1e3 or len(Split.at(jacobian, rtol=1e-5).rows) != len(split.rows):
            continue  # near a singular configuration rounding would be blamed on the formulations
        found = rivals.accelerations(0.0, q, v, z, w, p)
        rounding = max(rounding, rivals.rounding(0.0, q, v, z, w, p))
        for a, b in itertools.combinations(found, 2):
            pairs[a, b] = max(pairs.get((a, b), 0.0), disagreement(found[a], found[b]))
        if model.rows:
            e = np.array(mechanics.functions["velocity"](0.0, q, v, z, p)[0])
            residual = max(residual, float(np.max(np.abs(e))))
        done += 1
    return Verification(model.name, pairs, done, residual, rounding)
