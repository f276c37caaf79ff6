"""The systems of a sweep: one for every combination of choices that change the equations (laws, controllers)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
import sympy as sp

from appell.code.starting import check_names
from appell.code.state import State
from appell.code.system import System
from appell.ensemble.design import Design
from appell.ensemble.law import Law
from appell.errors import MissingValueError, ModelError
from appell.formulation.derive import derive
from appell.model.symbols import Parameter, key, letters_in
from appell.model.values import numbers
from appell.motion.run import driven

START, CONTROL = "start", "control"


class Case:
    """One system of a sweep.

    Attributes:
        system: The system.
        law: The Python functions that give its inputs, or None.
        start: Where its runs begin; a tuple of all starts where these are varied.
    """

    def __init__(self, system: System, law: Law | None, start: Any) -> None:
        self.system, self.law, self.start = system, law, start


def cases(
    system: System, plan: Design, inputs: Mapping[Any, Any] | None, control: Any, start: Any
) -> tuple[list[Case], np.ndarray]:
    """All cases, and which one each run belongs to."""
    laws = {key(name): law for name, law in (inputs or {}).items()}
    names = {w.label for w in system.model.inputs}
    for name in plan.choices:
        if name not in (START, CONTROL) and name not in names:
            things = [*plan.choices[name].values()]
            strange = [e for e in things if not isinstance(e, Real)]
            if not strange:
                raise ModelError(f"The values of {name!r} are numbers, which need no labels: {name!r}: {things}.")
            raise ModelError(
                f"The values of {name!r} must be numbers, got {strange[0]!r}; formulas can be given for inputs "
                f"({', '.join(sorted(names)) or 'this model has none'}), functions for 'control', states for 'start'."
            )
    for name, what in ((START, "states, or values by name"), (CONTROL, "Python functions (t, state) -> inputs")):
        if name in plan.columns and name not in plan.choices:
            raise ModelError(f"{name!r} is varied over {what}; got the number {plan.columns[name][0]:g}.")
    if twice := [name for name in plan.columns if name in laws]:
        raise ModelError(
            f"{twice[0]!r} is given by inputs=... and cannot be varied as well; leave out one of them, or vary what "
            "stands in its formula."
        )
    if CONTROL in plan.choices and control is not None:
        raise ModelError("The control is both given and varied; leave out control=...")
    if START in plan.choices and start is not None:
        raise ModelError("The start is both given and varied; leave out start=...")
    choices = [thing for name, things in plan.choices.items() if name in names for thing in things.values()]
    system = _with_gains(system, [*laws.values(), *choices], plan.columns)
    begins = _checked_start(system, start)
    if START in plan.choices:
        begins = tuple(_checked_start(system, thing) for thing in plan.choices[START].values())
    found: list[Case] = []
    changing = {name: list(things.values()) for name, things in plan.choices.items() if name != START}
    varied = names & plan.columns.keys() - changing.keys()
    for picked in product(*changing.values()):
        chosen = dict(zip(changing, picked, strict=True))
        given = {**laws, **{name: law for name, law in chosen.items() if name != CONTROL}}
        found.append(_case(system, given, chosen.get(CONTROL, control), begins, varied))
    which = np.zeros(plan.runs, dtype=int)
    for name, things in changing.items():
        which = which * len(things) + plan.columns[name].astype(int)
    return found, which


def _case(system: System, given: Mapping[str, Any], control: Any, start: Any, varied: set[str]) -> Case:
    """The system under some inputs; others are varied over numbers."""
    bound, law = driven(system, given, control)
    if law is None:
        return Case(bound, None, start)
    if isinstance(control, Mapping):
        given, control = {**given, **{key(name): law for name, law in control.items()}}, None
    functions = {name: f for name, f in given.items() if callable(f) and not isinstance(f, sp.Basic)}
    if twice := sorted(varied & functions.keys()):
        raise ModelError(f"{twice[0]!r} is given by a function and cannot be varied as well; leave out one of them.")
    numbers = {w.label for w in bound.equations.inputs} & (varied | given.keys()) - functions.keys()
    return Case(bound, Law(functions, control, numbers), start)


def own_rate(cases: list[Case]) -> float | None:
    """Samples per second that the controls of a sweep have of their own."""
    rates = {getattr(case.law.control, "rate", None) for case in cases if case.law is not None}
    if len(rates) > 1:
        raise ModelError("The controls of this sweep have different rates; make one sweep for each.")
    return next(iter(rates), None)


def _checked_start(system: System, start: Any) -> Any:
    """A state, or values by name."""
    if start is None:
        return start
    if isinstance(start, State):
        numbers(start.to_dict())
        return start
    if not isinstance(start, Mapping):
        raise ModelError(f"A start is a state or values by name, got {start!r}.")
    given = numbers(start)
    check_names(system.equations, given)
    return given


def _with_gains(system: System, laws: list[Any], varied: Mapping[str, Any]) -> System:
    """The system with the parameters that only laws contain, all of which must be varied."""
    known, found = set(system.model.parameters), {}
    for law in laws:
        if isinstance(law, sp.Basic):
            found.update({s.name: s for s in letters_in(law) if isinstance(s, Parameter) and s not in known})
    if not found:
        return system
    absent = [name for name in sorted(found) if name not in varied]
    if absent:
        one = absent[0]
        raise MissingValueError(
            f"No value for {', '.join(absent)}: it occurs in the inputs only. Vary it, for example {{{one!r}: [1.0]}}, "
            f"put a number in its place, or make it a parameter by model.with_parameters({one}) and bind it."
        )
    equations = system.equations
    model = system.model.with_parameters(*(found[name] for name in sorted(found)))
    new = derive(model, equations.formulation)
    if equations.closed:
        new = new.close(equations.closed)
    return System(system.code.with_equations(new), system.values)
