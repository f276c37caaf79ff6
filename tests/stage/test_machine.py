"""One right-hand side on every machine: CasADi, heyoka, C, SciPy; and the same code from run to run."""

import ctypes
import errno
import gc
import os
import pickle
import shutil
import subprocess
import sys
import weakref

import casadi as ca
import numpy as np
import pytest
import scipy.integrate
import sympy as sp

import appell as ap
from appell.code import heyoka_code
from appell.errors import CompileError, ModelError
from appell.graph.numeric import BLOCK, Numeric, SideBySide

NAMES = ["rolling-disk", "slider-crank", "differential-drive", "pendulum-chain"]


@pytest.fixture(scope="module", params=NAMES)
def equations(request):
    return ap.derive(ap.library.model(request.param))


@pytest.fixture(scope="module")
def system(equations):
    return ap.compile(equations).bind()


@pytest.fixture(scope="module")
def states(system):
    """Columns of states near the suggested start."""
    x0 = system.to_x(system.consistent())
    return x0[:, None] + np.random.default_rng(5).uniform(-0.3, 0.3, (x0.size, 37))


def test_many_states_at_once_are_the_states_one_by_one(system, states):
    single = np.array([system.rhs(0.4, x) for x in states.T]).T
    scale = np.max(np.abs(single), axis=0)
    for columns in (slice(None), slice(0, 1), slice(3, 8)):
        batch = system.rhs(0.4, states[:, columns])
        assert batch.shape == single[:, columns].shape
        assert np.max(np.abs(batch - single[:, columns]) / scale[columns]) < 1e-12


@pytest.mark.heyoka
def test_casadi_and_heyoka_agree(equations, system, states):
    plain = ap.compile(equations, machine="casadi").bind()
    assert not plain.code.rhs.simd
    assert system.code.rhs.simd
    one, other = plain.rhs(0.4, states), system.rhs(0.4, states)
    assert np.max(np.abs(one - other) / np.max(np.abs(one), axis=0)) < 1e-12
    np.testing.assert_array_equal(plain.rhs(0.4, states[:, 0]), system.rhs(0.4, states[:, 0]))


@pytest.mark.heyoka
def test_whole_numbers_in_machine_code():
    a = ca.SX.sym("a")
    code = heyoka_code.machine_code(ca.Function("whole", [a], [ca.vertcat(ca.floor(a), ca.ceil(a))]))
    values = np.array([*np.linspace(-3, 3, 49), 0.49999999999999994, -1e-300, 2.0**51 - 0.5, 1e300, -np.inf, np.nan])
    np.testing.assert_array_equal(code(values[None, :]), [np.floor(values), np.ceil(values)])


def test_the_batch_takes_columns_in_any_memory_order(system, states):
    expected = system.rhs(0.4, states)
    np.testing.assert_array_equal(system.rhs(0.4, np.asfortranarray(states)), expected)
    np.testing.assert_array_equal(system.rhs(0.4, np.repeat(states, 2, axis=1)[:, ::2]), expected)


def test_binding_numbers_compiles_nothing(system):
    other = system.bind(dict.fromkeys([system.model.parameters[0].label], 2.5))
    assert other.code is system.code
    assert other.values != system.values


def test_jacobian_against_finite_differences(system, states):
    x, h = states[:, 0], 1e-6
    columns = [(system.rhs(0.4, x + h * e) - system.rhs(0.4, x - h * e)) / (2 * h) for e in np.eye(x.size)]
    found = system.jacobian(0.4, x)
    np.testing.assert_allclose(found, np.array(columns).T, rtol=0, atol=1e-7 * max(1.0, np.max(np.abs(found))))


def test_matrix_and_forcing_give_the_unknowns(system, states):
    x = states[:, 1]
    y = np.linalg.solve(system.mass_matrix(0.4, x), system.forcing(0.4, x))
    n, m = len(system.model.coordinates), len(system.equations.speeds)
    np.testing.assert_allclose(system.rhs(0.4, x)[n : n + m], y, rtol=1e-10, atol=1e-10)


def test_to_casadi(system, states):
    function = system.to_casadi()
    assert (function.n_in(), function.n_out()) == (4, 1)
    found = np.array(function(0.4, states[:, 2], system.w, system.p)).ravel()
    np.testing.assert_array_equal(found, system.rhs(0.4, states[:, 2]))
    again = ca.Function.deserialize(function.serialize())
    np.testing.assert_array_equal(np.array(again(0.4, states[:, 2], system.w, system.p)).ravel(), found)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_c_source_compiles_and_gives_the_same_numbers(system, states, tmp_path):
    source, header = system.to_c(tmp_path / "model.c")
    assert (source.name, header.name) == ("model.c", "model.h")
    comment = header.read_text()
    assert all(f"[{i}] {s}" in comment for i, s in enumerate(system.equations.states))
    assert "model_f(t, x, w, p, xdot)" in comment
    library = tmp_path / "model.so"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-Wall", str(source), "-o", str(library), "-lm"], check=True)
    code = ctypes.CDLL(str(library))
    n, k = len(system.equations.states), len(system.equations.unknowns)
    x = states[:, 3]
    for name, sizes, expected in (
        ("model_rhs", [n], [system.rhs(0.4, x)]),
        ("model_jacobian", [n * n], [system.jacobian(0.4, x).ravel(order="F")]),
        ("model_linear_system", [k * k, k], [system.mass_matrix(0.4, x).ravel(order="F"), system.forcing(0.4, x)]),
    ):
        found = call(code, name, [[0.4], x, system.w, system.p], sizes)
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12 * np.max(np.abs(wanted)))


MAIN = """
#include <stdio.h>
#include "model.h"
int main(void) {
  double x[model_NX] = {%s}, w[model_NW + 1] = {%s}, p[model_NP] = model_P, f[model_NX];
  int failed = model_f(0.4, x, w, p, f);
  for (int i = 0; i < model_NX; i++) printf("%%.17g\\n", f[i]);
  return failed;
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_c_source_is_called_plainly_with_the_numbers_of_its_header(system, states, tmp_path):
    source, _ = system.to_c(tmp_path / "model.c")
    numbers = (", ".join(repr(float(e)) for e in (*values, 0.0)[: max(1, len(values))]) for values in
               (states[:, 3], system.w))  # fmt: skip
    (tmp_path / "main.c").write_text(MAIN % tuple(numbers))
    program = tmp_path / "main"
    subprocess.run(["gcc", "-Wall", "-Werror", tmp_path / "main.c", source, "-o", program, "-lm"], check=True)
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    wanted = system.rhs(0.4, states[:, 3])
    np.testing.assert_allclose(list(map(float, lines)), wanted, rtol=1e-12, atol=1e-12 * np.max(np.abs(wanted)))


def call(code, name, arguments, sizes):
    """Call a function that CasADi's generator wrote."""
    work = [ctypes.c_longlong() for _ in range(4)]
    getattr(code, f"{name}_work")(*map(ctypes.byref, work))
    counts = [w.value for w in work]
    pointer = ctypes.POINTER(ctypes.c_double)
    given = [np.ascontiguousarray(a, dtype=float) for a in arguments]
    results = [np.zeros(size) for size in sizes]
    arg = (pointer * max(counts[0], len(given)))(*[a.ctypes.data_as(pointer) for a in given])
    res = (pointer * max(counts[1], len(results)))(*[a.ctypes.data_as(pointer) for a in results])
    iw, w = (ctypes.c_longlong * (counts[2] + 1))(), (ctypes.c_double * (counts[3] + 1))()
    assert getattr(code, name)(arg, res, iw, w, 0) == 0
    return results


@pytest.mark.parametrize("name", ["disk.txt", "2disk.c", "no/disk.c", "taken.c"])
def test_c_source_is_written_whole_or_not_at_all(name, tmp_path):
    (tmp_path / "taken.h").mkdir()
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    with pytest.raises(ap.AppellError, match=r"ends in .c|C identifier|does not exist; make it first|it is a folder"):
        system.to_c(tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == ["taken.h"]


def test_any_name_stays_within_the_comment_of_a_header(tmp_path):
    x, ground = ap.coordinates("x"), ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("µ", 1, ground.point(x, 0))], name="größer */ θ")
    _, header = ap.compile(ap.derive(model)).to_c(tmp_path / "model.c")
    comment, _, _ = header.read_text(encoding="utf-8").partition("*/")
    assert "größer * / θ" in comment
    assert "p, the parameters: none" in comment


def test_solve_ivp_takes_the_right_hand_side():
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    start = system.to_x(system.consistent())
    found = scipy.integrate.solve_ivp(system.rhs, (0, 1), start, method="DOP853", rtol=1e-12, atol=1e-12)
    motion = ap.simulate(system, until=1.0)
    np.testing.assert_allclose(found.y[:, -1], system.to_x(motion.at(1.0)), rtol=0, atol=1e-9)
    stiff = scipy.integrate.solve_ivp(
        system.rhs, (0, 0.1), start, method="Radau", jac=system.jacobian, rtol=1e-8, atol=1e-8, vectorized=False
    )
    np.testing.assert_allclose(stiff.y[:, -1], system.to_x(motion.at(0.1)), rtol=0, atol=1e-5)


@pytest.mark.parametrize("machine", ["auto", "c"])
def test_a_state_is_taken_where_x_is(machine):
    """Also with as many speeds as rates, where its array would pass for x: a top's rates are not its angular velocity.

    A ball that spins freely keeps the angular velocity whose components are the speeds; these contain time.
    """
    a, b, c = q = ap.coordinates("a b c")
    u = ap.speeds("u1 u2 u3")
    ground = ap.Frame("ground")
    frame = ground.rotate("z", ap.t**2).rotate_body("xyz", *q)
    top = ap.RigidBody("top", 1, ground.origin, frame, (1, 1, 1))
    omega = ground.components(top.angular_velocity)
    model = ap.Model(ground, q, [top])
    system = ap.compile(ap.derive(model, ap.GibbsAppell(speeds=dict(zip(u, omega, strict=True)))), machine).bind()
    state = system.state({a: 0.3, b: 0.4, c: 0.5, a.rate: 1.0, b.rate: 2.0, c.rate: 3.0}, t=0.7)
    x = system.to_x(state)
    np.testing.assert_allclose(system.rhs(0.7, state)[:3], [1.0, 2.0, 3.0], rtol=1e-14, atol=0)
    np.testing.assert_allclose(system.rhs(0.7, state)[3:], 0.0, rtol=0, atol=1e-14)
    for function in (system.rhs, system.jacobian, system.mass_matrix, system.forcing):
        np.testing.assert_array_equal(function(0.7, state), function(0.7, x))
    np.testing.assert_allclose(system.rhs(0.9, state)[:3], [1.0, 2.0, 3.0], rtol=1e-14, atol=0)  # its rates, then
    np.testing.assert_allclose(system.from_x(0.7, state).array, state.array, rtol=1e-15, atol=0)


def test_states_of_the_wrong_size_are_named():
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    with pytest.raises(ModelError, match=r"The state has 8 entries \(yaw, lean, spin, x, y, .*\), got 5"):
        system.rhs(0.0, np.zeros(5))
    for function in (system.jacobian, system.mass_matrix, system.forcing, system.from_x):
        for few in ([0.5], 0.5, np.zeros((8, 2))):  # one number is not spread over all entries
            with pytest.raises(ModelError, match="The state has 8 entries"):
                function(0.0, few)
    driven = ap.compile(ap.derive(ap.library.planar_2r())).bind()
    with pytest.raises(ModelError, match=r"The input has 2 entries \(tau1, tau2\), got 1"):
        driven.rhs(0.0, np.zeros(4), [1.0])
    for function in (system.accelerations, system.energy, system.residual, system.to_x):
        with pytest.raises(ModelError, match=r"A State is needed here, such as system.state"):
            function(np.zeros(8))


def test_nothing_divides_by_what_vanishes_in_an_ordinary_configuration():
    """All coordinates zero: spin of the disk, steer of the bicycle."""
    for name in ("rolling-disk", "bicycle", "chaplygin-sleigh", "differential-drive"):
        system = ap.compile(ap.derive(ap.library.model(name))).bind()
        n = len(system.model.coordinates)
        for rates in (0.0, 0.3, -2.0):
            x = np.concatenate([np.zeros(n), np.full(len(system.equations.speeds), rates)])
            assert np.all(np.isfinite(system.rhs(0.0, x)))
            assert np.all(np.isfinite(system.jacobian(0.0, x)))


def test_where_a_choice_of_speeds_is_singular_another_one_is_taken():
    """A snakeboard with parallel trucks rolls straight on; x' no longer follows from the turning rate."""
    system = ap.compile(ap.derive(ap.library.snakeboard())).bind()
    start = system.consistent({"front": 0.0, "rear": 0.0, "x.rate": 2.0, "front.rate": 0.0, "rear.rate": 0.0})
    motion = ap.simulate(system, start, until=3.0)
    np.testing.assert_allclose(motion.at(3.0).array, [6, 0, 0, 0, 0, 2, 0, 0, 0, 0], rtol=0, atol=1e-14)


DIGEST = """
import sys, hashlib, tempfile, pathlib
import appell as ap
for name in ("rolling-disk", "four-bar", "bicycle", "snakeboard"):
    system = ap.compile(ap.derive(ap.library.model(name))).bind()
    folder = pathlib.Path(tempfile.mkdtemp())
    files = system.to_c(folder / "code.c")
    text = "".join(f.read_text() for f in files) + system.to_casadi().serialize() + system.equations.summary()
    print(name, hashlib.sha256(text.encode()).hexdigest())
"""


def test_generated_code_is_identical_from_run_to_run():
    runs = []
    for seed in ("1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        runs.append(
            subprocess.run([sys.executable, "-c", DIGEST], capture_output=True, text=True, check=True, env=environment)
        )
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.count("\n") == 4


CACHED = """
import sqlite3, heyoka as hy
import appell as ap
system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
import numpy as np
system.rhs(0.0, np.zeros((8, 4)))
ap.simulate(system, until=0.1)
memory = hy.llvm_state.get_memcache_size()
ap.simulate(system.bind({"m": 2.0, "r": 0.5}), until=0.1)
system.bind({"m": 7.0}).rhs(0.0, np.zeros((8, 4)))
print(hy.llvm_state.get_memcache_size() - memory, hy.llvm_state.get_diskcache_size())
"""


@pytest.mark.heyoka
def test_a_second_run_compiles_nothing(tmp_path):
    """Other numbers find the code in memory, another process finds it on disk."""
    environment = {**os.environ, "HEYOKA_CACHE_DIR": str(tmp_path)}
    grown = []
    for _ in range(2):
        run = [sys.executable, "-c", CACHED]
        out = subprocess.run(run, capture_output=True, text=True, check=True, env=environment).stdout.split()
        assert out[0] == "0"
        grown.append(int(out[1]))
    assert grown[0] > 0
    assert grown[1] == grown[0]


@pytest.fixture(scope="module")
def arm():
    """The Panda on CasADi's machine and in native code."""
    equations = ap.derive(ap.library.model("seven-axis-arm"))
    return ap.compile(equations).bind({"tau1": 5.0}), ap.compile(equations, "c").bind({"tau1": 5.0})


def test_many_places_side_by_side_have_the_bits_of_each_alone():
    t, x, p = ca.SX.sym("t"), ca.SX.sym("x", 3), ca.SX.sym("p", 2)
    function = ca.Function("f", [t, x, ca.SX(0, 1), p], [ca.sin(x) * t, x @ p.T])
    count = 2 * BLOCK + 37
    places = np.random.default_rng(3).normal(size=(count, 4))
    vectors, matrices = SideBySide(function)(count, places[:, :1], places[:, 1:], 0.0, np.array([0.3, 0.7]))
    alone = Numeric(function)
    for i in (0, BLOCK - 1, BLOCK, count - 1):
        one, two = alone(places[i, 0], places[i, 1:], np.zeros(0), np.array([0.3, 0.7]))
        np.testing.assert_array_equal(vectors[i], one)
        np.testing.assert_array_equal(matrices[i], two)


def test_fewer_places_go_by_the_function_of_more_of_them():
    x = ca.SX.sym("x", 2)
    places, call = np.random.default_rng(4).normal(size=(7, 2)), SideBySide(ca.Function("f", [x], [ca.sin(x), x @ x.T]))
    for count in (7, 5, 4, 3, 1, 2, 7):
        sines, squares = call(count, places[:count])
        np.testing.assert_array_equal(sines[:, :, 0], np.sin(places[:count]))
        np.testing.assert_array_equal(squares, places[:count, :, None] * places[:count, None, :])


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_native_code_takes_whatever_the_other_machines_take(arm):
    """A number and an array go straight into native code; everything else takes the usual way, with its errors."""
    plain, native = arm
    x = np.random.default_rng(2).normal(size=14)
    expected = plain.rhs(0.0, x)
    wide = np.zeros((14, 2))
    wide[:, 0] = x
    locked = x.copy()
    locked.flags.writeable = False
    for state in (x, list(x), wide[:, 0], locked, x.astype(">f8")):
        for t in (0.0, 0, np.float64(0)):
            np.testing.assert_allclose(native.rhs(t, state), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(native.rhs(t=0.0, x=x), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(native.rhs(0.0, x, np.zeros(7)), plain.rhs(0.0, x, np.zeros(7)), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(native.rhs(0.0, wide), plain.rhs(0.0, wide), rtol=1e-12, atol=1e-12)
    kept = native.rhs(0.0, x)
    native.rhs(0.0, x + 1)
    np.testing.assert_allclose(kept, expected, rtol=1e-12, atol=1e-12)  # every call gives an array of its own
    for state in (x[:5], np.float64(1.0), np.zeros((14, 2, 2))):
        with pytest.raises(ModelError, match="The state has 14 entries"):
            native.rhs(0.0, state)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        native.rhs(0.0)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_native_code_without_pythons_headers(monkeypatch, tmp_path):
    """Only the way in is longer."""
    equations = ap.derive(ap.library.model("pendulum-chain"))
    x = np.full(equations.x.numel(), 0.3)
    short = ap.compile(equations, "c").bind().rhs(0.0, x)
    monkeypatch.setattr("appell.code.native.headers", tuple)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    long = ap.compile(equations, "c").bind()
    assert "entry" not in type(long.rhs).__module__
    np.testing.assert_array_equal(long.rhs(0.0, x), short)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_native_code_on_a_full_disk_says_what_to_do(monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("appell.code.native.kept_file", full)
    with pytest.raises(CompileError, match=r"No space left on device.* Make room there, .*XDG_CACHE_HOME"):
        ap.compile(ap.derive(ap.library.pendulum_chain(1)), "c").bind().rhs(0.0, np.zeros(2))


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_native_system_is_freed(arm):
    """Its right-hand side points back to it."""
    system = ap.compile(arm[0].equations, "c").bind()
    system.rhs(0.0, np.zeros(14))
    gone = weakref.ref(system)
    del system
    gc.collect()
    assert gone() is None


RUN = """
import appell as ap
from appell.code import heyoka_code

system = ap.compile(ap.derive(ap.library.knife_edge())).bind()
assert ap.simulate(system, until=1.0, method="taylor", progress=False).outcome.ok
print(heyoka_code.module().llvm_state.get_diskcache_enabled())
"""


@pytest.mark.skipif(not heyoka_code.available(), reason="needs heyoka")
@pytest.mark.parametrize("store", ["new", "damaged", "none"])
def test_machine_code_is_kept_in_a_store_of_our_own(tmp_path, store):
    home = tmp_path / "home"
    if store == "none":
        home.write_text("a file where a folder should be")
    if store == "damaged":
        (home / "appell" / "heyoka").mkdir(parents=True)
        (home / "appell" / "heyoka" / "cache.db").write_text("nothing of use")
    environment = {**os.environ, "XDG_CACHE_HOME": str(home)}
    environment.pop("HEYOKA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["False" if store == "none" else "True"]
    if store != "none":
        assert (home / "appell" / "heyoka" / "cache.db").stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "formulation"),
    [
        ("rolling-disk", None),
        ("slider-crank", ap.Shulgin()),
        ("planar-2r", ap.HigherOrder(1)),
        ("seven-axis-arm", None),
        ("curvature-arm", ap.GPME()),
    ],
)
def test_equations_and_systems_travel_as_their_words(name, formulation):
    """Pickled equations are derived again, to the last bit; laws, numbers and the kind of machine come with them."""
    equations = ap.derive(ap.library.model(name), formulation)
    if equations.inputs:
        equations = equations.close({equations.inputs[0]: -sp.sin(ap.t)})
    system = ap.compile(equations, "casadi").bind({s.label: 1.5 for s in equations.model.parameters[:1]})
    again = pickle.loads(pickle.dumps(system))
    assert again.equations.summary() == equations.summary()
    assert (again.values, again.code.machine) == (system.values, "casadi")
    x = np.random.default_rng(3).uniform(0.1, 0.9, len(equations.states))
    np.testing.assert_array_equal(again.rhs(0.3, x), system.rhs(0.3, x))
