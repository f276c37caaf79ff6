"""The text of a URDF file as data, element by element; what cannot be read is refused by the name of its owner."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from appell.errors import ModelError

OTHERS = {"mujoco": "MJCF", "mujocoinclude": "MJCF", "sdf": "SDF"}  # by their outermost elements
XACRO = "appell reads plain URDF: expand it first, `xacro robot.urdf.xacro > robot.urdf`."


@dataclass(frozen=True, eq=False)
class InertialText:
    """Mass, central inertia in the axes of its origin, and that origin in the link."""

    mass: float
    inertia: np.ndarray
    origin: np.ndarray


@dataclass(frozen=True, eq=False)
class GeometryText:
    """One thing a link is drawn with (or collides with): its kind, its numbers, its pose, the file of a mesh."""

    kind: str
    numbers: tuple[float, ...]
    origin: np.ndarray
    filename: str
    drawn: bool


@dataclass(frozen=True, eq=False)
class LinkText:
    """A link."""

    name: str
    inertial: InertialText | None
    geometry: tuple[GeometryText, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class JointText:
    """A joint; `mimic` is the joint it follows, the multiplier and the offset."""

    name: str
    type: str
    parent: str
    child: str
    origin: np.ndarray
    axis: tuple[float, ...]
    limits: dict[str, float]
    damping: float
    friction: float
    mimic: tuple[str, float, float] | None


@dataclass(frozen=True, eq=False)
class RobotText:
    """What the file says, and the folder that names in it start from."""

    name: str
    links: tuple[LinkText, ...]
    joints: tuple[JointText, ...]
    folder: Path


def _recoded(text: str) -> bytes:
    """A text in UTF-8, whatever encoding it says it had."""
    declared = text.startswith("<?xml") and "?>" in text
    return (text[text.index("?>") + 2 :] if declared else text).encode()


def parsed(source: str | Path) -> RobotText:
    """A URDF file as data.

    Args:
        source: The file, or its text.
    """
    text = source.lstrip("\ufeff \t\r\n") if isinstance(source, str) else ""
    if text.startswith("<"):
        data, folder, what = _recoded(text), Path(), "The text"
    else:
        if not isinstance(source, str | PathLike):
            raise ModelError(f"Give the path of a URDF file or its text, got {source!r}.")
        path = Path(source)
        if not str(source) or not path.is_file():
            raise ModelError(f"There is no URDF file {str(source)!r}.")
        data, folder, what = path.read_bytes(), path.parent, str(source)
        if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # as PowerShell redirects what xacro prints
            data = _recoded(data.decode("utf-16", "replace"))
    try:
        root = ElementTree.fromstring(data.strip(b"\0 \t\r\n"))
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        hint = f" {XACRO}" if b"<xacro:" in data else ""
        raise ModelError(f"{what} cannot be read as URDF: {error}.{hint}") from error
    _refuse_xacro(root, what)
    if _tag(root) != "robot":
        other = OTHERS.get(_tag(root))
        hint = f" {other} is not read: convert it to URDF, or describe the robot by joints, Chain([Joint(...), ...])."
        raise ModelError(
            f"{what} is not a URDF file: its outermost element is <{_tag(root)}>, not <robot>.{hint if other else ''}"
        )
    links = tuple(_link(e) for e in _all(root, "link"))
    if not links:
        raise ModelError(f"{what} has no <link>; a robot needs links and the joints between them.")
    return RobotText(root.get("name", ""), links, tuple(_joint(e) for e in _all(root, "joint")), folder.resolve())


def _refuse_xacro(root: Element, what: str) -> None:
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        if "xacro" in element.tag.partition("}")[0]:
            raise ModelError(f"{what} contains <xacro:{_tag(element)}>; {XACRO}")
        for name, value in element.items():
            if "${" in value or "$(" in value:
                raise ModelError(f"{what} contains {name}={value!r} in <{_tag(element)}>; {XACRO}")


def _link(element: Element) -> LinkText:
    name = _word(element, "name", "A link")
    owner = f"the link {name!r}"
    geometry = [
        _geometry(part, owner, kind == "visual") for kind in ("visual", "collision") for part in _all(element, kind)
    ]
    return LinkText(name, _inertial(element, owner), tuple(e for e in geometry if e is not None))


def _inertial(element: Element, owner: str) -> InertialText | None:
    given = _one(element, "inertial")
    if given is None:
        return None
    mass, tensor = _one(given, "mass"), _one(given, "inertia")
    if mass is None:
        raise ModelError(f'The <inertial> of {owner} has no mass; write <mass value="..."/>, or leave it out.')
    value = _number(mass, "value", f"The mass of {owner}")
    if not np.isfinite(value) or value < 0:
        raise ModelError(f"The mass of {owner} must be finite and not negative, got {value}.")
    I = np.zeros((3, 3))
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)) if tensor is not None else ():
        letters = "i" + "xyz"[i] + "xyz"[j]
        entry = _number(cast(Element, tensor), letters, f"{letters} in the inertia of {owner}", None if i == j else 0.0)
        rounding = i == j and -1e-15 * value <= entry < 0  # of the program that wrote the file
        I[i, j] = I[j, i] = 0.0 if rounding else entry
    return InertialText(value, _finite(I, f"The inertia of {owner}"), _origin(given, f"The inertial origin of {owner}"))


def _geometry(element: Element, owner: str, drawn: bool) -> GeometryText | None:
    """None for what has no form, or one that URDF does not know."""
    shape = _one(element, "geometry")
    origin = _origin(element, f"The origin of what {owner} is drawn with")
    for form in shape if shape is not None else ():
        what = f"of what {owner} is drawn with"
        if _tag(form) == "box":
            return GeometryText("box", _numbers(form, "size", 3, f"The size {what}"), origin, "", drawn)
        if _tag(form) in ("cylinder", "sphere"):
            names = ("radius", "length")[: 2 if _tag(form) == "cylinder" else 1]
            sizes = tuple(_number(form, name, f"The {name} {what}") for name in names)
            return GeometryText(str(_tag(form)), sizes, origin, "", drawn)
        if _tag(form) == "mesh":
            scale = _numbers(form, "scale", 3, f"The scale {what}", (1.0, 1.0, 1.0))
            return GeometryText("mesh", scale, origin, _word(form, "filename", f"A mesh of {owner}"), drawn)
    return None


def _joint(element: Element) -> JointText:
    name = _word(element, "name", "A joint")
    owner = f"the joint {name!r}"
    ends = {}
    for end in ("parent", "child"):
        given = _one(element, end)
        if given is None:
            raise ModelError(f'The joint {name!r} has no <{end} link="..."/>.')
        ends[end] = _word(given, "link", f"The <{end}> of {owner}")
    axis, limit, dynamics, mimic = (_one(element, e) for e in ("axis", "limit", "dynamics", "mimic"))
    given = {} if limit is None else limit.attrib
    limits = {
        e: _number(cast(Element, limit), e, f"The limit {e} of {owner}")
        for e in ("lower", "upper", "effort", "velocity")
        if e in given
    }
    damping, friction = (
        0.0 if dynamics is None else _number(dynamics, e, f"The {e} of {owner}", 0.0) for e in ("damping", "friction")
    )
    follows = None
    if mimic is not None:
        factors = [
            _finite(_number(mimic, e, f"The {e} of {owner}", default), f"The {e} of {owner}")
            for e, default in (("multiplier", 1.0), ("offset", 0.0))
        ]
        follows = _word(mimic, "joint", f"The <mimic> of {owner}"), float(factors[0]), float(factors[1])
    return JointText(
        name=name,
        type=_word(element, "type", f"The joint {name!r}"),
        parent=ends["parent"],
        child=ends["child"],
        origin=_origin(element, f"The origin of {owner}"),
        axis=(1.0, 0.0, 0.0) if axis is None else _numbers(axis, "xyz", 3, f"The axis of {owner}", (1.0, 0.0, 0.0)),
        limits=limits,
        damping=damping,
        friction=friction,
        mimic=follows,
    )


def _origin(element: Element, what: str) -> np.ndarray:
    """The pose that an <origin xyz= rpy=> tells: turned about the fixed axes x, y, z by roll, pitch, yaw."""
    given, pose = _one(element, "origin"), np.eye(4)
    if given is None:
        return pose
    pose[:3, 3] = _numbers(given, "xyz", 3, what, (0.0, 0.0, 0.0))
    angles = np.array(_numbers(given, "rpy", 3, what, (0.0, 0.0, 0.0)))
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    pose[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return _finite(pose, what)


def _tag(element: Element) -> str:
    """The name of an element without its namespace; comments have none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _all(element: Element, tag: str) -> Iterator[Element]:
    return (e for e in element if _tag(e) == tag)


def _one(element: Element, tag: str) -> Element | None:
    return next(_all(element, tag), None)


def _word(element: Element, name: str, what: str) -> str:
    value = element.get(name, "").strip()
    if not value:
        raise ModelError(f'{what} has no {name}; write <{_tag(element)} {name}="..."> in the URDF.')
    return value


def _number(element: Element, name: str, what: str, default: float | None = None) -> float:
    if default is not None and name not in element.attrib:
        return default
    return _numbers(element, name, 1, what)[0]


def _numbers(
    element: Element, name: str, count: int, what: str, default: tuple[float, ...] | None = None
) -> tuple[float, ...]:
    value = element.get(name)
    if value is None and default is not None:
        return default
    try:
        found = tuple(float(e) for e in (value or "").split())
    except ValueError:
        found = ()
    if len(found) != count:
        needed = "one number" if count == 1 else f"{count} numbers with blanks between them"
        got = "nothing" if value is None else f"{name}={value!r}"
        raise ModelError(f"{what} needs {needed}; the URDF has {got}.")
    return found


def _finite(values: Any, what: str) -> Any:
    if not np.all(np.isfinite(values)):
        raise ModelError(f"{what} must be finite numbers.")
    return values
