"""One setting over all seeds, and numbers that studies read from its runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from acklab.result import Result
from acklab.statistics import Interval, mean_interval, uses_of_air
from acklab.sweeps import SweepResult


@dataclass(frozen=True)
class Runs:
    """The runs of one setting, one per seed."""

    results: Sequence[Result]
    command: str
    """The command that repeats the first seed."""

    def values(self, of: Callable[[Result], float]) -> list[float]:
        """Returns a number of each run."""
        return [of(result) for result in self.results]

    def interval(self, of: Callable[[Result], float]) -> Interval:
        """Returns the mean of a number over the runs."""
        return mean_interval(self.values(of))

    @property
    def uses(self) -> dict[str, float]:
        """Returns the mean share of the airtime by use, over seeds."""
        found: dict[str, float] = {}
        for result in self.results:
            for use, share in uses_of_air(result.airtime).select("use", "share").iter_rows():
                found[use] = found.get(use, 0.0) + share / len(self.results)
        return found


def cells(runs: Mapping[tuple[str, str], Runs], names: tuple[str, str], of: Callable[[Result], float]) -> pl.DataFrame:
    """Returns means with intervals, in the form of figures, of runs that have two names."""
    rows = [(*key, *own.interval(of).row) for key, own in runs.items()]
    return pl.DataFrame(rows, schema=[*names, "mean", "low", "high"], orient="row")


def goodput(result: Result) -> float:
    """Returns the goodput of all flows [Mbps]."""
    return float(result.network["agg_throughput_l4"][0])


def timeouts(result: Result) -> int:
    """Returns the retransmission timeouts of all flows."""
    return int(result.flows["total_rtos_l4"].sum())


def failures(result: Result) -> int:
    """Returns the compressed ACKs that could not be decompressed."""
    return int(result.table("hack")["total_decompression_failures_l2"].sum())


def failures_of(sweep: SweepResult) -> list[int]:
    """Returns the compressed ACKs that could not be decompressed, per run."""
    column = "total_decompression_failures_l2"
    return sweep.table("hack").group_by("point", maintain_order=True).agg(pl.col(column).sum())[column].to_list()
