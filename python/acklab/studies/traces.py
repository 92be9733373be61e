"""Trace files that a study generates: when a link may deliver, as mahimahi's traces tell it."""

import random
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from acklab.studies.claim import Strict

OPPORTUNITY_BITS = 1504 * 8
"""What may leave at an opportunity: a packet of 1500 octets and its header of 4, as in mahimahi."""


class Trace(Strict):
    """A trace whose opportunities to deliver a packet are a Poisson process. The same values give the same file on every machine."""

    model: Literal["poisson"]
    rate: Annotated[float, Field(gt=0)]
    """Mean rate in Mbps."""
    seconds: Annotated[int, Field(gt=0)]
    """Length of the trace, which links repeat."""
    seed: int

    @property
    def text(self) -> str:
        """The file: a line for each opportunity, with its millisecond."""
        return _poisson(self.rate, self.seconds, self.seed)


@cache
def _poisson(rate: float, seconds: int, seed: int) -> str:
    chance = random.Random(seed)
    lines, now = [], 0.0
    while (now := now + 1000 * chance.expovariate(rate * 1e6 / OPPORTUNITY_BITS)) < seconds * 1000:
        lines.append(f"{int(now)}\n")
    return "".join(lines)
