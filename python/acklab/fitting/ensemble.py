"""Scenarios that agree with a capture within its uncertainty: approximate Bayesian computation.

The prior is uniform over the intervals of the inspection, and log-uniform where only one end is
known. Each generation except the first perturbs the closest points, with the weights of population
Monte Carlo (ABC-PMC: Beaumont, Cornuet, Marin and Robert, Biometrika 96(4), 2009). A scenario is a
member if each of its statistics agrees with the capture's within the intervals of both. This is
exact if these intervals are the error of the model (Wilkinson, Statistical Applications in Genetics
and Molecular Biology 12(2), 2013). Proposals stay within the prior. The result depends only on the
capture.
"""

import math
import os
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from acklab.fitting.path import ACKS_WAIT, Path
from acklab.fitting.quantity import Quantity
from acklab.fitting.scenario import Values
from acklab.fitting.summary import Summary

MEMBERS = 20
"""Number of members of an ensemble.

A further draw is below all 20 members with a probability of 1/21 (Wilks, Annals of Mathematical
Statistics 12, 1941).
"""
_FIRST, _LATER = 48, 32
"""Proposals of the first generation and of later ones; *chosen*."""
_GENERATIONS = 7
"""Maximum number of generations: 240 proposals, half a minute on two cores; *chosen*."""
_ABOVE = 4.0
"""Maximum of the prior of a queue limit whose interval has no upper end, relative to the lower end;
*chosen*.

On paths with losses of the channel, the queue was up to three times as long as the waiting data.
"""
_FILLED, _FULL = 0.5, 1.25
"""The prior probability that the 95th percentile of the RTT shows a full queue, and the maximum of
the limit of such a queue, relative to its lower end.

A loss-based controller keeps the queue above 80 % of its limit at that percentile
(`_SHORT_OF_LIMIT` in `path.py`); *chosen*.
"""
_NONE = 0.5
"""Prior probability that packets are lost only at the queue."""
_RAREST = 30.0
"""Minimum random loss, relative to the measured loss; *chosen*.

A scenario without random loss represents all rarer losses.
"""
_MUTATES = 0.1
"""Probability that a perturbation draws a new discrete value; *chosen*."""
_WIDENS = 2.0
"""Ratio of the kernel's variance to the population's: the optimum of Beaumont et al."""
_NARROWEST = 0.02
"""Minimum standard deviation of the kernel, relative to the range of the prior; *chosen*."""
_SEED = 1

Point = tuple[float, ...]
"""A point of the unit cube."""


@dataclass(frozen=True)
class Space:
    """Describes the prior: a unit cube.

    Its axes are the quantities with an interval, random loss, the controller and the filter.
    """

    path: Path
    controllers: tuple[str, ...]
    filters: tuple[str, ...]
    gate: float | None
    """Period in ms of the gate, which releases packets in bursts.

    None if the test of a gate did not pass.
    """

    @property
    def dimensions(self) -> int:
        """Returns the number of axes."""
        return 8

    def values(self, point: Point) -> Values:
        """Returns the values at a point."""
        rate, base, queue, back_queue, loss, back, controller, kind = point
        path = self.path
        return Values(
            rate=_even(path.rate.low, path.rate.high, rate),
            base=_even(path.base.low, path.base.high, base),
            queue=_queue(path.queue, queue),
            back_queue=_queue(path.back_queue, back_queue) if path.back_queue.is_known else ACKS_WAIT,
            loss=self._loss(loss),
            controller=self.controllers[_index(controller, self.controllers)],
            back_rate=_even(path.back_rate.low, path.back_rate.high, back) if path.back_rate.is_known else None,
            filter=self.filters[_index(kind, self.filters)] if self.filters else None,
            gate=self.gate,
        )

    def _loss(self, share: float) -> float:
        high = self.path.loss.high or 0.0
        if share < _NONE or high <= 0:
            return 0.0
        return _log(self.rarest_loss, high, (share - _NONE) / (1 - _NONE))

    @property
    def rarest_loss(self) -> float:
        """Returns the minimum nonzero probability of random loss."""
        return (self.path.loss.high or 0.0) / _RAREST

    def is_discrete(self, axis: int) -> bool:
        """Returns `True` if an axis has values without an order."""
        return axis >= 6


def _even(low: float | None, high: float | None, share: float) -> float:
    assert low is not None
    return low if high is None else low + (high - low) * share


def _queue(quantity: Quantity, share: float) -> float:
    """Returns a queue limit. Without an upper end, most values are near the lower end."""
    assert quantity.low is not None
    if quantity.high is not None:
        return _log(quantity.low, quantity.high, share)
    if share < _FILLED:
        return _log(quantity.low, quantity.low * _FULL, share / _FILLED)
    return _log(quantity.low, quantity.low * _ABOVE, (share - _FILLED) / (1 - _FILLED))


def _log(low: float, high: float, share: float) -> float:
    return math.exp(math.log(low) + share * math.log(high / low))


def _index(share: float, among: Sequence[str]) -> int:
    return min(int(share * len(among)), len(among) - 1)


@dataclass(frozen=True)
class Member:
    """A scenario of the ensemble, with its distance from the capture."""

    values: Values
    seed: int
    summary: Summary
    distance: float


@dataclass(frozen=True)
class Ensemble:
    """The members of the ensemble, and the details of the search."""

    space: Space
    members: tuple[Member, ...]
    closest: Member | None
    """The closest scenario, even if it is not a member."""
    tried: int
    accepted: int

    @property
    def repeats(self) -> bool:
        """Returns `True` if the ensemble has enough members."""
        return len(self.members) >= MEMBERS


@dataclass(frozen=True)
class _Particle:
    point: Point
    weight: float
    member: Member


def sample(
    space: Space, measured: Summary, simulate: Callable[[Values, int], Summary], watch: Callable[[float], None] | None = None
) -> Ensemble:
    """Samples an ensemble.

    `simulate` returns the statistics of a scenario with a seed; `watch` receives the share of the
    work that is done.
    """
    chance = random.Random(_SEED)
    found: list[_Particle] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for generation in range(_GENERATIONS):
            points = _proposals(space, found, _LATER if generation else _FIRST, chance)
            seeds = range(len(found) + 1, len(found) + 1 + len(points))
            values = [space.values(point) for point in points]
            summaries = pool.map(simulate, values, seeds)
            weights = [_weight(space, point, found) for point in points]
            found += [
                _Particle(point, weight, Member(value, seed, summary, measured.distance(summary)))
                for point, weight, value, seed, summary in zip(points, weights, values, seeds, summaries, strict=True)
            ]
            accepted = [one for one in found if one.member.distance <= 1.0]
            if watch is not None:
                watch((generation + 1) / _GENERATIONS)
            if len(accepted) >= MEMBERS:
                break
    closest = min(found, key=lambda one: one.member.distance, default=None)
    members = tuple(one.member for one in _drawn(accepted, chance))
    return Ensemble(space, members, None if closest is None else closest.member, len(found), len(accepted))


def _proposals(space: Space, found: Sequence[_Particle], count: int, chance: random.Random) -> list[Point]:
    """Returns points of a generation: from the prior, or perturbations of the closest points."""
    if not found:
        return [tuple(chance.random() for _ in range(space.dimensions)) for _ in range(count)]
    best = _population(found)
    widths = _widths(best)
    weights = [one.weight for one in best]
    return [_perturbed(space, chance.choices(best, weights)[0].point, widths, chance) for _ in range(count)]


def _population(found: Sequence[_Particle]) -> list[_Particle]:
    return sorted(found, key=lambda one: one.member.distance)[:MEMBERS]


def _widths(best: Sequence[_Particle]) -> list[float]:
    """Returns the standard deviations of the kernel, by axis."""
    total = math.fsum(one.weight for one in best)
    widths = []
    for axis in range(len(best[0].point)):
        mean = math.fsum(one.weight * one.point[axis] for one in best) / total
        variance = math.fsum(one.weight * (one.point[axis] - mean) ** 2 for one in best) / total
        widths.append(max(math.sqrt(_WIDENS * variance), _NARROWEST))
    return widths


def _perturbed(space: Space, point: Point, widths: Sequence[float], chance: random.Random) -> Point:
    def moved(axis: int, value: float) -> float:
        if space.is_discrete(axis):
            return chance.random() if chance.random() < _MUTATES else value
        return _reflected(chance.gauss(value, widths[axis]))

    return tuple(moved(axis, value) for axis, value in enumerate(point))


def _reflected(value: float) -> float:
    """Reflects a value at the ends of the unit interval, in which proposals stay."""
    folded = math.fmod(abs(value), 2.0)
    return 2.0 - folded if folded > 1.0 else folded


def _weight(space: Space, point: Point, found: Sequence[_Particle]) -> float:
    """Returns the weight of a proposal: the prior, which is 1, divided by the proposal's density.

    Discrete axes are omitted: they mostly keep their values, so their factors cancel.
    """
    if not found:
        return 1.0
    best = _population(found)
    widths = _widths(best)
    axes = [axis for axis in range(space.dimensions) if not space.is_discrete(axis)]
    total = math.fsum(one.weight for one in best)

    def kernel(centre: Point) -> float:
        return math.prod(math.exp(-(((point[axis] - centre[axis]) / widths[axis]) ** 2) / 2) / widths[axis] for axis in axes)

    density = math.fsum(one.weight * kernel(one.point) for one in best) / total
    return 1.0 / max(density, 1e-12)


def _drawn(accepted: Sequence[_Particle], chance: random.Random) -> list[_Particle]:
    """Draws particles of an ensemble without repetition, with probabilities by their weights.

    The method is that of Efraimidis and Spirakis (Information Processing Letters 97(5), 2006).
    """
    if len(accepted) <= MEMBERS:
        return list(accepted)
    keys = [(chance.random() ** (1 / one.weight) if one.weight > 0 else 0.0, place) for place, one in enumerate(accepted)]
    places = sorted(place for _, place in sorted(keys, reverse=True)[:MEMBERS])
    return [accepted[place] for place in places]
