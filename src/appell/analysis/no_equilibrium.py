"""Why there is no equilibrium as it is wanted, and what could be had instead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from appell.analysis.equilibrium_search import Problem, Root, Wishes

CIRCLE = (
    "No steady motion in a circle was found either. Wish for less: rates on which nothing else depends follow from the "
    "others; name inputs= that may be adjusted, or give a nearer guess=."
)


def explain(problem: Problem, nearest: list[Root], rng: np.random.Generator) -> str:
    """Why a wish cannot be met: which equation stands against it, and what could be had instead."""
    why = _unreachable(problem, rng) or _unbalanced(problem, nearest, rng)
    return " ".join([*why, *_with_other_rates(problem, rng), *_with_one_wish_less(problem, rng)])


def _where(problem: Problem) -> str:
    """What is wanted, in words."""
    said = [f"{name} = {value:g}" for name, value in problem.wishes.fixed.items()]
    return f"with {', '.join(said)}" if said else "with these inputs"


def _unreachable(problem: Problem, rng: np.random.Generator) -> list[str]:
    """Which constraint keeps a wanted pose from being reached; nothing if none does."""
    mechanics, fixed = problem.steady.mechanics, problem.wishes.fixed
    model, rows = mechanics.model, mechanics.position_rows
    free = np.flatnonzero([s.label not in fixed for s in model.coordinates])
    n = len(model.coordinates)
    if not rows or free.size == n:
        return []
    places = (problem.place(None if k == 0 else rng) for k in range(20))
    q, left = min((problem.assembled(place, free) for place in places), key=lambda found: found[1])
    if left <= 1e-9:
        return []
    residual = np.array(mechanics.functions["position"](0.0, q * problem.units.unknowns[:n], problem.p)[0]).ravel()
    worst = int(np.argmax(np.abs(residual / problem.units.equations[n : n + len(rows)])))
    return [
        f"The wanted pose of {model.name!r} cannot be reached: {_where(problem)} the constraint "
        f"{mechanics.row_names[rows[worst]]!r} cannot be met (nearest miss {abs(residual[worst]):.3g})."
    ]


def _unbalanced(problem: Problem, nearest: list[Root], rng: np.random.Generator) -> list[str]:
    """Which equations cannot be met, and whether inputs could be adjusted."""
    steady, wishes, n = problem.steady, problem.wishes, problem.sizes[0]
    model, best = steady.mechanics.model, min(nearest, key=lambda root: root.left)
    guilty = [i for i in range(len(steady.names)) if _solvable(problem, wishes, rng, (i,)) is not None]
    names = [steady.names[i] for i in guilty] or [steady.names[int(np.argmax(best.misses))]]
    count = int(np.sum(problem.unknown < sum(problem.sizes[:4]))) + steady.independent
    moving = np.any(problem.begin[n : 2 * n]) or any(s.rate.label in wishes.free for s in model.coordinates)
    equations = len(steady.names) - (0 if moving else len(steady.velocity_rows))  # which rest meets by itself
    if len(names) <= 2:
        said = f"{' and '.join(names)} cannot be met{' both at once' * (len(names) > 1)}"
    elif equations > count:
        among = "among them " * (equations > len(names))
        said = f"{equations} equations ({among}{', '.join(names)}) stand against {count} unknowns"
    else:
        said = f"{', '.join(names)} cannot be met all at once"
    lines = [f"{model.name!r} has no equilibrium {_where(problem)}: {said}."]
    idle = [w.label for w in steady.equations.inputs if w.label not in wishes.fixed]
    if idle and not wishes.free:
        lines.append(f"No input may be adjusted; to adjust, write inputs={idle!r}.")
    flowing = [z.label for z in model.states if f"the rate of {z.label}" in names]
    if len(flowing) == len(names):
        held = ", ".join(map(repr, flowing))
        lines.append(f"model.frozen({held}) is the model as it is at a moment, with {', '.join(flowing)} held.")
    return lines


def _with_other_rates(problem: Problem, rng: np.random.Generator) -> list[str]:
    """Whether there is a steady motion in which other cyclic coordinates run, too."""
    steady, wishes = problem.steady, problem.wishes
    running = tuple(steady.mechanics.model.coordinates[i].rate.label for i in steady.cyclic(problem.p))
    loose = tuple(s for s in running if s not in (*wishes.fixed, *wishes.free))
    if not loose or not any(wishes.fixed.get(s) for s in running):
        return []
    if _solvable(problem, replace(wishes, free=(*wishes.free, *loose)), rng) is not None:
        return [f"There is a steady motion with other rates adjusted: write inputs={[*wishes.free, *loose]!r}."]
    return [CIRCLE] * bool(steady.velocity_rows)


def _with_one_wish_less(problem: Problem, rng: np.random.Generator) -> list[str]:
    """Where equilibria are with one of the wishes left out."""
    wishes, model = problem.wishes, problem.steady.mechanics.model
    adjustable = {*(s.rate.label for s in model.coordinates), *(s.label for s in model.inputs)}
    lines = []
    for label in wishes.fixed:
        fewer = {name: value for name, value in wishes.fixed.items() if name != label}
        freed = (*wishes.free, label) if label in adjustable else wishes.free
        begin = {**wishes.begin, **wishes.fixed}
        found = _solvable(problem, replace(wishes, fixed=fewer, begin=begin, free=freed), rng)
        if found is not None:
            k = problem.labels.index(label)
            value = found.y[k] * problem.units.unknowns[k] if abs(found.y[k]) > 1e-12 else 0.0
            first, end = problem.steady.ends(problem.p, begin).get(label, (0.0, np.inf))
            if (value - first) / (end - first) > 1:  # less than nothing in a tank
                value = end
            lines.append(f"With {label} left free there is one, at {label} = {value:.9g}.")
    return lines


def _solvable(problem: Problem, wishes: Wishes, rng: np.random.Generator, dropped: tuple[int, ...] = ()) -> Root | None:
    """A solution of the problem with fewer wishes or fewer equations, the nearest of a few."""
    other = Problem(problem.steady, problem.p, wishes, dropped)
    roots = [other.solve(other.place(None if k == 0 else rng)) for k in range(8)]
    good = [root for root in roots if root.ok]
    return min(good, key=other.distance) if good else None
