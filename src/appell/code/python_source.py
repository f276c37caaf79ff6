"""A system as a module of Python that needs NumPy only."""

from __future__ import annotations

import keyword
import math
import re
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from appell.code.code import function_of
from appell.code.described import check_identifier, contents, letters, parameters, title
from appell.code.source import ATOM, COMPARISON, LOOSE, PRODUCT, SUM, WIDTH, Form, Language, calls, powers, statements
from appell.errors import AppellError
from appell.files import write_text
from appell.graph.replay import operations

if TYPE_CHECKING:
    from appell.code.system import System

ALIKE = "sin cos tan sinh cosh tanh exp log sqrt sign floor ceil hypot expm1 log1p fmin fmax copysign"
ARC = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")}
LOGIC = {"not": "logical_not", "and": "logical_and", "or": "logical_or"}
MODULE = ("array", "broadcast_arrays", "inf", "nan", "pi", "stack")
OWN = "INPUTS PARAMETERS STATES inputs jacobian parameters projected rhs state time tuple"
HEAD = "(time, state, inputs"  # of every function that is written
MARGIN = " " * 8
PYTHON = Language(
    forms={
        **powers("**"),
        **calls({name: name for name in ALIKE.split()} | ARC | LOGIC | {"fabs": "absolute", "erf": "erf"}),
        "if_else_zero": Form("where({}, {}, 0.0)", ATOM, (LOOSE, LOOSE)),
        "ne": Form("{} != {}", COMPARISON, (SUM, SUM)),
        "counted": Form("1.0*{}", PRODUCT, (PRODUCT,)),
    },
    number=lambda value: "pi" if value == math.pi else repr(value),
    end="",
    reserved=frozenset([*keyword.kwlist, *MODULE, *OWN.split()]),
)


def write_python(system: System, path: Path) -> Path:
    """Write `path` (a .py file)."""
    check_identifier(path, ".py", {*keyword.kwlist, "numpy", "scipy"})
    if path.is_file() and HEAD.encode() not in path.read_bytes():
        raise AppellError(
            f"Cannot write {path}: a file of that name is there and was not written by appell, such as the model "
            "itself; give another name."
        )
    return write_text(path, _text(system))


def _text(system: System) -> str:
    equations, numbers, names = system.equations, parameters(system), letters(system, PYTHON, ())
    defaults = "" if numbers is None else "=tuple(PARAMETERS.values())"
    signature = f"{HEAD}{'' if equations.inputs or not defaults else '=()'}, parameters{defaults})"
    taken = [
        f"    {_tuple(listed)} = {group}"
        for group, listed in zip(("state", "inputs", "parameters"), names[1:], strict=True)
        if listed
    ]
    column = "stack(broadcast_arrays({}))"
    parts = [
        ("rhs", "The rates of the state; an entry of the state may be an array of many.", column),
        ("jacobian", "The derivatives of the rates by the state.", "array([{}])"),
        ("projected", "The state moved onto the constraints.", column),
    ]
    functions: list[str] = []
    for name, words, result in parts:
        function = function_of(equations, name)
        if name == "projected" and not operations(function):
            continue
        lines, (entries,) = statements(function, names, PYTHON)
        if name == "jacobian":
            n = len(equations.states)
            entries = [_filled(f"[{', '.join(entries[i::n])}]") for i in range(n)]
        given = "\n".join(["", *(f"{MARGIN}{entry}," for entry in entries), "    "])
        body = [*taken, *(f"    {line}" for line in lines), f"    return {result.format(given)}"]
        functions += ["", "", f"def {name}{signature}:", f'    """{words}"""', *body]
    listed = [
        f"STATES = {tuple(str(s) for s in equations.states)!r}",
        f"INPUTS = {tuple(s.label for s in equations.inputs)!r}",
        "PARAMETERS = {",
        *(f"    {s.label!r}: {system.values.get(s.label)!r}," for s in equations.model.parameters),
        "}",
    ]
    code = "\n".join([*listed, *functions])
    words = set(re.findall(r"\w+", code))
    imported = sorted(words & {*PYTHON.functions, *MODULE} - {"erf"})
    comment = [f"{title(system)}.", *contents(system, ("state", "inputs", "parameters"), "[{}]", 0)]
    head = [
        '"""' + "\n".join(comment).replace("\\", "/").replace('"""', "'''"),
        '"""',
        "",
        f"from numpy import {', '.join(imported)}",
        *(["from scipy.special import erf"] if "erf" in words else []),
    ]
    return "\n".join([*head, "", code, ""])


def _tuple(names: list[str]) -> str:
    text = f"{', '.join(names)}{',' if len(names) == 1 else ''}"
    return text if len(text) < WIDTH else f"(\n{MARGIN}{_filled(text)}\n    )"


def _filled(text: str) -> str:
    """A text in lines, broken at spaces."""
    return fill(text, WIDTH, initial_indent=MARGIN, subsequent_indent=MARGIN, break_long_words=False).strip()
