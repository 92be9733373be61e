"""A dry run estimates the cost of points, and stores nothing."""

import json
import time

import pytest

import acklab
import commands
from acklab.studies import estimate_study, find, run_study
from acklab.sweeps import estimate

GRID = {"flow.0.congestion": ["newreno", "cubic"]}
SHORT = {"duration": "1s", "measure.from": "0s", "flow.0.stop": "1s"}
EXPERIMENT = "studies/ack_compression/experiment_55.toml"

CLAIMS = """
title = "Test"
question = "Does it work?"
seeds = 10
vary = { "flow.0.start" = "0ms..5ms" }

[[claim]]
id = "throughput"
title = "throughput"
source = "a page"
unit = "Mbps"
published = 14.05
tolerance = "3%"
scenario = "one.toml"
metric = "flows.mean_throughput_l4"

[[claim]]
id = "seeds"
title = "seeds of the study"
source = "a page"
published = 20
tolerance = 0
metric = "study.rows"
"""
STUDY = """
from acklab.studies import Measure

def measures(bench):
    swept = bench.sweep("one.toml", "swept", {"flow.0.congestion": ["newreno", "cubic"]})
    return {"rows": Measure([float(swept.flows.height)] * 2, [swept.rerun])}
"""


@pytest.fixture
def study(tmp_path, scenario, monkeypatch):
    folder = tmp_path / "studies" / "test"
    folder.mkdir(parents=True)
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "study.py").write_text(STUDY)
    (folder / "one.toml").write_text(scenario.read_text())
    monkeypatch.chdir(tmp_path)
    return find("test")


def test_a_sweep_is_counted_with_what_is_kept_and_writes_nothing(fake, scenario, tmp_path):
    there = tmp_path / "swept"
    assert estimate(scenario, grid=GRID, seeds=5, out=there).points == 10
    assert not there.exists()
    acklab.sweep(scenario, seeds=5, set={"flow.0.congestion": "cubic"}, out=there, quiet=True)
    before = sorted(path.read_bytes() for path in there.rglob("*") if path.is_file())
    found = estimate(scenario, grid=GRID, seeds=5, out=there)
    assert (found.points, found.kept, found.left) == (10, 5, 5)
    assert sorted(path.read_bytes() for path in there.rglob("*") if path.is_file()) == before
    acklab.sweep(scenario, grid=GRID, seeds=5, out=there, quiet=True)
    assert estimate(scenario, grid=GRID, seeds=5, out=there).text == "10 points, all of them stored"


def test_a_sample_of_many_points_is_enough(fake, scenario, tmp_path, monkeypatch):
    monkeypatch.setattr("acklab.sweeps.estimation._SAMPLE", 0.5)
    found = estimate(scenario, seeds=20_000, out=tmp_path / "swept")
    assert found.points == 20_000
    assert found.sample < 20_000
    assert 0 < found.seconds.low < found.seconds.mean < found.seconds.high
    # All rows of a table are in memory at the end, twice.
    assert found.memory > 20_000 * 2 * 8


def test_a_point_that_fails_fails_the_dry_run(fake, scenario, tmp_path):
    with pytest.raises(acklab.RunError, match="repeat with: acklab run"):
        estimate(scenario, set={"fail": "true"}, seeds=8, out=tmp_path / "swept")


def test_an_estimate_is_about_what_a_sweep_takes(tmp_path):
    grid = {"link.btl.forward.queue.limit": [f"{limit}packets" for limit in range(5, 15)]}
    found = estimate(EXPERIMENT, grid=grid, seeds=60, set=SHORT, out=tmp_path / "swept", jobs=1)
    start = time.process_time()
    acklab.sweep(EXPERIMENT, grid=grid, seeds=60, set=SHORT, out=tmp_path / "swept", jobs=1, quiet=True)
    took = time.process_time() - start
    # Planning and the tables of the sweep are not in the estimate, and caches are warmer in the
    # sweep.
    assert 0.4 * took < found.seconds.mean < 2.5 * took


def test_a_long_run_is_cut_off(fake, scenario, tmp_path, monkeypatch):
    monkeypatch.setattr("acklab.sweeps.estimation._SAMPLE", 0.0)
    shares: list[float] = []

    def run(*arguments, cancel, watch, **options):
        for share in (0.25, 0.5):
            until = time.process_time() + 0.2
            while time.process_time() < until:
                pass
            watch(share)
            shares.append(share)
            if cancel.cancelled:
                raise acklab.Cancelled("stopped")

    monkeypatch.setattr("acklab.sweeps.estimation.run_source", run)
    found = estimate(scenario, out=tmp_path / "swept")
    assert shares == [0.25]
    assert 0.2 / 0.25 < found.seconds.mean < 0.4 / 0.25


def test_a_study_is_counted_by_the_first_seed_of_each_setting(fake, study, tmp_path):
    found = estimate_study(study, tmp_path / "out", quiet=True)
    # The claim also runs NewReno, but each folder stores its own points.
    assert (found.points, found.kept, found.sample) == (30, 0, 3)
    assert fake.runs == 3
    assert not (tmp_path / "out").exists()
    run_study(study, tmp_path / "out", quiet=True)
    assert fake.runs == 33
    assert estimate_study(study, tmp_path / "out", quiet=True).kept == 30


def test_commands_say_it(fake, study, scenario, tmp_path):
    done = commands.acklab("sweep", scenario, "--seeds", 3, "--out", tmp_path / "swept", "--dry-run", cwd=tmp_path)
    assert done.stdout.startswith("3 points\nabout ")
    done = commands.acklab("study", "test", "--dry-run", "--json", "--out", tmp_path / "out", cwd=tmp_path)
    assert json.loads(done.stdout)["test"]["points"] == 30
    done = commands.acklab("study", "test", "--dry-run", "--out", tmp_path / "out", cwd=tmp_path)
    assert "30 points\nabout " in done.stdout
    fake.acquire_permission = lambda: None
    done = commands.acklab("study", "test", "--dry-run", "--way", "emulate", cwd=tmp_path)
    assert "found --dry-run and --way emulate" in done.stderr
