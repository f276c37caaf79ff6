"""Programmed motions: tasks as constraints, plans, their feasibility, and the best use of what they leave free."""

from appell.model.task import curvature, direction, distance, follow, path_speed, profile, surface

__all__ = ["curvature", "direction", "distance", "follow", "path_speed", "profile", "surface"]
