"""A study's folder as Zarr reads it, every chunk compared with the journal when it is read."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from zarr.storage import LocalStore

from appell.ensemble.store import StoreError, read_journal, sum_of


class Verified(LocalStore):
    """A folder that raises where a file of a finished chunk is not what was written.

    Opening costs nothing but the journal; a checksum takes a fraction of the time that decoding does.
    """

    @cached_property
    def _written(self) -> dict[str, int | None]:
        """The checksum of every file of finished chunks; None where nothing needed to be written."""
        return {name: e for line in read_journal(self.root) for name, e in line["files"].items()}

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        """The content of a file, as Zarr asks for it."""
        return self._compared(key, await super().get(key, prototype, byte_range))

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        """The same at once."""
        return self._compared(key, super().get_sync(key, prototype=prototype, byte_range=byte_range))

    def _compared(self, key: str, found: Any) -> Any:
        if key in self._written and sum_of(None if found is None else found.to_bytes()) != self._written[key]:
            name, _, place = key.rpartition("/")
            harm = "is missing" if found is None else "is not what was written"
            raise StoreError(
                f"Chunk {place.partition('.')[0]} of {name!r} in {self.root} {harm}. Go on with the sweep that made it "
                "and resume=True (--resume): what is damaged is found and made again."
            )
        return found
