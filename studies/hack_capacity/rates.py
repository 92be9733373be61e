"""The rates of the curves.

They are the rates of 802.11a, and of 802.11n at 40 MHz with the short guard interval.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

A, N = "802.11a", "802.11n"


@dataclass(frozen=True)
class Rate:
    """A rate of the PHY, and its overrides of a scenario."""

    standard: str
    mbps: int
    set: Mapping[str, object] = field(hash=False)

    @property
    def name(self) -> str:
        """Returns the name on the axis of a sweep."""
        return f"{self.standard} {self.mbps}"


def _ofdm(mbps: int) -> Rate:
    return Rate(A, mbps, {"wifi.0.standard": A, "wifi.0.rate.rate": f"{mbps}Mbps"})


def _ht(mbps: int, mcs: int, streams: int) -> Rate:
    return Rate(N, mbps, {"wifi.0.streams": streams, "wifi.0.rate.mcs": mcs})


_ONE_STREAM = (15, 30, 45, 60, 90, 120, 135, 150)
ALL = (
    *map(_ofdm, (6, 9, 12, 18, 24, 36, 48, 54)),
    *(_ht(mbps, mcs, 1) for mcs, mbps in enumerate(_ONE_STREAM)),
    *(_ht(150 * streams, 7, streams) for streams in (2, 3, 4)),
)
SOME = tuple(rate for rate in ALL if rate.mbps in {6, 54, 15, 150, 600})
"""Rates of a quick run."""


def rates(quick: bool) -> tuple[Rate, ...]:
    """Returns all rates, or those of a quick run."""
    return SOME if quick else ALL


def named(standard: str, mbps: int) -> Rate:
    """Returns one rate."""
    (rate,) = (rate for rate in ALL if (rate.standard, rate.mbps) == (standard, mbps))
    return rate
