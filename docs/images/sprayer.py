"""Draws sprayer.png: what reached the field on three paths of the spraying robot, from one run of the study."""

from pathlib import Path

from appell.sprayer.figures import coverage
from appell.sprayer.study import study

coverage(study()).savefig(Path(__file__).with_suffix(".png"), dpi=110)
