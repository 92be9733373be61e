"""Values of the claims, computed from runs.

The computation is the same for the unmodified upload.toml and for every other setting.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from acklab.statistics import Interval, crossing, farthest, least, mean_interval, ratio_interval, ratio_of_means
from acklab.studies import Measure, differences

from .arms import DELAYED, FIRST, LARGE, MIMD, MIMD_OF_STATIONS, RELAXED, SMALL, SMALL_DELAYED, SMALL_RELAXED, Arm
from .runs import FEW, MANY, MOST, TEN, Values

Number = list[float] | Interval
"""A value per seed, or an interval if the number is not a mean over seeds."""


def logarithms(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Returns logarithms of ratios, seed by seed. Their means are geometric.

    A logarithm is NaN if either side is zero.
    """
    pairs = zip(above, below, strict=True)
    return [math.log(one / other) if one > 0 and other > 0 else math.nan for one, other in pairs]


def percent(found: Interval) -> Interval:
    """Converts the mean of logarithms of ratios to an excess [%]."""
    mean, low, high = (math.exp(number) for number in (found.mean, found.low, found.high))
    return Interval(mean, low, high, found.count).gain


def numbers(runs: Values) -> dict[str, Number]:
    """Returns the number of each claim, by its id.

    Includes other readings of claims only if their arms were run.
    """
    return {name: values for part in (_queues, _stability, _throughput, _relaxed, _mimd, _delayed) for name, values in part(runs)}


def of_small(runs: Values) -> dict[str, Number]:
    """Returns the numbers of Figures 8 and 10 with q = 50."""
    return {
        f"{name}_50": number for name, number in [*_relaxed(runs, SMALL_RELAXED), *_delayed(runs, SMALL_RELAXED, SMALL_DELAYED)]
    }


def of_more(runs: Values) -> dict[str, Number]:
    """Returns the numbers with more seeds: Figure 9, and the crossing of Figure 6."""
    return {"crossover": _crossover(runs), **dict(_mimd(runs))}


def measure(number: Number, commands: Sequence[str]) -> Measure:
    """Returns the number of a claim with the commands that repeat its runs."""
    return Measure.of(number, commands) if isinstance(number, Interval) else Measure(number, commands)


Numbers = Iterator[tuple[str, Number]]


def _lead(runs: Values, arm: Arm, stations: int) -> list[float]:
    """Returns the total goodput with the filter relative to without it, as logarithms."""
    return _exceeds(runs, arm.filtered, arm, stations)


def _exceeds(runs: Values, one: Arm, other: Arm, stations: int) -> list[float]:
    """Returns the total goodput with `one` relative to `other`, as logarithms."""
    return logarithms(runs.of(one, stations, "mbps"), runs.of(other, stations, "mbps"))


def _over(
    runs: Values, arms: Sequence[Arm], ratios: Callable[[int], Sequence[float]], least: int = 2, most: int = MOST
) -> list[float]:
    """Returns the mean of logarithms of ratios over numbers of stations, for each seed."""
    return [_mean(seed) for seed in zip(*map(ratios, runs.stations(*arms, least=least, most=most)), strict=True)]


def _gain_over(
    runs: Values, arms: Sequence[Arm], ratios: Callable[[int], Sequence[float]], least: int = 2, most: int = MOST
) -> Interval:
    """Returns the geometric mean of ratios over numbers of stations, as a gain [%]."""
    return percent(mean_interval(_over(runs, arms, ratios, least, most)))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _queues(runs: Values) -> Numbers:
    """Returns the numbers of Figure 4."""
    for arm in (SMALL, LARGE):
        yield f"queue_full_{arm.slots}", [length / arm.slots for length in runs.of(arm, TEN, "queue")]
    for arm in (SMALL, LARGE):
        # In acklab, the queue includes the frame in the MAC; in ns-2, it does not.
        yield f"queue_mean_{arm.slots}", [(length - 1) / TEN for length in runs.of(arm.filtered, TEN, "queue")]
        yield f"queue_most_{arm.slots}", [(length - 1) / TEN for length in runs.of(arm.filtered, TEN, "longest")]
        for metric in ("delay", "rtt"):
            yield f"{metric}_{arm.slots}", ratio_interval(runs.of(arm.filtered, TEN, metric), runs.of(arm, TEN, metric))
    yield "queue_alike", ratio_interval(runs.of(LARGE.filtered, TEN, "queue"), runs.of(SMALL.filtered, TEN, "queue"))


def _stability(runs: Values) -> Numbers:
    """Returns the numbers of Figure 5."""
    for arm in (SMALL, LARGE):
        yield f"fair_{arm.slots}", runs.of(arm.filtered, TEN, "jain")
        yield f"unfair_{arm.slots}", runs.of(arm, TEN, "jain")
        # Some of these counts are zero.
        yield f"timeouts_{arm.slots}", ratio_of_means(runs.of(arm.filtered, TEN, "timeouts"), runs.of(arm, TEN, "timeouts"))
    for arm in (SMALL_DELAYED[FIRST], DELAYED[FIRST]):
        yield f"delayed_unfair_{arm.slots}", runs.of(arm, TEN, "jain")


def _throughput(runs: Values) -> Numbers:
    """Returns the numbers of Figures 6 and 7."""
    for arm in (SMALL, LARGE):
        yield f"few_{arm.slots}", _gain_over(runs, [arm, arm.filtered], partial(_lead, runs, arm), most=FEW)
        yield f"most_{arm.slots}", ratio_interval(runs.of(arm.filtered, MOST, "mbps"), runs.of(arm, MOST, "mbps")).gain
    yield "crossover", _crossover(runs)
    for suffix, arm in {"": SMALL, "_250": LARGE}.items():
        for count in (TEN, MOST):
            with_filter, without = runs.of(arm.filtered, count, "collisions"), runs.of(arm, count, "collisions")
            yield f"collisions_{count}{suffix}", ratio_interval(with_filter, without)


def _crossover(runs: Values) -> Interval:
    """Returns the number of stations from which the filter reduces goodput."""
    stations = runs.stations(LARGE, LARGE.filtered, most=max(count for _, count in runs.values))
    return crossing(stations, [_lead(runs, LARGE, count) for count in stations])


def _relaxed(runs: Values, relaxed: Mapping[str, Arm] = RELAXED) -> Numbers:
    """Returns the numbers of Figure 8."""
    for window, arm in relaxed.items():
        if window != FIRST:
            name = window.removeprefix("CWmin ")
            yield f"relaxed_{name}", _gain_over(runs, [arm, arm.filtered], partial(_lead, runs, arm), least=MANY)


def _mimd(runs: Values) -> Numbers:
    """Returns the numbers of Figure 9."""
    for suffix, arm in {"": MIMD, "_of_stations": MIMD_OF_STATIONS}.items():
        if stations := runs.stations(arm, arm.filtered):
            goodput = [(runs.of(arm.filtered, count, "mbps"), runs.of(arm, count, "mbps")) for count in stations]
            yield f"mimd_mbps{suffix}", least([with_filter for with_filter, _ in goodput])
            yield f"mimd_ahead{suffix}", least([differences(*pair) for pair in goodput])
            yield f"mimd_lead{suffix}", percent(least([logarithms(*pair) for pair in goodput]))
            yield f"mimd_unfiltered{suffix}", ratio_interval(runs.of(arm, MOST, "mbps"), runs.of(LARGE, MOST, "mbps")).gain


def _delayed(runs: Values, relaxed: Mapping[str, Arm] = RELAXED, delayed: Mapping[str, Arm] = DELAYED) -> Numbers:
    """Returns the numbers of Figure 10."""

    def gained(arms: Mapping[str, Arm], window: str) -> list[float]:
        """Returns the gain of a larger window over many stations, as logarithms of ratios."""
        pair = arms[window], arms[FIRST]
        return _over(runs, pair, partial(_exceeds, runs, *pair), least=MANY)

    filtered = {window: arm.filtered for window, arm in relaxed.items()}
    yield "delayed_63", percent(mean_interval(gained(delayed, "CWmin 63")))
    yield "delayed_127", percent(mean_interval(gained(delayed, "CWmin 127")))
    yield "delayed_more_63", percent(mean_interval(differences(gained(delayed, "CWmin 63"), gained(relaxed, "CWmin 63"))))
    yield "delayed_less_127", percent(mean_interval(differences(gained(filtered, "CWmin 127"), gained(delayed, "CWmin 127"))))
    apart = [
        _exceeds(runs, arm.filtered, filtered[window], stations)
        for window, arm in delayed.items()
        for stations in runs.stations(arm.filtered, filtered[window], least=MANY)
    ]
    yield "both_alike", percent(farthest(apart))
    for count in (TEN, MOST):
        with_filter, without = runs.of(filtered[FIRST], count, "acks"), runs.of(delayed[FIRST], count, "acks")
        yield f"drops_more_{count}", ratio_interval(with_filter, without)
