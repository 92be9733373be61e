"""Figure 10, and other filters than the paper's."""

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import mean_interval
from acklab.studies import Bench

from .arms import DELAYED, RELAXED
from .contention import GOODPUT
from .drawing import FILTER, FILTER_DELAYED, PLAIN, PLAIN_DELAYED, Series, metrics_over_stations, over_stations
from .runs import COMMAND, METRICS, SCENARIO, STATIONS, TEN, command, summary

FILTERS = "filters.toml"
_INKS = {
    "none": (PLAIN, "solid"),
    "duplicates": (FILTER, "solid"),
    "duplicates at the tail": (FILTER, "dot"),
    "nothing": ("#009E73", "solid"),
    "nothing at the tail": ("#009E73", "dot"),
    "CAKE": ("#8C6BB1", "solid"),
    "CAKE aggressive": ("#8C6BB1", "dot"),
}


def sections(bench: Bench, frame: pl.DataFrame, of: str, commands: list[str]) -> list[Section]:
    """Both."""
    return [_delayed(frame, of, commands), _filters(bench)]


def _delayed(frame: pl.DataFrame, of: str, commands: list[str]) -> Section:
    panels = {
        window.replace("CW ", "CWmin "): [
            Series("an ACK for each segment", RELAXED[window].name, PLAIN),
            Series("delayed ACKs", DELAYED[window].name, PLAIN_DELAYED),
            Series("filter", RELAXED[window].filtered.name, FILTER),
            Series("delayed ACKs and filter", DELAYED[window].filtered.name, FILTER_DELAYED, "dot"),
        ]
        for window in RELAXED
    }
    figure = over_stations(frame, panels, "mbps", GOODPUT)
    text = "Delayed ACKs take out every other ACK, whatever the queue holds; the filter takes out what has piled up, and with it delayed ACKs change next to nothing."
    return Section(
        "Delayed ACKs", text, [Figure(figure, f"Goodput by number of stations, q = 250: {of} (the paper's Figure 10)", commands)]
    )


def _filters(bench: Bench) -> Section:
    filters = bench.variants(FILTERS)
    seeds = min(3, bench.seeds)
    result = bench.sweep(SCENARIO, "filters", {"filter": filters, STATIONS: [2, 5, TEN, 20, 30]}, seeds=seeds)
    frame = summary(result)
    series = [Series(name, name, *_INKS[name]) for name in filters.chosen]
    shown = {metric: METRICS[metric].replace(" of the access point", "") for metric in ("mbps", "jain", "queue")}
    figure = Figure(
        metrics_over_stations(frame, "filter", series, shown),
        f"What filters make of the cell, q = 250: mean over {seeds} seeds with its interval of 95 %",
        [COMMAND, command(result)],
    )
    rows = []
    for name, variant in filters.chosen.items():
        own = frame.filter(pl.col("filter") == name, pl.col("stations") == TEN)
        rows.append([name, variant.title, *(f"{mean_interval(own[metric]).mean:.2f}" for metric in METRICS)])
    table = Table(
        ["filter", "what stays, and where the newest waits", *METRICS.values()],
        rows,
        f"Filters with {TEN} stations",
        commands=[COMMAND, command(result)],
        numeric_from=2,
    )
    text = "The paper's filter keeps duplicates, so that fast retransmission works as without it. A queue that keeps none of them stays shorter still, and CAKE's keeps two ACKs of a flow."
    return Section("Other filters", text, [figure, table])
