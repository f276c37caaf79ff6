"""A Dask cluster by its address: chunks go out, results come back, and what a dead worker had goes to another."""

from __future__ import annotations

import asyncio
import logging
import pickle
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from appell.ensemble.blueprint import Refusal, asked, written
from appell.ensemble.plan import Plan
from appell.ensemble.store import Sink, ZarrStore
from appell.errors import AppellError, ClusterError
from appell.motion.progress import Progress

ANSWER = 10.0  # seconds in which a scheduler must answer
PATIENCE = 120.0  # seconds without any worker after which the sweep gives up
GONE = "The scheduler is gone."
TRIES = 5  # workers that may die over one chunk


def check_address(cluster: Any) -> None:
    """Refuse what is no address of a scheduler."""
    if not isinstance(cluster, str) or not re.fullmatch(r"(tcp|tls)://\S+:\d+", cluster):
        raise ClusterError(f"Give the address of a Dask scheduler, 'tcp://host:8786', or a client; got {cluster!r}.")


async def _knock(address: str) -> None:
    """Raise if nobody answers; a client that finds out by itself waits long to be closed, and says so."""
    from distributed import Security
    from distributed.comm.core import connect

    comm = await connect(address, timeout=ANSWER, **Security().get_connection_args("client"))
    await comm.close()


@contextmanager
def _client(cluster: Any) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError('Clusters need Dask: `pip install "appell[cluster]"`.') from None
    if isinstance(cluster, Client):
        yield cluster
        return
    check_address(cluster)
    try:
        with ThreadPoolExecutor(1) as thread:  # the caller's own may have a loop already, as in notebooks
            thread.submit(asyncio.run, _knock(cluster)).result()
        client = Client(cluster, timeout=ANSWER, set_as_default=False)
    except Exception as error:  # what another kind of server says may break anything
        raise ClusterError(
            f"No Dask scheduler answers at {cluster!r} ({type(error).__name__}). Start one with `dask scheduler`, and "
            "workers with `dask worker ADDRESS`; nothing was computed."
        ) from error
    log = logging.getLogger("distributed.client")  # its tracebacks about a lost scheduler are told in words here
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield client
    finally:
        client.close(timeout=5)
        log.setLevel(level)


@contextmanager
def reached(plan: Plan, cluster: Any) -> Iterator[Callable[[Sink, bool | None], str]]:
    """A cluster that answers, for a plan that can travel: what makes all chunks there that are not done yet.

    It takes where results go and whether to show a bar, and returns words about where they were made.
    """
    blueprint = written(plan)
    with _client(cluster) as client:

        def make(sink: Sink, progress: bool | None) -> str:
            address = client.scheduler.address
            try:
                return _run(plan, sink, client, blueprint, progress)
            except ClusterError as error:
                safe = ""
                if isinstance(sink, ZarrStore) and sink.done:
                    kept = f"{len(sink.done)} of {sink.layout.chunks} chunks are done and safe in {sink.path}"
                    safe = f"; {kept}: go on with resume=True (--resume)"
                raise ClusterError(f"{error} (scheduler {address}){safe}") from error

        yield make


def _run(plan: Plan, sink: Sink, client: Any, blueprint: bytes, progress: bool | None) -> str:
    layout = sink.layout
    left = [i for i in reversed(range(layout.chunks)) if i not in sink.done]
    made = plan.runs - sum(layout.bounds(i)[1] - layout.bounds(i)[0] for i in left)
    tries: dict[int, int] = {}
    waiting: dict[Any, int] = {}
    seen: set[str] = set()
    refused: dict[str, str] = {}  # workers that cannot make these runs, and why
    lonely = time.monotonic()

    def submit() -> None:
        """Keep every thread of the cluster busy, and one chunk more for each."""
        nonlocal lonely
        with _scheduler():
            threads = {address: count for address, count in client.nthreads().items() if address not in refused}
        seen.update(threads)
        if threads:
            lonely = time.monotonic()
        while left and (threads or not refused) and len(waiting) < max(2, 2 * sum(threads.values())):
            index = left.pop()
            first, last = layout.bounds(index)
            columns, which = plan.columns(slice(first, last)), plan.which[first:last]
            name = f"appell-runs-{uuid.uuid4().hex}"
            with _scheduler():
                future = client.submit(
                    pickle.loads, asked(blueprint, columns, which), key=name, retries=0,
                    workers=list(threads) if refused else None, allow_other_workers=bool(refused),
                )  # fmt: skip
            waiting[future] = index

    with Progress(0, plan.runs, progress, "sweeping on the cluster") as bar:
        try:
            while left or waiting:
                submit()
                for future in _finished(waiting, client):
                    index = waiting.pop(future)
                    try:
                        found = _result(future, index, tries, left, client)
                    except Refusal as refusal:
                        refused[refusal.address], found = refusal.words, None
                        left.append(index)
                    if found is not None and index not in sink.done:
                        sink.write(index, found)
                        first, last = layout.bounds(index)
                        made += last - first
                    future.release()
                bar(made)
                if refused and not seen - {*refused}:
                    raise ClusterError(f"{_refusing(refused)}.")
                if time.monotonic() - lonely > PATIENCE:
                    raise ClusterError(f"There was no worker for {PATIENCE:g} s.")
        except KeyboardInterrupt:
            client.cancel(list(waiting))
        except BaseException:
            with suppress(Exception):  # the scheduler may be gone
                client.cancel(list(waiting))
            raise
    count = len(seen - {*refused})
    words = f"{count} {'worker' if count == 1 else 'workers'} of {client.scheduler.address}"
    return f"{words} ({_refusing(refused)})" if refused else words


def _refusing(refused: Mapping[str, str]) -> str:
    """Which workers refused, and why the first of them did."""
    return f"A worker refuses, {', '.join(refused)}: {next(iter(refused.values())).rstrip('.')}"


@contextmanager
def _scheduler() -> Iterator[None]:
    """Says what it means that the scheduler does not answer."""
    try:
        yield
    except (OSError, TimeoutError, RuntimeError) as error:
        raise ClusterError(GONE) from error


def _finished(waiting: dict[Any, int], client: Any) -> list[Any]:
    """Futures that are done, after a moment of waiting."""
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        done = [future for future in waiting if future.done()]
        if done:
            return done
        if client.status not in ("running", "connecting"):
            raise ClusterError(GONE)
        time.sleep(0.01)
    return []


def _result(future: Any, index: int, tries: dict[int, int], left: list[int], client: Any) -> Any:
    """What a chunk gave; None if it goes out once more."""
    from distributed import KilledWorker

    try:
        return future.result(timeout=ANSWER)
    except Refusal:
        raise
    except AppellError as error:
        raise ClusterError(f"A worker refuses: {error}") from error
    except ImportError as error:
        raise ClusterError(f'A worker cannot work ({error}): `pip install "appell[cluster]"` there.') from error
    except Exception as error:  # a worker died over it, or lost its result
        if client.status != "running":
            raise ClusterError(GONE) from error
        tries[index] = tries.get(index, 0) + 1
        if tries[index] >= TRIES:
            words = "killed its workers" if isinstance(error, KilledWorker) else f"failed ({error})"
            raise ClusterError(f"Chunk {index} {words} {TRIES} times.") from error
        left.append(index)
        return None
