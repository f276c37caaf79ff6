"""The first approximation: blocks, splits, closed loops, rolling, steady motions, other tools' formats."""

import numpy as np
import pytest

import appell as ap
from appell.errors import EquilibriumError, ModelError


@pytest.fixture(scope="module")
def crank():
    return ap.compile(ap.derive(ap.library.slider_crank()))


@pytest.fixture(scope="module")
def delta():
    system = ap.compile(ap.derive(ap.library.delta_robot()))
    return ap.equilibrium(system, {"x": 0.1, "y": 0.05, "z": -0.93}, starts=5)


def by_differences(system, lin, step=1e-5):
    """A of the independent states by central differences along the constraints: r moved, s by Newton, s' = B r'."""
    n = len(lin.states)
    columns = []
    for k in range(n):
        sides = []
        for sign in (1, -1):
            state = ap.control.lqr(lin).start({lin.states[k]: sign * step})
            x = lin.tangent.equations
            whole = ap.compile(x).bind(system.values)
            rate = whole.rhs(0.0, whole.to_x(state))
            names = [s.label for s in x.states]
            sides.append([rate[names.index(s)] for s in lin.states])
        columns.append((np.array(sides[0]) - np.array(sides[1])) / (2 * step))
    return np.array(columns).T


@pytest.mark.parametrize("dependent", [("phi", "x_s"), ("theta", "x_s")])
def test_the_blocks_agree_with_differences_along_the_constraints(crank, dependent):
    rest = ap.equilibrium(crank, {"theta": 0.7})
    lin = ap.linearize(rest, dependent=dependent)
    np.testing.assert_allclose(lin.A, by_differences(rest.system, lin), rtol=1e-6, atol=1e-6)


def test_the_blocks_make_up_the_matrices_of_the_paper(delta):
    blocks = ap.linearize(delta, dependent=["x", "y", "z"]).blocks
    C = blocks.C1 + blocks.C2 @ blocks.B0 + blocks.B0.T @ blocks.C3 + blocks.B0.T @ blocks.C4 @ blocks.B0
    np.testing.assert_allclose(blocks.C, C + blocks.CB + blocks.P, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        blocks.a + blocks.h @ blocks.B0, -np.linalg.solve(blocks.A, blocks.C), rtol=1e-11, atol=1e-12
    )
    np.testing.assert_allclose(blocks.C, blocks.C.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(blocks.C3, blocks.C2.T, rtol=0, atol=1e-15)
    assert np.all(np.linalg.eigvalsh(blocks.A) > 0)


def test_roots_do_not_depend_on_the_split_and_stiffness_changes_by_congruence(delta):
    splits = [("x", "y", "z"), ("phi1", "phi2", "phi3"), ("phi1", "y", "z"), ("phi2", "phi3", "x")]
    first = ap.linearize(delta, dependent=splits[0])
    N = np.zeros((6, 3))
    order = [
        [s.label for s in delta.model.coordinates].index(s)
        for s in (*first.blocks.independent, *first.blocks.dependent)
    ]
    N[order] = first.blocks.N
    for split in splits[1:]:
        other = ap.linearize(delta, dependent=split)
        np.testing.assert_allclose(other.eigenvalues, first.eigenvalues, rtol=1e-8, atol=1e-10)
        rows = [[s.label for s in delta.model.coordinates].index(s) for s in other.blocks.independent]
        T = N[rows]  # new independent ones in terms of the old
        for name in ("A", "D", "C"):
            mine, theirs = getattr(first.blocks, name), getattr(other.blocks, name)
            np.testing.assert_allclose(T.T @ theirs @ T, mine, rtol=1e-9, atol=1e-10)


def test_transformed_weights_give_transformed_gains(delta):
    """K_new = K_old diag(T^-1, T^-1) if the weights are transformed as well."""
    one, two = (ap.linearize(delta, dependent=s) for s in (("x", "y", "z"), ("phi1", "phi2", "phi3")))
    T = np.kron(np.eye(2), one.blocks.B0)  # (x, y, z) in terms of phi
    W = np.diag([3.0, 2.0, 1.0, 0.3, 0.2, 0.1])
    new = ap.control.lqr(two, W, 0.5)
    old = ap.control.lqr(one, T.T @ W @ T, 0.5)
    np.testing.assert_allclose(new.K @ T, old.K, rtol=1e-8, atol=1e-9)


def test_the_full_matrix_is_the_reduced_one_and_m_zeros(delta):
    lin = ap.linearize(delta, dependent=["x", "y", "z"])
    full = np.linalg.eigvals(lin.tangent.full)
    assert full.size == 9
    assert np.sum(np.abs(full) < 1e-12) == 3
    np.testing.assert_allclose(
        np.sort_complex(full[np.abs(full) > 1e-6]), np.sort_complex(lin.eigenvalues), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(
    "formulation", [ap.Voronets(), ap.Multipliers(), ap.UdwadiaKalaba(), ap.Shulgin()], ids=lambda f: f.name
)
def test_any_formulation_gives_the_same(crank, formulation):
    other = ap.compile(ap.derive(crank.model, formulation))
    mine, theirs = (
        ap.linearize(ap.equilibrium(s, {"theta": 1.0}, starts=3), dependent=["phi", "x_s"]) for s in (crank, other)
    )
    np.testing.assert_allclose(theirs.A, mine.A, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(theirs.B, mine.B, rtol=1e-11, atol=0)
    assert ap.stability(theirs).zeros_found == 2


def test_a_closed_loop_is_linearised_with_its_laws(crank):
    rest = ap.equilibrium(crank, {"theta": 0.3})
    feedback = ap.control.lqr(ap.linearize(rest, dependent=["phi", "x_s"]), {"theta": 5, "theta.rate": 1})
    closed = ap.linearize(feedback.system, rest, dependent=["phi", "x_s"])
    np.testing.assert_allclose(closed.A, feedback.A, rtol=1e-10, atol=1e-10)
    assert closed.inputs == ()
    assert ap.stability(closed).verdict is feedback.certificate.verdict


def test_the_bicycle_of_meijaard_runs_by_itself():
    """Roots at 5 m/s: Meijaard, Papadopoulos, Ruina and Schwab 2007, table 2."""
    system = ap.compile(ap.derive(ap.library.bicycle())).bind()
    running = system.state({"spin_r.rate": -5 / system.values["r_r"]})
    lin = ap.linearize(system, running, ignore=["yaw", "y"])
    roots = [
        -14.07838969279822,
        -0.77534188219585 - 4.46486771378823j,
        -0.77534188219585 + 4.46486771378823j,
        -0.32286642900409,
    ]
    proof = ap.stability(lin)
    np.testing.assert_allclose(proof.roots, roots, rtol=1e-9, atol=0)
    assert proof.verdict.name == "FAMILY"
    assert (proof.constraint_zeros, proof.family_zeros) == (1, 1)  # the contact of the front wheel, the speed
    with pytest.raises(EquilibriumError, match="no blocks"):
        _ = lin.blocks


def test_a_disk_that_rolls_in_a_circle():
    """At the spin that keeps the lean; lean'' is linear in it."""
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()

    def circle(yaw, spin):
        return system.consistent({"yaw": yaw, "lean": 0.2, "lean.rate": 0.0, "yaw.rate": 1.0, "spin.rate": spin})

    names = [s.label for s in system.equations.states]
    place = names.index("lean.rate")
    at_rest, faster = (system.rhs(0.0, system.to_x(circle(0.0, n)))[place] for n in (0.0, 1.0))
    spin = -at_rest / (faster - at_rest)
    with pytest.raises(EquilibriumError, match=r"yaw would change.*With ignore=\['y'\] it is one"):
        ap.linearize(system, circle(0.0, spin))  # y rests at this moment
    roots = ap.linearize(system, circle(0.3, spin)).eigenvalues
    found = ap.equilibrium(system, {"yaw.rate": 1.0, "lean": 0.2})
    assert found["spin.rate"] == pytest.approx(spin, rel=1e-12)
    np.testing.assert_allclose(ap.linearize(found).eigenvalues, roots, rtol=1e-9, atol=1e-9)
    for ignore in (["y"], ["spin", "x", "y"]):
        lin = ap.linearize(system, circle(0.0, spin), ignore=ignore)
        np.testing.assert_allclose(lin.eigenvalues, roots, rtol=1e-9, atol=1e-9)
    with pytest.raises(EquilibriumError, match=r"lean.rate would change.*\(or not at equilibrium\)\.$"):
        ap.linearize(system, circle(0.0, spin + 1))


def test_outputs_are_formulas_along_the_constraints(crank):
    theta, phi, x_s = crank.model.coordinates
    lin = ap.linearize(ap.equilibrium(crank, {"theta": 0.7}), dependent=["phi", "x_s"])
    C = lin.output_matrix([x_s, x_s.rate, 2 * theta + phi, "theta.rate"])
    slope = dict(zip(lin.blocks.dependent, lin.blocks.B0[:, 0], strict=True))
    expected = [[slope["x_s"], 0], [0, slope["x_s"]], [2 + slope["phi"], 0], [0, 1]]
    np.testing.assert_allclose(C, expected, rtol=1e-12, atol=1e-12)


def test_scipy_gets_the_same_matrices(crank):
    lin = ap.linearize(ap.equilibrium(crank, {"theta": 0.7}))
    plain = lin.to_scipy(["x_s"])
    np.testing.assert_array_equal(plain.A, lin.A)
    assert plain.C.shape == (1, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dependent": ["phi"]}, "has 2 rows, got 1"),
        ({"dependent": ["phi", "psi"]}, "not a coordinate"),
        ({"inputs": ["force"]}, "not an open input"),
        ({"ignore": ["theta"]}, "cannot be ignored"),
    ],
)
def test_bad_options_are_refused(crank, options, message):
    rest = ap.equilibrium(crank, {"theta": 1.0})
    with pytest.raises((EquilibriumError, ModelError), match=message):
        ap.linearize(rest, **options)


def test_a_dead_centre_refuses_the_wrong_split():
    """theta = 1.31145054694511 is a dead centre of the crank (theory page shulgin, 4.1)."""
    system = ap.compile(ap.derive(ap.library.ball_and_beam())).bind({"beta": -0.0875711176773721})
    rest = ap.equilibrium(system, {"xi": 0.2}, guess={"theta": 1.3, "alpha": 0.0876})
    with pytest.raises(EquilibriumError, match=r"theta cannot be dependent.*dead centre"):
        ap.linearize(rest, dependent=["theta"])


def test_a_point_that_is_no_equilibrium_is_refused(crank):
    state = crank.bind({"tau": 0}).consistent({"theta": 0.7, "theta.rate": 0})
    with pytest.raises(EquilibriumError, match="not an equilibrium"):
        ap.linearize(crank.bind({"tau": 0}), state)
    moving = crank.bind({"tau": 0}).consistent({"theta": 0.7, "theta.rate": 1})
    with pytest.raises(EquilibriumError, match="not a steady motion"):
        ap.linearize(crank.bind({"tau": 0}), moving)


def test_an_equilibrium_at_a_right_angle_is_one():
    """The blade across the slope: its row has a vanishing entry, which must not count as the size of the equation."""
    rest = ap.equilibrium(ap.library.knife_edge())
    assert abs(rest["phi"]) == pytest.approx(np.pi / 2, rel=1e-12)
    assert ap.linearize(rest).tangent.rest() < 1e-12
