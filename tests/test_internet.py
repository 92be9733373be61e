"""A node of an emulation that leads to other networks.

A server in a separate namespace represents the Internet.
"""

import contextlib
import os
import shutil
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(any(shutil.which(tool) is None for tool in ("nft", "ip", "curl")), reason="needs nft, ip and curl"),
    pytest.mark.timed,
]

# 40 ms in both directions together, which distinguishes packets that pass the path.
PATH = """
flow = []
duration = "20s"
seed = 1

[[link]]
name = "access"
from = "isp"
to = "client"
forward = { rate = "10Mbps", delay = "20ms" }
reverse = { rate = "2Mbps", delay = "20ms" }
"""
SERVER = """
import http.server, sys
class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
        self.wfile.write(self.client_address[0].encode())
    def log_message(self, *words): pass
http.server.HTTPServer(("192.0.2.2", 8080), Pages).serve_forever()
"""


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def machine():
    """Returns the name of a namespace that represents this machine.

    A server in another namespace is behind it.
    """
    inner, outer = f"acklab-machine-{os.getpid()}", f"acklab-outside-{os.getpid()}"
    with contextlib.ExitStack() as stack:
        for name in (inner, outer):
            ip("netns", "add", name)
            stack.callback(subprocess.run, ["ip", "netns", "del", name], capture_output=True, check=False)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", inner, "link", "add", "uplink", "type", "veth", "peer", "name", "inside", "netns", outer)
        for name, device, address in ((inner, "uplink", "192.0.2.1/24"), (outer, "inside", "192.0.2.2/24")):
            ip("-n", name, "address", "add", address, "dev", device)
            ip("-n", name, "link", "set", device, "up")
        ip("netns", "exec", inner, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        server = subprocess.Popen(["ip", "netns", "exec", outer, sys.executable, "-c", SERVER])
        stack.callback(server.wait)
        stack.callback(server.kill)
        yield inner


def emulate(machine, path, *command):
    acklab = [sys.executable, "-m", "acklab", "emulate", str(path), "--internet", "isp", "--at", "client", "--", *command]
    return subprocess.run(["ip", "netns", "exec", machine, *acklab], capture_output=True, text=True, timeout=60, check=False)


def left(machine):
    """Returns the existing devices and the tables of nftables."""
    devices = subprocess.run(["ip", "-n", machine, "-o", "link"], capture_output=True, text=True, check=True).stdout
    rules = subprocess.run(
        ["ip", "netns", "exec", machine, "nft", "list", "ruleset"], capture_output=True, text=True, check=True
    ).stdout
    return len(devices.splitlines()), rules


def test_a_client_reaches_a_server_outside_and_nothing_stays(machine, tmp_path):
    path = tmp_path / "path.toml"
    path.write_text(PATH)
    before = left(machine)
    timed = "%{http_code} %{time_connect} %{time_total}"
    done = emulate(
        machine, path, "curl", "-s", "--retry", "5", "--retry-connrefused", "-w", f" {timed}", "http://192.0.2.2:8080/"
    )
    assert done.returncode == 0, done.stderr
    source, code, connected, total = done.stdout.split()
    # The server sees the address of the machine: the client's has been translated twice.
    assert (source, code) == ("192.0.2.1", "200")
    # One round trip of the path for the handshake, and one for the page.
    assert 0.040 <= float(connected) < 0.120
    assert float(total) >= 0.080
    assert left(machine) == before


def test_a_machine_that_does_not_forward_is_told(machine, tmp_path):
    path = tmp_path / "path.toml"
    path.write_text(PATH)
    ip("netns", "exec", machine, "sysctl", "-q", "-w", "net.ipv4.ip_forward=0")
    refused = emulate(machine, path, "true")
    assert refused.returncode != 0
    assert "sysctl -w net.ipv4.ip_forward=1" in refused.stderr
