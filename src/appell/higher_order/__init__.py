"""Higher-order dynamics of robots: force rates, jerks and snaps, acceleration energies, and their identities."""

from appell.higher_order.dynamics import Dynamics
from appell.higher_order.friction import Friction
from appell.higher_order.identities import Identities, catalan, unified, verify

__all__ = ["Dynamics", "Friction", "Identities", "catalan", "unified", "verify"]
