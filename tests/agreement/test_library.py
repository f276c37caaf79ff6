"""The library itself: names, options, errors, light import; and what the docstrings claim without a run."""

import subprocess
import sys

import numpy as np
import pytest

import appell as ap
from appell.errors import ModelError
from appell.kinematics.consistency import jacobian_at
from appell.kinematics.mechanics import Mechanics


def test_every_name_is_a_function_of_the_package():
    for name in ap.library.names():
        function = getattr(ap.library, name.replace("-", "_"))
        assert ap.library.model(name).name == function().name
        assert "Reference:" in function.__doc__
        assert "Parameters of the model:" in function.__doc__


VARIANTS = {
    "raindrop": {"law": "swept"},
    "rocket": {"drag": True},
    "sprayer": {"drive": "body", "separate_tank": True},
}


@pytest.mark.parametrize("name", ap.library.names())
def test_every_letter_of_a_model_says_what_it_is_and_in_which_unit(name):
    for options in ({}, VARIANTS.get(name, {})):
        model = ap.library.model(name, options)
        multipliers = {z for z in model.states if z.name.startswith("lambda_")}  # in units of its programme
        for letter in (*model.coordinates, *model.states, *model.inputs, *model.parameters):
            assert letter.description, f"{letter} of {name}"
            assert letter.unit or letter in multipliers, f"{letter} of {name}"


def test_the_words_of_a_letter_are_those_of_its_own_model():
    """SymPy remembers formulas, and with them letters of the same name that another model has."""
    assert [str(s.description) for s in ap.library.appell_hamel().parameters if s.name == "c"] == [
        "ratio of horizontal to vertical speed"
    ]
    stone = ap.library.rattleback()
    for model in (stone, stone.add(ap.Potential(0 * stone.coordinates[0], "nothing"))):
        (c,) = (s for s in model.parameters if s.name == "c")
        assert (c.unit, c.description) == ("m", "half axis along z")
    chain = ap.library.planar_2r()
    assert chain.parameters[0].description == ap.library.planar_2r().parameters[0].description


def test_nothing_is_said_about_a_model_where_python_drops_what_is_said():
    program = "import appell as ap; print(ap.library.about('rolling-disk'))"
    done = subprocess.run([sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_what_is_said_about_a_model_does_not_say_its_parameters_again():
    for name in ap.library.names():
        about = ap.library.about(name)
        assert "Parameters of the model" not in about
        assert "Reference: " in about


def test_names_are_sorted_and_spelled_freely():
    assert list(ap.library.names()) == sorted(ap.library.names())
    assert ap.library.model("Rolling_Disk").name == ap.library.model("rolling disk").name == "rolling disk"


def test_unknown_names_get_near_matches():
    with pytest.raises(ModelError, match="'rolling-disk'"):
        ap.library.model("roling-disc")
    with pytest.raises(ModelError, match="There are: andrews-squeezer, appell-hamel, arevalo"):
        ap.library.model("zzz")
    with pytest.raises(AttributeError, match="no name 'rolling_disc'"):
        _ = ap.library.rolling_disc


def test_options():
    assert len(ap.library.model("pendulum-chain", {"links": 5}).coordinates) == 5
    with pytest.raises(ModelError, match="no option 'link'; it has: links, angles, mass"):
        ap.library.model("pendulum-chain", {"link": 5})
    for wrong in ({"links": 0}, {"angles": "joint"}, {"mass": "bars"}):
        with pytest.raises(ModelError):
            ap.library.model("pendulum-chain", wrong)


def test_the_list_is_light():
    code = "import sys, appell.library; appell.library.names(); print('sympy' in sys.modules, 'casadi' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "False"]


def test_relative_and_absolute_angles_are_the_same_chain():
    relative, absolute = (
        ap.compile(ap.derive(ap.library.pendulum_chain(4, angles))).bind() for angles in ("relative", "absolute")
    )
    q, v = np.random.default_rng(2).uniform(-2, 2, (2, 4))
    one = relative.accelerations(ap.State(relative.model, np.concatenate([q, v])))
    other = absolute.accelerations(ap.State(absolute.model, np.concatenate([np.cumsum(q), np.cumsum(v)])))
    np.testing.assert_allclose(np.cumsum(one), other, rtol=1e-11)


@pytest.mark.parametrize("q1", [0.0, 0.4, -0.3, 1.2])
def test_the_bricard_loop_moves(q1):
    """Five rows of rank four on five angles, all along the curve q1 = q3 = q5, q2 = q4."""
    system = ap.compile(ap.derive(ap.library.bricard())).bind()
    assert len(system.equations.unknowns) == 1
    assert len(system.equations.redundant_rows) == 1
    state = system.consistent({"q1": q1, "q1.rate": 1.0}, near={"q3": q1, "q5": q1})
    np.testing.assert_allclose(state.q, [q1, state.q[1], q1, state.q[1], q1], rtol=0, atol=1e-9)
    mechanics = Mechanics(system.model)
    sizes = np.linalg.svd(jacobian_at(mechanics, 0.0, state.q, state.v, state.z, system.p), compute_uv=False)
    assert sizes[3] > 1
    assert sizes[4] < 1e-8
    np.testing.assert_allclose(state.v[[2, 4]], 1.0, rtol=0, atol=1e-7)
