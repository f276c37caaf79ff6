"""Modes: on which side of each of its kinks a motion is, and the smooth flow that belongs to that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from appell.code import heyoka_code
from appell.code.code import Code, force_powers
from appell.code.machine import Machine
from appell.errors import CompileError, StickingError
from appell.graph.kinks import Modal, has_kinks
from appell.graph.numeric import SideBySide
from appell.graph.sliding import along, family, sliding
from appell.graph.sparse import stacked
from appell.motion.events import Event
from appell.motion.flow import RESTING, Flow, Inputs, resting, sizes
from appell.motion.impulse import Impulses, breakable
from appell.motion.kink_names import kink_name
from appell.motion.settling import Place, slide_of
from appell.once import lately, once

ONTO = 4.0  # times its limit, up to which a switching function is on zero where its guard fell: it may be lifted


@dataclass(eq=False)
class _Kept:
    """What belongs to a set of equations whatever the run: a second run finds it as the first one left it.

    Attributes:
        modal: Right-hand side, powers of the forces, what may jump or be struck, with their kinks taken out; None if
            there are none.
        iterated: Whether Newton's method is part of the right-hand side.
        powers: The power of every force, by which kinks may slide.
        sides: The switching functions, by which kinks may slide.
        slopes: Their gradients, by kink.
        names: Switching functions in words.
    """

    modal: Modal | None
    iterated: bool
    powers: dict[tuple[int, ...], Machine] = field(default_factory=dict)
    sides: dict[tuple[int, ...], Machine] = field(default_factory=dict)
    slopes: dict[int, Machine] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def _machine(self, name: str, results: list[ca.SX], simd: bool = True) -> Machine:
        assert self.modal is not None
        m = self.modal
        return Machine(ca.Function(name, [m.t, m.x, m.w, ca.vertcat(m.p, m.s)], results), simd=simd)

    def switches(self, family: tuple[int, ...]) -> Machine:
        """The switching functions, their rates, the modes, in between for the kinks that slide, and `sizes`."""
        assert self.modal is not None
        if family not in self.sides:
            m, on = self.modal, sliding(self.modal, family)
            g = ca.substitute(m.g, m.s, on.s) if family else m.g
            results = [
                *(ca.densify(e) for e in (g, along(m, g, on.xdot), on.s)),
                *sizes(g, m.t, m.x, on.xdot, self.iterated),
            ]
            self.sides[family] = self._machine("switches", results, simd=False)
        return self.sides[family]

    def slope(self, kink: int) -> Machine:
        """A switching function and its gradient by x."""
        assert self.modal is not None
        if kink not in self.slopes:
            g = self.modal.g[kink]
            self.slopes[kink] = self._machine("slope", [g, ca.densify(ca.gradient(g, self.modal.x))], simd=False)
        return self.slopes[kink]

    @cached_property
    def places(self) -> Machine:
        """The positions that may jump, and how large what they are made of is, in whatever units."""
        assert self.modal is not None
        m, places = self.modal, self.modal.extras[1]
        size = ca.fabs(places) + ca.fabs(ca.jacobian(places, ca.vertcat(m.x, m.t))) @ ca.fabs(ca.vertcat(m.x, m.t))
        return self._machine("places", [ca.densify(e) for e in (places, size)], simd=False)

    def power(self, family: tuple[int, ...]) -> Machine:
        """The power of every force where some kinks may slide."""
        assert self.modal is not None
        if family not in self.powers:
            column = sliding(self.modal, family).held(self.modal.extras[0])
            self.powers[family] = self._machine("powers", [ca.densify(column)], simd=False)
        return self.powers[family]


@once
def _kept(code: Code) -> _Kept:
    found, breaks = None, code.equations.mechanics.unbroken or code.equations.mechanics.striking
    if breaks or has_kinks(code.rhs.function):
        found = Modal.of(ca.Function("kinked", code.equations.arguments, _kinked(code), {"cse": True}))
    return _Kept(found, code.equations.iterated)


@lately(8)
def _flows(code: Code, looked_for: tuple[Any, ...]) -> dict[tuple[int, ...], Flow]:
    """Flows by which kinks may slide, as runs that looked for the same left them, and with them their integrators."""
    return {}


def _kinked(code: Code) -> list[ca.SX]:
    """x', the powers of the forces, positions that may jump and what may be struck, with their kinks."""
    equations, mechanics = code.equations, code.equations.mechanics
    places = equations.in_state(ca.vertcat(*mechanics.unbroken.values()))
    if ca.depends_on(places, mechanics.a):
        places = ca.substitute(places, mechanics.a, equations.qddot)
    return [equations.xdot, force_powers(equations), ca.densify(places), *breakable(equations)]


def guarded(count: int, family: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The kink of every guard of kinks, and on which side it watches that: what may slide has two of them."""
    which = np.repeat(np.arange(count), np.where(np.isin(np.arange(count), family), 2, 1))
    return which, np.append(0, which[1:] == which[:-1])[: which.size].astype(int)


def as_it_slides(code: Code, formula: ca.Function, family: tuple[int, ...]) -> ca.Function:
    """A formula (t, x, w, p[, q'']) where some kinks may slide; as it is written where that makes no difference.

    Args:
        code: The equations.
        formula: The formula.
        family: The kinks that may slide.
    """
    return (in_modes(code, formula, family) if family and has_kinks(formula) else None) or formula


def in_modes(code: Code, formula: ca.Function, family: tuple[int, ...]) -> ca.Function | None:
    """A formula (t, x, w, p[, q'']) as a function of (t, x, w, (p, s)) where some kinks may slide.

    What sticks has the value in between (friction at rest); kinks of the formula alone stay what they are. None if the
    equations have no kinks, or the formula has countless ones (floor) and means what it says.

    Args:
        code: The equations.
        formula: The formula.
        family: The kinks that may slide.
    """
    known = _kept(code).modal
    if known is None:
        return None
    equations = code.equations
    more = [equations.qddot] if formula.n_in() > len(equations.arguments) else []
    outputs = [*_kinked(code), formula(*equations.arguments, *more)]
    try:
        m = Modal.of(ca.Function("kinked", equations.arguments, outputs, {"cse": True}))
    except CompileError:
        return None
    shared = known.s.numel()  # those of the equations come first
    on = sliding(m, family)
    own = ca.substitute(ca.sign(m.g[shared:]), m.s, on.s)
    graph = on.held(ca.substitute(m.extras[-1], m.s[shared:], own))
    return ca.Function("formula", [m.t, m.x, m.w, ca.vertcat(m.p, m.s[:shared])], [ca.densify(graph)], {"cse": True})


@once
def laws_along(code: Code, family: tuple[int, ...]) -> SideBySide:
    """The closed inputs as a function of (t, x, w, (p, s)) where some kinks may slide."""
    return SideBySide(as_it_slides(code, code.laws.function, family))


class Modes:
    """The kinks of a set of equations along a run: which mode each is in, and the flow that belongs to it.

    A mode is +1, -1, or 0 for sliding. Guards come in this order: user events, then kinks.

    Args:
        code: The equations as functions.
        events: What the user looks for.
        length: Of the run.
        driven: Whether inputs are given by Python functions, whose rates nobody knows.
    """

    def __init__(self, code: Code, events: Sequence[Event], length: float, driven: bool = False) -> None:
        self.code, self.length, self.driven = code, length, driven
        equations = code.equations
        self.event_guards: list[tuple[int, int]] = []  # which event, which sign
        self._formulas: list[ca.SX] = []
        for i, event in enumerate(events):
            formula = event.formula(equations)
            for sign in event.signs:
                self.event_guards.append((i, sign))
                self._formulas.append(sign * formula)
        self._accelerated = any(event.accelerated for event in events)
        self.kept = _kept(code)
        self.modal = self.kept.modal
        self.modes = np.ones(self.modal.s.numel() if self.modal else 0, dtype=int)
        self.resting = np.zeros(self.modes.size, dtype=bool)  # kinks on which the motion stays
        self.seen = np.zeros(self.modes.size)  # the largest size of every switching function
        self._flows = _flows(code, tuple((event.expression, event.direction) for event in events))

    @cached_property
    def _user(self) -> ca.Function:
        """What the user looks for."""
        return ca.Function("user", self.code.equations.arguments, [stacked(self._formulas)])

    @cached_property
    def _impulses(self) -> Impulses | None:
        striking = self.modal is not None and self.code.equations.mechanics.striking
        return Impulses(self.code.equations, self.modal) if striking and self.modal is not None else None

    @property
    def family(self) -> tuple[int, ...]:
        """Kinks that may slide in the present flow; none if none does."""
        return self.family_of(self.modes)

    def family_of(self, modes: np.ndarray) -> tuple[int, ...]:
        """Kinks that may slide in the flow that serves some modes."""
        return family(self.modal, slide_of(modes)) if self.modal else ()

    @property
    def _machine(self) -> tuple[bool, bool, bool]:
        """Whether steps are machine code, whether they may become it, and whether Newton's method is part of them."""
        return self.code.steps and heyoka_code.available(), self.code.simd, self.code.equations.iterated

    def flow(self) -> Flow:
        """The smooth flow of the present modes."""
        return self.flow_of(self.family)

    def flow_of(self, family: tuple[int, ...]) -> Flow:
        """The flow in which some kinks may slide, those in mode 0; made once."""
        if family not in self._flows:
            self._flows[family] = self._make(family)
        return self._flows[family]

    @property
    def crossing(self) -> Flow:
        """The equations as they are, for who steps over their kinks."""
        growth = self.code.growth.function if self.code.equations.split.dependent else None
        return Flow(self.code.rhs.function, self._user, self._user, growth, *self._machine)

    def _make(self, family: tuple[int, ...]) -> Flow:
        if self.modal is None:
            return self.crossing
        m, on = self.modal, sliding(self.modal, family)
        p = ca.vertcat(m.p, m.s)
        moded = in_modes(self.code, self._user, family) if self._accelerated else None  # accelerations have kinks
        guards = [self._user(m.t, m.x, m.w, m.p) if moded is None else moded(m.t, m.x, m.w, p)]
        sides = list(guards)
        for i in range(m.s.numel()):
            side, mode = ca.substitute(m.g[i], m.s, on.s) * m.s[i], on.s[i]
            sides.append(side)
            if i in family:  # where it slides, the mode in between must stay between -1 and 1
                slides = 1 - m.s[i] ** 2
                guards += [side + slides * (1 - mode), 1 + slides * mode]
                sides.append(ca.SX(0))
            else:
                guards.append(side)
        arguments, growth = [m.t, m.x, m.w, p], self.crossing.growth
        return Flow(
            ca.Function("rhs", arguments, [ca.cse(ca.densify(on.xdot))]),
            ca.Function("guards", arguments, [ca.densify(ca.vertcat(*guards))]),
            ca.Function("sides", arguments, [ca.densify(ca.vertcat(*sides))]),
            None if growth is None else ca.Function("growth", arguments, [growth(m.t, m.x, m.w, m.p)]),
            *self._machine,
        )

    def powers(self) -> Machine | None:
        """The power of every force in the present modes, for what sticks as well; None if there are no kinks."""
        if self.modal is None:
            return None
        return self.kept.power(self.family)

    def parameters(self, p: np.ndarray) -> np.ndarray:
        """p with the modes behind."""
        return np.concatenate([p, self.modes]) if self.modal else p

    def start(self, t: float, x: np.ndarray, inputs: Inputs, p: np.ndarray) -> None:
        """Find the modes at a state; where a switching function is zero the rates decide. x may move by rounding."""
        if self.modal is None:
            return
        self.modes[:] = 1
        place = Place(self, t, x, inputs, p)
        g, *_, size, haste = place.look(self.modes)
        limits = resting(np.abs(g), size, haste, t, self.length)
        place.rest_below(limits)
        self.resting = place.settle(limits)

    def owner(self, guard: int) -> tuple[str, int, int]:
        """What a guard belongs to: an event and its sign, or a kink."""
        if guard < len(self.event_guards):
            event, sign = self.event_guards[guard]
            return "event", event, sign
        which, side = guarded(self.modes.size, self.family)
        place = guard - len(self.event_guards)
        return "kink", int(which[place]), int(side[place])

    def name(self, kink: int) -> str:
        """What happens at a kink, in words."""
        assert self.modal is not None
        names = self.kept.names
        if kink not in names:
            names[kink] = kink_name(self.modal, kink, self.code.equations)
        return names[kink]

    def refuse_to_stick(self, kink: int) -> None:
        """Raise where a motion cannot slide along a kink."""
        assert self.modal is not None
        if self.driven and ca.depends_on(self.modal.g[kink], self.modal.w):
            raise StickingError(
                "The motion sticks to an input that a Python function gives (friction against a driven part), and its "
                "rate is not known; give the input as a formula in appell.t, or make it an extra state."
            )

    def limits(
        self, values: np.ndarray, rates: np.ndarray, span: float, size: np.ndarray, haste: np.ndarray, t: float
    ) -> np.ndarray:
        """Up to which size the guards of kinks count as zero.

        Args:
            values: Their values.
            rates: Their rates.
            span: How long the leg was that ends with them.
            size: What they are made of.
            haste: What their rates are made of.
            t: Time.
        """
        which, side = guarded(self.modes.size, self.family)
        between = (self.modes[which] == 0) | (side > 0)
        now = np.fmax(np.abs(values), np.abs(rates) * span)[~between]
        self.seen[which[~between]] = np.fmax(self.seen[which[~between]], now)
        limits = np.where(between, RESTING, resting(self.seen[which], size, haste, t, self.length))
        self.resting[which[~between][now > limits[~between]]] = False
        return limits

    def sides(self, t: float, x: np.ndarray, inputs: Inputs, p: np.ndarray) -> np.ndarray:
        """The switching functions in the present modes."""
        return Place(self, t, x, inputs, p).look(self.modes)[0] if self.modal else np.zeros(0)

    def switch(
        self,
        fired: Sequence[tuple[int, int]],
        t: float,
        x: np.ndarray,
        inputs: Inputs,
        p: np.ndarray,
        was: np.ndarray | None = None,
    ) -> None:
        """Flip the kinks whose guards fired; one that slid leaves on the side its mode reached. Then settle all.

        Args:
            fired: Kinks, and the sides that those which slid have reached.
            t: Time.
            x: The state, which may be moved by rounding.
            inputs: Values of the inputs.
            p: Parameters.
            was: The switching functions as they were, if inputs have jumped since.
        """
        if self.modal is None:
            return
        place = Place(self, t, x, inputs, p)
        if was is None:
            place.keep()
            was = place.look(self.modes)[0]
        on, jumped = self.modes == 0, np.zeros(self.modes.size, dtype=bool)
        limits = resting(self.seen, *place.look(self.modes)[3:], t, self.length)
        for kink, side in fired:
            jumped[kink] = not on[kink] and not abs(was[kink]) <= ONTO * limits[kink]
            on[kink] = True
            self.modes[kink] = -self.modes[kink] or (1 if side == 0 else -1)
        self.resting = place.settle(limits, np.where(on, was, 0.0), jumped)

    def struck(self, before: np.ndarray, t: float, x: np.ndarray, inputs: Inputs, p: np.ndarray) -> np.ndarray:
        """x behind the change from earlier modes to the present ones, which may make velocities jump."""
        if self._impulses is None:
            return x
        return self._impulses.behind(t, x, inputs(t, x), np.concatenate([p, before]), self.parameters(p))

    @property
    def rows(self) -> Callable[[float, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]] | None:
        """(t, x, p) -> rows on velocities that the speeds obey, in the present modes, and their slopes.

        None where no kink enters them.
        """
        impulses = self._impulses
        if impulses is None or not impulses.redundant:
            return None
        w = np.zeros(len(self.code.equations.inputs))
        return lambda t, x, p: impulses.rows(t, x, w, self.parameters(p))

    def jump(self, before: np.ndarray, t: float, x: np.ndarray, inputs: Inputs, p: np.ndarray) -> str:
        """The position that jumps from earlier modes to the present ones, and by how much; empty if none does."""
        unbroken = self.code.equations.mechanics.unbroken
        if not unbroken:
            return ""
        old = np.where(before, before, self.modes)
        new = np.where(self.modes, self.modes, -old)  # what slides has the other side next to it
        (here, size), (there, other) = (
            self.kept.places(t, x, inputs(t, x), np.concatenate([p, s])) for s in (old, new)
        )
        gaps = np.abs(there - here)
        jumps = np.where(gaps > RESTING * np.fmax(size, other), gaps, 0.0)
        if not jumps.any():
            return ""
        owners = [name for name, e in unbroken.items() for _ in range(e.numel())]
        return f"{owners[int(np.argmax(jumps))]} jumps by {np.max(jumps):.6g}"
