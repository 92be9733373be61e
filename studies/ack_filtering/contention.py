"""Figures 6 to 8: throughput by number of stations, TCP windows, collisions, contention windows.

TCP windows limit the throughput. Larger contention windows avoid collisions.
"""

import math

import polars as pl
from plotly.colors import sample_colorscale

from acklab.figures.theme import SEQUENTIAL
from acklab.report import Figure, Section, Table
from acklab.statistics import crossing, ratios
from acklab.studies import Bench

from .arms import LARGE, RELAXED, SMALL, Arm
from .drawing import FILTER, PLAIN, Series, leads, over_stations, star
from .runs import COMMAND, METRICS, MOST, SCENARIO, STATIONS, counts, summary

GOODPUT = "total goodput [Mbps]"
PUBLISHED_CROSSOVER = 13
PACKETS = (20, 44, 60, 80, 100, 150, 250)
"""TCP windows in packets of 1460 bytes. 44 is the window of upload.toml, and 20 is the default of
ns-2.
"""


def sections(bench: Bench, frame: pl.DataFrame, of: str, commands: list[str]) -> list[Section]:
    """Returns the sections of all three figures, from the runs of the base."""
    return [_throughput(bench, frame, of, commands), _collisions(frame, of, commands), _relaxed(frame, of, commands)]


def pair(arm: Arm) -> list[Series]:
    """Returns the arm without and with the filter, by title."""
    return [Series("without the filter", arm.name, PLAIN), Series("with the filter", arm.filtered.name, FILTER)]


def lead(frame: pl.DataFrame, arm: Arm) -> pl.DataFrame:
    """Returns the goodput gain of the filter [%] by number of stations, with intervals."""
    both = frame.filter(pl.col("arm").is_in([arm.name, arm.filtered.name]))
    found = ratios(both, ["arm", "stations"], "mbps", {"arm": arm.name}).filter(pl.col("arm") == arm.filtered.name)
    return found.with_columns((pl.col("mean", "low", "high") - 1) * 100)


def _throughput(bench: Bench, frame: pl.DataFrame, of: str, commands: list[str]) -> Section:
    figure = over_stations(frame, {f"q = {arm.slots}": pair(arm) for arm in (SMALL, LARGE)}, "mbps", GOODPUT)
    acks = over_stations(
        frame, {f"q = {arm.slots}": pair(arm) for arm in (SMALL, LARGE)}, "acks", METRICS["acks"], from_zero=True
    )
    near = frame.filter(pl.col("arm").is_in([LARGE.name, LARGE.filtered.name]), pl.col("stations").is_between(10, 16))["mbps"]
    star(figure, PUBLISHED_CROSSOVER, float(near.to_numpy().mean()), "published: crossing", row=1, col=2)
    chosen = [20, 44, 100] if bench.quick else list(PACKETS)
    axes = {
        "window": {str(packets): tcp_window(packets) for packets in chosen},
        "arm": {arm.name: arm.set for arm in (LARGE, LARGE.filtered)},
    }
    result = bench.sweep(
        SCENARIO, "windows", {**axes, STATIONS: [n for n in counts(bench) if 2 <= n <= MOST]}, seeds=min(3, bench.seeds)
    )
    swept = summary(result)
    by_window = {packets: lead(swept.filter(pl.col("window") == str(packets)), LARGE) for packets in chosen}
    text = (
        "Without the filter every data frame causes an ACK on the air until the access point's queue is full. Then the queue drops the ACKs that the filter "
        "would remove, and drops more if stations times window is larger relative to q. So the goodput without the filter approaches that with it, unless "
        "timeouts reduce it. The goodput with the filter decreases with the collisions of more stations. The crossing depends on the TCP window, which the paper "
        "omits."
    )
    places = [1 - 0.75 * index / max(1, len(chosen) - 1) for index in range(len(chosen))]
    shades = sample_colorscale(SEQUENTIAL, places)
    drawn = leads(
        {f"{packets} packets": (points, shade) for (packets, points), shade in zip(by_window.items(), shades, strict=True)}
    )
    star(drawn, PUBLISHED_CROSSOVER, 0, "published: crossing")
    return Section(
        "Throughput",
        text,
        [
            Figure(figure, f"Goodput by number of stations: {of} (the paper's Figure 6)", commands),
            Figure(acks, f"ACKs received per data packet: {of}", commands),
            Figure(drawn, "Goodput gain of the filter with q = 250, by TCP window", [COMMAND, result.rerun]),
            _crossings(by_window, result.rerun),
        ],
    )  # fmt: skip


def tcp_window(packets: int) -> dict[str, object]:
    """Returns the TCP window for a number of packets of 1460 bytes of payload."""
    octets = f"{1460 * packets}B"
    return {"flow.0.receive_buffer": octets, "flow.0.send_buffer": octets, "flow.0.window_scaling": 1460 * packets > 65_535}


def _crossings(by_window: dict[int, pl.DataFrame], repeat: str) -> Table:
    rows = []
    for packets, points in by_window.items():
        stations, means = points["stations"].to_list(), points["mean"].to_list()
        undecided = points.filter(pl.col("low") <= 0, pl.col("high") >= 0)["stations"].to_list()
        at = crossing(stations, [[mean] for mean in means]).mean
        crosses = "nowhere" if math.isnan(at) else f"{at:.1f}"
        rows.append([str(packets), crosses, ", ".join(map(str, undecided)) or "–", f"{means[0]:+.1f}", f"{means[-1]:+.1f}"])
    head = [
        "window [packets]",
        "crossing at",
        "95 % confidence interval includes zero at",
        f"gain at {stations[0]} [%]",
        f"gain at {stations[-1]} [%]",
    ]
    return Table(
        head,
        rows,
        f"Crossing with q = 250, up to {MOST} stations; published {PUBLISHED_CROSSOVER}",
        commands=[COMMAND, repeat],
    )


def _collisions(frame: pl.DataFrame, of: str, commands: list[str]) -> Section:
    figure = over_stations(
        frame,
        {f"q = {arm.slots}": pair(arm) for arm in (SMALL, LARGE)},
        "collisions",
        "collided frames per second",
        from_zero=True,
    )
    text = (
        "Without the filter most stations wait for an ACK, and few have data to send at a time. If an ACK covers more data, more stations have data at the same time "
        "and contend. With q = 50 the queue drops most ACKs itself, and the difference is smaller."
    )
    return Section("Collisions", text, [Figure(figure, f"Collided frames: {of} (the paper's Figure 7 is q = 50)", commands)])


def _relaxed(frame: pl.DataFrame, of: str, commands: list[str]) -> Section:
    figure = over_stations(frame, {window: pair(arm) for window, arm in RELAXED.items()}, "mbps", GOODPUT)
    shown = {
        window: (lead(frame, arm), ink) for (window, arm), ink in zip(RELAXED.items(), (PLAIN, "#8C6BB1", FILTER), strict=True)
    }
    text = "Larger contention windows delay a single sender and reduce collisions of many senders. With the filter there are many senders."
    return Section(
        "Larger contention windows",
        text,
        [
            Figure(figure, f"Goodput by number of stations, q = 250: {of} (the paper's Figure 8)", commands),
            Figure(leads(shown), f"Goodput gain of the filter, q = 250: {of}", commands),
        ],
    )
