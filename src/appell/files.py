"""Files: written whole or not at all, or refused in words."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from appell.errors import AppellError, ModelError


def check_folder(path: Path) -> None:
    """Refuse a place in a folder that does not exist."""
    if not path.absolute().parent.is_dir():
        raise AppellError(f"The folder {path.parent} does not exist; make it first.")


def check_place(path: Path) -> None:
    """Refuse a place where no file can be written."""
    check_folder(path)
    if path.is_dir():
        raise AppellError(f"Cannot write {path}: it is a folder.")


@contextmanager
def whole(path: Path, *, folder: bool = False) -> Iterator[Path]:
    """A place beside a file to write to: it gets the file's name when all is written, and is gone if that fails.

    Args:
        path: The file.
        folder: Whether a folder is written instead; one of that name is replaced.
    """
    (check_folder if folder else check_place)(path)
    part = path.with_name(f"{path.stem}.part{path.suffix}")
    try:
        yield part
        if folder and path.is_dir():
            shutil.rmtree(path)
        part.replace(path)
    except OSError as fault:
        if fault.errno is None or not str(fault.filename or part).startswith(str(part)):
            raise
        raise OSError(fault.errno, fault.strerror, str(path)) from fault  # a full disk does not say whose file it was
    finally:
        if part.is_dir():
            shutil.rmtree(part)
        else:
            part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> Path:
    """Write a text."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def write_figure(figure: Any, path: str | Path, dpi: int) -> Path:
    """Write a figure of Matplotlib's in the format that the name says, .png if it says none.

    Args:
        figure: The figure.
        path: The file.
        dpi: Points in an inch.
    """
    path = Path(path)
    path = path if path.suffix else path.with_name(path.name + ".png")
    kinds = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise ModelError(f"Cannot draw {path.name!r}; use {', '.join(f'.{kind}' for kind in kinds)}.")
    with whole(path) as part:
        figure.savefig(part, dpi=dpi)
    return path
