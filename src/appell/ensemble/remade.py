"""A study that others began: whether what goes on with it gives the same numbers.

Whoever mends a word in an editable installation, or updates a library, may go on with a study of a week; whoever gets
other numbers may not, since half of the study would then be of another kind.
"""

from __future__ import annotations

import numpy as np

from appell.ensemble.engine import unwatched
from appell.ensemble.plan import Plan, made
from appell.ensemble.store import Sink, ZarrStore
from appell.errors import StoreError
from appell.motion.versions import in_words

REMADE = 4  # runs that are made again


def check_maker(plan: Plan, sink: Sink) -> None:
    """Make some finished runs of a study again if other versions began it; raise unless they come out bit for bit.

    Args:
        plan: The sweep.
        sink: Where its results are.
    """
    if not isinstance(sink, ZarrStore) or len(sink.makers) < 2 or len(sink.done) == sink.layout.chunks:
        return
    if sink.done:
        runs = np.concatenate([np.arange(*sink.layout.bounds(index)) for index in sorted(sink.done)])
        runs = runs[np.unique(np.linspace(0, runs.size - 1, REMADE).astype(int))]
        found = made(plan.runners, plan.columns(runs), plan.which[runs], unwatched)
        del found.arrays["reason"]  # words may have been mended
        for name, values in found.arrays.items():
            stored = np.array([sink.read(name)[int(run)] for run in runs])
            if not np.array_equal(values, stored, equal_nan=True):
                off = np.flatnonzero([not np.array_equal(*e, equal_nan=True) for e in zip(values, stored, strict=True)])
                raise StoreError(
                    f"{sink.path} was begun by {in_words(sink.makers[0])}; now {in_words(sink.makers[-1])} gives other "
                    f"numbers: {name} of run {runs[off[0]]}, made again, is not what is there. Go on with what it was "
                    "begun with, on a processor of the same kind, or give another name."
                )
    sink.sign()
