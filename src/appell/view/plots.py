"""Plots of linear systems and of methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from appell.analysis.linearize import Linearization
from appell.errors import AppellError, ModelError
from appell.model.symbols import key, listed, quoted
from appell.model.values import by_name, check_kind, floats, unknown, whole
from appell.view.plot import COLORS, GREY, RED, Line, Map, Panel, Plot, shown

SHARE, HALVINGS = 100, 8  # roots move by such a share of the picture from value to value, else these are halved
MEETING, CLOSER = 3000, 34  # the same where two roots meet and leave or reach the real axis
SETS = ("x", "circle-open", "square-open", "diamond-open", "triangle-up-open")


def roots(roots: Any, structural: int | Any = 0, title: str = "roots") -> Plot:
    """A map of eigenvalues, the structural zero roots marked; roots far from the others get a panel of their own.

    Args:
        roots: Complex numbers, or a certificate of stability, which knows its structural zeros; or several of these to
            compare, by name: {"open loop": ..., "closed loop": ...}.
        structural: Of plain numbers: how many of them are zero by structure (constraints, cyclic coordinates), the
            smallest in size being taken; or a list of these roots themselves.
        title: The title.
    """
    several = isinstance(roots, Mapping)
    if several and not roots:
        raise AppellError("A map of roots needs at least one set of them; got {}.")
    sets = {name: _parted(e, structural) for name, e in (roots.items() if several else [("roots", roots)])}
    lines = []
    for i, (name, (found, _)) in enumerate(sets.items()):
        if several:
            lines += _marked(name, found, SETS[i % len(SETS)], COLORS[i % len(COLORS)])
            continue
        unstable = found.real > 1e-9 * max(float(np.abs(found).max(initial=0.0)), 1e-300)
        lines += _marked(name, found[~unstable], "x", COLORS[0]) + _marked("unstable roots", found[unstable], "x", RED)
    for count in sorted({zeros.size for _, zeros in sets.values()} - {0}):
        theirs = {name: zeros for name, (_, zeros) in sets.items() if zeros.size == count}
        zeros, whose = next(iter(theirs.values())), f" of {', '.join(theirs)}" if several else ""
        name = f"{count} structural zero root{'s' * (count != 1)}{whose}"
        notes = tuple(f"structural zero root{whose}" for _ in zeros)
        lines.append(Line(name, zeros.real, zeros.imag, True, "circle-open", GREY, notes=notes))
    panels = [Panel(tuple(lines), "Re λ [1/s]", "Im λ [1/s]", zero=True)]
    near = _near(np.concatenate([found for found, _ in sets.values()]))
    if near is not None:
        inner = [replace(line, name="", **_within(line, near)) for line in lines]
        kept = tuple(line for line in inner if line.x.size)
        panels.append(Panel(kept, f"Re λ [1/s], the roots within {near:.3g}", "Im λ [1/s]", zero=True))
    return Plot(title, tuple(panels), shared=False)


def _parted(roots: Any, structural: int | Any) -> tuple[np.ndarray, np.ndarray]:
    """The roots that say something, and the structural zeros."""
    if hasattr(roots, "full_roots"):
        return np.asarray(roots.roots, dtype=complex).ravel(), np.zeros(roots.zeros, dtype=complex)
    found = _complexes(roots, "Roots").ravel()
    if isinstance(structural, int | np.integer):
        count = whole("The number of structural zero roots", structural, 0)
        order = np.argsort(np.abs(found), kind="stable")
        return found[np.sort(order[count:])], found[order[:count]]
    return found, _complexes(structural, "Structural zero roots").ravel()


def _marked(name: str, found: np.ndarray, symbol: str, color: str) -> list[Line]:
    notes = tuple(_root(e) for e in found)
    return [Line(name, found.real, found.imag, True, symbol, color, notes=notes)] if found.size else []


def _near(found: np.ndarray) -> float | None:
    """A size that separates the roots near the origin from those far out: at the widest gap, if it is wide."""
    sizes = np.sort(np.abs(found))
    if sizes.size < 3:
        return None
    gaps = sizes[2:] / np.maximum(sizes[1:-1], 1e-9 * sizes[-1])
    k = int(np.argmax(gaps))
    return float(1.2 * sizes[1 + k]) if gaps[k] > 8 and sizes[1 + k] > 0 else None


def _within(line: Line, size: float) -> dict[str, Any]:
    inside = np.hypot(line.x, line.y) <= size
    notes = tuple(e for e, kept in zip(line.notes, inside, strict=True) if kept)
    return {"x": line.x[inside], "y": line.y[inside], "notes": notes}


def _root(value: complex) -> str:
    text = f"λ = {value.real:.4g} {'+' if value.imag >= 0 else '−'} {abs(value.imag):.4g} i"
    if value.imag:
        text += f", ω = {abs(value):.4g} rad/s, ζ = {-value.real / abs(value):.3g}"
    return text


def root_locus(
    matrix: Callable[[float], Any], values: Sequence[float], name: str = "p", structural: int = 0, between: bool = True
) -> Plot:
    """Where roots go as a number changes.

    Where branches meet roots move as the square root of the number: there values in between are looked at as well, the
    closer the nearer they are.

    Args:
        matrix: From the number to the matrix whose eigenvalues are drawn, or to the eigenvalues themselves.
        values: The numbers.
        name: What the number is called.
        structural: How many roots are zero by structure; they are left out of the branches and marked at the origin.
        between: Whether values between the given ones may be looked at.
    """
    numbers = floats(values, "The values of a root locus").ravel().tolist()
    whole("The number of structural zero roots", structural, 0)
    if not numbers:
        raise AppellError("A root locus needs at least one value.")

    def at(value: float) -> np.ndarray:
        return _roots_at(matrix, (value,), f"{name} = {value:g}")[structural:]

    numbers, table = _followed(at, numbers, HALVINGS if between else 0)
    lines: list[Line] = []
    for k in range(table.shape[1]):
        notes = tuple(f"{name} = {v:.4g}: {_root(e)}" for v, e in zip(numbers, table[:, k], strict=True))
        lines.append(Line("", table[:, k].real, table[:, k].imag, color=COLORS[k % len(COLORS)], notes=notes))
    first, last = table[0], table[-1]
    lines.append(Line(f"{name} = {numbers[0]:g}", first.real, first.imag, True, "x", GREY))
    lines.append(Line(f"{name} = {numbers[-1]:g}", last.real, last.imag, True, "square", GREY))
    if structural:
        zero = np.zeros(1)
        lines.append(Line(f"{structural} structural zero roots", zero, zero, True, "circle-open", GREY))
    return Plot(f"root locus over {name}", (Panel(tuple(lines), "Re λ [1/s]", "Im λ [1/s]", zero=True),))


def _followed(
    at: Callable[[float], np.ndarray], numbers: Sequence[float], halvings: int
) -> tuple[list[float], np.ndarray]:
    """Roots in branches, with further numbers where a root moves far between two, and about places where two meet."""
    found = [at(number) for number in numbers]
    every = np.concatenate(found)
    extent = max(np.ptp(every.real), np.ptp(every.imag)) if every.size else 0.0
    passed, tracks = [numbers[0]], [found[0]]

    def real(roots: np.ndarray) -> int:
        return int(np.sum(np.abs(roots.imag) <= 1e-12 * extent))

    def go_on(to: float, roots: np.ndarray, halved: int) -> None:
        matched = _matched(tracks[-1], roots)
        far = np.max(np.abs(matched - tracks[-1]), initial=0.0)
        meet = halvings and real(roots) != real(tracks[-1])
        if (halved < halvings and far > extent / SHARE) or (meet and halved < CLOSER and far > extent / MEETING):
            middle = (passed[-1] + to) / 2
            go_on(middle, at(middle), halved + 1)
            go_on(to, roots, halved + 1)
            return
        passed.append(to)
        tracks.append(matched)

    for number, roots in zip(numbers[1:], found[1:], strict=True):
        go_on(number, roots, 0)
    return passed, np.array(tracks)


def _matched(before: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Roots in the order of their nearest predecessors."""
    from scipy.optimize import linear_sum_assignment

    if before.shape != found.shape:
        raise AppellError(f"The number of roots changes from {before.size} to {found.size} along the locus.")
    distance = np.abs(before[:, None] - found[None, :])
    return found[linear_sum_assignment(distance)[1]]


def _roots_at(matrix: Callable[..., Any], at: tuple[float, ...], where: str) -> np.ndarray:
    """Roots by their size, of what a function gives at some numbers: a matrix, or the roots themselves."""
    check_kind(matrix, Callable, "a function of the numbers that gives a matrix, or its roots")
    given = _complexes(matrix(*at), f"At {where} the matrix, or its roots,")
    if given.ndim not in (1, 2) or (given.ndim == 2 and given.shape[0] != given.shape[1]):
        raise AppellError(f"At {where} a square matrix is needed, or a list of its roots; got the shape {given.shape}.")
    real = given.real if not np.any(given.imag) else given  # whose roots come in pairs to the last bit
    found = np.linalg.eigvals(real) if given.ndim == 2 else given
    return found[np.argsort(np.abs(found), kind="stable")]


def stability_map(
    matrix: Callable[[float, float], Any],
    first: tuple[str, Sequence[float]],
    second: tuple[str, Sequence[float]],
    structural: int = 0,
) -> Plot:
    """The largest real part of the roots over two numbers; where it vanishes is the border of stability.

    Args:
        matrix: From the two numbers to a matrix or to its eigenvalues.
        first: Name and values of the first number, along the first axis.
        second: Name and values of the second one.
        structural: How many roots are zero by structure and do not count.
    """
    for axis in (first, second):
        if not isinstance(axis, tuple | list) or len(axis) != 2 or not isinstance(axis[0], str):
            raise AppellError(f"An axis of a stability map is a name with its values, ('v', [1, 2]); got {axis!r}.")
    (a, xs), (b, ys) = ((name, floats(values, f"The values of {name}").ravel()) for name, values in (first, second))
    whole("The number of structural zero roots", structural, 0)
    z = np.full((len(ys), len(xs)), np.nan)
    for j, y in enumerate(ys):
        for i, x in enumerate(xs):
            found = _roots_at(matrix, (float(x), float(y)), f"{a} = {x:g}, {b} = {y:g}")[structural:]
            z[j, i] = found.real.max() if found.size else np.nan
    drawn = Map("max Re λ [1/s]", xs, ys, z, zero=True)
    return Plot("stability: blue is stable", (Panel((drawn,), a, b),))


def work_precision(results: Mapping[str, Sequence[tuple[float, float]]], work: str = "seconds") -> Plot:
    """A work-precision diagram: error against work, both logarithmic.

    Args:
        results: For each method its pairs (work, error).
        work: What work is measured in.
    """
    lines = []
    for i, (name, pairs) in enumerate(by_name(results, "Results", "{'RK45': [(work, error), ...]}").items()):
        table = floats(pairs, f"The results of {name}: pairs (work, error)")
        if table.ndim != 2 or table.shape[1] != 2:
            raise AppellError(f"The results of {name} are pairs (work, error); got {pairs!r}.")
        table = table[np.lexsort((table[:, 1], table[:, 0]))]
        color = COLORS[i % len(COLORS)]
        lines.append(Line(name, table[:, 1], table[:, 0], color=color))
        lines.append(Line("", table[:, 1], table[:, 0], True, "circle", color))
    return Plot("work and precision", (Panel(tuple(lines), "error", work, "xy"),))


def bode(
    A: Any,
    B: Any = None,
    C: Any = None,
    D: Any = None,
    names: Sequence[str] = (),
    frequencies: Sequence[float] | None = None,
) -> Plot:
    """Bode's diagram of x' = A x + B w, y = C x + D w, one curve for each input and output.

    Args:
        A: System matrix, or a linearisation, which knows its B.
        B: Input matrix; of a linearisation the inputs, letters or names, all if left out.
        C: Output matrix; of a linearisation what is measured, letters, names or formulas, its states if left out.
        D: Direct term; zero if left out.
        names: Names of the curves, outputs first counted over inputs.
        frequencies: In rad/s; about the roots of A if left out.
    """
    if isinstance(A, Linearization):
        measured = list(A.states) if C is None else listed(C)
        driven = list(A.inputs) if B is None else [key(w) for w in listed(B)]
        for w in driven:
            if w not in A.inputs:
                raise ModelError(unknown(w, A.inputs, "input of this linearisation"))
        names = listed(names) or [shown(f"{w} → {y}") for y in measured for w in driven]
        A, B, C = A.A, A.B[:, [A.inputs.index(w) for w in driven]], A.output_matrix(measured)
    A, B, C, D = _state_space(A, B, C, D)
    names = [str(name) for name in listed(names)]
    if frequencies is None:
        sizes = np.abs(np.linalg.eigvals(A))
        sizes = sizes[sizes > 1e-6 * max(float(sizes.max(initial=0.0)), 1e-300)]
        low, high = (sizes.min(), sizes.max()) if sizes.size else (1.0, 1.0)
        frequencies = np.geomspace(0.03 * low, 30 * high, 600)
    omega = _finite(frequencies, "Frequencies").ravel()
    if not omega.size or not C.shape[0] or not B.shape[1]:
        raise ModelError("Bode's diagram needs a frequency, an input and an output, at least.")
    try:
        response = np.array([C @ np.linalg.solve(1j * w * np.eye(A.shape[0]) - A, B) + D for w in omega])
    except np.linalg.LinAlgError:
        raise ModelError("At a root of A the response is infinite; leave this frequency out.") from None
    gains, angles = [], []
    for i in range(C.shape[0]):
        for j in range(B.shape[1]):
            k = i * B.shape[1] + j
            name = names[k] if k < len(names) else "" if response[0].size == 1 else f"{j + 1} → {i + 1}"
            h, color = response[:, i, j], COLORS[k % len(COLORS)]
            gains.append(Line(name, omega, 20 * np.log10(np.maximum(np.abs(h), 1e-300)), color=color))
            angles.append(Line("", omega, np.degrees(np.unwrap(np.angle(h))), color=color))
    panels = (
        Panel(tuple(gains), "ω [rad/s]", "gain [dB]", "x"),
        Panel(tuple(angles), "ω [rad/s]", "phase [°]", "x", step=_quarters(angles)),
    )
    return Plot("Bode", panels)


def _state_space(A: Any, B: Any, C: Any, D: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Matrices that fit together; no direct term is zero."""
    if B is None or C is None:
        raise ModelError("Bode's diagram needs matrices A, B, C, or a linearisation, appell.linearize(...).")
    A, B, C = (np.atleast_2d(_finite(e, f"The matrix {name}")) for name, e in (("A", A), ("B", B), ("C", C)))
    B = B.T if B.shape[0] != A.shape[0] and B.shape[1] == A.shape[0] else B
    if A.shape[0] != A.shape[1] or B.shape[0] != A.shape[0] or C.shape[1] != A.shape[0]:
        raise ModelError(f"A, B, C have shapes {A.shape}, {B.shape}, {C.shape}, which do not fit together.")
    D = np.zeros((C.shape[0], B.shape[1])) if D is None else np.atleast_2d(_finite(D, "The matrix D"))
    if D.shape != (C.shape[0], B.shape[1]):
        raise ModelError(f"D needs the shape {(C.shape[0], B.shape[1])}, outputs by inputs; got {D.shape}.")
    return A, B, C, D


def _finite(given: Any, what: str) -> np.ndarray:
    """Finite numbers as an array."""
    found = floats(given, what)
    if not np.all(np.isfinite(found)):
        raise ModelError(f"{what} must be finite, got {quoted(given)}.")
    return found


def _complexes(given: Any, what: str) -> np.ndarray:
    """Finite complex numbers as an array."""
    try:
        found = np.atleast_1d(np.asarray(given, dtype=complex))
    except (TypeError, ValueError, OverflowError):
        found = np.array([np.nan])
    if not np.all(np.isfinite(found)):
        raise AppellError(f"{what} must be finite numbers, got {quoted(given)}.")
    return found


def _quarters(angles: Sequence[Line]) -> float:
    """Degrees between numbers of a phase: eighths of a turn, or as many quarters as leave few numbers."""
    reach = max(float(np.ptp(line.y)) for line in angles)
    return next(step for step in (45.0, 90.0, 180.0, 360.0 * np.ceil(reach / 2880)) if reach <= 8 * step)
