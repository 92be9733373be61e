"""Tests a mechanism on the return path against the simpler path.

The test is a cross-validation over folds of time.

A gate (which releases packets in bursts) or a filter is a hypothesis. The ACKs of the capture are
cut into folds of time. The parameters of the path with the mechanism, and of the path without it,
are estimated from one half of the folds. Both paths are simulated, and predict the other half of
the folds. The mechanism is added to the path if it predicts better than the simpler path by the
test of Vuong (Econometrica 57(2), 1989) over held-out folds (Stone, Journal of the Royal
Statistical Society B 36(2), 1974).
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from acklab.inspection.model import Way

_FOLDS = 16
"""Number of folds of time; *chosen*. Half of them are held out at a time."""
_ACKS = 12
"""Minimum number of ACKs in a fold; *chosen*, so that statistics of the fold are meaningful."""
_CRITICAL = 2.326
"""Quantile of the normal distribution above which the mechanism is added to the path.

The probability of an error is 1 % in each direction of Vuong's test; it is small because every
capture is tested.
"""
_DEVIATION = 0.05
"""The minimum standard deviation of the logarithm of a prediction. Without it, a simulation that
repeats too exactly would exclude the capture; *chosen*.
"""

Features = tuple[float, float]
"""Features of a fold: ln(segments per ACK), and ln(1 + c²), where c is the coefficient of variation
of the times between ACKs.
"""


@dataclass(frozen=True)
class Test:
    """The outcome of the test of a mechanism."""

    name: str
    enters: bool
    evidence: str


@dataclass(frozen=True)
class Fold:
    """A fold of time, with the features of its ACKs."""

    segments: float
    """Segments per ACK."""
    variation: float
    """The coefficient of variation of the times between ACKs."""

    @property
    def features(self) -> Features:
        """Returns the logarithmic features of the fold."""
        return math.log(max(self.segments, 1e-2)), math.log1p(self.variation**2)


def folds_of(way: Way) -> list[Fold]:
    """Returns the folds of a direction, each with equally many ACKs.

    The folds cover all windows whose packets were kept.
    """
    found: list[Fold] = []
    for window in way["curves"]["windows"]:
        acks = window["acks"]
        size = max(len(acks) // _FOLDS, _ACKS)
        for first in range(0, len(acks) - size + 1, size):
            part = acks[first : first + size]
            covered = part[-1][1] - part[0][1]
            gaps = [after[0] - before[0] for before, after in pairwise(part)]
            mean = statistics.fmean(gaps)
            if covered > 0 and mean > 0:
                found.append(Fold(covered / way["mss"] / len(gaps), statistics.pstdev(gaps) / mean))
    return found


def test(name: str, way: Way, simpler: Callable[[float], Way | None], mechanism: Callable[[float], Way | None]) -> Test:
    """Tests a mechanism.

    Both paths are simulated with the segments per ACK of the folds that are not held out.
    """
    folds = folds_of(way)
    if len(folds) < _FOLDS // 2:
        return Test(
            name, False, f"not tested: the capture has {len(folds)} folds of {_ACKS} ACKs, and the test needs {_FOLDS // 2}"
        )
    ratios: list[float] = []
    for half in (0, 1):
        train = [fold for place, fold in enumerate(folds) if place % 2 == half]
        held_out = [fold for place, fold in enumerate(folds) if place % 2 != half]
        segments = statistics.fmean(fold.segments for fold in train)
        without, with_it = (_predicted(simulate(segments)) for simulate in (simpler, mechanism))
        if without is None or with_it is None:
            return Test(name, False, "not tested: one of the two paths carries no transfer")
        ratios += [_density(with_it, fold.features) - _density(without, fold.features) for fold in held_out]
    mean, deviation = statistics.fmean(ratios), statistics.stdev(ratios)
    # Paths with the same predictions cannot be distinguished.
    value = mean / (deviation / math.sqrt(len(ratios))) if deviation > 0 else math.copysign(math.inf, mean) if mean else 0.0
    enters = value > _CRITICAL
    verdict = "better than" if enters else "not better than"
    return Test(
        name,
        enters,
        f"predicts held-out ACKs {verdict} the simpler path: Vuong's z = {value:.2f} over {len(ratios)} folds, {_CRITICAL} needed",
    )


@dataclass(frozen=True)
class _Normal:
    mean: float
    deviation: float


def _predicted(way: Way | None) -> tuple[_Normal, ...] | None:
    """Returns the distribution of each feature over the folds of a simulation."""
    folds = [] if way is None else folds_of(way)
    if len(folds) < 2:
        return None
    columns: list[Sequence[float]] = list(zip(*(fold.features for fold in folds), strict=True))
    return tuple(_Normal(statistics.fmean(column), max(statistics.pstdev(column), _DEVIATION)) for column in columns)


def _density(predicted: Sequence[_Normal], features: Features) -> float:
    """Returns the logarithm of the density of features, which are independent."""
    pairs = zip(predicted, features, strict=True)
    return sum(-math.log(normal.deviation) - ((value - normal.mean) / normal.deviation) ** 2 / 2 for normal, value in pairs)
