"""A path between two interfaces.

A host in the east, a host in the west, and this program in the middle, each in a network namespace.

The tests need root, `/dev/net/tun` and Linux 6.6, and are otherwise skipped. Other processes may
delay packets at any time, so the tests check the events and not their exact times. A test is run
again if the machine stopped the path for longer than its grace.
"""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

import acklab
import between
from acklab import inspection
from between import EAST, MIDDLE, SIDES, WEST, bridge, ip, iperf3, links, standing, within

KERNEL = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])
MAY_STAND = os.geteuid() == 0 and Path("/dev/net/tun").exists() and shutil.which("ip") is not None and KERNEL >= (6, 6)

pytestmark = [
    pytest.mark.flaky(reruns=3, only_rerun=["Stalled"]),
    pytest.mark.skipif(not MAY_STAND, reason="needs root, /dev/net/tun, iproute2 and Linux 6.6"),
]


def needs_iperf3(test):
    """The program has a real-time priority here (`between.PRIORITY`).

    Two of them would compete for the processors.
    """
    return pytest.mark.alone(pytest.mark.skipif(shutil.which("iperf3") is None, reason="needs iperf3")(test))


@pytest.fixture(name="hosts")
def _hosts():
    with between.hosts():
        yield


def ping(address, count=5, interval=0.05):
    """Returns the RTTs that a ping from the east reports, in milliseconds."""
    done = subprocess.run(
        within(EAST, "ping", "-c", count, "-i", interval, "-W", "2", address), capture_output=True, text=True, check=False
    )
    return [float(found) for found in re.findall(r"time=([\d.]+)", done.stdout)]


def rows(result, table):
    return {row.get("interface", row.get("link", "")): row for row in result[table]}


@pytest.mark.timed
@pytest.mark.parametrize("method", ["ring", "tap"])
def test_a_delay_of_each_direction_shows_in_both_versions_of_ip(hosts, method):
    with standing("east", "west", "--delay", "15ms/5ms", "--method", method) as path:
        assert ("TPACKET" in path.told) == (method == "ring")
        for address in ("10.9.0.2", "fd09::2"):
            trips = ping(address)
            assert len(trips) == 5, "address resolution passes, and so does every echo"
            # The first also waits for the resolution of addresses.
            assert all(20 <= trip < 200 for trip in trips), trips
    east, west = (rows(path.result, "interfaces")[name] for name in ("east", "west"))
    # The kernel handles ARP. IPv6 finds neighbors by ICMP, which passes the path.
    assert east["entered"] >= 10
    assert west["entered"] >= 10
    assert (west["left"], east["left"]) == (east["entered"], west["entered"])
    # The kernel's multicast may pass, or be discarded, while the path is set up or removed.
    assert {name: row[name] for row in (east, west) for name in ("overruns", "refused") if row[name]} == {}


@pytest.mark.timed
def test_nothing_is_left_behind(hosts):
    before = links()
    with standing("east", "west") as path:
        assert "a bridge of acklab's own" in path.told
        during = links()
        assert len(during) == len(before) + 3, "a bridge, and a device for each direction"
        assert ping("10.9.0.2")
    after = links()
    assert after.keys() == before.keys()
    for name in ("east", "west"):
        kept = ("mtu", "flags", "qdisc", "promiscuity", "master", "txqlen", "gso_max_segs")
        assert {key: after[name].get(key) for key in kept} == {key: before[name].get(key) for key in kept}
    assert not ping("10.9.0.2", count=1), "nothing forwards without a bridge"


@pytest.mark.timed
def test_it_sleeps_when_nothing_passes(hosts):
    with standing("east", "west") as path:
        time.sleep(1)
        before = path.processor_time()
        time.sleep(2)
        # It checks for signs of life every 20 ms. A driver that never sleeps would use all of the
        # two seconds.
        assert path.processor_time() - before < 0.5


@pytest.mark.timed
def test_a_bridge_that_is_there_is_used_and_left_alone(hosts):
    bridge()
    before = links()
    with standing("east", "west", "--delay", "40ms") as path:
        assert "the bridge that is there" in path.told
        assert min(ping("10.9.0.2")) >= 80
    assert links().keys() == before.keys()
    assert max(ping("10.9.0.2")[1:]) < 80


@needs_iperf3
def test_traffic_goes_on_when_it_is_killed(hosts):
    """The process is killed during a flow.

    The flow continues over the bridge, and the kernel removes everything of the process.
    """
    bridge()
    before = links()
    with standing("east", "west", "--rate", "20Mbps") as path, iperf3(6) as report:
        time.sleep(2.5)
        path.process.send_signal(signal.SIGKILL)
    rates = [part["sum"]["bits_per_second"] / 1e6 for part in report["intervals"]]
    assert max(rates[:2]) < 60, rates
    assert min(rates[4:6]) > 100, rates
    assert links().keys() == before.keys(), "the devices went with the process"


@pytest.mark.timed
def test_a_bridge_of_its_own_stays_when_it_is_killed_and_is_taken_over(hosts):
    before = links()
    with standing("east", "west") as path:
        path.process.send_signal(signal.SIGKILL)
    assert len(links()) == len(before) + 1, "the bridge carries the traffic on"
    assert ping("10.9.0.2")
    with standing("east", "west") as path:
        assert ping("10.9.0.2")
    assert links().keys() == before.keys()


@pytest.mark.timed
def test_traffic_goes_on_while_it_stands_still(hosts):
    """A process that hangs for two seconds loses only the packets in its queues.

    The same is true for a process that gets no processor.
    """
    bridge()
    with standing("east", "west", "--delay", "40ms", may_stall=True) as path:
        assert min(ping("10.9.0.2")) >= 80
        path.process.send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        trips = ping("10.9.0.2", count=10)
        path.process.send_signal(signal.SIGCONT)
        assert len(trips) == 10
        assert max(trips) < 80, trips
        time.sleep(0.3)
        assert min(ping("10.9.0.2")) >= 80, "the path stands again"
    assert path.stalls() >= 1, "a loaded machine may stall it again"
    assert sum(row["bypassed"] for row in path.result["interfaces"]) >= 20


@needs_iperf3
@pytest.mark.parametrize("chosen", ["news", "cake"])
def test_an_ack_filter_removes_acks_of_flows_whose_start_it_has_not_seen(hosts, chosen):
    bridge()
    with iperf3(2, "-b", "40M") as report:
        time.sleep(0.5)
        with standing("east", "west", "--rate", "100Mbps/128kbps", "--queue", "1000packets", "--ack-filter", chosen) as path:
            time.sleep(1)
    assert report["end"]["sum_received"]["bytes"] > 0
    back = rows(path.result, "links")["line_reverse"]
    # An ACK takes 52 bytes, 3.3 ms at this rate; data at 40 Mbps are answered more often.
    assert back["total_filtered_acks_l2"] > 100, back


@needs_iperf3
def test_a_thinner_holds_acks_of_flows_whose_start_it_has_not_seen(hosts):
    bridge()
    with iperf3(2, "-b", "40M") as report:
        time.sleep(0.5)
        with standing("east", "west", "--delay", "5ms", "--thinner", "none/10:200ms") as path:
            time.sleep(1)
    assert report["end"]["sum_received"]["bytes"] > 0
    back = rows(path.result, "links")["line_reverse"]
    # Nine of ten ACKs are removed, except ACKs more than 200 ms apart.
    assert back["total_filtered_acks_l2"] > 0.6 * back["total_packets_in_l2"] > 3, back


@needs_iperf3
def test_acks_that_a_filter_removed_are_put_back(hosts):
    """The hosts' TCP accepts the created ACKs, so their checksums and numbers are right."""
    bridge()
    words = ("--rate", "50Mbps/64kbps", "--delay", "2ms", "--queue", "100packets", "--ack-filter", "none/news")
    with (
        standing("east", "west", *words, "--spacer", "none/reconstruct") as path,
        iperf3(2, "-b", "20M") as report,
    ):
        pass
    row = rows(path.result, "links")["line_reverse"]
    assert row["total_filtered_acks_l2"] > 100, row
    assert row["total_packets_out_l2"] > 1.5 * (row["total_packets_in_l2"] - row["total_filtered_acks_l2"]), row
    assert report["end"]["sum_received"]["bits_per_second"] > 10e6


@needs_iperf3
def test_it_tells_what_it_does_while_it_does_it(hosts, tmp_path):
    """A line for each second, a page, captures before and after the filter, and stored tables."""
    bridge()
    ip("-n", MIDDLE, "link", "set", "lo", "up")
    folder = tmp_path / "out"
    words = ["east", "west", "--rate", "100Mbps/128kbps", "--queue", "1000packets", "--ack-filter", "none/news"]
    words += ["--capture", "line_reverse=before.pcapng", "--capture", "line_reverse.out=after.pcapng"]
    words += ["--interval", "1", "--watch", "--out", str(folder), "--duration", "4s"]
    command = within(MIDDLE, sys.executable, "-m", "acklab", "inline", *words)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    told = ""
    while "running between" not in told:
        line = process.stderr.readline()
        assert line, told
        told += line
    address = re.search(r"http://127.0.0.1:\d+/", told)
    assert address is not None, told
    fetch = "import sys, urllib.request as r; [print(r.urlopen(u, timeout=9).readline().decode()) for u in sys.argv[1:]]"
    with iperf3(2, "-b", "40M"):
        fetched = subprocess.run(
            within(MIDDLE, sys.executable, "-c", fetch, address[0], f"{address[0]}samples"),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "<!doctype html>" in fetched.lower()
    assert '"line_reverse"' in fetched
    seconds = [int(found) for found in re.findall(r"^(\d+) s  line_forward .* Mbps", output, re.MULTILINE)]
    assert seconds in ([1, 2, 3], [1, 2, 3, 4]), output
    for shown in ("Links", "Interfaces", "line_reverse"):
        assert shown in output
    kept = acklab.load_result(folder)
    assert kept.arrow("interfaces").num_rows == 2
    before, after = (inspection.inspect(folder / f"{name}.pcapng").counts["packets"] for name in ("before", "after"))
    row = {link["link"]: link for link in kept.arrow("links").to_pylist()}["line_reverse"]
    assert before == pytest.approx(row["total_packets_in_l2"], abs=5)
    assert after == pytest.approx(before - row["total_filtered_acks_l2"], abs=5)
    assert after < before / 2


@pytest.mark.timed
def test_frames_that_are_not_ip_and_tags_pass(hosts):
    """VLAN tags are preserved, also around IP packets that pass the path.

    Double tags and unknown protocols pass.
    """
    # Otherwise the bridge itself drops malformed packets.
    subprocess.run(within(MIDDLE, "sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=0"), check=False)
    with standing("east", "west", "--delay", "1ms") as path:
        addresses = b"\x02\x00\x00\x00\x00\x02" + b"\x02\x00\x00\x00\x00\x01"
        datagram = ipv4_datagram()
        frames = {
            "unknown protocol": addresses + struct.pack(">H", 0x88B5) + b"experiment".ljust(46, b"."),
            "VLAN": addresses + struct.pack(">HHH", 0x8100, 3 << 13 | 5, 0x0800) + datagram,
            "double tag": addresses + struct.pack(">HHHHH", 0x88A8, 7, 0x8100, 5, 0x0800) + datagram,
            "tunnel": addresses + struct.pack(">H", 0x0800) + ipv4_datagram(protocol=47),
            "a length beyond the packet": addresses + struct.pack(">H", 0x0800) + datagram[:2] + b"\x07\xd0" + datagram[4:],
        }
        arrived = exchange(list(frames.values()))
        for name, frame in frames.items():
            assert frame in arrived, f"{name}: {[octets.hex() for octets in arrived]}"
    (east,) = (row for row in path.result["interfaces"] if row["interface"] == "east")
    # The packet with one tag, and the tunnel. Kernels also send their own multicast.
    assert east["entered"] >= 2
    assert east["untouched"] == 1


def ipv4_datagram(protocol=17, payload=b"the payload of a datagram, long enough that no padding follows it"):
    length = 20 + len(payload)
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, length, 1, 0, 64, protocol, 0, bytes([10, 9, 0, 1]), bytes([10, 9, 0, 2]))
    total = sum(struct.unpack(">10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    header = header[:10] + struct.pack(">H", ~total & 0xFFFF) + header[12:]
    return header + payload


EXCHANGE = """
import socket, sys, time
frames = [bytes.fromhex(line) for line in sys.stdin.read().split()]
raw = lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
"""


def exchange(frames):
    """Sends frames in the east, and returns those that arrive in the west.

    They include the tags that the kernel stores separately.
    """
    receive = EXCHANGE + (
        "receiver = raw(); receiver.bind(('lan', 3)); receiver.setsockopt(263, 8, 1); receiver.settimeout(1.5)\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "  while True:\n"
        "    octets, control, flags, address = receiver.recvmsg(4096, 256)\n"
        "    import struct\n"
        "    for level, kind, data in control:\n"
        "      status, length, snap, mac, net, tci, tpid = struct.unpack('IIIHHHH', data[:20])\n"
        "      if status & 0x10: octets = octets[:12] + struct.pack('>HH', tpid, tci) + octets[12:]\n"
        "    if address[2] != 4: print(octets.hex(), flush=True)\n"
        "except TimeoutError: pass\n"
    )
    receiver = subprocess.Popen(
        within(WEST, sys.executable, "-c", receive), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    assert receiver.stdout is not None
    assert receiver.stdout.readline() == "ready\n"
    send = EXCHANGE + "sender = raw(); sender.bind(('lan', 0))\nfor frame in frames: sender.send(frame)\n"
    subprocess.run(
        within(EAST, sys.executable, "-c", send), input="\n".join(frame.hex() for frame in frames), text=True, check=True
    )
    arrived = [bytes.fromhex(line) for line in receiver.stdout.read().split()]
    receiver.wait()
    return arrived


@needs_iperf3
@pytest.mark.parametrize("at", ["start", "stop"])
def test_a_flow_is_not_reordered_when_the_path_comes_or_goes(hosts, at):
    """UDP at 20 Mbps: iperf3 counts datagrams that overtake others.

    When the path is removed, its waiting datagrams are sent first.
    """
    bridge()
    with iperf3(2, "-u", "-b", "20M", "--length", "1000") as report:
        time.sleep(0.5)
        with standing("east", "west", "--rate", "50Mbps", "--delay", "20ms") as path:
            time.sleep(1)
    total = report["end"]["sum"]
    out_of_order = sum(stream["udp"]["out_of_order"] for stream in report["end"]["streams"])
    assert out_of_order == 0, (at, total)
    # The packets that left while the classifier was removed: a few at most.
    assert sum(row["discarded"] for row in path.result["interfaces"]) <= total["lost_packets"] + 10


@pytest.mark.timed
def test_between_routed_interfaces_the_host_routes(hosts):
    for number, (name, side) in enumerate(SIDES.items(), 1):
        ip("-n", name, "addr", "flush", "dev", "lan", "scope", "global")
        ip("-n", name, "addr", "add", f"10.{number}.0.1/24", "dev", "lan")
        ip("-n", name, "route", "add", "default", "via", f"10.{number}.0.254")
        ip("-n", MIDDLE, "addr", "add", f"10.{number}.0.254/24", "dev", side)
    refused = subprocess.run(
        within(MIDDLE, sys.executable, "-m", "acklab", "inline", "east", "west"), capture_output=True, text=True, check=False
    )
    assert refused.returncode != 0
    assert "ip_forward" in refused.stderr
    subprocess.run(within(MIDDLE, "sysctl", "-qw", "net.ipv4.ip_forward=1"), check=True)
    with standing("east", "west", "--delay", "40ms") as path:
        assert "routed" in path.told
        assert min(ping("10.2.0.1")) >= 80
        assert max(ping("10.1.0.254")) < 80, "what is meant for this host does not take the path"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("east", "nowhere"), 'found no interface "nowhere"'),
        (("east", "east"), "expected"),
        (("east", "west", "--ack-filter", "news"), "--ack-filter without --rate or --gate"),
        (("east", "west", "--rate", "1/2/3"), "--rate"),
        (("east", "west", "--thinner", "often"), "4:10ms"),
        (("east", "west", "--spacer", "often"), "reconstruct"),
        (("east", "west", "--delay", "soon"), "delay"),
        (("east", "west", "--method", "magic"), "ring or tap"),
    ],
)
def test_bad_input_is_refused_by_name(hosts, words, expected):
    done = subprocess.run(
        within(MIDDLE, sys.executable, "-m", "acklab", "inline", *words), capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode != 0
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert "acklab0" not in links(), "nothing is left behind"
