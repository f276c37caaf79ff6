"""One writer: a study on disk belongs to one process at a time."""

from __future__ import annotations

import errno
from pathlib import Path

BEHIND = 2**30  # where the byte of a file is that stands for all of it


class Claim:
    """Keeps other processes from writing to what a file stands for.

    The system gives it back when the process ends, however it ends. Where files cannot be locked, as on some network
    disks, everybody gets it.

    Args:
        path: The file, made if it is not there. Nothing may be put in its place: the claim would stay with the old one.
    """

    def __init__(self, path: Path) -> None:
        self._file = open(path, "ab")  # as long as the claim is held
        self.held = self._lock()

    def _lock(self) -> bool:
        try:
            import fcntl
        except ImportError:
            return self._lock_on_windows()
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def _lock_on_windows(self) -> bool:
        """One byte far behind the end, where it keeps nobody from reading."""
        try:
            import msvcrt
        except ImportError:
            return True
        try:
            self._file.seek(BEHIND)
            msvcrt.locking(self._file.fileno(), msvcrt.LK_NBLCK, 1)  # pyright: ignore[reportAttributeAccessIssue]
        except OSError as error:
            return error.errno not in (errno.EACCES, errno.EDEADLOCK)
        return True

    def release(self) -> None:
        """Let others write."""
        self._file.close()
