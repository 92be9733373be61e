"""Which rates are tried at which ratio of signal to noise, and how far away that is."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

RATES = (15, 30, 45, 60, 90, 120, 135, 150)
"""Of one stream in 40 MHz with the short guard interval, in Mbps, by MCS (Table 19-31)."""
SNRS = tuple(range(25))
"""Ratios of signal to noise that are shown [dB]: from where the slowest rate gets through to where
the fastest loses nothing.
"""
BELOW, ABOVE = 1.5, 3.5
"""How far around the ratio that a rate needs it is tried [dB]. Beyond, all or nothing of it
arrives.
"""

_NEEDED = (0.76, 3.77, 6.34, 9.60, 12.71, 17.01, 18.32, 19.51)
"""At which one frame of 1458 bytes in ten is lost [dB], by MCS: docs/models/wifi-reception.md."""
_THERMAL = -173.975
"""kT at 290 K [dBm/Hz]."""


@dataclass(frozen=True)
class Place:
    """A rate and a ratio of signal to noise."""

    mcs: int
    snr: int

    @property
    def name(self) -> str:
        """As the name of a variant."""
        return f"{RATES[self.mcs]} Mbps at {self.snr} dB"

    def set(self, channel: Mapping[str, Any]) -> dict[str, object]:
        """What makes it of the scenario; a channel without distances only has the rate."""
        rate: dict[str, object] = {"wifi.0.rate.mcs": self.mcs}
        if channel["model"] != "snr":
            return rate
        away = [[round(distance(channel, self.snr), 2), 0.0]]
        return rate | {"wifi.0.reception.channel.place.points": away}


def places(quick: bool) -> Iterator[Place]:
    """Yields all of them; if it is to be quick, only those without loss."""
    for mcs in range(len(RATES)):
        yield from [lossless(mcs)] if quick else (Place(mcs, snr) for snr in tried_at(mcs))


def lossless(mcs: int) -> Place:
    """Where nothing of a rate is lost to noise."""
    return Place(mcs, tried_at(mcs)[-1])


def tried_at(mcs: int) -> list[int]:
    """Ratios at which a rate is run [dB].

    At the last of them nothing of it is lost, and so at all beyond.
    """
    needed = _NEEDED[mcs]
    return [snr for snr in SNRS if needed - BELOW <= snr <= needed + ABOVE]


def distance(channel: Mapping[str, Any], snr: float) -> float:
    """Where 40 MHz have this ratio [m]."""
    noise = _THERMAL + 10 * math.log10(40e6) + channel["noise_figure"]
    loss = channel["access_point_power"] - noise - snr
    of = channel["path_loss"]
    return float(of["reference_distance"] * 10 ** ((loss - of["reference_loss"]) / (10 * of["exponent"])))
