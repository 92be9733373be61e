"""The study of ACK compression: its gates, and a share of its benchmark of controllers."""

import sys

from acklab.report import Figure, Table
from acklab.studies import Bench, find
from conftest import study_code


def test_every_gate_is_a_scenario_and_divides_the_phases():
    bench = Bench(find("ack_compression"), find("ack_compression").folder)
    for variant in bench.variants("gates.toml").chosen.values():
        gate = bench.source("controllers.toml").load(list(variant.set))["link"][1]["reverse"].get("gate")
        assert gate is None or 100 % int(gate["interval"].removesuffix("ms")) == 0


def test_a_share_of_the_benchmark(tmp_path, monkeypatch):
    module = study_code("ack_compression")
    runs = vars(sys.modules[module.controllers.controllers.__module__])
    monkeypatch.setitem(runs, "ALGORITHMS", ["newreno", "bbr"])
    monkeypatch.setitem(runs, "PRESETS", ["linux"])
    bench = Bench(find("ack_compression"), tmp_path, quick=True, quiet=True)
    points, costs, numbers = module.controllers.sections(bench)
    (table,) = (item for item in numbers.items if isinstance(item, Table))
    cells = {(row[0], row[1]): float(row[2].split(" ")[0]) for row in table.rows}
    # A sender limited by its window stops while a gate is closed for longer than the queue lasts. A
    # sender limited by its rate continues.
    assert cells["200 per 50 ms", "newreno"] < 5
    assert cells["200 per 50 ms", "bbr"] > 12
    assert cells["no gate", "newreno"] > 15
    fair = module.fairness.section(bench)
    drawn = [item for section in (points, costs, fair) for item in section.items if isinstance(item, Figure)]
    assert len(drawn) == 6
    assert all(figure.commands for figure in drawn)
    jain = {(row[0], row[1]): float(row[2].split(" ")[0]) for row in fair.items[1].rows}
    assert jain["newreno", "10 per 5 ms"] > 0.95


def test_the_numbers_of_the_page_need_the_settings_that_it_does_not_name(tmp_path):
    section = study_code("ack_compression").unspecified.section(Bench(find("ack_compression"), tmp_path, quick=True, quiet=True))
    *rows, published = section.items[0].rows
    assert published[3] == "13.92"
    counts = {row[0]: int(row[2].removesuffix(" of 26")) for row in rows}
    assert counts.pop("all five") == 24
    # The send buffer only affects the application's writes. Each of the other settings decides
    # whether a timeout occurs.
    assert counts.pop("128 KiB to send") == 19
    assert max(counts.values()) <= 11
