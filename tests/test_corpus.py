"""The comparison of inspections with tshark and tcptrace: `validation/inspection/corpus.py`."""

import dataclasses
import os
import signal
import time
from typing import Any

import pytest

from validation.inspection import agreement, tcptrace
from validation.inspection.apart import Limits, run_apart
from validation.inspection.dissection import Dissection, Packet, without_copies
from validation.inspection.refutation import refutations

SENDER, RECEIVER = "192.0.2.1:443", "198.51.100.7:50000"
_ACK = 0x10


def _packet(at: float, *, is_data: bool, identification: int, seq: int = 1, ack: int = 1, stream: int = 0) -> Packet:
    source, destination = (SENDER, RECEIVER) if is_data else (RECEIVER, SENDER)
    return Packet(
        number=int(at * 1e6), at=at, source=source, destination=destination, identification=identification, stream=stream,
        length=1000 if is_data else 0, flags=_ACK, seq=seq, ack=ack, window="1", timestamp="", is_flagged=False,
        is_keep_alive=False, acks_frame=None, ack_rtt=None,
    )  # fmt: skip


def _download(identifications: list[int]) -> Dissection:
    """Returns a segment per millisecond, with these identifications.

    An ACK follows half a millisecond after every second one.
    """
    data = [_packet(1 + 0.001 * n, is_data=True, identification=n + 1, seq=1000 * n + 1) for n in range(2 * len(identifications))]
    acks = [
        _packet(1.0015 + 0.002 * n, is_data=False, identification=number, ack=2000 * n + 2001)
        for n, number in enumerate(identifications)
    ]
    return Dissection(frames=len(data) + len(acks), tcp=sorted(data + acks, key=lambda packet: packet.at))


def _way(**acks: Any) -> dict[str, Any]:
    return {"from": SENDER, "to": RECEIVER, "position": "sender", "mss": 1000, "acks": {"missing": None} | acks}


def test_sums_of_a_direction_are_those_of_its_packets() -> None:
    (one,) = _download(list(range(1, 101))).summary()["directions"]
    assert (one["data_octets"], one["pure_acks"], one["copies"]) == (200_000, 100, 0)
    assert (one["out_of_sequence"], one["lengths"]) == ({}, {"1000": 200})


def test_copies_of_the_capture_are_no_packets_and_retransmissions_are() -> None:
    packet = _packet(1.0, is_data=True, identification=7)
    copy = _packet(1.000003, is_data=True, identification=7)
    # A retransmission has a new identification, or comes after a timeout.
    again = _packet(1.2, is_data=True, identification=8)
    assert without_copies([packet, copy, again]) == [packet, again]


def test_a_segment_below_the_highest_octet_is_out_of_sequence() -> None:
    dissection = _download(list(range(1, 11)))
    dissection.tcp.append(_packet(2.0, is_data=True, identification=50, seq=3001))
    (one,) = dissection.summary()["directions"]
    assert one["out_of_sequence"] == {"1000": 1}


@pytest.mark.parametrize(
    ("found", "expected", "holds"),
    [(100, 100, True), (102, 100, True), (103, 100, False), (0, 0, True), (1, 0, False), (None, 1, None)],
)
def test_two_per_cent_are_agreement(found: float | None, expected: float, holds: bool | None) -> None:
    assert agreement.Pair(found, expected).holds is holds


def test_segments_are_counted_as_full_size_or_less() -> None:
    # A packet of 2,500 bytes, which a NIC splits into three.
    assert agreement.segments({"1000": 2, "2500": 1}, 1000) == 5


def test_a_counter_of_the_connection_without_gaps_refutes_a_thinner() -> None:
    (reason,) = refutations(_download(list(range(1, 101))), _way())
    assert "99 identifications without a gap" in reason


def test_more_than_one_ack_per_segment_refutes_a_thinner() -> None:
    # Two segments per remaining ACK. 19 of 20 ACKs are reported missing.
    (reason,) = refutations(_download(list(range(1, 2001, 20))), _way(missing=0.95))
    assert "2.00 segments per ACK × (1 - 0.95) is below 1" in reason


def test_numbers_of_other_connections_refute_a_thinner() -> None:
    dissection = _download(list(range(1, 201, 2)))
    others = [
        dataclasses.replace(
            _packet(1.0025 + 0.002 * n, is_data=False, identification=2 * n + 2, stream=1), destination="192.0.2.9:80"
        )
        for n in range(99)
    ]
    (reason,) = refutations(Dissection(tcp=sorted(dissection.tcp + others, key=lambda packet: packet.at)), _way(missing=0.3))
    assert "skipped numbers are of other connections" in reason


def test_what_the_packets_allow_is_not_refuted() -> None:
    assert refutations(_download(list(range(1, 201, 2))), _way(missing=0.5)) == []


def test_counts_of_tcptrace_are_read_by_direction() -> None:
    output = (
        "#1 TCP connection traced:\n"
        "conn_#,host_a,host_b,port_a,port_b,actual_data_bytes_a2b,actual_data_bytes_b2a,pure_acks_sent_a2b,pure_acks_sent_b2a,"
        "rexmt_data_pkts_a2b,rexmt_data_pkts_b2a,\n\n"
        "1,198.51.100.7,192.0.2.1,50000,443,      10,   868800,    302,   0,  0,   3,\n"
    )
    assert tcptrace.parsed(output)[f"{SENDER} > {RECEIVER}"] == {"data_octets": 868_800, "pure_acks": 302, "retransmitted": 3}


def _behave(item: str) -> dict[str, Any]:
    if item == "slow":
        time.sleep(60)
    if item == "dead":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "wrong":
        raise ValueError(item)
    return {"item": item}


def test_neither_a_crash_nor_a_hang_stops_the_rest() -> None:
    results = dict(run_apart(_behave, ["slow", "dead", "wrong", "good"], Limits(seconds=3.0)))
    assert results["good"] == {"item": "good"}
    assert "no result after 3 s" in results["slow"]["failure"]
    assert "ended with signal" in results["dead"]["failure"]
    assert "ValueError: wrong" in results["wrong"]["failure"]
