"""The numbers of `make bench` in the documentation."""

import json
import re
import shutil
from pathlib import Path

import pytest

from scripts import bench
from scripts.places import read

ROOT = Path(__file__).parents[1]
TABLE = """\
scenario                                           ns/hop  ns/wake   Mpackets/s  CPU s / sim s        vs ns-3   peak MB
dumbbell, gate 5 ms / 10, access links               80.1    100.2        12.48       0.000700           37 x      20.5
100 CUBIC flows, 1 Gbps, RTT 20 ms, FIFO 1667        90.0    110.0        11.11       0.040000          105 x      31.0
BBR, 1 Gbps, RTT 100 ms, 5 % lost: many holes        95.5    120.0        10.47       0.050000                     33.1
802.11n, 150 Mbps, CUBIC down, 1 station             70.0     90.0        14.28       0.002000           93 x      21.0
802.11b, 11 Mbps, NewReno up, 10 stations            failed
802.11ac, 867 Mbps, CUBIC down, 1 station            75.0     95.0        13.33       0.009000          106 x      24.4
the same 802.11n with HACK, 1 station                71.0     91.0        14.08       0.001900   0.95 of stock      21.5
the same over TACK with BBR                          82.0    101.0        12.20       0.004000     0.80 of TCP      22.0
"""


def test_the_documentation_has_the_numbers_that_were_measured_last():
    measured = json.loads((ROOT / bench.DATA).read_text())
    for (page, name), text in bench.places(measured["rows"], measured["ns3"]).items():
        assert read(ROOT / page, name) == text, f"{page} differs from {bench.DATA}: run `python -m scripts.bench`"


def test_a_table_is_read_row_by_row():
    measured = bench.rows(TABLE)
    assert [row["times_of_ns3"] for row in measured] == [37, 105, None, 93, 106, None, None]
    assert [row["share_of_tcp"] for row in measured] == [None] * 6 + [0.8]
    assert measured[-2] == {
        "scenario": "the same 802.11n with HACK, 1 station",
        "nanoseconds_per_hop": 71.0,
        "nanoseconds_per_wake": 91.0,
        "million_packets_per_second": 14.08,
        "cpu_seconds_per_simulated_second": 0.0019,
        "times_of_ns3": None,
        "share_of_stock": 0.95,
        "share_of_tcp": None,
        "peak_megabytes": 21.5,
    }


def test_a_row_that_is_not_understood_is_an_error():
    with pytest.raises(SystemExit, match="expected a row of the table"):
        bench.rows(TABLE.replace("0.80 of TCP", "0.80 of UDP"))


def test_a_new_table_changes_the_documentation(tmp_path):
    for page, _ in bench.places(bench.rows(TABLE)):
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / page, tmp_path / page)
    bench.put(tmp_path, bench.rows(TABLE))
    assert read(tmp_path / "README.md", "bench") == "37 to 106 times less CPU time, and at most 33 MB"
    assert read(tmp_path / "docs/decisions/medium.md", "bench").startswith("93 to 106 times the CPU time")
    (tmp_path / "README.md").write_text("nothing")
    with pytest.raises(SystemExit, match=r"README\.md: found 0 places"):
        bench.put(tmp_path, bench.rows(TABLE))


def test_a_table_without_ns3_changes_nothing():
    without = re.sub(r"\d+ x ", "    ", TABLE)
    with pytest.raises(SystemExit, match="ns-3 was left out"):
        bench.places(bench.rows(without))
