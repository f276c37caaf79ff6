"""Files: written whole or not at all, or refused in words; and data, figures and pages in the forms of files."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import tempfile
import webbrowser
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from appell.errors import AppellError, ModelError

PICTURES = (".html", ".svg", ".pdf", ".png")  # endings of files that plots are written to
PART = "appell-"  # how the name of a folder begins in which a file is written


def path_of(given: Any) -> Path:
    """The path of a file as a user gives it; refuses what is none."""
    if not isinstance(given, str | os.PathLike):
        raise ModelError(f'A file is given by its path, a text such as "folder/name.ext"; got {given!r}.')
    return Path(given)


def refuse_paths(names: Iterable[Any]) -> None:
    """Refuse files among the quantities that are to be drawn.

    Args:
        names: What was given as quantities.
    """
    for name in names:
        if isinstance(name, str | os.PathLike) and Path(name).suffix in PICTURES:
            raise ModelError(f"Got {str(name)!r} as a quantity to draw; a file is given by plot(path={str(name)!r}).")


def check_folder(path: Path) -> None:
    """Refuse a place in a folder that does not exist."""
    if not path.absolute().parent.is_dir():
        raise AppellError(f"The folder {path.parent} does not exist; make it first.")


def check_place(path: Path) -> None:
    """Refuse a place where no file can be written."""
    check_folder(path)
    if path.is_dir():
        raise AppellError(f"Cannot write {path}: it is a folder.")
    if path.exists() and not path.is_file():
        raise AppellError(f"Cannot write {path}: it is a device or a pipe; give the name of a file.")


def check_zarr(instead: str) -> None:
    """Refuse a Zarr folder where Zarr is not installed.

    Args:
        instead: What to do without it.
    """
    if find_spec("zarr") is None:
        raise AppellError(f'Zarr is not installed; `pip install "appell[zarr]"`, or {instead}.')


@contextmanager
def whole(path: Path, *, folder: bool = False) -> Iterator[Path]:
    """A place beside a file to write to: it becomes the file when all is written, and is gone if that fails.

    Args:
        path: The file.
        folder: Whether a folder is written instead; one of that name is replaced.
    """
    (check_folder if folder else check_place)(path)
    target = path.resolve()  # what a link leads to is written, not the link
    beside = target.parent / PART
    try:
        with tempfile.TemporaryDirectory(prefix=PART, dir=target.parent) as place:
            part = Path(place, path.name)
            yield part
            if folder and target.is_dir():
                shutil.rmtree(target)
            elif target.is_file():
                shutil.copymode(target, part)  # who may read it is not ours to change
            part.replace(target)
    except OSError as fault:
        if fault.errno is None or not str(fault.filename or beside).startswith(str(beside)):
            raise
        raise OSError(fault.errno, fault.strerror, str(path)) from fault  # a full disk does not say whose file it was


def write_text(path: Path, text: str) -> Path:
    """Write a text."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def json_text(data: Any, indent: int | None = None, separators: tuple[str, str] | None = None) -> str:
    """Plain data as JSON; numbers that are not finite, which JSON does not have, become null.

    Args:
        data: Mappings, lists, texts, numbers.
        indent: As for `json.dumps`.
        separators: As for `json.dumps`.
    """

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(key): plain(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [plain(entry) for entry in value]
        if hasattr(value, "tolist"):  # of NumPy's
            return plain(value.tolist())
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps(plain(data), allow_nan=False, indent=indent, separators=separators)


def opened(thing: Any, name: str) -> Path:
    """Save something as a page in the folder for temporary files, and open it in the browser.

    Args:
        thing: What has a `save`.
        name: What the file is called.
    """
    path = thing.save(Path(tempfile.mkdtemp(prefix=PART)) / f"{name}.html")
    webbrowser.open(path.as_uri())
    return path


def png(figure: Any, dpi: int, tight: bool = False) -> bytes:
    """A figure of Matplotlib's as the content of a .png file.

    Args:
        figure: The figure.
        dpi: Points in an inch.
        tight: Whether it is cut to what is drawn.
    """
    out = io.BytesIO()
    figure.savefig(out, dpi=dpi, format="png", bbox_inches="tight" if tight else None)
    return out.getvalue()


def write_figure(figure: Any, path: str | Path, dpi: int) -> Path:
    """Write a figure of Matplotlib's in the format that the name says, .png if it says none.

    Args:
        figure: The figure.
        path: The file.
        dpi: Points in an inch.
    """
    path = path_of(path)
    path = path if path.suffix else path.with_name(path.name + ".png")
    kinds = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise ModelError(f"Cannot draw {path.name!r}; use {', '.join(f'.{kind}' for kind in kinds)}.")
    with whole(path) as part:
        figure.savefig(part, dpi=dpi)
    return path
