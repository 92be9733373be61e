"""Measures the kernel's TCP on an emulated path, as a reference for acklab's Linux preset.

    python3.11 emulate.py --return {plain,gate,filter,drop-tail} [--congestion reno]
                          [--seconds 15] [--delay 7.5] [--out PREFIX]
    python3.11 emulate.py --mark-above 10 --set tcp_ecn=1 [--congestion reno]

Requires root. Creates two network namespaces with a TUN device in each. This process is between
them:

    10.9.0.1 (sender)  --- 16 Mbps, FIFO of 20 waiting + 1 in service, --delay --->  10.9.0.2
    10.9.0.1  <--- --delay after nothing, a gate, a 64 kbit/s ACK filter or FIFO ---  (receiver)

It prints one JSON object; with --out it also writes PREFIX.csv (TCP_INFO of the sender),
PREFIX.snd.pcap and PREFIX.rcv.pcap (raw IP, headers only, as seen at either TUN) and
PREFIX.drops.csv.
"""

import argparse
import contextlib
import ctypes
import fcntl
import gc
import heapq
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SENDER, RECEIVER, PORT = "10.9.0.1", "10.9.0.2", 5001
MS = 1_000_000
CE = 3
SNAP = 120  # The longest IP and TCP headers together.

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
PR_SET_TIMERSLACK = 29
TCP_CONGESTION, TCP_INFO = 13, 11

libc = ctypes.CDLL(None, use_errno=True)


# ---- The path
# --------------------------------------------------------------------------------------------------


class Plain:
    """Propagation only."""

    def offer(self, now: int, packet: bytearray) -> int | None:
        """Returns the arrival time, because the packet does not wait."""
        return now


class Serialised:
    """A FIFO in front of a server. It computes each departure on arrival.

    A packet waits if its service begins later than now. An ECN-capable packet is marked CE if more
    than `mark_above` packets wait at its arrival.
    """

    def __init__(self, bits_per_second: int, limit: int, mark_above: int | None = None) -> None:
        self.bits_per_second, self.limit, self.mark_above = bits_per_second, limit, mark_above
        self.starts: deque[int] = deque()
        self.marked = 0
        self.free_at = 0

    def offer(self, now: int, packet: bytearray) -> int | None:
        """Returns the departure time of the last bit, or None for a drop."""
        while self.starts and self.starts[0] <= now:
            self.starts.popleft()
        if len(self.starts) >= self.limit:
            return None
        if self.mark_above is not None and len(self.starts) > self.mark_above and packet[1] & CE in (1, 2):
            mark(packet)
            self.marked += 1
        start = max(now, self.free_at)
        if start > now:
            self.starts.append(start)
        self.free_at = start + len(packet) * 8 * 1_000_000_000 // self.bits_per_second
        return self.free_at


def mark(packet: bytearray) -> None:
    """Sets CE in an IPv4 header, and updates its checksum (RFC 1071)."""
    packet[1] |= CE
    packet[10:12] = bytes(2)
    total = sum(struct.unpack_from(f"!{(packet[0] & 15) * 2}H", packet))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into("!H", packet, 10, ~total & 0xFFFF)


class Gate:
    """A gate that releases at most `quota` packets at each multiple of `interval`."""

    def __init__(self, interval: int, quota: int) -> None:
        self.interval, self.quota = interval, quota
        self.slot, self.used = 0, 0

    def offer(self, now: int, packet: bytearray) -> int | None:
        """Returns the time at which the packet passes."""
        slot = max(-(-now // self.interval) * self.interval, self.slot)
        if slot == self.slot and self.used >= self.quota:
            slot += self.interval
        self.used = self.used + 1 if slot == self.slot else 1
        self.slot = slot
        return slot


def pure_ack(packet: bytearray) -> tuple[int, bool] | None:
    """Returns (acknowledgment number, has SACK) of a pure ACK, else None."""
    ip_length = (packet[0] & 15) * 4
    if packet[9] != 6:
        return None
    tcp_length = (packet[ip_length + 12] >> 4) * 4
    # Only the ACK flag, and possibly ECN's flags, are set.
    if len(packet) != ip_length + tcp_length or packet[ip_length + 13] & 0x3F != 0x10:
        return None
    ack = struct.unpack_from("!I", packet, ip_length + 8)[0]
    at, end = ip_length + 20, ip_length + tcp_length
    while at < end and packet[at] != 0:
        if packet[at] == 5:
            return ack, True
        at += 1 if packet[at] == 1 else packet[at + 1]
    return ack, False


@dataclass
class Waiting:
    """A packet in the ACK filter.

    For a pure ACK, also has the acknowledgment number, and whether it equals the previous number.
    """

    packet: bytearray
    ack: tuple[int, bool] | None
    duplicate: bool


class AckFilter:
    """A server with a queue in which a new pure ACK overwrites an older one in its position.

    `keeps` selects older ACKs that are not overwritten. "sack": ACKs with SACK blocks or with the
    same number, as in acklab's filter. "equal": ACKs with the same number. "nothing": no ACKs.
    """

    def __init__(self, bits_per_second: int, keeps: str) -> None:
        self.bits_per_second, self.keeps = bits_per_second, keeps
        self.waiting: deque[Waiting] = deque()
        self.free_at = 0
        self.filtered = 0

    def offer(self, now: int, packet: bytearray) -> int | None:
        """Queues the packet, or replaces an older ACK. `take` returns the departure time."""
        newer, duplicate = pure_ack(packet), False
        if not self.waiting:
            self.free_at = max(self.free_at, now)
        last = next((entry for entry in reversed(self.waiting) if entry.ack), None) if newer else None
        if last and last.ack and newer:
            older = last.ack
            duplicate = newer[0] == older[0]
            after = 0 < (newer[0] - older[0]) & 0xFFFFFFFF < 1 << 31
            keep = not after or (self.keeps == "sack" and (older[1] or last.duplicate))
            if self.keeps == "nothing" or not keep:
                last.packet, last.ack = packet, newer
                self.filtered += 1
                return None
        self.waiting.append(Waiting(packet, newer, duplicate))
        return None

    def due(self) -> int | None:
        """Returns the time at which the service of the head begins."""
        return self.free_at if self.waiting else None

    def take(self) -> tuple[int, bytearray]:
        """Removes the head. Returns the departure time of its last bit, and the packet."""
        packet = self.waiting.popleft().packet
        self.free_at += len(packet) * 8 * 1_000_000_000 // self.bits_per_second
        return self.free_at, packet


Reverse = Plain | Gate | AckFilter | Serialised
Seen = list[tuple[int, bytes, int]]
"""Packets at a TUN device: time, first bytes and length of each."""
Parsed = tuple[bool, int, int, int]


class Emulator:
    """Carries packets between two TUN devices until it is stopped."""

    def __init__(self, tuns: list[int], forward: Serialised, reverse: Reverse, delay: int) -> None:
        self.tuns, self.delay = tuns, delay
        self.forward, self.reverse = forward, reverse
        self.flying: list[tuple[int, int, int, bytearray]] = []  # (deadline, number, side, packet)
        self.number = 0
        self.lateness: list[int] = []
        self.drops: list[tuple[int, bytes]] = []
        self.seen: tuple[Seen, Seen] = ([], [])  # By side.

    def note(self, side: int, now: int, packet: bytearray) -> None:
        """Records a packet that passes the TUN device of this side."""
        self.seen[side].append((now, bytes(packet[:SNAP]), len(packet)))

    def launch(self, left: int, side: int, packet: bytearray) -> None:
        """Propagates a packet to this side. The packet left its queue at the time `left`."""
        self.number += 1
        heapq.heappush(self.flying, (left + self.delay, self.number, side, packet))

    def next_deadline(self) -> int | None:
        """Returns the time of the next event."""
        times = [self.flying[0][0]] if self.flying else []
        if isinstance(self.reverse, AckFilter) and (start := self.reverse.due()) is not None:
            times.append(start)
        return min(times, default=None)

    def advance(self, now: int) -> None:
        """Processes all events up to `now`, in order."""
        while (deadline := self.next_deadline()) is not None and deadline <= now:
            if isinstance(self.reverse, AckFilter) and self.reverse.due() == deadline:
                left, packet = self.reverse.take()
                self.launch(left, 0, packet)
                continue
            _, _, side, packet = heapq.heappop(self.flying)
            os.write(self.tuns[side], packet)
            now = time.monotonic_ns()
            self.note(side, now, packet)
            self.lateness.append(now - deadline)

    def arrive(self, side: int) -> None:
        """Reads and queues the packets that this side sent."""
        while True:
            try:
                packet = bytearray(os.read(self.tuns[side], 65536))
            except BlockingIOError:
                return
            if packet[0] >> 4 != 4:
                continue  # Other packets are ignored, such as IPv6 neighbour discovery.
            now = time.monotonic_ns()
            self.advance(now)
            self.note(side, now, packet)
            left = (self.forward if side == 0 else self.reverse).offer(now, packet)
            if left is not None:
                self.launch(left, 1 - side, packet)
            elif side == 0:
                self.drops.append((now, bytes(packet[:SNAP])))

    def run(self, stop_fd: int) -> None:
        """Carries packets until `stop_fd` is readable."""
        # select is used, not epoll, because its timeout has a resolution of microseconds.
        watched = [*self.tuns, stop_fd]
        while True:
            deadline = self.next_deadline()
            wait = None if deadline is None else max(0, deadline - time.monotonic_ns()) / 1e9
            ready, _, _ = select.select(watched, [], [], wait)
            self.advance(time.monotonic_ns())
            for side in (0, 1):
                if self.tuns[side] in ready:
                    self.arrive(side)
            if stop_fd in ready:
                return


# ---- Namespaces and ends
# --------------------------------------------------------------------------------------------------


def first_in_line(priority: int) -> None:
    """Requests real-time scheduling, so that packets are not late on a busy machine."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


def run_command(*words: str) -> None:
    """Runs a command that must succeed."""
    subprocess.run(words, check=True)


def enter_namespace(name: str) -> None:
    """Moves this thread into a network namespace."""
    with open(f"/run/netns/{name}") as file:
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"setns {name}")


def in_child(namespace: str, function: Callable[..., None], *arguments: Any) -> int:
    """Runs a function in a separate process inside a namespace."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        # The priority is above the emulator's. If a thread is interrupted while it holds the lock
        # of the socket, ACKs are delayed.
        first_in_line(11)
        enter_namespace(namespace)
        function(*arguments)
        status = 0
    except Exception as error:  # A child must never return into the parent's code.
        print(f"{function.__name__}: {error!r}", file=sys.stderr)
    finally:
        os._exit(status)


def open_tun(namespace: str, address: str, gso_max_segs: int) -> int:
    """Opens a TUN device in a namespace. Its descriptor works in all namespaces."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    enter_namespace(namespace)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"lab0", IFF_TUN | IFF_NO_PI))
    libc.setns(home, CLONE_NEWNET)
    os.close(home)
    inside = ("ip", "-n", namespace)
    run_command(*inside, "address", "add", f"{address}/24", "dev", "lab0")
    # Without a vnet header a TUN device offers no offloads. The kernel's TCP would still build
    # large segments, to be split above the device. With at most one segment, TCP also counts single
    # packets.
    run_command(*inside, "link", "set", "lab0", "mtu", "1500", "txqueuelen", "10000", "up")
    if gso_max_segs:
        run_command(*inside, "link", "set", "lab0", "gso_max_segs", str(gso_max_segs))
    return tun


INFO_FIELDS = [
    "rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets", "last_data_sent", "last_ack_sent",
    "last_data_recv", "last_ack_recv", "pmtu", "rcv_ssthresh", "rtt", "rttvar", "ssthresh", "cwnd", "advmss", "reordering",
    "rcv_rtt", "rcv_space", "total_retrans",
]  # fmt: skip


def tcp_info(connection: socket.socket) -> dict[str, int]:
    """Returns the recorded fields of TCP_INFO."""
    raw = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 256)
    info = dict(zip(INFO_FIELDS, struct.unpack_from(f"{len(INFO_FIELDS)}I", raw, 8), strict=True))
    info["ca_state"], info["backoff"] = raw[1], raw[4]
    info["delivered"] = struct.unpack_from("I", raw, 192)[0]
    return info


def netstat() -> dict[str, int]:
    """Returns the counters of this namespace."""
    counters: dict[str, int] = {}
    for path in ("/proc/net/netstat", "/proc/net/snmp"):
        with open(path) as file:
            lines = file.read().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            counters.update(zip(names.split()[1:], map(int, values.split()[1:]), strict=True))
    return counters


def send(options: argparse.Namespace, report: int) -> None:
    """Writes without pause until the end, and reads TCP_INFO every 2 ms."""
    connection = socket.socket()
    # Set per socket, because a namespace cannot use a restricted algorithm as its default.
    connection.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, options.congestion.encode())
    connection.connect((RECEIVER, PORT))
    connection.setblocking(False)
    chunk, rows = bytes(1 << 18), []
    begin = time.monotonic_ns()
    end, look = begin + int(options.seconds * 1e9), begin
    while (now := time.monotonic_ns()) < end:
        if now >= look:
            rows.append((now, tcp_info(connection)))
            look += 2 * MS * (1 + (now - look) // (2 * MS))
        _, writable, _ = select.select([], [connection], [], max(0, min(look, end) - now) / 1e9)
        with contextlib.suppress(BlockingIOError):
            # Writes until the buffer is full, because the socket becomes writable again only when a
            # third of the buffer is free.
            while writable:
                connection.send(chunk)
    counters, info = netstat(), tcp_info(connection)
    if options.out:
        with open(f"{options.out}.csv", "w") as file:
            file.write("time_ns," + ",".join(rows[0][1]) + "\n")
            file.writelines(f"{at}," + ",".join(map(str, row.values())) + "\n" for at, row in rows)
    mean = sum(row["rtt"] for _, row in rows) / len(rows) / 1000
    with os.fdopen(report, "w") as file:
        json.dump({"counters": counters, "info": info, "mean_srtt_ms": mean, "begin": begin, "end": end}, file)
    os._exit(0)  # Data that still wait in the socket are not sent.


def receive(report: int) -> None:
    """Accepts one connection and reads all its data."""
    with socket.create_server((RECEIVER, PORT)) as server:
        os.write(report, b"!")
        connection, _ = server.accept()
        buffer = bytearray(1 << 20)
        # The received data are discarded. Reading only keeps the receive window open; the captures
        # show the progress.
        while connection.recv_into(buffer):
            pass


# ---- What came of it
# --------------------------------------------------------------------------------------------------


def parse(head: bytes, length: int) -> Parsed | None:
    """Returns (is data, sequence number, payload, acknowledgment number) of a packet, else None.

    The packet is a data packet of the sender, or a packet of the receiver.
    """
    ip_length = (head[0] & 15) * 4
    if head[9] != 6:
        return None
    seq, ack = struct.unpack_from("!II", head, ip_length + 4)
    payload = length - ip_length - (head[ip_length + 12] >> 4) * 4
    # The sender's pure ACK of the handshake is excluded.
    return (payload > 0, seq, payload, ack) if payload > 0 or head[12:16] == socket.inet_aton(RECEIVER) else None


def round_trips(seen: Seen) -> list[int]:
    """Returns the age of the oldest newly acknowledged segment for each advancing ACK.

    Retransmitted segments are excluded (Karn).
    """
    sent: dict[int, int | None] = {}
    samples: list[int] = []
    order: deque[int] = deque()
    for at, head, length in seen:
        parsed = parse(head, length)
        if parsed is None:
            continue
        is_data, seq, _, ack = parsed
        if is_data:
            if seq in sent:
                sent[seq] = None
            else:
                sent[seq] = at
                order.append(seq)
        elif order:
            first = True
            while order and 0 < (ack - order[0]) & 0xFFFFFFFF < 1 << 31:
                began = sent.pop(order.popleft())
                if first and began is not None:
                    samples.append(at - began)
                first = False
    return samples


def write_pcap(path: str, seen: Seen) -> None:
    """Writes a capture of raw IP."""
    with open(path, "wb") as file:
        # Nanoseconds, LINKTYPE_RAW.
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, SNAP, 101))
        for at, head, length in seen:
            file.write(struct.pack("<IIII", at // 1_000_000_000, at % 1_000_000_000, len(head), length) + head)


def summarise(options: argparse.Namespace, emulator: Emulator, sender: dict[str, Any], begin: int, end: int) -> dict[str, Any]:
    """Returns the object to print."""
    within = [[row for row in seen if begin <= row[0] <= end] for seen in emulator.seen]
    parsed = [[parsed for _, head, length in seen if (parsed := parse(head, length))] for seen in within]
    data_sent = [row for row in parsed[0] if row[0]]
    retransmitted = len(data_sent) - len({row[1] for row in data_sent})
    # The highest acknowledged byte. 15 s of 16 Mbps are far below 2^31 bytes, so numbers do not
    # wrap.
    first = next((row[1] for row in data_sent), 0)
    goodput = max((value for row in parsed[1] if not row[0] and (value := (row[3] - first) & 0xFFFFFFFF) < 1 << 31), default=0)
    samples = round_trips(within[0])
    late = sorted(emulator.lateness)
    counters = sender["counters"]
    picked = [
        "TCPSackRecovery", "TCPTimeouts", "TCPLossProbes", "TCPLossProbeRecovery", "TCPLostRetransmit", "TCPFastRetrans",
        "TCPSlowStartRetrans", "TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo", "TCPDSACKRecv",
        "TCPSACKReorder", "TCPSackFailures", "TCPSpuriousRtxHostQueues", "TCPSpuriousRTOs", "RetransSegs",
    ]  # fmt: skip
    return {
        "kernel": os.uname().release,
        "return": options.path,
        "congestion": options.congestion,
        "gso_max_segs": options.gso_max_segs,
        "goodput_mbps": round(goodput * 8 / ((end - begin) / 1e9) / 1e6, 3),
        "data_packets": len(data_sent),
        "acks_sent": sum(not row[0] for row in parsed[1]),
        "acks_delivered": sum(not row[0] for row in parsed[0]),
        "retransmissions": retransmitted,
        "drops": len(emulator.drops),
        "marked": emulator.forward.marked,
        "recoveries": counters["TCPSackRecovery"],
        "rtos": counters["TCPTimeouts"],
        "mean_rtt_ms": round(sum(samples) / max(1, len(samples)) / 1e6, 2),
        "mean_srtt_ms": round(sender["mean_srtt_ms"], 2),
        "lateness_us": {
            name: round(late[min(len(late) - 1, int(share * len(late)))] / 1000, 1)
            for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("max", 1))
        },
        "late_above_1ms": sum(value > MS for value in late),
        "sender": {name: counters[name] for name in picked if counters.get(name)},
        "reordering": sender["info"]["reordering"],
    }


def make_reverse(options: argparse.Namespace) -> Reverse:
    """Returns the requested return path."""
    match options.path:
        case "plain":
            return Plain()
        case "gate":
            return Gate(5 * MS, 10)
        case "filter":
            return AckFilter(64_000, options.keeps)
        case _:
            return Serialised(64_000, options.limit)


def arguments() -> argparse.Namespace:
    """Returns the options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--return", dest="path", choices=("plain", "gate", "filter", "drop-tail"), default="plain")
    parser.add_argument("--limit", type=int, default=100, help="packets that may wait on the return path of drop-tail")
    parser.add_argument("--congestion", default="reno")
    parser.add_argument("--delay", type=float, default=7.5, help="propagation each way in ms")
    parser.add_argument("--mark-above", type=int, help="the forward queue marks a packet CE that finds more than so many waiting")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--out", help="prefix of traces")
    parser.add_argument("--gso-max-segs", type=int, default=1, help="0: leave the kernel's")
    parser.add_argument("--keeps", choices=("sack", "equal", "nothing"), default="sack", help="what the filter may not overwrite")
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE under net.ipv4 at both ends")
    parser.add_argument("--cpu", type=int, help="stay on this one")
    return parser.parse_args()


def main() -> None:
    """Creates the namespaces, runs both ends, and removes everything."""
    options = arguments()
    if options.cpu is not None:
        os.sched_setaffinity(0, {options.cpu})
    libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    names = [f"acklab{os.getpid()}{side}" for side in "sr"]
    children: list[int] = []
    tuns: list[int] = []
    made: list[str] = []
    try:
        for name in names:
            run_command("ip", "netns", "add", name)
            made.append(name)
        for name, address in zip(names, (SENDER, RECEIVER), strict=True):
            tuns.append(open_tun(name, address, options.gso_max_segs))
            for setting in options.set:
                run_command("ip", "netns", "exec", name, "sysctl", "-qw", f"net.ipv4.{setting}")
        ready_in, ready_out = os.pipe()
        children.append(in_child(names[1], receive, ready_out))
        os.close(ready_out)
        os.read(ready_in, 1)
        # This pipe is created only now. If the receiver also had its other end open, reading the
        # report would never end.
        report_in, report_out = os.pipe()
        emulator = Emulator(tuns, Serialised(16_000_000, 20, options.mark_above), make_reverse(options), int(options.delay * MS))
        children.append(in_child(names[0], send, options, report_out))
        os.close(report_out)
        gc.disable()
        first_in_line(10)
        emulator.run(report_in)
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        with os.fdopen(report_in) as file:
            sender = json.loads(file.read())
        print(json.dumps(summarise(options, emulator, sender, sender["begin"], sender["end"])))
        if options.out:
            write_pcap(f"{options.out}.snd.pcap", emulator.seen[0])
            write_pcap(f"{options.out}.rcv.pcap", emulator.seen[1])
            with open(f"{options.out}.drops.csv", "w") as file:
                file.write("time_ns,seq\n")
                file.writelines(f"{at},{parsed[1]}\n" for at, head in emulator.drops if (parsed := parse(head, 1500)))
    finally:
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        for tun in tuns:
            os.close(tun)
        for name in made:
            run_command("ip", "netns", "delete", name)


if __name__ == "__main__":
    main()
