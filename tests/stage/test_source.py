"""Equations as source of Python and MATLAB: the same numbers as the system, whatever the names and operations."""

import re
import runpy
import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest
import scipy.integrate
import sympy as sp

import appell as ap
from appell.code.code import function_of
from appell.code.matlab import MATLAB
from appell.code.python_source import PYTHON
from appell.code.source import WIDTH, statements
from appell.errors import AppellError

OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
needs_octave = pytest.mark.skipif(OCTAVE is None, reason="needs GNU Octave")
NAMES = ["rolling-disk", "crane", "four-bar", "rocket", "draining-rover", "sprayer", "delta-robot", "pendulum-chain"]


@pytest.fixture(scope="module", params=NAMES)
def system(request):
    return ap.compile(ap.derive(ap.library.model(request.param))).bind()


def near(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11 * max(1.0, float(np.max(np.abs(wanted)))))


def numbers(system, count=3):
    """States and inputs."""
    rng = np.random.default_rng(1)
    return rng.uniform(0.3, 1.2, (len(system.equations.states), count)), rng.uniform(1, 2, len(system.equations.inputs))


def expected(system, name, t, x, w):
    return np.array(function_of(system.equations, name)(t, x, w, system.p))


def octave(folder, script):
    """What a script prints, as numbers."""
    command = [OCTAVE, "--no-gui", "--no-init-file", "--quiet", "--eval", f"format long g; {script}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return np.array([float(word) for word in done.stdout.split()])


def column(values):
    return "[" + "; ".join(repr(float(v)) for v in values) + "]"


def test_python_gives_the_numbers_of_the_system(system, tmp_path):
    code = runpy.run_path(str(system.to_python(tmp_path / "model.py")))
    states, w = numbers(system)
    assert code["STATES"] == tuple(map(str, system.equations.states))
    for x in states.T:
        near(code["rhs"](0.4, x, w), expected(system, "rhs", 0.4, x, w)[:, 0])
        near(code["jacobian"](0.4, x, w), expected(system, "jacobian", 0.4, x, w))
        moved = expected(system, "projected", 0.4, x, w)[:, 0]
        near(code["projected"](0.4, x, w) if "projected" in code else x, moved)
    near(code["rhs"](0.4, states, w), np.column_stack([code["rhs"](0.4, x, w) for x in states.T]))


@needs_octave
def test_matlab_gives_the_numbers_of_the_system(system, tmp_path):
    file = system.to_matlab(tmp_path / "model.m")
    states, w = numbers(system, 1)
    wanted = [expected(system, name, 0.4, states[:, 0], w) for name in ("rhs", "jacobian", "projected")]
    moving = "moved" in file.read_text().partition("\n")[0]
    wanted = np.concatenate([part.ravel(order="F") for part in wanted[: 3 if moving else 2]])
    results = "[f, J, m]" if moving else "[f, J]"
    script = f"{results} = model(0.4, {column(states[:, 0])}, {column(w)}); printf('%.17g\\n', f, J{', m' * moving});"
    near(octave(tmp_path, script), wanted)


@pytest.fixture(scope="module")
def everything():
    """All operations that a graph may have, alone and within others."""
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    small = 0.4 * ca.tanh(a)
    single = [ca.sin, ca.cos, ca.tan, ca.atan, ca.sinh, ca.cosh, ca.tanh, ca.asinh, ca.exp, ca.erf, ca.fabs, ca.sign]
    single += [ca.floor, ca.ceil, ca.expm1, lambda e: -e, lambda e: e * e, lambda e: 2 * e, lambda e: 1 / e]
    inside = [ca.asin(small), ca.acos(small), ca.atanh(small), ca.log1p(small), ca.log(2 + small), ca.sqrt(1 + small)]
    double = [ca.atan2, ca.hypot, ca.fmin, ca.fmax, ca.minus, ca.plus, ca.times, ca.rdivide]
    truths = [a < b, a <= b, a == b, a != b, ca.logic_and(a < b, b > 0), ca.logic_or(a > b, b > 0), ca.logic_not(a < b)]
    chosen = [ca.if_else(c, ca.sin(a), b) for c in truths]
    nested = [
        a - (b - 1), a - (b + 1), a / (b / 3), a / (b * 3), -(a - b), -(a * b), (-a) ** 2, -(a**2), (a + b) ** 2,
        (2 + small) ** b, (a < b) + (b > 0), (a < b) * (a < 2 * b), -(a < b), (a < b) < (b > 0), 3 - (a > b),
        (1 / a) / (1 / b), ca.fabs(a) ** -1.5, a * -3, -2.5 - a, 1e-300 * a, a * ca.pi, ca.logic_not(a),
        ca.logic_and(a, b > 0), sum((ca.sin(k * a) * ca.cos(k * b) for k in range(1, 30)), a),
    ]  # fmt: skip
    column = [*(f(a) for f in single), *inside, *(f(a, b) for f in double), *truths, *chosen, *nested]
    return ca.Function("everything", [ca.vertcat(a, b)], [ca.vertcat(*column)])


POINTS = [(0.7, -1.3), (-1.6, 2.2), (-0.4, -0.9), (1.5, 1.5)]


def test_every_operation_in_python(everything):
    lines, (entries,) = statements(everything, [["a", "b"]], PYTHON)
    assert max(map(len, [*lines, *entries])) < WIDTH + 10
    for a, b in POINTS:
        names = {}
        exec("from numpy import *; from scipy.special import erf", names)
        names.update(a=np.float64(a), b=np.float64(b))
        exec("\n".join(lines), names)
        near([float(eval(entry, names)) for entry in entries], np.array(everything((a, b)))[:, 0])


@needs_octave
def test_every_operation_in_matlab(everything, tmp_path):
    lines, (entries,) = statements(everything, [["a", "b"]], MATLAB)
    (tmp_path / "where.m").write_text("function v = where(c, v)\n  if ~c\n    v = 0;\n  end\nend\n")
    given = "".join(f"a = {a!r}; b = {b!r}; {' '.join(lines)} printf('%.17g\\n', {', '.join(entries)});"
                    for a, b in POINTS)  # fmt: skip
    near(octave(tmp_path, given), np.concatenate([np.array(everything(p))[:, 0] for p in POINTS]))


def test_names_that_a_language_does_not_allow(tmp_path):
    words = "end e1 sin rate state x1 time model stack inf"
    q = ap.coordinates(words)
    k, state_dot = ap.parameters("function state_dot")
    ground = ap.Frame("ground")
    bodies = [ap.Particle(f"m{i}", 1.0, ground.point(e)) for i, e in enumerate(q)]
    pull = ap.Generalized({e: -k * (i + 1) * sp.sin(e) + state_dot for i, e in enumerate(q)})
    system = ap.compile(ap.derive(ap.Model(ground, q, bodies, [pull]))).bind({k: 0.5, state_dot: 0.25})
    code = runpy.run_path(str(system.to_python(tmp_path / "model.py")))
    x, w = numbers(system, 1)
    near(code["rhs"](0.0, x[:, 0]), expected(system, "rhs", 0, x[:, 0], w)[:, 0])
    near(code["jacobian"](0.0, x[:, 0]), expected(system, "jacobian", 0, x[:, 0], w))
    system.to_matlab(tmp_path / "model.m")
    if OCTAVE:
        wanted = expected(system, "rhs", 0, x[:, 0], w)[:, 0]
        near(octave(tmp_path, f"printf('%.17g\\n', model(0, {column(x[:, 0])}));"), wanted)


def test_names_and_titles_that_matlab_does_not_allow(tmp_path):
    x, y = ap.coordinates(f"_x {'long' * 16}")
    m = ap.parameters("_m")
    ground = ap.Frame("ground")
    bodies = [ap.Particle("a", m, ground.point(x)), ap.Particle("b", m, ground.point(0, y))]
    pull = ap.Generalized({x: -sp.sin(x), y: -2 * y})
    system = ap.compile(ap.derive(ap.Model(ground, (x, y), bodies, [pull], name="two\nblocks"))).bind({m: 0.5})
    text = system.to_matlab(tmp_path / "model.m").read_text()
    assert "%   MODEL  two blocks by Gibbs-Appell\n" in text
    assert not re.search(r"(^|\W)_|\w{64}", re.sub(r"%.*", "", text))
    if OCTAVE:
        given = [0.5, 1.0, 0.25, 0.125]
        near(octave(tmp_path, f"printf('%.17g\\n', model(0, {column(given)}));"), system.rhs(0, given))


@pytest.mark.parametrize("name", ["end.m", "sin.m", "state.m", "class.py", "numpy.py"])
def test_a_file_that_would_hide_a_word_of_its_language_is_refused(name, tmp_path):
    system = ap.compile(ap.derive(ap.library.rolling_disk()))
    write = system.to_matlab if name.endswith(".m") else system.to_python
    with pytest.raises(AppellError, match=f"hide what .*write my_{name}"):
        write(tmp_path / name)


def test_only_files_of_its_own_are_written_over(system, tmp_path):
    path = tmp_path / "mine.py"
    assert system.to_python(path) == system.to_python(path) == path
    path.write_text("print('mine')\n")
    with pytest.raises(AppellError, match="was not written by appell"):
        system.to_python(path)
    assert path.read_text() == "print('mine')\n"


def test_numbers_that_are_missing_are_asked_for(tmp_path):
    x, m, F, ground = ap.coordinates("x"), ap.parameters("m"), ap.inputs("F"), ap.Frame("ground")
    block = ap.Particle("block", m, ground.point(x))
    system = ap.compile(ap.derive(ap.Model(ground, x, [block], [ap.Generalized({x: F})])))
    rhs = runpy.run_path(str(system.to_python(tmp_path / "block.py")))["rhs"]
    near(rhs(0.0, [1.0, 2.0], [3.0], [4.0]), [2.0, 0.75])
    with pytest.raises(TypeError, match="inputs"):
        rhs(0.0, [1.0, 2.0])
    with pytest.raises(TypeError, match="parameters"):
        rhs(0.0, [1.0, 2.0], [3.0])
    assert "nargin" not in system.to_matlab(tmp_path / "block.m").read_text()


def test_scipy_goes_the_way_of_simulate(tmp_path):
    system = ap.compile(ap.derive(ap.library.crane())).bind()
    code = runpy.run_path(str(system.to_python(tmp_path / "crane.py")))
    motion = ap.simulate(system, ap.library.crane().start, until=2.0)
    x = system.to_x(motion.at(0.0))
    found = scipy.integrate.solve_ivp(
        code["rhs"], (0, 2), x, jac=lambda t, x: code["jacobian"](t, x), method="Radau", rtol=1e-9, atol=1e-11
    )
    near(
        code["projected"](2.0, found.y[:, -1])[:3] * 1e-4, np.array([motion[n][-1] for n in ("x", "l", "theta")]) * 1e-4
    )


@pytest.mark.parametrize("name", ["disk.txt", "2disk.m", "no/disk.m", "folder.m"])
def test_places_that_are_none_are_refused(name, tmp_path):
    (tmp_path / "folder.m").mkdir()
    system = ap.compile(ap.derive(ap.library.rolling_disk()))
    with pytest.raises(AppellError, match=r"ends in .m|C identifier|does not exist; make it first|it is a folder"):
        system.to_matlab(tmp_path / name)
