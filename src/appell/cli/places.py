"""The files that commands write: places looked at before the work, made when there is something to write."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from appell.errors import ModelError
from appell.files import check_zarr

PICTURES = (".png", ".svg", ".pdf")
FILMS = (".html", ".gif", ".mp4")


def check_files(out: Iterable[Path] | None, reports: Iterable[Path] | None) -> None:
    """Refuse files of a motion, or reports of it, that could not be written, before the work is done."""
    for path in out or ():
        check_out(path)
    for path in reports or ():
        check_file(path, ".html", ".tex", ".md")
    places = [path.resolve() for path in (*(out or ()), *(reports or ()))]
    for path in places:
        if places.count(path) > 1:
            raise ModelError(f"{path.name} is asked for more than once; give every file a name of its own.")


def check_file(path: Path, *endings: str) -> None:
    """Refuse a file that has none of these endings, or could not be written, before the work is done."""
    if path.suffix not in endings:
        *most, last = endings
        raise ModelError(f"Cannot write {str(path)!r}: use {', '.join(most)} or {last}.")
    check_folder(path.parent)
    if path.suffix != ".zarr" and path.is_dir():
        raise ModelError(f"Cannot write {path}: it is a folder.")


def check_out(path: Path) -> None:
    """Refuse a file of a motion that could not be written, before the work is done."""
    check_file(path, ".nc", ".zarr", ".csv", *PICTURES, *FILMS)
    if path.suffix == ".zarr":
        check_zarr("use a .nc file")
    if path.suffix == ".mp4":
        from appell.view.film import ffmpeg

        ffmpeg()


def check_folder(path: Path) -> None:
    """Refuse a folder for results that could not be made or written to, before the work is done; make none yet."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    make_folder(path)
    for folder in missing:
        folder.rmdir()


def make_folder(path: Path) -> None:
    """Make a folder for results."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise ModelError(f"The folder {path} cannot be made: {fault.strerror}.") from None
    if not os.access(path, os.W_OK):
        raise ModelError(f"The folder {path} cannot be written to.")


def write(motion: Any, path: Path) -> None:
    """Write a motion in the format that the file's ending says."""
    if path.suffix in PICTURES:
        motion.plot(path=path)
    elif path.suffix in FILMS:
        motion.animate(path)
    else:
        motion.save(path)


def written(paths: Iterable[Path] | None, write: Callable[[Path], Any]) -> Iterator[Path]:
    """Write files one by one while they are gone through, and make their folders."""
    for path in paths or ():
        make_folder(path.parent)
        write(path)
        yield path
