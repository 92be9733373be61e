"""The arguments and callbacks of strategies in Python, over each transport that has them."""

from itertools import pairwise

import pytest

import acklab
from acklab.strategies import MILLISECOND
from test_strategies import MINE, Delayed, NewReno


def run(strategies, seconds=1, **flow):
    """One flow over 8 Mbps and 20 ms that loses some packets."""
    forward = {
        "rate": "8Mbps",
        "delay": "10ms",
        "queue": {"discipline": "fifo", "limit": "20packets"},
        "loss": {"model": "independent", "probability": 0.01},
    }
    link = {"name": "btl", "from": "src", "to": "dst", "forward": forward, "reverse": {"delay": "10ms"}}
    scenario = {
        "duration": f"{seconds}s",
        "seed": 1,
        "link": [link],
        "flow": [{"from": "src", "to": "dst", **flow}],
    }
    return acklab.run(scenario, strategies=strategies)


def arrivals(**flow):
    """Returns the arguments that a policy of delayed ACKs receives."""
    seen = []

    class Notes(Delayed):
        def decide(self, now, arrival, ledger):
            seen.append((arrival, ledger))
            return super().decide(now, arrival, ledger)

    run({"mine": Notes}, **flow)
    assert len(seen) > 100
    for arrival, ledger in seen:
        assert arrival.span == ledger.last
        assert arrival.bytes <= ledger.full_size
    return seen


def test_a_segment_of_tcp_has_push_and_timestamp():
    """10,000 bytes are seven segments, of which Linux pushes the last."""
    seen = arrivals(preset="linux", ack=MINE, traffic={"model": "constant", "rate": "1600kbps", "write": "10000B"})
    assert {arrival.push for arrival, _ in seen} == {False, True}
    assert all(arrival.span[1] % 10_000 == 0 for arrival, _ in seen if arrival.push)
    assert all(arrival.number is None and ledger.unit == ledger.full_size for arrival, ledger in seen)
    # A tick of Linux is a millisecond, and the run takes a second.
    in_order = [arrival.timestamp for arrival, _ in seen if arrival.kind == "in-order"]
    assert in_order == sorted(in_order)
    assert 500 <= in_order[-1] - in_order[0] <= 1000
    assert all(arrival.advanced == arrival.bytes for arrival, _ in seen if arrival.kind == "in-order")


def test_tcp_without_timestamps_has_none():
    assert {arrival.timestamp for arrival, _ in arrivals(preset="rfc", timestamps=False, ack=MINE)} == {None}


def test_a_packet_of_quic_has_a_number():
    seen = arrivals(transport={"protocol": "quic", "ack": MINE})
    assert all(arrival.number == arrival.span[0] == arrival.span[1] - 1 for arrival, _ in seen)
    assert {(arrival.push, arrival.timestamp, ledger.unit) for arrival, ledger in seen} == {(False, None, 1)}


def test_a_packet_of_tack_has_a_number_and_its_departure():
    """The timestamps of TACK are microseconds."""
    seen = arrivals(transport={"protocol": "tack", "ack": MINE})
    assert all(arrival.number == arrival.span[0] for arrival, _ in seen)
    times = [arrival.timestamp for arrival, _ in seen]
    assert times == sorted(times)
    assert 800_000 <= times[-1] - times[0] <= 1_000_000


def test_a_policy_receives_the_events_of_tcp():
    events = set()

    class Told(Delayed):
        def on_push(self, is_read):
            events.add("push")

        def on_fin(self, now, ledger):
            events.add("fin")
            assert ledger.bytes <= ledger.total_bytes
            return acklab.At(now + MILLISECOND, "last")

        def on_read(self, ledger):
            events.add("read")

        def on_emptied(self):
            events.add("emptied")
            return "emptied"

        def on_window_growth(self):
            events.add("growth")

        def on_unread(self, is_short, shrinks):
            events.add("unread")

    # A reader that is slower than the link leaves data unread.
    reading = {"model": "constant", "rate": "4Mbps"}
    traffic = {"model": "constant", "rate": "1600kbps", "write": "10000B"}
    result = run({"mine": Told}, preset="linux", ack=MINE, traffic=traffic, reading=reading)
    assert {"push", "read", "emptied"} <= events
    assert "emptied" in set(result.acks["reason"])


@pytest.mark.parametrize(
    ("congestion", "is_reno", "phases"),
    [("newreno", True, {None}), ("bbr3", False, {"probes", "cruises"})],
)
def test_a_rule_of_requests_sees_the_controller(congestion, is_reno, phases):
    seen = set()

    class Sees(acklab.AskRule):
        def request(self, now, path):
            seen.add((path.is_reno, path.phase))

    transport = {"protocol": "quic", "congestion": congestion, "ask": {"rule": "custom", "name": "mine"}}
    run({"mine": Sees}, seconds=3, transport=transport)
    assert seen == {(is_reno, phase) for phase in phases}


class Reno(NewReno):
    """NewReno over any transport and preset."""

    def __init__(self, start):
        acklab.CongestionController.__init__(self, start)
        self.credit = 0


class Clocked(Reno):
    """NewReno with a clock of ten milliseconds."""

    def __init__(self, start):
        super().__init__(start)
        self.next = None
        assert (start.slow_start, start.dialect) == ("classic", "linux")

    def on_established(self, now, window, rtt):
        self.next = now + 10 * MILLISECOND

    def deadline(self):
        return self.next

    def on_deadline(self, now, window, in_flight):
        self.next = now + 10 * MILLISECOND


def test_a_controller_has_a_clock_and_the_outcome_of_each_transmission():
    """Nearly all of 8 Mbps, which is 700 packets in a second."""
    woken, seen = [], []

    class Notes(Clocked):
        def on_deadline(self, now, window, in_flight):
            woken.append(now)
            super().on_deadline(now, window, in_flight)

        def on_outcomes(self, outcomes):
            seen.extend(outcomes)

    run({"mine": Notes}, preset="linux", slow_start="classic", congestion={"custom": "mine"})
    steps = {later - earlier for earlier, later in pairwise(woken)}
    assert steps == {10 * MILLISECOND}
    assert 90 <= len(woken) <= 100
    assert len(seen) > 100
    assert {outcome.outcome for outcome in seen} <= {"delivered", "unknown"}
    assert all(outcome.sent_at < 1_000 * MILLISECOND for outcome in seen)


def test_a_deadline_that_has_passed_is_refused():
    class Late(Clocked):
        def on_deadline(self, now, window, in_flight):
            self.next = now

    with pytest.raises(acklab.UsageError, match=r"deadline: found .* after on_deadline, expected a time after"):
        run({"mine": Late}, preset="linux", slow_start="classic", congestion={"custom": "mine"})


def test_a_phase_without_meaning_is_refused():
    class Idle(Reno):
        def phase(self):
            return "idle"

    transport = {"protocol": "quic", "congestion": {"custom": "mine"}, "ask": {"rule": "bbr"}}
    with pytest.raises(acklab.UsageError, match='phase: found "idle", expected probes, cruises, probes-rtt or None'):
        run({"mine": Idle}, transport=transport)
