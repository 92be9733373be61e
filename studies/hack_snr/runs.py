"""Measurements at each place, and the best result at each signal-to-noise ratio."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import polars as pl

from acklab.statistics import Interval, ratio_interval
from acklab.studies import Bench
from acklab.sweeps import SweepResult, load_sweep

from .places import RATES, SNRS, Place, lossless, places

SCENARIO = "cell.toml"
STOCK, HACK = "stock", "hack"
AS_WRITTEN, WAITING, LOSSY = "as_written", "waiting", "lossy"
SOME_RATES = (15, 90, 150)
"""Rates for the other settings [Mbps]."""
MANY = 40
"""Number of seeds for rates that have separate claims."""


@dataclass(frozen=True)
class Downloads:
    """Downloads of a scheme at a place, one per seed."""

    goodput: Sequence[float]
    """Goodput of the whole download, including slow start [Mbps]."""
    timeouts: Sequence[int]
    retransmissions: Sequence[int]
    frames: float
    """Mean MPDUs per PPDU of data."""
    unanswered: float
    """Share of the access point's PPDUs with data that are unanswered."""
    acks: Mapping[str, float] = field(default_factory=dict)
    """Sums of the table `hack` over the seeds; empty for stock."""
    failures: Sequence[int] = ()
    """Decompression failures per seed; empty for stock."""
    command: str = ""
    """Command that repeats the first seed."""


@dataclass(frozen=True)
class Best:
    """Result of a scheme at a signal-to-noise ratio with its best rate."""

    snr: int
    place: Place
    runs: Downloads


Measured = Mapping[str, Mapping[Place, Downloads]]
"""Results by scheme."""


def run(bench: Bench) -> dict[str, SweepResult]:
    """Runs all places with the scenario as it is, then with other settings.

    One setting is run along the envelopes, the others at some rates without loss.
    """
    swept = {AS_WRITTEN: sweep_of(bench, AS_WRITTEN, places(bench.quick), ())}
    found = measured(swept[AS_WRITTEN])
    best = {one.place: None for scheme in (STOCK, HACK) for one in envelope(found[scheme])}
    along = [*best, *(place for place in map(lossless, range(len(RATES))) if place not in best)]
    for name, setting in bench.variants("settings.toml").chosen.items():
        at = along if name == WAITING else [lossless(RATES.index(rate)) for rate in SOME_RATES]
        swept[name] = sweep_of(bench, name, at, setting.set)
    return swept


def kept(bench: Bench) -> dict[str, SweepResult]:
    """Returns the stored results of `run`."""
    return {name: load_sweep(bench.folder / name) for name in (AS_WRITTEN, *bench.variants("settings.toml").chosen)}


def sweep_of(bench: Bench, name: str, where: Iterable[Place], setting: Sequence[str], *, at_least: int = 1) -> SweepResult:
    """Runs both schemes at some places with a setting."""
    channel = bench.source(SCENARIO).load(list(setting))["wifi"][0]["reception"]["channel"]
    at = {place.name: place.set(channel) for place in where}
    seeds = bench.at_least(at_least)
    return bench.sweep(SCENARIO, name, {"scheme": bench.variants("schemes.toml"), "at": at}, set=setting, seeds=seeds)


def of_many_seeds(bench: Bench, name: str) -> SweepResult:
    """Returns runs without loss at the rates with separate claims, over many seeds.

    At 150 Mbps seeds differ by more than the gain.
    """
    setting = () if name == AS_WRITTEN else bench.variants("settings.toml").chosen[name].set
    where = [lossless(RATES.index(rate)) for rate in SOME_RATES]
    return sweep_of(bench, f"{name}_many_seeds", where, setting, at_least=MANY)


def measured(result: SweepResult) -> Measured:
    """Returns the runs by scheme and place."""
    by = [result.columns[axis] for axis in ("scheme", "at")]
    flows = result.flows.group_by(by, maintain_order=True).agg(
        "mean_throughput_l7", "total_rtos_l4", "total_retransmissions_l4", pl.col("point").first()
    )
    senders = result.table("stations").filter(pl.col("node") == "ap").group_by(by).agg(
        frames=pl.col("mean_mpdus_per_ppdu_l2").mean(),
        unanswered=pl.col("total_unanswered_l2").sum() / pl.col("total_ppdus_l2").sum(),
    )  # fmt: skip
    acks = result.table("hack").group_by(by).agg(pl.col("^total_.*$").sum())
    of_hack = {(row[by[0]], row[by[1]]): row for row in acks.to_dicts()}
    failed = (
        result.table("hack").group_by([*by, "seed"], maintain_order=True).agg(pl.col("total_decompression_failures_l2").sum())
    )
    failures: dict[tuple[str, str], list[int]] = {}
    for one, other, _, count in failed.iter_rows():
        failures.setdefault((one, other), []).append(count)
    known = {place.name: place for place in places(quick=False)}
    found: dict[str, dict[Place, Downloads]] = {}
    for row in flows.join(senders, on=by, maintain_order="left").to_dicts():
        scheme, place = row[by[0]], row[by[1]]
        found.setdefault(scheme, {})[known[place]] = Downloads(
            goodput=row["mean_throughput_l7"],
            timeouts=row["total_rtos_l4"],
            retransmissions=row["total_retransmissions_l4"],
            frames=row["frames"],
            unanswered=row["unanswered"],
            acks=of_hack.get((scheme, place), {}),
            failures=failures.get((scheme, place), ()),
            command=result.commands[row["point"]],
        )
    return found


def at(runs: Mapping[Place, Downloads], mcs: int, snr: int) -> tuple[Place, Downloads] | None:
    """Returns the runs of a rate at a ratio.

    Runs at the highest ratio represent all higher ratios, because nothing is lost there.
    """
    place = Place(mcs, min(snr, lossless(mcs).snr))
    return (place, runs[place]) if place in runs else None


def envelope(runs: Mapping[Place, Downloads]) -> list[Best]:
    """Returns the best mean goodput at each ratio, and the rate that reaches it."""
    best = []
    for snr in SNRS:
        found = [held for mcs in range(len(RATES)) if (held := at(runs, mcs, snr)) is not None]
        if found:
            place, own = max(found, key=lambda one: fmean(one[1].goodput))
            best.append(Best(snr, place, own))
    return best


def improvement(stock: Downloads, hack: Downloads) -> Interval:
    """Returns the goodput gain of HACK over stock [%]."""
    return ratio_interval(hack.goodput, stock.goodput).gain
