"""A capture has the same analysis in each format.

Pcap with microseconds or nanoseconds, pcapng, and either order of bytes.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import acklab
from acklab import inspection

_ENHANCED_PACKET = 6
_SECOND = 10**9
_IP = 101
"""The link type of raw IP packets, LINKTYPE_RAW."""


class _Packet(NamedTuple):
    nanoseconds: int
    data: bytes
    length: int


def _blocks(capture: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the types and bodies of the blocks of a pcapng file in little-endian order."""
    place = 0
    while place < len(capture):
        kind, length = struct.unpack_from("<II", capture, place)
        yield kind, capture[place + 8 : place + length - 4]
        place += length


def _packets(capture: Path) -> list[_Packet]:
    """Returns the packets of a pcapng file that acklab wrote, with times in nanoseconds, cut to
    microseconds.
    """
    packets = []
    for kind, body in _blocks(capture.read_bytes()):
        if kind == _ENHANCED_PACKET:
            _, high, low, present, length = struct.unpack_from("<5I", body)
            at = (high << 32 | low) // 1000 * 1000
            packets.append(_Packet(at, body[20 : 20 + present], length))
    return packets


def _pcap(packets: Sequence[_Packet], order: str, is_nano: bool) -> bytes:
    magic, unit = (0xA1B23C4D, 1) if is_nano else (0xA1B2C3D4, 1000)
    head = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, _IP)
    records = (
        struct.pack(f"{order}4I", at // _SECOND, at % _SECOND // unit, len(data), length) + data for at, data, length in packets
    )
    return head + b"".join(records)


def _pcapng(packets: Sequence[_Packet], order: str, is_nano: bool) -> bytes:
    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        length = struct.pack(f"{order}I", len(body) + 12)
        return struct.pack(f"{order}I", kind) + length + body + length

    section = block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))
    # Without the option if_tsresol, times are in microseconds.
    resolution = struct.pack(f"{order}HHB3xHH", 9, 1, 9, 0, 0) if is_nano else b""
    interface = block(1, struct.pack(f"{order}HHI", _IP, 0, 65535) + resolution)
    unit = 1 if is_nano else 1000
    packets_of = (
        block(
            _ENHANCED_PACKET,
            struct.pack(f"{order}5I", 0, at // unit >> 32, at // unit & 0xFFFFFFFF, len(data), length) + data,
        )
        for at, data, length in packets
    )
    return section + interface + b"".join(packets_of)


@pytest.fixture(scope="module")
def packets(tmp_path_factory: pytest.TempPathFactory) -> list[_Packet]:
    """Returns a lossy download, which has findings of each kind."""
    folder = tmp_path_factory.mktemp("capture")
    scenario = {
        "duration": "2s",
        "seed": 1,
        "link": [
            {
                "name": "wire",
                "from": "src",
                "to": "dst",
                "forward": {
                    "rate": "8Mbps",
                    "delay": "15ms",
                    "queue": {"discipline": "fifo", "limit": "30packets"},
                    "loss": {"model": "independent", "probability": 0.01},
                },
                "reverse": {"rate": "8Mbps", "delay": "15ms"},
            }
        ],
        "flow": [{"from": "src", "to": "dst", "preset": "linux", "congestion": "cubic"}],
        "capture": [{"point": "src", "file": "src.pcapng"}],
    }
    acklab.run(scenario, captures=folder)
    return _packets(folder / "src.pcapng")


def _report(path: Path, capture: bytes) -> dict[str, Any]:
    path.write_bytes(capture)
    found = inspection.inspect(path)
    return found.to_dict() | {"ways": found.ways}


@pytest.mark.parametrize("write", [_pcap, _pcapng])
@pytest.mark.parametrize("is_nano", [False, True])
@pytest.mark.parametrize("order", ["<", ">"])
def test_the_format_of_a_capture_changes_nothing(
    tmp_path: Path, packets: list[_Packet], write: Callable[[Sequence[_Packet], str, bool], bytes], is_nano: bool, order: str
) -> None:
    path = tmp_path / "capture"
    expected = _report(path, _pcap(packets, "<", False))
    assert expected["counts"]["packets"] == len(packets) > 1000
    assert expected["ways"][0]["losses"]["retransmitted"] > 0
    assert _report(path, write(packets, order, is_nano)) == expected
