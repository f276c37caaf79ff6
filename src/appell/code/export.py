"""C source of a system, with a header that says what stands where."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import casadi as ca

from appell.code.code import function_of
from appell.errors import CompileError

if TYPE_CHECKING:
    from appell.code.system import System


def check_c(path: Path) -> None:
    """Refuse a place where no C source can be written."""
    if path.suffix != ".c":
        raise CompileError(f"Give a path that ends in .c, got {path}.")
    if not path.parent.is_dir():
        raise CompileError(f"The folder {path.parent} does not exist; make it first.")
    if not re.fullmatch(r"[A-Za-z_]\w*", path.stem):
        raise CompileError(f"{path.stem!r} must be a C identifier, since functions are named after it.")


def write_c(system: System, path: Path) -> list[Path]:
    """Write `path` (a .c file) and its header; both or none."""
    check_c(path)
    equations = system.equations
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        generator = ca.CodeGenerator(path.name, {"with_header": True, "casadi_int": "long long int"})
        for name in ("rhs", "jacobian", "linear_system"):
            function = function_of(equations, name)
            renamed = ca.Function(f"{path.stem}_{name}", function.sx_in(), _call(function))
            generator.add(renamed)
        generator.generate(folder + os.sep)
        comment = _comment(system, path.stem)
        files = []
        for suffix in (".c", ".h"):
            made = Path(folder, path.stem + suffix)
            text = (comment if suffix == ".h" else "") + made.read_text(encoding="utf-8")
            made.write_text(text, encoding="utf-8")
            target = path.with_suffix(suffix)
            made.replace(target)
            files.append(target)
    return files


def _call(function: ca.Function) -> list[ca.SX]:
    result = function(*function.sx_in())
    return list(result) if isinstance(result, tuple | list) else [result]


def _comment(system: System, stem: str) -> str:
    equations = system.equations
    lines = [
        f"{equations.model.name} by {equations.formulation.name}",
        f"{stem}_rhs(t, x, w, p) -> xdot; {stem}_jacobian -> d(xdot)/dx (column by column); "
        f"{stem}_linear_system -> A, b with A y = b",
        "call: int f(const double** arg, double** res, long long int* iw, double* w, int mem); arg = {&t, x, w, p}",
        "x = " + ", ".join(f"[{i}] {s}" for i, s in enumerate(equations.states)),
        "w = " + (", ".join(f"[{i}] {s}" for i, s in enumerate(equations.inputs)) or "none"),
        "p = " + (", ".join(f"[{i}] {s}" for i, s in enumerate(equations.model.parameters)) or "none"),
    ]
    words = "\n".join(f" * {line}" for line in lines).replace("*/", "* /")
    return f"/*\n{words}\n */\n"
