"""A TCP transfer behind each header that `acklab inspect` opens.

Link types and tunnels by name, with the headers that they put around an IP packet.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

ETHERNET, IP = 1, 101
DATA_PACKETS = 8
PACKETS = 3 + 2 * DATA_PACKETS
"""A handshake, and each segment with an ACK."""
PAYLOAD = 100

Wrap = Callable[[bytes], bytes]


class Door(NamedTuple):
    """A kind of headers around an IP packet."""

    link_type: int
    wrap: Wrap


def ipv4(protocol: int, payload: bytes, identification: int = 1, fragment: int = 0x4000) -> bytes:
    """Returns an IPv4 packet between two hosts of documentation."""
    head = struct.pack(
        "!BBHHHBBH4s4s",
        0x45,
        0,
        20 + len(payload),
        identification,
        fragment,
        64,
        protocol,
        0,
        bytes([192, 0, 2, 1]),
        bytes([192, 0, 2, 2]),
    )
    total = sum(struct.unpack("!10H", head))
    check = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return head[:10] + struct.pack("!H", check) + head[12:] + payload


def ipv6(protocol: int, payload: bytes) -> bytes:
    """Returns an IPv6 packet between two hosts of documentation."""
    hosts = [bytes.fromhex(f"20010db8{host:024x}") for host in (1, 2)]
    return struct.pack("!IHBB", 6 << 28, len(payload), protocol, 64) + hosts[0] + hosts[1] + payload


def udp(port: int, payload: bytes) -> bytes:
    """Returns a UDP datagram to a port, in IPv4."""
    return ipv4(17, struct.pack("!4H", 50_000, port, 8 + len(payload), 0) + payload)


def segment(ports: tuple[int, int], seq: int, ack: int, flags: int, length: int = 0) -> bytes:
    """Returns a TCP segment without options."""
    return struct.pack("!HHIIBBHHH", *ports, seq, ack, 0x50, flags, 8192, 0, 0) + bytes(length)


def transfer(port: int, ip: Callable[[int, bytes], bytes] = ipv4) -> Iterator[bytes]:
    """Yields the packets of a download from this port.

    All packets have the addresses that `ip` gives them, so only ports distinguish the ends.
    """
    there, back = (40_000, port), (port, 40_000)
    yield ip(6, segment(there, 0, 0, 0x02))
    yield swapped(ip(6, segment(back, 0, 1, 0x12)))
    yield ip(6, segment(there, 1, 1, 0x10))
    for number in range(DATA_PACKETS):
        yield swapped(ip(6, segment(back, 1 + number * PAYLOAD, 1, 0x18, PAYLOAD)))
        yield ip(6, segment(there, 1, 1 + (number + 1) * PAYLOAD, 0x10))


def swapped(packet: bytes) -> bytes:
    """Returns the packet with its addresses swapped, which leaves the checksum right."""
    start, length = (12, 4) if packet[0] >> 4 == 4 else (8, 16)
    one, other = packet[start : start + length], packet[start + length : start + 2 * length]
    return packet[:start] + other + one + packet[start + 2 * length :]


def ether_type(packet: bytes) -> bytes:
    """Returns the EtherType of an IP packet."""
    return b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"


def ethernet(packet: bytes, before: bytes = b"") -> bytes:
    """Returns an Ethernet frame with an IP packet behind these tags."""
    return b"\0\x1b\x21\0\0\x02\0\x1b\x21\0\0\x01" + before + ether_type(packet) + packet


def snap(packet: bytes) -> bytes:
    """Returns an IP packet behind LLC and SNAP."""
    return b"\xaa\xaa\x03\0\0\0" + ether_type(packet) + packet


def dot11(body: bytes, flags: int = 0x01, sequence: int = 0, qos: bytes = b"", address_4: bytes = b"") -> bytes:
    """Returns an 802.11 data frame without its FCS."""
    station, access_point = b"\x02\0\0\0\0\x01", b"\x02\0\0\0\0\x02"
    head = bytes([0x88 if qos else 0x08, flags, 0, 0]) + access_point + station + access_point
    return head + struct.pack("<H", sequence << 4) + address_4 + qos + body


def with_fcs(frame: bytes) -> bytes:
    """Returns the frame with its FCS."""
    return frame + struct.pack("<I", zlib.crc32(frame))


def radiotap(frame: bytes, flags: int = 0) -> bytes:
    """Returns a radiotap header with flags: 0x10 for an FCS, 0x20 for a padded MAC header."""
    return struct.pack("<BBHIB", 0, 0, 9, 0x2, flags) + frame


def subframe(msdu: bytes) -> bytes:
    """Returns a subframe of an A-MSDU, padded to four bytes."""
    octets = b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01" + struct.pack("!H", len(msdu)) + msdu
    return octets + bytes(-len(octets) % 4)


def gre(flags: int, protocol: int, fields: bytes, payload: bytes) -> bytes:
    """Returns a packet of GRE in IPv4."""
    return ipv4(47, struct.pack("!HH", flags, protocol) + fields + payload)


def gtp(packet: bytes, flags: int = 0x30, optional: bytes = b"") -> bytes:
    """Returns a G-PDU of GTP-U."""
    return udp(2152, struct.pack("!BBHI", flags, 255, len(optional) + len(packet), 7) + optional + packet)


def _padded_bridge(packet: bytes) -> bytes:
    frame = ethernet(packet)
    return b"\xaa\xaa\x03\0\x80\xc2\0\x07\0\0" + frame


def _nflog(packet: bytes) -> bytes:
    payload = struct.pack("<HH", 4 + len(packet), 9) + packet
    return b"\x02\0\0\x01" + struct.pack("<HHI", 8, 10, 3) + payload + bytes(-len(payload) % 4)


DOORS = {
    "ethernet": Door(ETHERNET, ethernet),
    "vlan": Door(ETHERNET, lambda packet: ethernet(packet, b"\x88\xa8\0\x01\x91\0\0\x02\x81\0\0\x03")),
    "llc": Door(ETHERNET, lambda packet: ethernet(packet)[:12] + struct.pack("!H", 8 + len(packet)) + snap(packet)),
    "mpls": Door(ETHERNET, lambda packet: ethernet(packet)[:12] + b"\x88\x47\0\x01\0\x40\0\x02\x01\x40" + packet),
    "pseudowire": Door(ETHERNET, lambda packet: ethernet(packet)[:12] + b"\x88\x47\0\x02\x01\x40" + bytes(4) + ethernet(packet)),
    "pseudowire without control word": Door(
        ETHERNET, lambda packet: ethernet(packet)[:12] + b"\x88\x47\0\x02\x01\x40\x64" + ethernet(packet)[1:]
    ),
    "pppoe": Door(
        ETHERNET,
        lambda packet: ethernet(packet)[:12] + b"\x88\x64\x11\0\0\x07" + struct.pack("!HH", 2 + len(packet), 0x21) + packet,
    ),
    "backbone": Door(ETHERNET, lambda packet: ethernet(packet)[:12] + b"\x88\xe7\0\0\0\x09" + ethernet(packet)),
    "nsh": Door(ETHERNET, lambda packet: ethernet(packet)[:12] + b"\x89\x4f\x0f\xc2\x02\x01\0\0\x01\xff" + packet),
    "raw": Door(IP, lambda packet: packet),
    "null": Door(0, lambda packet: struct.pack("<I", 2) + packet),
    "loop": Door(108, lambda packet: struct.pack("!I", 2) + packet),
    "sll": Door(113, lambda packet: struct.pack("!HHHQ", 0, 1, 6, 0) + ether_type(packet) + packet),
    "sll2": Door(276, lambda packet: ether_type(packet) + struct.pack("!HIHBBQ", 0, 2, 1, 0, 6, 0) + packet),
    "ppp": Door(9, lambda packet: b"\xff\x03\0\x21" + packet),
    "ppp of ns-3": Door(9, lambda packet: b"\0\x21" + packet),
    "ppp in hdlc": Door(50, lambda packet: b"\xff\x03\0\x21" + packet),
    "pppd": Door(166, lambda packet: b"\x01\x03\0\x21" + packet),
    "cisco hdlc": Door(104, lambda packet: b"\x0f\0" + ether_type(packet) + packet),
    "frame relay": Door(107, lambda packet: b"\x18\x41\x03\xcc" + packet),
    "atm": Door(100, snap),
    "fddi": Door(10, lambda packet: b"\x50" + bytes(12) + snap(packet)),
    "bridged over atm": Door(100, _padded_bridge),
    "pflog": Door(117, lambda packet: b"\x3d\x02\0\0" + bytes(60) + packet),
    "enc": Door(109, lambda packet: struct.pack("<III", 2, 0, 0) + packet),
    "nflog": Door(239, _nflog),
    "dot11": Door(105, lambda packet: dot11(snap(packet))),
    "dot11 with qos": Door(105, lambda packet: dot11(snap(packet), qos=b"\x05\0")),
    "dot11 with ht control": Door(105, lambda packet: dot11(snap(packet), flags=0x81, qos=b"\0\0" + bytes(4))),
    "dot11 between access points": Door(105, lambda packet: dot11(snap(packet), flags=0x03, address_4=b"\x02\0\0\0\0\x04")),
    "radiotap": Door(127, lambda packet: radiotap(dot11(snap(packet)))),
    "radiotap with fcs": Door(127, lambda packet: radiotap(with_fcs(dot11(snap(packet))), 0x10)),
    "radiotap with padding": Door(127, lambda packet: radiotap(dot11(snap(packet), qos=b"\0\0\0\0"), 0x20)),
    "a-msdu": Door(127, lambda packet: radiotap(dot11(subframe(snap(packet)), qos=b"\x80\0"))),
    "prism": Door(119, lambda packet: struct.pack("<II", 0x44, 144) + bytes(136) + dot11(snap(packet))),
    "avs": Door(163, lambda packet: struct.pack("!II", 0x80211001, 64) + bytes(56) + dot11(snap(packet))),
    "ppi": Door(192, lambda packet: struct.pack("<BBHI", 0, 0, 8, 105) + dot11(snap(packet))),
    "ip in ip": Door(IP, lambda packet: ipv4(4, packet)),
    "ip in ipv6": Door(IP, lambda packet: ipv6(4, packet)),
    "gre": Door(IP, lambda packet: gre(0, 0x0800, b"", packet)),
    "gre with all fields": Door(IP, lambda packet: gre(0xB000, 0x0800, bytes(4) + struct.pack("!II", 7, 1), packet)),
    "bridged over gre": Door(IP, lambda packet: gre(0x2000, 0x6558, struct.pack("!I", 7), ethernet(packet))),
    "pptp": Door(IP, lambda packet: gre(0x3001, 0x880B, struct.pack("!HHI", 4 + len(packet), 1, 1), b"\xff\x03\0\x21" + packet)),
    "erspan i": Door(IP, lambda packet: gre(0, 0x88BE, b"", ethernet(packet))),
    "erspan ii": Door(IP, lambda packet: gre(0x1000, 0x88BE, bytes(4), b"\x10\x07\0\x01\0\0\0\0" + ethernet(packet))),
    "erspan iii": Door(IP, lambda packet: gre(0x1000, 0x22EB, bytes(4), b"\x20\x07\0\x01" + bytes(8) + ethernet(packet))),
    "etherip": Door(IP, lambda packet: ipv4(97, b"\x30\0" + ethernet(packet))),
    "vxlan": Door(IP, lambda packet: udp(4789, b"\x08\0\0\0\0\0\x07\0" + ethernet(packet))),
    "geneve": Door(IP, lambda packet: udp(6081, b"\x01\0\x65\x58\0\0\x07\0" + bytes(4) + ethernet(packet))),
    "gtp-u": Door(IP, gtp),
    "gtp-u of 5g": Door(IP, lambda packet: gtp(packet, 0x34, b"\0\0\0\x85\x01\x10\x09\0")),
    "l2tp": Door(IP, lambda packet: udp(1701, b"\0\x02\0\x01\0\x01\xff\x03\0\x21" + packet)),
}
UNKNOWN_TO_TSHARK = {"pseudowire without control word", "pppd"}
"""Encapsulations that tshark 4.0 does not decode.

It interprets the first address of the pseudowire as IPv6.
"""
