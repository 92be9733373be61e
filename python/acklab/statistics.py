"""Statistics of results: means with intervals over seeds, fairness, distributions.

Values that are missing or not a number are left out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special


@dataclass(frozen=True)
class Interval:
    """A mean and the interval of confidence around it, in the unit of the values.

    With fewer than two values there is no interval: `low` and `high` are not numbers.
    """

    mean: float
    low: float
    high: float
    count: int
    """How many values it is the mean of."""

    @property
    def half_width(self) -> float:
        """Half of the width of the interval."""
        return (self.high - self.low) / 2


def uses_of_air(airtime: pl.DataFrame) -> pl.DataFrame:
    """What the air of each cell was used for, whoever used it: time [ns] and share of each use. `airtime` is the table of that name."""
    return airtime.group_by("cell", "use", maintain_order=True).agg(pl.col("time", "share").sum())


def mean_interval(values: Iterable[float | None], confidence: float = 0.95) -> Interval:
    """The mean of independent values with Student's t interval.

    mean ± t(1 − (1 − confidence)/2, n − 1) · s/√n, where s is the standard deviation of the sample. The values are taken to be
    independent and about normal, which means over seeds are.
    """
    sample = np.asarray([value for value in values if value is not None and not math.isnan(value)], dtype=np.float64)
    count = len(sample)
    if count == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    mean = float(sample.mean())
    if count == 1:
        return Interval(mean, math.nan, math.nan, 1)
    error = float(sample.std(ddof=1)) / math.sqrt(count)
    half = float(special.stdtrit(count - 1, (1 + confidence) / 2)) * error
    return Interval(mean, mean - half, mean + half, count)


def intervals(frame: pl.DataFrame, by: Sequence[str], value: str, confidence: float = 0.95) -> pl.DataFrame:
    """Mean and interval of a column for each combination of the columns `by`, in order of first appearance.

    Gives the columns `by`, `mean`, `low`, `high` (all in the unit of `value`; null where there is no interval) and `count`.
    """
    rows = []
    for key, group in frame.group_by(list(by), maintain_order=True):
        interval = mean_interval(group[value].to_list(), confidence)
        numbers = (interval.mean, interval.low, interval.high)
        rows.append((*key, *(None if math.isnan(number) else number for number in numbers), interval.count))
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
    pair: str = "seed",
    confidence: float = 0.95,
) -> pl.DataFrame:
    """The value of each combination of the columns `by` over that of a baseline, run by run: geometric mean and interval.

    `baseline` names some of the columns `by` and what they hold in the baseline; the others, and `pair`, are the same on both sides,
    so what runs of one seed have in common falls out. Mean and interval are those of the logarithms: a half and a double are equally
    far from 1, and 0.9 with its interval is the inverse of what exchanging the two sides would give. Pairs of which one is zero or
    missing have no ratio and are left out. Gives what `intervals` gives.
    """
    same = [name for name in by if name not in baseline]
    reference = frame.filter(*(pl.col(name) == held for name, held in baseline.items()))
    reference = reference.select(*same, pair, pl.col(value).cast(pl.Float64).alias("_below"))
    paired = frame.join(reference, on=[*same, pair], how="left", maintain_order="left")
    positive = (pl.col(value) > 0) & (pl.col("_below") > 0)
    paired = paired.with_columns(_log=pl.when(positive).then((pl.col(value) / pl.col("_below")).log()))
    logs = intervals(paired, by, "_log", confidence)
    return logs.with_columns(pl.col("mean", "low", "high").exp())


def jain(shares: Iterable[float]) -> float:
    """Jain's index of fairness, (Σx)²/(n·Σx²): 1 if all shares are equal, 1/n if one has everything.

    Not a number if there are no shares or all are zero. Source: Jain, Chiu, Hawe, DEC-TR-301, 1984.
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
    """The empirical distribution: distinct values in order, and for each the share of values that are not greater."""
    sample = np.asarray([value for value in values if value is not None and not math.isnan(value)], dtype=np.float64)
    distinct, counts = np.unique(sample, return_counts=True)
    return distinct, counts.cumsum() / max(len(sample), 1)
