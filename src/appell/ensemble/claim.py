"""One writer: a study on disk belongs to one process at a time."""

from __future__ import annotations

from pathlib import Path


class Claim:
    """Keeps other processes from writing to what a file stands for.

    The system gives it back when the process ends, however it ends. Where files cannot be locked, as on Windows and on
    some network disks, everybody gets it.

    Args:
        path: The file; it is only read.
    """

    def __init__(self, path: Path) -> None:
        self._file = open(path)  # as long as the claim is held
        self.held = self._lock()

    def _lock(self) -> bool:
        try:
            import fcntl
        except ImportError:
            return True
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def release(self) -> None:
        """Let others write."""
        self._file.close()
