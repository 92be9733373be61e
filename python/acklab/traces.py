"""Traces of links in mahimahi's format: the times at which a link may deliver.

Traces are generated from published statistics. Statistics can be computed for any trace.

Each line of a trace is a delivery opportunity of 1504 bytes: the time in ms (Netravali et al.,
USENIX ATC 2015, section 4.1). Equal values give equal texts on every machine. `docs/models/path.md`
compares generated traces with recorded ones.
"""

import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from acklab.errors import UsageError

OPPORTUNITY_BITS = 1504 * 8
"""Bits per opportunity: a packet of 1500 bytes and its header of 4, as in mahimahi."""


def read(text: str) -> list[int]:
    """Returns the time of each opportunity in ms. Ignores blank lines.

    Raises UsageError with the line for invalid traces.
    """
    times: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (found := line.strip()):
            continue
        if not (found.isascii() and found.isdigit()):
            raise UsageError(f'line {number}: found "{found[:40]}", expected a whole number of milliseconds')
        if times and int(found) < times[-1]:
            raise UsageError(f"line {number} is earlier than the one before it")
        times.append(int(found))
    if not times or times[-1] == 0:
        raise UsageError("expected at least one line with a time above zero")
    return times


def write(times: Iterable[float]) -> str:
    """Returns the text of a trace with opportunities at these milliseconds, in order."""
    return "".join(f"{int(time)}\n" for time in times)


@cache
def poisson(rate: float, seconds: int, seed: int) -> str:
    """Returns a Poisson process with a mean of `rate` Mbps."""
    chance = random.Random(seed)
    times, now = [], 0.0
    while (now := now + 1000 * chance.expovariate(rate * 1e6 / OPPORTUNITY_BITS)) < seconds * 1000:
        times.append(now)
    return write(times)


_MAX_RATE = 1000.0
"""Maximum rate in Sprout's model of a cellular link, packets per second."""
_WANDER = 200.0
"""Standard deviation of the Brownian motion of the rate after one second, packets per second."""
_TICK = 0.02
"""Seconds between two values of the rate."""


def _of_tick(chance: random.Random, tick: int, rate: float) -> Iterator[float]:
    """Yields the milliseconds of a Poisson process with `rate` events per second within a tick.

    Yields no event if the rate is zero.
    """
    now = tick * _TICK
    while rate > 0 and (now := now + chance.expovariate(rate)) < (tick + 1) * _TICK:
        yield 1000 * now


@cache
def cellular(seconds: int, seed: int, start: float = 500.0) -> str:
    """Returns a Poisson process whose rate is a Brownian motion between 0 and 1000 packets/s.

    This is Sprout's model of a cellular link, with its constants; `start` is the first rate in
    packets per second. Outages, in which Sprout's rate tends to stay at zero, last here only while
    the walk touches zero. Source: Winstein, Sivaraman, Balakrishnan, NSDI 2013, section 3.1.
    """
    chance = random.Random(seed)
    rate, times = start, list[float]()
    for tick in range(round(seconds / _TICK)):
        rate = abs(rate + chance.gauss(0, _WANDER * _TICK**0.5))
        rate = 2 * _MAX_RATE - rate if rate > _MAX_RATE else rate
        times.extend(_of_tick(chance, tick, rate))
    return write(times)


@dataclass(frozen=True)
class Network:
    """Statistics of a cellular network in a published recording."""

    mean: float
    """Mean rate in Mbps."""
    variation: float
    """Standard deviation of the mean rate of a second, relative to `mean`."""
    correlation: float
    """Correlation of the mean rates of two consecutive seconds."""


NETWORKS = {
    "verizon-lte": Network(5.04, 0.64, 0.84),
    "att-lte": Network(5.19, 0.56, 0.92),
    "tmobile-lte": Network(12.81, 0.78, 0.82),
    "tmobile-umts": Network(2.03, 0.78, 0.90),
    "verizon-evdo": Network(0.52, 0.89, 0.82),
}
"""Downlinks of moving users.

Source: `statistics` of the recordings of Sprout (NSDI 2013) that mahimahi publishes (`traces/` of
revision ae477d4): Verizon-LTE-short.down, ATT-LTE-driving.down, TMobile-LTE-driving.down,
TMobile-UMTS-driving.down and Verizon-EVDO-driving.down.
"""


@cache
def network(name: str, seconds: int, seed: int) -> str:
    """Returns a trace with the statistics of one of `NETWORKS`.

    The trace is a Poisson process. Its rate is log-normal, with an exponentially decaying
    autocorrelation.

    The logarithm of the rate is an Ornstein–Uhlenbeck process. Its variance s² and its time
    constant follow from the network's variation v and correlation c: s² = ln(1 + v²), and c =
    (exp(s²·exp(−1 s/τ)) − 1) / (exp(s²) − 1). The averaging over a second and the noise of the
    Poisson process are not corrected for. Raises UsageError for an unknown name.
    """
    if name not in NETWORKS:
        raise UsageError(f'found "{name}", expected a network: {", ".join(NETWORKS)}')
    known = NETWORKS[name]
    variance = math.log1p(known.variation**2)
    memory = -1 / math.log(math.log1p(known.correlation * math.expm1(variance)) / variance)
    kept = math.exp(-_TICK / memory)
    step = math.sqrt(variance * (1 - kept * kept))
    chance = random.Random(seed)
    state, times = chance.gauss(0, math.sqrt(variance)), list[float]()
    for tick in range(round(seconds / _TICK)):
        rate = known.mean * 1e6 / OPPORTUNITY_BITS * math.exp(state - variance / 2)
        times.extend(_of_tick(chance, tick, rate))
        state = kept * state + chance.gauss(0, step)
    return write(times)


@dataclass(frozen=True)
class Statistics:
    """Statistics of the rate of a trace."""

    seconds: float
    """Length of the trace."""
    mean: float
    """Mean rate in Mbps."""
    variation: float
    """Standard deviation of the mean rate of a second, relative to `mean`."""
    quantiles: tuple[float, float, float, float, float]
    """5, 25, 50, 75 and 95 % of the seconds have at most this rate, in Mbps."""
    correlations: dict[int, float]
    """Correlation of the mean rates of seconds that are 1, 2, 5 and 10 s apart."""
    long_gaps: float
    """Share of gaps between opportunities that exceed 20 ms (Sprout's tick)."""
    tail: float
    """Exponent of the power law that best fits the gaps of more than 20 ms (Hill's estimator).

    Their density decreases with gap^−tail. NaN without such gaps.
    """


LAGS = (1, 2, 5, 10)
"""Lags of the correlations, in seconds."""


def statistics(text: str) -> Statistics:
    """Returns the statistics of a trace of at least 20 s.

    Raises UsageError for invalid or shorter traces.
    """
    times = np.asarray(read(text), dtype=np.int64)
    seconds = int(times[-1]) // 1000
    if seconds < 2 * max(LAGS):
        raise UsageError(f"found a trace of {times[-1] / 1000:g} s, expected at least {2 * max(LAGS)} s")
    rates: npt.NDArray[np.float64] = np.bincount(times // 1000, minlength=seconds)[:seconds] * OPPORTUNITY_BITS / 1e6
    gaps = np.diff(times)
    long = gaps[gaps > 1000 * _TICK]
    centred = rates - rates.mean()
    power = float((centred * centred).mean())
    return Statistics(
        seconds=float(times[-1]) / 1000,
        mean=float(rates.mean()),
        variation=float(rates.std() / rates.mean()),
        quantiles=tuple(float(q) for q in np.quantile(rates, [0.05, 0.25, 0.5, 0.75, 0.95])),  # type: ignore[arg-type]
        correlations={lag: float((centred[:-lag] * centred[lag:]).mean()) / power if power > 0 else math.nan for lag in LAGS},
        long_gaps=len(long) / max(1, len(gaps)),
        tail=1 + len(long) / float(np.log(long / (1000 * _TICK)).sum()) if len(long) else math.nan,
    )
