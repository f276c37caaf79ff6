"""Chains against Pinocchio on the same URDF: M, C q', g, tau, poses, Jacobians and their rates."""

import numpy as np
import pytest

import appell as ap

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'appell[peers]'")

CLOSE = {"rtol": 1e-11, "atol": 1e-11}


def random_urdf(n, seed, branching=True):
    """A random tree of revolute, continuous and prismatic joints with fixed links in between, as text."""
    rng = np.random.default_rng(seed)

    def words(values):
        return " ".join(f"{e:.17g}" for e in values)

    def inertial():
        points = rng.normal(size=(8, 3)) * rng.uniform(0.05, 0.2, 3)
        S = points.T @ points / 8
        I, m = np.trace(S) * np.eye(3) - S, rng.uniform(0.3, 3)
        names = {"ixx": I[0, 0], "iyy": I[1, 1], "izz": I[2, 2], "ixy": I[0, 1], "ixz": I[0, 2], "iyz": I[1, 2]}
        tensor = " ".join(f'{k}="{m * v:.17g}"' for k, v in names.items())
        return (
            f'<inertial><origin xyz="{words(rng.uniform(-0.2, 0.2, 3))}" rpy="{words(rng.uniform(-2, 2, 3))}"/>'
            f'<mass value="{m:.17g}"/><inertia {tensor}/></inertial>'
        )

    text = '<robot name="tree"><link name="l0"/>'
    for i in range(1, n + 1):
        kind = ("revolute", "prismatic", "revolute")[i % 3]
        axis = rng.normal(size=3)
        parent = f"l{rng.integers(0, i)}" if branching else f"l{i - 1}"
        if i % 4 == 0:  # something glued between
            text += f'<link name="g{i}">{inertial()}</link>'
            text += (
                f'<joint name="f{i}" type="fixed"><parent link="{parent}"/><child link="g{i}"/>'
                f'<origin xyz="{words(rng.uniform(-0.4, 0.4, 3))}" rpy="{words(rng.uniform(-2, 2, 3))}"/></joint>'
            )
            parent = f"g{i}"
        text += f'<link name="l{i}">{inertial()}</link>'
        text += (
            f'<joint name="j{i}" type="{kind}"><parent link="{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{words(rng.uniform(-0.4, 0.4, 3))}" rpy="{words(rng.uniform(-2, 2, 3))}"/>'
            f'<axis xyz="{words(axis / np.linalg.norm(axis))}"/>'
            '<limit effort="100" velocity="10" lower="-3" upper="3"/></joint>'
        )
    return text + "</robot>"


@pytest.fixture(scope="module", params=["arm", "tree"])
def pair(request):
    text = random_urdf(6, 1, branching=False) if request.param == "arm" else random_urdf(20, 5)
    gravity = (0.5, -1.0, -9.5)
    chain = ap.Chain.from_urdf(text, gravity=gravity)
    model = pin.buildModelFromXML(text)
    model.gravity.linear = np.array(gravity)
    order = [model.joints[model.getJointId(link.joint)].idx_v for link in chain.links]
    assert sorted(order) == list(range(len(chain.links)))
    return chain, model, np.array(order)


def test_mass_matrix_bias_gravity_and_torques(pair):
    chain, model, order = pair
    data, rng, n = model.createData(), np.random.default_rng(3), len(order)
    system = ap.compile(ap.derive(chain)).bind()
    for _ in range(3):
        q, v, a = rng.uniform(-1.5, 1.5, (3, n))
        theirs = np.zeros((3, n))
        theirs[:, order] = q, v, a
        x = system.to_x(ap.State(chain, np.concatenate([q, v])))
        rest = system.to_x(ap.State(chain, np.concatenate([q, np.zeros(n)])))
        M = pin.crba(model, data, theirs[0])
        M = np.triu(M) + np.triu(M, 1).T
        np.testing.assert_allclose(system.mass_matrix(0.0, x), M[np.ix_(order, order)], **CLOSE)
        g = pin.computeGeneralizedGravity(model, data, theirs[0])[order]
        np.testing.assert_allclose(-system.forcing(0.0, rest), g, **CLOSE)
        C = pin.computeCoriolisMatrix(model, data, theirs[0], theirs[1]) @ theirs[1]
        np.testing.assert_allclose(system.forcing(0.0, rest) - system.forcing(0.0, x), C[order], **CLOSE)
        tau = pin.rnea(model, data, *theirs)[order]
        np.testing.assert_allclose(system.mass_matrix(0.0, x) @ a - system.forcing(0.0, x), tau, **CLOSE)
        M_A = sum(
            np.array([[np.trace(Ai @ chain.numbers().pseudo[k] @ Aj.T) for Aj in A] for Ai in A])
            for k, A in enumerate(
                [[chain.numbers().differential(q[:, None], k, (j,))[0] for j in range(n)] for k in range(n)]
            )
        )
        np.testing.assert_allclose(M_A, M[np.ix_(order, order)], **CLOSE)


def test_poses_jacobians_and_their_rates(pair):
    chain, model, order = pair
    data, rng, n = model.createData(), np.random.default_rng(4), len(order)
    q, v = rng.uniform(-1.5, 1.5, (2, n))
    theirs = np.zeros((2, n))
    theirs[:, order] = q, v
    pin.computeJointJacobiansTimeVariation(model, data, *theirs)
    pin.updateFramePlacements(model, data)
    numbers, Q = chain.numbers(), np.stack([q, v], axis=-1)
    for i, link in enumerate(chain.links):
        frame = model.getFrameId(link.name)
        np.testing.assert_allclose(chain.poses(q)[i], data.oMf[frame].homogeneous, **CLOSE)
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        dJ = pin.getFrameJacobianTimeVariation(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        ours = numbers.jacobian(Q, i)
        np.testing.assert_allclose(ours[0], J[:, order], **CLOSE)
        np.testing.assert_allclose(ours[1] @ v, dJ[:, order] @ v, **CLOSE)
