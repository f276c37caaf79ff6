"""The spraying robot at work: paths, feedback laws, coverage of the field, balances, and the study of all of it.

The model itself is `appell.library.sprayer`; a `Sprayer` is the same with its quasi-velocities and closed forms.
"""

from appell.library._sprayer import Nozzle
from appell.sprayer.coverage import Coverage, Strip, cover
from appell.sprayer.laws import Law, drive, follow_by_linearization, follow_by_pid, hold_speeds, start
from appell.sprayer.momentum import Momentum, momentum
from appell.sprayer.paths import Path, circle, straight, zigzag
from appell.sprayer.robot import Sprayer, boom, corners, formulation, irregular

__all__ = [
    "Coverage",
    "Law",
    "Momentum",
    "Nozzle",
    "Path",
    "Sprayer",
    "Strip",
    "boom",
    "circle",
    "corners",
    "cover",
    "drive",
    "follow_by_linearization",
    "follow_by_pid",
    "formulation",
    "hold_speeds",
    "irregular",
    "momentum",
    "start",
    "straight",
    "zigzag",
]
