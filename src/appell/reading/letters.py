"""How letters stand on the page: parameters before coordinates before speeds, and how long a formula is to read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import sympy as sp

from appell.model.body import RigidBody
from appell.model.symbols import Evolving, Input, Letter, Parameter, dotted, letters_in, t

if TYPE_CHECKING:
    from appell.equations import Equations

BRACKETS = 2  # how much a pair of brackets weighs


class Shown(sp.Symbol):
    """A letter with its place in the order of the page and its own way to be printed.

    SymPy orders factors and terms by the names of symbols; the name is therefore the place, and the printed forms,
    which the printers of this package use, are kept beside it.
    """

    __slots__ = ("letter", "tex", "text")
    letter: Letter | None
    text: str
    tex: str

    def __new__(cls, place: int, text: str, tex: str, letter: Letter | None = None) -> Self:
        """Make the symbol: its place, how it is printed as text and in LaTeX, and what it stands for."""
        obj = sp.Symbol.__xnew__(cls, f"{place:05d} {text}", real=True)
        obj.text, obj.tex, obj.letter = text, tex, letter
        return obj

    @classmethod
    def of(cls, place: int, letter: Letter, *, typed: bool = False) -> Self:
        """A letter of the model; its name in LaTeX as it is `typed` where it would look like another letter."""
        word, order = _rate(letter)
        name = _typed(word) if typed else _set(word)
        return cls(place, word + "'" * order, dotted(name, order) if order else name, letter)

    @property
    def varies(self) -> bool:
        """Whether it is anything but a parameter."""
        return not isinstance(self.letter, Parameter)


def _rate(letter: Letter) -> tuple[str, int]:
    """The name of what a letter is the rate of, and the order; 0 for what is none."""
    if isinstance(letter, Evolving | Input):  # equations of higher order have states and inputs called q.rate.rate
        word, *rates = letter.name.split(".")
        return word, len(rates)
    # The multiplier of a constraint row bears the name of the row, which need not be a word.
    return re.sub(r"\W+", "_", re.sub(r"^\W+|\W+$", "", letter.name)), 0


def _typed(name: str) -> str:
    """The LaTeX of a name letter by letter."""
    return rf"\mathtt{{{name.replace('_', chr(92) + '_')}}}"


def _set(name: str) -> str:
    r"""The LaTeX of a name as one would set it by hand: q1_2 as $q_{1,2}$, tau_max as $\tau_{\mathrm{max}}$."""
    if not re.match(r"_*[A-Za-z]", name):
        return _typed(name)
    head, *indices = re.findall(r"[^_]+", name)
    if (counted := re.fullmatch(r"([A-Za-z]+)(\d+)", head)) is not None:
        head, indices = counted[1], [counted[2], *indices]
    few = 2 if all(len(e) <= 2 for e in indices) else 1  # xy is a pair of axes, but not beside words
    below = re.sub(r"(?<=\d)\\,(?=\d)", ",", r"\,".join(_piece(e, few) for e in indices))
    return _piece(head, 1) + (f"_{{{below}}}" if below else "")


def _piece(word: str, few: int) -> str:
    """A Greek letter, or a letter with an accent, as such; words upright, or they would look like products.

    Args:
        word: Letters and digits.
        few: How many letters are no word yet.
    """
    tex = sp.latex(sp.Symbol(word))
    letter = tex[0] in "\\{" and not re.search(r"[A-Za-z]{2}", re.sub(r"\\[A-Za-z]+", "", tex))  # no crossbar
    if letter and word in (word.lower(), word.capitalize()):
        return tex
    return word if re.fullmatch(rf"[A-Za-z]{{0,{few}}}\d*", word) else rf"\mathrm{{{word}}}"


def in_print(letters: Iterable[Letter]) -> dict[Letter, Shown]:
    """Letters in an order, each with a look of its own: m1 and m_1 would both be set as m with an index.

    A state that is the rate of another letter and that rate are one.
    """
    found: dict[tuple[str, int], Shown] = {}
    listed = list(letters)
    for letter in listed:
        found.setdefault(_rate(letter), Shown.of(len(found), letter))
    alike: dict[str, list[tuple[str, int]]] = {}
    for rate, e in found.items():
        alike.setdefault(re.sub(r"[{}\s]|\\mathrm|\\,", "", e.tex), []).append(rate)
    typed: set[str] = set()
    for group in alike.values():
        if len(group) > 1:  # a letter called xdot looks like a rate, which then is the one to stay
            least = min(order for _, order in group)
            typed |= {word for word, order in group if order == least}
    for place, ((word, order), e) in enumerate(found.items()):
        if word in typed and e.letter is not None:
            found[word, order] = Shown.of(place, e.letter, typed=True)
    return {letter: found[_rate(letter)] for letter in listed}


def ordered_parameters(equations: Equations) -> list[Parameter]:
    """Moments of inertia, masses, then the rest by name: `I + m a^2`, `m g l`."""
    inertias: set[Any] = set()
    masses: set[Any] = set()
    for body in equations.model.bodies:
        masses |= letters_in(body.mass)
        if isinstance(body, RigidBody):
            inertias |= {e for e in body.inertia if isinstance(e, sp.Symbol)}
    return sorted(
        equations.model.parameters, key=lambda p: (0 if p in inertias - masses else 1 if p in masses else 2, p.name)
    )


def shown(equations: Equations) -> dict[Letter, Shown]:
    """The letters of equations in the order of the page; rates that are no speeds and the unknowns come last."""
    accelerations = tuple(s.rate for s in equations.speeds)
    rates = tuple(s.rate for s in (*equations.coordinates, *equations.model.states))
    letters: Iterable[Letter] = (
        *ordered_parameters(equations),
        *equations.inputs,
        t,
        *equations.model.states,
        *equations.coordinates,
        *equations.speeds,
        *rates,
        *accelerations,
        *(equations.implicit.rates if equations.implicit else ()),
        *equations.unknowns,
    )
    return in_print(letters)


@lru_cache(maxsize=50_000)
def weight(formula: sp.Basic) -> int:
    """How much there is to read: letters, numbers, functions, brackets and signs of operations."""
    if isinstance(formula, sp.Rational):
        return 1 if formula.q == 1 else 2
    if not formula.args:
        return 1
    if isinstance(formula, sp.Mul):
        factors = [e for e in formula.args if e != -1]
        return sum(weight(e) + BRACKETS * isinstance(e, sp.Add) for e in factors) + len(factors) - 1
    inside = sum(weight(e) for e in formula.args)
    if isinstance(formula, sp.Add):
        return inside + len(formula.args) - 1
    if isinstance(formula, sp.Pow):
        below = formula.exp.could_extract_minus_sign()
        return inside + BRACKETS * isinstance(formula.base, sp.Add) + (2 if below else 0)
    return inside + 1
