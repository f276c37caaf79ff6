"""What lanes run on: machine code where it pays, CasADi's machine else; the cores they may have."""

import numpy as np
import pytest

import appell as ap
from appell.ensemble import local, plan
from appell.ensemble.lane_machine import LaneMachine, on_cores

pytestmark = pytest.mark.usefixtures("lanes_for_few")


def test_without_heyoka_the_same_lanes_run_on_casadi(pendulums):
    plain = ap.compile(pendulums.equations, "casadi").bind()
    rows = [{"q1": 0.3}, {"q1": 0.6}, {"q1": 0.9}]
    study, other = (ap.sweep(s, rows, until=1.0, points=4) for s in (pendulums, plain))
    for name in study.info["columns"]:
        np.testing.assert_allclose(study[name], other[name], rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(study["steps"], other["steps"])


@pytest.mark.heyoka
def test_machine_code_is_made_where_it_pays(monkeypatch):
    """By the number of steps, which is the same on every machine; never for a handful of short runs."""
    system = ap.compile(ap.derive(ap.library.pendulum_chain(2))).bind()
    made = []
    compile = LaneMachine.compile
    monkeypatch.setattr(LaneMachine, "compile", lambda self: made.append(self.function.name()) or compile(self))
    over, options = {"q1": [0.1, 0.4, 0.7]}, {"until": 1.0, "points": 3}
    few = ap.sweep(system, over, **options)
    assert not made
    monkeypatch.setattr(plan, "WORTH", int(few["steps"].sum()) // 2)
    many = ap.sweep(system, over, **options)
    assert "step" in made
    np.testing.assert_array_equal(many["steps"], few["steps"])
    np.testing.assert_allclose(many["q1"], few["q1"], rtol=1e-12, atol=1e-13)


def test_number_of_cores_is_what_was_asked_for_and_only_during_the_sweep(pendulums, monkeypatch):
    heyoka = pytest.importorskip("heyoka")
    before, seen = heyoka.get_nthreads(), []
    inner = LaneMachine.__call__

    def noticed(self, V, P, out):
        seen.append(heyoka.get_nthreads())
        return inner(self, V, P, out)

    monkeypatch.setattr(LaneMachine, "__call__", noticed)
    for cores in (1, 3):
        seen.clear()
        ap.sweep(pendulums, {"q1": [0.1, 0.2, 0.3]}, until=0.2, points=3, workers=cores)
        assert set(seen) == {cores}
        assert heyoka.get_nthreads() == before


def test_sweeps_side_by_side_leave_the_number_of_cores_as_it_was():
    heyoka = pytest.importorskip("heyoka")
    before = heyoka.get_nthreads()
    one, other = on_cores(before + 1), on_cores(before + 2)
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert heyoka.get_nthreads() == before + 2
    other.__exit__(None, None, None)
    assert heyoka.get_nthreads() == before


def test_a_number_of_cores_that_cannot_be_is_forgotten():
    heyoka = pytest.importorskip("heyoka")
    before = heyoka.get_nthreads()
    with pytest.raises(TypeError), on_cores(10**400):
        pass
    with on_cores(before + 1):
        pass
    assert heyoka.get_nthreads() == before


@pytest.mark.parametrize(("share", "count"), [("150000 100000", 2), ("20000 100000", 1), ("max 100000", 8), ("", 8)])
def test_a_container_gets_no_more_cores_than_its_share(share, count, tmp_path, monkeypatch):
    (tmp_path / "cpu.max").write_text(share)
    monkeypatch.setattr(local, "SHARE", tmp_path / "cpu.max")
    monkeypatch.setattr(local.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert local.cores() == count
