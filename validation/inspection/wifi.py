"""Inspects captures of downloads over a Wi-Fi cell.

Usage: `python validation/inspection/wifi.py [FIRST [COUNT]]`.

Cells of 802.11n, ac and ax are drawn at random with one to four stations that download, captured at
the first station or at the server behind a wire. The true period of aggregates is the period of the
PPDUs with the station's data or ACKs, which tshark reads from a capture of the cell. Numbers below
1000 are for development. Results of 62000 to 62079 and 62100 to 62133 were examined. Numbers from
68000 on are a held-out test set.
"""

import itertools
import random
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import acklab
from acklab import inspection
from validation.inspection import judging

KEPT = (68_000, 40)
TOLERANCES = {"period": 0.10, "goodput": 0.05, "ACK ratio": 0.10}
_MODES = {"802.11n": [0, 3, 7], "802.11ac": [2, 5, 8], "802.11ax": [3, 7, 11]}


def draw(number: int) -> tuple[dict[str, Any], str]:
    """Returns a scenario, and the place of its capture: station or server."""
    chance = random.Random(f"wifi/{number}")
    standard = chance.choice(list(_MODES))
    stations = chance.choice([1, 1, 2, 4])
    wire = {"rate": "10Gbps", "delay": f"{chance.uniform(2, 40):.3f}ms"}
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
        "link": [{"name": "wire", "from": "server", "to": "ap", "forward": wire, "reverse": wire}],
        "flow": flows,
        "capture": [
            {"point": "sta_0" if point == "station" else "server", "file": "here.pcapng"},
            {"point": "cell", "file": "air.pcapng"},
        ],
    }
    return scenario, point


def period_on_air(air: Path, ends: list[str], point: str) -> float:
    """Returns the median time in ms between PPDUs with data of a connection, or its ACKs."""
    (sender, port), (receiver, _) = (end.rsplit(":", 1) for end in ends)
    wanted = "tcp.len > 0" if point == "station" else "tcp.len == 0"
    source, side = (sender, "srcport") if point == "station" else (receiver, "dstport")
    rule = f"ip.src == {source} && tcp.{side} == {port} && {wanted} && tcp.flags.syn == 0"
    fields = ["-T", "fields", "-e", "frame.time_epoch"]
    told = subprocess.run(["tshark", "-r", air, "-Y", rule, *fields], check=True, capture_output=True, text=True).stdout
    times = sorted({float(line) for line in told.split()})
    return 1e3 * statistics.median(after - before for before, after in itertools.pairwise(times))


def judge(number: int) -> dict[str, Any]:
    """Returns the true and the found value of each quantity: {quantity: (truth, found)}."""
    scenario, point = draw(number)
    with tempfile.TemporaryDirectory() as folder:
        result = acklab.run(scenario, captures=folder)
        found = inspection.inspect(Path(folder) / "here.pcapng")
        flow = result.flows.row(0, named=True)
        # A capture at the server has the connections of all stations. The first connection starts
        # at the time of the first flow.
        way = next(way for way in found.ways if way["to"].startswith("10.0.0.3:"))
        period = period_on_air(Path(folder) / "air.pcapng", [way["from"], way["to"]], point)
    acks = way["acks"]
    assert acks is not None
    count = flow["total_acks_sent_l4"] if point == "station" else flow["total_acks_delivered_l4"]
    cell = scenario["wifi"][0]
    return {
        "number": number,
        "kind": f"{point}, {cell['standard']} MCS {cell['rate']['mcs']}, {len(scenario['flow'])} stations",
        "period": (period, acks["period"]),
        "goodput": (flow["mean_throughput_l4"], way["goodput"]),
        "ACK ratio": (flow["total_data_packets_l4"] / count, acks["ratio"]),
        "thinned": acks["thinning"] == "thinned",
    }


def main() -> int:
    """Prints the table."""
    words = sys.argv[1:]
    first, count = int(words[0]) if words else KEPT[0], int(words[1]) if len(words) > 1 else KEPT[1]
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(judge, range(first, first + count)))
    judging.show(found, TOLERANCES)
    print(f"thinner found where there is none: {sum(one['thinned'] for one in found)} of {len(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
