"""Measures and report sections of the study."""

from collections.abc import Mapping

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals, mean_interval
from acklab.studies import Bench, Measure

from .runs import COMMAND, ROOM, SWEEP, again, run, run_causes, summary, values

PUBLISHED = {"rtp": "RTP over UDP", "cubic": "TCP CUBIC", "bbr": "TCP BBR", "tack": "TACK"}


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns stalls and artefacts at the load of the claims."""
    result = run(bench)[ROOM]
    runs = summary(result)
    found: dict[str, list[float]] = {}
    for name, transport in PUBLISHED.items():
        found[f"rebuffering_{name}"] = values(runs, transport, "rebuffering")
        found[f"macroblocking_{name}"] = values(runs, transport, "macroblocking")
    found["macroblocking_messages"] = values(runs, "TACK messages", "macroblocking")
    for better, worse in (("tack", "bbr"), ("bbr", "cubic"), ("tack", "rtp")):
        pairs = zip(found[f"rebuffering_{better}"], found[f"rebuffering_{worse}"], strict=True)
        found[f"{better}_less_than_{worse}"] = [theirs - ours for ours, theirs in pairs]
    return {name: Measure(numbers, [result.rerun]) for name, numbers in found.items()}


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    return [_loads(bench), _causes(bench)]


def _loads(bench: Bench) -> Section:
    result = again(bench, SWEEP)
    runs = summary(result)
    over = f"mean and 95 % confidence interval over {len(result.seeds)} seeds"
    commands = [COMMAND, result.rerun]
    columns = {
        "rebuffering": "rebuffering [%]", "macroblocking": "macroblocking in 30 min", "damaged": "frames with artefacts [%]",
        "goodput": "goodput [Mbps]", "delay": "delay of the application [ms]",
    }  # fmt: skip
    by = ["neighbours", "transport"]
    means = {
        column: {(row["neighbours"], row["transport"]): Interval.of_row(row) for row in intervals(runs, by, column).to_dicts()}
        for column in columns
    }
    keys = runs.select(by).unique(maintain_order=True).rows()
    rows = [[*key, *(means[column][key].text(1) for column in columns)] for key in keys]
    variants = bench.variants("transports.toml").chosen
    listed = [[name, variant.title, variant.source] for name, variant in variants.items()]
    return Section(
            "Stalls and artefacts",
            "Each neighbour always has data to send. The axis is the number of neighbours that share the air.",
            items=[
                Figure(
                    figures.bars(intervals(runs, by, "rebuffering"), "neighbours", "transport", "rebuffering [%]", x_title="neighbours", from_zero=True),
                    f"Share of the time in stalls, by number of neighbours: {over}",
                    commands,
                ),
                Figure(
                    figures.bars(intervals(runs, by, "damaged"), "neighbours", "transport", "frames with artefacts [%]", x_title="neighbours", from_zero=True),
                    f"Share of displayed frames with artefacts: {over}. Reliable streams have none by construction.",
                    commands,
                ),
                Table(["neighbours", "transport", *columns.values()], rows, over.capitalize(), commands=commands, numeric_from=2),
                Table(["transport", "", "source"], listed, "Transports", numeric_from=3),
            ],
        )  # fmt: skip


def _causes(bench: Bench) -> Section:
    result, room = run_causes(bench), again(bench, ROOM)
    rows = []
    for cause, variant in bench.variants("alternatives.toml").chosen.items():
        rows.append([cause, variant.title, *_viewed(summary(result), cause)])
    for transport in ("TCP BBR", "TCP CUBIC", "TACK"):
        rows.append([transport, "as above", *_viewed(summary(room), transport)])
    return Section(
        "Alternative settings of TCP",
        "The window that BBR computes from its minimum RTT, and the queue of the phone, with four neighbours.",
        items=[
            Table(
                ["", "setting", "rebuffering [%]", "goodput [Mbps]", "delay of the application [ms]"], rows, "Rebuffering by setting",
                commands=[COMMAND, result.rerun], numeric_from=2,
            )
        ],
    )  # fmt: skip


def _viewed(runs: pl.DataFrame, transport: str) -> list[str]:
    return [mean_interval(values(runs, transport, column)).text(1) for column in ("rebuffering", "goodput", "delay")]
