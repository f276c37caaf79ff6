"""Feedback laws as formulas: what they remember becomes extra states, what they command closes the inputs."""

from appell.control.pid import PID, Controller, Loop, regulate, schedule

__all__ = ["PID", "Controller", "Loop", "regulate", "schedule"]
