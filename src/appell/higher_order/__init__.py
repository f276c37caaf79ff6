"""Higher-order dynamics of robots: force rates, jerks and snaps, acceleration energies, and their identities."""

from appell.higher_order.dynamics import Dynamics
from appell.higher_order.friction import Friction

__all__ = ["Dynamics", "Friction"]
