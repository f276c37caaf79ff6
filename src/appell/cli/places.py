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


def check_files(out: Iterable[Path] | None, report: Path | None) -> None:
    """Refuse files of a motion, or a report of it, that could not be written, before the work is done."""
    for path in out or ():
        check_out(path)
    if report is not None:
        check_report(report)
    places = [path.resolve() for path in (*(out or ()), report) if path is not None]
    for path in places:
        if places.count(path) > 1:
            raise ModelError(f"{path.name} is asked for more than once; give every file a name of its own.")


def check_out(path: Path) -> None:
    """Refuse a file that could not be written, before the work is done."""
    if path.suffix not in (".nc", ".zarr", ".csv", *PICTURES, *FILMS):
        raise ModelError(f"Cannot write {str(path)!r}: use .nc, .zarr, .csv, .png, .svg, .pdf, .html, .gif or .mp4.")
    if path.suffix == ".zarr":
        check_zarr("use a .nc file")
    if path.suffix == ".mp4":
        from appell.view.film import ffmpeg

        ffmpeg()
    _check_place(path)


def check_report(path: Path) -> None:
    """Refuse a report that could not be written, before the work is done."""
    if path.suffix not in (".html", ".tex", ".md"):
        raise ModelError(f"Cannot write a report to {str(path)!r}: use .html, .tex or .md.")
    _check_place(path)


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn, before the work is done."""
    if path.suffix not in (*PICTURES, ".html"):
        raise ModelError(f"Cannot draw {str(path)!r}: use .png, .svg, .pdf or .html.")
    _check_place(path)


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


def _check_place(path: Path) -> None:
    check_folder(path.parent)
    if path.suffix != ".zarr" and path.is_dir():
        raise ModelError(f"Cannot write {path}: it is a folder.")


def write(motion: Any, path: Path) -> None:
    """Write a motion in the format that the file's ending says."""
    if path.suffix in PICTURES:
        motion.plot(path=path)
    elif path.suffix in FILMS:
        motion.animate(path)
    else:
        motion.save(path)


def written(paths: Iterable[Path | None] | None, write: Callable[[Path], Any]) -> Iterator[Path]:
    """Write files one by one while they are gone through, and make their folders; None is no file."""
    for path in paths or ():
        if path is not None:
            make_folder(path.parent)
            write(path)
            yield path
