"""Measures and report sections of the study."""

from collections.abc import Mapping
from itertools import combinations

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import mean_interval
from acklab.studies import Bench, Measure

from . import drawing
from .ensemble import PATHS, draw
from .runs import (
    CELLULAR,
    COMMAND,
    DRAWN,
    EMULATED,
    PUBLISHED,
    QUICK_PATHS,
    THINNED,
    THINNED_PATHS,
    agreement,
    ahead,
    cellular_ratio,
    classes,
    decided,
    ensembles,
    kept,
    mean_ranks,
    ranked,
    run,
    surely_ahead,
)  # fmt: skip


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns the mean rank of each scheme minus that of TACK.

    A measure has a value per path, because paths are random. Also returns ratios over cellular
    links.
    """
    swept = run(bench)
    runs, cells = ranked(swept[DRAWN]), _above_propagation(ranked(swept[CELLULAR]))
    found = {_key(scheme): Measure(ahead(runs, scheme), [swept[DRAWN].rerun]) for scheme in PUBLISHED if scheme != "TACK"}
    ratios = {
        "sprout_vegas_throughput": ("Sprout", "Vegas", "throughput", False), "vegas_sprout_delay": ("Vegas", "Sprout", "queueing", False),
        "sprout_cubic_throughput": ("Sprout", "CUBIC", "throughput", False), "cubic_sprout_delay": ("CUBIC", "Sprout", "queueing", False),
        "codel_sprout_throughput": ("CUBIC", "Sprout", "throughput", True), "codel_sprout_delay": ("CUBIC", "Sprout", "queueing", True),
        "cubic_verus_delay": ("CUBIC", "Verus", "delay", False), "verus_cubic_throughput": ("Verus", "CUBIC", "throughput", False),
        "verus_sprout_throughput": ("Verus", "Sprout", "throughput", False),
    }  # fmt: skip
    commands = [swept[CELLULAR].rerun]
    return found | {name: Measure.of(cellular_ratio(cells, *what), commands) for name, what in ratios.items()}


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    swept = kept(bench)
    runs = {name: ranked(result) for name, result in swept.items()}
    commands = {name: [COMMAND, result.rerun] for name, result in swept.items()}
    paths = draw(QUICK_PATHS if bench.quick else PATHS)
    everything = [COMMAND, *(result.rerun for result in swept.values())]
    parts = ensembles(runs[DRAWN], runs[EMULATED], runs[CELLULAR], paths)
    means = {name: mean_ranks(part) for name, part in parts.items()}
    tests = runs[DRAWN].select("path", "seed").n_unique()
    return [
        Section(
            "Ranks",
            "Each scheme runs alone over each path. The utility is ln(mean throughput / 95th percentile of the one-way delay), and the best has rank 1.",
            items=[
                Figure(drawing.violins(runs[DRAWN], PUBLISHED), f"Distribution of ranks over {tests} tests, with quartiles", commands[DRAWN]),
                _summary(runs[DRAWN], commands[DRAWN]),
                *(
                    _by_path(runs[name], caption, commands[name])
                    for name, caption in ((EMULATED, "Mean ranks on Pantheon's emulators"), (DRAWN, "Mean ranks on paths drawn at random"))
                ),
            ],
        ),
        Section(
            "Other ensembles",
            "Parts of the draws, Pantheon's emulators and cellular links. Kendall's τ-b compares the order of mean ranks with that of the published medians.",
            items=[
                Figure(drawing.by_ensemble(means, PUBLISHED), "Mean ranks in each ensemble", everything),
                _agreement(parts, everything),
                _orders(parts, everything),
            ],
        ),
        Section(
            "ACK thinning",
            "TACK with an ACK per two packets instead of its own ACKs, and TCP with TACK's ACKs instead of an ACK per two segments.",
            items=[_thinning(runs[DRAWN], runs[THINNED], commands[THINNED], bench.quick)],
        ),
        Section("Cellular links", "20 ms each way, with an unlimited queue.", items=[_cells(runs[CELLULAR], commands[CELLULAR])]),
    ]  # fmt: skip


def _key(scheme: str) -> str:
    return f"ahead_of_{scheme.split(' (', maxsplit=1)[0].lower().replace(' ', '_')}"


def _above_propagation(cells: pl.DataFrame) -> pl.DataFrame:
    """Adds the queueing delay [ms]: the delay beyond the 20 ms of propagation."""
    return cells.with_columns(queueing=pl.col("delay") - 20)


def _summary(runs: pl.DataFrame, commands: list[str]) -> Table:
    rows = []
    for (scheme,), own in runs.group_by(["scheme"], maintain_order=True):
        by_path = own.group_by("path").agg(pl.col("rank", "throughput", "delay").mean())
        throughput, delay = (mean_interval(by_path[column]).mean for column in ("throughput", "delay"))
        quartiles = [own["rank"].quantile(share, "linear") for share in (0.25, 0.5, 0.75)]
        published = PUBLISHED.get(str(scheme))
        rows.append([
            str(scheme), *(f"{rank:g}" for rank in quartiles), mean_interval(by_path["rank"]).text(2),
            f"{throughput:.1f}", f"{delay:.0f}", "–" if published is None else f"{published:g}",
        ])  # fmt: skip
    rows.sort(key=lambda row: float(row[4].split()[0]))
    head = [
        "scheme",
        "first quartile",
        "median",
        "third",
        "mean over paths",
        "throughput [Mbps]",
        "95th percentile of delay [ms]",
        "published median",
    ]
    return Table(head, rows, "Ranks, throughput and delay over all paths", commands=commands)  # fmt: skip


def _by_path(runs: pl.DataFrame, caption: str, commands: list[str]) -> Table:
    means = runs.group_by("path", "scheme", maintain_order=True).agg(pl.col("rank").mean())
    table = means.pivot(on="scheme", index="path", values="rank")
    return Table(
        table.columns, [[row[0], *(f"{rank:.1f}" for rank in row[1:])] for row in table.rows()], caption, commands=commands
    )


def _agreement(parts: Mapping[str, pl.DataFrame], commands: list[str]) -> Table:
    rows = []
    for name, part in parts.items():
        means = mean_ranks(part)
        order = sorted(means, key=lambda scheme: means[scheme].mean)
        rows.append([name, str(part["path"].n_unique()), f"{agreement(part):.2f}", ", ".join(order)])
    return Table(
        ["ensemble", "paths", "Kendall's τ-b", "order of mean ranks"],
        rows,
        "Agreement with the published order",
        commands=commands,
    )


def _orders(parts: Mapping[str, pl.DataFrame], commands: list[str]) -> Table:
    """Returns the order by ensemble of each pair whose order over all paths is decided.

    Counts ensembles with the same order, with the opposite order, and without a decided order.
    """
    rows = []
    names = [name for name in parts if name != "all draws"]
    for one, other in combinations(PUBLISHED, 2):
        sure = surely_ahead(parts["all draws"], one, other)
        if sure is None:
            continue
        first, second = (one, other) if sure else (other, one)
        found = [surely_ahead(parts[name], first, second) for name in names]
        against = [name for name, order in zip(names, found, strict=True) if order is False]
        agrees = PUBLISHED[first] < PUBLISHED[second]
        published = "equal" if PUBLISHED[first] == PUBLISHED[second] else "yes" if agrees else "no"
        rows.append(
            [f"{first} before {second}", published, str(found.count(True)), str(found.count(None)), ", ".join(against) or "–"]
        )
    head = ["order over all draws", "as published", "ensembles with this order", "undecided", "with the opposite order"]
    return Table(head, rows, "Orders in other ensembles", commands=commands)


def _thinning(drawn: pl.DataFrame, thinned: pl.DataFrame, commands: list[str], quick: bool) -> Table:
    decisions = decided(drawn, thinned)
    paths = draw(QUICK_PATHS if quick else THINNED_PATHS)
    pairs = decisions.select("changed", "other").unique(maintain_order=True).rows()
    head = ["paths", "number", *(f"ACKs of {changed}, compared with {other}" for changed, other in pairs)]
    rows = []
    for kind, names in classes(paths).items():
        own = decisions.filter(pl.col("path").is_in(names))
        if own.is_empty():
            continue
        cells = []
        for changed, other in pairs:
            pair = own.filter((pl.col("changed") == changed) & (pl.col("other") == other))
            better = pair.filter(pl.col("decides") & pl.col("better")).height
            cells.append(f"+{better} −{pair['decides'].sum() - better}")
        rows.append([kind, str(len(names)), *cells])
    caption = "Paths on which the scheme gains (+) or loses (−) a rank to the other one because of its ACKs alone"
    return Table(head, rows, caption, commands=commands)


def _cells(cells: pl.DataFrame, commands: list[str]) -> Table:
    means = cells.group_by("path", "scheme", maintain_order=True).agg(pl.col("throughput", "delay", "rank").mean())
    rows = [[path, scheme, f"{rate:.2f}", f"{delay:.0f}", f"{rank:.1f}"] for path, scheme, rate, delay, rank in means.rows()]
    head = ["link", "scheme", "throughput [Mbps]", "95th percentile of delay [ms]", "rank"]
    return Table(head, rows, "Cellular links", commands=commands)
