"""What commands print: JSON, errors as one line, what was found and which files have it."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

from appell.errors import AppellError, MissingValueError
from appell.files import json_text


@contextlib.contextmanager
def errors(as_json: bool) -> Iterator[None]:
    """Errors as one line (or one JSON object) on standard error, and exit code 1."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever reads has enough, as in `appell list | head`: the end, without a word
    except Exception as error:
        words = " ".join(_words(error).splitlines())  # what SymPy and compilers say has several
        if not words:
            raise  # a fault of appell's own: what to report is where it arose
        try:
            if as_json:
                say({"error": type(error).__name__, "message": words})
                sys.stdout.flush()
        except OSError:  # as on a full disk
            as_json = False
        if not as_json:
            print(f"appell: {words}", file=sys.stderr)
        raise typer.Exit(1) from None


def _words(error: Exception) -> str:
    """What an error says, in the words of the command line; nothing where no user has to do with it."""
    match error:
        case MissingValueError() if error.names:
            return str(error).partition(";")[0] + "; add " + " ".join(f"--set {name}=..." for name in error.names)
        case OSError() if error.filename:
            return f"{error.filename}: {error.strerror}."
        case OSError() if error.strerror:
            return f"What was found could not be written: {error.strerror}."
        case MemoryError():
            return f"There is not enough memory; ask for less, such as fewer --points. {error}"
        case AppellError() | OSError():
            return str(error)
    from appell.ensemble.fingerprint import own_line

    line = own_line(error)
    return line and f"A Python function of the caller raised an error. {type(error).__name__}: {error}{line}"


def say(data: Any) -> None:
    """Print JSON."""
    print(json_text(data))


def deliver(
    as_json: bool, data: Callable[[], dict[str, Any]], tell: Callable[[], None], *files: Iterable[Path]
) -> None:
    """Say what was found and write its files; to people first the words, which no full disk takes from them.

    Args:
        as_json: Whether it is for machines, which get one value at the end.
        data: What was found, for machines.
        tell: Prints it for people.
        files: They write files while they are gone through.
    """
    written = itertools.chain(*files)
    if as_json:
        paths = [str(path) for path in written]
        say({**data(), "files": paths})
        return
    try:
        tell()
        sys.stdout.flush()
        for path in written:
            print(f"wrote {path}")
    except BrokenPipeError:
        for _ in written:  # whoever reads has enough; the files are wanted all the same
            pass
        raise
