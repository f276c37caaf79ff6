"""A study's folder as Zarr reads it: chunks that the journal has, each compared with it when it is read."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from zarr.storage import LocalStore

from appell.ensemble.store import read_about, read_journal, sum_of
from appell.errors import StoreError


class Verified(LocalStore):
    """A folder that raises where a file of a finished chunk is not what was written, and has none of unfinished ones.

    Opening costs nothing but the journal; a checksum takes a fraction of the time that decoding does.
    """

    @cached_property
    def _known(self) -> frozenset[str]:
        """The arrays that were there before the first run."""
        return frozenset((*read_about(self.root)["whole"], "event"))

    @cached_property
    def _written(self) -> dict[str, int | None]:
        """The checksum of every file of finished chunks; None where nothing needed to be written."""
        return {name: e for line in read_journal(self.root) for name, e in line["files"].items()}

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        """The content of a file, as Zarr asks for it."""
        return None if self._unfinished(key) else self._compared(key, await super().get(key, prototype, byte_range))

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        """The same at once."""
        found = None if self._unfinished(key) else super().get_sync(key, prototype=prototype, byte_range=byte_range)
        return self._compared(key, found)

    def _unfinished(self, key: str) -> bool:
        """Whether a file is one of a chunk that is not in the journal: some of its files may be there, others not."""
        name, _, place = key.rpartition("/")
        return place[:1].isdigit() and name not in self._known and key not in self._written

    def _compared(self, key: str, found: Any) -> Any:
        if key in self._written and sum_of(None if found is None else found.to_bytes()) != self._written[key]:
            name, _, place = key.rpartition("/")
            harm = "is missing" if found is None else "is not what was written"
            raise StoreError(
                f"Chunk {place.partition('.')[0]} of {name!r} in {self.root} {harm}. Go on with the sweep that made it "
                "and resume=True (--resume): what is damaged is found and made again."
            )
        return found
