"""`acklab fit` and `acklab advise`: a path is repeated, and what wins over it is named."""

import json
import subprocess
import sys
import time
import tomllib

import pytest

import acklab
from acklab import fitting, inspection
from acklab.advice import advise, candidates, racing
from acklab.advice.candidates import TODAY, Candidate
from acklab.advice.document import lines, tables
from acklab.advice.harm import TESTS, harm
from acklab.advice.racing import Path, Racer, race
from acklab.advice.stacks import stacks
from acklab.advice.uses import USES
from acklab.errors import Cancelled
from acklab.fitting import calibration
from acklab.fitting.calibration import _Tried
from acklab.fitting.link import ranges_for
from acklab.fitting.parameters import Parameters, Target
from acklab.sweeps.grid import variations
from commands import acklab as command
from conftest import BUILT

pytestmark = pytest.mark.skipif(not BUILT, reason="needs the compiled core")

# 20 Mbps need 830 ACKs a second if every second segment is acknowledged: 345 kbps of which the
# return path has 60.
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


KNOWN = Parameters(
    rate=12.0, rate_low=11.9, rate_high=12.1, base=60.0, queue=30.0, loss=5e-5, mss=1448, packet=1500, controller="cubic", segments=8, gate=None,
    return_rate=0.016, ack_filter="ack-filter", receive_window=None, application_rate=None, duration=6.0, is_behind=False,
)  # fmt: skip


def test_what_octets_take_on_a_slow_return_path_is_not_propagation():
    # The ACK of the first data, with 52 bytes, or the answer to a SYN, with 60, whichever was the
    # quicker exchange.
    assert KNOWN.propagation == pytest.approx(60.0 - 52 * 8 / 16 - 1500 * 8 / 12e3)
    assert KNOWN.with_(return_rate=0.16).propagation == pytest.approx(60.0 - 60 * 8 / 160 - 60 * 8 / 12e3)
    assert KNOWN.with_(return_rate=0.001).propagation > 0


def test_ranges_of_rare_losses_can_be_drawn():
    ranges = ranges_for(KNOWN, losses=1, packets=30_000)
    (loss,) = [one for one in variations(ranges) if one.key.endswith("probability")]
    drawn = {loss.draw(seed) for seed in range(20)}
    assert len(drawn) == 20
    assert all(5e-6 < float(one) < 2e-4 for one in drawn)


def test_random_losses_are_judged_by_several_runs():
    target = Target(10.0, 50.0, 2.0, 0.01)
    lucky = _Tried.of(KNOWN, [target, Target(16.0, 50.0, 2.0, 0.01), Target(16.0, 50.0, 2.0, 0.01)], target)
    assert lucky.seed == 1
    assert lucky.worst == pytest.approx(0.4)
    steady = _Tried.of(KNOWN, [Target(11.0, 50.0, 2.0, 0.01), Target(9.5, 50.0, 2.0, 0.01)], target)
    assert steady.seed == 2
    assert steady.worst == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("goodput", "changes", "runs"),
    [(10.0, {}, 4), (10.0, {"loss": 0.0}, 1), (10.0, {"loss": 0.0, "controller": "bbr"}, 4), (20.0, {}, 1)],
)
def test_what_comes_near_is_repeated_where_its_seed_matters(captured, monkeypatch, goodput, changes, runs):
    seeds = []

    def simulated(parameters, seed):
        seeds.append(seed)
        return Target(goodput, 50.0, 2.0, 0.01)

    monkeypatch.setattr(calibration, "_simulate", simulated)
    (way,) = inspection.inspect(captured).ways
    search = calibration._Calibration(way, Target(10.0, 50.0, 2.0, 0.01))
    assert len(search._runs(KNOWN.with_(**changes))) == runs
    assert seeds == list(range(1, runs + 1))


def test_a_path_over_which_few_acks_come_is_repeated(tmp_path):
    # Of ACKs for eight segments each 17.7 kbps carry one in five: they wait for seconds, and show
    # neither queue nor rate. Most of the 169 ACKs are duplicates, so that too few cover data in
    # order to name the filter.
    link = WIDE["link"][0]  # type: ignore[index]
    forward = {"rate": "21.4Mbps", "delay": "7.3ms", "queue": {"discipline": "fifo", "limit": "51packets"}}
    reverse = {"rate": "17.7kbps", "delay": "7.3ms", "queue": {"discipline": "ack-filter", "limit": "100packets"}}
    transport = {
        "protocol": "tcp",
        "preset": "linux",
        "congestion": {"algorithm": "bbr"},
        "ack": {"policy": "byte-counting", "segments": 8, "timer": "25ms"},
    }
    flow = {"from": "server", "to": "laptop", "transport": transport}
    acklab.run(
        WIDE | {"duration": "6s", "link": [link | {"forward": forward, "reverse": reverse}], "flow": [flow]}, captures=tmp_path
    )
    found = inspection.inspect(tmp_path / "server.pcapng")
    acks = found.ways[0]["acks"]
    assert acks is not None
    assert (acks["thinning"], acks["rate"]) == ("unknown", None)
    assert "ACKs of data in order" in found.ways[0]["not_known"]["thinning"]
    fitted = fitting.fit(found)
    assert max(map(abs, fitted.errors.values())) < 0.1
    again = tmp_path / "again"
    again.mkdir()
    acklab.run(dict(fitted.scenario) | {"capture": [{"point": "sender", "file": "path.pcapng"}]}, captures=again)
    simulated = Target.of(inspection.inspect(again / "path.pcapng").ways[0])
    assert simulated == fitted.simulated


def test_a_fit_whose_time_is_over_gives_the_best_by_then(captured, monkeypatch):
    runs = []
    simulate = calibration._simulate
    monkeypatch.setattr(calibration, "_simulate", lambda *of: runs.append(of) or simulate(*of))  # type: ignore[func-returns-value]
    fitted = fitting.fit(captured, until=time.monotonic())
    assert set(fitted.errors) == {"goodput", "RTT", "ACK ratio"}
    # Three controllers, with and without random loss, and no more.
    assert len({parameters for parameters, _ in runs}) <= 6


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


def test_what_a_choice_takes_is_told_once():
    found = advise(NARROW, uses=["bulk", "page"], seconds=8)
    said = lines(found)
    assert len(said) == len(set(said))
    assert len([line for line in said if line.startswith("    ")]) >= 1
    captions = [table.caption for table in tables(found)]
    assert len(captions) == len(set(captions)) >= 3


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

    def _score(self, use, candidate, duration, seed, cancel):
        self.runs.append((candidate.name, duration, seed))
        return self.score(candidate.name, seed)


class Slow(Racer):
    """Runs that take one second a seed, or a minute from a seed on, unless they are stopped."""

    def __init__(self, endless_from):
        super().__init__(Path({}, None, (), 10.0), jobs=2)
        self.endless_from = endless_from

    def _score(self, use, candidate, duration, seed, cancel):
        end = time.monotonic() + (60.0 if seed >= self.endless_from else 0.01)
        while time.monotonic() < end:
            if cancel.cancelled:
                raise Cancelled("stopped")
            time.sleep(0.005)
        return 10.0 + 0.1 * seed


def raced(score, others):
    racer = Known(score)
    names = [TODAY, *others]
    standings = race(racer, USES["bulk"], [Candidate(name, {}) for name in names], time.monotonic() + 60)
    assert len(racer.runs) == len(set(racer.runs)), "a run was made twice"
    return standings


@pytest.mark.parametrize(("endless_from", "seeds"), [(1, 0), (2, 1), (3, 2)])
def test_a_race_ends_in_time_whatever_a_run_takes(endless_from, seeds):
    start = time.monotonic()
    names = [TODAY, "other", "third"]
    standings = race(Slow(endless_from), USES["bulk"], [Candidate(name, {}) for name in names], start + 1.0)
    assert time.monotonic() - start < 10.0
    assert sorted(one.candidate.name for one in standings) == sorted(names)
    assert [len(one.scores) for one in standings] == [seeds] * 3


def test_a_path_that_is_too_much_for_the_time_is_refused_in_time(tmp_path):
    # Nine flows of some Gbps each, millions of packets even in a fifth of the duration.
    link = NARROW["link"][0]  # type: ignore[index]
    wide = {"rate": "20Gbps", "delay": "20ms"}
    buffers = {"send_buffer": "64MiB", "receive_buffer": "64MiB"}
    flow = {"from": "server", "to": "laptop", "transport": {"protocol": "tcp", "preset": "linux", **buffers}}
    scenario = NARROW | {
        "duration": "30s",
        "capture": [],
        "link": [link | {"forward": wide, "reverse": wide}],
        "flow": 9 * [flow],
    }
    (tmp_path / "fast.json").write_text(json.dumps(scenario), encoding="utf-8")
    words = [sys.executable, "-m", "acklab", "advise", str(tmp_path / "fast.json"), "--use", "bulk", "--time", "1"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "found no run of the flow as it is that ended in time" in done.stderr


def test_costs_are_told_for_the_time_there_is():
    racer = Slow(endless_from=2)
    start = time.monotonic()
    found = harm(racer, Candidate("other", {}), Candidate(TODAY, {}), start + 1.0)
    assert time.monotonic() - start < 10.0
    assert [one.what for one in found] == list(TESTS)
    assert all(one.chosen == one.today == 10.1 for one in found)
    assert harm(Slow(endless_from=1), Candidate("other", {}), Candidate(TODAY, {}), time.monotonic() + 0.2) == []


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
