"""Where machine code is kept, so that the same equations are compiled once for all runs on a machine."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path


def folder(name: str = "") -> Path | None:
    """The user's folder for what can be made again, with a name in it; None where nothing can be written."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(base, "appell", name)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return path if os.access(path, os.W_OK) else None


@cache
def processor() -> str:
    """What code for this processor depends on: a folder may be shared by several machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    told = {line.partition(":")[0].strip(): line for line in reversed(lines)}
    return "\n".join(told[word] for word in ("model name", "flags", "Features") if word in told)
