"""The letters of a model: SymPy symbols that know what they are.

Two symbols are the same if kind and name are the same, wherever they were made; the unit and the description
are labels and take no part in that.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import sympy as sp

from appell.errors import ModelError

QUOTED = 80  # letters of a formula in a message
READABLE = 4000  # nodes of a formula that is still written out


class Letter(sp.Symbol):
    """A real symbol with a kind (its class), a unit and a description."""

    __slots__ = ("description", "unit")
    kind: ClassVar[str] = "symbol"
    unit: str
    description: str

    def __new__(cls, name: str, unit: str = "", description: str = "") -> Self:
        """Make one; SymPy's own cache is passed by, since a unit is no part of what a symbol is."""
        obj = sp.Symbol.__xnew__(cls, name, real=True)
        obj.unit, obj.description = unit, description
        return obj

    def __getnewargs_ex__(self) -> tuple[tuple[str, str, str], dict[str, Any]]:
        return (self.name, self.unit, self.description), {}

    @property
    def label(self) -> str:
        """The name one types: in dictionaries, files and on the command line."""
        return self.name


class Parameter(Letter):
    """A constant of the system whose number is bound later."""

    __slots__ = ()
    kind = "parameter"


class Time(Letter):
    """Time itself; there is one, `appell.t`."""

    __slots__ = ()
    kind = "time"


class AbstractVarying(Letter):
    """A letter that depends on time, so that SymPy does not take its derivative by time for zero."""

    __slots__ = ()

    @property
    def free_symbols(self) -> set[sp.Basic]:
        """The letter and time, also by SymPy's name: SymPy takes derivatives by what stands here for zero or not."""
        return {self, t, SYMPY_TIME}

    def derivative(self, order: int) -> sp.Expr:
        """The time derivative of the given order; order 0 is the letter itself."""
        raise NotImplementedError

    def _eval_derivative_n_times(self, s: sp.Expr, n: sp.Expr) -> sp.Expr:
        if s == SYMPY_TIME:
            raise ModelError(
                f"Got a derivative of {self} by SymPy's own symbol t; time is appell.t: write .diff(appell.t), and say "
                "what to solve for, solve(formula, x)."
            )
        if s == t and n.is_Integer:
            return self.derivative(int(n))
        return sp.Symbol._eval_derivative_n_times(self, s, n)

    def _eval_derivative(self, s: sp.Expr) -> sp.Expr:
        return self._eval_derivative_n_times(s, sp.Integer(1))


class Input(AbstractVarying):
    """A signal from outside: a motor torque, a steering command."""

    __slots__ = ()
    kind = "input"

    def derivative(self, order: int) -> sp.Expr:
        """The input itself; its rates are not known."""
        if order:
            raise ModelError(
                f"The rate of the input {self} is not known: inputs may jump. Make it an extra state, "
                f"appell.states({self.name!r}), whose rate is an input."
            )
        return self


class Evolving(AbstractVarying):
    """A letter that has rates, `x.rate`, `x.rate.rate`: SymPy's `diff(x, t)` is `x.rate`."""

    __slots__ = ("_rate",)
    _rate: Rate

    @property
    def rate(self) -> Rate:
        """The time derivative, a symbol of its own."""
        try:
            return self._rate
        except AttributeError:
            self._rate = Rate(self, 1)
            return self._rate

    def derivative(self, order: int) -> Evolving:
        """The time derivative of the given order; order 0 is the letter itself."""
        from appell.model.values import whole  # which knows of letters

        return Rate(self, times) if (times := whole(f"The order of a derivative of {self}", order, 0)) else self


class Coordinate(Evolving):
    """A generalized coordinate q."""

    __slots__ = ()
    kind = "coordinate"


class Speed(Evolving):
    """A quasi-velocity u, defined by a formula in q, its rates and t."""

    __slots__ = ()
    kind = "speed"


class ExtraState(Evolving):
    """An extra state z with a differential equation of its own."""

    __slots__ = ()
    kind = "state"


class Rate(Evolving):
    """The time derivative of an evolving letter, of any order."""

    __slots__ = ("base", "order")
    kind = "rate"
    base: Evolving
    order: int

    def __new__(cls, base: Evolving, order: int) -> Self:
        """Make one; the rate of a rate is one of the letter itself."""
        if isinstance(base, Rate):
            base, order = base.base, base.order + order
        obj = sp.Symbol.__xnew__(cls, base.name + ".rate" * order, real=True)
        obj.base, obj.order = base, order
        obj.unit = rate_unit(base.unit, order)
        obj.description = ""
        return obj

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.base, self.order), {}

    def _hashable_content(self) -> tuple[Any, ...]:
        return (self.name, type(self.base).__name__)

    def _latex(self, printer: Any) -> str:
        return dotted(printer._print(sp.Symbol(self.base.name)), self.order)

    def _sympystr(self, printer: Any) -> str:
        return self.base.name + "'" * self.order

    def _pretty(self, printer: Any) -> Any:
        return printer._print(sp.Symbol(self.base.name + "'" * self.order))


def rate_unit(unit: str, order: int) -> str:
    """The unit of a derivative: m/s, m/s^2, ...; none for what has none."""
    return f"{unit}/s{'' if order == 1 else f'^{order}'}" if unit and order else unit


def dotted(tex: str, order: int) -> str:
    """The LaTeX of a derivative, its dots over the letter and not over its index, beside those it has.

    Args:
        tex: The letter.
        order: How many dots.
    """
    if (given := re.match(r"\\(d+)ot\{([^{}]*)\}", tex)) is not None:
        tex, order = given[2] + tex[given.end() :], len(given[1]) + order
    if order > 3:
        return rf"{{{tex}}}^{{({order})}}"
    index = None if "^" in tex else re.search(r"(?<!\\)_", tex)
    end = len(tex) if index is None else index.start()
    return rf"\{'d' * order}ot{{{tex[:end]}}}{tex[end:]}"


t = Time("t", "s", "time")
SYMPY_TIME = sp.Symbol("t")  # what SymPy's own mechanics differentiates by

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RANGE = re.compile(r"([A-Za-z_]\w*?)(\d*):(\d+)", re.ASCII)


def _letters(kind: type[Letter], names: str, units: str, description: str) -> Any:
    for given, what, example in ((names, "names", "a b"), (units, "units", "m kg"), (description, "words", "place")):
        if not isinstance(given, str):
            raise ModelError(f'The {what} of {kind.kind}s are one text such as "{example}", got {given!r}.')
    words, article = _numbered(names), "an" if kind.kind[0] in "aeiou" else "a"
    if not words:
        raise ModelError(f'No name given for {article} {kind.kind}; write for example appell.{kind.kind}s("a b").')
    for word in words:
        if not _NAME.fullmatch(word) or keyword.iskeyword(word):
            raise ModelError(
                f"{word!r} cannot name {article} {kind.kind}: use the letters a to z and A to Z, digits and _, "
                "beginning with a letter, and no Python keyword."
            )
        if word == "t":
            raise ModelError(f"'t' is time itself and cannot name {article} {kind.kind}; choose another name.")
        if word == "pi":
            raise ModelError(f"'pi' is the number and cannot name {article} {kind.kind}; choose another name.")
    if len(set(words)) < len(words):
        raise ModelError(f"The same name occurs twice in {names!r}; every {kind.kind} needs its own.")
    labels = _one_each(units.split(), words, f"units in {units!r}; give one unit per name, or one")
    told = _one_each(
        [part.strip() for part in description.split(";")] if len(words) > 1 else [description],
        words,
        f"descriptions in {description!r}; give one for each name, separated by semicolons, or one for all",
    )
    made = tuple(
        kind(word, "" if label == "-" else label, e) for word, label, e in zip(words, labels, told, strict=True)
    )
    _DECLARED.update(zip(made, made, strict=True))
    return made[0] if len(made) == 1 and ":" not in names else made


def _numbered(names: str) -> list[str]:
    """Names one by one; `q1:4` stands for q1, q2, q3, as in SymPy."""
    found: list[str] = []
    for word in names.replace(",", " ").split():
        several = _RANGE.fullmatch(word)
        if several is None:
            found.append(word)
            continue
        numbers = range(int(several[2] or 0), int(several[3]))
        if not numbers:
            raise ModelError(f"{word!r} names nothing: it counts from {numbers.start} up to below {numbers.stop}.")
        found += [f"{several[1]}{i}" for i in numbers]
    return found


_DECLARED: dict[Letter, Letter] = {}  # letters are equal by kind and name; the last one declared has the words


def as_declared(letter: Letter) -> Letter:
    """A letter of a formula with the unit and the words last declared; SymPy keeps formulas with earlier ones."""
    return _DECLARED.get(letter, letter)


def _one_each(given: list[str], names: list[str], words: str) -> list[str]:
    """One label for each name, where one is given for all of them, or none."""
    each = (given or [""]) * (len(names) if len(given) < 2 else 1)
    if len(each) != len(names):
        raise ModelError(f"{len(names)} names but {len(given)} {words}.")
    return each


def coordinates(names: str, units: str = "", description: str = "") -> Any:
    """Generalized coordinates q; `x.rate` is the velocity of x.

    Args:
        names: Names separated by blanks or commas; `q1:4` stands for q1, q2, q3.
        units: Units in the same order (or one for all); `-` means none.
        description: What they are, in the same order, separated by semicolons (or one for all).

    Returns:
        One symbol for one name, a tuple for several and for what is counted.

    Example:
        >>> x, y = coordinates("x y", "m", "place of the cart; height of the load")
        >>> x.rate.unit, y.description
        ('m/s', 'height of the load')
    """
    return _letters(Coordinate, names, units, description)


def speeds(names: str, units: str = "", description: str = "") -> Any:
    """Quasi-velocities u; their formulas are given to the formulation. Arguments as for `coordinates`."""
    return _letters(Speed, names, units, description)


def parameters(names: str, units: str = "", description: str = "") -> Any:
    """Constants whose numbers are bound later. Arguments as for `coordinates`."""
    return _letters(Parameter, names, units, description)


def inputs(names: str, units: str = "", description: str = "") -> Any:
    """Inputs: signals from outside, such as torques and commands. Arguments as for `coordinates`."""
    return _letters(Input, names, units, description)


def states(names: str, units: str = "", description: str = "") -> Any:
    """Extra states with their own differential equation. Arguments as for `coordinates`."""
    return _letters(ExtraState, names, units, description)


def nodes(expression: sp.Basic, seen: set[sp.Basic] | None = None) -> Iterator[sp.Basic]:
    """Every node of a formula once: a formula along a chain of frames shares its parts and is huge as a tree.

    Args:
        expression: The formula.
        seen: Nodes to leave out, with all below them; those of the formula are added.
    """
    seen = set() if seen is None else seen
    left = [] if expression in seen else [expression]
    seen.add(expression)
    while left:
        node = left.pop()
        yield node
        fresh = [e for e in node.args if e not in seen]
        seen.update(fresh)
        left += fresh


def length(expression: sp.Basic) -> int:
    """How many nodes a formula has when it is written out as a tree."""
    found: dict[sp.Basic, int] = {}
    for node in inside_out(expression):
        found[node] = 1 + sum(found[e] for e in node.args)
    return found[expression]


def inside_out(expression: sp.Basic) -> Iterator[sp.Basic]:
    """Every node of a formula once, behind its parts."""
    seen: set[sp.Basic] = set()
    left = [expression]
    while left:
        missing = [e for e in left[-1].args if e not in seen]
        if missing:
            left += missing
            continue
        node = left.pop()
        if node not in seen:
            seen.add(node)
            yield node


def written(expression: sp.Basic) -> str:
    """A formula as text, its decimals without trailing zeros, or a word about one that would fill pages."""
    if length(expression) > READABLE:
        return f"(a formula of {len(list(nodes(expression)))} parts)"
    return sp.sstr(expression, full_prec=False)


def quoted(given: Any) -> str:
    """A formula, or whatever else was given, as a message quotes it: beginning and end of what is long."""
    text = written(given) if isinstance(given, sp.Basic) else repr(given)
    half = QUOTED // 2
    return text if len(text) <= QUOTED else f"{text[: half - 2]} … {text[1 - half :]}"


def letters_in(expression: sp.Basic) -> set[sp.Symbol]:
    """The symbols of a formula, as `free_symbols`, in a time that grows with its distinct parts."""
    if not expression.args:
        return {expression} if isinstance(expression, sp.Symbol) else set()
    return {e for e in nodes(expression) if isinstance(e, sp.Symbol)}


def unit_of(expression: Any) -> str:
    """The unit of a letter, of a sum or difference of like ones, of their magnitude, largest or smallest; else none.

    A factor may be there to change the unit, so that nothing is said of products.

    Example:
        >>> x, y = coordinates("x y", "m")
        >>> unit_of(x.rate - y.rate), unit_of(1000 * x)
        ('m/s', '')
    """
    if isinstance(expression, Letter):
        return expression.unit
    if isinstance(expression, sp.Mul) and expression.args[0] == -1:
        return unit_of(-expression)
    if not isinstance(expression, sp.Add | sp.Abs | sp.Max | sp.Min):
        return ""
    units = {unit_of(e) for e in expression.args if not e.is_number}
    return units.pop() if len(units) == 1 else ""


def time_derivative(expression: Any, frozen: bool = False) -> sp.Expr:
    """The total time derivative of a formula in letters, each letter going to its rate.

    Args:
        expression: The formula.
        frozen: Whether extra states are held.

    Example:
        >>> x = coordinates("x")
        >>> time_derivative(x**2 * t)
        x**2 + 2*x*x'*t
    """
    expression = sp.sympify(expression)
    if isinstance(expression, Evolving):
        return sp.Integer(0) if frozen and isinstance(expression, ExtraState) else expression.rate
    letters = letters_in(expression)
    total = explicit_rate(expression)
    moving = (s for s in letters if isinstance(s, Evolving) and not (frozen and isinstance(s, ExtraState)))
    for letter in sorted(moving, key=lambda s: s.name):
        total += sp.diff(expression, letter) * letter.rate
    return total


def explicit_rate(expression: sp.Expr) -> sp.Expr:
    """The partial derivative of a formula by time, all other letters held."""
    letters = letters_in(expression)
    if t not in letters:
        return sp.Integer(0)
    held = {s: sp.Dummy(s.name, real=True) for s in letters if isinstance(s, AbstractVarying)}
    return sp.diff(expression.xreplace(held), t).xreplace({dummy: s for s, dummy in held.items()})


def key(name: Any) -> str:
    """The label of a letter or of a name given as text (`x'` is taken for `x.rate`)."""
    if isinstance(name, Letter):
        return name.label
    if isinstance(name, str):
        return name.replace("'", ".rate")
    raise ModelError(f"Got {name!r} as a name; give a symbol made by appell or its name as text.")


def listed(given: Any) -> list[Any]:
    """One thing or several as a list: a letter, a name or a formula stands for itself."""
    if isinstance(given, str | sp.Basic):
        return [given]
    if not isinstance(given, Iterable):
        raise ModelError(f"Got {given!r}; give a letter, a name or a formula, or a list of them.")
    return list(given)
