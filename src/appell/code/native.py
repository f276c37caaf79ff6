"""Native code for single calls: the graph as C, built by the system's C compiler and loaded at once.

A call of a small function is then mostly the price of calling from Python. Libraries are kept, so the same equations
are built once.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from appell.code.kept import folder, kept_file, processor
from appell.errors import CompileError

FLAGS = (
    "-O3",
    *(("-march=native",) * (platform.machine() != "arm64")),  # Apple's compilers know their own, and some refuse it
    "-fPIC",
    "-shared",
    *(("-undefined", "dynamic_lookup") * (sys.platform == "darwin")),
)


def compiler() -> str | None:
    """The system's C compiler, if there is one."""
    return shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc") or shutil.which("clang")


def build(cc: str, arguments: Sequence[str], folder: Path) -> None:
    """Run a C compiler; raises in words if it fails.

    Args:
        cc: The compiler.
        arguments: What to give to it.
        folder: Where there may be no room left.
    """
    done = subprocess.run([cc, *arguments], capture_output=True, check=False)
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()
        if os.strerror(errno.ENOSPC) in words:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
        raise CompileError(f"The C compiler {cc} failed: {words[:400]}")


def native(function: ca.Function) -> ca.Function:
    """The same function as native code.

    Args:
        function: A CasADi function.
    """
    return ca.external(function.name(), str(_library(function)))


def entry(function: ca.Function) -> Callable[[np.ndarray, np.ndarray, Callable[..., Any]], Callable[..., Any]] | None:
    """(w, p, otherwise) -> a callable (t, x) -> f(t, x, w, p) in native code itself; None without Python's headers.

    What is not a number and one state in an array goes to `otherwise`.

    Args:
        function: A CasADi function of t, x, w, p with one dense output.
    """
    if not headers():
        return None
    loader = ExtensionFileLoader("entry", str(_library(function)))
    spec = spec_from_loader("entry", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module.Bound


@cache
def headers() -> tuple[str, ...]:
    """Folders with Python's and NumPy's headers; none if one is missing, or libraries cannot ask Python for symbols."""
    if os.name != "posix":
        return ()
    folders = sysconfig.get_paths()["include"], np.get_include()
    files = Path(folders[0], "Python.h"), Path(folders[1], "numpy", "arrayobject.h")
    return folders if all(file.exists() for file in files) else ()


def _source(function: ca.Function) -> str:
    """The function in C, and the way into it from Python where that can be built."""
    generator = ca.CodeGenerator(f"{function.name()}.c", {"verbose": False})
    generator.add(function)
    source = generator.dump()
    if not headers() or function.n_in() != 4 or function.n_out() != 1:
        return source
    sizes = {
        "NX": function.nnz_in(1), "NY": function.nnz_out(0), "SZ_ARG": function.sz_arg(), "SZ_RES": function.sz_res(),
        "SZ_IW": function.sz_iw(), "SZ_W": function.sz_w(),
    }  # fmt: skip
    lines = [f"#define {name} {size}" for name, size in {"FUNCTION": function.name(), **sizes}.items()]
    return "\n".join((source, *lines, Path(__file__).with_name("entry.c").read_text(encoding="utf-8")))


def _library(function: ca.Function) -> Path:
    """The shared library; built once."""
    cc = compiler()
    if cc is None:
        raise CompileError("machine='c' needs a C compiler (cc, gcc or clang) on the path; use machine='auto'.")
    source, flags = _source(function), (*FLAGS, *(f"-I{place}" for place in headers()))
    name = hashlib.sha256("\n".join((source, cc, *flags, np.__version__, processor())).encode()).hexdigest()[:32]

    def make(library: Path) -> None:
        path = library.with_suffix(".c")
        path.write_text(source, encoding="utf-8")
        build(cc, [*flags, "-o", str(library), str(path), "-lm"], library.parent.parent)

    try:
        return kept_file(folder("native") or _passing(), name, ".so", make)
    except OSError as error:
        raise CompileError(
            f"machine='c' builds a library on disk, and that failed ({error}). Make room there, name another folder by "
            "the variable XDG_CACHE_HOME, or use machine='auto'."
        ) from error


@cache
def _passing() -> Path:
    """A folder for the libraries of this process."""
    return Path(tempfile.mkdtemp(prefix="appell-"))
