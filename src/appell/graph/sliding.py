"""Sliding: a motion that stays on some of its kinks, by modes in between (Filippov 1960).

Which of them it stays on is data: those in mode 0. The forces b of what sticks, in units of what its modes do at zero,
and the motion under them are

    x' = f(s) + f_s b,    g_i' = 0 where s_i = 0,    b_i = 0 elsewhere,

so that one graph serves every set of kinks that stick.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from appell.errors import StickingError
from appell.graph.kinks import Modal
from appell.graph.solve import solve, solve_scaled
from appell.once import once

MANY, LONGER = 32, 6  # kinks up to which one graph is made for all sets of them, and how much longer it may be
TRIALS = 10  # random points of which one has to be in the domain of the equations
NEWTON = 30  # steps that bring one to g = 0
REGULARIZE = "write v/sqrt(v**2 + e**2) with a small e instead of sign(v) to go on"
CLOSE = 1e-9  # share of the largest up to which numbers at such a point are the same


@once
def sliding(modal: Modal, which: tuple[int, ...]) -> Sliding:
    """The motion while it stays on those of some kinks whose modes are 0, made once."""
    return Sliding(modal, which)


def family(modal: Modal, stuck: tuple[int, ...]) -> tuple[int, ...]:
    """The kinks that may stick in the graph that serves where some of them do: all, if one graph can serve all."""
    every = _together(modal) if stuck else ()
    return every if set(stuck) <= set(every) else stuck


@once
def _together(modal: Modal) -> tuple[int, ...]:
    """The kinks that may stick, if one graph serves all sets of them; else none."""
    every = tuple(range(modal.s.numel())) if modal.s.numel() <= MANY else ()
    found = tuple(i for i in every if _may_stick(modal, i))
    if len(found) < 2 or [a for i in found for a in acted(modal, (i,))] != acted(modal, found):
        return ()
    try:
        longer = ca.n_nodes(sliding(modal, found).xdot) > LONGER * ca.n_nodes(modal.xdot)
    except StickingError:
        return ()
    return () if longer else found


def _may_stick(modal: Modal, kink: int) -> bool:
    """Whether x' jumps at a kink, and the switching function moves with it."""
    X = ca.jacobian(modal.xdot, modal.s[kink])
    if not ca.sprank(ca.sparsify(ca.jacobian(kept(modal, (kink,)), modal.x) @ X)):
        return False
    anywhere, there = (
        np.max(np.abs(np.array(_at_random(modal, zero, [X])(_sides(modal))[0])))
        for zero in (ca.SX(0, 1), modal.g[kink])
    )
    return not there <= CLOSE * anywhere


def acted(modal: Modal, which: tuple[int, ...]) -> list[bool]:
    """Of some kinks, whether one of their modes acts on g_i'."""
    rates = along(modal, modal.g[list(which)], modal.xdot)
    return [ca.depends_on(rate, modal.s[list(which)]) for rate in ca.vertsplit(rates)]


def kept(modal: Modal, which: tuple[int, ...]) -> ca.SX:
    """What must stay zero where a motion stays on kinks: g_i, or g_i' where no mode acts on that (in a notch)."""
    g = modal.g[list(which)]
    rates, direct = along(modal, g, modal.xdot), acted(modal, which)
    return ca.vertcat(*[(g if first else rates)[i] for i, first in enumerate(direct)])


def along(modal: Modal, graph: ca.SX, xdot: ca.SX) -> ca.SX:
    """The rate of a graph along a motion."""
    return ca.jtimes(graph, ca.vertcat(modal.x, modal.t), ca.vertcat(xdot, 1))


class Sliding:
    """What is left of x' = f(s) where a motion stays on those of some kinks whose modes are 0.

    Args:
        modal: A function with its kinks taken out.
        which: The kinks that may stick; the modes of all others are +1 or -1.

    Attributes:
        xdot: x'.
        s: The modes, in between for those that stick.
    """

    def __init__(self, modal: Modal, which: tuple[int, ...]) -> None:
        self.xdot, self.s = modal.xdot, modal.s
        self._letters = self._b = modal.s[list(which)]
        self._linear = True
        if not which:
            return
        looks = _Looks(modal, which)
        hold = _Hold(modal, which, kept(modal, which), solve_scaled if looks.definite else solve)
        self.xdot, self._b, self._linear = hold.xdot, hold.b, looks.linear
        between = self._letters + hold.b
        if not looks.linear and looks.one_force_each:
            between = ca.vertcat(*[hold.between(i) for i in range(len(which))])
        elif not looks.linear and looks.linear_rates:  # what sticks acts further by its square, or the like
            self.xdot, self._linear = ca.substitute(modal.xdot, self._letters, between), True
        elif not looks.linear:
            raise StickingError(
                f"The motion sticks where a kink enters twice, which cannot be resolved uniquely; {REGULARIZE}."
            )
        self.s = ca.SX(modal.s)
        self.s[list(which)] = between

    def held(self, graph: ca.SX) -> ca.SX:
        """A further output of the function under the same forces."""
        if self._linear:
            return ca.substitute(graph, self._letters, self._letters + self._b) if self._letters.numel() else graph
        return graph + ca.jtimes(graph, self._letters, self._b)


class _Hold:
    """The forces that keep a motion on those of some kinks whose modes are 0.

    Args:
        modal: A function with its kinks taken out.
        which: The kinks.
        zero: What must stay zero where they stick.
        solver: Of their equations.

    Attributes:
        b: The forces, in units of what the modes do at zero.
        xdot: x' under them.
    """

    def __init__(self, modal: Modal, which: tuple[int, ...], zero: ca.SX, solver: Callable[[ca.SX, ca.SX], ca.SX]):
        self._modal, self._which, self._zero, self._solver = modal, which, zero, solver
        self._letters = modal.s[list(which)]
        self._stuck = 1 - self._letters**2
        X = ca.jacobian(modal.xdot, self._letters)
        W = ca.sparsify(self._where_stuck(ca.jacobian(zero, modal.x)) @ X)
        if ca.sprank(W) < len(which):
            raise StickingError(
                f"The motion sticks where its kinks do not act on it, which cannot be resolved; {REGULARIZE}."
            )
        matrix = W @ ca.diag(self._stuck) + ca.diag(1 - self._stuck)
        self.b = self._stuck * solver(matrix, -self._where_stuck(along(modal, zero, modal.xdot)))
        self.xdot = modal.xdot + X @ self.b

    def _where_stuck(self, graph: ca.SX) -> ca.SX:
        """Rows of kinks that stick; zero for others, also where these have no value."""
        return ca.vertcat(
            *[ca.if_else(d, row, 0) for d, row in zip(self._stuck.nonzeros(), ca.vertsplit(graph), strict=True)]
        )

    def between(self, place: int) -> ca.SX:
        """The mode of one kink in between, where it acts by a force that is not linear in it.

        So friction does that sets the pressure it is a share of: at the tip of a rod that is pushed over a floor. While
        the others are held as they are, g' is zero somewhere between its values in the two modes (Filippov). They may
        be infinite, as Painleve found; x' is not.
        """
        modal, others = self._modal, [i for i in range(len(self._which)) if i != place]
        rest = tuple(self._which[i] for i in others)
        xdot = _Hold(modal, rest, self._zero[others], self._solver).xdot if others else modal.xdot
        s, rate = self._letters[place], along(modal, self._zero[place], xdot)
        up, down = (ca.substitute(rate, s, ca.SX(mode)) for mode in (1, -1))
        return s + ca.if_else(self._stuck[place], (down + up) / (down - up), 0)


class _Looks:
    """How modes act where their kinks are on zero, seen at a random point.

    Args:
        modal: A function with its kinks taken out.
        which: The kinks.
    """

    def __init__(self, modal: Modal, which: tuple[int, ...]) -> None:
        chosen, zero = list(which), kept(modal, which)
        X = ca.jacobian(modal.xdot, modal.s[chosen])
        seen = _at_random(modal, ca.vertcat(modal.g[chosen], zero), [modal.xdot, X, ca.jacobian(zero, modal.x) @ X])

        def look(modes: np.ndarray) -> list[np.ndarray]:
            s = _sides(modal)
            s[chosen] = modes
            return [np.array(e) for e in seen(s)]

        self._look, self._sides = look, _sides(modal)[chosen]
        ones = np.ones(len(chosen))
        self._trials = [look(modes) for modes in (-ones, 0.3 * ones, ones, self._sides)]

    @property
    def linear(self) -> bool:
        """Whether x' is linear in the modes."""
        return _alike([X for _, X, _ in self._trials])

    @property
    def linear_rates(self) -> bool:
        """Whether the rates are that must vanish."""
        return _alike([W for *_, W in self._trials])

    @property
    def definite(self) -> bool:
        """Whether what the modes do to these rates is symmetric and definite, but for the scale of each mode.

        So it is for friction: J M^-1 J' times what each of them may do.
        """
        W = self._trials[0][2]
        scale = np.zeros(len(W))
        for i in range(len(W)):
            scale[i] = scale[i] or np.sign(W[i, i])
            new = (scale == 0) & (W[:, i] != 0)
            scale[new] = scale[i] * W[i, new] / W[new, i]
        S = W / np.where(scale, scale, 1.0)
        return bool(np.isfinite(S).all() and _alike([S, S.T]) and np.linalg.eigvalsh(S)[0] > 0)

    @property
    def one_force_each(self) -> bool:
        """Whether each mode acts by one force, together with the others and by itself."""
        first, X, _ = self._look(0 * self._sides)
        if not all(_within(X, trial - first) for trial, *_ in self._trials):
            return False
        for i in range(self._sides.size):
            (first, X, _), *ends = (self._look(_with(self._sides, i, mode)) for mode in (0, 1, -1))
            if not all(_within(X[:, [i]], end - first) for end, *_ in ends):
                return False
        return True


def _sides(modal: Modal) -> np.ndarray:
    """Some modes."""
    return np.random.default_rng(7).choice([-1.0, 1.0], modal.s.numel())


def _at_random(modal: Modal, zero: ca.SX, graphs: list[ca.SX]) -> Callable[[np.ndarray], list[ca.DM]]:
    """Graphs as functions of the modes, at a random point where others vanish, by Newton's method."""
    letters, sides = ca.vertcat(modal.t, modal.x, modal.w, modal.p), _sides(modal)
    f = ca.Function("f", [letters, modal.s], [zero, ca.jacobian(zero, letters), *graphs])
    random, point = np.random.default_rng(6), np.zeros(letters.numel())
    for _ in range(TRIALS):
        point = random.uniform(0.3, 1.2, letters.numel())
        for _ in range(NEWTON):
            value, slope, *_ = (np.array(e) for e in f(point, sides))
            if not (np.isfinite(value).all() and np.isfinite(slope).all()):
                break
            point = point - np.linalg.lstsq(slope, value[:, 0], rcond=None)[0]
        if all(np.isfinite(np.array(e)).all() for e in f(point, sides)):
            break
    return lambda modes: f(point, modes)[2:]


def _with(modes: np.ndarray, place: int, mode: float) -> np.ndarray:
    changed = modes.copy()
    changed[place] = mode
    return changed


def _alike(values: list[np.ndarray]) -> bool:
    """Whether arrays are equal, but for rounding."""
    first, *others = values
    return all(np.allclose(first, other, rtol=CLOSE, atol=CLOSE * 1e-3) for other in others)


def _within(columns: np.ndarray, vector: np.ndarray) -> bool:
    """Whether a vector is made of some columns."""
    if not (np.isfinite(columns).all() and np.isfinite(vector).all()):
        return False
    left = vector - columns @ np.linalg.lstsq(columns, vector, rcond=None)[0]
    return bool(np.max(np.abs(left)) <= CLOSE * np.max(np.abs(vector), initial=1e-3))
