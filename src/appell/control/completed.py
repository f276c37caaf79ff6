"""A reference that is given for some quantities only, completed by the constraints of the mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appell.code.system import compile
from appell.control.inverse_dynamics import InverseDynamics
from appell.control.reference import course
from appell.errors import ModelError
from appell.formulation.derive import derive
from appell.model.constraint import Prescribed
from appell.model.symbols import Letter, key
from appell.model.values import unknown
from appell.motion.motion import Motion
from appell.motion.run import simulate


def incomplete(reference: Any, dynamics: InverseDynamics) -> bool:
    """Whether a reference is given by formulas that are not one for each coordinate.

    Args:
        reference: What was given to be tracked.
        dynamics: The mechanism as the law knows it.
    """
    if not isinstance(reference, Mapping):
        return False
    given = {key(name) for name in reference if isinstance(name, str | Letter)}
    return len(given) < len(reference) or bool({q.label for q in dynamics.model.coordinates} - given)


def completed(
    reference: Mapping[Any, Any], dynamics: InverseDynamics, until: float, near: Mapping[str, float]
) -> Motion:
    """The motion of the mechanism on which some quantities follow formulas in time.

    Args:
        reference: `{coordinate or formula: formula in t}`; together with the constraints they leave nothing free.
        dynamics: The mechanism as the law knows it.
        until: How long.
        near: Where to look for the start, before the model's own.
    """
    model = dynamics.model
    letters = {q.label: q for q in model.coordinates}
    if not reference:
        raise ModelError(f"The reference is empty; give formulas in appell.t for {', '.join(letters)}.")
    rows = []
    for name, formula in reference.items():
        what = name
        if isinstance(name, str | Letter):
            if key(name) not in letters:
                raise ModelError(unknown(key(name), list(letters), f"coordinate of {model.name!r}"))
            what = letters[key(name)]
        rows.append(Prescribed(what, course(formula, what), f"reference of {what}"))
    guided = model.add(*rows)
    if free := guided.degrees_of_freedom:
        others = ", ".join(label for label in letters if label not in map(str, reference))
        raise ModelError(
            f"The reference of {', '.join(map(str, reference))} leaves {free} degree{'s' * (free > 1)} of freedom of "
            f"{model.name!r} open and says nothing about {others}; give formulas in appell.t for more of them."
        )
    values = dict(zip((s.label for s in model.parameters), dynamics.p.tolist(), strict=True))
    system = compile(derive(guided)).bind({**values, **dict.fromkeys(dynamics.labels, 0.0), **dynamics.held})
    motion = simulate(system, system.consistent({}, near={**model.start, **near}), until)
    if not motion.outcome.ok:
        raise ModelError(f"The reference cannot be followed to its end: {motion.outcome.value} {motion.detail}")
    return motion
