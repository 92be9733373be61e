"""Frames whose octets are computed from their number.

`frames.py send SECONDS | receive SECONDS`: the far end computes each frame and compares all octets.
"""

import contextlib
import json
import random
import socket
import struct
import sys
import time
from collections.abc import Callable

MARK = b"acklab-chaos"
"""Prefix of the number of a frame."""
EAST_ADDRESS, WEST_ADDRESS = bytes.fromhex("020000000a01"), bytes.fromhex("020000000a02")
_RATE = 4000
"""Frames per second: the number that a Python program on a shared processor can send and
compare.
"""
_FLOWS = 16
_PACKET, _AUXDATA, _VLAN_VALID, _BUFFER = 263, 8, 1 << 4, 33
"""SOL_PACKET, PACKET_AUXDATA and TP_STATUS_VLAN_VALID of linux/if_packet.h, and SO_RCVBUFFORCE of
asm-generic/socket.h. The kernel removes the VLAN tag from a frame and reports it separately."""

KINDS = ("udp4", "tcp4", "udp6", "icmp", "vlan", "fragment", "malformed", "arp", "lldp", "unknown")


def _sum(octets: bytes) -> int:
    """Returns the Internet checksum (RFC 1071)."""
    octets += b"\0" * (len(octets) % 2)
    total: int = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _ipv4(protocol: int, payload: bytes, number: int, fragment: int = 0) -> bytes:
    addresses = socket.inet_aton("10.9.0.1") + socket.inet_aton("10.9.0.99")
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), number & 0xFFFF, fragment, 64, protocol, 0) + addresses
    return head[:10] + struct.pack("!H", _sum(head)) + head[12:] + payload


def _tcp(flow: int, number: int, payload: bytes) -> bytes:
    return (
        struct.pack("!HHIIBBHHH", 1024 + flow, 9, number * 1460 & 0xFFFFFFFF, number, 0x80, 0x18, 512, 0, 0)
        + bytes([1] * 12)
        + payload
    )


def frame(number: int) -> tuple[str, bytes]:
    """Returns the kind and the octets of a frame."""
    chance = random.Random(number)
    kind, flow = KINDS[number % len(KINDS)], number // len(KINDS) % _FLOWS
    body = MARK + struct.pack("!Q", number) + chance.randbytes(chance.choice([0, 1, 26, 40, 500, 1200, 1380]))
    udp = struct.pack("!HHHH", 1024 + flow, 9, 8 + len(body), 0) + body
    made: dict[str, Callable[[], tuple[int, bytes]]] = {
        "udp4": lambda: (0x0800, _ipv4(17, udp, number)),
        "tcp4": lambda: (0x0800, _ipv4(6, _tcp(flow, number, body), number)),
        "udp6": lambda: (
            0x86DD,
            struct.pack("!IHBB", 0x60000000 | flow, len(udp), 17, 64) + bytes(15) + b"\1" + bytes(15) + b"\2" + udp,
        ),
        "icmp": lambda: (0x0800, _ipv4(1, b"\x08\0" + struct.pack("!H", _sum(b"\x08\0\0\0" + body)) + body, number)),
        "vlan": lambda: (0x8100, struct.pack("!HH", flow + 1, 0x0800) + _ipv4(17, udp, number)),
        # The second fragment of a datagram, which has no UDP header.
        "fragment": lambda: (0x0800, _ipv4(17, body + bytes(-len(body) % 8), number, 0x2000 | 185)),
        "malformed": lambda: (0x0800, bytes([0x40 | chance.randrange(5)]) + _ipv4(17, udp, number)[1:]),
        "arp": lambda: (0x0806, struct.pack("!HHBBH", 1, 0x0800, 6, 4, 2) + bytes(20) + body),
        "lldp": lambda: (0x88CC, body),
        "unknown": lambda: (0x88B5, body),
    }
    ether, packet = made[kind]()
    return kind, WEST_ADDRESS + EAST_ADDRESS + struct.pack("!H", ether) + packet


def send(seconds: float) -> None:
    """Sends frames at a rate, and prints their number."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind(("lan", 0))
        began, number = time.monotonic(), 0
        while (now := time.monotonic() - began) < seconds:
            if number >= now * _RATE:
                time.sleep(0.001)
                continue
            with contextlib.suppress(OSError):
                sender.send(frame(number)[1])
            number += 1
    print(number)


def receive(seconds: float) -> None:
    """Compares received frames with the sent frames, and prints the counts."""
    found: dict[str, int] = dict.fromkeys(("right", "wrong", "twice", "overtaken", "missed"), 0)
    seen: set[int] = set()
    last: dict[tuple[str, int], int] = {}
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as receiver:
        receiver.setsockopt(socket.SOL_SOCKET, _BUFFER, 1 << 28)
        receiver.setsockopt(_PACKET, _AUXDATA, 1)
        receiver.bind(("lan", 3))
        receiver.settimeout(0.5)
        print("listening", flush=True)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                octets, more, _, _ = receiver.recvmsg(1 << 16, 1 << 10)
            except TimeoutError:
                continue
            place = octets.find(MARK)
            if place < 0:
                continue
            for level, sort, data in more:
                status, _, _, _, _, tag = (
                    struct.unpack_from("=IIIHHH", data) if (level, sort) == (_PACKET, _AUXDATA) else (0,) * 6
                )
                if status & _VLAN_VALID:
                    octets = octets[:12] + struct.pack("!HH", 0x8100, tag) + octets[12:]
                    place += 4
            number = struct.unpack_from("!Q", octets, place + len(MARK))[0] if place + len(MARK) + 8 <= len(octets) else -1
            kind, right = frame(number) if 0 <= number < 1 << 40 else ("", b"")
            if octets != right:
                found["wrong"] += 1
            elif number in seen:
                found["twice"] += 1
            else:
                found["right"] += 1
                seen.add(number)
                flow = kind, number // len(KINDS) % _FLOWS
                found["overtaken"] += number < last.get(flow, -1)
                last[flow] = max(number, last.get(flow, -1))
        # PACKET_STATISTICS of linux/if_packet.h: the number of frames that this program was too
        # slow to read.
        found["missed"] = struct.unpack("II", receiver.getsockopt(_PACKET, 6, 8))[1]
    print(json.dumps(found | {"octets": sum(len(frame(number)[1]) for number in seen)}))


if __name__ == "__main__":
    {"send": send, "receive": receive}[sys.argv[1]](float(sys.argv[2]))
