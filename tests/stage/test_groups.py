"""Dependent velocities in small groups."""

from __future__ import annotations

import numpy as np
import pytest

import appell as ap
from appell.kinematics.groups import ALIKE, in_small_groups
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split, growths
from appell.kinematics.typical import _best_rows, _best_split, _regular

PLATE = np.array([[0.9, 0.3, -0.5], [-0.4, 1.1, 0.6], [0.7, -0.6, 0.8]])


def legs(length: float) -> np.ndarray:
    """Rows of three lengths by the three rates of a plate, each with a length of its own."""
    return np.concatenate([PLATE, -length * np.eye(3)], axis=1)[None]


def test_a_length_that_a_row_gives_alone_is_taken_before_three_rates_together():
    taken = in_small_groups(Split((0, 1, 2), (0, 1, 2)), legs(1.0))
    assert {*taken.dependent} & {3, 4, 5}


def test_not_where_they_grow_more():
    together = Split((0, 1, 2), (0, 1, 2))
    assert in_small_groups(together, legs(0.1)) == together


def test_a_pair_is_left_as_it_is():
    pair = np.array([[[1.0, 0.5, 0.9, 0.0], [-0.5, 1.0, 0.0, 0.9]]])
    assert in_small_groups(Split((0, 1), (0, 1)), pair) == Split((0, 1), (0, 1))


@pytest.mark.parametrize("name", ["bicycle", "stewart-platform", "rocket-car", "sprayer"])
def test_what_is_taken_grows_little_more_than_the_calmest(name):
    jacobians, independent = _regular(Mechanics(ap.library.model(name)), "jacobian")
    calmest, stack = _best_split(jacobians, _best_rows(jacobians, independent)), np.stack(jacobians)
    taken = in_small_groups(calmest, stack)
    growth = growths(calmest.rows, [calmest.dependent, taken.dependent], stack).max(axis=0)
    assert growth[1] <= ALIKE * growth[0]


def test_the_bicycle_is_shorter_for_it():
    bicycle = ap.library.bicycle()
    shorter = ap.derive(bicycle)
    calmest = ap.derive(bicycle, ap.GibbsAppell(dependent=["x", "y", "yaw", "pitch", "spin_r"]))
    assert shorter.operations < 0.85 * calmest.operations
