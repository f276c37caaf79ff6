"""Robots as they are built against Pinocchio: the files of `pip install example-robot-data`, where it is installed."""

import re
from importlib.metadata import PackageNotFoundError, files

import numpy as np
import pytest

import appell as ap

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'appell[peers]'")

FAULTY = {
    "alex_psyonic_hands": "mimics 'index_q1', which is not a joint that moves",
    "quadrotor_base": "at least one joint that moves",
    "iris_simple": "at least one joint that moves",
    "romeo": "have no mass and no inertia",
    "romeo_laas_small": "have no mass and no inertia",
    "ur3": "has no <link>",
}


def robots():
    """Their files."""
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        return set()
    return {path.locate() for path in listed if path.suffix == ".urdf"}


ROBOTS = sorted(robots()) or [
    pytest.param(None, marks=pytest.mark.skip(reason="no robots: pip install example-robot-data"))
]


def peer(file, q, v, names):
    """Accelerations without drives, and the condition of the mass matrix."""
    model = pin.buildModelFromUrdf(str(file), mimic=True)
    joints = {re.sub(r"\W", "_", model.names[i]): model.joints[i] for i in range(1, model.njoints)}
    assert model.nv == len(names)
    at, rates = pin.neutral(model), np.zeros(model.nv)
    for name, angle, rate in zip(names, q, v, strict=True):
        joint = joints[name]
        at[joint.idx_q : joint.idx_q + joint.nq] = angle if joint.nq == 1 else (np.cos(angle), np.sin(angle))
        rates[joint.idx_v] = rate
    data = model.createData()
    M = np.triu(pin.crba(model, data, at))
    M = M + np.triu(M, 1).T
    found = np.linalg.solve(M, -pin.nle(model, data, at, rates))
    return found[[joints[name].idx_v for name in names]], np.linalg.cond(M)


@pytest.mark.filterwarnings("ignore:No distribution of mass")
@pytest.mark.parametrize("file", ROBOTS, ids=lambda file: getattr(file, "stem", ""))
def test_accelerations(file):
    if file.stem in FAULTY:
        with pytest.raises(ap.AppellError, match=FAULTY[file.stem]):
            ap.Chain.from_urdf(file, meshes=False)
        return
    chain = ap.Chain.from_urdf(file, meshes=False)
    names = [q.name for q in chain.coordinates]
    q, v = np.random.default_rng(0).uniform(-0.6, 0.6, (2, len(names)))
    try:
        wanted, condition = peer(file, q, v, names)
    except ValueError as error:
        pytest.skip(f"Pinocchio does not read it: {error}")
    system = ap.compile(ap.derive(chain)).bind()
    state = system.state(
        {**dict(zip(names, q, strict=True)), **{f"{n}.rate": e for n, e in zip(names, v, strict=True)}}
    )
    np.testing.assert_allclose(
        np.ravel(system.rhs(0.0, state))[-len(names) :], wanted, rtol=0,
        atol=max(1e-12, 1e-17 * condition) * np.abs(wanted).max(),
    )  # fmt: skip
