"""Strategies written in Python.

Their results equal the results of built-in strategies to the byte, and their errors have messages.
"""

import multiprocessing
import random
import traceback
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import ClassVar

import pytest

import acklab
from acklab.strategies import MILLISECOND, SECOND
from acklab.strategy_files import StrategyFile, faults_named

MINE = {"policy": "custom", "name": "mine"}


def scenario(**flow):
    """Returns two flows over a bottleneck with loss and jitter, so that every rule is used."""
    return {
        "duration": "8s",
        "seed": 5,
        "link": [
            {
                "name": "btl",
                "from": "src",
                "to": "dst",
                "forward": {
                    "rate": "8Mbps",
                    "delay": "10ms",
                    "queue": {"discipline": "fifo", "limit": "20packets"},
                    "loss": {"model": "independent", "probability": 0.005},
                    "reorder": {"probability": 0.01, "by": "4ms"},
                },
                "reverse": {"delay": "10ms", "loss": {"model": "independent", "probability": 0.01}},
            }
        ],
        "flow": [{"from": "src", "to": "dst", "preset": "rfc", "count": 2, "spacing": "500ms", **flow}],
        "measure": {"series": ["operating_point", "throughput", "queue", "packets", "events"]},
    }


class Delayed(acklab.AckPolicy):
    """RFC 5681, section 4.2, like the built-in policy."""

    timer = 200 * MILLISECOND

    def decide(self, now, arrival, ledger):
        if arrival.kind != "in-order":
            return acklab.Now(arrival.kind)
        if ledger.segments >= 2:
            return acklab.Now("segment-count")
        return acklab.At((ledger.newest if ledger.since is None else ledger.since) + self.timer, "timer")


class Hasty(Delayed):
    timer = 5 * MILLISECOND


class Tack(acklab.AckPolicy):
    """TACK's ACK frequency, like the built-in policy.

    It uses nearly all arguments of a receiver.
    """

    rtt_window = 10 * SECOND
    bandwidth_window = 10
    bandwidth_intervals = 4

    def __init__(self, start):
        super().__init__(start)
        self.last = None

    def decide(self, now, arrival, ledger):
        if arrival.kind == "duplicate":
            return acklab.Now("duplicate")
        if arrival.kind == "out-of-order" and ledger.beyond[-1][0] == ledger.last[0]:
            return acklab.Now("out-of-order")
        due = now if self.last is None else self.last + (ledger.min_rtt or 0) // 4
        count = 2 * ledger.full_size
        if ledger.arrived_bytes >= count:
            return acklab.Now("byte-count") if due <= now else acklab.At(due, "periodic")
        wait = 500 * MILLISECOND
        if ledger.delivery_rate:
            wait = min(wait, count * SECOND // (ledger.delivery_rate // 8))
        return acklab.At(due, "periodic") if now + wait <= due else acklab.At(now + wait, "timer")

    def on_ack_sent(self, now):
        self.last = now


class NewReno(acklab.CongestionController):
    """RFC 5681, section 3.1, with growth by bytes (RFC 3465), as in the preset `rfc`."""

    def __init__(self, start):
        super().__init__(start)
        assert (start.growth, start.initial_window) == ("byte-counting", 10 * start.mss)
        self.credit = 0

    def on_ack(self, window, ack):
        if not ack.may_grow:
            return
        acked = ack.acked_bytes
        if window.in_slow_start:
            grown = min(window.cwnd + min(acked, 2 * window.mss), max(window.ssthresh, window.cwnd))
            acked = max(acked - (grown - window.cwnd), 0)
            window.cwnd = grown
            if window.in_slow_start:
                return
        self.credit += acked
        while self.credit >= window.cwnd:
            self.credit -= window.cwnd
            window.cwnd += window.mss

    def ssthresh(self, now, window, flight, signal):
        return max(flight // 2, 2 * window.mss)

    def on_state(self, now, window, state):
        if state in ("reduced", "recovery", "loss"):
            self.credit = 0


def assert_same(one, other, *named):
    """All tables are equal to the byte, except the columns with the names of strategies."""
    assert list(one.tables) == list(other.tables)
    for name in one.tables:
        ours, theirs = (
            result.arrow(name).drop_columns(list(named) if name == "flows" else []).replace_schema_metadata(None)
            for result in (one, other)
        )
        assert ours.equals(theirs), name


def test_a_mirror_of_the_delayed_policy_is_the_same():
    traffic = {"model": "poisson", "rate": "3Mbps"}
    built_in = acklab.run(scenario(traffic=traffic, ack={"policy": "delayed", "segments": 2, "timer": "5ms"}))
    mirror = acklab.run(scenario(traffic=traffic, ack=MINE), strategies={"mine": Hasty})
    assert_same(built_in, mirror, "ack_policy")
    assert mirror.flows["ack_policy"].to_list() == ["mine", "mine"]
    assert {"timer", "fills-gap", "out-of-order", "segment-count"} <= set(mirror.acks["reason"])
    assert mirror.provenance.command.endswith("; in Python, with strategies mine=test_strategies.Hasty")


def test_a_mirror_of_tack_is_the_same():
    built_in = acklab.run(scenario(ack={"policy": "tack"}))
    mirror = acklab.run(scenario(ack=MINE), strategies={"mine": Tack})
    assert_same(built_in, mirror, "ack_policy")
    assert {"periodic", "byte-count", "timer", "out-of-order"} <= set(mirror.acks["reason"])


@pytest.mark.parametrize(
    ("rtt_window", "bandwidth_window", "measured"),
    [(None, None, (False, False)), (10 * SECOND, None, (True, False)), (10 * SECOND, 10, (True, True))],
)
def test_a_policy_is_told_what_it_asks_for(rtt_window, bandwidth_window, measured):
    seen = []

    class Asks(Delayed):
        def decide(self, now, arrival, ledger):
            seen.append(
                (
                    ledger.handshake_rtt is not None and ledger.srtt is not None and ledger.min_rtt is not None,
                    ledger.delivery_rate is not None,
                )
            )
            assert ledger.total_bytes >= ledger.arrived_bytes
            assert ledger.next >= ledger.bytes
            assert ledger.total_segments >= ledger.arrived_segments >= ledger.segments
            assert ledger.highest[1] >= max(ledger.last[1], ledger.reported[1])
            assert ledger.has_sack
            assert bool(ledger.beyond) == (ledger.highest[1] > ledger.next)
            if ledger.delivery_rate is not None:
                assert 0 < ledger.delivery_rate < 100_000_000
            if ledger.min_rtt is not None:
                assert 19 * MILLISECOND <= ledger.min_rtt <= ledger.handshake_rtt
            return super().decide(now, arrival, ledger)

    Asks.rtt_window, Asks.bandwidth_window = rtt_window, bandwidth_window
    acklab.run(scenario(ack=MINE), strategies={"mine": Asks})
    assert seen[-1] == measured


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rtt_window": 0}, "rtt_window: found 0, expected a whole number of at least 1, or None"),
        ({"rtt_window": SECOND, "bandwidth_window": 0}, "bandwidth_window: found 0, expected"),
        ({"rtt_window": SECOND, "bandwidth_intervals": 0}, "bandwidth_intervals: found 0, expected"),
        ({"bandwidth_window": 10}, "bandwidth_window counts round trips: expected rtt_window as well"),
    ],
)
def test_invalid_windows_of_measurement_are_refused(change, message):
    with pytest.raises(acklab.UsageError, match=message):
        acklab.run(scenario(ack=MINE), strategies={"mine": type("Wrong", (Delayed,), change)})


def test_a_policy_is_told_of_marks():
    told = []

    class Marked(Delayed):
        def on_first_mark(self):
            told.append("mark")

        def on_window_reduced(self):
            told.append("reduced")

    marking = scenario(ack=MINE, ecn="classic")
    marking["link"][0]["forward"]["queue"]["mark_above"] = "5packets"
    acklab.run(marking, strategies={"mine": Marked})
    assert min(told.count("mark"), told.count("reduced")) > 5


def test_a_mirror_of_newreno_is_the_same():
    built_in = acklab.run(scenario())
    mirror = acklab.run(scenario(congestion={"custom": "mine"}), strategies={"mine": NewReno})
    assert_same(built_in, mirror, "cca")
    assert mirror.flows["cca"].to_list() == ["mine", "mine"]
    assert (built_in.flows["total_retransmissions_l4"] > 10).all()


def test_one_name_may_be_a_policy_here_and_a_controller_there():
    class Both:
        def __new__(cls, start):
            return NewReno(start) if hasattr(start, "growth") else Delayed(start)

    both = acklab.run(scenario(congestion={"custom": "mine"}, ack=MINE), strategies={"mine": Both})
    assert_same(acklab.run(scenario()), both, "ack_policy", "cca")
    assert both.flows["cca"].to_list() == both.flows["ack_policy"].to_list() == ["mine", "mine"]


class Dice:
    """A policy with its own random numbers and reasons, and without a base class."""

    def __init__(self, start):
        self.chance = random.Random(start.seed)
        self.sent = []

    def decide(self, now, arrival, ledger):
        if self.chance.random() < 0.3:
            return acklab.Now("lucky")
        if self.chance.random() < 0.3:
            return acklab.Hold()
        return acklab.At(now - 1 if self.chance.random() < 0.1 else now + MILLISECOND, "unlucky")

    def on_ack_sent(self, now):
        assert not self.sent or self.sent[-1] <= now
        self.sent.append(now)


def test_runs_repeat_and_reasons_are_counted():
    once, again = (acklab.run(scenario(ack=MINE), strategies={"mine": Dice}) for _ in range(2))
    assert_same(once, again)
    assert set(once.acks["reason"]) == {"handshake", "lucky", "unlucky"}
    other = acklab.run(scenario(ack=MINE), strategies={"mine": Dice}, seed=6)
    assert not other.acks.equals(once.acks)


def run_mine(seed):
    return acklab.run(scenario(ack=MINE, congestion={"custom": "reno"}), seed=seed, strategies={"mine": Dice, "reno": NewReno})


def test_threads_and_processes_change_nothing():
    alone = [run_mine(seed) for seed in (1, 2)]
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        for pool in (threads, processes):
            for one, other in zip(alone, pool.map(run_mine, (1, 2)), strict=True):
                assert_same(one, other)


class Watched(NewReno):
    """A controller that reads everything that it can, and paces."""

    wants_delivery_rate = True
    instances: ClassVar[list["Watched"]]

    def __init__(self, start):
        super().__init__(start)
        self.seen = set()
        Watched.instances.append(self)

    def on_established(self, now, window, rtt):
        assert (now, rtt, window.cwnd, window.ssthresh) == (now, 20 * MILLISECOND, self.start.initial_window, 2**64 - 1)
        self.seen.add("established")

    def on_ack(self, window, ack):
        super().on_ack(window, ack)
        assert ack.acked_to <= ack.sent_to
        assert (ack.una, ack.nxt) == (ack.acked_to, ack.sent_to)
        assert ack.departure >= ack.now
        assert ack.has_sack
        assert ack.newest_rtt is None or ack.min_rtt <= ack.newest_rtt
        assert ack.total_delivered >= ack.acked_to
        if ack.rate is not None:
            assert 0 < ack.rate.bits_per_second < 100_000_000
            self.seen.add("rate")

    def on_state(self, now, window, state):
        super().on_state(now, window, state)
        self.seen.add(state)

    def on_lost(self, window, lost):
        assert lost.sent_at < lost.now
        assert 0 < lost.end - lost.start == lost.bytes <= window.mss
        assert lost.total_lost >= lost.prior_lost
        assert lost.total_delivered >= lost.prior_delivered
        assert lost.tx_in_flight > 0
        self.seen.add("lost")

    def limits_itself(self):
        self.seen.add("limits")
        return False

    def on_sent(self, window, sent):
        assert 0 < sent.bytes <= window.mss
        self.seen.add("resent" if sent.is_retransmission else "sent")

    def pacing_rate(self):
        return 5_000_000


def test_a_controller_is_told_everything_and_paces():
    Watched.instances = []
    strategies = {"mine": Watched}
    result = acklab.run(scenario(congestion={"custom": "mine"}, count=1), strategies=strategies)
    (watched,) = Watched.instances
    assert {"established", "rate", "recovery", "open", "sent", "resent", "lost", "limits"} <= watched.seen
    assert result.flows["mean_throughput_l4"][0] < 5
    unpaced = acklab.run(scenario(congestion={"custom": "mine"}, count=1, pacing="never"), strategies=strategies)
    assert unpaced.flows["mean_throughput_l4"][0] > result.flows["mean_throughput_l4"][0]


def broken(where, what):
    """A policy that does `what` at its hundredth decision, its creation, or after an ACK."""

    class Broken(Delayed):
        count = 0

        def __init__(self, start):
            super().__init__(start)
            if where == "birth":
                what()

        def decide(self, now, arrival, ledger):
            self.count += 1
            assert self.count <= 100, "nothing is asked after a failure"
            if where == "decide" and self.count == 100:
                return what()
            return super().decide(now, arrival, ledger)

        def on_ack_sent(self, now):
            if where == "sent" and self.count >= 50:
                what()

    return Broken


@pytest.mark.parametrize("where", ["birth", "decide", "sent"])
def test_an_exception_of_a_strategy_reaches_the_caller(where):
    error = LookupError("of my own")

    def fail():
        raise error

    with pytest.raises(LookupError) as caught:
        acklab.run(scenario(ack=MINE), strategies={"mine": broken(where, fail)})
    assert caught.value is error
    assert any(frame.name == "fail" for frame in traceback.extract_tb(caught.value.__traceback__))


def test_captures_end_where_a_strategy_failed(tmp_path):
    whole, part = tmp_path / "whole", tmp_path / "part"
    captured = scenario(ack=MINE, count=1) | {"capture": [{"point": "dst", "file": "dst.pcapng"}]}
    for folder in (whole, part):
        folder.mkdir()
    acklab.run(captured, captures=whole, strategies={"mine": Delayed})
    with pytest.raises(ZeroDivisionError):
        acklab.run(captured, captures=part, strategies={"mine": broken("decide", lambda: 1 // 0)})
    octets = (part / "dst.pcapng").read_bytes()
    assert 100 * 60 < len(octets) < 400 * 120
    assert (whole / "dst.pcapng").read_bytes().startswith(octets)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda: None, r'strategies\["mine"\]: decide: found None, expected acklab.Now\(why\)'),
        (lambda: "now", r"found 'now', expected acklab.Now\(why\)"),
    ],
)
def test_a_policy_that_returns_no_decision_is_refused(answer, message):
    with pytest.raises(acklab.UsageError, match=message):
        acklab.run(scenario(ack=MINE), strategies={"mine": broken("decide", answer)})


def test_a_time_is_whole_nanoseconds():
    with pytest.raises(TypeError):
        acklab.At(0.2, "timer")  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        acklab.At(-1, "timer")


def test_there_are_sixteen_reasons():
    class Talker(Delayed):
        count = 0

        def decide(self, now, arrival, ledger):
            self.count += 1
            return acklab.Now(f"reason {self.count}")

    with pytest.raises(
        acklab.UsageError, match='found "reason 17", expected one of the 16 reasons that it gave before: reason 1,'
    ):
        acklab.run(scenario(ack=MINE), strategies={"mine": Talker})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"ssthresh": lambda *_: 1.5}, TypeError, "float"),
        ({"ssthresh": lambda *_: -1}, OverflowError, "negative"),
        ({"on_ack": lambda _, window, __: setattr(window, "cwnd", window.cwnd / 2)}, TypeError, "float"),
        ({"pacing_rate": lambda _: 0}, acklab.UsageError, "pacing_rate: found 0, expected bits per second above zero, or None"),
    ],
)
def test_a_controller_that_returns_no_window_is_refused(change, error, message):
    wrong = type("Wrong", (NewReno,), change)
    with pytest.raises(error, match=message):
        acklab.run(scenario(congestion={"custom": "mine"}), strategies={"mine": wrong})


def test_a_window_of_nothing_or_of_everything_ends_no_run():
    for cwnd in (0, 2**64 - 1):
        extreme = type("Extreme", (NewReno,), {"on_ack": lambda _, window, __, cwnd=cwnd: setattr(window, "cwnd", cwnd)})
        result = acklab.run(scenario(congestion={"custom": "mine"}), strategies={"mine": extreme})
        assert result.flows.height == 2


def test_an_object_of_the_wrong_kind_is_refused():
    neither = type("Neither", (), {"__init__": lambda self, start: None})
    with pytest.raises(
        acklab.UsageError, match=r'strategies\["mine"\]: found .*Neither without `decide`, expected an ACK policy'
    ):
        acklab.run(scenario(ack=MINE), strategies={"mine": neither})
    with pytest.raises(acklab.UsageError, match=r"Delayed without `on_ack`, expected a congestion controller"):
        acklab.run(scenario(congestion={"custom": "mine"}), strategies={"mine": Delayed})
    with pytest.raises(acklab.UsageError, match=r'strategies\["mine"\]: found int, expected a class'):
        acklab.run(scenario(), strategies={"mine": 3})  # type: ignore[dict-item]


def test_a_name_that_the_run_does_not_know_is_refused_with_its_place(tmp_path):
    file = tmp_path / "x.toml"
    file.write_text(
        'duration = "1s"\nseed = 1\n[[link]]\nname = "l"\nfrom = "a"\nto = "b"\nforward = { delay = "1ms" }\nreverse = {}\n'
        '[[flow]]\nfrom = "a"\nto = "b"\npreset = "rfc"\nack = { policy = "custom", name = "mien" }\n'
    )
    acklab.check(file)
    with pytest.raises(acklab.ScenarioError) as caught:
        acklab.run(file, strategies={"mine": Delayed})
    assert str(caught.value).startswith(
        f'{file}:13:35: flow.0.ack.name: found "mien", expected the name of a strategy that was added to the run: "mine"; did you mean `mine`?\n'
    )
    with pytest.raises(
        acklab.ScenarioError, match="expected the name of a strategy that was added to the run, and none was added"
    ):
        acklab.run(file)


def test_a_copy_of_a_strategy_elsewhere_reads_what_lies_beside_it(tmp_path):
    code = (
        "import pathlib, acklab\nEVERY = int(pathlib.Path(__file__).with_name('every').read_text())\n"
        "class A(acklab.AckPolicy):\n def decide(self, *given):\n  raise LookupError(EVERY)\n"
    )
    for name, every in (("one", "2"), ("other", "3")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "every").write_text(every)
        (folder / "a.py").write_text(code)
        file = StrategyFile.parse(f"{folder}/a.py:A")
        with pytest.raises(acklab.RunError, match=rf"{folder}/a\.py: line 5: LookupError: {every}"), faults_named([file]):
            acklab.run(scenario(ack={"policy": "custom", "name": "A"}), strategies={"A": file})


def test_a_sweep_refuses_strategies(tmp_path):
    with pytest.raises(
        acklab.UsageError, match=r"flow.0.ack.name: found the strategy 'mine', expected a built-in one: a sweep stores"
    ):
        acklab.sweep(scenario(ack=MINE), out=tmp_path, quiet=True)
    with pytest.raises(acklab.UsageError, match=r"flow.0.congestion.name: found the strategy 'mine'"):
        acklab.sweep(scenario(), grid={"flow.0.congestion": ["newreno", '{custom = "mine"}']}, out=tmp_path, quiet=True)
