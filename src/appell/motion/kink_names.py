"""Kinks in words: which input is at which limit, which force switches there, or the formula that vanishes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import casadi as ca
import numpy as np
import sympy as sp

from appell.equations import Equations
from appell.graph.kinks import Modal
from appell.graph.raising import raised
from appell.model.frame import Frame, Vector
from appell.model.symbols import Evolving, Input, Rate, Speed, Time, letters_in, nodes, quoted
from appell.model.symbols import t as TIME

READABLE = 40  # letters of a switching function that says enough by itself
LONGEST = 200  # nodes of one that is written down at all: a rate that rows give may fill pages


def kink_name(modal: Modal, kink: int, equations: Equations) -> str:
    """What happens where a switching function vanishes.

    Args:
        modal: The equations with their kinks taken out.
        kink: Which one.
        equations: The equations.
    """
    for words, excess in _limits(equations):
        if _same(modal, kink, equations, excess):
            return words
    formula = None
    if ca.n_nodes(modal.g[kink]) <= LONGEST and not ca.depends_on(modal.g[kink], modal.s):
        letters = [[TIME], equations.states, equations.inputs, equations.model.parameters, [TIME] * modal.s.numel()]
        formula = raised(modal.g[kink], [modal.t, modal.x, modal.w, modal.p, modal.s], letters)[0]
        if len(str(formula)) <= READABLE:
            return vanishing(formula)
    for words, switch in _owned(equations):
        if _same(modal, kink, equations, switch):
            return words
    return f"{quoted(formula)} = 0" if formula is not None else f"kink {kink}"


def vanishing(formula: sp.Expr) -> str:
    """The equation of a switching function, `tank = 110` for 110 - tank."""
    still, moving = formula.as_independent(Evolving, Input, Time, as_Add=True)
    number, moving = moving.as_coeff_Mul()
    place = -still / number
    return f"{moving} = {f'{float(place):g}' if place.is_Float else place}" if moving != 1 else f"{formula} = 0"


def _limits(equations: Equations) -> Iterator[tuple[str, sp.Expr]]:
    """Laws of inputs that end at constants, `Max(low, Min(high, law))`: law - high, law - low."""
    for w, law in equations.closed.items():
        ends, within = list[sp.Expr](), law
        while isinstance(within, sp.Min | sp.Max) and len(moving := [e for e in within.args if _changes(e)]) == 1:
            ends += [e for e in within.args if e is not moving[0]]
            within = moving[0]
        for end in ends:
            yield f"{w} at its limit {_short(end)}", within - end


def _short(number: sp.Expr) -> str:
    return f"{float(number):g}" if number.is_number else str(number)


def _changes(formula: sp.Expr) -> bool:
    return any(isinstance(s, Evolving | Time) for s in letters_in(formula))


def _owned(equations: Equations) -> Iterator[tuple[str, sp.Expr]]:
    """What switches in a force or in the rate of an extra state: the slip of dry friction, a limit, a condition."""
    model = equations.model
    owners = [(force.name, force.content()) for force in model.forces]
    owners += [(f"{z}'", [law]) for z, law in model.states.items()]
    for owner, content in owners:
        vectors = (c.parts.values() if isinstance(c, Vector) else [[c]] for c in content if not isinstance(c, Frame))
        seen = set[sp.Basic]()
        for e in (e for parts in vectors for part in parts for c in part for e in nodes(sp.sympify(c), seen)):
            if isinstance(e, sp.sign | sp.Abs | sp.Heaviside):
                slips = any(isinstance(s, Rate | Speed) for s in letters_in(e.args[0]))
                yield f"{owner}: no slip" if slips else f"{owner} switches", e.args[0]
            elif isinstance(e, sp.Min | sp.Max):
                for one, other in combinations(sorted(e.args, key=_changes), 2):
                    words = f"{owner} switches" if _changes(one) else f"{owner} at its limit {_short(one)}"
                    yield words, other - one
            elif isinstance(e, sp.Rel):
                yield f"{owner} switches", e.lhs - e.rhs


def _same(modal: Modal, kink: int, equations: Equations, formula: sp.Expr) -> bool:
    """Whether a switching function is a formula or minus it, on one side of the other kinks; seen at random points."""
    g = ca.Function("g", [modal.t, modal.x, modal.w, modal.p, modal.s], [modal.g[kink]])
    other = ca.Function("f", equations.arguments, [equations.formula(formula)])
    random = np.random.default_rng(5)
    places = [[random.uniform(0.3, 1.2, g.size1_in(i)) for i in range(4)] for _ in range(3)]
    wanted = np.array([float(other(*place)) for place in places])
    found = (np.array([float(g(*place, np.full(g.size1_in(4), s))) for place in places]) for s in (1.0, -1.0))
    return any(np.allclose(sign * values, wanted, rtol=1e-9, atol=1e-12) for values in found for sign in (1, -1))
