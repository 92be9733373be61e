"""`acklab fit` and `acklab advise`: a path is repeated, and what wins over it is named."""

import json
import tomllib

import pytest

import acklab
from acklab import fitting
from acklab.advice import advise, candidates
from acklab.advice.candidates import TODAY
from acklab.advice.stacks import stacks
from commands import acklab as command
from conftest import BUILT

pytestmark = pytest.mark.skipif(not BUILT, reason="needs the compiled core")

# 20 Mbps need 830 ACKs a second if every second segment is acknowledged: 345 kbps of which the return path has 60.
NARROW = {
    "duration": "8s",
    "seed": 1,
    "link": [
        {
            "name": "path",
            "from": "server",
            "to": "laptop",
            "forward": {"rate": "20Mbps", "delay": "20ms", "queue": {"discipline": "fifo", "limit": "70packets"}},
            "reverse": {"rate": "60kbps", "delay": "20ms", "queue": {"discipline": "fifo", "limit": "30packets"}},
        }
    ],
    "flow": [{"from": "server", "to": "laptop", "preset": "linux", "congestion": "cubic"}],
    "capture": [{"point": "server", "file": "server.pcapng"}],
}
WIDE = NARROW | {
    "link": [{**NARROW["link"][0], "reverse": {"rate": "20Mbps", "delay": "20ms"}}]  # type: ignore[index]
}


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("path")
    acklab.run(WIDE, captures=folder)
    return folder / "server.pcapng"


def test_a_fitted_path_repeats_the_capture(captured):
    fitted = fitting.fit(captured)
    assert set(fitted.errors) == {"goodput", "RTT", "ACK ratio"}
    assert max(map(abs, fitted.errors.values())) < 0.1
    scenario = tomllib.loads(fitted.toml)
    assert fitting.ranges_of(fitted.toml) == dict(fitted.ranges)
    assert acklab.check(scenario) == acklab.check(dict(fitted.scenario))


def test_the_command_prints_a_scenario_that_a_sweep_varies(captured, tmp_path):
    done = command("fit", captured)
    assert done.returncode == 0, done.stderr
    (tmp_path / "link.toml").write_text(done.stdout, encoding="utf-8")
    ranges = [word for key, text in fitting.ranges_of(done.stdout).items() for word in ("--vary", f"{key}={text}")]
    swept = command("sweep", tmp_path / "link.toml", "--seeds", "2", *ranges, "--out", tmp_path / "out", "--json")
    assert swept.returncode == 0, swept.stderr


def test_a_capture_that_tells_too_little_is_refused(tmp_path):
    (tmp_path / "empty.pcap").write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    done = command("fit", tmp_path / "empty.pcap")
    assert done.returncode == 2
    assert "found no connection with data" in done.stderr


def test_fewer_acks_win_where_they_are_the_bottleneck():
    found = advise(NARROW, uses=["bulk"], seconds=8).uses["bulk"]
    assert found.winner.name != TODAY
    assert found.gain.mean > 1.1
    assert found.switches
    assert {cost.what for cost in found.harms} >= {"time for the first megabyte"}
    assert [one.candidate.name for one in found.standings].count(TODAY) == 1


def test_nothing_wins_where_acks_cost_nothing(tmp_path):
    (tmp_path / "wide.json").write_text(json.dumps(WIDE), encoding="utf-8")
    done = command("advise", tmp_path / "wide.json", "--use", "bulk", "--time", "6", "--report", tmp_path / "advice.html")
    assert done.returncode == 0, done.stderr
    assert "leave it as it is" in done.stdout
    assert "Advice for wide.json" in (tmp_path / "advice.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", ["lte", "log"])
def test_a_template_with_a_trace_and_a_log_of_quic_are_advised(link, tmp_path):
    if link == "log":
        flow = {"from": "server", "to": "laptop", "transport": "quic"}
        acklab.run(WIDE | {"duration": "4s", "flow": [flow], "capture": []}, qlog=tmp_path)
        link = next(tmp_path.glob("*_client.sqlog"))
    done = command("advise", link, "--use", "bulk", "--time", "3", "--json")
    assert done.returncode == 0, done.stderr
    (bulk,) = json.loads(done.stdout)["uses"]
    assert len(bulk["standings"]) > 10


def test_what_cannot_be_advised_is_refused():
    assert "expected one of bulk, page, call, upload" in command("advise", "vdsl", "--use", "video").stderr
    assert "found no file and no template 'nowhere'" in command("advise", "nowhere").stderr
    done = command("advise", "vdsl", "--use", "bulk", "--set", "link.line.forward.rate=16")
    assert done.returncode == 2
    assert "link.line.forward.rate" in done.stderr or "rate" in done.stderr


def test_every_switch_of_a_candidate_has_an_entry_with_a_source():
    named = {name for one in candidates({"protocol": "tcp"}) for name in one.switches}
    assert named <= set(stacks())
    assert all(stack.source and stack.commands for stack in stacks().values())
