"""Sheets of pictures, from real runs: `python docs/images/gallery.py`.

One for each section of docs/library.md, of its models in motion, and one for docs/examples.md, of what the examples
draw.
"""

import contextlib
import io
import re
import runpy
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, ImageOps
from PIL.PngImagePlugin import PngInfo

import appell as ap

HERE = Path(__file__).parent
DOCS = HERE.parent
ACROSS, WIDE, HIGH, LINE = 5, 264, 172, 28  # most tiles in a row, pixels of a picture and of the line under it
MOMENTS = {"rattleback": 3.0, "conical-pendulum": 0.3, "stewart-platform": 0.6}  # where another one says more
ENDS = {"rrp-arm": 0.3, "rocket-car": 2.0}  # where a whole run leads far away


def sections():
    """Names of models by the headings of their page."""
    parts = re.split(r"^## (.+)$", (DOCS / "library.md").read_text(), flags=re.MULTILINE)[1:]
    rows = (re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE) for text in parts[1::2])
    return dict(zip(parts[::2], rows, strict=True))


def examples():
    """Files by the names of examples, in the order of their page."""
    found = re.findall(r"^\| \[(\w+)\]\((\.\./examples/[\w/]+\.py)\)", (DOCS / "examples.md").read_text(), re.MULTILINE)
    return {name: DOCS / path for name, path in found}


def sheets():
    """The names on every sheet, by its file."""
    models = {HERE / f"library-{title.lower().replace(' ', '-')}.png": names for title, names in sections().items()}
    return {**models, HERE / "examples.png": list(examples())}


def model(name):
    """A model in motion, without title and clock."""
    system = ap.compile(ap.derive(ap.library.model(name)))
    figure = ap.simulate(system, until=ENDS.get(name), progress=False).animate().figure(MOMENTS.get(name))
    for words in list(figure.axes[0].texts):
        words.remove()
    with io.BytesIO() as file:
        figure.savefig(file, format="png", dpi=120)
        return Image.open(file).convert("RGB")


def example(path):
    """What an example draws."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        sys.argv = [str(path), f"{folder}/picture.png"]
        runpy.run_path(str(path), run_name="__main__")
        return Image.open(f"{folder}/picture.png").convert("RGB")


def write(path, names, tiles):
    """One sheet, with the names on it written into the file."""
    rows = -(-len(names) // ACROSS)
    across = -(-len(names) // rows)
    whole = Image.new("RGB", (across * WIDE, rows * (HIGH + LINE)), "white")
    draw, font = ImageDraw.Draw(whole), ImageFont.load_default(15)
    for k, (name, tile) in enumerate(zip(names, tiles, strict=True)):
        x, y = WIDE * (k % across), (HIGH + LINE) * (k // across)
        small = ImageOps.pad(tile, (WIDE, HIGH), Image.Resampling.LANCZOS, color="white")
        whole.paste(small, (x, y))
        draw.text((x + WIDE / 2, y + HIGH + 2), name, fill="#22303c", font=font, anchor="ma")
    known = PngInfo()
    known.add_text("names", " ".join(names))
    whole.quantize(256, kmeans=3).save(path, optimize=True, pnginfo=known)


def main():
    """Write all sheets."""
    files = examples()
    for path, names in sheets().items():
        drawn = (example(files[name]) if path.stem == "examples" else model(name) for name in names)
        write(path, names, drawn)


if __name__ == "__main__":
    main()
