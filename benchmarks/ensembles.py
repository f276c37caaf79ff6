"""Many runs at once: triple pendulums and chains of seven links, against diffrax and heyoka's own ensembles."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
import sympy.physics.mechanics as me

import appell as ap
from appell.code import heyoka_code
from appell.ensemble.local import cores
from appell.graph.replay import replay
from benchmarks.models import GRAVITY, LENGTH, MASS, Chain, appell_system, kane_system
from benchmarks.table import Comparison, Comparisons
from benchmarks.triple_pendulum import reference

UNTIL, TOLERANCE = 10.0, 1e-9
ORDERS = range(5, 17)  # of heyoka's Taylor series: a tolerance does no more there than choose the order
PROBES = 32  # runs whose error is measured
SOON = 3.0  # when: later the motion is chaotic and says little about the method


def starts(chain: Chain, count: int) -> np.ndarray:
    """Random angles at rest, one start in each column."""
    q = np.random.default_rng(1).uniform(-1, 1, (chain.links, count))
    return np.concatenate([q, np.zeros_like(q)])


def swept(system: ap.System, x: np.ndarray, until: float, tolerance: float) -> np.ndarray:
    """The states at the end by appell."""
    names = [f"q{i + 1}" for i in range(x.shape[0] // 2)]
    table = [dict(zip(names, column, strict=False)) for column in x.T]
    study = ap.sweep(system, table, until=until, rtol=tolerance, points=2, progress=False)
    return np.array([study[f"{name}.end"].values for name in study.info["columns"]])


Field = Callable[[Any, Any, Any], Any]


def appell_field(system: ap.System) -> Field:
    """x' for JAX, operation by operation from appell's graph."""
    import jax.numpy as jnp

    function, p = system.to_casadi(), [float(e) for e in system.p]
    algebra: dict[str, Any] = {
        "assign": lambda a: a, "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b, "neg": lambda a: -a, "sq": lambda a: a * a, "twice": lambda a: 2 * a,
        "inv": lambda a: 1 / a, "sin": jnp.sin, "cos": jnp.cos, "sqrt": jnp.sqrt,
    }  # fmt: skip
    return lambda t, x, _: jnp.stack(replay(function, [[t], list(x), [], p], algebra, float)[0])


def kane_field(chain: Chain) -> Field:
    """x' for JAX from SymPy's KanesMethod by lambdify with common parts eliminated, and JAX's solve."""
    import jax.numpy as jnp

    kane, n = kane_system(chain), chain.links
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    matrices = sp.lambdify([*q, *u, *sp.symbols("m l g")], [kane.M, kane.F], modules="jax", cse=True)

    def field(t: Any, x: Any, _: Any) -> Any:
        M, F = matrices(*x, MASS, LENGTH, GRAVITY)
        return jnp.concatenate([x[n:], jnp.linalg.solve(M, F[:, 0])])

    return field


def diffrax_ensemble(field: Callable[[], Field]) -> Callable[[np.ndarray, float, float], np.ndarray]:
    """Dopri8 under vmap, compiled by XLA in double precision; raises ImportError where JAX or diffrax is not there."""
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    term = diffrax.ODETerm(field())

    def solve(x: Any, until: Any, tolerance: Any) -> Any:
        control = diffrax.PIDController(rtol=tolerance, atol=tolerance)
        return diffrax.diffeqsolve(
            term, diffrax.Dopri8(), 0.0, until, None, x, stepsize_controller=control, max_steps=100_000
        ).ys[-1]

    mapped = jax.jit(jax.vmap(solve, (0, None, None)))
    return lambda x, until, tolerance: np.asarray(mapped(jnp.asarray(x.T), until, tolerance)).T


def heyoka_ensemble(system: ap.System, tolerance: float, compact: bool) -> Callable[[np.ndarray, float], np.ndarray]:
    """heyoka's batch ensemble of Taylor integrators on the same graph."""
    import heyoka as hy

    n, width = system.equations.x.numel(), hy.recommended_simd_size(float)
    letters, constants = heyoka_code.variables(n), heyoka_code.parameters(system.p.size)
    rates = heyoka_code.expressions(system.to_casadi(), [[hy.time], letters, [], constants])[0]
    batch = hy.taylor_adaptive_batch(
        list(zip(letters, rates, strict=True)), np.zeros((n, width)), tol=tolerance, compact_mode=compact,
        pars=np.repeat(system.p[:, None], width, axis=1),
    )  # fmt: skip

    def run(x: np.ndarray, until: float) -> np.ndarray:
        def prepared(integrator: Any, i: int) -> Any:
            integrator.set_time(0.0)
            integrator.state[:] = x[:, i * width : (i + 1) * width]
            return integrator

        found = hy.ensemble_propagate_until_batch(batch, until, x.shape[1] // width, prepared)
        return np.concatenate([entry[0].state for entry in found], axis=1)

    return run


def seconds(action: Callable[[], Any], rounds: int) -> float:
    """The best time on the wall."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - began)
    return best


def error(found: np.ndarray, exact: np.ndarray) -> float:
    """The largest error of a run, for the run in the middle."""
    return float(np.median(np.max(np.abs(found - exact), axis=0)))


def against_diffrax(
    fields: dict[str, Callable[[], Field]],
    chain: Chain,
    x: np.ndarray,
    until: float,
    ours: float,
    mine: float,
    exact: np.ndarray,
    quick: bool,
) -> list[Comparison]:
    """The same tolerance, the same number of runs, for each way to the equations."""
    rows, count = [], x.shape[1]
    for way, field in fields.items():
        theirs = None
        try:
            peer = diffrax_ensemble(field)
            its = error(peer(x[:, :PROBES], SOON, TOLERANCE), exact)
            peer(x, 1e-3, TOLERANCE)  # compiles for this many runs
            theirs = seconds(lambda peer=peer: peer(x, until, TOLERANCE), 1) / count
            note = f"error at {SOON:g} s: ours {mine:.1e}, peer's {its:.1e}"
        except ImportError as missing:
            note = f'{missing.name} is not installed; pip install "appell[peers]"'
        what = f"{count} x {chain}, {until:g} s"
        peer_name = f"diffrax Dopri8, vmap, {way}, per run"
        rows.append(Comparison(what, ours, peer_name, theirs, None if quick else 80.0, note=note))
    return rows


def tolerance_of(order: int) -> float:
    """One of heyoka's tolerances that give this order, ceil(1 - ln(tolerance) / 2)."""
    return float(np.exp(1.0 - 2.0 * (order - 1)))


def heyoka_seconds(system: ap.System, order: int, x: np.ndarray, until: float, quick: bool) -> float:
    """The peer's time for a run at an order, in the faster of its two modes."""
    modes = [heyoka_ensemble(system, tolerance_of(order), compact) for compact in ((True,) if quick else (True, False))]
    return min(seconds(lambda mode=mode: mode(x, until), 1 if quick else 3) for mode in modes) / x.shape[1]


def against_heyoka(
    system: ap.System,
    chain: Chain,
    x: np.ndarray,
    until: float,
    ours: float,
    mine: float,
    exact: np.ndarray,
    quick: bool,
) -> Comparison:
    """The peer at our error: between the times of the two orders whose errors enclose it, straight in logarithms."""
    errors: dict[int, float] = {}
    for order in ORDERS:
        errors[order] = error(heyoka_ensemble(system, tolerance_of(order), True)(x[:, :PROBES], SOON), exact)
        if errors[order] <= mine:
            break
    times = {order: heyoka_seconds(system, order, x, until, quick) for order in list(errors)[-2:]}
    digits = [-np.log(errors[order]) for order in times]
    theirs = float(np.exp(np.interp(-np.log(mine), digits, np.log(list(times.values())))))
    its = ", ".join(f"{errors[order]:.1e} in {each * 1e6:.3g} us (order {order})" for order, each in times.items())
    note = f"error at {SOON:g} s: ours {mine:.1e} at {TOLERANCE:g}; peer's {its}"
    what, target = f"{x.shape[1]} x {chain}, {until:g} s", 1.0 if chain.links == 3 else 3.0
    peer = "heyoka batch ensemble at equal error, per run"
    return Comparison(what, ours, peer, theirs, None if quick else target, note=note)


def run(quick: bool) -> Comparisons:
    """Times per run, all cores on each side."""
    rows, notes = [], []
    until = 2.0 if quick else UNTIL
    sizes = {Chain(3): 400 if quick else 10_000, **({} if quick else {Chain(7): 2000})}
    for chain, count in sizes.items():
        system = appell_system(chain)
        x = starts(chain, count)
        exact = np.array([reference(system, column, SOON)[0] for column in x[:, :PROBES].T], dtype=float).T
        mine = error(swept(system, x[:, :PROBES], SOON, TOLERANCE), exact)
        ours = seconds(lambda s=system, x=x: swept(s, x, until, TOLERANCE), 1 if quick else 5) / count
        if chain.links == 3:
            fields = {
                "SymPy's equations": lambda chain=chain: kane_field(chain),
                "appell's equations": lambda system=system: appell_field(system),
            }
            rows += against_diffrax(fields, chain, x, until, ours, mine, exact, quick)
        if heyoka_code.available():
            rows.append(against_heyoka(system, chain, x, until, ours, mine, exact, quick))
        notes.append(
            f"{chain}: {1 / ours:.0f} runs a second, {system.equations.operations} operations a right-hand side"
        )
    notes.append(f"Time on the wall, {cores()} cores on each side, machine code made before; ours is a whole ap.sweep.")
    return Comparisons(f"5c. Many runs at once, tolerance {TOLERANCE:g}", rows, notes)
