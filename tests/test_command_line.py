"""The command line: results on standard output, messages on standard error, exit codes that mean something."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import BUILT

pytestmark = pytest.mark.skipif(not BUILT, reason="needs the compiled core")

ROOT = Path(__file__).parents[1]
EXPERIMENT = str(ROOT / "studies" / "ack_compression" / "experiment_55.toml")


def acklab(*words, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "acklab", *map(str, words)], capture_output=True, text=True, cwd=cwd or ROOT, check=False
    )


def refused(*words, code=2):
    """The one message of a command that fails."""
    done = acklab(*words)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: "), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_run_prints_one_json_object_and_nothing_else():
    done = acklab("run", EXPERIMENT, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["seed"] == 42
    assert document["flows"][0]["flow"] == "flow_1"
    assert isinstance(document["network"], dict)
    assert {row["link"] for row in document["links"]} >= {"btl_forward", "btl_reverse"}
    assert document["scenario"]["duration"] == "15s"


def test_run_shows_tables_and_keeps_them(tmp_path):
    done = acklab("run", EXPERIMENT, "--set", "duration=1s", "--set", "flow.0.stop=1s", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "mean_throughput_l4" in done.stdout
    assert (tmp_path / "out" / "flows.parquet").is_file()
    report = acklab("report", tmp_path / "out")
    assert report.stdout.strip() == str(tmp_path / "out" / "report.html")


def test_two_processes_give_the_same_octets(tmp_path):
    for name in ("a", "b"):
        assert acklab("run", EXPERIMENT, "--seed", 5, "--out", tmp_path / name).returncode == 0
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("flow.0.colour=red", "colour"),
        ("duration=15", "duration"),
        ("link.btl.forward.rate=16", "rate"),
        ("link.btl.forward.rate=-16Mbps", "rate"),
        ("link.btl.reverse.gate.quota=0", "quota"),
        ("flow.0.to=nowhere", "nowhere"),
        ("link.btl.forward={trace = {file = 'missing.trace'}}", "missing.trace"),
    ],
)
def test_bad_input_is_refused_with_its_place(change, place):
    assert place in refused("run", EXPERIMENT, "--set", change)


def test_a_file_that_is_not_there():
    assert "nothing.toml: cannot read" in refused("run", "nothing.toml")


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    done = acklab("run", EXPERIMENT, "--json", "--out", tmp_path / "file")
    assert done.returncode == 1
    assert "cannot write it" in done.stderr
    assert json.loads(done.stdout)["flows"], "what was computed is not lost"


def test_results_that_are_damaged_or_not_there(tmp_path):
    assert "found no results" in refused("report", tmp_path, code=1)
    (tmp_path / "flows.parquet").write_bytes(b"PAR1 but not for long")
    assert "flows.parquet" in refused("report", tmp_path, code=1)


def test_check_and_schema():
    assert acklab("check", EXPERIMENT).returncode == 0
    assert json.loads(acklab("check", EXPERIMENT, "--json").stdout)["seed"] == 42
    assert json.loads(acklab("schema").stdout)["type"] == "object"


def test_studies_are_listed_and_unknown_ones_refused():
    assert "ack_compression" in acklab("studies").stdout
    assert "expected one of: ack_compression" in refused("study", "nonsense")
    refused("study")


def test_ctrl_c_in_a_sweep_exits_130_and_says_how_to_go_on(tmp_path):
    words = [
        "sweep",
        EXPERIMENT,
        "--set",
        "duration=300s",
        "--set",
        "flow.0.stop=300s",
        "--seeds",
        "5000",
        "--out",
        str(tmp_path),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "acklab", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    until = time.monotonic() + 120
    while not any((tmp_path / "points").glob("[0-9a-f]*")) and time.monotonic() < until and process.poll() is None:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130, messages
    assert "go on with: acklab sweep" in messages
    assert "Traceback" not in messages
    assert any((tmp_path / "points").glob("[0-9a-f]*"))


def test_ctrl_c_in_a_run_exits_130():
    process = subprocess.Popen(
        [sys.executable, "-m", "acklab", "run", EXPERIMENT, "--set", "duration=100000s", "--set", "flow.0.stop=100000s"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    time.sleep(5)
    os.kill(process.pid, signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130, messages
    assert "Traceback" not in messages
