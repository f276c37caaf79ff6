"""What computed a result, by name and version."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version


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
