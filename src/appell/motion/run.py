"""Simulate: from a system and a start to a motion, leg by leg."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from appell.code.starting import starting_state
from appell.code.state import AtState, State, names_of
from appell.code.system import System
from appell.errors import IntegrationError, ModelError
from appell.kinematics.programme import refuse_changing
from appell.model.symbols import Input, key, letters_in, quoted
from appell.model.values import by_name, formula_of, number, unknown
from appell.motion.drive import TWICE, Law
from appell.motion.driver import Run
from appell.motion.events import Event, check_events
from appell.motion.formula import check_formula
from appell.motion.method import check_tolerances
from appell.motion.motion import Motion
from appell.motion.table import end_time

MEMORY = 2e9  # bytes that the steps of a run may take unless more of them are asked for
STEP = 200  # of them that a state takes in a step: the coefficients of its series


def simulate(
    system: System,
    start: State | AtState | Mapping[Any, float] | None = None,
    until: float | None = None,
    *,
    method: str = "auto",
    rtol: float | None = None,
    atol: float | None = None,
    points: int = 501,
    at: Any = None,
    events: Sequence[Event] = (),
    outputs: Mapping[str, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    control: Any = None,
    rate: float | None = None,
    progress: bool | None = None,
    max_steps: int | None = None,
) -> Motion:
    """Integrate the equations of a system.

    Args:
        system: A system with all its numbers bound.
        start: A state, an equilibrium, values for `system.state`, or nothing for the model's suggested start.
        until: The time at which to stop; the model's suggestion if left out.
        method: `"auto"`, `"taylor"`, `"dop853"`, `"cvodes"`, or one of SciPy's (`"RK45"`, `"DOP853"`, `"Radau"`,
            `"BDF"`, `"LSODA"`).
        rtol: Relative tolerance; machine precision for Taylor's method, 1e-12 for dop853, 1e-10 otherwise.
        atol: Absolute tolerance; as rtol if left out.
        points: How many times, evenly spread, the motion is tabulated at.
        at: Instead: the times themselves.
        events: Events to locate, with what happens then.
        outputs: Further quantities to tabulate: name -> formula.
        inputs: Inputs as numbers, formulas in the state and time, or Python functions of t.
        control: A Python function (t, state) -> values of the open inputs (a number, a list, or name -> value), or a
            feedback.
        rate: Samples per second of a control or of inputs by Python functions: they are called at regular times only,
            and their output is held in between. If left out they act continuously, and must depend on time and state
            alone; a sampled feedback keeps its own rate.
        progress: Whether to show a bar; on terminals by default.
        max_steps: Largest number of steps; left out, as many as two gigabytes hold.

    Returns:
        The motion, also if the run ended early; `motion.outcome` says how it ended.

    Example:
        >>> import appell as ap
        >>> system = ap.compile(ap.derive(ap.library.spherical_pendulum()))
        >>> motion = ap.simulate(system, until=2.0)
        >>> motion.outcome.name, motion["z"].attrs["units"], motion.check().ok
        ('DONE', 'm', True)
    """
    if not isinstance(system, System):
        raise IntegrationError(
            f"Only a System can be simulated, got {type(system).__name__}; write compile(derive(model)).bind(...)."
        )
    system, law = driven(system, inputs, control)
    if law is None:
        _ = system.w
    _ = system.p
    state = starting_state(system, start)
    end = end_time(state.t, until, system.model.until)
    check_tolerances(rtol, atol)
    check_events(events)
    for event in events:
        check_event(system, event, law is not None)
    rate = getattr(control, "rate", None) if rate is None else rate
    taken = {"t", *names_of(system.model), *(s.label for s in (*system.equations.speeds, *system.model.inputs))}
    for name, formula in by_name(outputs, "Outputs", "{'height': y}").items():
        if name in taken:
            raise ModelError(f"The output {name!r} has the name of a quantity of the motion itself; give it another.")
        output = formula_of(formula, f"The output {name!r}")
        check_formula(system.equations, output, by_python=law is not None and rate is None)
    max_steps = int(MEMORY / (STEP * len(system.equations.states))) if max_steps is None else max_steps
    if not number("max_steps", max_steps) >= 1:
        raise IntegrationError(f"A run needs at least one step, got max_steps={max_steps!r}.")
    if rate is not None and law is None:
        raise IntegrationError("rate= is for a control or inputs given by Python functions; there is none here.")
    return Run(
        system=system,
        state=state,
        end=end,
        method=method,
        rtol=rtol,
        atol=atol,
        events=tuple(events),
        law=law,
        progress=progress,
        max_steps=max_steps,
        rate=rate,
    ).motion(points, at, outputs)


def driven(system: System, inputs: Mapping[Any, Any] | None, control: Any) -> tuple[System, Law | None]:
    """Numbers are bound, formulas closed into the graph, Python functions become a law."""
    if inputs is not None and not isinstance(inputs, Mapping):
        raise ModelError(
            f"inputs= needs {{input: number, formula or function of t}}, got {inputs!r}; a function (t, state) -> "
            "inputs is given as control=..."
        )
    if isinstance(control, Mapping):
        given = {key(name) for name in inputs or ()}
        for name in control:
            if key(name) in given:
                raise ModelError(TWICE.format(key(name)))
        inputs, control = {**(inputs or {}), **control}, None
    numbers, formulas, functions = _by_kind(system, inputs or {})
    system = system.bind(numbers) if numbers else system
    if formulas:
        system = System(system.code.with_equations(system.equations.close(formulas)), system.values)
    if not functions and control is None:
        return system, None
    control = control.anew() if hasattr(control, "anew") else control  # what remembers begins anew in every run
    if control is not None and not (callable(control) and _takes(control, 2)):
        raise ModelError(f"The control must be a function (t, state) -> inputs or formulas by input, got {control!r}.")
    refuse_changing(
        system.equations.mechanics,
        functions if control is None else [w.label for w in system.equations.inputs],
    )
    return system, Law(system, functions, control, frozenset((*numbers, *functions)))


def _by_kind(
    system: System, inputs: Mapping[Any, Any]
) -> tuple[dict[str, float], dict[Input, Any], dict[str, Callable[[float], float]]]:
    """Inputs that are given as numbers, as formulas and as functions of t."""
    names = {w.label: w for w in system.model.inputs}
    numbers: dict[str, float] = {}
    formulas: dict[Input, Any] = {}
    functions: dict[str, Callable[[float], float]] = {}
    for name, value in inputs.items():
        label = key(name)
        if label not in names:
            raise ModelError(unknown(label, sorted(names), f"input of {system.model.name!r}"))
        if callable(value) and not isinstance(value, sp.Basic):
            if not _takes(value, 1):
                raise ModelError(
                    f"The input {label!r} is given as a function of t alone, lambda t: ...; a function (t, state) -> "
                    "inputs is given as control=..."
                )
            functions[label] = value
        elif isinstance(value, sp.Basic) and letters_in(value):
            formulas[names[label]] = value
        elif isinstance(value, str | list | tuple) or np.ndim(value):
            raise ModelError(
                f"The input {label!r} needs a number, a formula or a function of t, got {type(value).__name__}; "
                "measured values are given as lambda t: numpy.interp(t, times, values), and held in between by rate=..."
            )
        else:
            numbers[label] = number(label, value)
    return numbers, formulas, functions


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with so many arguments, as far as it says."""
    try:
        signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # written in C
        return True
    return True


def check_event(system: System, event: Event, driven: bool = True) -> None:
    """Raise if an event of a system makes no sense; `driven` says whether inputs may change in time."""
    t, x, w, _ = system.equations.arguments
    changing = ca.vertcat(t, x, w) if driven else ca.vertcat(t, x)
    if not ca.depends_on(event.formula(system.equations), changing):
        raise ModelError(
            f"The event {event.name!r} waits for a zero of {quoted(event.expression)}, which does not change "
            "during a run; give a formula in the state or in time."
        )
    names = tuple(dict.fromkeys((*names_of(system.model), *(s.label for s in system.equations.speeds))))
    for label, formula in event.reset.items():
        if label not in names:
            raise ModelError(unknown(label, names, "entry of the state that an event could reset"))
        system.equations.formula(formula)
