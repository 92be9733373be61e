"""The command line: results on standard output, messages on standard error, and exit codes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from acklab.cli import completion
from acklab.keys import keys
from acklab.places import LocalPlace
from acklab.sweeps import PackedStore
from commands import ROOT, acklab

EXPERIMENT = str(ROOT / "studies" / "ack_compression" / "experiment_55.toml")


def process(*words):
    """Runs a command in a separate process."""
    arguments = [sys.executable, "-m", "acklab", *map(str, words)]
    return subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, check=False)


def refused(*words, code=2):
    """Returns the single message of a command that fails."""
    done = acklab(*words)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: "), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_run_prints_one_json_object_and_nothing_else():
    done = process("run", EXPERIMENT, "--json")
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
    assert "goodput" in done.stdout
    assert "limited by" in done.stdout
    assert (tmp_path / "out" / "flows.parquet").is_file()
    report = acklab("report", tmp_path / "out")
    assert report.stdout.strip() == str(tmp_path / "out" / "report.html")


def test_two_processes_give_the_same_octets(tmp_path):
    for name in ("a", "b"):
        assert process("run", EXPERIMENT, "--seed", 5, "--out", tmp_path / name).returncode == 0
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_a_sweep_ends_with_a_table_of_its_results(tmp_path):
    words = ["sweep", EXPERIMENT, "--grid", "flow.0.congestion=newreno,cubic", "--seeds", 2, "--vary", "flow.0.start=0ms..5ms"]
    short = ["--set", "duration=2s", "--set", "flow.0.stop=2s", "--out", tmp_path / "out"]
    done = acklab(*words, *short)
    assert done.returncode == 0, done.stderr
    assert "mean_throughput_l4 [Mbps]" in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()[2:4]] == ["newreno", "cubic"]
    assert "±" in done.stdout
    document = json.loads(acklab(*words, *short, "--json").stdout)
    assert [row["congestion"] for row in document["summary"]] == ["newreno", "cubic"]
    assert len(document["points"]) == 4
    assert acklab("show", tmp_path / "out").stdout == done.stdout
    smaller = acklab(*words[:3], "flow.0.congestion=cubic", *short)
    assert "had tables of a sweep with 3 points more" in smaller.stderr


def test_runs_are_shown_again_and_set_side_by_side(tmp_path):
    for name in ("newreno", "cubic"):
        change = ["--set", f"flow.0.congestion={name}", "--set", "duration=2s", "--set", "flow.0.stop=2s"]
        first = acklab("run", EXPERIMENT, *change, "--out", tmp_path / name)
    again = acklab("show", tmp_path / "cubic")
    assert again.stdout == first.stdout
    assert "repeat with: acklab run" in again.stderr
    both = acklab("compare", tmp_path / "newreno", tmp_path / "cubic")
    assert both.returncode == 0, both.stderr
    differs = both.stdout.split("Flows")[0]
    assert "congestion.algorithm" in differs
    assert "duration" not in differs
    assert "mean_qdisc_delay_l2" in both.stdout
    assert f"− {tmp_path / 'newreno'}" in both.stdout
    assert "expected at least two folders" in refused("compare", tmp_path / "cubic")
    assert "no such folder" in refused("show", tmp_path / "nothing", code=1)


def test_strategies_of_a_file(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import acklab\n"
        "class EveryThird(acklab.AckPolicy):\n"
        "    def decide(self, now, arrival, ledger):\n"
        "        if arrival.kind != 'in-order' or ledger.segments >= 3:\n"
        "            return acklab.Now('third')\n"
        "        return acklab.At(ledger.since + 100_000_000, 'timer')\n"
    )
    place = f"{tmp_path / 'mine.py'}:EveryThird"
    sets = ["--set", "flow.0.ack={policy = 'custom', name = 'EveryThird'}", "--set", "duration=2s", "--set", "flow.0.stop=2s"]
    done = acklab("run", EXPERIMENT, "--strategy", place, *sets, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {"third", "timer"} & {row["reason"] for row in document["acks"]}
    assert f"--strategy {place}" in document["command"]
    grid = ["--grid", "flow.0.ack.name=EveryThird", "--out", tmp_path / "out"]
    for _ in range(2):
        done = acklab("sweep", EXPERIMENT, "--strategy", place, *sets, *grid)
        assert done.returncode == 0, done.stderr
    assert len(PackedStore(LocalPlace(tmp_path / "out")).done()) == 1
    (tmp_path / "mine.py").write_text((tmp_path / "mine.py").read_text().replace(">= 3", ">= 2"))
    assert acklab("sweep", EXPERIMENT, "--strategy", place, *sets, *grid).returncode == 0
    assert len(PackedStore(LocalPlace(tmp_path / "out")).done()) == 2, "another file makes another point"
    assert "found no class 'Other', expected one of: EveryThird" in refused(
        "run", EXPERIMENT, "--strategy", f"{tmp_path / 'mine.py'}:Other"
    )
    (tmp_path / "broken.py").write_text("x = 1\nraise ValueError('why')\n")
    assert "broken.py: line 2: ValueError: why" in refused("run", EXPERIMENT, "--strategy", f"{tmp_path / 'broken.py'}:A")
    assert "expected FILE.py:CLASS" in refused("run", EXPERIMENT, "--strategy", "mine")


@pytest.mark.parametrize(
    "kind", ["cable", "cell", "datacentre", "dumbbell", "lte", "office", "page", "satellite", "terminal", "vdsl"]
)
def test_templates_run(tmp_path, kind):
    assert kind in acklab("new").stdout
    done = acklab("new", kind, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == f"{kind}.toml"
    ran = acklab("run", f"{kind}.toml", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "note" not in ran.stderr
    refusal = acklab("new", kind, cwd=tmp_path)
    assert refusal.returncode == 2
    assert "exists already" in refusal.stderr
    assert "expected one of: cable" in acklab("new", "nonsense", cwd=tmp_path).stderr


def completions(words):
    """Returns the completions that bash receives for a command line."""
    line = {"COMP_WORDS": " ".join(["acklab", *words]), "COMP_CWORD": str(len(words)), "_ACKLAB_COMPLETE": "complete_bash"}
    program = "import sys; sys.argv = ['acklab']; from acklab.cli import main; main()"
    arguments = [sys.executable, "-c", program]
    return subprocess.run(arguments, capture_output=True, text=True, env=os.environ | line, cwd=ROOT, check=False).stdout.split()


def test_a_shell_completes_commands_studies_templates_and_keys():
    assert "sweep" in completions(["sw"])
    assert "ack_compression" in completions(["study", "ack_comp"])
    assert "satellite" in completions(["new", "sat"])
    assert "link.btl." in completions(["run", EXPERIMENT, "--set", "link.b"])
    assert "flow.0.transport.congestion.algorithm=" in completions(["run", EXPERIMENT, "--set", "flow.0.transport.congestion.a"])
    assert "flow.ack.tack." not in completions(["explain", "flow.ack.t"])
    assert "flow.ack.tack" in completions(["explain", "flow.ack.t"])


def test_a_shell_completes_keys_that_the_scenario_leaves_out_and_values():
    setting = ["run", EXPERIMENT, "--set"]
    assert "link.btl.forward.jitter." in completions([*setting, "link.btl.forward.j"])
    assert "link.btl.forward.queue.mark_above=" in completions([*setting, "link.btl.forward.queue.m"])
    # bash treats the texts before and after a `=` as separate words.
    assert "codel" in completions([*setting, "link.btl.forward.queue.discipline", "=", "co"])
    assert "linux" in completions([*setting, "flow.0.transport.ack.policy", "=", "l"])


def typed(path, known):
    """Returns a scenario with the table at `path` of the reference, and the typed form of its
    path.
    """
    scenario: dict[str, Any] = {}
    node, place, words = scenario, "", []
    for part in filter(None, path.split(".")):
        holder = known.get(place)
        place = f"{place}.{part}".lstrip(".")
        if holder is not None and holder.tag and part in {value.name for value in holder.values}:
            node[holder.tag] = part
            continue
        is_list = known[place].takes == "a list of tables"
        inside: dict[str, Any] = {}
        node[part] = [inside] if is_list else inside
        node = inside
        words += [part, "0"] if is_list else [part]
    return scenario, ".".join(words)


def test_every_key_and_every_named_value_is_completed():
    known = {key.path: key for key in keys()}
    for holder in dict.fromkeys(path.rpartition(".")[0] for path in known):
        scenario, table = typed(holder, known)
        if not table:
            continue
        offered = set(completion._possible(scenario, f"{table}."))
        for key in (key for path, key in known.items() if path.rpartition(".")[0] == holder):
            name = key.path.rpartition(".")[2]
            assert offered & {f"{table}.{name}=", f"{table}.{name}."}, key.path
            names = {value.name for value in key.values}
            assert not key.by_name or names <= set(completion._values(scenario, f"{table}.{name}")), key.path
            if key.tag:
                assert f"{table}.{name}.{key.tag}=" in completion._possible(scenario, f"{table}.{name}."), key.path
                assert names <= set(completion._values(scenario, f"{table}.{name}.{key.tag}")), key.path


def test_a_shell_completes_further_values_of_a_grid_shorthands_and_figures():
    grid = ["sweep", EXPERIMENT, "--grid", "flow.0.congestion", "="]
    assert "newreno,cubic" in completions([*grid, "newreno,cu"])
    assert "newreno,newreno" not in completions([*grid, "newreno,n"])
    assert "tack" in completions(["run", EXPERIMENT, "--set", "flow.0.ack.policy", "=", "ta"])
    assert "flow.name=" not in completions(["run", EXPERIMENT, "--set", "flow."]), "a list has no keys but its tables"
    assert "flow.0.start=" in completions(["sweep", EXPERIMENT, "--vary", "flow.0.sta"])
    assert "queues" in completions(["plot", "out", "qu"])
    assert completions(["plot", "out", "--format", "p"]) == ["pdf", "png"]


def test_a_table_that_takes_no_name_says_so():
    by_name = {key.path: key.by_name for key in keys()}
    assert by_name["flow.congestion"]
    assert not by_name["flow.ack"]
    assert acklab("check", EXPERIMENT, "--set", "flow.0.congestion=cubic").returncode == 0
    assert acklab("check", EXPERIMENT, "--set", "flow.0.ack=linux").returncode == 2
    assert "Takes a table whose key `policy` is one of the names below." in acklab("explain", "flow.ack").stdout


def test_a_key_is_explained():
    told = acklab("explain", "flow.ack.tack.beta").stdout
    assert "the number of ACKs per minimum round-trip time" in told
    assert "Default: 4" in told
    assert "measure" in acklab("explain").stdout
    refused = acklab("explain", "flow.ack.taco")
    assert refused.returncode == 2
    assert "perhaps `flow.ack.tack" in refused.stderr


def test_check_and_schema():
    assert acklab("check", EXPERIMENT).returncode == 0
    assert json.loads(acklab("check", EXPERIMENT, "--json").stdout)["seed"] == 42
    assert json.loads(acklab("schema").stdout)["type"] == "object"


def test_commands_that_write_no_logs_say_what_does():
    assert "repeat one of its points by acklab run" in refused("sweep", EXPERIMENT, "--qlog", "logs")
    assert "add a [[capture]] to the scenario" in refused("emulate", EXPERIMENT, "--qlog", "logs")


def test_studies_are_listed_and_unknown_ones_refused():
    assert "ack_compression" in acklab("studies").stdout
    assert "expected one of: accecn_filtering, ack_compression" in refused("study", "nonsense")
    refused("study")


def wait_for(condition, process):
    """Waits until a process has reached a point.

    The duration depends on the load of the machine.
    """
    until = time.monotonic() + 120
    while not condition() and time.monotonic() < until and process.poll() is None:
        time.sleep(0.05)


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
    wait_for(lambda: any((tmp_path / "points").glob("[0-9a-f]*")), process)
    os.kill(process.pid, signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130, messages
    assert "resume with: acklab sweep" in messages
    assert "Traceback" not in messages
    assert any((tmp_path / "points").glob("[0-9a-f]*"))


def test_ctrl_c_in_a_run_exits_130(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import acklab, pathlib\n"
        "class Mine(acklab.AckPolicy):\n"
        "    def __init__(self, start):\n"
        f"        pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n"
        "    def decide(self, now, arrival, ledger):\n"
        "        return acklab.Now('each')\n"
    )
    sets = ["--set", "duration=100000s", "--set", "flow.0.stop=100000s", "--set", "flow.0.ack={policy = 'custom', name = 'Mine'}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "acklab", "run", EXPERIMENT, *sets, "--strategy", f"{tmp_path / 'mine.py'}:Mine"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    wait_for((tmp_path / "begun").exists, process)
    os.kill(process.pid, signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130, messages
    assert re.fullmatch(r"error: stopped at \d+\.\d% of the run; nothing was stored\n", messages)
