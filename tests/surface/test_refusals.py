"""What is no argument for control and planning at all is refused in words, never by a fault from inside."""

import numpy as np
import pytest

import appell as ap
from appell import control, planning

NO_NUMBER = (None, "a", [], {"a": "b"}, np.zeros(2), float("nan"), len)
ABSURD = (*NO_NUMBER, 3)


@pytest.fixture(scope="module")
def lin():
    return ap.linearize(ap.equilibrium(ap.library.slider_crank(), {"theta": 0.3}), dependent=["phi", "x_s"])


@pytest.fixture(scope="module")
def feedback(lin):
    return control.lqr(lin)


FIRST = {
    "plant": planning.plant,
    "orders": planning.orders,
    "projected": planning.projected,
    "paced": planning.paced,
    "with_motors": lambda model: control.with_motors(model, control.Motor(resistance=1, constant=1)),
    "regulate": lambda model: control.regulate(model, {}),
    "SlotineLi": lambda model: control.SlotineLi(model, [], 1, 1, 1),
    "luenberger": lambda lin: control.luenberger(lin, ["theta"], [-1, -2]),
    "kalman": lambda lin: control.kalman(lin, ["theta"]),
    "smallest_actuators": control.smallest_actuators,
    "smallest_sensors": lambda lin: control.smallest_sensors(lin, ["theta"]),
    "output_feedback": lambda feedback: control.output_feedback(feedback, None),
    "region_of_attraction": lambda feedback: ap.ensemble.region_of_attraction(feedback, {"theta": 1}),
    "track_many": lambda system: control.track_many(system, {}, None, np.zeros((1, 2))),
}


@pytest.mark.parametrize("name", FIRST)
def test_what_is_no_model_system_or_design_is_refused(name):
    for absurd in ABSURD:
        with pytest.raises(ap.AppellError):
            FIRST[name](absurd)


def test_the_refusal_says_what_to_give():
    with pytest.raises(ap.AppellError, match=r"^Got 3; give a model with programmed constraints\.$"):
        planning.plant(3)


@pytest.mark.parametrize("absurd", [*NO_NUMBER, 2.5, -1])
def test_counts_are_whole_numbers(feedback, absurd):
    for call in (
        lambda: ap.verify(ap.library.slider_crank(), states=absurd),
        lambda: ap.equilibrium(ap.library.slider_crank(), starts=absurd),
        lambda: ap.ensemble.region_of_attraction(feedback, {"theta": 0.1}, runs=absurd),
    ):
        with pytest.raises(ap.AppellError, match="whole number"):
            call()


def test_names_of_forces_joints_and_limits_are_checked():
    model = ap.library.three_link()
    for call in (
        lambda: ap.plan(model, until=0.1, drives=3),
        lambda: planning.plant(model, without=3),
        lambda: planning.plant(model, joints=["psi9"]),
        lambda: ap.plan(model, until=0.1, limits=planning.Limits(speed=3)),
        lambda: planning.surface(model.ground.point(model.coordinates[0], 0), 3),
        lambda: ap.Programmed(model.coordinates[0] - 1, realization=3),
        lambda: ap.Programmed(len),
    ):
        with pytest.raises(ap.AppellError):
            call()
    assert [str(w) for w in planning.plant(model, without="drive", joints=["psi1"]).inputs] == ["drive_psi1"]


def test_many_runs_go_forward_in_time():
    model = ap.library.planar_2r()
    law, system = control.ComputedTorque(model, 5.0), ap.compile(ap.derive(model)).bind()
    rest = {q: 0 * ap.t for q in model.coordinates}
    with pytest.raises(ap.AppellError, match="from t = 0 on by positive steps; got until = -1"):
        control.track_many(system, rest, law, np.zeros((1, 4)), until=-1.0)
