"""Statistics of results: means with intervals over seeds, fairness, distributions.

Missing values and NaN are ignored.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from acklab.airtime import by_use
from acklab.samples import Within, per_run, refuse_several_rows, refuse_unlike_flows, require_runs


@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval, in the unit of the values.

    With fewer than two values there is no interval: `low` and `high` are NaN.
    """

    mean: float
    low: float
    high: float
    count: int
    """Number of values."""

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Interval":
        """Reads a row of the result of `intervals`."""
        mean, low, high = (math.nan if row[name] is None else float(row[name]) for name in ("mean", "low", "high"))
        return cls(mean, low, high, int(row.get("count", 0)))

    @property
    def row(self) -> tuple[float | None, float | None, float | None]:
        """Mean, low and high as in a frame: None instead of NaN."""
        mean, low, high = (None if math.isnan(number) else number for number in (self.mean, self.low, self.high))
        return mean, low, high

    @property
    def half_width(self) -> float:
        """Half of the width of the interval."""
        return (self.high - self.low) / 2

    def text(self, decimals: int = 2, *, signed: bool = False) -> str:
        """The mean and half of the width as text, such as 1.50 ± 0.25; a dash for NaN."""
        if math.isnan(self.mean):
            return "–"
        half = "" if math.isnan(self.low) else f" ± {self.half_width:.{decimals}f}"
        return f"{self.mean:{'+' if signed else ''}.{decimals}f}{half}"


def uses_of_air(airtime: pl.DataFrame) -> pl.DataFrame:
    """Time [ns] and share of each use of the air in each cell, summed over nodes. `airtime` is the table of that name."""
    rows = by_use(airtime.iter_rows(named=True))
    return pl.DataFrame(rows, schema={name: airtime.schema[name] for name in ("cell", "use", "time", "share")})


def mean_interval(values: Iterable[float | None], confidence: float = 0.95) -> Interval:
    """The mean of independent values with Student's t interval.

    mean ± t(1 − (1 − confidence)/2, n − 1) · s/√n, where s is the standard deviation of the sample. The values are assumed to
    be independent and approximately normal, as means over seeds are.
    """
    sample = np.asarray([value for value in values if value is not None and not math.isnan(value)], dtype=np.float64)
    count = len(sample)
    if count == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    mean = float(sample.mean())
    if count == 1:
        return Interval(mean, math.nan, math.nan, 1)
    error = float(sample.std(ddof=1)) / math.sqrt(count)
    from scipy import special  # which takes longer to import than most runs last

    half = float(special.stdtrit(count - 1, (1 + confidence) / 2)) * error
    return Interval(mean, mean - half, mean + half, count)


def pseudo_values(samples: Sequence[Sequence[float]], statistic: Callable[[Sequence[float]], float]) -> list[float]:
    """The jackknife's pseudo-values of a statistic of several means: one for each seed, with the unit of the statistic.

    `samples` has a sequence of values for each quantity, all in the same order of seeds; `statistic` maps their means to a number, such
    as their minimum or the zero of a line through them. With θ of all n seeds and θᵢ of all but seed i, the pseudo-value is
    nθ − (n − 1)θᵢ. `mean_interval` of the pseudo-values is an estimate with its interval. It avoids the bias of a statistic that is computed for each
    seed alone (the minimum of noisy values is too low). Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    §11.5. A single seed gives θ alone.
    """
    columns = np.asarray(samples, dtype=np.float64)
    seeds = columns.shape[1]
    of_all = statistic(columns.mean(axis=1).tolist())
    if seeds == 1:
        return [of_all]
    without = [statistic(np.delete(columns, seed, axis=1).mean(axis=1).tolist()) for seed in range(seeds)]
    return [seeds * of_all - (seeds - 1) * other for other in without]


def intervals(
    frame: pl.DataFrame,
    by: Sequence[str],
    value: str,
    confidence: float = 0.95,
    *,
    within: Within | None = None,
    seed: str = "seed",
) -> pl.DataFrame:
    """Mean over seeds and interval of a column for each combination of the columns `by`, in order of first appearance.

    Runs with different seeds are the sample, and each contributes one number. If a run has rows of several flows, `within` combines them
    by "sum" or "mean", or `by` includes the name of the flow. Returns the columns `by`, `mean`, `low`, `high` (all in
    the unit of `value`; null where there is no interval) and `count`, the number of seeds.

    Raises UsageError if a run has several rows and `within` is None, or if `within="mean"` would average flows of different kinds.
    """
    sample = per_run(frame, by, value, within, seed)
    rows = []
    for key, group in sample.group_by(list(by), maintain_order=True):
        interval = mean_interval(group[value].to_list(), confidence)
        rows.append((*key, *interval.row, interval.count))
    schema = {name: frame.schema[name] for name in by}
    return pl.DataFrame(
        rows,
        schema={**schema, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64, "count": pl.Int64},
        orient="row",
    )


def ratios(
    frame: pl.DataFrame,
    by: Sequence[str],
    value: str,
    baseline: Mapping[str, object],
    *,
    within: Within | None = None,
    seed: str = "seed",
    confidence: float = 0.95,
) -> pl.DataFrame:
    """The value of each combination of the columns `by` over that of a baseline, run by run: geometric mean and interval.

    `baseline` gives values of some of the columns `by`. The other columns and the seed are equal on both sides, so random effects that
    runs of one seed share cancel. If a run has rows of several flows, each flow is divided by the flow of the same name, and the run
    contributes the geometric mean; with `within` the flows are added or averaged first.

    Mean and interval are those of the logarithms over seeds: a half and a double are equally far from 1, and 0.9 with its interval is
    the inverse of what exchanging the two sides would give. The baseline over itself is exactly 1. A run in which one side is zero or
    missing has no ratio and is left out. Gives what `intervals` gives. Raises UsageError as `intervals` does.
    """
    same = [name for name in by if name not in baseline]
    runs = [*by, seed]
    if within is not None:
        frame, pair = per_run(frame, by, value, within, seed), [seed]
    else:
        require_runs(frame, by, seed)
        pair = [seed, *(name for name in ("flow",) if name in frame.columns and name not in by)]
        refuse_several_rows(frame, [*by, *pair])
        refuse_unlike_flows(frame, runs)
    reference = frame.filter(*(pl.col(name) == held for name, held in baseline.items()))
    reference = reference.select(*same, *pair, pl.col(value).cast(pl.Float64).alias("_below"))
    paired = frame.join(reference, on=[*same, *pair], how="left", maintain_order="left")
    positive = (pl.col(value) > 0) & (pl.col("_below") > 0)
    paired = paired.with_columns(_log=pl.when(positive).then((pl.col(value) / pl.col("_below")).log()))
    of_run = pl.when(pl.col("_log").null_count() == 0).then(pl.col("_log").mean())
    sample = paired.group_by(runs, maintain_order=True).agg(of_run.alias("_log"))
    logs = intervals(sample, by, "_log", confidence, seed=seed)
    return logs.with_columns(pl.col("mean", "low", "high").exp())


def jain(shares: Iterable[float]) -> float:
    """Jain's index of fairness, (Σx)²/(n·Σx²): 1 if all shares are equal, 1/n if one flow has everything.

    Returns NaN if there are no shares or all are zero. Source: Jain, Chiu, Hawe, DEC-TR-301, 1984.
    """
    values = np.asarray(list(shares), dtype=np.float64)
    squares = float((values**2).sum())
    return float(values.sum()) ** 2 / (len(values) * squares) if squares > 0 else math.nan


def cov(values: Iterable[float]) -> float:
    """Coefficient of variation: standard deviation of the population over the mean; no unit."""
    sample = np.asarray(list(values), dtype=np.float64)
    mean = float(sample.mean()) if len(sample) else 0.0
    return float(sample.std()) / mean if mean else math.nan


def ecdf(values: Iterable[float]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The empirical distribution: distinct values in order, and for each the share of values less than or equal to it."""
    sample = np.asarray([value for value in values if value is not None and not math.isnan(value)], dtype=np.float64)
    distinct, counts = np.unique(sample, return_counts=True)
    return distinct, counts.cumsum() / max(len(sample), 1)


__all__ = [
    "Interval",
    "cov",
    "ecdf",
    "intervals",
    "jain",
    "mean_interval",
    "pseudo_values",
    "ratios",
    "uses_of_air",
]


def __dir__() -> list[str]:
    return __all__
