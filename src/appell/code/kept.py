"""Where machine code is kept, so that the same equations are compiled once for all runs on a machine."""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")
LARGEST_STORE = 2**28  # bytes of one kind


def folder(name: str) -> Path | None:
    """The user's folder for what can be made again, with a name in it; None where nothing can be written."""
    try:
        path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "appell", name)
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # such as a user without a home
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


def recalled(words: Sequence[str], make: Callable[[], Made]) -> Made:
    """What is made, or was made before from the same words on this processor, by any process of this user.

    What was not used for longest is dropped.

    Args:
        words: All it depends on.
        make: Makes it; the result can be pickled.
    """
    store = folder("functions")
    if store is None:
        return make()
    made: list[Made] = []

    def write(file: Path) -> None:
        made.append(make())
        file.write_bytes(pickle.dumps(made[0]))

    name = hashlib.sha256("\0".join((processor(), *words)).encode()).hexdigest()[:32]
    with suppress(OSError):  # a full disk keeps nobody from working
        file = kept_file(store, name, ".pickle", write)
        return made[0] if made else pickle.loads(file.read_bytes())
    return made[0] if made else make()


def kept_file(store: Path, name: str, ending: str, make: Callable[[Path], object]) -> Path:
    """A file that is made, or was made before by any process of this user; its name has a checksum of what is in it.

    What was not used for longest is dropped.

    Args:
        store: The folder.
        name: What it is known by.
        ending: How its name ends.
        make: Writes it to a place.
    """
    for file in store.glob(f"{name}-*{ending}"):
        if file.stem == f"{name}-{_sum(file)}":
            file.touch()
            return file
    with suppress(OSError):
        tidy(store)
    with tempfile.TemporaryDirectory(dir=store) as place:
        part = Path(place, f"part{ending}")
        make(part)
        return part.replace(store / f"{name}-{_sum(part)}{ending}")


def _sum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:32]


@cache
def tidy(store: Path) -> None:
    """Drop the oldest files beyond the limit; once in a process."""
    files = [(file.stat(), file) for file in store.iterdir() if file.is_file()]
    size = 0
    for status, file in sorted(files, key=lambda e: e[0].st_mtime, reverse=True):
        size += status.st_size
        if size > LARGEST_STORE:
            file.unlink(missing_ok=True)
