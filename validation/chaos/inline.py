"""Frames through `acklab inline`. Each received frame is compared with the sent frame."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from between import EAST, MIDDLE, WEST, bridge, hosts, ip, standing, within
from validation.chaos.frames import EAST_ADDRESS, KINDS, WEST_ADDRESS
from validation.chaos.rows import Row


@contextlib.contextmanager
def passing(seconds: float) -> Iterator[dict[str, Any]]:
    """Sends frames from the east to the west. Yields a dict that has the counts afterwards."""
    for host, address in ((EAST, EAST_ADDRESS), (WEST, WEST_ADDRESS)):
        ip("-n", host, "link", "set", "lan", "address", ":".join(f"{octet:02x}" for octet in address))
        # Otherwise, the kernel would compute checksums later, and merge several frames into one.
        subprocess.run(within(host, "ethtool", "-K", "lan", "tx", "off", "gro", "off"), capture_output=True, check=False)
    # If this setting is 1, the kernel's bridge drops malformed IPv4 packets even without acklab.
    subprocess.run(within(MIDDLE, "sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=0"), capture_output=True, check=False)
    here, found = Path(__file__).with_name("frames.py"), dict[str, Any]()
    receiver = subprocess.Popen(within(WEST, sys.executable, here, "receive", seconds + 3), stdout=subprocess.PIPE, text=True)
    try:
        assert receiver.stdout is not None
        receiver.stdout.readline()
        sender = subprocess.Popen(within(EAST, sys.executable, here, "send", seconds), stdout=subprocess.PIPE, text=True)
        yield found
        found["sent"] = int(sender.communicate()[0])
        found |= json.loads(receiver.communicate()[0])
    finally:
        receiver.kill()


def compared(row: Row, seconds: float) -> None:
    """Compares all received frames. Inline must report the other frames as dropped."""
    with hosts(), standing("east", "west", "--delay", "5ms", may_stall=True) as path, passing(seconds) as found:
        pass
    told = path.result["interfaces"]
    dropped = sum(side[name] for side in told for name in ("overruns", "refused", "discarded"))
    missing = found["sent"] - found["right"]
    row.inputs += found["sent"]
    row.load = f"{found['sent']:,} frames of {len(KINDS)} kinds, {found['octets'] / 1e6:.0f} MB: {found['right']:,} right, {dropped:,} dropped and counted"
    row.lost += found["wrong"] * 1500 + max(0, missing - dropped - found["missed"]) * 1500
    row.expect(found["wrong"] == 0, f"{found['wrong']} frames arrive changed")
    row.expect(found["twice"] == 0, f"{found['twice']} frames arrive twice")
    row.expect(found["overtaken"] == 0, f"{found['overtaken']} frames arrive before earlier ones of their flow")
    row.expect(found["right"] > found["sent"] / 2, "less than half of the frames arrive")


def interrupted(row: Row, seconds: float) -> None:
    """Stops, kills and restarts inline.

    Frames may be lost, but not changed, duplicated or reordered.
    """
    with hosts():
        bridge()
        with passing(seconds) as found:
            until = time.monotonic() + seconds
            while time.monotonic() < until - 3:
                with standing("east", "west", "--delay", "5ms", may_stall=True) as path:
                    time.sleep(0.7)
                    for number, pause in ((signal.SIGSTOP, 0.4), (signal.SIGCONT, 0.5)):
                        path.process.send_signal(number)
                        time.sleep(pause)
                    if row.faults % 3:
                        path.process.send_signal(signal.SIGKILL)
                row.faults += 2
    row.inputs += found["sent"]
    row.load = f"{found['sent']:,} frames: {found['right']:,} right"
    row.lost += found["wrong"] * 1500
    row.expect(found["wrong"] == 0, f"{found['wrong']} frames arrive changed")
    row.expect(found["twice"] == 0, f"{found['twice']} frames arrive twice")
    row.expect(found["overtaken"] == 0, f"{found['overtaken']} frames arrive before earlier ones of their flow")
    row.expect(found["right"] > found["sent"] / 2, "less than half of the frames arrive")
