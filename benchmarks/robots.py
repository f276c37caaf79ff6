"""A seven-axis arm with arbitrary axes and inertia: forces, accelerations and force rates against the peers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from appell.higher_order import Dynamics
from benchmarks.models import same
from benchmarks.robot_arms import Pinocchio, arm, jax_forces
from benchmarks.table import Comparison, Comparisons
from benchmarks.table import count as counted
from benchmarks.timing import WALL, by_turns, per_call

BATCH, RATES = 20.0, 10.0


def run(quick: bool) -> Comparisons:
    """Inverse and forward dynamics, one state and many; tau to tau'''' of one state and of many."""
    chain, count = arm(3 if quick else 7), 5_000 if quick else 100_000
    robot, rng = Dynamics(chain), np.random.default_rng(0)
    # Derivatives by joints by states in memory, as `Dynamics` computes them; its arrays are views with states first.
    Q = np.moveaxis(rng.normal(size=(robot.n, 3, count)), -1, 0)
    few = max(200, count // 50)
    q, v, a = (np.ascontiguousarray(Q[:few, :, r]) for r in range(3))
    rows = [*_pinocchio(robot, Q, (q, v, a), quick), *_jax(robot, rng, quick)]
    return Comparisons(
        f"9. Robots: {robot.chain.name}, one state and {counted(count)} states",
        rows,
        [
            f"Ours: {robot.operations(2)} operations for tau, {robot.operations(6)} for tau to tau''''.",
            "Pinocchio's own call for many states shares them among the same number of threads.",
        ],
    )


def _pinocchio(robot: Dynamics, Q: np.ndarray, few: tuple[np.ndarray, ...], quick: bool) -> list[Comparison]:
    try:
        peer = Pinocchio(robot.chain)
    except ImportError:
        note = 'pinocchio is not installed; pip install "appell[peers]"'
        return [Comparison("inverse dynamics", np.nan, "Pinocchio rnea", None, note=note)]
    q, v, a = few
    forward = robot.forward(q, v, a[..., None])[..., 2]
    same("Pinocchio rnea", robot.inverse(np.stack(few, -1))[..., 0], peer.inverse(q, v, a))
    same("Pinocchio aba", forward, peer.forward(q, v, a))
    ours: dict[str, Callable[[], Any]] = {
        "inverse dynamics": lambda: robot.inverse(Q),
        "forward dynamics": lambda: robot.forward(Q[..., 0], Q[..., 1], Q[..., 2:]),
    }
    theirs = {"inverse dynamics": lambda: peer.inverse(q, v, a), "forward dynamics": lambda: peer.forward(q, v, a)}
    together = _in_parallel(peer, Q)
    others = {f"peer {name}": f for name, f in theirs.items()} | {f"pool {name}": f for name, f in together.items()}
    best = by_turns({**ours, **others}, 3 if quick else 15, clock=WALL)
    target = None if quick else BATCH
    rows = [
        Comparison(
            f"{name}, batch",
            best[name] / len(Q),
            f"Pinocchio {word}, Python loop",
            best[f"peer {name}"] / len(q),
            target,
        )
        for name, word in (("inverse dynamics", "rnea"), ("forward dynamics", "aba"))
    ]
    rows += [
        Comparison(
            f"{name}, batch", best[name] / len(Q), f"Pinocchio {word}InParallel", best[f"pool {name}"] / len(Q),
            None if quick else 1.0,
        )
        for name, word in (("inverse dynamics", "rnea"), ("forward dynamics", "aba"))
        if name in together
    ]  # fmt: skip
    one = np.ascontiguousarray(Q[0])
    pin, model, data = peer.pin, peer.model, peer.data
    fresh = Dynamics(robot.chain)  # without the machine code of the batch
    single = per_call(
        {
            "ours": lambda: fresh.inverse(one),
            "theirs": lambda: pin.rnea(model, data, q[0], v[0], a[0]),
        }
    )
    return [*rows, Comparison("inverse dynamics, one state", single["ours"], "Pinocchio rnea", single["theirs"])]


def _in_parallel(peer: Pinocchio, Q: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Pinocchio's calls for many states, where its build has them."""
    pin = peer.pin
    if not hasattr(pin, "rneaInParallel"):
        return {}
    threads = os.cpu_count() or 1
    pool = pin.ModelPool(peer.model, threads)
    q, v, a = (np.asfortranarray(Q[..., r].T) for r in range(3))
    return {
        "inverse dynamics": lambda: pin.rneaInParallel(threads, pool, q, v, a),
        "forward dynamics": lambda: pin.abaInParallel(threads, pool, q, v, a),
    }


def _jax(robot: Dynamics, rng: np.random.Generator, quick: bool) -> list[Comparison]:
    what = "tau, tau', tau'', tau''', tau''''"
    try:
        import jax

        function = jax_forces(robot.chain, 4)
    except ImportError:
        note = 'jax is not installed; pip install "appell[peers]"'
        return [Comparison(what, np.nan, "jax.experimental.jet, jit", None, RATES, note=note)]
    many = 500 if quick else 5_000
    Q = np.moveaxis(rng.normal(size=(robot.n, 7, many)), -1, 0)
    one, some = np.ascontiguousarray(Q[0]), np.ascontiguousarray(Q[:500])
    spread = jax.jit(jax.vmap(function))
    same("jax.experimental.jet", robot.inverse(Q[:20]), np.asarray(spread(Q[:20])))
    batch = by_turns(
        {"ours": lambda: robot.inverse(Q), "theirs": lambda: spread(some).block_until_ready()},
        3 if quick else 9,
        clock=WALL,
    )
    single = per_call({"ours": lambda: robot.inverse(one), "theirs": lambda: function(one).block_until_ready()}, 20)
    target = None if quick else RATES
    return [
        Comparison(f"{what}, one state", single["ours"], "jax.experimental.jet, jit", single["theirs"], target),
        Comparison(f"{what}, batch", batch["ours"] / many, "the same under vmap", batch["theirs"] / len(some), target),
    ]
