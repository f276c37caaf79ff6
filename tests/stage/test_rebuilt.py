import pytest

import appell as ap
from appell.control.motor import Motor, with_motors
from appell.planning.pace import paced
from appell.planning.plant import plant


@pytest.mark.parametrize(
    "changed",
    [
        lambda model: model.add(ap.Gravity(-ap.parameters("g2") * model.ground.y, name="more")),
        lambda model: plant(model, without=["drive"]),
        paced,
    ],
    ids=["add", "plant", "paced"],
)
def test_a_changed_model_keeps_how_it_is_drawn_named_and_how_long_it_runs(changed):
    model = ap.library.three_link()
    other = changed(model)
    assert model.look is not None
    assert other.look is model.look
    assert other.draw(values={"g2": 1.0} if "g2" in map(str, other.parameters) else {}) is not None
    assert (other.name, other.description, other.until) == (model.name, model.description, model.until)


def test_motors_change_neither_the_drawing_nor_the_quaternions():
    model = ap.library.ball_and_beam()
    driven = with_motors(model, Motor(1.0, 0.1))
    assert driven.look is model.look is not None
    assert driven.values.keys() >= model.values.keys() - {w.label for w in model.inputs}


def test_rows_that_models_add_by_themselves_are_added_once():
    ground = ap.Frame("ground")
    e = ap.coordinates("e0 e1 e2 e3")
    x = ap.coordinates("x")
    drive, mass = ap.inputs("f"), ap.parameters("m")
    frame = ground.rotate_quaternion(*e)
    body = ap.RigidBody("body", mass, ground.point(x, 0), frame, (1, 2, 3))
    task = ap.Programmed(x - ap.t, "task")
    model = ap.Model(
        ground, (x, *e), [body], [ap.Generalized({x: drive}, "drive")], [task], values={mass: 2.0, drive: 0.0},
        start={e[0]: 1.0},
    )  # fmt: skip
    for other in (model.add(), plant(model, joints=[x], without=["drive"]), paced(model)):
        assert len(other.rows) - len(other.programmed) == 1
        assert other.values["m"] == 2.0
        assert other.start["e0"] == 1.0


def test_parameters_of_laws_stay():
    model = ap.library.pendulum_chain(2).with_parameters(ap.parameters("gain"))
    assert "gain" in {s.label for s in model.add().parameters}
