"""Sweep: one system, many runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from appell.code.system import System
from appell.ensemble.cases import cases, own_rate
from appell.ensemble.design import design
from appell.ensemble.local import cores, room, run_here
from appell.ensemble.plan import Plan
from appell.ensemble.remade import check_maker
from appell.ensemble.settings import Settings
from appell.ensemble.store import Layout, Memory, Sink, ZarrStore
from appell.ensemble.study import Study, assembled
from appell.errors import IntegrationError, ModelError, StoreError
from appell.model.values import whole
from appell.motion.events import Event

ELSEWHERE = 32  # threads that a cluster may have


def sweep(
    system: System,
    over: Mapping[Any, Any] | Sequence[Mapping[Any, float]],
    *,
    runs: int | None = None,
    sampling: str = "random",
    seed: int = 0,
    start: Any = None,
    until: float | None = None,
    method: str = "auto",
    rtol: float = 1e-9,
    atol: float | None = None,
    points: int = 101,
    at: Any = None,
    events: Sequence[Event] = (),
    outputs: Mapping[str, Any] | None = None,
    columns: Sequence[Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    control: Any = None,
    rate: float | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    chunk: int | None = None,
    workers: int | None = None,
    cluster: Any = None,
    progress: bool | None = None,
    max_steps: int = 1_000_000,
    corners: str = "locate",
) -> Study:
    """Make many runs of a system, side by side in SIMD lanes on all cores, or on a cluster.

    Every run has the numbers that `simulate` with `method="dop853"` gives, whatever the number of workers and chunks. A
    run that fails is written down with its reason and disturbs no other.

    Args:
        system: A system with numbers for all that is not varied.
        over: What to vary. By name (parameter, input, starting value of a coordinate, rate, speed or extra state):
            values, of which all combinations are run, or a distribution (`appell.ensemble.Uniform`, `Normal`,
            `LogUniform`). Inputs may be varied over formulas, "control" over Python functions, "start" over states. A
            list of dictionaries or a pandas table gives the runs one by one.
        runs: How many samples are drawn from distributions.
        sampling: `"random"`, `"latin"` (Latin hypercube) or `"sobol"`.
        seed: Seed of the random numbers.
        start: Where runs begin, apart from what is varied: a state, values by name, or None for the model's suggestion.
        until: The time at which runs end; the model's suggestion if left out.
        method: `"auto"`: lanes where they serve, else run by run as `simulate` does; or a method of `simulate`.
        rtol: Relative tolerance.
        atol: Absolute tolerance; as rtol if left out.
        points: How many times, evenly spread, runs are tabulated at.
        at: Instead: the times themselves.
        events: Zeros to locate; the first time and the number of each are kept, stops end a run.
        outputs: Further quantities to tabulate: name -> formula.
        columns: Which quantities are kept beside the outputs; all if left out.
        inputs: Inputs as numbers, formulas (also in new parameters, which can then be varied), or functions of t.
        control: A Python function (t, state) -> values of the open inputs. Every run has its own copy of what it
            remembers.
        rate: Samples per second of a control: it is called at regular times only, and its output is held in between. If
            left out it acts continuously; a sampled feedback keeps its own rate.
        out: A folder `name.zarr` to which results are appended as they come.
        resume: Continue the study in that folder.
        chunk: How many runs are computed and written at a time; chosen by size if left out.
        workers: How many cores; all of them if left out.
        cluster: Address of a Dask scheduler, `"tcp://host:8786"`, or a Dask client.
        progress: Whether to show a bar; on terminals by default.
        max_steps: Most steps that a run may take.
        corners: `"locate"`: corners and jumps of the equations (Min, Max, Abs, sign, Piecewise) are located;
            `"cross"`: corners (Min, Max, Abs) are stepped over under the control of the error, many times faster: the
            results are as good as the tolerance, not better.

    Returns:
        The study; after Ctrl-C with what was computed.

    Example:
        >>> import appell as ap
        >>> system = ap.compile(ap.derive(ap.library.pendulum_chain(2))).bind()
        >>> study = ap.sweep(system, {"q1": [0.1, 0.2], "l": [0.5, 1.0, 2.0]}, until=1.0, points=3)
        >>> study["q1"].shape, study.outcomes
        ((6, 3), {'DONE': 6})
    """
    if not isinstance(system, System):
        raise IntegrationError(
            f"Only a System can be swept, got {type(system).__name__}; write compile(derive(model)).bind(...)."
        )
    began = time.perf_counter()
    table = design(over, runs, sampling, seed)
    for name, value in (("max_steps", max_steps), ("points", points), ("chunk", chunk), ("workers", workers)):
        if value is not None or name in ("max_steps", "points"):
            whole(name, value)
    _check_words(columns, {"outputs": outputs, "inputs": inputs})
    _check_folder(out, resume)
    found, which = cases(system, table, inputs, control, start)
    rate = own_rate(found) if rate is None else rate
    settings = Settings.of(
        system.model, found[0].start, until, method=method, rtol=rtol, atol=atol, points=points, at=at, events=events,
        outputs=outputs, max_steps=max_steps, corners=corners, columns=columns, rate=rate,
    )  # fmt: skip
    plan = Plan.of(table, found, which, settings)
    count = ELSEWHERE if cluster is not None else workers or cores()
    layout = plan.layout(chunk, 1, count) if cluster is None and plan.together else plan.layout(chunk, count)
    path = None if out is None else Path(out)
    _check_room(layout, path is None)
    with _where(plan, cluster, count) as make:  # before anything is written
        sink = Memory(layout) if path is None else ZarrStore(path, layout, plan.about(), plan.parts(), resume)
        try:
            check_maker(plan, sink)
            where = make(sink, progress)
        except BaseException:
            sink.withdraw()
            raise
        finally:
            sink.close()
    info = {**plan.about(), "reasons": sink.reasons, "where": where, "seconds": time.perf_counter() - began}
    info["makers"] = sink.makers
    return assembled(sink.read, layout, info, path, plan.motion)


@contextmanager
def _where(plan: Plan, cluster: Any, count: int) -> Iterator[Callable[[Sink, bool | None], str]]:
    """What makes chunks: so many cores here, or a cluster."""
    if cluster is None:
        yield lambda sink, progress: run_here(plan, sink, count, progress)
        return
    from appell.ensemble.cluster import reached

    with reached(plan, cluster) as make:
        yield make


def _check_words(columns: Any, formulas: Mapping[str, Any]) -> None:
    if columns is not None and (isinstance(columns, str) or not isinstance(columns, Sequence)):
        raise ModelError(f"columns must be a list of names, for example columns=['x', 'y.rate']; got {columns!r}.")
    for name, value in formulas.items():
        if value is not None and not isinstance(value, Mapping):
            raise ModelError(f"{name} must be formulas by name, {name}={{name: formula}}; got {value!r}.")


def _check_folder(out: Any, resume: bool) -> None:
    if out is not None and (not isinstance(out, str | Path) or Path(out).suffix != ".zarr"):
        raise ModelError(f"Give a folder that ends in .zarr, got out={str(out)!r}.")
    if resume and out is None:
        raise ModelError("resume=True (--resume) needs the folder to go on with: out='study.zarr' (--out study.zarr).")


def _check_room(layout: Layout, in_memory: bool) -> None:
    """Refuse what the system would end without a word, perhaps after hours."""
    runs, free = layout.runs if in_memory else min(layout.chunk, layout.runs), room()
    if runs * layout.weight > free:
        disk = "to disk, out='study.zarr' (--out), or " if in_memory else ""
        raise StoreError(
            f"The table of {runs:,} runs{'' if in_memory else ' of one chunk'} takes {runs * layout.weight / 1e9:.3g} "
            f"GB, and {free / 1e9:.3g} GB of memory are free. Write it {disk}with fewer columns (--columns), points "
            "(--points) or runs."
        )
