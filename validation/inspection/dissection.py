"""Reads the packets of a capture with tshark.

The packets are grouped by direction and connection, and counted.

A segment is out of sequence if it has data, is neither a keep-alive nor a duplicate of the capture,
and tshark reports it as a retransmission (including fast and spurious retransmissions) or as out of
order. `out_of_sequence` counts such segments without tshark's timing rules: segments whose first
octet is below the highest octet before.
"""

import ipaddress
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

FIELDS = (
    "frame.number", "frame.time_epoch", "frame.protocols", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "ip.id",
    "tcp.stream", "tcp.srcport", "tcp.dstport", "tcp.len", "tcp.flags", "tcp.seq_raw", "tcp.ack_raw", "tcp.window_size_value",
    "tcp.options.timestamp.tsval", "tcp.analysis.retransmission", "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission", "tcp.analysis.out_of_order", "tcp.analysis.keep_alive", "tcp.analysis.acks_frame",
    "tcp.analysis.ack_rtt", "udp.srcport", "udp.dstport",
)  # fmt: skip
_OUT_OF_SEQUENCE = FIELDS.index("tcp.analysis.retransmission"), FIELDS.index("tcp.analysis.out_of_order") + 1
_FIN, _SYN, _RST, _ACK, _URG = 0x01, 0x02, 0x04, 0x10, 0x20

DUPLICATE_SECONDS = 0.010
"""Maximum time in seconds between a packet and a copy with the same identification.

Chosen: mirror ports and bridges take microseconds. The minimum timeout of a retransmission, Linux's
tail loss probe, is 10 ms, and a retransmission has a new identification.
"""
DUPLICATE_PACKETS = 64
"""Maximum number of packets of the direction between a packet and its copy. Chosen."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A TCP packet as tshark reads it."""

    number: int
    at: float
    source: str
    destination: str
    identification: int | None
    stream: int
    length: int
    flags: int
    seq: int
    ack: int
    window: str
    timestamp: str
    is_flagged: bool
    is_keep_alive: bool
    acks_frame: int | None
    ack_rtt: float | None

    @property
    def is_pure_ack(self) -> bool:
        """Returns whether this is an ACK without data that neither opens nor ends a connection."""
        return self.length == 0 and bool(self.flags & _ACK) and not self.flags & (_SYN | _FIN | _RST | _URG)

    @property
    def header(self) -> tuple[Any, ...]:
        """Returns the properties that a packet has in common with its copies."""
        return (self.identification, self.seq, self.ack, self.length, self.flags, self.window, self.timestamp)


@dataclass
class Dissection:
    """Reads the packets that tshark decodes in a capture."""

    frames: int = 0
    tcp: list[Packet] = field(default_factory=list)
    udp_frames: int = 0
    quic: set[tuple[str, str]] = field(default_factory=set)
    error: str = ""

    def directions(self) -> dict[tuple[str, str], list[Packet]]:
        """Returns the packets by source and destination, in the order of the file."""
        by_direction: dict[tuple[str, str], list[Packet]] = defaultdict(list)
        for packet in self.tcp:
            by_direction[packet.source, packet.destination].append(packet)
        return by_direction

    def summary(self) -> dict[str, Any]:
        """Returns the compared quantities of each direction with data, as plain values."""
        by_direction = self.directions()
        whole = {ends: without_copies(packets) for ends, packets in by_direction.items()}
        directions = []
        for (source, destination), packets in whole.items():
            if any(packet.length and not packet.is_keep_alive for packet in packets):
                back = whole.get((destination, source), [])
                one = _sums(packets, back)
                one["copies"] = len(by_direction[source, destination]) - len(packets)
                directions.append({"from": source, "to": destination} | one)
        return {
            "frames": self.frames,
            "tcp_frames": len(self.tcp),
            "udp_frames": self.udp_frames,
            "tcp_connections": len({packet.stream for packet in self.tcp}),
            "quic": sorted(self.quic),
            "directions": directions,
            "error": self.error,
        }


def dissect(path: str) -> Dissection:
    """Reads a capture with tshark."""
    found = Dissection()
    words = ["tshark", "-n", "-r", path, "-o", "tcp.desegment_tcp_streams:FALSE", "-T", "fields", "-E", "occurrence=l"]
    with subprocess.Popen(
        [*words, *(word for name in FIELDS for word in ("-e", name))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace",
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            _read(line.rstrip("\n").split("\t"), found)
        messages = process.stderr.read().splitlines()
    found.error = "; ".join(line for line in messages if not line.startswith("Running as user"))
    return found


def _read(values: Sequence[str], found: Dissection) -> None:
    if len(values) != len(FIELDS):
        return
    found.frames += 1
    of = dict(zip(FIELDS, values, strict=True))
    names = of["frame.protocols"].split(":")
    # The TCP header within an error message of ICMP is no packet of its connection.
    if "icmp" in names or "icmpv6" in names:
        return
    if "tcp" in names and of["tcp.len"] and of["tcp.flags"]:
        ends = _ends(of, names, "tcp")
        if ends is not None:
            found.tcp.append(_packet(of, values, ends))
    elif "udp" in names:
        found.udp_frames += 1
        ends = _ends(of, names, "udp")
        if "quic" in names and ends is not None:
            found.quic.add(pair(*ends))


def pair(one: str, other: str) -> tuple[str, str]:
    """Returns the two ends of a connection, in a fixed order."""
    return (one, other) if one <= other else (other, one)


def _ends(of: dict[str, str], names: Sequence[str], transport: str) -> tuple[str, str] | None:
    """Returns source and destination.

    They are those of the innermost network header before the innermost transport header.
    """
    last = len(names) - 1 - list(reversed(names)).index(transport)
    network = next((name for name in reversed(names[:last]) if name in ("ip", "ipv6")), None)
    if network is None or not of[f"{network}.src"]:
        return None
    return end(of[f"{network}.src"], of[f"{transport}.srcport"]), end(of[f"{network}.dst"], of[f"{transport}.dstport"])


def end(address: str, port: str) -> str:
    """Returns an end of a connection, as acklab writes it."""
    parsed = ipaddress.ip_address(address)
    return f"[{parsed}]:{port}" if parsed.version == 6 else f"{parsed}:{port}"


def _packet(of: dict[str, str], values: Sequence[str], ends: tuple[str, str]) -> Packet:
    number = of["ip.id"]
    return Packet(
        number=int(of["frame.number"]), at=float(of["frame.time_epoch"]), source=ends[0], destination=ends[1],
        identification=int(number, 0) if number else None, stream=int(of["tcp.stream"] or 0), length=int(of["tcp.len"]),
        flags=int(of["tcp.flags"], 0), seq=int(of["tcp.seq_raw"] or 0), ack=int(of["tcp.ack_raw"] or 0),
        window=of["tcp.window_size_value"], timestamp=of["tcp.options.timestamp.tsval"],
        is_flagged=any(values[slice(*_OUT_OF_SEQUENCE)]), is_keep_alive=bool(of["tcp.analysis.keep_alive"]),
        acks_frame=int(of["tcp.analysis.acks_frame"]) if of["tcp.analysis.acks_frame"] else None,
        ack_rtt=float(of["tcp.analysis.ack_rtt"]) if of["tcp.analysis.ack_rtt"] else None,
    )  # fmt: skip


def without_copies(packets: Sequence[Packet]) -> list[Packet]:
    """Returns the packets of a direction without duplicates of the capture."""
    identifications = [packet.identification for packet in packets if packet.identification]
    # If a host gives all packets the same identification, copies cannot be distinguished from new
    # packets.
    counts = len(set(identifications)) * 8 > len(packets)
    recent: dict[tuple[Any, ...], tuple[int, float]] = {}
    kept = []
    for place, packet in enumerate(packets):
        is_numbered = counts and bool(packet.identification)
        within = DUPLICATE_SECONDS if is_numbered else DUPLICATE_SECONDS / 10
        last = recent.get(packet.header)
        # Without an identification, successive duplicate ACKs of a receiver look like copies.
        if last is not None and (is_numbered or packet.length > 0):
            before, at = last
            if place - before <= DUPLICATE_PACKETS and abs(packet.at - at) <= within:
                continue
        recent[packet.header] = (place, packet.at)
        kept.append(packet)
    return kept


def _sums(packets: Sequence[Packet], back: Sequence[Packet]) -> dict[str, Any]:
    data = [packet for packet in packets if packet.length and not packet.is_keep_alive]
    late = list(_out_of_sequence(data))
    repeated = {packet.seq for packet in data if packet.is_flagged} | {packet.seq for packet in late}
    unsafe = {packet.number for packet in packets if packet.seq in repeated and packet.length}
    # An ACK of a retransmitted segment is not a sample (Karn and Partridge, SIGCOMM 1987).
    times = [one.ack_rtt for one in back if one.ack_rtt is not None and one.acks_frame not in unsafe]
    return {
        "packets": len(packets),
        "data_octets": sum(packet.length for packet in data),
        "lengths": _counted(data),
        "pure_acks": sum(packet.is_pure_ack for packet in back),
        "flagged": _counted([packet for packet in data if packet.is_flagged]),
        "out_of_sequence": _counted(late),
        "least_rtt": min(times, default=None),
    }


def _counted(packets: Sequence[Packet]) -> dict[str, int]:
    """Returns the numbers of packets by length."""
    return {str(length): count for length, count in Counter(packet.length for packet in packets).items()}


def _out_of_sequence(data: Sequence[Packet]) -> Iterator[Packet]:
    highest: dict[int, int] = {}
    for packet in data:
        last = highest.get(packet.stream)
        after = (packet.seq + packet.length) % 2**32
        if last is None or (packet.seq - last) % 2**32 < 2**31:
            highest[packet.stream] = after
            continue
        if (after - last) % 2**32 < 2**31:
            highest[packet.stream] = after
        yield packet
