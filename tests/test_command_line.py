"""The command line: results on standard output, messages on standard error, exit codes that mean something."""

import json
import os
import re
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


def test_a_file_whose_name_is_not_utf8(tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.toml")
    assert "\\xff.toml: cannot read" in refused("run", name)
    Path(name).write_text(Path(EXPERIMENT).read_text())
    done = acklab("run", name, "--set", "duration=1s", "--set", "flow.0.stop=1s", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert acklab("show", tmp_path / "out").returncode == 0


def test_text_that_is_not_utf8_has_its_place(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'seed = 1\ntitle = "caf\xe9"\n')
    assert "latin.toml: line 2, column 13: found the octet 0xe9" in refused("run", tmp_path / "latin.toml")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["check", EXPERIMENT], ["schema"], ["run", EXPERIMENT, "--json"], ["--help"]])
def test_standard_output_that_is_full(words):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "acklab", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT
        )
    assert done.returncode == 1
    assert done.stderr == "error: standard output: cannot write it: No space left on device\n"


def test_an_endless_trace_is_refused():
    change = "link.btl.forward={trace = {file = '/dev/zero'}, delay = '1ms'}"
    assert "found more than 256 MiB" in refused("run", EXPERIMENT, "--set", change)
    assert "found more than 256 MiB" in refused("sweep", EXPERIMENT, "--set", change, "--out", "/dev/null/never")


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
    assert "repeat it with: acklab run" in again.stderr
    both = acklab("compare", tmp_path / "newreno", tmp_path / "cubic")
    assert both.returncode == 0, both.stderr
    differs = both.stdout.split("Flows")[0]
    assert "congestion.algorithm" in differs
    assert "duration" not in differs
    assert "mean_qdisc_length_l2" in both.stdout
    assert "expected two folders" in refused("compare", tmp_path / "cubic")
    assert "found no such folder" in refused("show", tmp_path / "nothing", code=1)


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
    assert len(list((tmp_path / "out" / "points").iterdir())) == 1
    (tmp_path / "mine.py").write_text((tmp_path / "mine.py").read_text().replace(">= 3", ">= 2"))
    assert acklab("sweep", EXPERIMENT, "--strategy", place, *sets, *grid).returncode == 0
    assert len(list((tmp_path / "out" / "points").iterdir())) == 2, "another file makes another point"
    assert "found no class 'Other', it has EveryThird" in refused(
        "run", EXPERIMENT, "--strategy", f"{tmp_path / 'mine.py'}:Other"
    )
    (tmp_path / "broken.py").write_text("x = 1\nraise ValueError('why')\n")
    assert "broken.py: line 2: ValueError: why" in refused("run", EXPERIMENT, "--strategy", f"{tmp_path / 'broken.py'}:A")
    assert "expected FILE.py:CLASS" in refused("run", EXPERIMENT, "--strategy", "mine")


@pytest.mark.parametrize("kind", ["cable", "cell", "datacentre", "dumbbell", "lte", "office", "satellite", "terminal", "vdsl"])
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
    assert "is there already" in refusal.stderr
    assert "expected one of: cable" in acklab("new", "nonsense", cwd=tmp_path).stderr


def completions(words, *, cwd=ROOT):
    """What bash is offered for a command line."""
    line = {"COMP_WORDS": " ".join(["acklab", *words]), "COMP_CWORD": str(len(words)), "_ACKLAB_COMPLETE": "complete_bash"}
    program = "import sys; sys.argv = ['acklab']; from acklab.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ | line, cwd=cwd, check=False
    )
    return done.stdout.split()


def test_a_shell_completes_commands_studies_templates_and_keys():
    assert "sweep" in completions(["sw"])
    assert "ack_compression" in completions(["study", "ack_comp"])
    assert "satellite" in completions(["new", "sat"])
    assert "link.btl." in completions(["run", EXPERIMENT, "--set", "link.b"])
    assert "flow.0.transport.congestion.algorithm=" in completions(["run", EXPERIMENT, "--set", "flow.0.transport.congestion.a"])


def test_check_and_schema():
    assert acklab("check", EXPERIMENT).returncode == 0
    assert json.loads(acklab("check", EXPERIMENT, "--json").stdout)["seed"] == 42
    assert json.loads(acklab("schema").stdout)["type"] == "object"


def test_commands_that_write_no_logs_say_what_does():
    assert "acklab run repeats one of its points" in refused("sweep", EXPERIMENT, "--qlog", "logs")
    assert "a [[capture]] in the scenario" in refused("emulate", EXPERIMENT, "--qlog", "logs")


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
    assert re.fullmatch(r"error: stopped at \d+\.\d% of the run; nothing of it is kept\n", messages)
