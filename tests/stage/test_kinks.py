"""Kinks taken out of a graph: with the modes of a point the smooth graph has the value of the kinked one there."""

from itertools import product

import casadi as ca
import numpy as np
import pytest
import sympy as sp

from appell.errors import CompileError, StickingError
from appell.graph.kinks import KINKED, Modal, has_kinks
from appell.graph.lower import Lowering
from appell.graph.replay import NAMES
from appell.graph.sliding import family, sliding

a, b, c = sp.symbols("a b c", real=True)


def function(*formulas, called="x"):
    """x' = f(t, x, w, p) with x = (a, b, c)."""
    x = ca.SX.sym(called, 3)
    lower = Lowering({a: x[0], b: x[1], c: x[2]})
    return ca.Function("f", [ca.SX.sym("t"), x, ca.SX(0, 1), ca.SX(0, 1)], [ca.vertcat(*map(lower, formulas))])


FORMULAS = {
    "abs": sp.Abs(a * b - c),
    "sign": a + sp.sign(b - c),
    "min": sp.Min(a, b, c),
    "max": sp.Max(a, b**2, c),
    "Heaviside": sp.Heaviside(a - b) * c,
    "Piecewise": sp.Piecewise((a, a < b), (b**2, b < c), (sp.sin(c), True)),
    "and or not": sp.Piecewise((1, sp.And(a < b, b <= c)), (a, sp.Or(a > c, sp.Not(b < 1))), (c, True)),
    "nested": sp.Piecewise((sp.Abs(a - sp.Min(b, c)), a > b), (sp.Max(a, sp.sign(c - b)), True)),
    "deadband": sp.Piecewise((a - 1, a > 1), (a + 1, a < -1), (0, True)),
    "saturation": sp.Max(-1, sp.Min(1, a)),
    "twice the same": sp.sign(a - b) + sp.Abs(a - b) + sp.Max(a, b),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_smooth_graph_has_the_same_value_in_the_modes_of_the_point(name):
    f = function(FORMULAS[name], 0, 0)
    assert has_kinks(f)
    modal = Modal.of(f)
    switches = ca.Function("g", [modal.x, modal.s], [modal.g])
    smooth = ca.Function("smooth", [modal.x, modal.s], [modal.xdot])
    for point in np.random.default_rng(3).uniform(-2, 2, (30, 3)):
        modes = np.ones(modal.s.numel())
        for _ in range(4):  # a switching function may contain modes of others
            modes = np.where(np.array(switches(point, modes)).ravel() > 0, 1.0, -1.0)
        np.testing.assert_allclose(np.array(smooth(point, modes)), np.array(f(0, point, [], [])), rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", FORMULAS)
def test_what_is_left_is_smooth(name):
    """Nothing of the state is compared any more: the only conditions left are on modes."""
    modal = Modal.of(function(FORMULAS[name], 0, 0))
    smooth = ca.Function("smooth", [modal.x, modal.s], [modal.xdot])
    slopes = ca.Function("slopes", [modal.x, modal.s], [ca.jacobian(modal.xdot, modal.x)])
    for f in (smooth, slopes):
        sharp = [NAMES[f.instruction_id(k)] for k in range(f.n_instructions())]
        assert not {"fabs", "sign", "fmin", "fmax", "floor"} & set(sharp)
    modes = np.ones(modal.s.numel())
    along = [np.array(smooth([s, 0.3, -0.4], modes))[0, 0] for s in np.linspace(-2, 2, 400)]
    assert np.max(np.abs(np.diff(along, 3))) < 1e-3  # no jump and no corner on the way


def test_the_same_switching_function_has_one_mode():
    assert Modal.of(function(sp.sign(a - b) + sp.Abs(a - b), sp.Heaviside(c - a), sp.Max(a, c))).s.numel() == 2


def test_the_same_switching_function_written_the_other_way_round_has_one_mode():
    assert Modal.of(function(sp.sign(a - b), sp.sign(b - a), sp.Max(a, b))).s.numel() == 1


def test_letters_called_like_a_mode_are_none():
    """A coordinate mode_0 that is compared with a number has a kink as any other."""
    modal = Modal.of(function(sp.Piecewise((b, a > 1), (0, True)), 0, 0, called="mode"))
    assert modal.s.numel() == 1
    assert not ca.depends_on(ca.jacobian(modal.xdot, modal.s), modal.x[0])


def test_smooth_functions_have_no_kinks():
    f = function(sp.sin(a) * b, sp.sqrt(1 + c**2), sp.exp(-a) / (1 + b**2))
    assert not has_kinks(f)
    assert Modal.of(f).s.numel() == 0


@pytest.mark.parametrize("formula", [sp.floor(a), sp.ceiling(a), sp.Mod(a, 2)], ids=str)
def test_what_jumps_at_countless_places_is_refused(formula):
    f = function(formula, 0, 0)
    assert has_kinks(f)
    with pytest.raises(CompileError, match=r"jumps at countless places; write the jumps as a Piecewise or as an Event"):
        Modal.of(f)


def test_sliding_keeps_the_switching_function_at_zero():
    """x' = c - 2 sign(x) sticks to x = 0 while |c| < 2, with a mode of c/2 in between."""
    modal = Modal.of(function(c - 2 * sp.sign(a), 0, 0))
    on = sliding(modal, (0,))
    f = ca.Function("f", [modal.x, modal.s], [on.xdot, on.s])
    rate, mode = f([0, 0, 0.6], 0)
    assert np.array(rate).ravel()[0] == pytest.approx(0, abs=1e-16)
    assert float(mode) == pytest.approx(0.3)
    assert sliding(modal, ()).xdot is modal.xdot


def test_what_slides_is_not_led_away_by_friction_that_depends_on_the_slip():
    """x' = c - sign(x) (1 + exp(-|x| / 0.01)): away from x = 0 by rounding it must not go further, as by x' ~ 45 x."""
    modal = Modal.of(function(c - sp.sign(a) * (1 + sp.exp(-sp.Abs(a) / 0.01)), 0, 0))
    on = sliding(modal, (0,))
    f = ca.Function("f", [modal.x, modal.s], [on.xdot, on.s])
    for off in (0.0, 1e-9, -1e-9):
        rate, mode = f([off, 0, 1.9], 0)
        assert abs(float(rate[0])) < 1e-13
        assert float(mode) == pytest.approx(0.95, rel=1e-6)


def test_a_kink_that_acts_by_one_force_holds_by_it():
    """x' = c - s/(2 + s), y' = 3 s/(2 + s): on x = 0 the force is c, and s in between as c is between -1 and 1/3."""
    share = sp.sign(a) / (2 + sp.sign(a))
    modal = Modal.of(function(c - share, 3 * share, 0))
    on = sliding(modal, (0,))
    f = ca.Function("f", [modal.x, modal.s], [on.xdot, on.s, on.held(5 * modal.xdot[1])])
    for force, between in ((1 / 3, 1.0), (-1.0, -1.0), (-1 / 3, 0.0)):
        rate, mode, five = f([0, 0, force], 0)
        np.testing.assert_allclose(np.array(rate).ravel(), [0, 3 * force, 0], rtol=0, atol=1e-15)
        assert (float(mode), float(five)) == pytest.approx((between, 15 * force))


def test_one_graph_serves_every_set_of_kinks_that_stick():
    rates = (
        c - 2 * sp.sign(a) - sp.sign(b),
        1 - sp.sign(a) - 2 * sp.sign(b) - sp.sign(c),
        a - sp.sign(b) - 3 * sp.sign(c),
    )
    modal, every, x = Modal.of(function(*rates)), (0, 1, 2), [0.1, 0.2, 0.3]
    of = np.argsort(ca.Function("g", [modal.x], [modal.g])(x).full().ravel()).argsort()  # the state of each kink
    assert family(modal, (1,)) == every
    assert family(modal, ()) == ()
    for modes in product((0, 1, -1), repeat=3):
        stuck = tuple(i for i in every if modes[i] == 0)
        found = []
        for which in (every, stuck):
            on = sliding(modal, which)
            f = ca.Function("f", [modal.x, modal.s], [on.xdot, on.s, on.held(modal.xdot[0] ** 2)])
            found.append([e.full().ravel() for e in f(x, modes)])
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found[0][0][of[list(stuck)]], 0, rtol=0, atol=1e-14)
        np.testing.assert_array_equal(found[0][1][np.array(modes) != 0], [m for m in modes if m])


def test_kinks_at_which_nothing_jumps_do_not_stick():
    """x' turns a corner at b = 0, and at c = 1/2 it jumps as a function of what it does not move."""
    modal = Modal.of(function(-sp.sign(a) + sp.Max(b, 0), -2 * sp.sign(b - a), sp.Max(c, sp.Rational(1, 2))))
    g = ca.Function("g", [modal.x], [modal.g])([0.1, 0.3, 0.7]).full().ravel()
    jumps = family(modal, (int(np.argmin(np.abs(np.abs(g) - 0.1))),))
    np.testing.assert_allclose(np.sort(np.abs(g[list(jumps)])), [0.1, 0.2])


def test_a_kink_that_enters_twice_cannot_slide():
    """Between the modes x' goes another way than to them: the motion on g = 0 is not determined."""
    modal = Modal.of(function(c - sp.exp(sp.sign(a)), sp.sign(a), 0))
    with pytest.raises(StickingError, match="cannot be resolved uniquely"):
        sliding(modal, (0,))


@pytest.mark.parametrize("of", [lambda e: sp.Max(1e-15 * e, 0), lambda e: sp.sign(sp.exp(3000 * e) - 1)])
def test_kinks_of_any_size_are_told_apart(of):
    assert Modal.of(function(of(a), of(b), of(2 * a - a))).s.numel() == 2


def test_the_list_of_kinks_names_real_operations():
    assert set(NAMES.values()) >= KINKED
