"""From a model to its equations: by the principle that is named, or by the one that takes the fewest operations."""

from __future__ import annotations

from appell.equations import Equations
from appell.errors import FormulationError
from appell.formulation.abstract import AbstractFormulation, kinds
from appell.formulation.gibbs_appell import GibbsAppell
from appell.formulation.gpme import GPME
from appell.formulation.recursive import Recursive
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.rank import check_movable, check_rank
from appell.kinematics.turning import AXES
from appell.model.body import frames_of
from appell.model.model import Model

FREE = 3  # coordinates of a tree from which on recursion takes fewer operations
BOUND = 12  # the same under constraints, which recursion has to bring in one by one
SHARE = 2  # and so many coordinates for each row
BODY = 7  # coordinates of a free body with a quaternion


def derive(model: Model, formulation: AbstractFormulation | None = None) -> Equations:
    """The equations of motion of a model by a principle of mechanics.

    Args:
        model: The model.
        formulation: The principle. If left out, `Recursive()` for free trees of three coordinates or more and for
            big ones with few constraints, where it takes fewer operations; `GPME()` where drives along chosen
            coordinates enforce a programme; `GibbsAppell()` for all others, in angular velocities where there are
            quaternions.

    Returns:
        Equations A y = b without multipliers (the oracles excepted).

    Example:
        >>> import appell as ap
        >>> print(ap.derive(ap.library.rolling_disk()).summary().splitlines()[0][:41])
        rolling disk by Gibbs-Appell: 8 states, 3
    """
    mechanics = Mechanics(model)
    return _by_the_cheapest(mechanics) if formulation is None else apply(formulation, mechanics)


def _by_the_cheapest(mechanics: Mechanics) -> Equations:
    """Recursive elimination for trees of bodies where it pays, Gibbs-Appell's equations for all else.

    Few coordinates, or many constraints, leave few unknowns, which are better solved for at once. Forces of drives
    along chosen coordinates are no forces of ideal constraints: models with such programmes go by the GPME.
    """
    if not kinds(mechanics) <= GibbsAppell.accepts:
        return apply(GPME(), mechanics)
    n, rows = len(mechanics.model.coordinates), len(mechanics.model.rows)
    if _turns(mechanics):
        axes = AXES if rows > len(mechanics.norm_rows) else AXES[:1]
        return min((apply(GibbsAppell(angular=e), mechanics) for e in axes), key=lambda found: found.operations)
    if (n >= FREE and not rows) or (n >= BOUND and n >= SHARE * rows):
        try:
            return apply(Recursive(), mechanics)
        except FormulationError:
            pass
    return apply(GibbsAppell(), mechanics)


def _turns(mechanics: Mechanics) -> bool:
    """Whether there are quaternions, but for big trees of bodies on bodies, where recursion takes fewer operations."""
    model, norms = mechanics.model, len(mechanics.norm_rows)
    if not norms or not mechanics.linear:
        return False
    deepest = max(len(frame.unit_quaternions) for body in model.bodies for frame in (model.ground, *frames_of(body)))
    n, rows = len(model.coordinates), len(model.rows)
    return n < BOUND or n < SHARE * rows or (n <= BODY * norms and deepest == 1)


def apply(formulation: AbstractFormulation, mechanics: Mechanics) -> Equations:
    """The equations of a model on the graph, if the principle accepts it and something is left to move."""
    if not isinstance(formulation, AbstractFormulation):
        from appell.formulation import FORMULATIONS

        said = getattr(formulation, "__name__", formulation)
        plain = "".join(filter(str.isalpha, str(said))).lower()
        example = {one.__name__.lower(): one.__name__ for one in FORMULATIONS}.get(plain, "GibbsAppell")
        raise FormulationError(f"Got {formulation!r} as a formulation; give one such as appell.{example}().")
    formulation.check(mechanics)
    check_rank(mechanics)
    split = formulation.choose(mechanics)
    check_movable(mechanics, split)
    return formulation.derive(mechanics, split)
