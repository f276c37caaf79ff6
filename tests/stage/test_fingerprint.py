"""Checksums of Python functions: the same for the same, another for whatever makes a difference."""

import os
import subprocess
import sys
import textwrap
from functools import partial

import numpy as np
import pytest

import appell as ap
from appell.ensemble.fingerprint import fingerprint
from appell.errors import ModelError, StoreError

GAIN = 2.0


def damper(gain, shift=0.0):
    def law(t, state):
        return -gain * state["theta"] + shift

    return law


def called(t, state):
    return GAIN * np.sin(t)


def calling(t, state):
    return called(t, state)


class Integrator:
    def __init__(self, gain, table):
        self.gain, self.table = gain, table

    def __call__(self, t, state):
        return -self.gain * self.table[0]


def test_the_same_function_has_the_same_checksum():
    assert fingerprint(damper(1.0)) == fingerprint(damper(1.0))
    assert fingerprint(Integrator(1.0, np.ones(3))) == fingerprint(Integrator(1.0, np.ones(3)))
    assert fingerprint(partial(called, state=None)) == fingerprint(partial(called, state=None))


def test_whatever_a_function_holds_counts(monkeypatch):
    before = fingerprint(calling)
    different = [
        damper(1.0), damper(1.5), damper(1.0, 0.1), Integrator(1.0, np.ones(3)), Integrator(2.0, np.ones(3)),
        Integrator(1.0, np.zeros(3)), lambda t, s: 0.0, lambda t, s: 1.0, lambda t, s: s["theta"], calling, called,
        partial(damper, 1.0), Integrator(1.0, [{1, 2}]), Integrator(1.0, [{1, 3}]),
        Integrator(1.0, np.ones(3)).__call__,
    ]  # fmt: skip
    assert len({fingerprint(f) for f in different}) == len(different)
    monkeypatch.setitem(globals(), "GAIN", 3.0)  # in a function that a function calls
    assert fingerprint(calling) != before


def test_what_cannot_be_compared_is_told(tmp_path):
    with open(tmp_path / "file", "w") as file, pytest.raises(ModelError, match="no values of which a checksum"):
        fingerprint(lambda t, s: file.write(""))


def test_it_is_the_same_in_another_process():
    text = textwrap.dedent("""
        import numpy as np
        from appell.ensemble.fingerprint import fingerprint
        K = {"a": np.arange(3.0), "b": {"x", "y", "z"}}
        def law(t, state):
            return K["a"][0] * np.cos(t) + max(t, 1.0)
        print(fingerprint(law))
    """)
    found = [
        subprocess.run(
            [sys.executable, "-c", text],
            capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert found[0] == found[1]


def test_a_study_is_not_continued_with_another_controller(tmp_path):
    theta, tau = ap.coordinates("theta"), ap.inputs("tau")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", 1, ground.pin(theta).point(0, -1))
    system = ap.compile(ap.derive(ap.Model(ground, theta, [bob], [ap.Generalized({theta: tau})])))
    options = {"until": 0.2, "points": 2, "out": tmp_path / "study.zarr"}
    ap.sweep(system, {"theta": [0.1, 0.2]}, control=damper(1.0), **options)
    again = ap.sweep(system, {"theta": [0.1, 0.2]}, control=damper(1.0), **options, resume=True)
    assert again.outcomes == {"DONE": 2}
    with pytest.raises(StoreError, match="differs in: the control"):
        ap.sweep(system, {"theta": [0.1, 0.2]}, control=damper(1.5), **options, resume=True)
    with pytest.raises(StoreError, match="differs in: the control"):
        ap.sweep(system, {"theta": [0.1, 0.2]}, inputs={tau: lambda t: t}, **options, resume=True)
    with open(tmp_path / "file", "w") as file:
        options["out"] = tmp_path / "other.zarr"
        ap.sweep(system, {"theta": [0.1]}, control=lambda t, s: file.write("") * 1.0, **options)
        with pytest.raises(StoreError, match="the control, of which no checksum can be made"):
            ap.sweep(system, {"theta": [0.1]}, control=lambda t, s: file.write("") * 1.0, **options, resume=True)
