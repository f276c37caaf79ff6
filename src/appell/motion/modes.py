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
from appell.errors import CompileError, IntegrationError
from appell.graph.kinks import Modal, has_kinks
from appell.motion.events import Event
from appell.motion.flow import RESTING, Flow, Inputs, resting, sizes
from appell.motion.impulse import Impulses, breakable
from appell.motion.kink_names import kink_name
from appell.motion.settling import Place, slide_of
from appell.once import once

ONTO = 4.0  # times its limit, up to which a switching function is on zero where its guard fell: it may be lifted


@dataclass(eq=False)
class _Kept:
    """What belongs to a set of equations whatever the run: a second run finds it as the first one left it.

    Attributes:
        modal: Right-hand side, powers of the forces, what may jump or be struck, with their kinks taken out; None if
            there are none.
        flows: By what is looked for and which kinks slide, and with them their integrators.
        powers: The power of every force, by which kinks slide.
        sides: The switching functions, by which kinks slide.
        slopes: Their gradients, by kink.
        names: Switching functions in words.
    """

    modal: Modal | None
    flows: dict[Any, dict[tuple[int, ...], Flow]] = field(default_factory=dict)
    powers: dict[tuple[int, ...], Machine] = field(default_factory=dict)
    sides: dict[tuple[int, ...], Machine] = field(default_factory=dict)
    slopes: dict[int, Machine] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def _machine(self, name: str, results: list[ca.SX], simd: bool = True) -> Machine:
        assert self.modal is not None
        m = self.modal
        return Machine(ca.Function(name, [m.t, m.x, m.w, ca.vertcat(m.p, m.s)], results), simd=simd)

    def switches(self, slide: tuple[int, ...]) -> Machine:
        """The switching functions, their rates, the modes, in between for the kinks that slide, and `sizes`."""
        assert self.modal is not None
        if slide not in self.sides:
            m = self.modal
            xdot, s = m.sliding(slide)
            g = ca.substitute(m.g, m.s, s) if slide else m.g
            rates = ca.jtimes(g, ca.vertcat(m.x, m.t), ca.vertcat(xdot, 1))
            results = [*(ca.densify(e) for e in (g, rates, s)), *sizes(g, m.t, m.x, xdot)]
            self.sides[slide] = self._machine("switches", results, simd=False)
        return self.sides[slide]

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

    def power(self, slide: tuple[int, ...]) -> Machine:
        """The power of every force while some kinks slide."""
        assert self.modal is not None
        if slide not in self.powers:
            column = self.modal.held(self.modal.extras[0], slide)
            self.powers[slide] = self._machine("powers", [ca.densify(column)], simd=False)
        return self.powers[slide]


@once
def _kept(code: Code) -> _Kept:
    found, breaks = None, code.equations.mechanics.unbroken or code.equations.mechanics.striking
    if breaks or has_kinks(code.rhs.function):
        found = Modal.of(ca.Function("kinked", code.equations.arguments, _kinked(code), {"cse": True}))
    return _Kept(found)


def _kinked(code: Code) -> list[ca.SX]:
    """x', the powers of the forces, positions that may jump and what may be struck, with their kinks."""
    equations, mechanics = code.equations, code.equations.mechanics
    places = equations.in_state(ca.vertcat(*mechanics.unbroken.values()))
    if ca.depends_on(places, mechanics.a):
        places = ca.substitute(places, mechanics.a, equations.qddot)
    return [equations.xdot, force_powers(equations), ca.densify(places), *breakable(equations)]


def guarded(count: int, slide: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The kink of every guard of kinks, and whether it watches a mode in between: what slides has two of them."""
    between = np.isin(np.arange(count), slide)
    which = np.repeat(np.arange(count), np.where(between, 2, 1))
    return which, between[which]


def in_modes(code: Code, formula: ca.Function, slide: tuple[int, ...]) -> ca.Function | None:
    """A formula (t, x, w, p[, q'']) as a function of (t, x, w, (p, s)) while some kinks slide.

    What sticks has the value in between (friction at rest); kinks of the formula alone stay what they are. None if the
    equations have no kinks, or the formula has countless ones (floor) and means what it says.

    Args:
        code: The equations.
        formula: The formula.
        slide: The kinks that slide.
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
    between = m.sliding(slide)[1]
    own = ca.substitute(ca.sign(m.g[shared:]), m.s, between)
    graph = m.held(ca.substitute(m.extras[-1], m.s[shared:], own), slide)
    return ca.Function("formula", [m.t, m.x, m.w, ca.vertcat(m.p, m.s[:shared])], [ca.densify(graph)], {"cse": True})


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
        self.seen = np.zeros(self.modes.size)  # the largest size of every switching function
        looked_for = tuple((event.expression, event.direction) for event in events)
        self._flows = self.kept.flows.setdefault(looked_for, {})

    @cached_property
    def _user(self) -> ca.Function:
        """What the user looks for."""
        formulas = ca.vertcat(*self._formulas) if self._formulas else ca.SX(0, 1)
        return ca.Function("user", self.code.equations.arguments, [formulas])

    @cached_property
    def _impulses(self) -> Impulses | None:
        striking = self.modal is not None and self.code.equations.mechanics.striking
        return Impulses(self.code.equations, self.modal) if striking and self.modal is not None else None

    @property
    def sliding(self) -> tuple[int, ...]:
        """Kinks along which the motion slides."""
        return slide_of(self.modes)

    @property
    def _machine(self) -> tuple[bool, bool]:
        """Whether steps are machine code, and whether they may become it."""
        simd = self.code.simd and heyoka_code.available()
        return self.code.steps and simd, simd

    def flow(self) -> Flow:
        """The smooth flow of the present modes."""
        return self.flow_of(self.sliding)

    def flow_of(self, slide: tuple[int, ...]) -> Flow:
        """The flow with some kinks sliding; made once."""
        if slide not in self._flows:
            self._flows[slide] = self._make(slide)
        return self._flows[slide]

    @property
    def crossing(self) -> Flow:
        """The equations as they are, for who steps over their kinks."""
        growth = self.code.growth.function if self.code.equations.split.dependent else None
        return Flow(self.code.rhs.function, self._user, self._user, growth, *self._machine)

    def _make(self, slide: tuple[int, ...]) -> Flow:
        if self.modal is None:
            return self.crossing
        m = self.modal
        xdot, s = m.sliding(slide)
        p = ca.vertcat(m.p, m.s)
        moded = in_modes(self.code, self._user, slide) if self._accelerated else None  # accelerations have kinks
        guards = [self._user(m.t, m.x, m.w, m.p) if moded is None else moded(m.t, m.x, m.w, p)]
        sides = list(guards)
        for i in range(m.s.numel()):
            if i in slide:  # the mode in between must stay between -1 and 1
                guards += [1 - s[i], 1 + s[i]]
                sides += [ca.SX(0), ca.SX(0)]
            else:
                guards.append(ca.substitute(m.g[i], m.s, s) * m.s[i])
                sides.append(guards[-1])
        arguments, growth = [m.t, m.x, m.w, p], self.crossing.growth
        return Flow(
            ca.Function("rhs", arguments, [ca.cse(ca.densify(xdot))]),
            ca.Function("guards", arguments, [ca.densify(ca.vertcat(*guards))]),
            ca.Function("sides", arguments, [ca.densify(ca.vertcat(*sides))]),
            None if growth is None else ca.Function("growth", arguments, [growth(m.t, m.x, m.w, m.p)]),
            *self._machine,
        )

    def powers(self) -> Machine | None:
        """The power of every force in the present modes, for what sticks as well; None if there are no kinks."""
        if self.modal is None:
            return None
        return self.kept.power(self.sliding)

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
        place.settle(limits)

    def owner(self, guard: int) -> tuple[str, int, int]:
        """What a guard belongs to: an event and its sign, or a kink."""
        if guard < len(self.event_guards):
            event, sign = self.event_guards[guard]
            return "event", event, sign
        position = len(self.event_guards)
        for i, mode in enumerate(self.modes):
            width = 2 if mode == 0 else 1
            if guard < position + width:
                return "kink", i, guard - position
            position += width
        raise IndexError(guard)

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
            raise IntegrationError(
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
        which, between = guarded(self.modes.size, self.sliding)
        now = np.fmax(np.abs(values), np.abs(rates) * span)[~between]
        self.seen[which[~between]] = np.fmax(self.seen[which[~between]], now)
        return np.where(between, RESTING, resting(self.seen[which], size, haste, t, self.length))

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
        place.settle(limits, np.where(on, was, 0.0), jumped)

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
