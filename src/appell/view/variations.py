"""Motions that differ by a number or two, on one page: a slider for each number chooses which is seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import AppellError
from appell.files import check_place, opened, path_of, write_text
from appell.view.outline import largest, sphere
from appell.view.page import DIRECTIONS, asset, bundle, data_block, document, poster, scene_data
from appell.view.scene import Scene
from appell.view.stage import scene_of_motion

MOMENTS = 24_000  # of all scenes together, beyond which a page would be heavy
FEWEST = 60  # moments of one of them


@dataclass(frozen=True, eq=False)
class Variations:
    """Scenes of one model at several values of what was varied; `explore` makes them.

    `save("page.html")` writes one file that needs nothing else. In a notebook it shows itself; elsewhere `show()` opens
    it in the browser.

    Attributes:
        names: What was varied.
        values: Its values, in order, for each name.
        scenes: One for each combination, the last name running fastest.
    """

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    scenes: tuple[Scene, ...]

    def __repr__(self) -> str:
        varied = ", ".join(
            f"{name} = {e[0]:g} .. {e[-1]:g} ({len(e)})" for name, e in zip(self.names, self.values, strict=True)
        )
        return f"Variations of {self.scenes[0].title!r}: {varied}; .save('page.html'), .show()"

    def html(self) -> str:
        """One page that needs nothing else: no network, no server."""
        ids = ["scene", *(f"scene-{i}" for i in range(1, len(self.scenes)))]
        told = [[f"{value:.6g}" for value in e] for e in self.values]
        knobs = data_block("scene-knobs", {"names": self.names, "values": told, "scenes": ids})
        scenes = [data_block(name, data) for name, data in zip(ids, _alike(self.scenes), strict=True)]
        body = '<div class="alone" data-scene="scene"></div>' + "".join(
            (*scenes, knobs, poster("scene", self.scenes[0]))
        )
        return document(self.scenes[0].title, body, [asset("viewer.js")], [asset("viewer.css")])

    def save(self, path: str | Path) -> Path:
        """Write the page.

        Args:
            path: The file, .html.
        """
        path = path_of(path)
        check_place(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise AppellError(f"Sliders need a page: give a path that ends in .html, got {path.name!r}.")
        return write_text(path, self.html())

    def show(self) -> Path:
        """Open the page in the browser, from a file in the folder for temporary ones."""
        return opened(self, "variations")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The page, and a still of the first scene where pages with script are not shown."""
        from appell.view.still import png

        return bundle(self, 600, png(self.scenes[0]))


def explore(
    motions: Mapping[Any, Any],
    names: str | Sequence[str],
    path: str | Path | None = None,
    *,
    look: Any = None,
    forces: bool = True,
    frames: int | None = None,
) -> Variations:
    """One page of several motions, with a slider to choose among them.

    Args:
        motions: Value -> motion, or (value, value) -> motion where two things were varied, for all combinations.
        names: The name of what was varied, as shown on the page; two names for pairs.
        path: A file to write, .html.
        look: Hints for drawing, a `Look`; those of the model if left out.
        forces: Whether forces and reactions are drawn.
        frames: How many moments each has; chosen by their number and length if left out.

    Example:
        >>> import appell as ap
        >>> system = ap.compile(ap.derive(ap.library.pendulum_chain(1)))
        >>> lengths = (0.5, 1.0, 1.5)
        >>> ap.view.explore({l: ap.simulate(system.bind({"l": l}), until=5.0) for l in lengths}, "length [m]")
        Variations of 'pendulum chain': length [m] = 0.5 .. 1.5 (3); .save('page.html'), .show()
    """
    called = tuple(names) if isinstance(names, list | tuple) else (names,)
    ordered = _ordered(motions, called)
    most = frames or max(FEWEST, MOMENTS // max(1, len(ordered)))
    scenes = {key: _scene(motion, look, forces, frames, most) for key, motion in ordered.items()}
    values = tuple(tuple(sorted({key[k] for key in scenes})) for k in range(len(called)))
    made = Variations(called, values, _together(tuple(scenes[key] for key in product(*values))))
    if path is not None:
        made.save(path)
    return made


def _ordered(motions: Any, names: tuple[str, ...]) -> dict[tuple[float, ...], Any]:
    """The motions by tuples of numbers; refuses what no sliders choose among."""
    if not isinstance(motions, Mapping) or not motions:
        got = "none" if isinstance(motions, Mapping) else type(motions).__name__
        raise AppellError(f"Give motions by what was varied, {{0.5: motion, 1.0: another}}; got {got}.")
    if not names or not all(isinstance(name, str) and name for name in names):
        raise AppellError(f'Say what was varied, explore(motions, "length [m]"); got {names!r}.')
    found: dict[tuple[float, ...], Any] = {}
    for key, motion in motions.items():
        numbers = key if isinstance(key, tuple) else (key,)
        if len(numbers) != len(names) or not all(isinstance(e, float | int | np.number) for e in numbers):
            wanted = "a number" if len(names) == 1 else f"{len(names)} numbers"
            raise AppellError(f"Each motion is given by {wanted} ({', '.join(names)}); got {key!r}.")
        if not all(math.isfinite(e) for e in numbers):
            raise AppellError(f"Sliders need finite numbers; got {key!r}.")
        found[tuple(float(e) for e in numbers)] = motion
    for key in product(*(sorted({e[k] for e in found}) for k in range(len(names)))):
        if key not in found:
            raise AppellError(f"There must be a motion for every combination of {', '.join(names)}; {key} has none.")
    return found


def _scene(motion: Any, look: Any, forces: bool, frames: int | None, most: int) -> Scene:
    """A motion as a scene; of fewer moments than it would have alone where there are many."""
    scene = scene_of_motion(motion, look, forces, None, frames)
    return scene_of_motion(motion, look, forces, None, most) if scene.values.times.size > most else scene


def _together(scenes: tuple[Scene, ...]) -> tuple[Scene, ...]:
    """The scenes with one size, one floor and one scale of arrows, so that they can be compared."""
    box = np.min([s.box[0] for s in scenes], axis=0), np.max([s.box[1] for s in scenes], axis=0)
    top = largest(a for s in scenes for a in s.arrows)
    floors = [s.floor for s in scenes if s.floor is not None]
    return tuple(
        replace(
            s,
            box=box,
            size=max(e.size for e in scenes),
            unit=max(e.unit for e in scenes),
            floor=min(floors) if floors else None,
            follow=max(e.follow for e in scenes),
            arrows=tuple(replace(a, largest=top[a.kind]) for a in s.arrows),
        )
        for s in scenes
    )


def _alike(scenes: Sequence[Scene]) -> list[dict[str, Any]]:
    """The data of scenes, with the outermost points of all of them for the camera."""
    listed = [scene_data(scene) for scene in scenes]
    outlines = np.array([data["outline"] for data in listed])
    farthest = np.einsum("nik,ik->ni", outlines, sphere(DIRECTIONS)).argmax(axis=0)
    outermost = outlines[farthest, np.arange(DIRECTIONS)]
    return [{**data, "outline": outermost} for data in listed]
