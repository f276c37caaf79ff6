"""Kinks: taking |a|, sign, min, max and conditions out of a graph, so that what is left is smooth.

Every kink hides a switching function g whose sign decides. Its sign becomes a mode s, +1 or -1, held constant while g
keeps its sign; the graph is then smooth, and a change of sign is an event that flips the mode. Where both modes drive
the motion back onto g = 0 it slides along it: `appell.graph.sliding`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from appell.errors import CompileError
from appell.graph.replay import ARITHMETIC, NAMES, SAME, Algebra, rewritten
from appell.graph.sparse import stacked

KINKED = frozenset("fabs sign fmin fmax lt le eq ne floor ceil fmod remainder".split())
UNBOUNDED = frozenset("floor ceil fmod remainder".split())
_KINKED = frozenset(operation for operation, name in NAMES.items() if name in KINKED)
_JUMPING = frozenset(operation for operation in _KINKED if NAMES[operation] not in ("fabs", "fmin", "fmax"))

_ZERO = ca.SX(0)
_SMOOTH_UNARY: dict[str, Callable[[ca.SX], ca.SX]] = {
    name: getattr(ca, name)
    for name in "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log sqrt erf expm1 log1p".split()
}


def has_kinks(function: ca.Function) -> bool:
    """Whether any operation of a function is not smooth."""
    return _has(function, _KINKED)


def has_jumps(function: ca.Function) -> bool:
    """Whether an operation may jump, and not only turn a corner as |a|, min and max do."""
    return _has(function, _JUMPING)


def _has(function: ca.Function, operations: frozenset[int]) -> bool:
    return not operations.isdisjoint(map(function.instruction_id, range(function.n_instructions())))


def has_powers(function: ca.Function) -> bool:
    """Whether there are powers other than squares and square roots."""
    return _has(function, frozenset({ca.OP_POW, ca.OP_CONSTPOW}))


def has_bent_powers(smooth: ca.Function) -> bool:
    """Whether a function without kinks has roots or powers of |b| and the like, which have no series at b = 0."""
    return _has(smooth, frozenset({ca.OP_FMAX}))


def roots(function: ca.Function) -> ca.SX:
    """What is under the square roots of x' = f(t, x, w, p), in its letters, where it depends on x; not |b|."""
    found: list[ca.SX] = []

    def root(a: ca.SX) -> ca.SX:
        found.append(a)
        return ca.sqrt(a)

    if _has(function, frozenset({ca.OP_SQRT})):
        rewritten(function, {**SAME, "sqrt": root})
    return stacked(a for a in found if a.op() != ca.OP_FMAX and ca.depends_on(a, function.sx_in()[1]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Modal:
    """A function of t, x, w, p made smooth by modes s.

    Attributes:
        t, x, w, p, s: The letters of the graph.
        xdot: Smooth right-hand side in t, x, w, p, s.
        g: Switching functions; mode i is +1 where g_i > 0.
        extras: The further outputs of the function, in the same modes.
    """

    t: ca.SX
    x: ca.SX
    w: ca.SX
    p: ca.SX
    s: ca.SX
    xdot: ca.SX
    g: ca.SX
    extras: tuple[ca.SX, ...]

    @classmethod
    def of(cls, function: ca.Function) -> Modal:
        """Take the kinks out of x' = f(t, x, w, p), and of its further outputs if there are any."""
        t, x, w, p = function.sx_in()
        found = _Kinks(p)
        xdot, *more = rewritten(function, found.algebra)
        if has_powers(function):  # once more, now that all switching functions are known
            xdot, *more = rewritten(function, found.algebra)
        s, g = map(stacked, (found.modes, found.switches))
        return cls(t=t, x=x, w=w, p=p, s=s, xdot=xdot, g=g, extras=tuple(more))


def ends(g: ca.SX, rate: ca.SX, modes: ca.SX, y: ca.SX, start: float) -> list[tuple[int, float, float]]:
    """Where the rate of an amount y ends, as that of a tank that runs dry; nothing unless it is one place.

    Args:
        g: Switching functions, with numbers for the parameters.
        rate: The rate in the modes.
        modes: Their letters.
        y: The amount.
        start: What it is at the start.

    Returns:
        Number of the mode, its sign before the end, and start - end.
    """
    found = []
    for k in range(g.numel()):
        letters, slope = ca.symvar(g[k]), ca.jacobian(g[k], y)
        if len(letters) != 1 or not ca.is_equal(letters[0], y) or not slope.is_constant():
            continue
        value = float(ca.substitute(g[k], y, start))
        if value and ca.substitute(rate, modes[k], -np.sign(value)).is_zero():
            found.append((k, float(np.sign(value)), value / float(slope)))
    return found if len(found) == 1 else []


class _Kinks:
    """The modes met on the way through a function, and an algebra in which it is smooth.

    Attributes:
        modes: A letter for each switching function.
        switches: The switching functions.
    """

    def __init__(self, p: ca.SX) -> None:
        self.modes: list[ca.SX] = []
        self.switches: list[ca.SX] = []
        self._letters: dict[int, int] = {}  # numbers of modes by their hashes: anything may bear their names
        self._seen: list[np.ndarray] = []  # each switching function at three random points
        self._random = np.random.default_rng(5)
        self._places = {s.element_hash(): np.full(3, self._random.uniform(0.3, 1.2)) for s in p.nonzeros()}
        self._branches: dict[int, tuple[ca.SX, list[tuple[ca.SX, ca.SX]]]] = {}

    @property
    def algebra(self) -> Algebra:
        """What each operation becomes."""
        return {
            **_SMOOTH_UNARY,
            **{name: _refuse(name) for name in UNBOUNDED},
            **ARITHMETIC,
            "hypot": lambda a, b: ca.sqrt(a * a + b * b),
            "atan2": ca.atan2,
            "copysign": SAME["copysign"],  # another form of the same function: `appell.graph.removable`
            "fabs": lambda a: self._mode(a) * a,
            "sign": self._mode,
            "fmin": lambda a, b: self._larger(a, b, -1),
            "fmax": lambda a, b: self._larger(a, b, 1),
            "sqrt": self._rooted(self._root),
            "pow": self._rooted(self._power),
            "constpow": self._rooted(self._power),
            "lt": lambda a, b: (a < b) if self._modal(a - b) else (1 - self._mode(a, b)) / 2,
            "le": lambda a, b: (a < b) if self._modal(a - b) else (1 - self._mode(a, b)) / 2,
            "eq": lambda a, b: (a == b) if self._modal(a - b) else ca.SX(0),
            "ne": lambda a, b: (a != b) if self._modal(a - b) else ca.SX(1),
            "not": lambda a: 1 - self._truth(a),
            "and": lambda a, b: self._truth(a) * self._truth(b),
            "or": lambda a, b: self._truth(a) + self._truth(b) - self._truth(a) * self._truth(b),
            # A condition of modes only: zero keeps a branch that is not finite from leaking.
            "if_else_zero": lambda c, a: self._truth(c) * ca.if_else(self._truth(c) != 0, a, 0),
        }

    def _looks(self, *graphs: ca.SX) -> np.ndarray:
        """What graphs are at three random points."""
        column = ca.vertcat(*graphs)
        letters = ca.symvar(column)
        for letter in letters:
            self._places.setdefault(letter.element_hash(), self._random.uniform(0.3, 1.2, 3))
        g = ca.Function("g", letters, [column])
        return np.array([g(*(self._places[s.element_hash()][k] for s in letters)) for k in range(3)])[..., 0]

    def _mode(self, a: ca.SX, b: ca.SX = _ZERO) -> ca.SX:
        """The sign of a - b as a letter; the same function in other words gives the same one, or minus it."""
        looks = self._looks(a - b, a, b)
        values, rounding = looks[:, 0], 1e-13 * np.abs(looks).max(axis=1)
        for known, letter in zip(self._seen, self.modes, strict=True) if np.all(np.isfinite(looks)) else ():
            for sign in (1, -1):
                if np.all(np.abs(values - sign * known) <= rounding):
                    return sign * letter
        letter = ca.SX.sym(f"mode_{len(self.modes)}")
        self._seen.append(values)
        self._letters[letter.element_hash()] = len(self.modes)
        self.modes.append(letter)
        self.switches.append(a - b)
        return letter

    def _power(self, a: ca.SX, exponent: ca.SX) -> ca.SX:
        """A fractional power of what a mode keeps positive is that of zero beyond, where a step looks over the kink."""
        whole = exponent.is_constant() and float(exponent).is_integer()
        return (a if whole or not self._kept_positive(a) else ca.fmax(a, 0)) ** exponent

    def _root(self, a: ca.SX) -> ca.SX:
        """The same of |b|; how a motion comes to other roots of zero is followed: `appell.motion.arrival`."""
        return ca.sqrt(ca.fmax(a, 0) if self._modes_in(a) and self._kept_positive(a) else a)

    def _kept_positive(self, a: ca.SX) -> bool:
        """Whether it is a multiple of a switching function, and of |b| or Max(b, 0) a positive one, or none at all."""
        modes = self._modes_in(a)
        if not modes:
            return any(np.isfinite(self._share(a, known)) for known in self._seen)
        known = self._seen[self._letters[modes[0].element_hash()]]
        shares = [sign * self._share(ca.substitute(a, modes[0], sign), known) for sign in (1, -1)]
        return len(modes) == 1 and all(share >= 0 for share in shares)

    def _share(self, a: ca.SX, known: np.ndarray) -> float:
        """How many times a switching function it is, whatever the state; NaN if that is no number."""
        values = self._looks(a)[:, 0] if ca.symvar(a) else np.full(3, float(a))
        if not values.any():
            return 0.0
        shares = values / np.where(known == 0, np.nan, known)
        return shares[0] if np.ptp(shares) <= 1e-12 * np.abs(shares).max() else np.nan

    def _modes_in(self, a: ca.SX) -> list[ca.SX]:
        """The modes that it contains."""
        return [letter for letter in ca.symvar(a) if letter.element_hash() in self._letters]

    def _modal(self, a: ca.SX) -> bool:
        """Whether an expression is made of modes and numbers alone."""
        return all(letter.element_hash() in self._letters for letter in ca.symvar(a))

    def _truth(self, a: ca.SX) -> ca.SX:
        return a if self._modal(a) else (1 + self._mode(a) * self._mode(a)) / 2

    def _larger(self, a: ca.SX, b: ca.SX, sign: int) -> ca.SX:
        """The larger of two, or the smaller; which of them is remembered."""
        s = sign * self._mode(a, b)
        found = a * (1 + s) / 2 + b * (1 - s) / 2
        self._branches[found.element_hash()] = found, [((1 + s) / 2, a), ((1 - s) / 2, b)]
        return found

    def _rooted(self, function: Callable[..., ca.SX]) -> Callable[..., ca.SX]:
        """A root of the larger of two is that of one of them: of zero it has no series."""

        def rule(a: ca.SX, *more: ca.SX) -> ca.SX:
            if a.element_hash() not in self._branches:
                return function(a, *more)
            _, parts = self._branches[a.element_hash()]
            return sum((c * ca.if_else(c != 0, function(e, *more), 0) for c, e in parts), _ZERO)

        return rule


def _refuse(name: str) -> Callable[..., ca.SX]:
    def rule(*_: ca.SX) -> ca.SX:
        raise CompileError(
            f"The equations contain {name}, which jumps at countless places; write the jumps as a Piecewise or as an "
            "Event that resets an extra state."
        )

    return rule
