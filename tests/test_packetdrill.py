"""`acklab packetdrill`: the tested stack, its output, and its exit codes."""

import json

import pytest

import acklab
from acklab.packetdrill import by_folder, play
from commands import ROOT
from commands import acklab as command

SCRIPTS = ROOT / "crates" / "packetdrill" / "tests" / "scripts"
LOSS = SCRIPTS / "slow_start_and_loss.pkt"

# Three segments, and one ACK for them.
THIRD = """
`sysctl -q net.ipv4.tcp_timestamps=0`
  0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
 +0 bind(3, ..., ...) = 0
 +0 listen(3, 1) = 0
 +0 < S 0:0(0) win 32792 <mss 1000,sackOK>
 +0 > S. 0:0(0) ack 1 <mss 1460,sackOK>
+.1 < . 1:1(0) ack 1 win 257
 +0 accept(3, ..., ...) = 4
+.1 < . 1:1001(1000) ack 1 win 257
+.1 < . 1001:2001(1000) ack 1 win 257
+.1 < . 2001:3001(1000) ack 1 win 257
 +0 > . 1:1(0) ack 3001
"""

EVERY_THIRD = """
import acklab

class EveryThird(acklab.AckPolicy):
    def decide(self, now, arrival, ledger):
        return acklab.Now("third") if ledger.segments >= 3 else acklab.Hold()
"""


@pytest.fixture
def third(tmp_path):
    path = tmp_path / "third.pkt"
    path.write_text(THIRD)
    return path


def changed(tmp_path, before, after):
    """Writes the script LOSS with a change, beside the files that it includes."""
    text = LOSS.read_text()
    assert before in text
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "defaults.sh").write_text((SCRIPTS / "common" / "defaults.sh").read_text())
    path = tmp_path / "changed.pkt"
    path.write_text(text.replace(before, after))
    return path


def test_scripts_that_hold_pass():
    done = command("packetdrill", SCRIPTS)
    assert (done.returncode, done.stderr) == (0, "5 of 5 scripts in scope passed\n")
    assert "passed" in done.stdout


def test_a_failure_has_its_line_what_was_expected_and_what_came(tmp_path):
    path = changed(tmp_path, "> P. 10001:14001(4000)", "> P. 10001:15001(5000)")
    done = command("packetdrill", path)
    assert done.returncode == 1
    expected = "expected P. 10001:15001(5000) ack 1 at 0.2 s\n    found P. 10001:14001(4000) ack 1 at 0.2 s"
    assert f"changed.pkt:21: {expected}" in done.stdout
    assert done.stderr == "0 of 1 scripts in scope passed\n"


def test_json_is_one_list(tmp_path):
    path = changed(tmp_path, "tcpi_snd_cwnd == 10 and", "tcpi_snd_cwnd == 11 and")
    done = command("packetdrill", LOSS, path, "--json")
    assert done.returncode == 1
    held, failed = json.loads(done.stdout)
    assert (held["verdict"], held["failures"], held["refusal"]) == ("passed", [], None)
    assert [failure["line"] for failure in failed["failures"]] == [19]
    assert failed["failures"][0]["found"] == "tcpi_snd_cwnd = 10, tcpi_unacked = 10"


def test_what_is_out_of_scope_is_told_and_not_counted(tmp_path):
    path = changed(tmp_path, "nop,nop,sackOK,nop,wscale 8", "FO 1122,nop,nop")
    done = command("packetdrill", LOSS, path)
    assert (done.returncode, done.stderr) == (0, "1 of 1 scripts in scope passed\n")
    assert "changed.pkt:11: out of scope: TCP Fast Open" in done.stdout


def test_what_is_malformed_is_a_mistake(tmp_path):
    path = tmp_path / "mistake.pkt"
    path.write_text("0 < . 1:5(3) ack 1\n")
    done = command("packetdrill", path)
    assert done.returncode == 2
    assert "mistake.pkt:1: malformed: 1:5(3): the length does not fit" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.pkt",), "nowhere.pkt: no such file"),
        ((LOSS, "--preset", "bsd"), 'preset: found "bsd", expected linux, ns3, rfc or kernel'),
        ((LOSS, "--set", "flow.0.sack=perhaps"), "flow.0.sack"),
        ((LOSS, "--scenario", "studies/wifi_capacity/nowhere.toml"), "nowhere.toml"),
        (
            (LOSS, "--set", "flow.0.transport=udp", "--set", "flow.0.traffic={model='constant', rate='1Mbps', write='100B'}"),
            "TCP",
        ),
    ],
)
def test_mistakes_of_the_command_line_are_told(words, message):
    done = command("packetdrill", *words)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert message in done.stderr


def test_settings_of_the_caller_stand_above_the_script(third):
    """A script for a window of ten fails with four. Another policy acknowledges each segment."""
    failed = play([LOSS], set={"flow.0.initial_window": "4segments"})[0]
    assert failed.failures[0].found == "P. 1:4001(4000) ack 1 at 0.1 s"
    failed = play([third], set={"flow.0.ack": {"policy": "per-packet"}})[0]
    assert failed.failures[0].found == ". 1:1(0) ack 1001 at 0.2 s"


def test_a_policy_of_ones_own_is_what_is_tested(third, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(EVERY_THIRD)
    words = ("--strategy", f"{file}:EveryThird", "--set", 'flow.0.ack={policy = "custom", name = "EveryThird"}')
    done = command("packetdrill", third, *words)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_a_strategy_raises_is_raised(third):
    class Broken(acklab.AckPolicy):
        def decide(self, now, arrival, ledger):
            raise LookupError("it is broken")

    with pytest.raises(LookupError, match="broken"):
        play([third], set={"flow.0.ack": {"policy": "custom", "name": "broken"}}, strategies={"broken": Broken})


def test_a_scenario_lends_its_first_flow_over_tcp(third, tmp_path):
    path = tmp_path / "path.toml"
    path.write_text("""
duration = "1s"
seed = 1
[[link]]
name = "link"
from = "a"
to = "b"
forward = { delay = "1ms" }
reverse = { delay = "1ms" }
[[flow]]
from = "a"
to = "b"
transport = "udp"
traffic = { model = "constant", rate = "1Mbps", write = "1000B" }
[[flow]]
from = "a"
to = "b"
preset = "linux"
ack = { policy = "per-packet" }
""")
    assert play([third], scenario=path)[0].failures[0].found == ". 1:1(0) ack 1001 at 0.2 s"


def test_the_tolerance_of_the_caller_stands_above_the_script(tmp_path):
    path = changed(tmp_path, "+0 > . 2001:3001(1000)", "+.02 > . 2001:3001(1000)")
    assert play([path])[0].verdict == "failed"
    assert play([path], tolerance_usecs=20_000)[0].verdict == "passed"


def test_folders_are_counted_apart(tmp_path):
    path = changed(tmp_path, "tcpi_snd_cwnd == 10 and", "tcpi_snd_cwnd == 11 and")
    counts = by_folder(play([SCRIPTS, path]))
    assert counts[SCRIPTS] == {"passed": 5, "failed": 0, "out of scope": 0, "malformed": 0}
    assert counts[tmp_path]["failed"] == 1
