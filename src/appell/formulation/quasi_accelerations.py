"""Gibbs-Appell equations in quasi-accelerations, also nonlinear ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from appell.equations import Equations, Implicit
from appell.errors import FormulationError
from appell.formulation.abstract import AbstractFormulation, speed_formulas
from appell.formulation.gibbs_appell import GibbsAppell
from appell.graph.lower import Lowering
from appell.graph.solve import solve
from appell.graph.sparse import fresh
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.model.symbols import Rate, Speed, letters_in, quoted
from appell.model.values import by_name, formula_of, number

NEWTON = 20  # steps for quasi-accelerations that are not linear
ARRIVED = 1e-7  # share of the forces by which Newton's method may miss them, before its last step


class QuasiAccelerations(AbstractFormulation):
    r"""Gibbs-Appell equations in quasi-velocities and quasi-accelerations (Qiao's form V).

    With $\dot\Pi = \psi(q, \Pi, e, t)$ put into $R(q, \Pi, \dot\Pi, t) = S - U$,
    $$ \frac{\partial R^{**}}{\partial e_\gamma} = \sum_j \Phi^*_j \frac{\partial\psi_j}{\partial e_\gamma}, $$
    where the forces of $U$ and the thrust $\Phi^*$ are frozen. For $\psi$ linear in e the equations are linear;
    otherwise Newton's method is part of the graph.

    Accepts: every kind of constraint. Unknowns: the quasi-accelerations e, one per degree of freedom.

    Args:
        speeds: Quasi-velocities, as for `GibbsAppell`; they may be nonlinear.
        accelerations: The rate of each speed as a formula in the quasi-accelerations, coordinates, speeds and time:
            `{w1.rate: e1 + e2, w2.rate: sinh(e2)}`. The letters e are made by `appell.speeds`.
        guess: Starting values of Newton's method where the formulas are not linear; zero if left out.

    Reference: Qiao 1990, eq. (5.17), with det(d psi/d e) not zero.
    """

    name = "quasi-accelerations"
    accepts = frozenset({"holonomic", "linear", "nonlinear", "acceleration"})
    reference = "Qiao 1990, form V"

    def __init__(
        self,
        speeds: Mapping[Speed, Any],
        accelerations: Mapping[Any, Any],
        guess: Mapping[Speed, float] | None = None,
    ) -> None:
        self.speeds: dict[Speed, Any] = speed_formulas(speeds) or {}
        if not self.speeds:
            raise FormulationError(
                f"Quasi-accelerations are those of quasi-velocities, speeds={{w: x.rate}}; got {speeds!r}."
            )
        if not isinstance(accelerations, Mapping):
            raise FormulationError(
                f"accelerations= takes rates of speeds with their formulas, {{w.rate: e}}; got {accelerations!r}."
            )
        self.accelerations = {rate: formula_of(e, f"{rate}") for rate, e in accelerations.items()}
        self.guess = {e: number(str(e), v) for e, v in by_name(guess, "Guesses of speeds", "{w: 1.0}").items()}

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """dR**/de by the chain rule in R(psi(e))."""
        inner = GibbsAppell(self.speeds).derive(mechanics, split)
        letters = self._letters()
        e = fresh(letters)
        psi = self._psi(inner, letters, e)
        slope = ca.jacobian(psi, e)
        # dR**/de = (d psi/d e)' (A Pi' - b) with A, b of form IV.
        linear = not ca.depends_on(ca.vec(slope), e)
        self._check(slope, e, letters, linear)
        now = e if linear else self._newton(inner.A, inner.b, psi, slope, e, letters)
        slope, value = ca.substitute([slope, psi], [e], [now]) if not linear else (slope, psi)
        A = slope.T @ inner.A @ slope
        if linear:
            b = slope.T @ (inner.b - inner.A @ ca.substitute(psi, e, ca.SX.zeros(e.numel())))
        else:
            b = A @ now - slope.T @ (inner.A @ value - inner.b) + _nothing_if_solved(inner.A, value, inner.b)
        carry = [ca.substitute(expression, inner.y, psi) for expression in (inner.udot, inner.chart.a)]
        chart = replace(inner.chart, y=e, unknowns=letters, udot=carry[0], a=carry[1], sizes=None)
        implicit = None if linear else Implicit(inner.unknowns, inner.A, inner.b, psi)
        return Equations(self, chart, A, b, definite=inner.definite, implicit=implicit)

    def _letters(self) -> tuple[Speed, ...]:
        wanted = {speed.rate for speed in self.speeds}
        if set(self.accelerations) != wanted:
            raise FormulationError(
                f"Give the rate of each speed by quasi-accelerations: {', '.join(sorted(map(str, wanted)))}; "
                f"got {', '.join(map(str, self.accelerations))}."
            )
        found = {s for formula in self.accelerations.values() for s in letters_in(formula) if isinstance(s, Speed)}
        letters = tuple(sorted(found - set(self.speeds), key=lambda s: s.name))
        if len(letters) != len(wanted):
            raise FormulationError(
                f"{len(wanted)} speeds need {len(wanted)} quasi-accelerations, but the formulas contain "
                f"{len(letters)}: {', '.join(map(str, letters)) or 'none'}."
            )
        for letter in self.guess:
            if letter not in letters:
                raise FormulationError(
                    f"guess= is for the quasi-accelerations {', '.join(map(str, letters))}; got {letter}."
                )
        return letters

    def _check(self, slope: ca.SX, e: ca.SX, letters: tuple[Speed, ...], linear: bool) -> None:
        """Raise if d psi/d e is singular where Newton's method begins, whatever the other letters are."""
        others = [s for s in ca.symvar(ca.vec(slope)) if not ca.depends_on(s, e)]
        function = ca.Function("slope", [e, *others], [ca.densify(slope)])
        random, begin = np.random.default_rng(3), [self.guess.get(letter, 0.0) for letter in letters]
        for _ in range(3):
            values = np.array(function(begin, *random.uniform(0.3, 1.2, len(others))))
            sizes = np.linalg.svd(values, compute_uv=False) if np.isfinite(values).all() else np.zeros(1)
            if sizes[-1] > 1e-10 * sizes[0]:
                return
        formulas = ", ".join(f"{rate} = {formula}" for rate, formula in self.accelerations.items())
        if linear:
            raise FormulationError(f"The quasi-accelerations are dependent, d psi/d e is singular: {formulas}.")
        at = ", ".join(f"{letter} = {value:g}" for letter, value in zip(letters, begin, strict=True))
        raise FormulationError(
            f"d psi/d e of {formulas} is singular at {at}, where Newton's method begins; give guess={{...}} with "
            f"values of {', '.join(map(str, letters))} at which it is regular."
        )

    def _psi(self, inner: Equations, letters: tuple[Speed, ...], e: ca.SX) -> ca.SX:
        leaves = {**inner.leaves(), **{letter: e[i] for i, letter in enumerate(letters)}}
        for formula in self.accelerations.values():
            for symbol in letters_in(formula):
                if symbol not in leaves or (isinstance(symbol, Rate) and symbol.order > 1):
                    raise FormulationError(f"{symbol} cannot stand in a quasi-acceleration: {quoted(formula)}.")
        lower = Lowering(leaves)
        return ca.vertcat(*[lower(self.accelerations[speed.rate]) for speed in self.speeds])

    def _newton(self, A: ca.SX, b: ca.SX, psi: ca.SX, slope: ca.SX, e: ca.SX, letters: tuple[Speed, ...]) -> ca.SX:
        """The quasi-accelerations after a fixed number of Newton steps, second derivatives of psi left out."""
        now = ca.vertcat(*[ca.SX(self.guess.get(letter, 0.0)) for letter in letters])
        others = [letter for letter in ca.symvar(ca.vertcat(psi, ca.vec(A), b)) if not ca.depends_on(letter, e)]
        function = ca.Function("newton", [e, *others], [A @ psi - b, A @ slope])
        for _ in range(NEWTON):
            value, matrix = function(now, *others)
            if ca.sprank(ca.sparsify(matrix)) < len(letters):
                raise FormulationError(
                    f"Newton's method finds no {', '.join(map(str, letters))} for these forces: d psi/d e vanishes on "
                    "its way. Give a guess={...} nearer to them, or other quasi-accelerations."
                )
            now = now - solve(matrix, value)
        return now


def _nothing_if_solved(A: ca.SX, x: ca.SX, b: ca.SX) -> ca.SX:
    """Nothing where Newton's method has arrived, A x = b; no number where it has not.

    An arc cosine has no value beyond one, and unlike a condition it leaves the equations smooth.
    """
    missed, size = ca.sumsqr(A @ x - b), ca.sumsqr(A @ x) + ca.sumsqr(b) + ca.sumsqr(A)
    if size.is_constant():
        return ca.SX(0 if float(missed) <= ARRIVED**2 * float(size) < np.inf else np.nan)
    return 1e-300 * ca.acos(missed / (ARRIVED**2 * size))
