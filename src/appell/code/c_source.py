"""C source of a system, with a header that says what stands where."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import casadi as ca

from appell.code.code import function_of
from appell.code.described import check_identifier, contents, parameters, title
from appell.files import check_place

if TYPE_CHECKING:
    from appell.code.system import System


PLAIN = {  # plain calls: their names, results, and what they are
    "rhs": ("f", ("xdot",), "xdot = f(t, x, w, p)"),
    "jacobian": ("df", ("J",), "J = d(xdot)/dx, column by column"),
    "linear_system": ("Ab", ("A", "b"), "A y = b, A column by column; y are the accelerations"),
}


def write_c(system: System, path: Path) -> list[Path]:
    """Write `path` (a .c file) and its header; both or none."""
    check_identifier(path, ".c")
    for target in (path, path.with_suffix(".h")):
        check_place(target)
    equations, stem = system.equations, path.stem
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        generator = ca.CodeGenerator(path.name, {"with_header": True, "casadi_int": "long long int"})
        functions = {name: function_of(equations, name) for name in PLAIN}
        for name, function in functions.items():
            functions[name] = ca.Function(f"{stem}_{name}", function.sx_in(), _call(function))
            generator.add(functions[name])
        generator.generate(folder + os.sep)
        calls = {name: f"int {stem}_{PLAIN[name][0]}({_arguments(name)})" for name in PLAIN}
        bodies = [f"{call} {_body(name, functions[name])}" for name, call in calls.items()]
        declared = _defined(system, stem) + _extern_c([f"{call};" for call in calls.values()])
        files = []
        for suffix, above, below in ((".c", "", _extern_c(bodies)), (".h", _comment(system, stem), declared)):
            made = Path(folder, stem + suffix)
            made.write_text(above + made.read_text(encoding="utf-8") + below, encoding="utf-8")
            target = path.with_suffix(suffix)
            made.replace(target)
            files.append(target)
    return files


def _call(function: ca.Function) -> list[ca.SX]:
    result = function(*function.sx_in())
    return list(result) if isinstance(result, tuple | list) else [result]


def _arguments(name: str) -> str:
    given = ("casadi_real t", *(f"const casadi_real* {letter}" for letter in "xwp"))
    return ", ".join((*given, *(f"casadi_real* {result}" for result in PLAIN[name][1])))


def _body(name: str, function: ca.Function) -> str:
    """The plain call by the one that CasADi writes, which needs no room to work in."""
    results = ", ".join(PLAIN[name][1])
    return (
        f"{{\n  const casadi_real* arg[{function.sz_arg()}] = {{&t, x, w, p}};\n"
        f"  casadi_real* res[{function.sz_res()}] = {{{results}}};\n"
        f"  return {function.name()}(arg, res, 0, 0, 0);\n}}"
    )


def _extern_c(lines: list[str]) -> str:
    return "\n".join(
        ("", "#ifdef __cplusplus", 'extern "C" {', "#endif", *lines, "#ifdef __cplusplus", "}", "#endif", "")
    )


def _defined(system: System, stem: str) -> str:
    """How many numbers there are, and the parameters' values where all of them have one."""
    equations = system.equations
    counts = zip("XWP", (equations.states, equations.inputs, equations.model.parameters), strict=True)
    lines = [f"#define {stem}_N{letter} {len(listed)}" for letter, listed in counts]
    if numbers := parameters(system):
        lines.append(f"#define {stem}_P {{{', '.join(map(repr, numbers))}}}")
    return "\n" + "\n".join(lines) + "\n"


def _comment(system: System, stem: str) -> str:
    lines = [title(system), ""]
    calls = {f"{stem}_{name}({', '.join(('t, x, w, p', *results))})": words for name, results, words in PLAIN.values()}
    lines += [f"{call:{max(map(len, calls))}}  {words}" for call, words in calls.items()]
    lines += ["", "Each returns 0. The longer calls below do the same in the manner of CasADi, arg = {&t, x, w, p}."]
    lines += contents(system, ("x, the state", "w, the inputs", "p, the parameters"), "[{}]", 0)
    words = "\n".join(f" * {line}".rstrip() for line in lines).replace("*/", "* /")
    return f"/*\n{words}\n */\n"
