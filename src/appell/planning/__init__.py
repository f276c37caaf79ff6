"""Programmed motions: tasks as constraints, plans, their feasibility, and the best use of what they leave free."""

from appell.model.task import curvature, direction, distance, follow, path_speed, profile, surface
from appell.planning.feasibility import Finding, Limits, Regularity
from appell.planning.obstacle import Obstacle
from appell.planning.optimal import Optimum, optimize
from appell.planning.pace import paced
from appell.planning.planner import Plan, plan
from appell.planning.plant import plant
from appell.planning.programme import Programme, orders
from appell.planning.projection import projected

__all__ = [
    "Finding",
    "Limits",
    "Obstacle",
    "Optimum",
    "Plan",
    "Programme",
    "Regularity",
    "curvature",
    "direction",
    "distance",
    "follow",
    "optimize",
    "orders",
    "paced",
    "path_speed",
    "plan",
    "plant",
    "profile",
    "projected",
    "surface",
]
