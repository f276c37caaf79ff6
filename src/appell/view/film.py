"""A scene as a moving picture without a browser: .gif by Pillow, .mp4 by ffmpeg."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from appell.errors import AppellError
from appell.files import whole
from appell.view.picture import HIGH, WIDE, Camera
from appell.view.still import paint

if TYPE_CHECKING:
    from PIL import Image

    from appell.view.scene import Scene

RATE = {".gif": 15, ".mp4": 25}
WIDTH = {".gif": 640, ".mp4": 1280}
SOME = 6  # pictures that tell the colours of a .gif
COMMON, RARE = 96, 48  # its colours: of what is large, and of what is small


def save(scene: Scene, path: Path, seconds: float | None) -> Path:
    """Write a moving picture.

    Args:
        scene: What moves.
        path: .gif or .mp4.
        seconds: How long it lasts; as long as the motion, at least 2 s and at most 20 s, if left out.
    """
    if not scene.moves:
        raise AppellError(f"The scene has one moment only; write a still, {path.stem}.png, or animate a Motion.")
    times, ending = scene.values.times, path.suffix.lower()
    length = float(np.clip(times[-1] - times[0], 2.0, 20.0)) if seconds is None else seconds
    if not (isinstance(length, int | float | np.number) and 0 < length <= 600):
        raise AppellError(f"A moving picture lasts up to 600 s, got seconds={length!r}.")
    count = max(2, round(length * RATE[ending]))
    frames = [int(np.argmin(np.abs(times - t))) for t in np.linspace(times[0], times[-1], count)]
    with whole(path) as part:
        (_gif if ending == ".gif" else _mp4)(scene, part, frames, length / count)
    return path


def _pictures(scene: Scene, frames: list[int], width: int) -> Iterator[np.ndarray]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    camera = Camera(scene)
    figure = Figure(figsize=(WIDE, HIGH), dpi=width / WIDE)
    canvas = FigureCanvasAgg(figure)
    for k in frames:
        figure.clear()
        paint(figure.add_axes((0, 0, 1, 1)), scene, k, camera)
        canvas.draw()
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _gif(scene: Scene, path: Path, frames: list[int], step: float) -> None:
    from PIL import Image

    gif([Image.fromarray(p) for p in _pictures(scene, frames, WIDTH[".gif"])], path, step)


def gif(pictures: list[Image.Image], path: Path, step: float) -> None:
    """Write pictures in colours that all of them share, so that nothing flickers, and rare ones are kept.

    Args:
        pictures: Of one size.
        path: The file.
        step: Seconds from one to the next.
    """
    from PIL import Image

    some = pictures[:: max(1, len(pictures) // SOME)]
    every = Image.fromarray(np.concatenate([np.asarray(p) for p in some]))
    common = every.quantize(COMMON).getpalette() or []
    rare = every.quantize(RARE, method=Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([*common, *rare])
    reduced = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    reduced[0].save(
        path, save_all=True, append_images=reduced[1:], duration=max(20, round(1000 * step)), loop=0, optimize=True
    )


def ffmpeg() -> str:
    """The program that writes .mp4: that of the system, or that of the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe  # pyright: ignore[reportMissingImports]

        return get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise AppellError(
            "Writing .mp4 needs ffmpeg: install it (`apt install ffmpeg`, `brew install ffmpeg`) or "
            "`pip install imageio-ffmpeg`; a .gif or .html needs neither."
        ) from None


def _mp4(scene: Scene, path: Path, frames: list[int], step: float) -> None:
    width, height = WIDTH[".mp4"], round(WIDTH[".mp4"] * HIGH / WIDE)
    command = [
        ffmpeg(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
        "-r", f"{1 / step:.6f}", "-i", "-", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20",
        "-movflags", "+faststart", str(path),
    ]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stderr is not None
        try:
            for picture in _pictures(scene, frames, width):
                running.stdin.write(picture.tobytes())
            running.stdin.close()
            running.stdin = None
        except OSError:  # it has ended; on Windows that is no broken pipe
            running.stdin = None
        message = running.stderr.read().decode(errors="replace").strip()
        if running.wait() != 0:
            raise AppellError(
                f"ffmpeg could not write {path.name}: {message.splitlines()[-1] if message else 'failed'}"
            )
