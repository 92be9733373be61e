"""Trace files that a study generates: the delivery opportunities of a link in mahimahi's format.

The same values give the same file on every machine.
"""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from acklab.studies.claim import Strict
from acklab.traces import NETWORKS, network, poisson


class Poisson(Strict):
    """A trace whose delivery opportunities are a Poisson process."""

    model: Literal["poisson"]
    rate: Annotated[float, Field(gt=0)]
    """Mean rate in Mbps."""
    seconds: Annotated[int, Field(gt=0)]
    """Length of the trace, which links repeat."""
    seed: int

    @property
    def text(self) -> str:
        """Returns the file: a line per opportunity, with its millisecond."""
        return poisson(self.rate, self.seconds, self.seed)


class Cellular(Strict):
    """A trace with the statistics of a recorded cellular network."""

    model: Literal["cellular"]
    network: str
    """One of `acklab.traces.NETWORKS`."""
    seconds: Annotated[int, Field(gt=0)]
    """Length of the trace, which links repeat."""
    seed: int

    @field_validator("network")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in NETWORKS:
            raise ValueError(f"expected one of {', '.join(NETWORKS)}")
        return name

    @property
    def text(self) -> str:
        """Returns the file: a line per opportunity, with its millisecond."""
        return network(self.network, self.seconds, self.seed)


Trace = Annotated[Poisson | Cellular, Field(discriminator="model")]
"""A generated trace, by its model."""
