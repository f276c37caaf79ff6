"""Force rates against Pinocchio: tau and M directly, tau' through its derivatives of inverse dynamics."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import appell as ap
from appell.higher_order import Dynamics

pin = pytest.importorskip("pinocchio")


def random_tree(n, seed, kinds=("revolute", "prismatic"), branching=True):
    """A tree with arbitrary axes, mass centres and inertia tensors, branch after branch as Pinocchio needs it."""
    rng = np.random.default_rng(seed)
    joints, places, branch = [], [np.zeros(3)], [-1]
    for i in range(n):
        if branching:
            del branch[int(rng.integers(1, len(branch) + 1)) :]
        parent = branch[-1]
        branch.append(i)
        axis = rng.normal(size=3)
        place = places[parent + 1] + rng.normal(size=3) * 0.3
        places.append(place)
        root = rng.normal(size=(3, 3)) * 0.1
        second = root @ root.T
        kind = kinds[int(rng.integers(len(kinds)))]
        joints.append(
            ap.Joint(
                (axis / np.linalg.norm(axis)).tolist(),
                at=place.tolist(),
                kind=kind,
                pitch=0.2 if kind == "helical" else 0,
                mass=float(rng.uniform(0.5, 3)),
                center=(rng.normal(size=3) * 0.1).tolist(),
                inertia=(np.trace(second) * np.eye(3) - second).tolist(),
                parent="ground" if parent < 0 else parent,
            )
        )
    return ap.Chain(joints, gravity=(1.0, -2.0, -9.0), name=f"random tree of {n}")


def pinocchio_model(chain):
    """The same tree in Pinocchio, each joint at the point of its axis nearest to the link's origin."""
    data, model, numbers, seats = chain.numbers(), pin.Model(), [], []
    model.gravity.linear = data.gravity
    for i, parent in enumerate(data.parents):
        w, v = data.screws[i][:3], data.screws[i][3:]
        seat = np.eye(4)
        if data.revolute[i]:
            seat[:3, 3] = np.cross(w, v)
            joint = (
                pin.JointModelHelicalUnaligned(w, data.pitch[i])
                if data.pitch[i]
                else pin.JointModelRevoluteUnaligned(w)
            )
        else:
            joint = pin.JointModelPrismaticUnaligned(v)
        before = np.linalg.inv(seats[parent]) if parent >= 0 else np.eye(4)
        place = pin.SE3(before @ data.relative[i] @ seat)
        numbers.append(model.addJoint(numbers[parent] if parent >= 0 else 0, joint, place, f"j{i}"))
        I = np.linalg.inv(seat) @ data.pseudo[i] @ np.linalg.inv(seat).T
        c = I[:3, 3] / I[3, 3]
        central = I[:3, :3] - I[3, 3] * np.outer(c, c)
        inertia = pin.Inertia(I[3, 3], c, np.trace(central) * np.eye(3) - central)
        model.appendBodyToJoint(numbers[-1], inertia, pin.SE3.Identity())
        seats.append(seat)
    order = [model.joints[k].idx_v for k in numbers]
    return model, model.createData(), order


CHAINS = {
    "rrp": ap.library.rrp_arm,
    "panda": ap.library.seven_axis_arm,
    "seven": lambda: random_tree(7, 3, ("revolute",), branching=False),
    "tree": lambda: random_tree(20, 4),
    "screws": lambda: random_tree(5, 5, ("revolute", "prismatic", "helical")),
}


@pytest.mark.parametrize("name", CHAINS)
def test_forces_and_their_rates(name):
    chain = CHAINS[name]()
    arm, (model, data, order) = Dynamics(chain), pinocchio_model(chain)
    rng = np.random.default_rng(8)
    for _ in range(3):
        Q = rng.normal(size=(len(order), 4))
        q, v, a, j = (np.zeros(len(order)) for _ in range(4))
        for column, r in ((q, 0), (v, 1), (a, 2), (j, 3)):
            column[order] = Q[:, r]
        found = arm.inverse(Q)
        tau = pin.rnea(model, data, q, v, a)
        assert_allclose(found[:, 0], tau[order], rtol=1e-11, atol=1e-11 * np.abs(tau).max())
        dq, dv, M = (np.array(e) for e in pin.computeRNEADerivatives(model, data, q, v, a)[:3])
        M = np.triu(M) + np.triu(M, 1).T
        rate = dq @ v + dv @ a + M @ j
        assert_allclose(found[:, 1], rate[order], rtol=1e-11, atol=1e-11 * np.abs(rate).max())
        ours = arm.mass_matrix(Q[:, 0])
        assert_allclose(ours, M[np.ix_(order, order)], rtol=1e-11, atol=1e-11 * np.abs(M).max())
        back = arm.forward(Q[:, 0], Q[:, 1], found)
        assert_allclose(back, Q, rtol=1e-9, atol=1e-9)
