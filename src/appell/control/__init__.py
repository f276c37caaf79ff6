"""Feedback: laws as formulas that close inputs, design by the first approximation, and laws that track a reference."""

from appell.control.controllability import Reach, controllability, observability
from appell.control.feedback import Feedback, lqr, place
from appell.control.invariants import MinimumControls, invariant_polynomials, minimum_controls
from appell.control.laws import ComputedTorque, SlotineLi
from appell.control.many import track_many
from appell.control.motor import Motor, with_motors
from appell.control.mpc import MPC
from appell.control.observer import Observer, kalman, luenberger
from appell.control.output import OutputFeedback, output_feedback
from appell.control.pid import PID, Controller, Loop, regulate, schedule
from appell.control.reference import Reference
from appell.control.smallest import smallest_actuators, smallest_sensors
from appell.control.tracking import Tracking, track

__all__ = [
    "MPC",
    "PID",
    "ComputedTorque",
    "Controller",
    "Feedback",
    "Loop",
    "MinimumControls",
    "Motor",
    "Observer",
    "OutputFeedback",
    "Reach",
    "Reference",
    "SlotineLi",
    "Tracking",
    "controllability",
    "invariant_polynomials",
    "kalman",
    "lqr",
    "luenberger",
    "minimum_controls",
    "observability",
    "output_feedback",
    "place",
    "regulate",
    "schedule",
    "smallest_actuators",
    "smallest_sensors",
    "track",
    "track_many",
    "with_motors",
]
