"""`acklab fit`: a path stays within the inspection's intervals.

Values that the capture does not show are unknown, and mechanisms are tested.
"""

import math
import random
import tomllib
from typing import Any

import pytest

import acklab
from acklab import fitting, inspection
from acklab.fitting import ensemble, mechanisms
from acklab.fitting.application import PAGE, REQUESTS, STREAM, application_of
from acklab.fitting.ensemble import Space, sample
from acklab.fitting.fit import _spanned
from acklab.fitting.observed import observe
from acklab.fitting.path import BACK, BACK_QUEUE, DELAYS, FORWARD, GATE, LOSS, QUEUE, Path, path_of
from acklab.fitting.quantity import ASSUMED, BOUNDED, MEASURED, UNKNOWN, Quantity, written
from acklab.fitting.summary import Statistic, Summary
from acklab.fitting.timing import timing_of
from acklab.links import bits
from commands import acklab as command

TCP = {"protocol": "tcp", "preset": "linux", "congestion": {"algorithm": "cubic"}}
DOWN = {"name": "down", "from": "server", "to": "laptop", "transport": TCP, "stop": "6s"}
UP = {"name": "up", "from": "laptop", "to": "server", "transport": TCP, "start": "7s"}
BOTH: dict[str, Any] = {
    "duration": "13s",
    "seed": 1,
    "link": [
        {
            "name": "line",
            "from": "server",
            "to": "laptop",
            "forward": {"rate": "20Mbps", "delay": "10ms", "queue": {"discipline": "fifo", "limit": "60packets"}},
            "reverse": {"rate": "4Mbps", "delay": "10ms", "queue": {"discipline": "fifo", "limit": "50packets"}},
        }
    ],
    "flow": [DOWN, UP],
    "capture": [{"point": "laptop", "file": "laptop.pcapng"}, {"point": "server", "file": "server.pcapng"}],
}


def capture(folder, scenario, file="laptop.pcapng"):
    acklab.run(scenario, captures=folder)
    return folder / file


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return fitting.fit(capture(tmp_path_factory.mktemp("both"), BOTH))


@pytest.fixture(scope="module")
def download(tmp_path_factory):
    return capture(tmp_path_factory.mktemp("download"), BOTH | {"duration": "6s", "flow": [DOWN | {"stop": "6s"}]})


def test_a_capture_of_both_directions_gives_both_rates_within_their_intervals(both):
    found = {one.key: one for one in both.parameters}
    for key, truth in ((FORWARD, 20.0), (BACK, 4.0), (DELAYS[0], 10.0), (DELAYS[1], 10.0), (QUEUE, 60.0), (BACK_QUEUE, 50.0)):
        one = found[key]
        # The capture shows only a lower bound of the queue, because losses may have another cause.
        assert one.status == (BOUNDED if key in (QUEUE, BACK_QUEUE) else MEASURED), key
        assert one.low <= truth <= (math.inf if one.high is None else one.high), (key, one)
        assert one.evidence
        assert one.source.startswith("inspect: ")
    assert both.path.missing == []


def test_no_member_leaves_the_intervals_of_the_inspection(both):
    assert len(both.members) == ensemble.MEMBERS
    for member in both.members:
        values = member.values
        assert both.path.rate.low <= values.rate <= both.path.rate.high
        assert both.path.back_rate.low <= values.back_rate <= both.path.back_rate.high
        assert both.path.base.low <= values.base <= both.path.base.high
        assert values.queue >= both.path.queue.low
        assert member.distance <= 1.0


def test_the_same_capture_gives_the_same_fit(download):
    assert fitting.fit(download).toml == fitting.fit(download).toml


def test_a_member_repeats_what_the_fit_says_of_it(both, tmp_path):
    closest = both.ensemble.closest
    found = inspection.inspect(
        capture(tmp_path, dict(both.scenario) | {"capture": [{"point": "receiver", "file": "a.pcapng"}]}, "a.pcapng")
    )
    assert Summary.of(found.ways[0]) == closest.summary


def test_a_rate_that_the_capture_does_not_show_is_refused_with_what_to_give(download, tmp_path):
    done = command("fit", download)
    assert done.returncode == 0, done.stderr
    assert "Not known: link.path.reverse.rate: the capture has no data towards the sender" in done.stderr
    table = {one["key"]: one for one in tomllib.loads(done.stdout)["fit"]["parameter"]}
    assert table[BACK]["status"] == UNKNOWN
    assert "low" not in table[BACK]
    (tmp_path / "link.toml").write_text(done.stdout, encoding="utf-8")
    refused = command("run", tmp_path / "link.toml")
    assert refused.returncode == 2
    assert "link.path.reverse.rate: not known from the capture" in refused.stderr
    assert "--set link.path.reverse.rate=" in refused.stderr
    given = command("run", tmp_path / "link.toml", "--set", "link.path.reverse.rate=4Mbps")
    assert given.returncode == 0, given.stderr


def test_a_rate_that_is_given_is_part_of_every_scenario_of_the_ensemble(download):
    """The capture has no data towards the sender, so the user sets that rate.

    All 20 scenarios are simulated with it, and a run requires no other setting.
    """
    found = fitting.fit(download, set=["link.path.reverse.rate=4Mbps"])
    assert [one.values.back_rate for one in found.members] == [pytest.approx(4.0)] * 20
    assert found.path.missing == []
    (row,) = [one for one in found.table["parameter"] if one["key"] == BACK]
    assert (row["status"], row["low"], row["high"]) == ("given", "4Mbps", "4Mbps")
    # Values that the capture shows do not change.
    measured = fitting.fit(download, set=["link.path.forward.rate=90Mbps"])
    assert measured.path.rate == found.path.rate


@pytest.mark.parametrize("text", ["link.path.reverse.rate=fast", "link.path.reverse.rate=-1Mbps", "flow.0.congestion=bbr"])
def test_a_setting_that_is_no_quantity_of_the_path_is_refused(download, text):
    done = command("fit", download, "--set", text)
    assert done.returncode == 2
    assert f"set: found '{text}', expected a value of one of link.path.forward.rate" in done.stderr


def test_a_capture_without_data_is_refused(tmp_path):
    (tmp_path / "empty.pcap").write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    done = command("fit", tmp_path / "empty.pcap")
    assert done.returncode == 2
    assert "found no connection with data" in done.stderr


def test_quic_stays_quic_of_an_unknown_stack(tmp_path):
    flow = {"name": "down", "from": "server", "to": "laptop", "transport": {"protocol": "quic", "preset": "quinn"}}
    found = fitting.fit(capture(tmp_path, BOTH | {"duration": "4s", "flow": [flow]}))
    assert found.scenario["flow"][0]["transport"]["protocol"] == "quic"
    (preset,) = [one for one in found.stack.parameters if one.key.endswith("preset")]
    assert preset.status in (UNKNOWN, ASSUMED)
    assert "unknown stack" in preset.evidence


@pytest.mark.parametrize(
    ("traffic", "kind"),
    [
        ({"traffic": {"model": "constant", "rate": "400kbps", "write": "25kB"}}, STREAM),
        # A frame each 40 ms takes 4 ms of the rate and a round trip of 20 ms: nothing is
        # outstanding for two fifths of the time, although no pause is long.
        ({"traffic": {"model": "video", "rate": "2Mbps", "frame_rate": 25, "group": 50}}, STREAM),
        (
            {"page": {"document": "30kB", "objects": ["90kB", "15kB", "60kB", "10kB"], "requests": "serial", "think": "700ms"}},
            REQUESTS,
        ),
    ],
)
def test_a_transfer_with_pauses_is_no_bulk_transfer(tmp_path, traffic, kind):
    flow = {"name": "down", "from": "server", "to": "laptop", "transport": TCP, **traffic}
    found = fitting.fit(capture(tmp_path, BOTH | {"duration": "12s", "flow": [flow]}, "server.pcapng"))
    assert found.application.kind == kind
    assert found.ensemble is None
    assert "greedy" not in str(found.scenario["flow"])
    assert any("The application limited the transfer" in note for note in found.notes)
    application = application_of(observe(inspection.inspect(tmp_path / "server.pcapng")))
    if kind == STREAM and traffic["traffic"]["model"] == "constant":
        # 25 kB every half second.
        assert application.settings["traffic"]["write"] == "25000B"
        assert int(application.settings["traffic"]["rate"].removesuffix("bps")) == pytest.approx(400_000, rel=0.1)
    elif kind == REQUESTS:
        sizes = [application.settings["page"]["document"], *application.settings["page"]["objects"]]
        assert [int(size.removesuffix("B")) for size in sizes] == [30_000, 90_000, 15_000, 60_000, 10_000]
        assert float(application.settings["page"]["think"].removesuffix("ms")) == pytest.approx(700, rel=0.1)
    assert kind != PAGE


def fold(segments, variation):
    return mechanisms.Fold(segments, variation)


def test_a_mechanism_enters_if_it_predicts_held_out_folds_better(monkeypatch):
    chance = random.Random(1)
    test: Any = mechanisms.test

    def folds(segments, variation):
        return [fold(segments * chance.uniform(0.95, 1.05), variation * chance.uniform(0.95, 1.05)) for _ in range(16)]

    captured, plain, gated = folds(2.0, 3.0), folds(2.0, 0.3), folds(2.0, 2.9)
    by_name = {"captured": captured, "plain": plain, "gated": gated}
    monkeypatch.setattr(mechanisms, "folds_of", lambda way: by_name[way])
    asked = []

    def path(name):
        def simulated(segments):
            asked.append(segments)
            return name

        return simulated

    enters = test("ACK gate", "captured", path("plain"), path("gated"))
    assert enters.enters
    assert "better than the simpler path" in enters.evidence
    assert all(1.9 < segments < 2.1 for segments in asked)
    same = test("ACK gate", "captured", path("gated"), path("gated"))
    assert not same.enters
    worse = test("ACK gate", "captured", path("gated"), path("plain"))
    assert not worse.enters
    assert "not better" in worse.evidence


def test_a_mechanism_that_cannot_be_tested_does_not_enter(monkeypatch):
    monkeypatch.setattr(mechanisms, "folds_of", lambda way: [fold(2.0, 1.0)] * 3)
    test: Any = mechanisms.test
    found = test("ACK filter", None, lambda segments: None, lambda segments: None)
    assert not found.enters
    assert "not tested" in found.evidence


def quantity(key, unit, low, high, status=MEASURED):
    return Quantity(key, unit, status, "", "", low, high)


SPACE = Space(
    Path(
        quantity(FORWARD, "Mbps", 10.0, 20.0),
        quantity(BACK, "Mbps", 1.0, 2.0),
        quantity(DELAYS[0], "ms", 5.0, 6.0),
        quantity(QUEUE, "packets", 10.0, None, BOUNDED),
        quantity(BACK_QUEUE, "packets", 100.0, 100.0, ASSUMED),
        quantity(LOSS, "", 0.0, 0.01, BOUNDED),
    ),
    ("cubic", "bbr"),
    (),
    None,
)


def test_the_ensemble_narrows_to_what_repeats_the_measurement():
    """The goodput is the rate, so members have rates within the tolerance of 12 ± 0.3 Mbps.

    The delay has no effect, so its interval does not change.
    """
    measured = Summary({"goodput": Statistic(12.0, 0.3)})
    found = sample(SPACE, measured, lambda values, seed: Summary({"goodput": Statistic(values.rate, 0.0)}))
    assert found.repeats
    assert all(11.7 <= one.values.rate <= 12.3 for one in found.members)
    delays = [one.values.base for one in found.members]
    assert min(delays) < 5.3
    assert max(delays) > 5.7
    again = sample(SPACE, measured, lambda values, seed: Summary({"goodput": Statistic(values.rate, 0.0)}))
    assert again.members == found.members


def test_nothing_outside_the_intervals_is_tried():
    """No rate of the prior yields 30 Mbps, so there is no member.

    The closest rate is the end of the interval.
    """
    found = sample(
        SPACE, Summary({"goodput": Statistic(30.0, 0.3)}), lambda values, seed: Summary({"goodput": Statistic(values.rate, 0.0)})
    )
    assert found.members == ()
    assert found.closest is not None
    assert found.closest.values.rate == pytest.approx(20.0, rel=0.02)


def test_members_without_loss_stand_for_losses_that_are_rarer_than_those_tried():
    """The loss rate is below 1 in 3000, and the prior ends at 1 in 100.

    No member has channel loss, but a rate of 1 in 10,000 was not tried.
    """
    found = sample(
        SPACE,
        Summary({"lost": Statistic(0.0, 1e-4)}),
        lambda values, seed: Summary({"lost": Statistic(values.loss, 0.0)}),
    )
    assert found.repeats
    assert {one.values.loss for one in found.members} == {0.0}
    spanned = _spanned(SPACE.path.loss, found)
    assert spanned is not None
    assert spanned.low == 0.0
    assert spanned.high == pytest.approx(0.01 / 30)


def gated(interval, quota):
    """Returns both transfers over a gate behind the laptop.

    The gate releases this number of packets at a time.
    """
    link = {**BOTH["link"][0], "reverse": {"rate": "10Mbps", "delay": "10ms", "gate": {"interval": interval, "quota": quota}}}
    queue = {"discipline": "fifo", "limit": "100packets"}
    return BOTH | {"link": [{**link, "reverse": {**link["reverse"], "queue": queue}}]}


def test_a_gate_that_only_the_first_round_trip_shows_leaves_the_delay_of_packets_unknown(tmp_path):
    """A gate of 17 ms with 19 packets passes more than 10 Mbps, so that an upload that fills the
    queue leaves it evenly. The first segments wait for a release of the gate.
    """
    observed = observe(inspection.inspect(capture(tmp_path, gated("17ms", 19))))
    found = timing_of(observed, path_of(observed))
    assert found is not None
    assert found.status == UNKNOWN
    assert found.key == GATE
    assert "ms longer than the base RTT" in found.evidence or "in another over the same path" in found.evidence


def test_a_path_without_a_gate_has_no_unknown_delay(tmp_path):
    """Both transfers show that packets are not delayed.

    This is true even for a receiver that acknowledges eight segments at a time, whose first ACK
    waits for the eighth segment."""
    sparse = {**TCP, "ack": {"policy": "byte-counting", "segments": 8, "timer": "25ms"}}
    for transport in (TCP, sparse):
        flows = [{**flow, "transport": transport} for flow in (DOWN, UP)]
        for file in ("laptop.pcapng", "server.pcapng"):
            observed = observe(inspection.inspect(capture(tmp_path, BOTH | {"flow": flows}, file)))
            assert timing_of(observed, path_of(observed)) is None


def test_half_of_the_queues_without_an_upper_end_are_near_what_waited():
    """At that percentile ten packets waited, and a full queue has at least 80 % of its limit."""
    points = [(0.5, 0.5, share / 100, 0.5, 0.0, 0.5, 0.0, 0.0) for share in range(100)]
    queues = [SPACE.values(point).queue for point in points]
    assert sum(queue <= 12.5 for queue in queues) == pytest.approx(50 + 50 * math.log(1.25) / math.log(4), abs=2)
    assert min(queues) == pytest.approx(10.0)
    assert max(queues) == pytest.approx(40.0, rel=0.05)


@pytest.mark.parametrize("point", ["server", "laptop"])
def test_a_handshake_over_an_unknown_return_path_is_within_the_interval_of_the_propagation(tmp_path, point):
    """A SYN of 60 bytes takes 30 ms over 16 kbps, and the base RTT is that of the handshake.

    Nevertheless the interval includes the propagation of 2 · 23 ms, even if the laptop sends more
    ACKs than pass the filter behind it.
    """
    link = {
        "name": "line",
        "from": "server",
        "to": "laptop",
        "forward": {"rate": "6Mbps", "delay": "23ms", "queue": {"discipline": "fifo", "limit": "36packets"}},
        "reverse": {"rate": "16kbps", "delay": "23ms", "queue": {"discipline": "ack-filter", "limit": "100packets"}},
    }
    file = capture(tmp_path, BOTH | {"duration": "8s", "link": [link], "flow": [DOWN | {"stop": "8s"}]}, f"{point}.pcapng")
    path = path_of(observe(inspection.inspect(file)))
    if path.back_rate.is_known:
        assert path.back_rate.low is not None
        assert path.back_rate.low < 0.0161
    assert path.base.low is not None
    assert path.base.high is not None
    assert path.base.low < 23.0 < path.base.high


@pytest.mark.parametrize("rate", [1.23e-5, 0.0826043, 0.0999999, 0.1, 12.3456789, 9876.54321])
def test_every_rate_is_written_as_a_scenario_takes_it(rate):
    """Scenarios have whole bits per second, and six digits of 82.6 kbps in Mbps would be finer."""
    link = BOTH["link"][0]
    text = written(rate, "Mbps")
    acklab.check(BOTH | {"link": [{**link, "reverse": {**link["reverse"], "rate": text}}]})
    assert bits(text) / 1e6 == pytest.approx(rate, rel=1e-5, abs=1e-6)


def test_statistics_agree_within_both_intervals():
    mine = Summary({"goodput": Statistic(100.0, 3.0), "lost": Statistic(0.0, 0.001)})
    # The combined tolerance is √(3² + 4²) = 5.
    assert mine.distances(Summary({"goodput": Statistic(105.0, 4.0), "lost": Statistic(0.0, 0.0)})) == {
        "goodput": 1.0,
        "lost": 0.0,
    }
    assert mine.distance(Summary({"goodput": Statistic(100.0, 0.0)})) == float("inf")
