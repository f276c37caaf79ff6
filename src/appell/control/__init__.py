"""Feedback laws as formulas: what they remember becomes extra states, what they command closes the inputs."""

from appell.control.controllability import controllability, observability, smallest_actuators, smallest_sensors
from appell.control.feedback import Feedback, lqr, place
from appell.control.pid import PID, Controller, Loop, regulate, schedule

__all__ = [
    "PID",
    "Controller",
    "Feedback",
    "Loop",
    "controllability",
    "lqr",
    "observability",
    "place",
    "regulate",
    "schedule",
    "smallest_actuators",
    "smallest_sensors",
]
