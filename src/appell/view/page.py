"""Pages that need nothing else: scripts, styles and data inside, and a policy that lets nothing in from outside."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.files import json_text
from appell.view.outline import SHARED, largest, outline, sphere
from appell.view.parts import Part
from appell.view.tracks import quaternions

if TYPE_CHECKING:
    from appell.view.scene import Scene

NOTICE = (
    "This page contains three.js (MIT), and where it has plots or formulas plotly.js (MIT), Temml (MIT) and STIX Two "
    "Math (SIL Open Font License 1.1). It was made by appell (MIT)."
)


@cache
def asset(name: str) -> str:
    """A script or style that is embedded."""
    return (files("appell.view") / "web" / name).read_text(encoding="utf-8")


@cache
def font() -> str:
    """The font for formulas, as data that the page's script takes."""
    data = base64.b64encode((files("appell.view") / "web" / "stix.woff2").read_bytes()).decode()
    return f'<script type="text/plain" id="font">{data}</script>'


DIRECTIONS = 160  # in which the outermost points of a scene are told to the camera
FAR = 30  # sizes of a scene
WIDE = 1e4  # sizes of a scene that its ways go far, from which 32-bit floats cannot tell its points apart
LARGEST = float(np.finfo("f4").max)


def data_block(name: str, data: Any) -> str:
    """Data as JSON that no name in it can break out of."""
    text = json_text(data, separators=(",", ":"))
    for sign, code in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        text = text.replace(sign, code)
    return f'<script type="application/json" id="{html.escape(name)}">{text}</script>'


def document(title: str, body: str, scripts: Iterable[str], styles: Iterable[str]) -> str:
    """A whole page.

    Args:
        title: Its title, plain text.
        body: Its content, markup.
        scripts: Scripts, run in this order after the content.
        styles: Style sheets.
    """
    scripts = [script.replace("</script", "<\\/script") for script in scripts]
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; media-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    sheets = "".join(f"<style>{sheet}</style>" for sheet in styles)
    ending = "".join(f"<script>{script}</script>" for script in scripts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="generator" content="appell">'
        f"<title>{html.escape(title)}</title>{sheets}</head>\n<body>{body}\n<!-- {NOTICE} -->\n{ending}</body></html>\n"
    )


# A page is a third as large in this form. Where a browser cannot read it, the picture behind the frame is seen.
OPENING = """<script type="text/plain" id="page">{}</script><script>(async () => {{
const bytes = Uint8Array.from(atob(document.getElementById("page").text), e => e.charCodeAt(0));
const whole = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
const page = await new Response(whole).text();
document.open(); document.write(page); document.close(); }})()</script>"""


def framed(page: str, height: int, words: str, still: bytes = b"") -> str:
    """A page inside a page: what notebooks show. It is packed, since a notebook holds many.

    Args:
        page: The page.
        height: Of the frame, in pixels.
        words: What is left where a program shows neither frame nor picture.
        still: A picture behind the frame, for programs that take frames out.
    """
    packed = base64.b64encode(gzip.compress(page.encode(), mtime=0)).decode()
    data = base64.b64encode(still).decode()
    words = html.escape(words, quote=True)
    behind = (
        f'<img src="data:image/png;base64,{data}" alt="{words}" style="max-width:100%;max-height:{height}px">'
        if still
        else f"<p>{words}</p>"
    )
    return (
        f'<div style="position:relative;min-height:{height}px">{behind}<iframe srcdoc="'
        f'{html.escape(OPENING.format(packed))}" sandbox="allow-scripts allow-downloads allow-popups" allowfullscreen '
        f'style="position:absolute;left:0;top:0;width:100%;height:{height}px;border:0;border-radius:8px"></iframe></div>'
    )


def bundle(thing: Any, height: int, still: bytes) -> dict[str, Any]:
    """What notebooks show of something that is a page, and where pages with script are not shown a still.

    Args:
        thing: What has `html`.
        height: Of its frame, in pixels.
        still: The picture.
    """
    words = repr(thing)
    return {"text/html": framed(thing.html(), height, words, still), "image/png": still, "text/plain": words}


def animation_page(scene: Scene) -> str:
    """A scene alone on a page."""
    body = (
        f'<div class="alone" data-scene="scene"></div>{data_block("scene", scene_data(scene))}{poster("scene", scene)}'
    )
    return document(scene.title, body, [asset("viewer.js")], [asset("viewer.css")])


def poster(name: str, scene: Scene) -> str:
    """A still for browsers that cannot draw in three dimensions."""
    from appell.view.poster import svg

    data = base64.b64encode(svg(scene).encode()).decode()
    return f'<script type="text/plain" id="{html.escape(name)}-poster">data:image/svg+xml;base64,{data}</script>'


def _packed(array: np.ndarray, kind: str) -> str:
    if kind in ("<f4", "<f8"):  # what grew beyond all bounds before a run ended
        array = np.clip(array, -LARGEST, LARGEST)
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def scene_data(scene: Scene) -> dict[str, Any]:
    """A scene as plain data; numbers over time are packed as 32-bit floats where these do, attitudes as 16-bit ones."""
    away = _away(scene)
    values = scene.values
    turns = np.round(quaternions(values.turns) * 32767)
    low, high = (e - away for e in scene.box)
    center = (low + high) / 2
    reach = float(np.linalg.norm(high - low)) / 2
    floor = None if scene.floor is None else scene.floor - away @ scene.ground
    seen = outline(scene, sphere(DIRECTIONS)) - (0 if scene.follow >= 0 else center + away)
    wide = bool(reach > WIDE * scene.size)
    fine = 5 - int(np.floor(np.log10(scene.size)))
    top = largest(scene.arrows)
    top |= dict.fromkeys(top.keys() & SHARED, max((top[k] for k in SHARED if k in top), default=1.0))
    data: dict[str, Any] = {
        "title": scene.title, "subtitle": scene.subtitle, "up": scene.up, "view": scene.view, "normal": scene.normal,
        "floor": floor, "ground": scene.ground, "size": scene.size, "unit": scene.unit, "center": center,
        "outline": np.round(seen, fine), "reach": max(reach, 1e-6 * scene.size),
        "extent": max(2 * reach, scene.size), "follow": scene.follow, "events": [list(e) for e in scene.events],
        "times": _packed(values.times, "<f8"),
        "points": _packed(values.points - away, "<f8" if wide else "<f4"), "wide": wide,
        "turns": _packed(turns, "<i2"), "vectors": _packed(values.vectors, "<f4"),
        "scalars": _packed(values.scalars, "<f4"),
        "solids": [{"name": s.name, "point": s.point, "turn": s.turn, "color": s.color,
                    "parts": [_part(p) for p in s.parts]} for s in scene.solids],
        "bars": [vars(b) for b in scene.bars],
        "arrows": [{"name": a.name, "kind": a.kind, "at": a.at, "vector": a.vector, "scale": top[a.kind]}
                   for a in scene.arrows],
        "jets": [vars(j) for j in scene.jets],
        "traces": [vars(e) for e in scene.traces],
        "curves": [{"name": c.name, "color": c.color, "kind": c.kind,
                    "lines": [_packed(e - away, "<f4") for e in c.lines]} for c in scene.curves],
        "anchors": list(scene.anchors), "joints": list(scene.joints), "readout": [list(e) for e in scene.readout],
        "field": None,
    }  # fmt: skip
    if scene.field is not None:
        data["field"] = _field(scene, away)
    return data


def _away(scene: Scene) -> np.ndarray:
    """A round place near a scene that is far from the origin, from where 32-bit floats can tell its points apart."""
    low, high = scene.box
    middle = (low + high) / 2
    extent = max(float(np.linalg.norm(high - low)), scene.size)
    if np.linalg.norm(middle) < FAR * extent:
        return np.zeros(3)
    step = 10.0 ** np.ceil(np.log10(extent))
    return step * np.round(middle / step)


def _field(scene: Scene, away: np.ndarray) -> dict[str, Any]:
    field = scene.field
    assert field is not None
    largest = float(field.values.max()) or 1.0
    dx, dy = (float(e[1] - e[0]) / 2 if e.size > 1 else 0.5 for e in (field.x, field.y))
    return {
        "nx": field.x.size, "ny": field.y.size, "max": largest, "unit": field.unit, "label": field.label,
        "box": [field.x[0] - dx - away[0], field.y[0] - dy - away[1],
                field.x[-1] + dx - away[0], field.y[-1] + dy - away[1]],
        "times": _packed(field.times, "<f4"),
        "values": _packed(np.round(np.clip(field.values / largest, 0, 1) * 255), "u1"),
    }  # fmt: skip


def _part(shape: Part) -> dict[str, Any]:
    turn = quaternions(shape.turn[None, None])[0, 0]
    data: dict[str, Any] = {"kind": shape.kind, "size": shape.size, "at": shape.at, "turn": turn, "color": shape.color}
    if shape.opacity < 1:
        data["opacity"] = shape.opacity
    if shape.points is not None:
        fine = 6 - round(np.log10(np.max(np.abs(shape.points)) or 1.0))
        data["points"] = np.round(shape.points, fine)
    if shape.faces is not None:
        data["faces"] = shape.faces
    return data
