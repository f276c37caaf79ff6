"""What computed a result, by name and version."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from appell.code import heyoka_code


@cache
def versions() -> dict[str, str]:
    """Versions of what computed it."""
    found = {"python": platform.python_version()}
    for name in ("appell", "casadi", "heyoka", "numpy", "scipy", "sympy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache
def files() -> str:
    """A checksum of appell's own files: an installation that is edited keeps its version."""
    package, digest = Path(__file__).parent.parent, hashlib.sha256()
    for file in sorted((*package.rglob("*.py"), *package.rglob("*.c"))):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0")
        digest.update(file.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:12]


def maker() -> dict[str, str]:
    """What decides the last digits: appell with a checksum of its files, CasADi, heyoka where it can be loaded."""
    used = ("casadi", *(("heyoka",) if heyoka_code.available() else ()))
    found = {name: version for name, version in versions().items() if name in used}
    return {"appell": f"{versions().get('appell', '')} (files {files()})", **found}


def in_words(maker: Mapping[str, str]) -> str:
    """Names and versions in a line."""
    return ", ".join(f"{name} {version}" for name, version in maker.items())
