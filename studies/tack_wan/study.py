"""TACK over Wi-Fi and a long path together: the paper's Figure 13."""

from collections.abc import Mapping, Sequence

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import mean_interval
from acklab.studies import Bench, Measure

from . import drawing
from .runs import BBR, CAUSES, COMMAND, LINKS, SENDERS, TACK, again, by_case, by_cause, gain, run_cases, run_causes, values


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Goodputs, gains and counts of Figure 13."""
    result = run_cases(bench)
    runs = by_case(result)
    found = {}
    for case in LINKS:
        short = case.removeprefix("case ")
        for sender, name in ((TACK, "tack"), (BBR, "bbr")):
            for column in ("goodput", "acks", "data"):
                found[f"{column}_{name}_{short}"] = values(runs, column, case=case, sender=sender)
        found[f"gain_{short}"] = gain(found[f"goodput_tack_{short}"], found[f"goodput_bbr_{short}"])
    return {name: Measure(numbers, [result.rerun]) for name, numbers in found.items()}


def sections(bench: Bench) -> list[Section]:
    """The cases, and what may have been different."""
    return [_cases(bench), _causes(bench)]


def _cases(bench: Bench) -> Section:
    result = again(bench, "cases")
    runs = by_case(result)
    titles = {case: variant.title for case, variant in bench.variants("cases.toml").chosen.items()}
    rows = []
    for case, title in titles.items():
        for sender in SENDERS:
            own = runs.filter(pl.col("case") == case, pl.col("sender") == sender)
            lead = gain(values(runs, "goodput", case=case, sender=sender), values(runs, "goodput", case=case, sender=BBR))
            rows.append([title, sender, *_numbers(own, [] if sender == BBR else lead)])
    return Section(
        "The four cases",
        "120 s of one download, start-up included.",
        items=[
            Figure(drawing.cases(runs, titles), f"Goodput and ACKs; intervals of 95 % over {bench.seeds} seeds, stars are published values", [COMMAND, result.rerun]),
            Table(["case", "", *_HEAD], rows, "In numbers", commands=[result.rerun], numeric_from=2),
        ],
    )  # fmt: skip


def _causes(bench: Bench) -> Section:
    result = run_causes(bench)
    runs = pl.concat([by_case(again(bench, "cases")).select(pl.lit("as chosen").alias("cause"), pl.all()), by_cause(result)])
    titles = {cause: variant.title for cause, variant in bench.variants("causes.toml").chosen.items()}
    rows = []
    for case in LINKS:
        for cause, title in titles.items():
            if case in CAUSES.get(cause, LINKS):
                theirs = values(runs, "goodput", cause=cause, case=case, sender=BBR)
                for sender in (TACK, BBR):
                    own = runs.filter(pl.col("cause") == cause, pl.col("case") == case, pl.col("sender") == sender)
                    if own.height:
                        lead = gain(own["goodput"].to_list(), theirs) if theirs and sender == TACK else []
                        rows.append([case, title, sender, *_numbers(own, lead)])
    return Section(
        "What may have been different",
        items=[
            Table(
                ["case", "what differs", "", *_HEAD],
                rows,
                "Cases by what differs",
                commands=[COMMAND, result.rerun],
                numeric_from=3,
            )
        ],
    )


_HEAD = ["goodput [Mbps]", "over TCP BBR [%]", "data packets", "ACKs", "resent", "sRTT [ms]"]


def _numbers(own: pl.DataFrame, lead: Sequence[float]) -> list[str]:
    counts = [mean_interval(own[column]).text(0) for column in ("data", "acks", "resent", "srtt")]
    return [mean_interval(own["goodput"]).text(), mean_interval(lead).text(1, signed=True) if lead else "", *counts]
