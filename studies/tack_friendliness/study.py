"""Shares of a bottleneck: runs, measures and report sections of the study."""

from collections.abc import Mapping

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals
from acklab.studies import Bench, Measure
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study tack_friendliness"
SCENARIO = "path.toml"
SWEEP = "shares"
QUICK_QUEUES = "queues.toml:1 bdp,4 bdp"
TACK, ON_TACK, STANDARD = "TACK co-designed BBR", "TACK standard BBR", "TCP BBR"


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns the share of each kind of BBR, and their difference, averaged over all queues."""
    queues = bench.variants(QUICK_QUEUES if bench.quick else "queues.toml")
    axes = {"queue": queues, "rival": bench.variants("rivals.toml"), "subject": bench.variants("subjects.toml")}
    result = bench.sweep(SCENARIO, SWEEP, axes)
    runs = summary(result)
    found = {}
    for rival in ("CUBIC", "BBR"):
        share = {subject: _shares(runs, rival, subject) for subject in (TACK, ON_TACK, STANDARD)}
        found[f"{rival.lower()}_standard"] = share[STANDARD]
        found[f"{rival.lower()}_tack"] = share[TACK]
        for name, subject in (("difference", TACK), ("sender", ON_TACK)):
            pairs = zip(share[subject], share[STANDARD], strict=True)
            found[f"{rival.lower()}_{name}"] = [ours - theirs for ours, theirs in pairs]
    return {name: Measure(numbers, [result.rerun]) for name, numbers in found.items()}


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row for each run.

    A row has the goodput share of the tested flow, and the utilisation of the link by both flows
    [%].
    """
    by = [result.columns[axis] for axis in ("queue", "rival", "subject")]
    goodput = pl.col("mean_throughput_l7")
    runs = result.flows.group_by(["point", *by, "seed"], maintain_order=True).agg(
        share=100 * goodput.filter(pl.col("flow") == "subject").sum() / goodput.sum(),
        both=goodput.sum(),
        retransmissions=pl.col("total_retransmissions_l4").filter(pl.col("flow") == "rival").sum().cast(pl.Float64),
    )
    return runs.rename(dict(zip(by, ("queue", "rival", "subject"), strict=True)), strict=False)


def _shares(runs: pl.DataFrame, rival: str, subject: str) -> list[float]:
    own = runs.filter(pl.col("rival") == rival, pl.col("subject") == subject)
    return own.group_by("seed").agg(pl.col("share").mean()).sort("seed")["share"].to_list()


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    result = load_sweep(bench.folder / SWEEP)
    runs = summary(result)
    commands = [COMMAND, result.rerun]
    over = f"mean and 95 % confidence interval over {len(result.seeds)} seeds"
    by = ["queue", "rival", "subject"]
    means = {
        column: {tuple(row[key] for key in by): Interval.of_row(row) for row in intervals(runs, by, column).to_dicts()}
        for column in ("share", "both", "retransmissions")
    }
    keys = runs.select(by).unique(maintain_order=True).rows()
    rows = [[*key, *(means[column][key].text(1) for column in means)] for key in keys]
    head = ["queue", "rival", "subject", "share [%]", "goodput of both [Mbps]", "rival's retransmissions"]
    shown = [
        Figure(
            figures.bars(intervals(runs.filter(pl.col("rival") == rival), ["queue", "subject"], "share"), "queue", "subject", "share of the goodput [%]"),
            f"Share of the goodput beside one flow of TCP {rival}, by length of the queue: {over}. A share of 50 % is fair.",
            commands,
        )
        for rival in ("CUBIC", "BBR")
    ]  # fmt: skip
    text = (
        "One flow of each kind of BBR beside one flow of TCP. The first two differ in the controller, the last two in the ACKs."
    )
    return [Section("Shares", text, items=[*shown, Table(head, rows, over.capitalize(), commands=commands, numeric_from=3)])]
