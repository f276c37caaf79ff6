"""What commands print: tables, JSON, errors as one line; and the files they write."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from appell.errors import AppellError, MissingValueError, ModelError


@contextlib.contextmanager
def errors(as_json: bool) -> Iterator[None]:
    """Errors as one line (or one JSON object) on standard error, and exit code 1."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever reads has enough, as in `appell list | head`: the end, without a word
    except (AppellError, OSError) as error:
        words = str(error)
        if isinstance(error, MissingValueError) and error.names:
            words = words.partition(";")[0] + "; add " + " ".join(f"--set {name}=..." for name in error.names)
        if as_json:
            say({"error": type(error).__name__, "message": words})
        else:
            print(f"appell: {words}", file=sys.stderr)
        raise typer.Exit(1) from None


def say(data: Any) -> None:
    """Print JSON; numbers that are not finite, which JSON does not have, become null."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [plain(entry) for entry in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    print(json.dumps(plain(data), allow_nan=False))


PICTURES = (".png", ".svg", ".pdf")
FILMS = (".html", ".gif", ".mp4")


def check_out(path: Path) -> None:
    """Refuse a file that could not be written, before the work is done."""
    if path.suffix not in (".nc", ".zarr", ".csv", *PICTURES, *FILMS):
        raise ModelError(f"Cannot write {path.name!r}: use .nc, .zarr, .csv, .png, .svg, .pdf, .html, .gif or .mp4.")
    _check_place(path)


def check_report(path: Path) -> None:
    """Refuse a report that could not be written, before the work is done."""
    if path.suffix not in (".html", ".tex", ".md"):
        raise ModelError(f"Cannot write a report to {path.name!r}: use .html, .tex or .md.")
    _check_place(path)


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn, before the work is done."""
    if path.suffix not in (*PICTURES, ".html"):
        raise ModelError(f"Cannot draw {path.name!r}: use .png, .svg, .pdf or .html.")
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


def make_folders(*files: Path | None) -> None:
    """Make the folders of files, once there is something to write."""
    for path in files:
        if path is not None:
            make_folder(path.parent)


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
    elif path.suffix == ".csv":
        motion.to_pandas().to_csv(path)
    else:
        motion.save(path)
