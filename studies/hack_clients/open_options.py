"""Options of TCP/HACK that the paper omits, one at a time."""

from acklab.report import Section, Table
from acklab.statistics import Interval, intervals
from acklab.studies import Bench
from acklab.sweeps import load_sweep

from .runs import ENDS, OF, over


def section(bench: Bench) -> Section:
    """Returns goodput by option."""
    titles = bench.variants("options.toml").chosen
    rows: list[list[str]] = [[variant.title] for variant in titles.values()]
    commands = []
    for count in ENDS:
        swept = load_sweep(bench.folder / f"options_{count}")
        commands.append(swept.rerun)
        means = intervals(swept.network, ["option"], "agg_throughput_l4")
        known = {cell["option"]: cell for cell in means.to_dicts()}
        for row, cell in zip(rows, (known[name] for name in titles), strict=True):
            row.append(Interval.of_row(cell).text(1))
    head = ["option", *(f"{OF[count]} [Mbps]" for count in ENDS)]
    return Section(
        "Options of TCP/HACK that the paper omits",
        "One option at a time.",
        items=[Table(head, rows, f"Goodput: {over(bench)}", commands=commands)],
    )
