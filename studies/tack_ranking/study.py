"""What the study measures, and the sections of its report."""

from collections.abc import Mapping

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import mean_interval
from acklab.studies import Bench, Measure

from . import drawing
from .runs import COMMAND, DRAWN, PRESETS, PUBLISHED, ahead, kept, ranked, run


def measures(bench: Bench) -> Mapping[str, Measure]:
    """By how many ranks TACK is ahead of each scheme: a value for each path, since paths are what is drawn at random."""
    swept = run(bench)
    runs = pl.concat([ranked(result) for result in swept.values()])
    commands = [result.rerun for result in swept.values()]
    others = [scheme for scheme in PUBLISHED if scheme != "TACK"]
    return {f"ahead_of_{scheme.lower().replace(' ', '_')}": Measure(ahead(runs, scheme), commands) for scheme in others}


def sections(bench: Bench) -> list[Section]:
    """What the report shows after the claims."""
    swept = kept(bench)
    runs = {name: ranked(result) for name, result in swept.items()}
    commands = [COMMAND, *(result.rerun for result in swept.values())]
    everything = pl.concat(list(runs.values()))
    tests = everything.select("path", "seed").n_unique()
    return [
        Section(
            "Ranks",
            "Each scheme by itself over each path. The utility is ln(mean throughput / 95th percentile of the one-way delay), and the best has rank 1.",
            items=[
                Figure(drawing.violins(everything, PUBLISHED), f"Distribution of ranks over {tests} tests, with quartiles", commands),
                _summary(everything, commands),
                *(_by_path(runs[name], caption, commands) for name, caption in ((PRESETS, "Mean ranks on CCperf's paths"), (DRAWN, "Mean ranks on paths drawn at random"))),
            ],
        )
    ]  # fmt: skip


def _summary(runs: pl.DataFrame, commands: list[str]) -> Table:
    rows = []
    for (scheme,), own in runs.group_by(["scheme"], maintain_order=True):
        by_path = own.group_by("path").agg(pl.col("rank", "throughput", "delay").mean())
        throughput, delay = (mean_interval(by_path[column]).mean for column in ("throughput", "delay"))
        quartiles = [own["rank"].quantile(share) for share in (0.25, 0.5, 0.75)]
        published = PUBLISHED.get(str(scheme))
        rows.append([
            str(scheme), *(f"{rank:g}" for rank in quartiles), mean_interval(by_path["rank"]).text(2),
            f"{throughput:.1f}", f"{delay:.0f}", "–" if published is None else f"{published:g}",
        ])  # fmt: skip
    rows.sort(key=lambda row: float(row[2]))
    head = [
        "scheme",
        "first quartile",
        "median",
        "third",
        "mean over paths",
        "throughput [Mbps]",
        "95th percentile of delay [ms]",
        "published median, of 11",
    ]
    return Table(head, rows, "Ranks, throughput and delay over all paths", commands=commands)  # fmt: skip


def _by_path(runs: pl.DataFrame, caption: str, commands: list[str]) -> Table:
    means = runs.group_by("path", "scheme", maintain_order=True).agg(pl.col("rank").mean())
    table = means.pivot(on="scheme", index="path", values="rank")
    return Table(
        table.columns, [[row[0], *(f"{rank:.1f}" for rank in row[1:])] for row in table.rows()], caption, commands=commands
    )
