"""Trace files that a study generates: when a link may deliver, as mahimahi's traces tell it."""

from typing import Annotated, Literal

from pydantic import Field

from acklab.studies.claim import Strict
from acklab.traces import poisson


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
        return poisson(self.rate, self.seconds, self.seed)
