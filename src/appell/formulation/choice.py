"""Which formulation, if the user does not say: the one that takes fewer operations."""

from __future__ import annotations

from appell.equations import Equations
from appell.errors import FormulationError
from appell.formulation.abstract import derived, kinds
from appell.formulation.gibbs_appell import GibbsAppell
from appell.formulation.gpme import GPME
from appell.formulation.recursive import Recursive
from appell.kinematics.mechanics import Mechanics

FREE = 3  # coordinates of a tree from which on recursion takes fewer operations
BOUND = 12  # the same under constraints, which recursion has to bring in one by one
SHARE = 2  # and so many coordinates for each row


def automatic(mechanics: Mechanics) -> Equations:
    """Recursive elimination for trees of bodies where it pays, Gibbs-Appell's equations for all else.

    Few coordinates, or many constraints, leave few unknowns, which are better solved for at once. Forces of drives
    along chosen coordinates are no forces of ideal constraints: models with such programmes go by the GPME.
    """
    if not kinds(mechanics) <= GibbsAppell.accepts:
        return derived(mechanics, GPME())
    n, rows = len(mechanics.model.coordinates), len(mechanics.model.rows)
    if (n >= FREE and not rows) or (n >= BOUND and n >= SHARE * rows):
        try:
            return derived(mechanics, Recursive())
        except FormulationError:
            pass
    return derived(mechanics, GibbsAppell())
