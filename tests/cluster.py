"""Sweeps on a real Ray cluster of several nodes on this machine, and in an S3 store of a server
here: `make validate-cluster`.
"""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import acklab
import commands
from acklab.places import LocalPlace, RemotePlace
from acklab.sweeps import PackedStore
from acklab.sweeps.on_ray import Ray, Travelling, run_job
from folders import contents

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402 - only where there is Ray

ROOT = Path(__file__).parents[1]
SCENARIO = ROOT / "studies/ack_compression/experiment_55.toml"
SHORT = {"duration": "1s", "measure.from": "0s", "flow.0.stop": "1s"}
LIMITS = [f"{packets}packets" for packets in range(5, 25)]


def swept(out, points=20, seeds=10, **options):
    grid = {"link.btl.forward.queue.limit": LIMITS[:points]}
    return acklab.sweep(SCENARIO, grid=grid, seeds=seeds, set=SHORT, out=out, quiet=True, **options)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """Returns the results of a sweep on this machine."""
    folder = tmp_path_factory.mktemp("here") / "out"
    swept(folder)
    return contents(folder)


@pytest.fixture
def cluster():
    """Starts a head without processors, and two nodes with one processor each."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        made.add_node(num_cpus=1)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


def test_a_cluster_gives_the_same_octets(cluster, here, tmp_path):
    where = []
    swept(tmp_path / "out", on=Ray(cluster.address), watch=lambda progress: where.append(progress.where))
    assert contents(tmp_path / "out") == here
    assert len(where[-1].split(", ")) == 2, "both nodes have finished points"


def test_a_folder_that_workers_do_not_reach_is_written_by_the_driver(cluster, here, tmp_path, monkeypatch):
    monkeypatch.setattr("acklab.sweeps.on_ray._marked", _unmarked)
    swept(tmp_path / "out", on=Ray(cluster.address))
    assert contents(tmp_path / "out") == here


def _unmarked(place):
    return contextlib.nullcontext(".ray-nowhere")


def test_a_node_that_is_lost_costs_no_point(cluster, tmp_path):
    """A node fails during the sweep, and the batches of this node run again on other nodes."""
    third = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    killed: list[int] = []

    def watch(progress):
        if progress.finished > 300 and not killed:
            killed.append(progress.finished)
            cluster.remove_node(third, allow_graceful=False)

    result = swept(tmp_path / "out", seeds=60, on=Ray(cluster.address), watch=watch)
    assert killed
    assert result.failures == ()
    assert len(PackedStore(result.place).done()) == 20 * 60
    swept(tmp_path / "alone", seeds=60)
    assert contents(tmp_path / "out") == contents(tmp_path / "alone")


def test_strategies_and_traces_travel(cluster, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import acklab\n"
        "class EveryThird(acklab.AckPolicy):\n"
        "    def decide(self, now, arrival, ledger):\n"
        "        if self.start.seed % 2 and now > 400_000_000:\n"
        "            raise ValueError('asked to')\n"
        "        return acklab.Now('third') if ledger.segments >= 3 else acklab.At(ledger.since + 100_000_000, 'timer')\n"
    )
    (tmp_path / "slow.trace").write_text("".join(f"{at}\n" for at in range(1, 1000, 2)))
    text = SCENARIO.read_text().replace('rate = "16Mbps"', 'trace = { file = "slow.trace" }')
    (tmp_path / "path.toml").write_text(text)
    policy = {"flow.0.ack": {"policy": "custom", "name": "EveryThird"}}
    both = []
    for name, on in (("there", Ray(cluster.address)), ("here", None)):
        both.append(
            acklab.sweep(
                tmp_path / "path.toml", seeds=6, set={**SHORT, **policy}, out=tmp_path / name, on=on, quiet=True,
                strategies=[f"{tmp_path / 'mine.py'}:EveryThird"],
            )
        )  # fmt: skip
    assert both[0].failures == both[1].failures
    assert all(str(tmp_path / "mine.py") in message and "asked to" in message for _, message in both[0].failures)
    assert both[0].has_results == both[1].has_results
    if both[0].has_results:
        assert both[0].flows.equals(both[1].flows)


def test_another_revision_is_refused(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("acklab.core.revision", lambda: "another")
    with pytest.raises(acklab.RunError, match="expected another, which planned the points"):
        swept(tmp_path / "out", points=1, on=Ray(cluster.address))


def test_a_job_of_another_revision_is_refused_before_it_runs():
    with pytest.raises(acklab.RunError, match="install the same acklab on all nodes"):
        run_job(Travelling("another", "", "", {}, [], "", ""), None)  # type: ignore[arg-type]


def command(out, address, seeds):
    grid = f"link.btl.forward.queue.limit={','.join(LIMITS)}"
    sets = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
    words = [
        sys.executable,
        "-m",
        "acklab",
        "sweep",
        str(SCENARIO),
        "--grid",
        grid,
        "--seeds",
        str(seeds),
        *sets,
        "--out",
        str(out),
    ]
    environment = {**os.environ} | ({"RAY_ADDRESS": address} if address else {})
    return subprocess.Popen(
        [*words, *(["--on", "ray"] if address else [])],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


def wait_for(folder, entries, seconds=180):
    until = time.monotonic() + seconds
    while len(list(folder.glob("points/*.json"))) < entries:
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_a_driver_that_ends_loses_nothing_that_was_finished(cluster, tmp_path, how):
    out = tmp_path / "out"
    driver = command(out, cluster.address, 60)
    wait_for(out, 3)
    driver.send_signal(how)
    _, told = driver.communicate(timeout=60)
    if how == signal.SIGINT:
        assert driver.returncode == 130
        assert "resume with: acklab sweep" in told
    kept = set(PackedStore(LocalPlace(out)).done())
    assert kept
    again = command(out, cluster.address, 60)
    _, told = again.communicate(timeout=300)
    assert again.returncode == 0, told
    swept(tmp_path / "alone", seeds=60)
    assert contents(out) == contents(tmp_path / "alone")


def test_a_sweep_goes_on_after_the_head_was_restarted(tmp_path):
    """Without a store, the state of the cluster is lost with its head.

    The driver then ends, and the same command continues on the next cluster.
    """
    out = tmp_path / "out"
    first = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    driver = command(out, first.address, 60)
    wait_for(out, 2)
    first.shutdown()
    time.sleep(1)
    second = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        if driver.poll() is None:
            driver.kill()
        driver.communicate()
        kept = len(PackedStore(LocalPlace(out)).done())
        assert 0 < kept < 20 * 60
        again = command(out, second.address, 60)
        _, told = again.communicate(timeout=300)
        assert again.returncode == 0, told
    finally:
        second.shutdown()
    swept(tmp_path / "alone", seeds=60)
    assert contents(out) == contents(tmp_path / "alone")


@pytest.mark.parametrize("on", ["threads", "ray"])
def test_a_run_killed_ten_times_at_random_instants_ends_with_the_same_octets(request, tmp_path, on):
    out, chance = tmp_path / "out", random.Random(7)
    address = request.getfixturevalue("cluster").address if on == "ray" else None
    for _ in range(10):
        process = command(out, address, 60)
        time.sleep(chance.uniform(0.5, 4))
        process.kill()
        process.communicate()
    last = command(out, address, 60)
    _, told = last.communicate(timeout=300)
    assert last.returncode == 0, told
    swept(tmp_path / "alone", seeds=60)
    assert contents(out) == contents(tmp_path / "alone")


@pytest.fixture
def bucket():
    """Returns a bucket of an S3 server on this machine (moto)."""
    program = os.environ.get("MOTO_SERVER") or shutil.which("moto_server")
    if program is None:
        pytest.skip("needs moto_server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([program, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.environ |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    until = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.2)
    yield f"endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1&allow_bucket_creation=true"
    server.terminate()
    server.wait()


def test_an_object_store_holds_the_same_octets(bucket, here, tmp_path):
    url = f"s3://lab/out?{bucket}"
    result = swept(url)
    for name in ("flows.parquet", "points.parquet", "sweep.json"):
        assert RemotePlace(url).read(name) == here[name]
    found = {name.removeprefix("points/"): octets for name, octets in here.items() if name.startswith("points/")}
    assert {name: RemotePlace(url).read(f"points/{name}") for name in RemotePlace(url).names("points")} == found
    assert result.query("select count(*) as n from flows")["n"].item() == 200
    assert acklab.load_sweep(url).flows.equals(result.flows)
    assert acklab.load_sweep(url).result(3).seed == 45
    assert swept(url) == result
    for words in (
        ("show", url),
        ("compare", url, "--relative-to", f"limit={LIMITS[0]}"),
        ("query", "select count(*) from flows", url),
        ("report", url, "--out", tmp_path / "report.html"),
    ):
        done = commands.acklab(*words)
        assert done.returncode in (0, None), done.stderr
        assert done.stdout


def test_workers_write_to_an_object_store_themselves(bucket, cluster, here):
    url = f"s3://lab/there?{bucket}"
    swept(url, on=Ray(cluster.address))
    assert RemotePlace(url).read("flows.parquet") == here["flows.parquet"]
