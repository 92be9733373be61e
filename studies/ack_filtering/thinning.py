"""Figure 10, and other ACK filters than the paper's."""

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import mean_interval
from acklab.studies import Bench

from .arms import DELAYED, RELAXED
from .contention import GOODPUT
from .drawing import FILTER, FILTER_DELAYED, PLAIN, PLAIN_DELAYED, Series, metrics_over_stations, over_stations
from .runs import COMMAND, METRICS, MOST, SCENARIO, STATIONS, TEN, summary

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
    """Returns the sections on Figure 10 and on other filters."""
    return [_delayed(frame, of, commands), _filters(bench)]


def _delayed(frame: pl.DataFrame, of: str, commands: list[str]) -> Section:
    panels = {
        window: [
            Series("an ACK per segment", RELAXED[window].name, PLAIN),
            Series("delayed ACKs", DELAYED[window].name, PLAIN_DELAYED),
            Series("filter", RELAXED[window].filtered.name, FILTER),
            Series("delayed ACKs and filter", DELAYED[window].filtered.name, FILTER_DELAYED, "dot"),
        ]
        for window in RELAXED
    }
    figure = over_stations(frame, panels, "mbps", GOODPUT)
    text = "Delayed ACKs remove every other ACK, independent of the queue. The filter removes queued ACKs, and with it delayed ACKs change little."
    return Section(
        "Delayed ACKs", text, [Figure(figure, f"Goodput by number of stations, q = 250: {of} (the paper's Figure 10)", commands)]
    )


def _filters(bench: Bench) -> Section:
    filters = bench.variants(FILTERS)
    seeds = min(3, bench.seeds)
    result = bench.sweep(SCENARIO, "filters", {"filter": filters, STATIONS: [2, 5, TEN, 20, MOST]}, seeds=seeds)
    frame = summary(result)
    series = [Series(name, name, *_INKS[name]) for name in filters.chosen]
    shown = {metric: METRICS[metric].replace(" of the access point", "") for metric in ("mbps", "jain", "queue")}
    figure = Figure(
        metrics_over_stations(frame, "filter", series, shown),
        f"Effect of filters, q = 250: mean over {seeds} seeds with its 95 % confidence interval",
        [COMMAND, result.rerun],
    )
    table = Table(
        ["filter", "stations", "Mbps", "Jain's index", "timeouts", "mean queue", "maximum queue"],
        [
            [variant.title, str(stations), *(f"{_mean(frame, name, stations, metric):.{digits}f}" for metric, digits in _SHOWN)]
            for stations in (TEN, MOST)
            for name, variant in filters.chosen.items()
        ],
        f"Filters with {TEN} and {MOST} stations; mean over {seeds} seeds",
        commands=[COMMAND, result.rerun],
    )
    text = "The paper's filter keeps duplicates, so fast retransmission works as without it. CAKE's filter keeps two ACKs per flow. The goodput is the same with each."
    return Section("Other filters", text, [figure, table])


_SHOWN = (("mbps", 2), ("jain", 2), ("timeouts", 0), ("queue", 1), ("longest", 0))


def _mean(frame: pl.DataFrame, name: str, stations: int, metric: str) -> float:
    return mean_interval(frame.filter(pl.col("filter") == name, pl.col("stations") == stations)[metric]).mean
