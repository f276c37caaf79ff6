"""Sweeps on a Dask cluster: a scheduler and worker processes on loopback, one of them killed in the middle."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import sympy as sp
from typer.testing import CliRunner

import appell as ap
from appell.cli import app
from appell.ensemble import Uniform, open_study
from appell.ensemble.blueprint import read, written
from appell.ensemble.cases import cases
from appell.ensemble.design import design
from appell.ensemble.plan import Plan
from appell.ensemble.settings import Settings
from appell.ensemble.store import JOURNAL
from appell.errors import ClusterError, ModelError

pytest.importorskip("distributed")
WITHOUT = "import sys; sys.modules['appell'] = None; from distributed.cli.dask_{0} import main; main()"
EDITED = (
    "import appell.motion.versions as v; v.files = lambda: 'edited'; "
    "from distributed.cli.dask_worker import main; main()"
)
WORKER = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
SCHEDULER = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]


class Cluster:
    """Processes of our own, ended one by one; the scheduler has no appell."""

    def __init__(self, folder, workers=3):
        self.file, self.folder = folder / "scheduler.json", folder
        self.scheduler = self._start(
            ["-c", WITHOUT.format("scheduler"), *SCHEDULER, "--scheduler-file", str(self.file)]
        )
        deadline = time.monotonic() + 60
        while not self.file.exists() or not self.file.read_text().strip():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address = json.loads(self.file.read_text())["address"]
        self.workers = [self.add() for _ in range(workers)]

    def _start(self, command):
        return subprocess.Popen(
            [sys.executable, "-W", "ignore", *command],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def add(self, program=("-m", "distributed.cli.dask_worker")):
        local = ["--local-directory", str(self.folder)]
        return self._start([*program, *WORKER, *local, "--scheduler-file", str(self.file)])

    def close(self):
        for process in (*self.workers, self.scheduler):
            if process.poll() is None:
                process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("dask"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def system():
    return ap.compile(ap.derive(ap.library.pendulum_chain(3))).bind()


def assert_equal(study, whole):
    assert study.complete
    for name in whole.dataset.variables:
        np.testing.assert_array_equal(study.dataset[name].values, whole.dataset[name].values, err_msg=str(name))


OVER = {"q1": Uniform(-1, 1), "q2": Uniform(-1, 1)}


def plan_of(system, over, inputs=None, control=None, start=None):
    table = design(over, None, "random", 0)
    found, which = cases(system, table, inputs, control, start)
    settings = Settings.of(
        system.model, found[0].start, 1.0, method="auto", rtol=1e-9, atol=None, points=3, at=None, events=(),
        outputs=None, max_steps=1000, corners="locate",
    )  # fmt: skip
    return Plan.of(table, found, which, settings)


@pytest.mark.filterwarnings("ignore")
def test_a_worker_killed_in_the_middle_costs_nothing(cluster, system, tmp_path):
    """Nothing is lost, nothing counted twice, and the numbers are those of this machine, bit for bit."""
    options = {"runs": 600, "until": 10.0, "points": 5, "chunk": 20, "seed": 2}
    path = tmp_path / "study.zarr"
    victim = cluster.workers[0]

    killer = when_chunks_are_done(path, 3, lambda: os.kill(victim.pid, signal.SIGKILL))
    study = ap.sweep(system, OVER, **options, out=path, cluster=cluster.address)
    killer.join()
    assert victim.wait(timeout=10) == -signal.SIGKILL
    assert study.outcomes == {"DONE": 600}
    lines = [json.loads(line.partition(" ")[2]) for line in (path / JOURNAL).read_text().splitlines()]
    assert sorted(line["chunk"] for line in lines) == list(range(30))
    assert_equal(study, ap.sweep(system, OVER, **options))
    cluster.workers[0] = cluster.add()


def when_chunks_are_done(path, count, then):
    """Wait in a thread until a study has so many chunks."""

    def wait():
        deadline = time.monotonic() + 120
        while not (path / JOURNAL).exists() or (path / JOURNAL).read_text().count("\n") < count:
            if time.monotonic() > deadline:
                return
            time.sleep(0.01)
        then()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_lost_is_told_and_the_study_goes_on_here(system, tmp_path, capfd):
    options = {"runs": 400, "until": 10.0, "points": 3, "chunk": 10, "seed": 4}
    path = tmp_path / "study.zarr"
    doomed = Cluster(tmp_path, workers=1)
    try:
        killer = when_chunks_are_done(path, 3, doomed.scheduler.kill)
        with pytest.raises(ClusterError, match=r"scheduler is gone.* of 40 chunks are done and safe in .*resume=True"):
            ap.sweep(system, OVER, **options, out=path, cluster=doomed.address)
        killer.join()
    finally:
        doomed.close()
    assert "distributed.client" not in capfd.readouterr().err  # told once, in words
    lines = (path / JOURNAL).read_text().splitlines()
    assert 3 <= len(lines) < 40
    assert_equal(ap.sweep(system, OVER, **options, out=path, resume=True), ap.sweep(system, OVER, **options))


@pytest.mark.filterwarnings("ignore")
def test_a_worker_without_appell_says_so(system, tmp_path):
    poor = Cluster(tmp_path, workers=0)
    try:
        poor.workers.append(poor.add(["-c", WITHOUT.format("worker")]))
        with pytest.raises(ClusterError, match=r"A worker cannot work .*appell.*pip install"):
            ap.sweep(system, {"q1": [0.1]}, until=0.1, cluster=poor.address)
    finally:
        poor.close()


@pytest.mark.filterwarnings("ignore")
def test_models_made_one_by_one_travel_as_well(cluster):
    """Kinks and stops, a model that no file of the workers knows; failures come back with their words."""
    x, mu = ap.coordinates("x", "m"), ap.parameters("mu")
    ground = ap.Frame("ground")
    friction = ap.Generalized({x: -sp.sqrt(mu) * sp.sign(x.rate)})
    model = ap.Model(ground, x, [ap.Particle("mass", 1, ground.point(x, 0))], [friction], name="sliding")
    system = ap.compile(ap.derive(model))
    options = {"start": {x.rate: 1.0}, "until": 2.0, "points": 3, "events": [ap.Event(x - 0.3, stop=True, name="far")]}
    study = ap.sweep(system, {mu: [1.0, 4.0, -1.0]}, **options, cluster=cluster.address)
    assert study.outcomes == ap.sweep(system, {mu: [1.0, 4.0, -1.0]}, **options).outcomes
    np.testing.assert_allclose(study["x.end"].values[:2], [0.3, 0.25], rtol=1e-9, atol=0)
    assert study.failures["run"].tolist() == [2]


@pytest.mark.filterwarnings("ignore")
def test_the_command_takes_an_address(cluster, tmp_path):
    out = tmp_path / "study.zarr"
    command = "sweep four-bar --over q1=0.1:0.5:6 --until 1 --points 3 --json".split()
    result = CliRunner().invoke(app, [*command, "--out", str(out), "--cluster", cluster.address])
    assert result.exit_code == 0, result.output
    assert open_study(out).outcomes == {"DONE": 6}


@pytest.mark.filterwarnings("ignore")
def test_an_address_where_nobody_answers_is_told(system, monkeypatch, tmp_path):
    monkeypatch.setattr("appell.ensemble.cluster.ANSWER", 1.0)
    with pytest.raises(ClusterError, match=r"No Dask scheduler answers at 'tcp://127.0.0.1:1'.*dask scheduler"):
        ap.sweep(system, {"q1": [0.1]}, until=0.1, cluster="tcp://127.0.0.1:1", out=tmp_path / "study.zarr")
    assert not any(tmp_path.iterdir())  # the same may be asked again


@pytest.mark.parametrize("address", [8786, "", "nonsense", "127.0.0.1:8786", "tcp://127.0.0.1"])
def test_what_is_no_address_is_refused_at_once(system, address):
    with pytest.raises(ClusterError, match="Give the address of a Dask scheduler, 'tcp://host:8786'"):
        ap.sweep(system, {"q1": [0.1]}, until=0.1, cluster=address)


@pytest.mark.filterwarnings("ignore")
def test_another_kind_of_server_is_no_scheduler():
    """One line at once, and no client that waits to be closed and fails at that."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: server.accept()[0].sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        command = [sys.executable, "-c", "from appell.cli import main; main()", "sweep", "four-bar", "--over", "q1=0.1"]
        result = subprocess.run([*command, "--cluster", address], capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    assert result.stderr.startswith(f"appell: No Dask scheduler answers at '{address}'")
    assert len(result.stderr.strip().splitlines()) == 1


def test_functions_and_foreign_classes_do_not_travel(system):
    class Mine(ap.GibbsAppell):
        pass

    with pytest.raises(ModelError, match=r"cannot travel|not one of appell's own words"):
        written(plan_of(ap.compile(ap.derive(system.model, Mine())).bind(), {"q1": [0.1]}))
    theta, tau = ap.coordinates("theta"), ap.inputs("tau")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", 1, ground.pin(theta).point(0, -1))
    model = ap.Model(ground, theta, [bob], [ap.Generalized({theta: tau})])
    with pytest.raises(ModelError, match="functions do not travel"):
        written(plan_of(ap.compile(ap.derive(model)), {"theta": [0.1]}, control=lambda t, s: 0.0))


def test_a_worker_on_which_heyoka_does_not_load_is_refused(system, monkeypatch):
    """It would make the runs by CasADi's machine, slowly and with other rounding."""
    blueprint = written(plan_of(system, {"q1": [0.1]}))
    monkeypatch.setattr("appell.code.heyoka_code.available", lambda: False)
    with pytest.raises(ap.AppellError, match="install the same versions"):
        read(blueprint)


@pytest.mark.filterwarnings("ignore")
def test_a_worker_with_other_files_is_left_out(system, tmp_path):
    """The others go on; where there are none, nothing is left behind."""
    from distributed import Client

    options = {"runs": 300, "until": 5.0, "points": 3, "chunk": 10, "seed": 3}
    own = Cluster(tmp_path, workers=0)
    try:
        own.workers = [own.add(["-c", EDITED])]
        with Client(own.address, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
            with pytest.raises(ClusterError, match=r"A worker refuses, tcp:.*\(files edited\).* same files"):
                ap.sweep(system, OVER, **options, out=tmp_path / "study.zarr", cluster=own.address)
            assert not (tmp_path / "study.zarr").exists()
            own.workers.append(own.add())
            client.wait_for_workers(2, timeout=60)
        study = ap.sweep(system, OVER, **options, cluster=own.address)
    finally:
        own.close()
    assert_equal(study, ap.sweep(system, OVER, **options))
    assert "1 worker of tcp" in study.summary()
    assert "A worker refuses, tcp" in study.summary()


def test_a_worker_with_other_files_under_the_same_version_is_refused(system, monkeypatch):
    blueprint = written(plan_of(system, {"q1": [0.1]}))
    monkeypatch.setattr("appell.motion.versions.files", lambda: "edited")
    with pytest.raises(
        ap.AppellError, match=r"the worker on .* has appell .* \(files edited\).* of appell the same files"
    ):
        read(blueprint)


def test_a_blueprint_gives_the_same_graphs(system):
    plan = plan_of(system, {"q1": np.linspace(0.1, 0.2, 9)})
    (runner,) = read(written(plan))
    assert runner.rules.given.to_data() == plan.graphs[0]
    mine, theirs = plan.make(0, 2), runner.run(plan.columns(slice(0, 2)))
    for name, values in mine.arrays.items():
        np.testing.assert_array_equal(values, theirs.arrays[name])
