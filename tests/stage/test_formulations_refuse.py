"""A formulation refuses what it is not valid for, and says what is."""

import itertools

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import FormulationError, IntegrationError, ModelError

x, y, z = ap.coordinates("x y z")
m = ap.parameters("m")
ground = ap.Frame("ground")
bob = ap.Particle("bob", m, ground.point(x, y, z))


def particle(*constraints):
    return ap.Model(ground, (x, y, z), [bob], [ap.Gravity(-9.81 * ground.z)], constraints, name="bob")


NONLINEAR = ap.Nonholonomic(x.rate**2 + y.rate**2 - z.rate**2, "cone")


def test_voronets_refuses_nonlinear_rows_by_name():
    with pytest.raises(FormulationError) as error:
        ap.derive(particle(NONLINEAR, ap.Nonholonomic(x.rate - y * z.rate, "roll")), ap.Voronets())
    words = str(error.value)
    assert words.startswith(
        "Voronets accepts constraints of kind holonomic, linear, but 'bob' has nonlinear ones: 'cone'."
    )
    assert "GibbsAppell" in words
    assert "Multipliers" in words
    assert "'roll'" not in words
    assert "Voronets or" not in words
    assert "or Voronets" not in words


@pytest.mark.parametrize(
    "formulation",
    [ap.GibbsAppell(), ap.Multipliers(), ap.LyapunovElimination(), ap.UdwadiaKalaba()],
    ids=lambda f: f.name,
)
def test_what_it_names_accepts_the_model(formulation):
    equations = ap.derive(particle(NONLINEAR), formulation)
    assert "nonlinear" in formulation.accepts
    assert equations.formulation is formulation


def test_voronets_accepts_linear_and_holonomic_rows_that_depend_on_time():
    rows = ap.Nonholonomic(x.rate - ap.t * y.rate, "roll"), ap.Holonomic(z - ap.t * x, "lift")
    assert len(ap.derive(particle(*rows), ap.Voronets()).unknowns) == 1


ROLL = ap.Nonholonomic(x.rate - y * z.rate, "roll")


@pytest.mark.parametrize("rows", [(ROLL,), (NONLINEAR,), (ap.Holonomic(x - z**2, "rail"), ROLL)])
def test_shulgin_refuses_nonholonomic_rows_and_says_who_accepts_them(rows):
    """Its equations leave out what a nonholonomic constraint would add: smooth and wrong."""
    with pytest.raises(FormulationError) as error:
        ap.derive(particle(*rows), ap.Shulgin())
    words = str(error.value)
    assert words.startswith("Shulgin accepts constraints of kind holonomic, but 'bob' has ")
    assert "'rail'" not in words
    for named in ("GibbsAppell", "Multipliers"):
        assert named in words
    assert ("Voronets" in words) == (NONLINEAR not in rows)
    assert "Shulgin or" not in words


def test_shulgin_accepts_constraints_that_depend_on_time():
    """s' = B r' + b with b = -F_s^-1 F_t, by both routes."""
    moving = particle(ap.Holonomic(z - ap.t * x - x * y**2, "lift"), ap.Holonomic(x * y - ap.t**2 - 1, "gate"))
    for explicit in (True, False):
        assert ap.verify(moving, ap.Shulgin(explicit=explicit)).ok


@pytest.mark.parametrize("wrong", [-1.0, "projektion", True, float("nan"), float("inf")])
def test_shulgin_names_what_drift_may_be(wrong):
    with pytest.raises(FormulationError, match=r"Got drift=.*; give 'projection', a rate k > 0"):
        ap.Shulgin(drift=wrong)


@pytest.mark.parametrize("formulation", [ap.LyapunovElimination(), ap.UdwadiaKalaba()], ids=lambda f: f.name)
def test_a_singular_mass_matrix_is_refused_with_its_coordinates(formulation):
    with pytest.raises(FormulationError) as error:
        ap.derive(ap.library.four_bar(), formulation)
    words = str(error.value)
    assert words.startswith(f"{formulation.name} needs the mass matrix of the free system to be regular")
    assert "there is no inertia along q3 alone" in words
    able = words.split("Use ")[1].removesuffix(".").split(" or ")
    assert {"GibbsAppell", "Voronets", "Shulgin", "Multipliers"} <= {*able}
    assert not {"LyapunovElimination", "UdwadiaKalaba", "Recursive"} & {*able}


@pytest.mark.parametrize("formulation", [ap.LyapunovElimination(), ap.UdwadiaKalaba()], ids=lambda f: f.name)
def test_where_only_quaternions_have_no_inertia_recursion_is_named(formulation):
    with pytest.raises(FormulationError, match="Use GibbsAppell or Recursive or Voronets or "):
        ap.derive(ap.library.rolling_ball(), formulation)
    ap.derive(ap.library.rolling_ball(), ap.Recursive())


@pytest.mark.parametrize("wrong", [ap.GibbsAppell, "GibbsAppell", 3])
def test_a_formulation_is_an_object(wrong):
    with pytest.raises(FormulationError, match=r"as a formulation; give one such as appell.GibbsAppell\(\)"):
        ap.derive(particle(), wrong)


@pytest.mark.parametrize("formulation", [ap.GibbsAppell, ap.Voronets, ap.Shulgin, ap.GPME, ap.ComputationalGPME])
@pytest.mark.parametrize("given", [lambda: y, lambda: "y", lambda: [y], lambda: (q for q in (y,)), lambda: ["y", y]])
def test_dependent_coordinates_in_any_collection(formulation, given):
    model = particle(ap.Holonomic(x - y**2, "rail"))
    assert ap.derive(model, formulation(dependent=given())).dependent == (y,)


@pytest.mark.parametrize("formulation", [ap.GibbsAppell, ap.Voronets])
@pytest.mark.parametrize(
    ("dependent", "words"),
    [
        ([ap.coordinates("q")], "q cannot be dependent: it is not a coordinate of 'bob'"),
        (
            [x, y],
            r"'bob' has 1 row, got 2\. Give 1 of: x, y, z",
        ),
        ([], r"'bob' has 1 row, got 0\."),
    ],
)
def test_wrong_dependent_coordinates(formulation, dependent, words):
    with pytest.raises(FormulationError, match=words):
        ap.derive(particle(ap.Nonholonomic(x.rate - y * z.rate, "roll")), formulation(dependent=dependent))


@pytest.mark.parametrize("formulation", [ap.GibbsAppell(), ap.Voronets(), ap.Multipliers(), ap.UdwadiaKalaba()])
def test_over_constrained_models_are_refused_with_their_rows(formulation):
    rows = [ap.Holonomic(x - 1, "wall"), ap.Holonomic(y - x, "tie"), ap.Nonholonomic(z.rate - x.rate, "roll")]
    with pytest.raises(
        FormulationError, match=r"'bob' is over-constrained: its 3 independent constraint rows \(wall, tie, roll\)"
    ):
        ap.derive(particle(*rows), formulation)


def test_a_mechanism_that_moves_as_given_has_no_freedom_and_a_drive():
    """A slider-crank at constant speed: its motion is geometry, and what turns the crank is the reaction of its row."""
    turn, rod, slide = ap.coordinates("turn rod slide")
    ground = ap.Frame()
    crank = ground.pin(turn)
    coupler = crank.pin(rod, at=(0.3, 0, 0))
    bodies = [ap.RigidBody("crank", 1, crank.origin, crank, (0, 0, 0.1)), ap.Particle("block", 2, ground.point(slide))]
    rows = [ap.Holonomic(coupler.point(1, 0) - ground.point(slide), "wrist"), ap.Prescribed(turn, 5 * ap.t, "motor")]
    model = ap.Model(ground, (turn, rod, slide), bodies, (), rows, start={slide: 1.3}, until=1.0)
    motion = ap.simulate(ap.compile(ap.derive(model)), points=11)
    angle = 5 * motion.times
    np.testing.assert_allclose(motion[slide], 0.3 * np.cos(angle) + np.sqrt(1 - 0.09 * np.sin(angle) ** 2), atol=1e-14)
    power = 2 * motion[slide.rate] * motion[slide.rate.rate]  # of the block's kinetic energy
    np.testing.assert_allclose(5 * motion.reactions("motor")["motor"], power, rtol=0, atol=1e-12)
    assert motion.check().ok
    assert ap.verify(model).ok


def test_velocities_given_in_full_are_a_motion_and_rest_is_none():
    given = ap.Nonholonomic(x.rate - 1), ap.Nonholonomic(y.rate - x), ap.Nonholonomic(z.rate)
    motion = ap.simulate(ap.compile(ap.derive(particle(*given))).bind({m: 1.0}), until=2.0)
    assert np.isclose(motion.at(2.0)["y"], 2.0, rtol=1e-14)
    with pytest.raises(ModelError, match="leave nothing that can move"):
        particle(ap.Nonholonomic(x.rate), ap.Nonholonomic(y.rate - x * z.rate), ap.Nonholonomic(z.rate))


def test_only_equations_can_be_compiled():
    from appell.errors import CompileError

    with pytest.raises(
        CompileError, match=r"Only equations can be compiled, got Model; write compile\(derive\(model\)\)"
    ):
        ap.compile(particle())
    with pytest.raises(CompileError, match="Got machine='fortran'; use 'auto', 'heyoka'"):
        ap.compile(ap.derive(particle()), "fortran")


u1, u2, u3, e1, e2, e3 = ap.speeds("u1 u2 u3 e1 e2 e3")
RATES = {u1: x.rate, u2: y.rate, u3: z.rate}


@pytest.mark.parametrize(
    ("psi", "guess", "words"),
    [
        ((e1 + e2, 2 * e1 + 2 * e2, e3), None, "quasi-accelerations are dependent, .*u2' = 2\\*e1 \\+ 2\\*e2"),
        ((e1**2, e2, e3), None, "singular at e1 = 0, e2 = 0, e3 = 0, where Newton's method begins; give guess="),
        ((e1, e2, e3), {u1: 1.0}, "guess= is for the quasi-accelerations e1, e2, e3; got u1"),
    ],
)
def test_quasi_accelerations_that_tell_nothing(psi, guess, words):
    formulation = ap.QuasiAccelerations(RATES, dict(zip((u1.rate, u2.rate, u3.rate), psi, strict=True)), guess)
    with pytest.raises(FormulationError, match=words):
        ap.derive(particle(), formulation)


@pytest.mark.parametrize(
    ("speeds", "accelerations", "words"),
    [
        (None, {u1.rate: e1}, r"those of quasi-velocities, speeds=\{w: x.rate\}; got None"),
        ({}, {}, r"those of quasi-velocities, speeds=\{w: x.rate\}; got \{\}"),
        (RATES, e1, r"takes rates of speeds with their formulas, \{w.rate: e\}; got e1"),
        (RATES, {u1.rate: e1}, r"rate of each speed by quasi-accelerations: u1', u2', u3'; got u1'"),
        (
            RATES,
            {u1.rate: e1, u2.rate: e2, u3.rate: e2},
            "need 3 quasi-accelerations, but the formulas contain 2: e1, e2",
        ),
        (RATES, {u1.rate: e1, u2.rate: e2, u3.rate: e3 + x.rate.rate}, "x'' cannot stand in a quasi-acceleration"),
    ],
)
def test_quasi_accelerations_need_speeds_and_a_letter_for_each(speeds, accelerations, words):
    with pytest.raises(FormulationError, match=words):
        ap.derive(particle(), ap.QuasiAccelerations(speeds, accelerations))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ap.GPME(order=2, literal="P1"), "errors of p = 1 only; leave out order="),
        (lambda: ap.GPME(literal="h"), "literal='h' is unknown here; there are 'P1', 'Q', 'time'"),
        (lambda: ap.GPME(stabilize=(1.0, -2.0)), r"takes two positive numbers .*got \(1.0, -2.0\)"),
        (lambda: ap.GPME(stabilize={"rail": "fast"}), "takes two positive numbers .*got 'fast'"),
        (lambda: ap.RelativeMotion(bob), "carrier must be an appell.Frame, such as body.frame, got the body 'bob'"),
        (
            lambda: ap.derive(particle(), ap.RelativeMotion(ground.rotate("z", ap.t))),
            "'bob' is not placed from the carr",
        ),
    ],
)
def test_options_that_mean_nothing(make, words):
    with pytest.raises(FormulationError, match=words):
        make()


def test_one_row_of_several_may_be_stabilized():
    """Baumgarte's terms are those of the named row: Phi'' = -2 alpha Phi' - beta^2 Phi, phi' = -alpha phi."""
    rail, model = ap.Holonomic(x - 2 * y, "rail"), particle(ap.Holonomic(x - 2 * y, "rail"), ROLL)
    q, v = np.array([0.7, 0.2, 0.3]), np.array([0.4, -0.1, 0.5])
    e = np.array([q[0] - 2 * q[1], v[0] - 2 * v[1], v[0] - q[1] * v[2]])
    for gains in ({rail.name: (2.0, 3.0)}, (2.0, 3.0)):
        system = ap.compile(ap.derive(model, ap.GPME(stabilize=gains))).bind({m: 2.0})
        a = system.accelerations(ap.State(model, np.concatenate([q, v])))
        assert a[0] - 2 * a[1] == pytest.approx(-2 * 2.0 * e[1] - 3.0**2 * e[0], abs=1e-12)
        alpha = 0.0 if isinstance(gains, dict) else 2.0
        assert a[0] - q[1] * a[2] - v[1] * v[2] == pytest.approx(-alpha * e[2], abs=1e-12)


def test_quasi_accelerations_that_are_not_found_are_no_numbers():
    """z'' = e3^2 cannot be -9.81: no acceleration is better than any."""
    psi = {u1.rate: e1, u2.rate: e2 + e2**3, u3.rate: e3**2 * (1 + z**2)}
    system = ap.compile(ap.derive(particle(), ap.QuasiAccelerations(RATES, psi, {e3: 1.0}))).bind({m: 2.0})
    assert np.isnan(system.accelerations(system.state())).any()
    assert ap.simulate(system, {}, until=1.0).outcome is not ap.Outcome.DONE


@pytest.mark.parametrize(
    "formulation", [ap.GibbsAppell(dependent=[x, y]), ap.GibbsAppell(speeds={u1: x.rate * z.rate})]
)
def test_given_speeds_that_are_dependent_at_the_start(formulation):
    """With x'^2 + y'^2 = z'^2 and x' = y: at x' = 0 neither z' nor x' z' says how fast z' changes."""
    model = particle(NONLINEAR, ap.Nonholonomic(y.rate - z.rate, "tie"))
    system = ap.compile(ap.derive(model, formulation)).bind({m: 2.0})
    with pytest.raises(IntegrationError, match=r"The speeds (z'|u1) are dependent at the start; choose others"):
        ap.simulate(system, {y.rate: 1.0, z.rate: 1.0, x.rate: 0.0}, until=1.0)


def test_quasi_accelerations_that_are_not_linear_under_a_row_that_is_not():
    """The same motion as by other speeds; it ends where the row leaves the motion open, in words."""
    model = particle(NONLINEAR)
    speeds = {u1: x.rate**2 + y.rate**2, u2: sp.atan2(y.rate, x.rate)}
    curved = ap.QuasiAccelerations(speeds, {u1.rate: sp.sinh(e1) + e2, u2.rate: e2 - e1 / 5})
    start, ends = {x.rate: 1.0, y.rate: 0.2, z.rate: 1.04**0.5}, []
    for formulation in (None, curved):
        system = ap.compile(ap.derive(model, formulation)).bind({m: 2.0})
        ends.append(ap.simulate(system, start, until=0.05).at(0.05).array)
        assert ap.simulate(system, start, until=1.0).outcome in (ap.Outcome.ROWS_SINGULAR, ap.Outcome.SINGULAR)
    np.testing.assert_allclose(*ends, rtol=1e-9, atol=1e-12)


def test_what_is_no_formulation_is_refused():
    for verb, wrong in itertools.product((ap.derive, ap.verify), (ap.Voronets, [ap.Voronets()], "Voronets", int)):
        example = "GibbsAppell" if wrong is int else "Voronets"
        with pytest.raises(FormulationError, match=rf"as a formulation; give one such as appell.{example}\(\)"):
            verb(particle(), wrong)


@pytest.mark.parametrize("w", [2 * x.rate, x.rate**3, -x.rate])
def test_speeds_that_do_not_give_all_rates_are_refused(w):
    """Also where nothing contains the rate of y, and by whatever takes speeds."""
    p, q, e, f = ap.speeds("p q e f")
    model = ap.Model(ground, (x, y), [ap.Particle("point", 1, ground.point(x, y))])
    chosen = {p: x.rate, q: w}
    forms = [
        ap.GibbsAppell(chosen),
        ap.RelativeMotion(ground, speeds=chosen),
        ap.QuasiAccelerations(chosen, {p.rate: e, q.rate: f}),
    ]
    for form in forms:
        with pytest.raises(FormulationError, match="The speeds p, q are dependent on each other"):
            ap.derive(model, form)
