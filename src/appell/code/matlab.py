"""A system as a function of MATLAB and GNU Octave, in one file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from appell.code.code import function_of
from appell.code.described import check_identifier, contents, letters, parameters, title
from appell.code.source import ATOM, COMPARISON, PRODUCT, SUM, Form, Language, calls, powers, statements
from appell.files import write_text
from appell.graph.replay import operations

if TYPE_CHECKING:
    from appell.code.system import System

ALIKE = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "atan2", "hypot"),
    *("exp", "log", "sqrt", "erf", "sign", "floor", "ceil", "expm1", "log1p"),
)
KEYWORDS = (
    "break case catch classdef continue do else elseif end endfor endfunction endif endswitch endwhile enumeration "
    "events for function global if methods otherwise parfor persistent properties return spmd switch try until "
    "unwind_protect while ans eps i Inf j NaN nargin nargout pi zeros inputs jacobian moved parameters rate state time"
)
MATLAB = Language(
    forms={
        **powers("^"),
        **calls({name: name for name in ALIKE}),
        **calls({"fabs": "abs", "fmin": "min", "fmax": "max", "if_else_zero": "where"}),
        "copysign": Form("{}*(1 - 2*({} < 0))", PRODUCT, (PRODUCT, SUM)),
        "ne": Form("{} ~= {}", COMPARISON, (SUM, SUM)),
        "not": Form("~{}", ATOM, (ATOM,)),
        "and": Form("({} && {})", ATOM, (COMPARISON, COMPARISON)),
        "or": Form("({} || {})", ATOM, (COMPARISON, COMPARISON)),
    },
    number=lambda value: {math.inf: "Inf", math.pi: "pi"}.get(value, "NaN" if math.isnan(value) else repr(value)),
    end=";",
    reserved=frozenset(KEYWORDS.split()),
    allowed=r"[A-Za-z]\w{0,62}",
)
GROUPS = ("state", "inputs", "parameters")
CHOICE = """
function value = where(condition, value)
    if ~condition
        value = 0;
    end
end
"""


def write_matlab(system: System, path: Path) -> Path:
    """Write `path` (an .m file)."""
    check_identifier(path, ".m", MATLAB.reserved | MATLAB.functions)
    text = "\n".join(line.rstrip() for line in _lines(system, path.stem)) + "\n"
    return write_text(path, text + CHOICE if "where(" in text else text)


def _lines(system: System, stem: str) -> Iterator[str]:
    equations, numbers, names = system.equations, parameters(system), letters(system, MATLAB, {stem})
    parts = {name: function_of(equations, name) for name in ("rhs", "jacobian", "projected")}
    constrained = operations(parts["projected"]) > 0
    arguments = "time, state, inputs, parameters"
    yield f"function [rate, jacobian{', moved' if constrained else ''}] = {stem}({arguments})"
    words = [f"{stem.upper()}  {title(system)}", "", f"rate = {stem}({arguments})", "    the rates of the state"]
    words += [f"[rate, jacobian] = {stem}({arguments})", "    and their derivatives by the state"]
    if constrained:
        words += [f"[~, ~, moved] = {stem}({arguments})", "    the state moved onto the constraints"]
    if numbers is not None:
        words += ["", "Parameters that are left out have the numbers below."]
    for line in (*words, *contents(system, GROUPS, "({})", 1)):
        yield f"%   {line}"
    n = len(equations.states)
    if numbers:
        yield "    if nargin < 4"
        yield f"        parameters = [{'; '.join(map(repr, numbers))}];"
        yield "    end"
    for group, listed in zip(GROUPS, names[1:], strict=True):
        for i, name in enumerate(listed, 1):
            yield f"    {name} = {group}({i});"

    def assigned(name: str, result: str, size: str, place: Callable[[int], str], margin: str) -> Iterator[str]:
        lines, (entries,) = statements(parts[name], names, MATLAB)
        for line in (*lines, f"{result} = zeros({size});"):
            yield margin + line
        for k, entry in enumerate(entries):
            if entry != "0":
                yield f"{margin}{result}({place(k)}) = {entry};"

    yield from assigned("rhs", "rate", f"{n}, 1", lambda k: str(k + 1), "    ")
    yield "    if nargout > 1"
    yield from assigned("jacobian", "jacobian", f"{n}, {n}", lambda k: f"{k % n + 1}, {k // n + 1}", " " * 8)
    yield "    end"
    if constrained:
        yield "    if nargout > 2"
        yield from assigned("projected", "moved", f"{n}, 1", lambda k: str(k + 1), " " * 8)
        yield "    end"
    yield "end"
