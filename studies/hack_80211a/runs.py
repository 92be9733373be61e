"""Runs of the scenarios with variants laid over them, kept with those of the claims."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from acklab.result import Result
from acklab.statistics import Interval, mean_interval, uses_of_air
from acklab.studies import Bench

SCENARIO, DATAGRAMS = "testbed.toml", "datagrams.toml"
STOCK, HACK, UDP = "stock", "HACK", "UDP"
SCHEMES = (STOCK, HACK)


K = TypeVar("K")


@dataclass(frozen=True)
class Runs:
    """One setting over all seeds."""

    results: Sequence[Result]
    command: str
    """Repeats the first seed."""

    def values(self, of: Callable[[Result], float]) -> list[float]:
        """A number of each run."""
        return [of(result) for result in self.results]

    def interval(self, of: Callable[[Result], float]) -> Interval:
        """Its mean."""
        return mean_interval(self.values(of))

    @property
    def uses(self) -> dict[str, float]:
        """Shares of the time on the air by use, mean over seeds."""
        found: dict[str, float] = {}
        for result in self.results:
            for use, share in uses_of_air(result.airtime).select("use", "share").iter_rows():
                found[use] = found.get(use, 0.0) + share / len(self.results)
        return found


def sets_of(bench: Bench, variants: Sequence[str]) -> list[str]:
    """The overrides of variants, one laid over the other."""
    return [text for name in variants for variant in bench.variants(name).chosen.values() for text in variant.set]


def run(bench: Bench, wanted: Mapping[K, tuple[str, Sequence[str]]]) -> dict[K, Runs]:
    """Runs scenario files with variants, such as `schemes.toml:stock`."""
    replicas = bench.replicas([(scenario, sets_of(bench, variants)) for scenario, variants in wanted.values()])
    kept = ([point.result(bench.folder) for point in points] for points in replicas)
    return {name: Runs(results, points[0].command) for name, results, points in zip(wanted, kept, replicas, strict=True)}


def goodput(result: Result) -> float:
    """Of all flows [Mbps]."""
    return float(result.network["agg_throughput_l4"][0])


def sent_again(result: Result) -> float:
    """Share of the sender's frames that needed more than one transmission [%]."""
    return 100 * (1 - float(result.stations["share_first_try_l2"][0]))


def timeouts(result: Result) -> int:
    """Retransmission timeouts of all flows."""
    return int(result.flows["total_rtos_l4"].sum())


def failures(result: Result) -> int:
    """Compressed ACKs that no ACK came of."""
    return int(result.table("hack")["total_decompression_failures_l2"].sum())


def cells(runs: Mapping[tuple[str, str], Runs], names: tuple[str, str], of: Callable[[Result], float]) -> pl.DataFrame:
    """Means with intervals, as figures take them, of runs that go by two names."""
    rows = [(*key, *_plain(own.interval(of))) for key, own in runs.items()]
    return pl.DataFrame(rows, schema=[*names, "mean", "low", "high"], orient="row")


def shown(interval: Interval, decimals: int = 2) -> str:
    """As it stands in tables; a dash where there is no number."""
    if math.isnan(interval.mean):
        return "–"
    half = "" if math.isnan(interval.low) else f" ± {interval.half_width:.{decimals}f}"
    return f"{interval.mean:.{decimals}f}{half}"


def within(cell: Mapping[str, float | None], decimals: int = 2) -> str:
    """The same of a row of `acklab.statistics.intervals`."""
    mean, low, high = (math.nan if (value := cell[name]) is None else value for name in ("mean", "low", "high"))
    return shown(Interval(mean, low, high, 0), decimals)


def _plain(interval: Interval) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(value) else value for value in (interval.mean, interval.low, interval.high))
