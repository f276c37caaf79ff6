"""A function as lines of a programming language: what is used once stands where it is used, the rest has a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import casadi as ca

from appell.graph.replay import replay, shared

WIDTH = 88  # characters of a formula before a part of it gets a name
LOOSE, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(7)  # how strongly the parts of a formula hold together


class Form(NamedTuple):
    """How an operation is written: a pattern, how strongly it binds, and how strongly its parts must."""

    pattern: str
    binds: int
    needs: tuple[int, ...]


def calls(names: Mapping[str, str]) -> dict[str, Form]:
    """Operations that are written as calls: operation -> name of the function."""
    two = {"atan2", "hypot", "fmin", "fmax", "copysign", "if_else_zero", "and", "or"}
    return {
        operation: Form(f"{name}({{}}, {{}})", ATOM, (LOOSE, LOOSE))
        if operation in two
        else Form(f"{name}({{}})", ATOM, (LOOSE,))
        for operation, name in names.items()
    }


def powers(sign: str) -> dict[str, Form]:
    """Operations that are written with a sign of powers."""
    power = Form(f"{{}}{sign}{{}}", POWER, (ATOM, ATOM))
    return {"sq": Form(f"{{}}{sign}2", POWER, (ATOM,)), "pow": power, "constpow": power}


SAME_EVERYWHERE = {
    "add": Form("{} + {}", SUM, (SUM, PRODUCT)),
    "sub": Form("{} - {}", SUM, (SUM, PRODUCT)),
    "mul": Form("{}*{}", PRODUCT, (PRODUCT, SIGN)),
    "div": Form("{}/{}", PRODUCT, (PRODUCT, SIGN)),
    "twice": Form("2*{}", PRODUCT, (SIGN,)),
    "inv": Form("1/{}", PRODUCT, (SIGN,)),
    "neg": Form("-{}", SIGN, (POWER,)),
    "lt": Form("{} < {}", COMPARISON, (SUM, SUM)),
    "le": Form("{} <= {}", COMPARISON, (SUM, SUM)),
    "eq": Form("{} == {}", COMPARISON, (SUM, SUM)),
}
TRUTHS = {"lt", "le", "eq", "ne", "not", "and", "or"}  # what they give is true or false
ASKING = {"not": (0,), "and": (0, 1), "or": (0, 1), "if_else_zero": (0,)}  # which of their parts may be true or false


@dataclass(frozen=True)
class Language:
    """What languages write differently.

    Args:
        forms: Operations that are not written as `SAME_EVERYWHERE`; `"counted"` makes 1 or 0 of true or false.
        number: A number above zero that is not whole, or infinite, or none.
        end: The end of a statement.
        reserved: Words that no quantity can have as its name.
        allowed: Names that it can have otherwise, as a regular expression.
    """

    forms: Mapping[str, Form]
    number: Callable[[float], str]
    end: str
    reserved: frozenset[str]
    allowed: str = r"\w+"

    @property
    def functions(self) -> set[str]:
        """The functions that are called."""
        return {form.pattern.partition("(")[0] for form in self.forms.values() if form.pattern[0].isalpha()}

    def names(self, wanted: Sequence[str], taken: Iterable[str], letter: str) -> list[str]:
        """Names for quantities: their own where the language allows it, else a letter and a number."""
        used, names = {*self.reserved, *self.functions, *taken}, []
        for text in wanted:
            name = text.replace("'", "_dot")
            if name in used or not re.fullmatch(self.allowed, name):
                name = next(n for i in count(1) if (n := f"{letter}{i}") not in used and n not in wanted)
            names.append(name)
            used.add(name)
        return names


@dataclass(eq=False)
class _Part:
    """A part of a formula: an operation on others, or a name or number as text."""

    operation: str = ""
    on: tuple[_Part, ...] = ()
    text: str = ""
    binds: int = ATOM
    uses: int = 0

    def held(self, needed: int) -> str:
        """Its text, in parentheses if it binds more weakly than is needed."""
        return self.text if self.binds >= needed else f"({self.text})"


def statements(
    function: ca.Function, arguments: Sequence[Sequence[str]], language: Language
) -> tuple[list[str], list[list[str]]]:
    """Statements and, for each output, the formulas of its nonzeros.

    Args:
        function: A function of scalar operations.
        arguments: For each input the names of its nonzeros.
        language: What to write.
    """
    forms = {**SAME_EVERYWHERE, **language.forms}
    parts: list[_Part] = []

    def made(operation: str, *on: _Part) -> _Part:
        asking = ASKING.get(operation, ())
        on = tuple(part if k in asking else number_of(part) for k, part in enumerate(on))
        parts.append(_Part(operation, on))
        for part in on:
            part.uses += 1
        return parts[-1]

    def number_of(part: _Part) -> _Part:
        if part.operation not in TRUTHS or "counted" not in forms:
            return part
        part.uses += 1
        parts.append(_Part("counted", (part,)))
        return parts[-1]

    def rule(operation: str) -> Callable[..., _Part]:
        return lambda *on: made(operation, *on)

    algebra = {"assign": lambda a: a, **{operation: rule(operation) for operation in forms}}
    letters = [[_Part(text=name) for name in names] for names in arguments]
    replayed = replay(shared(function), letters, algebra, lambda value: _number(value, language))
    results = [[number_of(part) for part in result] for result in replayed]
    for result in results:
        for part in result:
            part.uses += 1
    taken = {name for names in arguments for name in names} | language.reserved
    fresh = (name for i in count(1) if (name := f"e{i}") not in taken)
    lines: list[str] = []
    for part in parts:
        lines += _spelled(part, forms[part.operation], fresh, language.end)
    return lines, [[part.text for part in result] for result in results]


def _spelled(part: _Part, form: Form, fresh: Iterator[str], end: str) -> Iterator[str]:
    """Give a part its text; the statements that this takes before."""

    def named(part: _Part) -> str:
        line = f"{(name := next(fresh))} = {part.text}{end}"
        part.text, part.binds, part.operation = name, ATOM, ""
        return line

    while True:
        part.text = form.pattern.format(*(p.held(n) for p, n in zip(part.on, form.needs, strict=True)))
        part.binds = form.binds
        longest = max((p for p in part.on if p.operation), key=lambda p: len(p.text), default=None)
        if len(part.text) <= WIDTH or longest is None:
            break
        yield named(longest)
    if part.uses > 1:
        yield named(part)


def _number(value: float, language: Language) -> _Part:
    size = abs(value)
    text = f"{size:.0f}" if size < 2.0**53 and size == int(size) else language.number(size)
    return _Part(text=f"-{text}" if value < 0 else text, binds=SIGN if value < 0 else ATOM)
