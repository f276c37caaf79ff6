"""Draws higher_order.png: the drives of the RRP arm along a motion with bounded jerk."""

from pathlib import Path

import appell as ap

robot = ap.higher_order.Dynamics(ap.library.rrp_arm())
move = ap.higher_order.polynomial([0, 0, 0.2], [1.2, -0.8, 0.5], degree=7, limits={"velocity": 2.0, "jerk": 40.0})
ap.higher_order.Profile(robot, move).plot(Path(__file__).with_suffix(".png"))
