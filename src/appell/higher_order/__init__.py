"""Higher-order dynamics of robots: force rates, jerks and snaps, acceleration energies, and their identities."""

from appell.higher_order.dynamics import Dynamics
from appell.higher_order.formulas import formula
from appell.higher_order.friction import Friction
from appell.higher_order.identities import Identities, catalan, unified, verify
from appell.higher_order.profile import DriveCheck, Profile, Violation
from appell.higher_order.trajectory import Trajectory, polynomial, spline

__all__ = [
    "DriveCheck",
    "Dynamics",
    "Friction",
    "Identities",
    "Profile",
    "Trajectory",
    "Violation",
    "catalan",
    "formula",
    "polynomial",
    "spline",
    "unified",
    "verify",
]
