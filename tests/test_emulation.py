"""Scenarios in real time, with the kernel's TCP and real programs.

These tests need root and `/dev/net/tun`, and are skipped without. Other processes may delay packets at any time, so the tests look at what
happens and not at how late it is.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import BUILT

ROOT = Path(__file__).parents[1]
MAY_EMULATE = os.geteuid() == 0 and Path("/dev/net/tun").exists() and shutil.which("ip") is not None

pytestmark = [
    pytest.mark.skipif(not BUILT, reason="needs the compiled core"),
    pytest.mark.skipif(not MAY_EMULATE, reason="needs root, /dev/net/tun and iproute2"),
]

PATH = """
duration = "{duration}"
seed = 1
[[link]]
name = "btl"
from = "client"
to = "server"
forward = {{ rate = "16Mbps", delay = "7.5ms", queue = {{ discipline = "fifo", limit = "20packets" }} }}
reverse = {{ delay = "7.5ms" }}
"""
ALONE = "flow = []\n" + PATH
FLOW = """
[[flow]]
name = "up"
from = "client"
to = "server"
preset = "linux"
congestion = "{congestion}"
"""


def emulate(folder, text, *words):
    file = folder / "scenario.toml"
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "acklab", "emulate", str(file), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=60)


def document(done):
    """The result of a run that has finished, in time or not."""
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("congestion", ["reno", "cubic"])
def test_a_flow_of_the_kernel_fills_the_link(tmp_path, congestion):
    text = PATH.format(duration="4s") + FLOW.format(congestion=congestion) + '[measure]\nfrom = "1s"\n'
    done = document(emulate(tmp_path, text, "--json"))
    (flow,) = done["flows"]
    # 1448 octets of payload in 1500. A busy machine loses some of it.
    assert 0.8 * 16 * 1448 / 1500 < flow["mean_throughput_l4"] < 1.01 * 16 * 1448 / 1500
    assert flow["cca"] == {"reno": "newreno"}.get(congestion, congestion)
    # Two segments for an ACK; more ACKs where data come out of order.
    assert 1.5 < flow["mean_data_per_ack_l4"] < 2.1
    assert flow["mean_rtt_l4"] > 15
    assert flow["mean_cwnd_l4"] > 10
    assert flow["total_tail_loss_probes_l4"] is None, "the kernel does not tell"
    forward = next(link for link in done["links"] if link["link"] == "btl_forward")
    assert forward["mean_sending_rate_l1"] < 16.01
    assert {row["parameter"] for row in done["kernel"]} > {"release", "net.ipv4.tcp_sack"}
    assert done["timing"][0]["deliveries"] > 1000


def test_every_segment_is_acknowledged_on_a_route_that_says_so(tmp_path):
    text = PATH.format(duration="3s") + FLOW.format(congestion="reno") + 'ack = { policy = "per-packet" }\n'
    (flow,) = document(emulate(tmp_path, text, "--json"))["flows"]
    assert 0.9 < flow["mean_data_per_ack_l4"] < 1.1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('ack = { policy = "tack" }', 'flow "up": ack: found "tack", expected "linux", or "per-packet"'),
        ('congestion = "copa"', 'flow "up": congestion: found "copa"'),
        ("tail_loss_probe = false", 'flow "up": tail_loss_probe: found false, expected true'),
        ('preset = "ns3"', 'flow "up": preset: found "ns3", expected "linux"'),
    ],
)
def test_settings_that_the_kernel_lacks_are_refused_by_name(tmp_path, settings, message):
    key = settings.split(" = ")[0]
    kept = [line for line in FLOW.format(congestion="reno").splitlines() if not line.startswith(key)]
    done = emulate(tmp_path, PATH.format(duration="2s") + "\n".join([*kept, settings]), "--json")
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(shutil.which("ping") is None, reason="needs ping")
def test_a_command_on_a_node_sees_the_delay_of_the_path(tmp_path):
    done = emulate(tmp_path, ALONE.format(duration="20s"), "--at", "client", "--", "ping", "-c", "5", "-i", "0.2", "{server}")
    assert done.returncode == 0, done.stderr
    times = [float(line.split("time=")[1].split()[0]) for line in done.stdout.splitlines() if "time=" in line]
    assert len(times) == 5
    assert min(times) >= 15
    assert sorted(times)[2] < 17, "half of them are less than 2 ms late on a busy machine"


def test_the_exit_status_is_that_of_the_command(tmp_path):
    assert emulate(tmp_path, ALONE.format(duration="9s"), "--at", "client", "--", "sh", "-c", "exit 7").returncode == 7


def test_applications_run_at_their_times_and_their_output_is_kept(tmp_path):
    text = PATH.format(duration="2s") + (
        '[[application]]\nnode = "server"\ncommand = "echo $WORD; exit 4"\nenvironment = ["WORD=hello"]\n'
        '[[application]]\nname = "waits"\nnode = "client"\ncommand = "echo {server}; exec sleep 60"\nstart = "500ms"\nstop = "1s"\n'
    )
    done = document(emulate(tmp_path, text, "--json", "--out", "kept"))
    one, other = done["applications"]
    assert (one["application"], one["exit_status"], one["signal"]) == ("application_1", 4, None)
    assert (other["exit_status"], other["signal"]) == (None, signal.SIGTERM)
    assert 0.5 <= other["start_time"] < 1 <= other["stop_time"] < 2
    assert (tmp_path / "kept" / "application_1.out").read_text() == "hello\n"
    assert (tmp_path / "kept" / "waits.out").read_text().startswith("10.0.0.")


def test_a_simulation_refuses_a_scenario_without_flows(tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text(ALONE.format(duration="2s"), encoding="utf-8")
    command = [sys.executable, "-m", "acklab", "run", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "expected at least one" in done.stderr


def running(mark):
    """Whether a process has these octets in its command line."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            line = path.read_bytes()
            if line.startswith(b"sleep") and mark.encode() in line:
                return True
    return False


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_behind(tmp_path, ending):
    mark = f"8{os.getpid()}{int(ending)}"
    text = (
        PATH.format(duration="60s") + f'[[application]]\nnode = "server"\ncommand = "(trap : TERM INT; sleep {mark}; :) & wait"\n'
    )
    file = tmp_path / "scenario.toml"
    file.write_text(text, encoding="utf-8")
    named = set(Path("/run/netns").glob("*"))
    process = subprocess.Popen([sys.executable, "-m", "acklab", "emulate", str(file)], cwd=tmp_path, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not running(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(mark), "the application has started"
    process.send_signal(ending)
    process.wait(30)
    while running(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(mark), "its child has ended too"
    assert set(Path("/run/netns").glob("*")) == named
