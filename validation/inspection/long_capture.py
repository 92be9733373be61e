"""Measures memory and time of `acklab inspect` on a capture of any length.

Usage: `python validation/inspection/long_capture.py GIGABYTES [--one] [--instructions]`.

A simulated capture of two bulk transfers over 1 Gbps, of headers only, is repeated with later times
and other ports until the file is long enough, so that each repetition is a pair of new connections.
With `--one`, ports are constant and sequence numbers continue, so that two connections last for the
whole file. Prints the number of packets, the peak memory and the processor time. With
`--instructions`, prints the instructions per packet that callgrind counts, from captures of one and
two repetitions (takes minutes). The file is written to the folder of temporary files and removed.
"""

import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import acklab

SECONDS = 10
SCENARIO = {
    "duration": f"{SECONDS}s",
    "seed": 1,
    "link": [
        {
            "name": "wire",
            "from": "server",
            "to": "client",
            "forward": {"rate": "1Gbps", "delay": "5ms", "queue": {"discipline": "fifo", "limit": "4000packets"}},
            "reverse": {"rate": "1Gbps", "delay": "5ms"},
        }
    ],
    "flow": [
        {
            "from": "server",
            "to": "client",
            "preset": "linux",
            "congestion": "cubic",
            "send_buffer": "4MiB",
            "receive_buffer": "4MiB",
        }
        for _ in range(2)
    ],
    "capture": [{"point": "server", "file": "base.pcapng"}],
}
_HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101)
"""Magic number of a pcap file with nanoseconds and IP packets."""
_PORT = 9
"""Port of the receivers. All other ports are those of senders."""


Numbers = Any
"""An array of numpy, whose operators mypy takes for those of any type."""


class Base:
    """The records of a pcap file, and the positions of the fields that change."""

    def __init__(self, capture: Path) -> None:
        raw = capture.with_suffix(".pcap")
        subprocess.run(["tshark", "-r", capture, "-F", "nsecpcap", "-w", raw], check=True)
        octets = np.frombuffer(raw.read_bytes()[24:], dtype=np.uint8)
        view = octets.tobytes()
        starts, place = [], 0
        while place < len(view):
            starts.append(place)
            place += 16 + struct.unpack_from("<I", view, place + 8)[0]
        self.octets = octets.copy()
        self.starts = np.array(starts)
        seconds, nanos = self._little(0), self._little(4)
        self.times = seconds * 10**9 + nanos
        self.span = int(self.times[-1] - self.times[0]) + 10**6
        ip = self.starts + 16
        ports = ip + 20
        sends = self._big16(ports) != _PORT
        self.ports = np.where(sends, ports, ports + 2)
        self.own_ports = self._big16(self.ports)
        # Sequence numbers of the sender, and acknowledgment numbers of the receiver.
        self.numbers = np.where(sends, ip + 24, ip + 28)
        self.own_numbers = self._big32(self.numbers)

    def _little(self, place: int) -> Numbers:
        parts = [self.octets[self.starts + place + octet].astype(np.int64) << 8 * octet for octet in range(4)]
        return sum(parts[1:], parts[0])

    def _big16(self, places: Numbers) -> Numbers:
        return self.octets[places].astype(np.int64) << 8 | self.octets[places + 1]

    def _big32(self, places: Numbers) -> Numbers:
        return self._big16(places) << 16 | self._big16(places + 2)

    def _put(self, places: Numbers, values: Numbers, size: int, is_big: bool) -> None:
        for octet in range(size):
            shift = 8 * (size - 1 - octet if is_big else octet)
            self.octets[places + octet] = values >> shift & 0xFF

    def repetition(self, number: int, is_one: bool) -> bytes:
        """Returns the records of the repetition with this number."""
        times = self.times + number * self.span
        self._put(self.starts, times // 10**9, 4, is_big=False)
        self._put(self.starts + 4, times % 10**9, 4, is_big=False)
        if is_one:
            most = int((self.own_numbers - self.own_numbers.min()).max())
            self._put(self.numbers, (self.own_numbers + number * most) % 2**32, 4, is_big=True)
        else:
            self._put(self.ports, self.own_ports - 2 * number, 2, is_big=True)
        return self.octets.tobytes()


def measured(capture: Path, counts: bool) -> dict[str, float]:
    """Measures the inspection of a capture in a separate process; `counts` adds instructions."""
    code = (
        "import json, resource, sys; from acklab import _core; report = json.loads(_core.inspect(sys.argv[1])[0]); use = resource.getrusage(resource.RUSAGE_SELF);"
        # getrusage would report the memory of this process, from which the child was forked.
        "peak = next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'));"
        "print(json.dumps({'packets': report['counts']['packets'], 'connections': report['counts']['connections'],"
        " 'malformed': report['counts']['malformed'], 'megabytes': int(peak) / 1e3, 'seconds': use.ru_utime + use.ru_stime}))"
    )
    words = [sys.executable, "-c", code, str(capture)]
    counter = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] if counts else []
    done = subprocess.run([*counter, *words], check=True, capture_output=True, text=True)
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    collected = re.search(r"Collected : (\d+)", done.stderr)
    return told | ({"instructions": float(collected[1])} if collected else {})


def main() -> int:
    """Prints the costs of short and long captures."""
    options = {"--one", "--instructions"} & set(sys.argv)
    words = [word for word in sys.argv[1:] if word not in options]
    octets, counts = float(words[0] if words else 1) * 1e9, "--instructions" in options
    with tempfile.TemporaryDirectory() as folder:
        acklab.run(SCENARIO, captures=folder)
        base = Base(Path(folder) / "base.pcapng")
        costs = []
        for count in (1, 2 if counts else max(round(octets / len(base.octets)), 2)):
            capture = Path(folder) / f"{count}.pcap"
            with capture.open("wb") as file:
                file.write(_HEADER)
                for number in range(count):
                    file.write(base.repetition(number, "--one" in options))
            costs.append(measured(capture, counts))
            size = capture.stat().st_size
            capture.unlink()
            figures = ", ".join(f"{name} {value:,.6g}" for name, value in costs[-1].items())
            print(f"{size / 1e9:.2f} GB: {figures}", flush=True)
        short, long = costs
        packets = long["packets"] - short["packets"]
        if counts:
            print(f"a packet: {(long['instructions'] - short['instructions']) / packets:.0f} instructions")
        else:
            print(f"a packet: {1e9 * (long['seconds'] - short['seconds']) / packets:.0f} ns of processor time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
