"""Congestion controllers with TCP's ACKs, with few ACKs of TCP, and with TACK's feedback."""

from collections.abc import Mapping

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import mean_interval
from acklab.studies import Bench, Measure

from . import drawing
from .runs import COMMAND, LAW, TACK, TCP, again, run, summary, values


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns goodput of delay-based controllers with few ACKs, relative to TCP's ACKs."""
    result = run(bench)
    runs = summary(result)
    found = {}
    for controller in ("vegas", "copa"):
        for feedback, name in ((LAW, "law"), (TACK, "tack")):
            pairs = zip(values(runs, controller, feedback), values(runs, controller, TCP), strict=True)
            found[f"{controller}_{name}"] = Measure([ours / theirs for ours, theirs in pairs], [result.rerun])
    return found


def sections(bench: Bench) -> list[Section]:
    """Returns the figure and its numbers."""
    result = again(bench)
    runs = summary(result)
    listed = [[name, variant.title, variant.source] for name, variant in bench.variants("feedback.toml").chosen.items()]
    rows = []
    for (controller, feedback), own in runs.group_by(["controller", "feedback"], maintain_order=True):
        means = own.select(pl.col("acks", "srtt", "resent").mean()).row(0, named=True)
        rows.append(
            [
                controller,
                feedback,
                mean_interval(own["goodput"]).text(1),
                f"{means['acks']:.0f}",
                f"{means['srtt']:.1f}",
                f"{means['resent']:.0f}",
            ]
        )
    return [
        Section("Feedback for controllers", items=[Table(["", "feedback", "source"], listed, numeric_from=3)]),
        Section(
            "Goodput",
            items=[
                Figure(drawing.feedbacks(runs), f"1 Gbps, 100 ms, 20 s including start-up; 95 % confidence intervals over {bench.seeds} seeds", [COMMAND, result.rerun]),
                Table(
                    ["controller", "feedback", "goodput [Mbps]", "ACKs", "sRTT [ms]", "resent"], rows, "Measured values", commands=[result.rerun], numeric_from=2
                ),
            ],
        ),
    ]  # fmt: skip
