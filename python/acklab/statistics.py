"""Statistics of results: means with intervals over seeds, fairness, distributions.

Missing values and NaN are ignored.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
        """Creates the interval from a row of the result of `intervals`."""
        mean, low, high = (math.nan if row[name] is None else float(row[name]) for name in ("mean", "low", "high"))
        return cls(mean, low, high, int(row.get("count", 0)))

    @property
    def row(self) -> tuple[float | None, float | None, float | None]:
        """Returns mean, low and high as in a frame: None instead of NaN."""
        mean, low, high = (None if math.isnan(number) else number for number in (self.mean, self.low, self.high))
        return mean, low, high

    @property
    def half_width(self) -> float:
        """Returns half of the width of the interval."""
        return (self.high - self.low) / 2

    @property
    def gain(self) -> "Interval":
        """Returns the excess over 1 [%], for a ratio."""
        mean, low, high = (100 * (number - 1) for number in (self.mean, self.low, self.high))
        return Interval(mean, low, high, self.count)

    def text(self, decimals: int = 2, *, signed: bool = False) -> str:
        """Returns mean and half-width as text, such as 1.50 ± 0.25; a dash for NaN."""
        if math.isnan(self.mean):
            return "–"
        half = "" if math.isnan(self.low) else f" ± {self.half_width:.{decimals}f}"
        return f"{self.mean:{'+' if signed else ''}.{decimals}f}{half}"


def uses_of_air(airtime: pl.DataFrame) -> pl.DataFrame:
    """Returns time [ns] and share of each use of the air per cell, summed over nodes.

    `airtime` is the table of that name.
    """
    rows = by_use(airtime.iter_rows(named=True))
    return pl.DataFrame(rows, schema={name: airtime.schema[name] for name in ("cell", "use", "time", "share")})


def mean_interval(values: Iterable[float | None], confidence: float = 0.95) -> Interval:
    """Returns the mean of independent values with Student's t interval.

    mean ± t(1 − (1 − confidence)/2, n − 1) · s/√n, where s is the standard deviation of the sample.
    The values are assumed to be independent and approximately normal, which is true for means over
    seeds.
    """
    sample = np.asarray([value for value in values if value is not None and not math.isnan(value)], dtype=np.float64)
    count = len(sample)
    if count == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    mean = float(sample.mean())
    if count == 1:
        return Interval(mean, math.nan, math.nan, 1)
    error = float(sample.std(ddof=1)) / math.sqrt(count)
    from scipy import special  # Importing scipy takes longer than most runs.

    half = float(special.stdtrit(count - 1, (1 + confidence) / 2)) * error
    return Interval(mean, mean - half, mean + half, count)


def ratio_interval(above: Iterable[float | None], below: Iterable[float | None], confidence: float = 0.95) -> Interval:
    """Returns the geometric mean of ratios per seed, with the interval of their logarithms.

    Claims and figures use only this rule for ratios.

    Ratios of 1/2 and 2 are equally far from 1. A pair with a missing or non-positive side has no
    ratio: `count` is the number of ratios.
    """
    pairs = zip(above, below, strict=True)
    logs = [math.log(one / other) if one and other and one > 0 and other > 0 else math.nan for one, other in pairs]
    found = mean_interval(logs, confidence)
    return Interval(math.exp(found.mean), math.exp(found.low), math.exp(found.high), found.count)


def least(samples: Sequence[Sequence[float]], confidence: float = 0.95) -> Interval:
    """Returns the minimum of several means, with an interval.

    The interval covers the minimum of the expected values.

    `samples` has a sequence of values per quantity, one value per seed. The lower end is the
    minimum of the lower ends of Student's t, because the true minimum lies above the lower end of
    the quantity that has the minimum. The upper end depends on all quantities together, so each has
    a share of the error (Bonferroni's inequality). Neither the values per seed nor the jackknife
    give such an interval: a minimum is not smooth in the means, and the jackknife's interval misses
    it up to half of the time. A single seed has no interval.
    """
    ends = [mean_interval(values, confidence) for values in samples]
    wide = [mean_interval(values, 1 - (1 - confidence) / len(samples)) for values in samples]
    best = min(one.mean for one in ends)
    return Interval(best, _of_all(min, [one.low for one in ends]), _of_all(min, [one.high for one in wide]), _seeds(ends))


def farthest(samples: Sequence[Sequence[float]], confidence: float = 0.95) -> Interval:
    """Returns the maximum distance of several means from zero, with an interval.

    The interval covers the maximum distance of the expected values.

    As in `least`, the upper end is the farthest end of any interval of Student's t. For the lower
    end, each quantity has a share of the error.
    """
    ends = [mean_interval(values, confidence) for values in samples]
    wide = [mean_interval(values, 1 - (1 - confidence) / len(samples)) for values in samples]
    low = _of_all(max, [max(0.0, one.low, -one.high) if one.low == one.low else math.nan for one in wide])
    high = _of_all(max, [max(-one.low, one.high) for one in ends])
    return Interval(max(abs(one.mean) for one in ends), low, high, _seeds(ends))


def _of_all(fold: Callable[[Sequence[float]], float], values: Sequence[float]) -> float:
    """Returns the fold of the values, or NaN if any value is NaN.

    Otherwise, the result would depend on the order of the values.
    """
    return math.nan if any(math.isnan(value) for value in values) else fold(values)


def _seeds(ends: Sequence[Interval]) -> int:
    return min(one.count for one in ends)


RARE_RUNS = 10
"""Minimum number of runs for an interval of rare events."""


def rare_events(counts: Sequence[float], reference: Sequence[float] | None = None, confidence: float = 0.95) -> Interval:
    """Returns the rate of rare events per run, or its excess over a reference rate.

    Counts are assumed to be Poisson. Each rate has Garwood's exact interval, which stays positive
    for zero events (none in n runs leaves up to 3.7/n). The difference has the interval of Donner
    and Zou's method of variance estimates recovery (Statistical Methods in Medical Research 21,
    2012). With fewer than `RARE_RUNS` runs there is no interval, so a claim about it is undecided.
    """
    runs = len(counts)
    rate, low, high = _poisson(sum(counts), runs, confidence)
    if reference is not None:
        other, low_other, high_other = _poisson(sum(reference), len(reference), confidence)
        below, above = math.hypot(rate - low, high_other - other), math.hypot(high - rate, other - low_other)
        rate, runs = rate - other, min(runs, len(reference))
        low, high = rate - below, rate + above
    return Interval(rate, low, high, runs) if runs >= RARE_RUNS else Interval(rate, math.nan, math.nan, runs)


def event_rate(counts: Sequence[float], confidence: float = 0.95) -> Interval:
    """Returns the mean of counts of events per run.

    Uses `rare_events` if fewer than half of the runs have an event, otherwise Student's t.

    If most counts are zero, the coverage of Student's t is too low: for one event in ten runs, it
    is two thirds. If most counts are positive, they may not be Poisson-distributed: a timeout in
    each run is not random.
    """
    is_rare = sum(count > 0 for count in counts) < len(counts) / 2
    return rare_events(counts, confidence=confidence) if is_rare else mean_interval(counts, confidence)


def _poisson(count: float, runs: int, confidence: float) -> tuple[float, float, float]:
    """Returns the rate per run with Garwood's interval, from gamma quantiles."""
    from scipy import special

    tail = (1 - confidence) / 2
    low = float(special.gammaincinv(count, tail)) if count else 0.0
    return count / runs, low / runs, float(special.gammaincinv(count + 1, 1 - tail)) / runs


def ratio_of_means(above: Sequence[float], below: Sequence[float], confidence: float = 0.95) -> Interval:
    """Returns the ratio of two means with Fieller's interval.

    It is suitable for counts that may be zero for some seeds, because then a mean of ratios per
    seed does not exist.

    The values of a seed are paired. The interval has each ratio r for which Student's t does not
    distinguish the mean of above − r·below from zero. If it does not distinguish the mean of
    `below` from zero, the interval has no ends.
    """
    ones, others = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    count, base = len(ones), float(others.mean())
    mean = float(ones.mean()) / base if base else math.nan
    if count < 2 or not base:
        return Interval(mean, math.nan, math.nan, count)
    # Student's t of above − r·below is a quadratic inequality in r.
    share = _square_of_t(count, confidence) / count
    (of_above, both), (_, of_below) = np.cov(ones, others).tolist()
    square = base**2 - share * of_below
    ends = _roots(square, -2 * (float(ones.mean()) * base - share * both), float(ones.mean()) ** 2 - share * of_above)
    low, high = ends if square > 0 and ends else (math.nan, math.nan)
    return Interval(mean, low, high, count)


def crossing(places: Sequence[float], samples: Sequence[Sequence[float]], confidence: float = 0.95) -> Interval:
    """Returns where the means of several quantities finally fall below zero.

    Interpolates between the last mean above zero and the next mean.

    `samples` has a sequence of values per place, one value per seed, in the same order of seeds.
    The interval has each place at which Student's t does not distinguish the interpolated number
    from zero, and everything between such places, so it covers the crossing of the expected values.
    An end is NaN if the interval reaches the first or the last place, because the crossing may lie
    beyond this place. The result is NaN if the last mean is above zero, or if no mean is above
    zero.
    """
    columns = np.asarray(samples, dtype=np.float64)
    means, count = columns.mean(axis=1), columns.shape[1]
    ahead = np.flatnonzero(means > 0)
    if not len(ahead) or ahead[-1] == len(means) - 1:
        return Interval(math.nan, math.nan, math.nan, count)
    last = int(ahead[-1])
    mean = places[last] + (places[last + 1] - places[last]) * float(means[last] / (means[last] - means[last + 1]))
    if count < 2:
        return Interval(mean, math.nan, math.nan, count)
    share = _square_of_t(count, confidence) / count
    held: list[float] = []
    for index, (place, following) in enumerate(pairwise(places)):
        start, step = columns[index], columns[index + 1] - columns[index]
        (of_start, both), (_, of_step) = np.cov(start, step).tolist()
        ends = _within_unit(
            float(step.mean()) ** 2 - share * of_step,
            2 * (float(start.mean() * step.mean()) - share * both),
            float(start.mean()) ** 2 - share * of_start,
        )
        held += [place + (following - place) * end for end in ends]
    low, high = min(held), max(held)
    return Interval(mean, math.nan if low == places[0] else low, math.nan if high == places[-1] else high, count)


def _square_of_t(count: int, confidence: float) -> float:
    from scipy import special

    return float(special.stdtrit(count - 1, (1 + confidence) / 2)) ** 2


def _roots(square: float, linear: float, constant: float) -> list[float]:
    """Returns the real zeros of ax² + bx + c in order."""
    inside = linear**2 - 4 * square * constant
    # If both roots coincide, rounding may yield no real root.
    inside = 0.0 if abs(inside) < 1e-12 * linear**2 else inside
    if square == 0 or inside < 0:
        return [-constant / linear] if square == 0 and linear else []
    return sorted((-linear + sign * math.sqrt(inside)) / (2 * square) for sign in (-1, 1))


def _within_unit(square: float, linear: float, constant: float) -> list[float]:
    """Returns the ends of the range between 0 and 1 in which ax² + bx + c is at most zero."""
    ends = [end for end in (0.0, 1.0) if square * end**2 + linear * end + constant <= 0]
    return ends + [root for root in _roots(square, linear, constant) if 0 < root < 1]


def intervals(
    frame: pl.DataFrame,
    by: Sequence[str],
    value: str,
    confidence: float = 0.95,
    *,
    within: Within | None = None,
    seed: str = "seed",
) -> pl.DataFrame:
    """Returns the mean of a column over seeds, with its interval, per combination of `by`.

    Combinations are in order of appearance.

    Runs with different seeds are the sample, and each contributes one number. If a run has rows of
    several flows, `within` combines them by "sum" or "mean", or `by` includes the name of the flow.
    Returns the columns `by`, `mean`, `low`, `high` (all in the unit of `value`; null without an
    interval) and `count`, the number of seeds.

    Raises UsageError if a run has several rows and `within` is None, or if `within="mean"` would
    average flows of different kinds.
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


def mean_rows(runs: pl.DataFrame, by: Sequence[str], shown: Mapping[str, str]) -> list[list[str]]:
    """Returns rows of a table for display: the columns `by`, and the `shown` columns for each.

    `shown` maps columns of numbers, one per run, to the format of their mean over seeds: `±2` for
    the 95 % interval and two decimals, or a format such as `.1f`. A missing mean is empty. Names
    are not broken between lines. Raises UsageError as `intervals` does.
    """
    found = {
        column: {tuple(row[name] for name in by): row for row in intervals(runs, by, column).to_dicts()}
        for column, form in shown.items()
        if form.startswith("\N{PLUS-MINUS SIGN}")
    }
    means = runs.group_by(by, maintain_order=True).agg(pl.col(*shown).mean())

    def text(where: tuple[object, ...], column: str, mean: float | None) -> str:
        if column in found:
            return Interval.of_row(found[column][where]).text(int(shown[column][1:]))
        return "" if mean is None else format(mean, shown[column])

    rows = []
    for mean in means.to_dicts():
        where = tuple(mean[name] for name in by)
        names = [str(one).replace(" ", "\N{NO-BREAK SPACE}") for one in where]
        rows.append([*names, *(text(where, column, mean[column]) for column in shown)])
    return rows


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
    """Returns ratios to a baseline per combination of the columns `by`: means and intervals.

    The mean is geometric. `baseline` gives values of some of the columns `by`. The other columns
    and the seed are equal on both sides, so common random effects of a seed cancel. If a run has
    rows of several flows, each flow is divided by the flow of the same name, and the run
    contributes the geometric mean; with `within`, the flows are added or averaged first.

    Mean and interval are those of the logarithms over seeds: 1/2 and 2 are equally far from 1, and
    exchanging the two sides inverts mean and interval. The baseline's ratio to itself is exactly 1.
    A run in which one side is zero or missing has no ratio and is excluded. Returns the columns of
    `intervals`. Raises UsageError as `intervals` does.
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
    """Returns Jain's index of fairness, (Σx)²/(n·Σx²).

    It is 1 if all shares are equal, 1/n if one flow has everything.

    Returns NaN if there are no shares or all are zero. Source: Jain, Chiu, Hawe, DEC-TR-301, 1984.
    """
    values = np.asarray(list(shares), dtype=np.float64)
    squares = float((values**2).sum())
    return float(values.sum()) ** 2 / (len(values) * squares) if squares > 0 else math.nan


def cov(values: Iterable[float]) -> float:
    """Returns the coefficient of variation: population standard deviation relative to the mean."""
    sample = np.asarray(list(values), dtype=np.float64)
    mean = float(sample.mean()) if len(sample) else 0.0
    return float(sample.std()) / mean if mean else math.nan


def ecdf(values: Iterable[float]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Returns the empirical distribution.

    The result has the distinct values in ascending order. For each value it has the share of values
    that are less than or equal to it.
    """
    sample = np.asarray([value for value in values if value is not None and not math.isnan(value)], dtype=np.float64)
    distinct, counts = np.unique(sample, return_counts=True)
    return distinct, counts.cumsum() / max(len(sample), 1)


__all__ = [
    "Interval",
    "cov",
    "crossing",
    "ecdf",
    "event_rate",
    "farthest",
    "intervals",
    "jain",
    "least",
    "mean_interval",
    "rare_events",
    "ratio_interval",
    "ratio_of_means",
    "ratios",
    "uses_of_air",
]


def __dir__() -> list[str]:
    return __all__
