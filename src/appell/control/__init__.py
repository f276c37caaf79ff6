"""Feedback: laws as formulas that close inputs, design by the first approximation, and laws that track a reference."""

from appell.control.controllability import controllability, observability, smallest_actuators, smallest_sensors
from appell.control.feedback import Feedback, lqr, place
from appell.control.laws import ComputedTorque, SlotineLi
from appell.control.mpc import MPC
from appell.control.pid import PID, Controller, Loop, regulate, schedule
from appell.control.reference import Reference
from appell.control.tracking import Tracking, track

__all__ = [
    "MPC",
    "PID",
    "ComputedTorque",
    "Controller",
    "Feedback",
    "Loop",
    "Reference",
    "SlotineLi",
    "Tracking",
    "controllability",
    "lqr",
    "observability",
    "place",
    "regulate",
    "schedule",
    "smallest_actuators",
    "smallest_sensors",
    "track",
]
