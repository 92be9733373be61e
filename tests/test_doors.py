"""Captures of any link type and tunnel: connections are found, and unopened protocols are named."""

import gzip
import shutil
import struct
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

import acklab
import doors
from acklab import inspection
from commands import acklab as command
from doors import DOORS, ETHERNET, IP, PACKETS

FIRST_PORT = 5001
"""First port. Each encapsulation has a separate port."""


def pcap(
    frames: Iterable[bytes], link_type: int = IP, *, fraction: int = 0, snap: int = 65535, length: int | None = None
) -> bytes:
    """Returns a file with a packet per millisecond, and this many microseconds more."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, link_type)
    records = (
        struct.pack("<4I", 1000, 1000 * number + fraction, len(frame), len(frame) if length is None else length) + frame
        for number, frame in enumerate(frames)
    )
    return head + b"".join(records)


def block(kind: int, body: bytes) -> bytes:
    """Returns a block of pcapng."""
    body += bytes(-len(body) % 4)
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


SECTION = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(link_type: int, options: bytes = b"") -> bytes:
    """Returns a block with an interface."""
    return block(1, struct.pack("<HHI", link_type, 0, 0) + options)


def enhanced(number: int, micros: int, frame: bytes, options: bytes = b"") -> bytes:
    """Returns a block with a packet of an interface."""
    octets = frame + bytes(-len(frame) % 4)
    return block(6, struct.pack("<5I", number, micros >> 32, micros & 0xFFFFFFFF, len(frame), len(frame)) + octets + options)


@pytest.fixture(scope="module")
def every_door(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a file with a transfer behind each header, each on its own port and interface."""
    octets = SECTION + b"".join(interface(door.link_type) for door in DOORS.values())
    for number, door in enumerate(DOORS.values()):
        for place, packet in enumerate(doors.transfer(FIRST_PORT + number)):
            octets += enhanced(number, 1000 * (PACKETS * number + place), door.wrap(packet))
    path = tmp_path_factory.mktemp("doors") / "doors.pcapng"
    path.write_bytes(octets)
    return path


def _by_port(found: inspection.Inspection) -> dict[int, int]:
    return {int(one["ends"][1].rsplit(":", 1)[1]): one["packets"] for one in found.connections}


def test_a_transfer_is_found_behind_each_header(every_door):
    found = inspection.inspect(every_door)
    named = {name: _by_port(found).get(FIRST_PORT + number) for number, name in enumerate(DOORS)}
    assert named == dict.fromkeys(DOORS, PACKETS)
    assert found.counts["closed"] == found.counts["cut"] == found.counts["damaged"] == {}
    for way in found.ways:
        assert (way["data_octets"], way["losses"]["retransmitted"]) == (doors.DATA_PACKETS * doors.PAYLOAD, 0)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
def test_tshark_finds_the_same_transfers(every_door):
    words = ["tshark", "-n", "-r", str(every_door), "-q", "-z", "conv,tcp"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = {}
    for line in shown.splitlines():
        if "<->" in line:
            ends, counts = line.split("<->")
            there, *words = counts.split()
            ports = {int(ends.strip().rsplit(":", 1)[1]), int(there.rsplit(":", 1)[1])} - {40_000}
            # Frames, bytes and unit of bytes: for one direction, for the other, and for both.
            found[ports.pop()] = int(words[6])
    known = {FIRST_PORT + number for number, name in enumerate(DOORS) if name not in doors.UNKNOWN_TO_TSHARK}
    assert {port: found.get(port) for port in known} == dict.fromkeys(known, PACKETS)


@pytest.mark.parametrize("ip", [doors.ipv4, doors.ipv6])
def test_each_datagram_of_fragments_counts_once(tmp_path, ip):
    """Each segment arrives in two fragments, the second fragment first.

    It begins after 24 bytes of the IP payload.
    """
    frames = []
    for number, packet in enumerate(doors.transfer(5001, ip)):
        payload = packet[20:] if ip is doors.ipv4 else packet[40:]
        if len(payload) <= 24:
            frames.append(packet)
            continue
        for start, part, more in ((24, payload[24:], 0), (0, payload[:24], 1)):
            if ip is doors.ipv4:
                fragment = doors.ipv4(6, part, identification=number, fragment=start // 8 | more << 13)
            else:
                fragment = doors.ipv6(44, struct.pack("!BBHI", 6, 0, start | more, number) + part)
            frames.append(doors.swapped(fragment))
    (tmp_path / "fragments.pcap").write_bytes(pcap(frames))
    found = inspection.inspect(tmp_path / "fragments.pcap")
    (connection,) = found.connections
    assert connection["packets"] == PACKETS
    assert (found.ways[0]["data_octets"], found.counts["closed"]) == (doors.DATA_PACKETS * doors.PAYLOAD, {})


def test_a_frame_that_is_on_the_air_again_counts_once(tmp_path):
    """Each frame is sent twice, the second time with the retry bit and the same sequence number."""
    packets = enumerate(doors.transfer(5001))
    frames = [
        doors.radiotap(doors.dot11(doors.snap(packet), flags=0x01 | retry, sequence=number, qos=b"\0\0"))
        for number, packet in packets
        for retry in (0, 0x08)
    ]
    (tmp_path / "air.pcap").write_bytes(pcap(frames, 127))
    found = inspection.inspect(tmp_path / "air.pcap")
    assert (found.connections[0]["packets"], found.counts["retried"]) == (PACKETS, PACKETS)
    assert found.ways[0]["losses"]["retransmitted"] == 0
    shown = command("inspect", tmp_path / "air.pcap")
    assert f"note: {PACKETS} frames of 802.11 were on the air more than once: each is counted once" in shown.stderr


def test_each_msdu_of_an_aggregate_counts(tmp_path):
    """All segments of the transfer are in one A-MSDU, and their ACKs in another."""
    packets = list(doors.transfer(5001))
    aggregates = [packets[:3], packets[3::2], packets[4::2]]
    frames = [
        doors.radiotap(
            doors.dot11(b"".join(doors.subframe(doors.snap(packet)) for packet in aggregate), qos=b"\x80\0", sequence=number)
        )
        for number, aggregate in enumerate(aggregates)
    ]
    (tmp_path / "aggregates.pcap").write_bytes(pcap(frames, 127))
    found = inspection.inspect(tmp_path / "aggregates.pcap")
    assert (found.counts["packets"], found.connections[0]["packets"]) == (3, PACKETS)


def _zstd(octets: bytes) -> bytes:
    """Returns a frame of raw blocks (RFC 8878, §3.1.1).

    The frame has a window of 1 MiB and no content size.
    """
    parts = [octets[start : start + 1000] for start in range(0, len(octets), 1000)]
    blocks = (struct.pack("<I", len(part) << 3 | (number == len(parts) - 1))[:3] + part for number, part in enumerate(parts))
    return b"\x28\xb5\x2f\xfd\x00\x50" + b"".join(blocks)


@pytest.mark.parametrize("compress", [gzip.compress, _zstd])
def test_a_compressed_file_is_read_by_what_it_begins_with(tmp_path, compress):
    whole = compress(pcap(doors.transfer(5001)))
    (tmp_path / "capture").write_bytes(whole)
    assert _by_port(inspection.inspect(tmp_path / "capture")) == {5001: PACKETS}
    (tmp_path / "capture").write_bytes(whole[:-30])
    found = inspection.inspect(tmp_path / "capture")
    assert found.cut is not None
    assert "the file ends in the midst of a packet" in found.cut


def test_odd_pcap_files_are_read(tmp_path):
    path = tmp_path / "odd.pcap"
    # A million microseconds are a second; packets are longer than the snap length of the file.
    path.write_bytes(pcap(doors.transfer(5001), fraction=1_000_000, snap=40))
    found = inspection.inspect(path)
    assert (found.start, _by_port(found)) == (1001, {5001: PACKETS})
    # The link type announces an FCS of four bytes; a packet without a length has that of its frame.
    frames = [doors.with_fcs(doors.ethernet(packet[:2] + bytes(2) + packet[4:])) for packet in doors.transfer(5001)]
    path.write_bytes(pcap(frames, 0x2400_0000 | ETHERNET))
    assert inspection.inspect(path).ways[0]["data_octets"] == doors.DATA_PACKETS * doors.PAYLOAD
    # Some writers set the length on the wire to zero.
    path.write_bytes(pcap(doors.transfer(5001), length=0))
    assert inspection.inspect(path).ways[0]["data_octets"] == doors.DATA_PACKETS * doors.PAYLOAD


def test_odd_pcapng_files_are_read(tmp_path):
    """Unknown blocks and options, lengths that an option cannot have, several sections, an offset
    of the clock, and an interface without description.
    """
    odd = struct.pack("<HHI", 9, 3, 0x060606) + struct.pack("<HHQ", 14, 8, 1000) + struct.pack("<HHI", 0x7FFF, 4, 1)
    packets = list(doors.transfer(5001))
    octets = b""
    for part in (packets[:5], packets[5:]):
        octets += SECTION + block(0x0BAD, b"unknown") + interface(IP, odd)
        octets += b"".join(
            enhanced(0, 1000 * packets.index(packet), packet, struct.pack("<HHQ", 4, 8, 0)) + block(5, bytes(12))
            for packet in part
        )
    octets += enhanced(7, 0, packets[0])
    (tmp_path / "odd.pcapng").write_bytes(octets)
    found = inspection.inspect(tmp_path / "odd.pcapng")
    assert (found.cut, found.start, _by_port(found)) == (None, 1000, {5001: PACKETS})
    assert found.counts["closed"] == {"packets of an undefined interface": 1}


def _gtp_c(count: int) -> Sequence[bytes]:
    return [doors.udp(2123, b"\x48\x01\0\x04\0\0\0\0")] * count


@pytest.mark.parametrize(
    ("octets", "expected"),
    [
        (
            pcap(_gtp_c(1053)),
            ["found 1,053 packets and no connection with data", "note: 1,053 packets of GTP-C were not decoded"],
        ),
        (pcap([*_gtp_c(2), doors.ipv4(1, bytes(8))]), ["note: 2 packets of GTP-C and 1 of ICMP were not decoded"]),
        (pcap([bytes(64)], 220), ["note: 1 packet of USB was not decoded"]),
        (pcap([bytes(64)] * 2, 65000), ["note: 2 packets of link type 65000 were not decoded"]),
        (
            pcap([doors.dot11(bytes(40), flags=0x41)] * 20, 105),
            ["note: 20 packets of 802.11, encrypted were not decoded"],
        ),
        # The snap length cut a TCP header of 20 bytes, and an Ethernet header, after 10 bytes.
        (
            pcap([packet[:30] for packet in doors.transfer(5001)], length=140),
            [f"note: the snap length cut headers: {PACKETS} packets end within the TCP header"],
        ),
        (pcap([bytes(10)], ETHERNET, length=60), ["note: the snap length cut headers: 1 packet ends within the Ethernet header"]),
        (pcap([b"\x45\0"]), ["note: 1 packet has a damaged IPv4 header"]),
        (pcap([doors.ipv4(6, bytes(24), fragment=0x2000)]), ["note: 1 packet of incomplete IP fragments was not decoded"]),
        (pcap(list(doors.transfer(5001))[:3]), ["found 3 packets and 1 connection without data, expected data over TCP or QUIC"]),
    ],
)
def test_a_file_without_a_connection_names_what_it_holds(tmp_path, octets, expected):
    (tmp_path / "capture").write_bytes(octets)
    done = command("inspect", tmp_path / "capture")
    assert (done.returncode, done.stdout) == (0, "")
    for sentence in expected:
        assert sentence in done.stderr


def test_cut_options_are_counted_and_the_rest_is_followed(tmp_path):
    """Of the 12 bytes of options in a header, four were captured."""
    options = b"\x01\x01\x08\x0a" + bytes(8)
    frames = []
    for packet in doors.transfer(5001):
        segment = packet[20:40]
        with_options = (
            packet[:3] + bytes([packet[3] + 12]) + packet[4:20] + segment[:12] + b"\x80" + segment[13:] + options + packet[40:]
        )
        frames.append(with_options[:44])
    (tmp_path / "cut.pcap").write_bytes(pcap(frames, length=152))
    found = inspection.inspect(tmp_path / "cut.pcap")
    assert found.counts["cut"] == {"TCP options": PACKETS}
    assert _by_port(found) == {5001: PACKETS}
    assert found.ways[0]["data_octets"] == doors.DATA_PACKETS * doors.PAYLOAD


def test_a_compressed_log_is_read(tmp_path):
    """A log may be read twice, each time from its start."""
    flow = {"from": "src", "to": "dst", "transport": "quic"}
    link = {"name": "wire", "from": "src", "to": "dst", "forward": {"rate": "8Mbps", "delay": "5ms"}, "reverse": {"delay": "5ms"}}
    acklab.run({"duration": "500ms", "seed": 1, "link": [link], "flow": [flow]}, qlog=tmp_path)
    log = next(tmp_path.glob("*_client.sqlog"))
    expected = inspection.inspect(log)
    for name, compress in (("gz", gzip.compress), ("zst", _zstd)):
        path = tmp_path / f"log.{name}"
        path.write_bytes(compress(log.read_bytes()))
        assert inspection.inspect(path).ways == expected.ways
