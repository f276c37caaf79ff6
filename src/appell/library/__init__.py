"""Ready models, one function each: `appell.library.rolling_disk()`, or by name, `model("rolling-disk")`.

Each model carries suggested numbers, a start on its constraints and a length of run, so that it can be derived,
compiled and run as it is. A model lives in a private file and is loaded when first asked for: a public file of the
same name as its function would take the function's place in this package as soon as somebody imports it.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from appell.errors import ModelError

if TYPE_CHECKING:
    from appell.model.model import Model

MODELS: dict[str, str] = {
    "andrews-squeezer": "_andrews_squeezer:andrews_squeezer",
    "appell-hamel": "_appell_hamel:appell_hamel",
    "arevalo": "_arevalo:arevalo",
    "ball-and-beam": "_ball_and_beam:ball_and_beam",
    "bicycle": "_bicycle:bicycle",
    "bricard": "_bricard:bricard",
    "cart-lever-pendulum": "_cart_lever_pendulum:cart_lever_pendulum",
    "chaplygin-sleigh": "_chaplygin_sleigh:chaplygin_sleigh",
    "clothoid-vehicle": "_clothoid_vehicle:clothoid_vehicle",
    "conical-pendulum": "_conical_pendulum:conical_pendulum",
    "constant-speed": "_constant_speed:constant_speed",
    "crane": "_crane:crane",
    "curvature-arm": "_curvature_arm:curvature_arm",
    "delta-robot": "_delta_robot:delta_robot",
    "differential-drive": "_differential_drive:differential_drive",
    "draining-rover": "_draining_rover:draining_rover",
    "driven-pendulum": "_driven_pendulum:driven_pendulum",
    "filling-delta": "_filling_delta:filling_delta",
    "five-bar": "_five_bar:five_bar",
    "four-bar": "_four_bar:four_bar",
    "hauled-chain": "_hauled_chain:hauled_chain",
    "hopper-cart": "_hopper_cart:hopper_cart",
    "jerk-cart-pendulum": "_jerk_cart_pendulum:jerk_cart_pendulum",
    "knife-edge": "_knife_edge:knife_edge",
    "leaking-crane": "_crane:leaking_crane",
    "leaking-disk": "_leaking_disk:leaking_disk",
    "leaking-sleigh": "_leaking_sleigh:leaking_sleigh",
    "obstacle-follower": "_obstacle_follower:obstacle_follower",
    "pendulum-chain": "_pendulum_chain:pendulum_chain",
    "planar-2r": "_planar_2r:planar_2r",
    "pursuit": "_pursuit:pursuit",
    "raindrop": "_raindrop:raindrop",
    "rattleback": "_rattleback:rattleback",
    "rocket": "_rocket:rocket",
    "rocket-car": "_rocket_car:rocket_car",
    "rolling-ball": "_rolling_ball:rolling_ball",
    "rolling-disk": "_rolling_disk:rolling_disk",
    "rrp-arm": "_rrp_arm:rrp_arm",
    "scara": "_scara:scara",
    "seven-axis-arm": "_seven_axis_arm:seven_axis_arm",
    "six-axis-arm": "_six_axis_arm:six_axis_arm",
    "slider-crank": "_slider_crank:slider_crank",
    "snakeboard": "_snakeboard:snakeboard",
    "spherical-pendulum": "_spherical_pendulum:spherical_pendulum",
    "sprayer": "_sprayer:sprayer",
    "stewart-platform": "_stewart_platform:stewart_platform",
    "three-link": "_three_link:three_link",
    "two-streams": "_two_streams:two_streams",
    "unicycle-curvature-rate": "_unicycle_curvature_rate:unicycle_curvature_rate",
    "watt-governor": "_watt_governor:watt_governor",
}
"""From the name on the command line to file and function."""

COMPANIONS = ("_pursuit:pursuit_speeds", "_rocket:rocket_events", "_three_link_figures:three_link_figures")
"""What goes with a model but is no part of it: quasi-velocities for a formulation, events for a run."""

EVENTS: dict[str, str] = {"rocket": "_rocket:rocket_events"}
"""Models that `appell run` runs with events: name to file and function."""

_FUNCTIONS = {where.partition(":")[2]: where for where in (*MODELS.values(), *COMPANIONS)}


def names() -> tuple[str, ...]:
    """The names of all models, in alphabetical order."""
    return tuple(MODELS)


def model(name: str, options: Mapping[str, Any] | None = None) -> Model:
    """A model by its name.

    Args:
        name: A name such as `rolling-disk`; underscores and capitals are taken as well.
        options: Arguments of the model's function, `{"links": 5}`.

    Returns:
        The model.

    Example:
        >>> model("pendulum-chain", {"links": 2})
        Model 'pendulum chain': 2 coordinates, 2 bodies, 1 force, 0 constraint rows, parameters g l m
    """
    label, function = _label(name), _function(name)
    known = list(inspect.signature(function).parameters)
    if options is not None and not isinstance(options, Mapping):
        raise ModelError(f"The options of a model are given by name, {{'links': 5}}; got {options!r}.")
    for option in options or {}:
        if option not in known:
            raise ModelError(f"{label!r} has no option {option!r}; it has: {', '.join(known) or 'none'}.")
    return function(**(options or {}))


def about(name: str) -> str:
    """What there is to know about a model besides its letters, whose units and words it has itself; and its source.

    Args:
        name: A name as for `model`.

    Example:
        >>> about("chaplygin-sleigh").splitlines()[-1]
        'Reference: Chaplygin 1911; Neimark and Fufaev 1972, chapter II; Bloch 2015, section 1.7.'
    """
    words = _function(name).__doc__
    if words is None:  # python -OO
        return ""
    paragraphs = inspect.cleandoc(words).split("\n\n")
    first = next(i for i, words in enumerate(paragraphs) if words.startswith("Parameters of the model"))
    paragraphs[first] = re.sub(r"(?s)^.*?\.(\n|$)", "", paragraphs[first])  # up to the first line that ends a sentence
    return "\n".join(words for words in paragraphs[first:] if words and not words.startswith("Args:"))


def events(name: str) -> tuple[Any, ...]:
    """The events that a model is run with on the command line; most have none.

    Args:
        name: A name as for `model`.
    """
    where = EVENTS.get(_label(name))
    return tuple(_load(where)()) if where else ()


def _label(name: str) -> str:
    if not isinstance(name, str):
        raise ModelError(f"A model of the library is asked for by its name, such as 'rolling-disk'; got {name!r}.")
    return name.strip().lower().replace("_", "-").replace(" ", "-")


def _function(name: str) -> Callable[..., Any]:
    """The function of a model by its name."""
    label = _label(name)
    if label not in MODELS:
        near = difflib.get_close_matches(label, MODELS, 3, 0.5)
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"There are: {', '.join(MODELS)}."
        raise ModelError(f"{name!r} is not a model of the library. {hint}")
    return _load(MODELS[label])


def _load(where: str) -> Callable[..., Any]:
    file, _, function = where.partition(":")
    return getattr(import_module(f"appell.library.{file}"), function)


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in _FUNCTIONS:
        near = difflib.get_close_matches(name, _FUNCTIONS, 1) if not name.startswith("_") else []
        hint = f"did you mean {near[0]!r}?" if near else "appell.library.names() lists all"
        raise AttributeError(f"appell.library has no name {name!r}; {hint}")
    function = _load(_FUNCTIONS[name])
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return sorted([*_FUNCTIONS, "MODELS", "about", "model", "names"])
