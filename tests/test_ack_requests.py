"""ACK requests of a sender by TARR, and the effect of QUIC's receive timestamps, in whole runs."""

import copy
import shutil
import subprocess
from itertools import pairwise
from typing import Any

import pytest

import acklab

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")

TCP: dict[str, Any] = {
    "duration": "10s",
    "seed": 1,
    "measure": {"from": "2s"},
    "link": [
        {
            "name": "btl",
            "from": "server",
            "to": "client",
            "forward": {"rate": "20Mbps", "delay": "20ms", "queue": {"discipline": "fifo", "limit": "133packets"}},
            "reverse": {"rate": "20Mbps", "delay": "20ms"},
        }
    ],
    "flow": [
        {
            "name": "down",
            "from": "server",
            "to": "client",
            "preset": "rfc",
            "congestion": "cubic",
            "growth": "per-segment",
            "pacing": "always",
            # The size of 103 segments, so that no packet is lost.
            "receive_buffer": "150kB",
            "receive_window": "whole-buffer",
            "traffic": {"model": "greedy"},
        }
    ],
}


def flow(scenario, **changes):
    return acklab.run(scenario, set={f"flow.0.{key}": value for key, value in changes.items()}).flows.to_dicts()[0]


def test_a_tcp_sender_gets_the_rate_of_acks_that_it_asks_for():
    """Four ACKs per window of 103 segments would be one per 25 segments: `segments` decides."""
    delayed = flow(TCP, ack={"policy": "delayed"})
    asked = flow(TCP, ack={"policy": "ack-rate-request", "segments": 12})
    assert delayed["mean_data_per_ack_l4"] == pytest.approx(2, rel=0.03)
    assert asked["mean_data_per_ack_l4"] == pytest.approx(12, rel=0.03)
    assert asked["mean_throughput_l7"] == pytest.approx(delayed["mean_throughput_l7"], rel=0.02)


def test_a_rate_beyond_the_window_is_not_asked_for():
    """127 segments exceed the window of 103.

    A sender that requested them would wait for the timer of 200 ms. Four ACKs per window are an ACK
    per 25 segments. A rate that exceeds the present rate by less than a quarter is not requested.
    """
    asked = flow(TCP, ack={"policy": "ack-rate-request", "segments": 127})
    assert 19.9 < asked["mean_data_per_ack_l4"] < 25.1
    assert asked["mean_throughput_l7"] > 18.5


def test_the_end_of_a_write_is_acknowledged_at_once():
    """Each write of 10 kB is seven segments.

    With R = 16 and without a request for an immediate ACK, the end of each write would wait for the
    timer.
    """
    writes = copy.deepcopy(TCP) | {"duration": "6s"}
    writes["flow"][0]["traffic"] = {"model": "constant", "rate": "160kbps", "write": "10kB"}
    delays = {
        immediate: flow(writes, ack={"policy": "ack-rate-request", "immediate": immediate, "acks_per_window": 1})[
            "mean_feedback_age_l4"
        ]
        for immediate in (True, False)
    }
    assert delays[True] < 30 < delays[False]


def test_a_thinner_and_a_sender_that_asks_remove_the_same_acks():
    """The thinner waits for four ACKs or 10 ms.

    At 20 Mbps a receiver that acknowledges eight segments sends an ACK every 4.7 ms. The thinner
    also sends one ACK in this time, for four ACKs of two segments each."""
    thinned = copy.deepcopy(TCP)
    thinned["link"][0]["reverse"]["thinner"] = {"rule": "every", "acks": 4, "hold": "10ms"}
    by_box = flow(thinned, ack={"policy": "delayed"})
    by_request = flow(TCP, ack={"policy": "ack-rate-request", "segments": 8})
    delivered = [one["total_acks_delivered_l4"] for one in (by_box, by_request)]
    assert delivered[0] == pytest.approx(delivered[1], rel=0.1)
    assert by_request["total_acks_sent_l4"] < 0.3 * by_box["total_acks_sent_l4"]


@needs_tshark
def test_tshark_reads_what_is_asked(tmp_path):
    captured = copy.deepcopy(TCP) | {"duration": "3s", "capture": [{"point": "server", "file": "server.pcapng"}]}
    acklab.run(captured, set={"flow.0.ack": {"policy": "ack-rate-request", "segments": 8}}, captures=tmp_path)
    fields = ["tcp.flags.syn", "tcp.options.experimental.exid", "tcp.options.tarr.rate", "tcp.len"]
    words = ["tshark", "-n", "-r", str(tmp_path / "server.pcapng"), "-Y", "tcp.options.experimental.exid", "-T", "fields"]
    done = subprocess.run(
        [*words, *(word for field in fields for word in ("-e", field))], capture_output=True, text=True, check=True
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    syns = [line for line in lines if line[0] in ("1", "True")]
    assert [line[1:] for line in syns] == [["0x00ac", "", "0"]] * 2, "the SYN and its answer, without a rate"
    rates = [int(rate) for syn, _, rate, _ in lines if syn in ("0", "False")]
    assert rates[-1] == 8
    assert all(later > earlier for earlier, later in pairwise(rates)), "slow start asks for more and more"
    assert all(int(length) == 1440 for *_, length in lines[2:]), "1448 less the option"


QUIC: dict[str, Any] = copy.deepcopy(TCP)
QUIC["flow"][0] = {
    "name": "down",
    "from": "server",
    "to": "client",
    "transport": {"protocol": "quic", "preset": "rfc", "congestion": "copa", "ask": {"rule": "round-trip", "acks": 2}},
    "traffic": {"model": "greedy"},
}


def test_receive_timestamps_give_copa_its_round_trips_back():
    without, told = flow(QUIC), flow(QUIC, **{"transport.receive_timestamps": {}})
    assert told["mean_throughput_l7"] > 1.2 * without["mean_throughput_l7"]
    ack = [one["total_ack_bytes_l3"] / one["total_acks_delivered_l4"] for one in (without, told)]
    # A frame covers about 33 packets, and each needs a delta of two bytes.
    assert ack[1] - ack[0] > 20


def test_a_peer_that_wants_none_is_sent_none():
    told = flow(QUIC, **{"transport.receive_timestamps": {"most": 4}})
    plain = flow(QUIC)
    octets = (told["total_ack_bytes_l3"] / told["total_acks_delivered_l4"]) - (
        plain["total_ack_bytes_l3"] / plain["total_acks_delivered_l4"]
    )
    # The longer type adds three bytes, the count one, and each range two or more. There are four
    # deltas, the first of four bytes, because it is a time of seconds in µs.
    assert 10 < octets < 20
