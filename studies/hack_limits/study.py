"""Measures and report sections of the study."""

from collections.abc import Mapping

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals, ratio_interval
from acklab.studies import Bench, Measure, differences
from acklab.sweeps import load_sweep

from . import drawing
from .runs import COMMAND, HACK, LIMITS, RTT_CLOCKS, STOCK, gain, over_stock, round_trips, run, summary, values

WIRE = 2.0
"""Round-trip propagation between server and access point [ms]."""

TITLES = {
    "windows": ("Short queues: a small window", "receive window"),
    "rates": ("Short queues: a slow application", "written"),
    "clients": ("Very many clients", "clients"),
    "batches": ("Short transmit opportunities", "maximum PPDU"),
}
TEXTS = {
    "windows": "With less than two batches in flight, no data wait while one batch is on the air, and the access point does not set MORE DATA.",
    "rates": "The data of a slow application are delivered with any ACK scheme. TCP/HACK only saves air for other nodes. The gain is zero by construction.",
    "clients": "1000 packets in one queue are 100 per client with 10 clients, and 20 with 50.",
    "batches": "Shorter PPDUs need more accesses to the medium, and more ACKs need accesses of their own.",
}


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns differences between settings, seed by seed."""
    swept = run(bench)
    runs = {limit: summary(swept[limit]) for limit in LIMITS}
    thin, many, short = (runs[limit] for limit in ("windows", "clients", "batches"))
    lost = {
        scheme: differences(values(short, "4 ms", scheme, "goodput"), values(short, "1 ms", scheme, "goodput"))
        for scheme in (STOCK, HACK)
    }

    def of_hack(of: str, setting: str, column: str) -> list[float]:
        return values(runs[of], setting, HACK, column)

    found = {
        "thin_plain": ("windows", differences(of_hack("windows", "32 KiB", "plain"), of_hack("windows", "4 MiB", "plain"))),
        "thin_batch": ("windows", differences(of_hack("windows", "4 MiB", "mpdus"), of_hack("windows", "32 KiB", "mpdus"))),
        "many_plain": ("clients", differences(of_hack("clients", "50", "plain"), of_hack("clients", "10", "plain"))),
        "many_batch": ("clients", differences(of_hack("clients", "10", "mpdus"), of_hack("clients", "50", "mpdus"))),
        "short_clawed_back": ("batches", differences(lost[STOCK], lost[HACK])),
    }
    of_gains = {
        "thin_gain": ("windows", _over(thin, "4 MiB", "32 KiB")),
        "many_gain": ("clients", _over(many, "10", "50")),
        "short_gain": ("batches", _over(short, "1 ms", "4 ms")),
    }
    return {
        **{name: Measure(numbers, [swept[limit].rerun]) for name, (limit, numbers) in found.items()},
        **{name: Measure.of(number, [swept[limit].rerun]) for name, (limit, number) in of_gains.items()},
    }


def _over(runs: pl.DataFrame, setting: str, other: str) -> Interval:
    """Returns the gain of TCP/HACK under one setting relative to another setting [%]."""
    return ratio_interval(over_stock(runs, setting), over_stock(runs, other)).gain


def sections(bench: Bench) -> list[Section]:
    """Returns a section for each limit, and one on round-trip times."""
    return [*(_limit(bench, limit) for limit in LIMITS), _rtt_clocks(bench)]


def _rtt_clocks(bench: Bench) -> Section:
    result = load_sweep(bench.folder / RTT_CLOCKS)
    runs = round_trips(result).with_columns(ack=pl.col("srtt") - pl.col("data") - WIRE)
    means = {column: intervals(runs, ["setting", "scheme"], column).to_dicts() for column in ("goodput", "srtt", "data", "ack")}
    rows = [
        [row["setting"], row["scheme"], *(Interval.of_row(of[index]).text(2) for of in means.values())]
        for index, row in enumerate(means["srtt"])
    ]
    head = [
        "clock",
        "ACKs",
        "goodput [Mbps]",
        "smoothed RTT [ms]",
        "data in queue and on air [ms]",
        "until the ACK arrives [ms]",
    ]
    return Section(
        "Round-trip times with echoed timestamps and held ACKs",
        "An ACK that waits for a Block ACK echoes the timestamp of its data, so the wait is part of the measured round trip, with either "
        "clock. The last column is the smoothed round-trip time minus the time of data at the access point and the 2 ms of the wire. The echo has "
        "no MORE DATA here. The paper proposes it as an implicit ACK of an ACK, for future work.",
        items=[Table(head, rows, f"Mean and 95 % confidence interval over {len(result.seeds)} seeds", commands=[COMMAND, result.rerun], numeric_from=2)],
    )  # fmt: skip


def _limit(bench: Bench, limit: str) -> Section:
    result = load_sweep(bench.folder / limit)
    runs = summary(result)
    title, axis = TITLES[limit]
    settings = runs["setting"].unique(maintain_order=True).to_list()
    by_setting = {setting: gain(runs, setting) for setting in settings}
    means = {
        column: {(row["setting"], row["scheme"]): Interval.of_row(row) for row in intervals(runs, ["setting", "scheme"], column).to_dicts()}
        for column in ("goodput", "mpdus", "unanswered", "plain")
    }  # fmt: skip
    rows = [
        [
            setting,
            *(means["goodput"][setting, scheme].text(1) for scheme in (STOCK, HACK)),
            by_setting[setting].text(1, signed=True),
            *(means[column][setting, scheme].text(1) for column in ("mpdus", "unanswered") for scheme in (STOCK, HACK)),
            means["plain"][setting, HACK].text(1),
        ]
        for setting in settings
    ]
    head = [
        axis, "stock [Mbps]", "HACK [Mbps]", "gain [%]", "MPDUs, stock", "MPDUs, HACK", "unanswered, stock [%]", "unanswered, HACK [%]", "ACKs as frames [%]",
    ]  # fmt: skip
    plain = {setting: means["plain"][setting, HACK] for setting in settings}
    commands = [COMMAND, result.rerun]
    over = f"mean and 95 % confidence interval over {len(result.seeds)} seeds"
    return Section(
        title,
        TEXTS[limit],
        items=[
            Figure(drawing.limit(by_setting, plain, axis), f"Gain of TCP/HACK over stock TCP, and ACKs sent as ordinary frames: {over}", commands),
            Table(head, rows, over.capitalize(), commands=commands),
        ],
    )  # fmt: skip
