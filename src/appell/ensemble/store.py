"""Where results go, chunk by chunk: memory, or a Zarr folder with a journal that survives being killed.

A chunk counts as done when its line stands in the journal, and its line is written after its data. Every line has a
checksum of itself and one of every file of data, so that a torn line or a damaged chunk is found: by a sweep that goes
on, which makes it again, and by whoever reads it through `Verified`. The description of the study has a checksum and a
copy. All else in the folder, the varied values among it, follows from the settings of the sweep and is compared with
them.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Mapping
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from appell.ensemble.claim import Claim
from appell.ensemble.outcomes import OUTCOMES, WORDS, Outcomes
from appell.errors import StoreError
from appell.files import check_zarr, whole, write_text
from appell.motion.versions import maker

JOURNAL, ABOUT = "journal.jsonl", "study.json"
COPY = "study.copy.json"  # the same once more: without it nothing can be continued
CLAIM = "writer.lock"  # whoever writes holds it
MACHINE = "the machine"
FORMAT = 3
SEAL = "checksum"  # of a description
RESERVED = (
    *("t", "run", "event", "statistic", "sample"),  # axes
    *("outcome", "end", "steps", "lane", "event_time", "event_count", "reason"),
)
"""Names in a study that no quantity may have."""
MEANINGS = {
    "t": {"units": "s"},
    "end": {"units": "s"},
    "event_time": {"units": "s"},
    "outcome": {
        "flag_values": list(range(len(OUTCOMES))), "flag_meanings": " ".join(outcome.name for outcome in OUTCOMES)
    },
}  # fmt: skip
"""What every reader of a study is told."""


class Layout:
    """What is kept of every run.

    Args:
        runs: How many runs.
        chunk: Runs of one chunk.
        grid: The times of the table.
        names: Columns of the table.
        units: Units of these and of what is varied.
        events: Names of events.
        columns: The varied numbers, by the name of their coordinate.
    """

    def __init__(
        self,
        runs: int,
        chunk: int,
        grid: np.ndarray,
        names: list[str],
        units: Mapping[str, str],
        events: list[str],
        columns: Mapping[str, np.ndarray],
    ) -> None:
        self.runs, self.chunk, self.grid, self.names = runs, chunk, grid, names
        self.units, self.events, self.columns = dict(units), events, dict(columns)

    @property
    def chunks(self) -> int:
        """How many chunks."""
        return -(-self.runs // self.chunk)

    def bounds(self, index: int) -> tuple[int, int]:
        """First run of a chunk, and the first behind it."""
        return index * self.chunk, min(self.runs, (index + 1) * self.chunk)

    def arrays(self) -> dict[str, tuple[tuple[str, ...], tuple[int, ...], Any, Any]]:
        """Dimensions, shape, type and filling of every array."""
        n, k, e = self.runs, self.grid.size, len(self.events)
        found: dict[str, tuple[tuple[str, ...], tuple[int, ...], Any, Any]] = {}
        for name in self.names:
            found[name] = ("run", "t"), (n, k), np.float64, np.nan
            found[f"{name}.end"] = ("run",), (n,), np.float64, np.nan
        found["outcome"] = ("run",), (n,), np.int8, -1
        found["end"] = ("run",), (n,), np.float64, np.nan
        found["steps"] = ("run",), (n,), np.int64, -1
        found["lane"] = ("run",), (n,), np.int8, -1
        found["reason"] = ("run",), (n,), WORDS, ""
        if e:
            found["event_time"] = ("run", "event"), (n, e), np.float64, np.nan
            found["event_count"] = ("run", "event"), (n, e), np.int32, -1
        return found

    @property
    def weight(self) -> int:
        """Bytes of one run."""
        return sum(prod(shape[1:]) * np.dtype(kind).itemsize for _, shape, kind, _ in self.arrays().values())

    def attributes(self, name: str) -> dict[str, Any]:
        """What readers are told of an array beside its numbers; starts and ends have the unit of what they are of."""
        return {"units": self.units.get(name.removesuffix(".start").removesuffix(".end"), ""), **MEANINGS.get(name, {})}


class Memory:
    """Results in memory.

    Args:
        layout: What is kept.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout, self.done, self.reasons = layout, set(), {}
        self.makers: list[dict[str, str]] = []
        self.arrays = {name: np.full(shape, fill, kind) for name, (_, shape, kind, fill) in layout.arrays().items()}

    def write(self, index: int, found: Outcomes) -> None:
        """Keep a chunk."""
        first, last = self.layout.bounds(index)
        for name, values in found.arrays.items():
            self.arrays[name][first:last] = values
        _count(self.reasons, found.reasons)
        self.done.add(index)

    def read(self, name: str) -> np.ndarray:
        """All of an array."""
        return self.arrays[name]

    def close(self) -> None:
        """Nobody else writes here."""

    def withdraw(self) -> None:
        """Nothing is left of it."""


class ZarrStore:
    """Results in a Zarr folder.

    Args:
        path: The folder.
        layout: What is kept; None to open what there is.
        about: What the study is, as plain data.
        parts: Checksums of what decides the results, by words that say what it is.
        resume: Whether to go on with what is there already.

    Attributes:
        makers: Versions of what made the chunks, those of who began it first, of who goes on with it last.
    """

    def __init__(
        self, path: Path, layout: Layout, about: Mapping[str, Any], parts: Mapping[str, str], resume: bool
    ) -> None:
        check_zarr("leave out=... (--out) away")
        for name in (*layout.names, *layout.columns):
            if "/" in name or name in ("", ".", ".."):
                raise StoreError(f"{name!r} cannot be the name of a file in {path}; give it one without a slash.")
        self.path, self.layout = path, layout
        self.reasons: dict[str, int] = {}
        self.done: set[int] = set()
        self.damaged: list[int] = []
        if path.exists() and not resume:
            raise StoreError(f"{path} exists already; go on with it by resume=True (--resume), or give another name.")
        self._claim: Claim | None = None
        self.makers, self._begun_here = [maker()], not path.exists()
        try:
            if path.exists():
                self._open(about, parts)
            else:
                self._create(about, parts)
        except BaseException:
            self.close()
            raise

    @cached_property
    def _group(self) -> Any:
        import zarr

        return zarr.open_group(str(self.path), mode="r+", zarr_format=2)

    def _create(self, about: Mapping[str, Any], parts: Mapping[str, str]) -> None:
        if not self.path.parent.is_dir():
            raise StoreError(f"The folder {self.path.parent} does not exist; make it first.")
        known = self._whole()
        stored = {
            "format": FORMAT, "parts": dict(parts), "chunk": self.layout.chunk, "sha256": _checksum(known),
            "whole": list(known), "makers": self.makers,
        }  # fmt: skip
        part = self.path.with_name(self.path.name + f".{os.getpid()}.part")  # until it is whole
        shutil.rmtree(part, ignore_errors=True)
        try:
            for name, data in self._empty(about).items():
                if (part / name).exists():  # on disks of macOS and Windows
                    raise StoreError(
                        f"{name.partition('/')[0]!r} and another name differ in small and capital letters only, which "
                        f"the disk of {self.path} does not tell apart; give one of them another name."
                    )
                (part / name).parent.mkdir(parents=True, exist_ok=True)
                (part / name).write_bytes(data)
            for name in (ABOUT, COPY):
                with open(part / name, "w") as description:
                    description.write(_sealed(stored))
                    description.flush()
                    os.fsync(description.fileno())
            (part / JOURNAL).touch()
            os.replace(part, self.path)
        except StoreError:
            raise
        except OSError as error:
            raise _full(error, f"while {self.path} was made; nothing is lost") from error
        finally:
            shutil.rmtree(part, ignore_errors=True)
        self._begin()

    def _whole(self) -> dict[str, np.ndarray]:
        """The arrays that are known before the first run."""
        return {"t": self.layout.grid, "run": np.arange(self.layout.runs), **self.layout.columns}

    def _empty(self, about: Mapping[str, Any]) -> dict[str, bytes]:
        """The files that follow from the settings: descriptions of arrays, and what is known before the first run."""
        import zarr
        from zarr.storage import MemoryStore

        layout, files = self.layout, {}
        group = zarr.open_group(MemoryStore(files), mode="w", zarr_format=2)
        for name, (dimensions, shape, kind, fill) in layout.arrays().items():
            chunks = (min(layout.chunk, shape[0]), *shape[1:])
            array = group.create_array(name, shape=shape, chunks=chunks, dtype=kind, fill_value=fill)
            array.attrs["_ARRAY_DIMENSIONS"] = list(dimensions)
            array.attrs.update(layout.attributes(name))
        events = {"event": np.array(layout.events)} if layout.events else {}
        for name, values in {**self._whole(), **events}.items():
            array = group.create_array(
                name, shape=values.shape, chunks=values.shape, dtype=values.dtype, fill_value=None
            )
            array.attrs["_ARRAY_DIMENSIONS"] = [name if name in ("t", "event") else "run"]
            array.attrs.update(layout.attributes(name))
            if name in about["labels"]:
                array.attrs["labels"] = about["labels"][name]
            array[:] = values
        group.attrs["appell"] = json.dumps(about)
        group.attrs["coordinates"] = " ".join(layout.columns)
        zarr.consolidate_metadata(MemoryStore(files), zarr_format=2)
        return {name: data.to_bytes() for name, data in files.items()}

    def _mend(self, about: Mapping[str, Any]) -> None:
        """Compare the folder with what follows from the settings, file by file, and replace what differs."""
        try:
            begun = json.loads(json.loads((self.path / ".zattrs").read_text())["appell"])["versions"]
        except (OSError, ValueError, KeyError, TypeError):
            begun = about["versions"]
        try:
            for name, right in self._empty({**about, "versions": begun}).items():
                here = self.path / name
                if not here.is_file() or here.read_bytes() != right:
                    here.parent.mkdir(parents=True, exist_ok=True)
                    with whole(here) as part:
                        part.write_bytes(right)
            for torn in self.path.glob("*/*.partial"):  # of a process that was killed while Zarr wrote
                torn.unlink()
            (self.path / JOURNAL).touch()
        except OSError as error:
            raise _full(error, f"while {self.path} was looked through; nothing is lost") from error

    def _begin(self) -> None:
        """Keep other writers away."""
        self._claim = Claim(self.path / CLAIM)
        if not self._claim.held:
            raise StoreError(
                f"Another process writes to {self.path}; wait until it has ended, then go on with resume=True "
                "(--resume), or give another name."
            )

    def close(self) -> None:
        """Let others write."""
        if self._claim is not None:
            self._claim.release()

    def withdraw(self) -> None:
        """Take the folder back after an error, if it was made here and nothing is in it."""
        if self._begun_here and not self.done:
            self.close()
            shutil.rmtree(self.path, ignore_errors=True)

    def sign(self) -> None:
        """Write down who goes on with the study."""
        self._describe({**read_about(self.path), "makers": self.makers})

    def _open(self, about: Mapping[str, Any], parts: Mapping[str, str]) -> None:
        stored = read_about(self.path)
        differ = [name for name, value in parts.items() if stored["parts"].get(name) != value]
        if MACHINE in differ:
            there, here = stored["parts"].get(MACHINE, "unknown"), parts[MACHINE]
            differ[differ.index(MACHINE)] = f"{MACHINE} (compiled for {there!r} when it was begun, now for {here!r})"
        if differ:
            raise StoreError(
                f"{self.path} holds another study, which differs in: {', '.join(differ)}. "
                "Continue with the settings it was begun with, or give another name."
            )
        self._begin()
        self._describe(stored)
        makers = stored["makers"]
        self.makers = makers if self.makers == makers[-1:] else [*makers, *self.makers]
        self.layout.chunk = int(stored["chunk"])
        self._mend(about)
        for line in read_journal(self.path):
            index = line["chunk"]
            if index in self.done or not 0 <= index < self.layout.chunks:
                continue
            if self._sums(index) == line["files"]:
                self.done.add(index)
                _count(self.reasons, line["reasons"])
            else:
                self.damaged.append(index)
        self._rewrite_journal()

    def _describe(self, stored: Mapping[str, Any]) -> None:
        """Write the description again where it is damaged."""
        try:
            for file in (self.path / ABOUT, self.path / COPY):
                if not file.is_file() or file.read_text(errors="replace") != _sealed(stored):
                    write_text(file, _sealed(stored))
        except OSError as error:
            raise _full(error, f"while {self.path} was looked through; nothing is lost") from error

    def _rewrite_journal(self) -> None:
        """Keep the lines of sound chunks only: a torn line must not stay in the middle."""
        kept: dict[int, dict[str, Any]] = {}
        for line in read_journal(self.path):
            if line["chunk"] in self.done:
                kept.setdefault(line["chunk"], line)
        try:
            with whole(self.path / JOURNAL) as part:
                part.write_text("".join(_signed(line) for line in kept.values()))
        except OSError as error:
            raise _full(error, f"while {self.path} was looked through; nothing is lost") from error

    def _sums(self, index: int) -> dict[str, int | None]:
        """Checksums of the files of a chunk, by name in the folder."""
        found = {}
        for name, (_, shape, *_) in self.layout.arrays().items():
            file = f"{name}/{index}" + ".0" * (len(shape) - 1)
            try:
                content = (self.path / file).read_bytes()
            except OSError:
                content = None
            found[file] = sum_of(content)
        return found

    def write(self, index: int, found: Outcomes) -> None:
        """Keep a chunk: first its data, then its line in the journal."""
        first, last = self.layout.bounds(index)
        try:
            for name, values in found.arrays.items():
                self._group[name][first:last] = values
            line = {
                "chunk": index, "runs": [first, last], "files": self._sums(index), "reasons": found.reasons,
            }  # fmt: skip
            with open(self.path / JOURNAL, "a") as journal:
                journal.write(_signed(line))
                journal.flush()
                os.fsync(journal.fileno())
        except OSError as error:
            words = f"{len(self.done)} of {self.layout.chunks} chunks are safe in {self.path}"
            raise _full(error, f"at chunk {index}; {words}: make room and go on with resume=True (--resume)") from error
        _count(self.reasons, found.reasons)
        self.done.add(index)

    def read(self, name: str) -> Any:
        """An array, read from disk where it is looked at."""
        return self._group[name]


Sink = Memory | ZarrStore
"""What takes chunks."""


def read_about(path: Path) -> dict[str, Any]:
    """The description of a study on disk."""
    faults: list[Exception] = []
    for name in (ABOUT, COPY):
        try:
            return _described(path / name)
        except (OSError, ValueError, KeyError, TypeError) as error:
            faults.append(error)
    fault = faults[0]
    if not (path / JOURNAL).is_file():
        raise StoreError(f"{path} is not a study written by appell ({fault}); give another name.") from fault
    if isinstance(fault, _OtherFormat):
        raise StoreError(f"{path} was written by another version of appell ({fault}); give another name.") from fault
    raise StoreError(
        f"{path / ABOUT} is damaged ({fault}), and so is its copy {COPY}: which study this is cannot be told, and it "
        "cannot be continued. Begin anew under another name; xarray.open_zarr reads what is in the folder."
    ) from fault


class _OtherFormat(ValueError):
    """A description is written in another way."""


def _described(file: Path) -> dict[str, Any]:
    """What a file says about a study; raises unless it says what was written."""
    stored = json.loads(file.read_text())
    if stored["format"] != FORMAT:
        raise _OtherFormat(f"format {stored['format']}, this is {FORMAT}")
    if stored.pop(SEAL) != _short_sum(_plain(stored)):
        raise ValueError("its checksum is that of other words")
    return stored


def check_whole(path: Path, data: Any) -> None:
    """Raise if values in a dataset on disk that were known before the first run are not what was written."""
    stored = read_about(path)
    if _checksum({name: data[name].values for name in stored["whole"]}) != stored["sha256"]:
        raise ValueError(f"{', '.join(stored['whole'])} are not what was written")


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The lines of a journal that are whole."""
    found = []
    for text in (path / JOURNAL).read_text(errors="replace").splitlines():
        checksum, _, body = text.partition(" ")
        if _short_sum(body) != checksum:
            continue
        found.append(json.loads(body))
    return found


def sum_of(content: bytes | None) -> int | None:
    """The checksum of a file; None of one that is not there: Zarr writes no chunk that holds its filling only."""
    return None if content is None else zlib.crc32(content)


def _signed(line: Mapping[str, Any]) -> str:
    return f"{_short_sum(_plain(line))} {_plain(line)}\n"


def _sealed(stored: Mapping[str, Any]) -> str:
    """A description with the checksum of its words."""
    return _plain({**stored, SEAL: _short_sum(_plain(stored))})


def _plain(data: Mapping[str, Any]) -> str:
    return json.dumps(data, sort_keys=True)


def _short_sum(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def _checksum(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def _count(total: dict[str, int], more: Mapping[str, int]) -> None:
    for reason, number in more.items():
        total[reason] = total.get(reason, 0) + number


def _full(error: OSError, words: str) -> StoreError:
    reason = "The disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else f"Writing failed ({error})"
    return StoreError(f"{reason} {words}.")
