"""Rates and signal-to-noise ratios of the runs, and their distances."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

RATES = (15, 30, 45, 60, 90, 120, 135, 150)
"""Rates of one stream in 40 MHz with the short guard interval [Mbps], by MCS (Table 19-31)."""
SNRS = tuple(range(25))
"""Signal-to-noise ratios in figures [dB]: from the minimum for the slowest rate to the ratio
without losses for the fastest rate.
"""
BELOW, ABOVE = 1.5, 3.5
"""Range of runs around the required ratio of a rate [dB]. Outside of it, all frames or none arrive.
"""

_NEEDED = (0.76, 3.77, 6.34, 9.60, 12.71, 17.01, 18.32, 19.51)
"""Ratio with a loss of 10 % for frames of 1458 bytes [dB], by MCS:
docs/models/wifi-reception.md.
"""
_THERMAL = -173.975
"""kT at 290 K [dBm/Hz]."""


@dataclass(frozen=True)
class Place:
    """A rate and a signal-to-noise ratio."""

    mcs: int
    snr: int

    @property
    def name(self) -> str:
        """Returns the name as a variant."""
        return f"{RATES[self.mcs]} Mbps at {self.snr} dB"

    def set(self, channel: Mapping[str, Any]) -> dict[str, object]:
        """Returns the overrides of the scenario.

        For a channel without distances, only the rate is set.
        """
        rate: dict[str, object] = {"wifi.0.rate.mcs": self.mcs}
        if channel["model"] != "snr":
            return rate
        away = [[round(distance(channel, self.snr), 2), 0.0]]
        return rate | {"wifi.0.reception.channel.place.points": away}


def places(quick: bool) -> Iterator[Place]:
    """Yields all places; for a quick run, yields only places without loss."""
    for mcs in range(len(RATES)):
        yield from [lossless(mcs)] if quick else (Place(mcs, snr) for snr in tried_at(mcs))


def lossless(mcs: int) -> Place:
    """Returns the place of a rate without losses to noise."""
    return Place(mcs, tried_at(mcs)[-1])


def tried_at(mcs: int) -> list[int]:
    """Returns the ratios at which a rate is run [dB].

    At the last ratio nothing is lost, so it represents all higher ratios.
    """
    needed = _NEEDED[mcs]
    return [snr for snr in SNRS if needed - BELOW <= snr <= needed + ABOVE]


def distance(channel: Mapping[str, Any], snr: float) -> float:
    """Returns the distance with this ratio in 40 MHz [m]."""
    noise = _THERMAL + 10 * math.log10(40e6) + channel["noise_figure"]
    loss = channel["access_point_power"] - noise - snr
    of = channel["path_loss"]
    return float(of["reference_distance"] * 10 ** ((loss - of["reference_loss"]) / (10 * of["exponent"])))
