"""Ctrl-C ends a run at its next step instead of throwing away what was computed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interrupts(wish: Callable[[], None]) -> Iterator[None]:
    """Tell the wish to stop while this lasts; only the main thread hears the keyboard.

    Args:
        wish: Called when Ctrl-C is pressed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.signal(signal.SIGINT, lambda *_: wish())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)
