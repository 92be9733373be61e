"""Fairness between flows with the same controller behind one gate."""

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals
from acklab.studies import Bench

from .runs import COMMAND, EQUALS, equals


def section(bench: Bench) -> Section:
    """Returns Jain's index and the total throughput of flows with the same controller."""
    result = equals(bench)
    controller, gate = result.columns.values()
    network = result.network.rename({controller: "controller"})
    flows = result.flows.rename({controller: "controller"})
    by = ["controller", gate]
    jain = intervals(network, by, "jain_throughput_l4").to_dicts()
    total = intervals(flows, by, "mean_throughput_l4", within="sum").to_dicts()
    delay = intervals(flows, by, "mean_srtt_l4", within="mean").to_dicts()
    rows = [
        [
            one["controller"],
            one[gate],
            *(Interval.of_row(cell).text(digits) for cell, digits in zip(cells, (3, 2, 1), strict=True)),
        ]
        for one, *cells in zip(jain, jain, total, delay, strict=True)
    ]
    commands = [COMMAND, result.rerun]
    over = f"mean and 95 % confidence interval over {len(result.seeds)} seeds"
    return Section(
        "Fairness between equal flows",
        f"{EQUALS} flows with the same controller start 100 ms apart and share the path for 30 s, without the first 5 s; preset linux. An index of 1 means equal shares, "
        f"and {1 / EQUALS:g} means that one flow has everything. Each run is one sample: throughputs are summed and RTTs averaged over its flows.",
        items=[
            Figure(figures.heat_map(network, gate, "controller", "jain_throughput_l4", "Jain's index"), f"Jain's index of throughput: {over}", commands),
            Table(["controller", "gate", "Jain's index", "total throughput [Mbps]", "mean sRTT [ms]"], rows, over.capitalize(), commands=commands, numeric_from=2),
        ],
    )  # fmt: skip
