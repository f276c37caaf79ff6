"""The smallest sets of inputs that control a system, and of measurements that observe it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from appell.analysis.linearize import Linearization
from appell.control.controllability import Reach, controllability, observability, reached
from appell.control.designable import designable, in_units, within
from appell.errors import ControlError
from appell.model.symbols import listed
from appell.model.values import check_kind


def smallest_actuators(lin: Linearization, *, stabilize: bool = False) -> tuple[tuple[str, ...], ...]:
    """All smallest subsets of the inputs that control the system, best margin first.

    Args:
        lin: The linearisation; its inputs are the candidates.
        stabilize: Whether it is enough to reach the modes that do not decay by themselves, momenta that no input
            changes left aside, as `lqr` does.

    Returns:
        Subsets of one size.
    """
    check_kind(lin, Linearization, "a linearisation, appell.linearize(...)")
    A, B, names = lin.A, lin.B, lin.states
    if stabilize and not controllability(lin).enough:
        Z, (A, B) = designable(lin)[1], in_units(lin)
        A, B, names = within(A, Z), Z.T @ B, tuple(f"x{i + 1}" for i in range(Z.shape[1]))

    def reach(subset: tuple[str, ...]) -> Reach:
        return reached(A, B[:, [lin.inputs.index(w) for w in subset]], names, "controllable")

    return _smallest(lin.inputs, reach, stabilize, "inputs", "control")


def smallest_sensors(
    lin: Linearization, candidates: Iterable[Any], *, stabilize: bool = False
) -> tuple[tuple[Any, ...], ...]:
    """All smallest subsets of measured quantities that observe the system, best margin first.

    Args:
        lin: The linearisation.
        candidates: What could be measured: letters, names, formulas.
        stabilize: Whether it is enough to see the modes that do not decay by themselves.

    Returns:
        Subsets of one size.
    """
    check_kind(lin, Linearization, "a linearisation, appell.linearize(...)")
    return _smallest(
        tuple(listed(candidates)), lambda subset: observability(lin, subset), stabilize, "measurements", "observe"
    )


def _smallest(
    candidates: tuple[Any, ...], test: Callable[[Any], Reach], stabilize: bool, what: str, verb: str
) -> tuple[tuple[Any, ...], ...]:
    for count in range(0 if stabilize else 1, len(candidates) + 1):
        found = []
        for subset in itertools.combinations(candidates, count):
            reach = test(subset)
            if reach.enough if stabilize else reach.complete:
                found.append((reach.margin, subset))
        if found:
            return tuple(subset for _, subset in sorted(found, key=lambda pair: -pair[0]))
    if not candidates:
        hint = ": give candidates, such as smallest_sensors(lin, lin.states)" if what == "measurements" else ""
        raise ControlError(f"There are no {what} to choose from{hint}.")
    missed = "; ".join(f"{mode}: {mode.combination}" for mode in test(candidates).missed)
    who = f"{candidates[0]} alone" if len(candidates) == 1 else f"Not even all {len(candidates)} {what}"
    does = f"{verb} the system" if len(candidates) > 1 else f"does not {verb} the system"
    raise ControlError(f"{who} {does}; missed is {missed}.")
