"""Ctrl-C ends a run at its next step instead of throwing away what was computed, and is never lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from appell.motion.outcome import Outcome

if TYPE_CHECKING:
    from appell.motion.motion import Motion


@contextmanager
def interrupts(wish: Callable[[], None]) -> Iterator[None]:
    """Tell the wish to stop while this lasts.

    Only the main thread hears the keyboard, and a program that does not listen to it, such as one in the background of
    a shell, is left alone.

    Args:
        wish: Called when Ctrl-C is pressed.
    """
    if threading.current_thread() is not threading.main_thread() or not callable(signal.getsignal(signal.SIGINT)):
        yield
        return
    old = signal.signal(signal.SIGINT, lambda *_: wish())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)


def hand_on() -> None:
    """Ctrl-C came when a run was over: it is for who wanted the run."""
    signal.raise_signal(signal.SIGINT)


def uninterrupted(motion: Motion) -> Motion:
    """A run that is a part of something, which ends with it where it was interrupted."""
    if motion.outcome is Outcome.INTERRUPTED:
        raise KeyboardInterrupt
    return motion
