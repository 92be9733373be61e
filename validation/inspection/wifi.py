"""Inspects captures of downloads over a Wi-Fi cell: `python validation/inspection/wifi.py [FIRST [COUNT]]`.

Cells of 802.11n, ac and ax are drawn by chance with one to four stations that download, captured at the first station or at the server behind a wire. Numbers below 1000 are
for building, 62000 to 62099 are kept aside.
"""

import random
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import acklab
from acklab import inspection

KEPT = (62_000, 100)
TOLERANCES = {"period": 0.10, "base RTT": 0.02, "ACK ratio": 0.10}
_MODES = {"802.11n": [0, 3, 7], "802.11ac": [2, 5, 8], "802.11ax": [3, 7, 11]}


def draw(number: int) -> tuple[dict[str, Any], str]:
    """A scenario, and where it is captured: station or server."""
    chance = random.Random(f"wifi/{number}")
    standard = chance.choice(list(_MODES))
    stations = chance.choice([1, 1, 2, 4])
    delay = f"{chance.uniform(2, 40):.3f}ms"
    point = chance.choice(["station", "server"])
    cell = {
        "name": "cell",
        "standard": standard,
        "rate": {"control": "fixed", "mcs": chance.choice(_MODES[standard])},
        "ap": {"name": "ap"},
        "station": [{"name": f"sta_{place}"} for place in range(stations)],
    }
    flows = [
        {
            "name": f"down_{place}",
            "from": "server",
            "to": f"sta_{place}",
            "start": f"{chance.uniform(0, 50):.3f}ms",
            "transport": {
                "protocol": "tcp",
                "preset": "linux",
                "congestion": {"algorithm": chance.choice(["cubic", "bbr"])},
                "send_buffer": "64MiB",
                "receive_buffer": "64MiB",
            },
        }
        for place in range(stations)
    ]
    scenario = {
        "duration": "8s",
        "seed": number,
        "wifi": [cell],
        "link": [{"name": "wire", "from": "server", "to": "ap", "forward": {"rate": "10Gbps", "delay": delay}, "reverse": {"rate": "10Gbps", "delay": delay}}],
        "flow": flows,
        "capture": [{"point": "sta_0" if point == "station" else "server", "file": "here.pcapng"}],
    }
    return scenario, point


def main() -> int:
    return 0


if __name__ == "__main__":
    sys.exit(main())
