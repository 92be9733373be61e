"""The proxy of the deployed TACK over an emulated Wi-Fi link, under the curl of the system."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_EMULATE = os.geteuid() == 0 and Path("/dev/net/tun").exists() and shutil.which("ip") is not None

pytestmark = [
    pytest.mark.skipif(not MAY_EMULATE, reason="needs root, /dev/net/tun and iproute2"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl"),
    pytest.mark.timed,
]


def test_curl_fetches_all_of_a_file_through_the_proxy_and_over_tcp():
    command = [
        sys.executable,
        str(ROOT / "validation" / "proxy" / "pages.py"),
        "--loads",
        "1",
        "--octets",
        "300000",
        "--without-browser",
        "--json",
    ]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)
    assert {load["way"] for load in told["loads"]} == {"TCP, CUBIC", "TCP, BBR", "proxy"}
    for load in told["loads"]:
        # Two round trips of 20 ms, and 26 Mbps at most.
        assert load["file"] is not None, load
        assert load["file"] > 0.1, load
        assert load["small"] > 0.04, load
