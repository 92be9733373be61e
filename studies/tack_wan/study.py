"""TACK over Wi-Fi plus a long path: the paper's Figure 13."""

from collections.abc import Mapping

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, mean_interval, ratio_interval
from acklab.studies import Bench, Measure, per_seed

from . import drawing
from .runs import BBR, CAUSES, COMMAND, LINKS, SENDERS, TACK, again, by_case, by_cause, run_cases, run_causes


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns goodputs, gains and counts of Figure 13."""
    result = run_cases(bench)
    runs = by_case(result)
    found = {}
    for case in LINKS:
        short = case.removeprefix("case ")
        for sender, name in ((TACK, "tack"), (BBR, "bbr")):
            for column in ("goodput", "acks", "data"):
                found[f"{column}_{name}_{short}"] = per_seed(runs, column, case=case, sender=sender)
    measured = {name: Measure(numbers, [result.rerun]) for name, numbers in found.items()}
    for case in LINKS:
        short = case.removeprefix("case ")
        gain = ratio_interval(found[f"goodput_tack_{short}"], found[f"goodput_bbr_{short}"]).gain
        measured[f"gain_{short}"] = Measure.of(gain, [result.rerun])
    return measured


def sections(bench: Bench) -> list[Section]:
    """Returns the cases, and alternative settings."""
    return [_cases(bench), _causes(bench)]


def _cases(bench: Bench) -> Section:
    result = again(bench, "cases")
    runs = by_case(result)
    titles = {case: variant.title for case, variant in bench.variants("cases.toml").chosen.items()}
    rows = []
    for case, title in titles.items():
        for sender in SENDERS:
            own = runs.filter(pl.col("case") == case, pl.col("sender") == sender)
            ours, theirs = (per_seed(runs, "goodput", case=case, sender=of) for of in (sender, BBR))
            rows.append([title, sender, *_numbers(own, None if sender == BBR else ratio_interval(ours, theirs).gain)])
    return Section(
        "The four cases",
        "120 s of one download, including start-up.",
        items=[
            Figure(drawing.cases(runs, titles), f"Goodput and ACKs; 95 % confidence intervals over {bench.seeds} seeds, stars are published values", [COMMAND, result.rerun]),
            Table(["case", "", *_HEAD], rows, "Measured values", commands=[result.rerun], numeric_from=2),
        ],
    )  # fmt: skip


def _causes(bench: Bench) -> Section:
    result = run_causes(bench)
    runs = pl.concat([by_case(again(bench, "cases")).select(pl.lit("as chosen").alias("cause"), pl.all()), by_cause(result)])
    titles = {cause: variant.title for cause, variant in bench.variants("alternatives.toml").chosen.items()}
    rows = []
    for case in LINKS:
        for cause, title in titles.items():
            if case in CAUSES.get(cause, LINKS):
                theirs = per_seed(runs, "goodput", cause=cause, case=case, sender=BBR)
                for sender in (TACK, BBR):
                    own = runs.filter(pl.col("cause") == cause, pl.col("case") == case, pl.col("sender") == sender)
                    if own.height:
                        lead = ratio_interval(own["goodput"], theirs).gain if theirs and sender == TACK else None
                        rows.append([case, title, sender, *_numbers(own, lead)])
    return Section(
        "Alternative settings",
        items=[
            Table(
                ["case", "setting", "", *_HEAD],
                rows,
                "Cases by setting",
                commands=[COMMAND, result.rerun],
                numeric_from=3,
            )
        ],
    )


_HEAD = ["goodput [Mbps]", "gain over TCP BBR [%]", "data packets", "ACKs", "resent", "sRTT [ms]"]


def _numbers(own: pl.DataFrame, lead: Interval | None) -> list[str]:
    counts = [mean_interval(own[column]).text(0) for column in ("data", "acks", "resent", "srtt")]
    return [mean_interval(own["goodput"]).text(), "" if lead is None else lead.text(1, signed=True), *counts]
