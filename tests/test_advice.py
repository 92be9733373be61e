"""`acklab fit` and `acklab advise`: a path is repeated, and what wins over it is named."""

import json
import time
import tomllib

import pytest

import acklab
from acklab import fitting
from acklab.advice import advise, candidates, racing
from acklab.advice.candidates import TODAY, Candidate
from acklab.advice.racing import Path, Racer, race
from acklab.advice.stacks import stacks
from acklab.advice.uses import USES
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


class Known(Racer):
    """Candidates whose scores are known: by name, seed and seconds of a run. It counts the runs."""

    def __init__(self, score):
        super().__init__(Path({}, None, (), 10.0), jobs=2)
        self.score, self.runs = score, []

    def _score(self, use, candidate, duration, seed):
        self.runs.append((candidate.name, duration, seed))
        return self.score(candidate.name, seed)


def raced(score, others):
    racer = Known(score)
    names = [TODAY, *others]
    standings = race(racer, USES["bulk"], [Candidate(name, {}) for name in names], time.monotonic() + 60)
    assert len(racer.runs) == len(set(racer.runs)), "a run was made twice"
    return standings


def test_what_is_certain_needs_three_seeds():
    value = {TODAY: 10.0, "better": 12.0, "worse": 8.0, "worst": 5.0}
    standings = raced(lambda name, seed: value[name] + 0.01 * seed, ["better", "worse", "worst"])
    assert [one.candidate.name for one in standings] == ["better", TODAY, "worse", "worst"]
    assert len(standings[0].scores) == 3
    assert all(one.share == 1.0 for one in standings)


def test_what_is_close_gets_more_seeds():
    noise = [0.5, -0.5, 0.4, -0.3, 0.2, -0.3] * 8
    value = {TODAY: 10.0, "better": 10.5, "worse": 8.0, "worst": 5.0}
    standings = raced(
        lambda name, seed: value[name] + (noise[seed - 1] if name == "better" else 0.0), ["better", "worse", "worst"]
    )
    assert standings[0].candidate.name == "better"
    assert len(standings[0].scores) > 6
    assert len(standings[-1].scores) < 3


def test_a_page_beside_a_download_is_not_run_for_long_after_its_end(monkeypatch):
    durations = []

    def noted(source, **options):
        durations.append(source.load([])["duration"])
        return acklab.run(source, **options)

    monkeypatch.setattr(racing, "run", noted)
    flow = WIDE["flow"][0]  # type: ignore[index]
    path = WIDE | {"flow": [flow, flow], "capture": []}
    found = advise(path, uses=["page"], seconds=4).uses["page"]
    assert len(found.standings) > 10
    # 4 s are the half of a run in full, by which the costs are measured.
    assert set(durations) == {"4s", "8s"}
