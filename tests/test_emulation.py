"""Scenarios in real time, with the kernel's TCP and real programs.

The tests need root and `/dev/net/tun`, and are otherwise skipped. Other processes may delay packets
at any time, so the tests check the events and not their exact times.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import acklab

ROOT = Path(__file__).parents[1]
MAY_EMULATE = os.geteuid() == 0 and Path("/dev/net/tun").exists() and shutil.which("ip") is not None

pytestmark = [
    pytest.mark.skipif(not MAY_EMULATE, reason="needs root, /dev/net/tun and iproute2"),
]

PATH = """
duration = "{duration}"
seed = 1
[[link]]
name = "btl"
from = "client"
to = "server"
forward = {{ rate = "16Mbps", delay = "7.5ms", queue = {{ discipline = "fifo", limit = "20packets" }} }}
reverse = {{ delay = "7.5ms" }}
"""
ALONE = "flow = []\n" + PATH
SINK = '[[application]]\nnode = "server"\ncommand = "exec sleep 9"\n'
FLOW = """
[[flow]]
name = "up"
from = "client"
to = "server"
preset = "linux"
congestion = "{congestion}"
"""


def emulate(folder, text, *words):
    file = folder / "scenario.toml"
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "acklab", "emulate", str(file), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=60)


def needs(*programs):
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


def document(done):
    """Returns the result of a run that has finished, in time or not."""
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout)


@pytest.mark.timed
@pytest.mark.parametrize("congestion", ["reno", "cubic"])
def test_a_flow_of_the_kernel_fills_the_link(tmp_path, congestion):
    text = PATH.format(duration="3s") + FLOW.format(congestion=congestion) + '[measure]\nfrom = "1s"\n'
    done = document(emulate(tmp_path, text, "--json"))
    (flow,) = done["flows"]
    # 1448 bytes of payload in 1500. A busy machine loses some of it.
    assert 0.8 * 16 * 1448 / 1500 < flow["mean_throughput_l4"] < 1.01 * 16 * 1448 / 1500
    assert flow["cca"] == {"reno": "newreno"}.get(congestion, congestion)
    # An ACK per two segments, and more ACKs if data arrive out of order.
    assert 1.5 < flow["mean_data_per_ack_l4"] < 2.1
    assert flow["mean_rtt_l4"] > 15
    assert flow["mean_cwnd_l4"] > 10
    assert flow["total_tail_loss_probes_l4"] is None, "not reported by the kernel"
    forward = next(link for link in done["links"] if link["link"] == "btl_forward")
    assert forward["mean_sending_rate_l1"] < 16.01
    assert {row["parameter"] for row in done["kernel"]} > {"release", "net.ipv4.tcp_sack"}
    assert done["timing"][0]["deliveries"] > 1000


@pytest.mark.timed
def test_every_segment_is_acknowledged_on_a_route_that_says_so(tmp_path):
    text = PATH.format(duration="3s") + FLOW.format(congestion="reno") + 'ack = { policy = "per-packet" }\n'
    (flow,) = document(emulate(tmp_path, text, "--json"))["flows"]
    assert 0.9 < flow["mean_data_per_ack_l4"] < 1.1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('ack = { policy = "tack" }', 'flow "up": ack: found "tack", expected "linux", or "per-packet"'),
        ('congestion = "copa"', 'flow "up": congestion: found "copa"'),
        ("tail_loss_probe = false", 'flow "up": tail_loss_probe: found false, expected true'),
        ('preset = "ns3"', 'flow "up": preset: found "ns3", expected "linux"'),
    ],
)
def test_settings_that_the_kernel_lacks_are_refused_by_name(tmp_path, settings, message):
    key = settings.split(" = ")[0]
    kept = [line for line in FLOW.format(congestion="reno").splitlines() if not line.startswith(key)]
    done = emulate(tmp_path, PATH.format(duration="2s") + "\n".join([*kept, settings]), "--json")
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.timed
@needs("ping")
def test_a_command_on_a_node_sees_the_delay_of_the_path(tmp_path):
    done = emulate(tmp_path, ALONE.format(duration="20s"), "--at", "client", "--", "ping", "-c", "5", "-i", "0.2", "{server}")
    assert done.returncode == 0, done.stderr
    times = [float(line.split("time=")[1].split()[0]) for line in done.stdout.splitlines() if "time=" in line]
    assert len(times) == 5
    assert min(times) >= 15
    assert sorted(times)[2] < 17, "half of them are less than 2 ms late on a busy machine"


@pytest.mark.timed
@needs("ping", "tshark")
def test_the_answer_of_a_kernel_leaves_at_the_instant_of_the_delivery(tmp_path):
    """A late delivery does not delay the answer: it is sent at the same time as that of a simulated
    host.
    """
    points = {"arrival": "btl_forward.out", "departure": "btl_reverse"}
    captures = "".join(f'[[capture]]\npoint = "{point}"\nfile = "{name}.pcap"\n' for name, point in points.items())
    words = ["ping", "-c", "10", "-i", "0.02", "{server}"]
    done = emulate(tmp_path, ALONE.format(duration="20s") + captures, "--at", "client", "--", *words)
    assert done.returncode == 0, done.stderr

    def times(name):
        fields = ["-T", "fields", "-e", "frame.time_epoch"]
        shown = subprocess.run(["tshark", "-r", tmp_path / f"{name}.pcap", *fields], capture_output=True, text=True, check=True)
        return shown.stdout.split()

    assert len(times("arrival")) == 10
    assert times("departure") == times("arrival")


@pytest.mark.timed
@pytest.mark.parametrize(
    ("reverse", "spacer"),
    [
        ('rate = "64kbps", queue = { discipline = "ack-filter", limit = "100packets" }', '{ rule = "reconstruct" }'),
        ('gate = { interval = "20ms", quota = 40 }', '{ rule = "interval", interval = "500us" }'),
    ],
)
def test_the_kernel_takes_acks_that_a_spacer_made_or_spread(tmp_path, reverse, spacer):
    """The kernel accepts the checksums and numbers of created ACKs.

    ACKs that were spread arrive one by one.
    """
    text = PATH.format(duration="4s") + FLOW.format(congestion="reno") + '[measure]\nfrom = "1s"\n'
    before, behind = 'reverse = { delay = "7.5ms" }', f'reverse = {{ delay = "7.5ms", {reverse}, spacer = {spacer} }}'
    assert before in text
    done = document(emulate(tmp_path, text.replace(before, behind), "--json"))
    (flow,) = done["flows"]
    row = next(link for link in done["links"] if link["link"] == "btl_reverse")
    assert flow["mean_throughput_l4"] > 0.5 * 16
    if "reconstruct" in spacer:
        assert row["total_filtered_acks_l2"] > 100, row
        assert row["total_packets_out_l2"] > 1.5 * (row["total_packets_in_l2"] - row["total_filtered_acks_l2"]), row
    else:
        assert row["total_packets_out_l2"] == pytest.approx(row["total_packets_in_l2"], abs=40)
        assert flow["mean_ack_burst_l4"] < 3, flow


@pytest.mark.skipif(not os.access("/dev/cpu_dma_latency", os.W_OK), reason="needs /dev/cpu_dma_latency")
def test_no_processor_halts_while_it_lasts(tmp_path):
    """The largest wake-up latency that the kernel may leave to idle processors is zero, and a
    command inherits no request for it.
    """
    look = "od -An -td4 -N4 /dev/cpu_dma_latency; ls -l /proc/self/fd"
    done = emulate(tmp_path, ALONE.format(duration="9s"), "--at", "client", "--", "sh", "-c", look)
    assert done.stdout.splitlines()[0].strip() == "0", done.stderr
    assert "cpu_dma_latency" not in done.stdout
    for chosen, expected in (("halt", "may halt"), ("awake", "awake")):
        (timing,) = document(emulate(tmp_path, ALONE.format(duration="1s") + SINK, "--json", "--processors", chosen))["timing"]
        assert timing["processors"] == expected
        assert timing["halting_time"] is None
        assert 0 <= timing["worst_second_stolen"] <= 1
        assert timing["bound_second_stolen"] == 0.01


STOLEN = "cpu  0 0 0 0 0 0 0 0 0 0\ncpu{processor} 0 0 0 0 0 0 0 {ticks:06} 0 0\n"
"""The values of `/proc/stat` for a processor, with any steal time."""


@pytest.mark.timed
@pytest.mark.skipif(not os.access("/dev/cpu_dma_latency", os.W_OK), reason="needs /dev/cpu_dma_latency")
@needs("unshare", "mount")
def test_processors_halt_once_the_hypervisor_takes_too_much(tmp_path):
    """A hypervisor takes a fifth of a second once, according to a fake `/proc/stat`."""
    file = tmp_path / "stat"
    processor = min(os.sched_getaffinity(0))
    file.write_text(STOLEN.format(processor=processor, ticks=7), encoding="utf-8")
    instead = ("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /proc/stat && exec "$@"', str(file))
    with started(tmp_path, ALONE.format(duration="7s"), "--json", prefix=instead) as process:
        assert "/dev/cpu_dma_latency" in holds(str(process.pid))
        time.sleep(1.5)
        ticks = 7 + os.sysconf("SC_CLK_TCK") // 5
        with file.open("r+", encoding="utf-8") as opened:
            opened.write(STOLEN.format(processor=processor, ticks=ticks))
        time.sleep(2.5)
        assert "/dev/cpu_dma_latency" not in holds(str(process.pid)), "the request is withdrawn while it runs"
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    (timing,) = json.loads(output)["timing"]
    assert timing["processors"] == "awake, then may halt"
    assert 1 < timing["halting_time"] < 5
    assert timing["worst_second_stolen"] == pytest.approx(0.2, rel=0.2), "a busy machine stretches the second"
    assert "the hypervisor took" in timing["reasons"]
    assert "--processors halt" in errors


def test_unknown_ways_of_idling_are_refused_by_name(tmp_path):
    done = emulate(tmp_path, ALONE.format(duration="1s"), "--processors", "asleep")
    assert done.returncode == 2
    assert "processors: found 'asleep', expected one of: auto, awake, halt" in done.stderr


@pytest.mark.alone
def test_a_calibration_tells_what_the_machine_carries():
    words = [sys.executable, "-m", "acklab", "emulate", "--calibrate", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    measured = json.loads(done.stdout)
    assert measured["packets_per_second"] > 10_000, done.stderr
    assert measured["mbps"] == pytest.approx(measured["packets_per_second"] * 0.012, abs=1)
    assert 0 < measured["lateness_us"]["p50"] <= measured["lateness_us"]["p99"]
    still = measured["standstill_us"]
    assert 0 < still["longest"] < 1e6
    assert still["total"] == 0 or still["total"] >= still["longest"] >= 100


def test_the_exit_status_is_that_of_the_command(tmp_path):
    assert emulate(tmp_path, ALONE.format(duration="9s"), "--at", "client", "--", "sh", "-c", "exit 7").returncode == 7


@pytest.mark.timed
def test_applications_run_at_their_times_and_their_output_is_kept(tmp_path):
    text = PATH.format(duration="2s") + (
        '[[application]]\nnode = "server"\ncommand = "echo $WORD; exit 4"\nenvironment = ["WORD=hello"]\n'
        '[[application]]\nname = "waits"\nnode = "client"\ncommand = "echo {server}; exec sleep 60"\nstart = "500ms"\nstop = "1s"\n'
    )
    done = document(emulate(tmp_path, text, "--json", "--out", "kept"))
    one, other = done["applications"]
    assert (one["application"], one["exit_status"], one["signal"]) == ("application_1", 4, None)
    assert (other["exit_status"], other["signal"]) == (None, signal.SIGTERM)
    assert 0.5 <= other["start_time"] < 1 <= other["stop_time"] < 2
    assert (tmp_path / "kept" / "application_1.out").read_text() == "hello\n"
    assert (tmp_path / "kept" / "waits.out").read_text().startswith("10.0.0.")


def test_a_simulation_refuses_a_scenario_without_flows(tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text(ALONE.format(duration="2s"), encoding="utf-8")
    command = [sys.executable, "-m", "acklab", "run", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "expected at least one" in done.stderr


def at_client(folder, *words, path=ALONE):
    return emulate(folder, path.format(duration="30s"), "--at", "client", "--", *words)


@needs("ping")
def test_ipv6_fragments_and_icmp_work_as_on_a_wire(tmp_path):
    done = at_client(tmp_path, "ping", "-6", "-c", "2", "-i", "0.2", "{server.ipv6}")
    assert " 0% packet loss" in done.stdout, done.stderr
    # 4000 bytes are three fragments of 1500 each way.
    for words in (["{server}"], ["-6", "{server.ipv6}"]):
        done = at_client(tmp_path, "ping", "-c", "2", "-i", "0.2", "-s", "4000", *words)
        assert " 0% packet loss" in done.stdout, done.stderr
        assert "4008 bytes from" in done.stdout
    # 1472 bytes of payload fill the MTU of 1500, and one more may not be sent in one piece.
    done = at_client(tmp_path, "ping", "-c", "1", "-M", "do", "-s", "1473", "{server}")
    assert done.returncode != 0
    assert "message too long, mtu=1500" in done.stdout + done.stderr


ADDRESSES = pytest.mark.parametrize("address", ["{server}", "{server.ipv6}"])


@ADDRESSES
def test_a_closed_port_is_said_by_icmp(tmp_path, address):
    """The host sends "port unreachable" (RFC 792, RFC 4443, §3.1), which its peer's kernel reports
    to the socket.
    """
    talk = "import socket, sys; at = socket.getaddrinfo(sys.argv[1], 9, type=socket.SOCK_DGRAM)[0]; s = socket.socket(*at[:2]); "
    talk += "s.connect(at[4]); s.send(b'x'); s.settimeout(5); s.recv(9)"
    done = at_client(tmp_path, sys.executable, "-c", talk, address)
    assert "ConnectionRefusedError" in done.stderr


@pytest.mark.timed
@needs("iperf3")
@ADDRESSES
def test_iperf3_fills_the_link(tmp_path, address):
    server = '[[application]]\nnode = "server"\ncommand = "exec iperf3 -s -1"\n'
    client = "until iperf3 -J -t 2 -c " + address + " >report; do sleep 0.2; done"
    done = at_client(tmp_path, "sh", "-c", client, path=PATH + server)
    assert done.returncode == 0, done.stderr
    received = json.loads((tmp_path / "report").read_text())["end"]["sum_received"]["bits_per_second"] / 1e6
    # A busy machine loses some of it.
    assert 0.7 * 16 < received < 16


@needs("curl")
@ADDRESSES
def test_curl_fetches_a_file_from_a_server(tmp_path, address):
    (tmp_path / "www").mkdir()
    octets = os.urandom(400_000)
    (tmp_path / "www" / "file").write_bytes(octets)
    server = f'[[application]]\nnode = "server"\ncommand = "exec {sys.executable} -m http.server 80 --bind :: --directory {tmp_path / "www"}"\n'
    host = f"[{address}]" if "ipv6" in address else address
    words = ["curl", "-s", "--retry", "20", "--retry-all-errors", "--retry-delay", "1", "-o", "got", f"http://{host}/file"]
    done = at_client(tmp_path, *words, path=PATH + server.replace("{", "{{").replace("}", "}}"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "got").read_bytes() == octets


SSHD = shutil.which("sshd") or shutil.which("/usr/sbin/sshd")


@pytest.mark.skipif(SSHD is None or shutil.which("ssh") is None, reason="needs ssh and sshd")
@ADDRESSES
def test_ssh_logs_in(tmp_path, address):
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / key], check=True)
    (tmp_path / "authorized").write_text((tmp_path / "user.pub").read_text())
    options = f"-D -p 22 -h {tmp_path / 'host'} -o AuthorizedKeysFile={tmp_path / 'authorized'} -o StrictModes=no -o UsePAM=no"
    server = f'[[application]]\nnode = "server"\ncommand = "mkdir -p /run/sshd; exec {SSHD} {options}"\n'
    client = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectionAttempts=20"
    words = ["ssh", *client.split(), "-i", str(tmp_path / "user"), address, "echo", "from", "afar"]
    done = at_client(tmp_path, *words, path=PATH + server)
    assert "from afar" in done.stdout, done.stderr


def test_programs_that_die_or_hang_do_not_hold_up_the_run(tmp_path):
    text = PATH.format(duration="2s") + (
        '[[application]]\nname = "dies"\nnode = "server"\ncommand = "kill -SEGV $$"\n'
        """[[application]]\nname = "hangs"\nnode = "client"\ncommand = "trap '' TERM; while :; do sleep 9; done"\n"""
        '[[application]]\nname = "fails"\nnode = "client"\ncommand = "no-such-program"\n'
    )
    start = time.monotonic()
    done = emulate(tmp_path, text)
    assert done.returncode in (0, 3), done.stderr
    assert time.monotonic() - start < 15
    assert "note: dies: ended by SIGSEGV" in done.stderr
    assert "note: hangs: was killed" in done.stderr
    assert "note: fails: exit status 127" in done.stderr


@pytest.mark.alone
def test_a_flood_is_carried_or_said_to_be_lost(tmp_path):
    # As fast as one processor can, into a link of 16 Mbps, whose queue drops the excess.
    send = "import socket; s = socket.socket(type=socket.SOCK_DGRAM)\nwhile True: s.sendto(bytes(1400), ('{server}', 9))"
    (tmp_path / "flood.py").write_text("import sys\n" + send.replace("'{server}'", "sys.argv[1]"))
    flood = f'[[application]]\nname = "flood"\nnode = "client"\ncommand = "exec {sys.executable} flood.py {{server}}"\n'
    done = document(emulate(tmp_path, PATH.format(duration="3s") + flood, "--json"))
    forward = next(link for link in done["links"] if link["link"] == "btl_forward")
    assert forward["mean_sending_rate_l1"] > 15, "the link is busy all the time"
    assert forward["total_qdisc_drops_l2"] > 1000
    (timing,) = done["timing"]
    assert (timing["overruns"] > 0) <= (timing["trusted"] == "no"), "packets that were lost in front of the network are reported"
    assert done["applications"][0]["signal"] == signal.SIGTERM


DEVICE = "mount -t tmpfs none /mnt && mknod -m 666 /mnt/tun c 10 200 && mount --bind /mnt/tun /dev/net/tun && exec "
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
USER_NAMESPACES = Path("/proc/sys/user/max_user_namespaces")
MAY_BECOME_NOBODY = USER_NAMESPACES.exists() and USER_NAMESPACES.read_text().strip() != "0"


def as_nobody(folder, *words, device=True):
    """Emulates as a user without privileges, with or without permission to open the device."""
    folder.chmod(0o777)
    (folder / "scenario.toml").chmod(0o644)
    command = [*NOBODY, sys.executable, "-m", "acklab", "emulate", "scenario.toml", *words]
    if device:
        command = ["unshare", "--mount", "sh", "-c", DEVICE + '"$@"', "sh", *command]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=60)


@pytest.fixture
def open_folder():
    """Returns a folder that every user can access, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.mark.timed
@needs("setpriv", "unshare", "ping")
@pytest.mark.skipif(not MAY_BECOME_NOBODY, reason="needs user namespaces")
def test_a_user_without_rights_emulates_in_a_user_namespace(open_folder):
    (open_folder / "scenario.toml").write_text(PATH.format(duration="2s") + FLOW.format(congestion="cubic"))
    done = document(as_nobody(open_folder, "--json"))
    assert done["flows"][0]["mean_throughput_l4"] > 8
    assert done["timing"][0]["priority"] == "normal"
    (open_folder / "scenario.toml").write_text(ALONE.format(duration="20s"))
    done = as_nobody(open_folder, "--at", "client", "--", "ping", "-c", "3", "-i", "0.2", "{server}")
    assert " 0% packet loss" in done.stdout, done.stderr


@needs("setpriv")
@pytest.mark.skipif(not MAY_BECOME_NOBODY, reason="needs user namespaces")
def test_a_missing_permission_is_named_with_what_grants_it(open_folder):
    if os.stat("/dev/net/tun").st_mode & 0o006:
        pytest.skip("every user may open /dev/net/tun here")
    (open_folder / "scenario.toml").write_text(PATH.format(duration="2s") + FLOW.format(congestion="cubic"))
    done = as_nobody(open_folder, device=False)
    assert done.returncode == 1
    assert "cannot open /dev/net/tun: Permission denied" in done.stderr
    assert "chmod 666 /dev/net/tun" in done.stderr


def running(mark):
    """Returns whether the command line of a process has these bytes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            line = path.read_bytes()
            if line.startswith(b"sleep") and mark.encode() in line:
                return True
    return False


def named():
    """Returns the named namespaces.

    Those of `between` are excluded, because other tests create them meanwhile.
    """
    return {path for path in Path("/run/netns").glob("*") if not path.name.startswith(("east", "middle", "west"))}


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_behind(tmp_path, ending):
    mark = f"8{os.getpid()}{int(ending)}"
    text = (
        PATH.format(duration="60s") + f'[[application]]\nnode = "server"\ncommand = "(trap : TERM INT; sleep {mark}; :) & wait"\n'
    )
    file = tmp_path / "scenario.toml"
    file.write_text(text, encoding="utf-8")
    before = named()
    process = subprocess.Popen([sys.executable, "-m", "acklab", "emulate", str(file)], cwd=tmp_path, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not running(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(mark), "the application has started"
    process.send_signal(ending)
    process.wait(30)
    while running(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(mark), "its child has ended too"
    assert named() == before


@pytest.mark.timed
@needs("iperf3")
def test_connections_of_programs_are_flows(tmp_path):
    programs = (
        '[[application]]\nnode = "server"\ncommand = "exec iperf3 -s -1"\n'
        '[[application]]\nnode = "client"\ncommand = "exec iperf3 -c {server} -t 2"\nstart = "300ms"\n'
    )
    out = tmp_path / "out"
    done = emulate(
        tmp_path, ALONE.format(duration="3s") + programs, "--out", out, "--set", "measure.series=['throughput']", "--json"
    )
    flows = document(done)["flows"]
    data = max(flows, key=lambda flow: flow["total_delivered_bytes_l7"])
    assert re.fullmatch(r"client:\d+-server:5201", data["flow"])
    assert (data["src"], data["dst"], data["transport_protocol"], data["traffic_model"]) == ("client", "server", "tcp", "program")
    # 1448 bytes of payload in 1500, while iperf3 sends. A busy machine loses some of it.
    assert 0.6 * 16 * 1448 / 1500 < data["mean_throughput_l4"] < 1.01 * 16 * 1448 / 1500
    assert data["mean_srtt_l4"] > 15
    assert 1.2 < data["mean_data_per_ack_l4"] < 2.2
    assert data["limited_by"] in ("rate", "losses", "window")
    assert data["total_rtos_l4"] is None, "unknown from bytes on the wire"
    assert data["mean_cwnd_l4"] is None
    # The connection that controls the test carries some hundred bytes each way.
    control = [flow for flow in flows if flow is not data]
    assert {(flow["src"], flow["dst"]) for flow in control} == {("client", "server"), ("server", "client")}
    assert all(0 < flow["total_delivered_bytes_l7"] < 20_000 for flow in control)
    shown = subprocess.run([sys.executable, "-m", "acklab", "show", str(out)], capture_output=True, text=True, check=True)
    assert "2 more connections of programs with less than 1% of the bytes" in shown.stdout
    report = subprocess.run([sys.executable, "-m", "acklab", "report", str(out)], capture_output=True, text=True, check=False)
    assert report.returncode == 0, report.stderr


@pytest.mark.timed
@needs("iperf3")
def test_datagrams_of_programs_are_numbered_as_they_leave(tmp_path):
    programs = (
        '[[application]]\nnode = "server"\ncommand = "exec iperf3 -s -1"\n'
        '[[application]]\nnode = "client"\ncommand = "exec iperf3 -u -b 2M -l 1000 -c {server} -t 2"\nstart = "300ms"\n'
    )
    flows = document(emulate(tmp_path, ALONE.format(duration="3s") + programs, "--json"))["flows"]
    data = max((flow for flow in flows if flow["transport_protocol"] == "udp"), key=lambda flow: flow["total_delivered_bytes_l7"])
    assert 1.7 < data["mean_throughput_l4"] < 2.2
    assert data["total_lost_l4"] == 0
    assert data["mean_one_way_delay_l4"] > 7.5
    assert data["last_jitter_l4"] is not None
    assert data["limited_by"] == "application"


def test_a_report_of_an_emulation_without_flows(tmp_path):
    out = tmp_path / "out"
    done = emulate(tmp_path, ALONE.format(duration="1s") + '[[application]]\nnode = "server"\ncommand = "true"\n', "--out", out)
    assert done.returncode in (0, 3), done.stderr
    report = subprocess.run([sys.executable, "-m", "acklab", "report", str(out)], capture_output=True, text=True, check=False)
    assert report.returncode == 0, report.stderr


def started(folder, text, *words, prefix=()):
    """Starts an emulation, and waits until its application writes a file."""
    text += f'[[application]]\nname = "mark"\nnode = "server"\ncommand = "touch {folder / "begun"}; exec sleep 7{os.getpid()}"\n'
    (folder / "scenario.toml").write_text(text, encoding="utf-8")
    command = [*prefix, sys.executable, "-m", "acklab", "emulate", "scenario.toml", *map(str, words)]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not (folder / "begun").exists():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)
    return process


@pytest.mark.timed
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_what_was_measured_is_kept_when_a_run_is_stopped(tmp_path, ending):
    text = PATH.format(duration="60s") + FLOW.format(congestion="cubic") + '[[capture]]\npoint = "client"\nfile = "a.pcapng"\n'
    process = started(tmp_path, text, "--out", "kept")
    time.sleep(1.5)
    process.send_signal(ending)
    told, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "goodput" in told
    assert re.search(r"note: stopped early at \d+\.\d s: the tables cover the time until then", errors)
    result = acklab.load_result(tmp_path / "kept")
    at = result.table("timing")["stopped_time"][0]
    assert 1.5 < at < 40
    (flow,) = result.flows.to_dicts()
    # 1448 bytes of payload in 1500. Means are over the time until the stop, not over the configured
    # duration.
    assert 0.5 * 16 * 1448 / 1500 < flow["mean_throughput_l4"] < 1.01 * 16 * 1448 / 1500
    assert (tmp_path / "kept" / "a.pcapng").stat().st_size > 100_000
    assert (tmp_path / "kept" / "mark.out").exists()


def test_a_run_that_is_stopped_before_it_measures_keeps_nothing(tmp_path):
    process = started(tmp_path, ALONE.format(duration="60s") + '[measure]\nfrom = "50s"\n', "--out", "kept")
    process.send_signal(signal.SIGINT)
    told, errors = process.communicate(timeout=30)
    assert (process.returncode, told) == (130, ""), errors
    assert not (tmp_path / "kept").exists()


@contextlib.contextmanager
def load(processes):
    """Runs processes that compute until the end of the block."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


SENDER = "import socket, sys, time\ns = socket.socket(type=socket.SOCK_DGRAM)\nwhile True: s.sendto(bytes(1000), (sys.argv[1], 9)); sum(range(20000))\n"


@pytest.mark.alone
def test_a_program_that_other_processes_starve_makes_a_run_untrusted(tmp_path):
    """The program computes, and so do four processes per processor.

    Packets are on time, but the program sends less than without the other processes.
    """
    (tmp_path / "send.py").write_text(SENDER)
    program = f'[[application]]\nname = "source"\nnode = "client"\ncommand = "exec {sys.executable} send.py {{server}}"\n'
    with load(4 * (os.cpu_count() or 1)):
        done = document(emulate(tmp_path, ALONE.format(duration="3s") + program, "--json"))
    (timing,) = done["timing"]
    assert timing["waiting_program"] == '"source"'
    assert timing["worst_second_waiting"] > 0.3
    assert timing["trusted"] == "no"
    assert '"source" waited for a processor' in timing["reasons"]
    assert done["applications"][0]["worst_second_waiting"] == timing["worst_second_waiting"]


@pytest.mark.alone
@needs("setpriv")
def test_a_loaded_machine_without_priority_is_said(tmp_path):
    text = PATH.format(duration="3s") + FLOW.format(congestion="cubic")
    (tmp_path / "scenario.toml").write_text(text)
    command = ["setpriv", "--bounding-set", "-sys_nice", sys.executable, "-m", "acklab", "emulate", "scenario.toml", "--json"]
    with load(4 * (os.cpu_count() or 1)):
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)
    assert done.returncode == 3, done.stderr
    (timing,) = json.loads(done.stdout)["timing"]
    assert (timing["priority"], timing["trusted"]) == ("normal", "no")
    assert "without real-time priority, other processes delay packets" in timing["reasons"]


def holds(process):
    """Returns the links of a process's descriptors, and its threads' network namespaces."""
    links = set()
    for pattern in ("fd/*", "task/*/ns/net"):
        for path in Path(f"/proc/{process}").glob(pattern):
            with contextlib.suppress(OSError):
                links.add(os.readlink(path))
    return links


def held():
    """Returns the resources of each process."""
    return {path.name: holds(path.name) for path in Path("/proc").glob("[0-9]*")}


def test_nothing_is_held_after_a_kill(tmp_path):
    """No namespace is left, so no device in a namespace either, and no request to keep processors
    awake.

    The kernel removes both with their process.
    """
    devices = set(os.listdir("/sys/class/net"))
    before = set().union(*held().values())
    process = started(tmp_path, PATH.format(duration="60s") + FLOW.format(congestion="cubic"), "--out", "kept")
    running = held()
    own = running[str(process.pid)]
    namespaces = {link for link in own if link.startswith("net:")} - before
    assert namespaces, "it has namespaces of its own"
    assert "/dev/net/tun" in own
    assert ("/dev/cpu_dma_latency" in own) == os.access("/dev/cpu_dma_latency", os.W_OK)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 10
    while (left := namespaces & set().union(*held().values())) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left
    assert set(os.listdir("/sys/class/net")) == devices
    done = emulate(tmp_path, PATH.format(duration="1s") + FLOW.format(congestion="cubic"), "--out", "kept")
    assert done.returncode in (0, 3), "a folder that a killed run was writing to is free again"
    assert not [path for path in (tmp_path / "kept").iterdir() if path.name.startswith(".")]
