"""Native code for single calls: the graph as C, built by the system's C compiler and loaded at once.

A call of a small function is then mostly the price of calling from Python. Libraries are kept by the hash of their
source, so the same equations are built once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import casadi as ca

from appell.errors import CompileError

FLAGS = ("-O3", "-march=native", "-fPIC", "-shared")


def compiler() -> str | None:
    """The system's C compiler, if there is one."""
    return shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc") or shutil.which("clang")


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base, "appell")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="appell-"))
    return folder


def native(function: ca.Function) -> ca.Function:
    """The same function as native code.

    Args:
        function: A CasADi function.
    """
    cc = compiler()
    if cc is None:
        raise CompileError("machine='c' needs a C compiler (cc, gcc or clang) on the path; use machine='auto'.")
    generator = ca.CodeGenerator(f"{function.name()}.c", {"verbose": False})
    generator.add(function)
    source = generator.dump()
    name = hashlib.sha256("\n".join((source, cc, *FLAGS)).encode()).hexdigest()[:32]
    library = _folder() / f"{name}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            path, made = Path(folder, "source.c"), Path(folder, "made.so")
            path.write_text(source)
            done = subprocess.run([cc, *FLAGS, "-o", made, path, "-lm"], capture_output=True, text=True, check=False)
            if done.returncode:
                raise CompileError(f"The C compiler {cc} failed: {done.stderr.strip()[:400]}")
            made.replace(library)
    return ca.external(function.name(), str(library))
