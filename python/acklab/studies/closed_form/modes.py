"""Modes of PPDUs and their durations, from the tables of the standard."""

import math
from dataclasses import dataclass

US = 1000

# Data bits per symbol, N_DBPS, by MCS and for one stream: Tables 17-4, 19-27 to 19-34, 21-29 to
# 21-60.
OFDM = {6: 24, 9: 36, 12: 48, 18: 72, 24: 96, 36: 144, 48: 192, 54: 216}
HT = {20: (26, 52, 78, 104, 156, 208, 234, 260), 40: (54, 108, 162, 216, 324, 432, 486, 540)}
VHT = {
    20: (26, 52, 78, 104, 156, 208, 234, 260, 312),
    40: (54, 108, 162, 216, 324, 432, 486, 540, 648, 720),
    80: (117, 234, 351, 468, 702, 936, 1053, 1170, 1404, 1560),
}
REFERENCE = (6, 12, 18, 24, 36, 48, 54, 54, 54, 54)
"""Non-HT reference rate by MCS, in Mbps (Table 10-10)."""

Mbps = float


@dataclass(frozen=True)
class Mode:
    """The mode of a PPDU."""

    preamble: int
    """Duration of everything before the PSDU."""
    mbps: Mbps
    """Rate of the payload."""
    reference: Mbps
    """The rate that determines the rate of its response frame."""
    bits: int = 0
    """Data bits per symbol; 0 for DSSS."""
    symbol: int = 0
    encoders: int = 1

    @property
    def is_ofdm(self) -> bool:
        """Returns whether the mode has symbols and, at 2.4 GHz, a signal extension."""
        return self.bits > 0

    def duration(self, octets: int) -> int:
        """Returns TXTIME without signal extension: 16.3.4, 17.4.3, 19.4.3, 21.4.3."""
        if not self.is_ofdm:
            return self.preamble + math.ceil(8 * octets / self.mbps) * US
        symbols = math.ceil((16 + 8 * octets + 6 * self.encoders) / self.bits)
        # With the short guard interval, a PPDU ends where symbols of 4 µs would end.
        return self.preamble + math.ceil(symbols * self.symbol / (4 * US)) * 4 * US


def dsss(mbps: Mbps, short_preamble: bool = False) -> Mode:
    """Returns a mode of DSSS or CCK.

    The preamble has 144 + 48 bits at 1 Mbps, or 72 at 1 and 48 at 2 Mbps (16.2.2.2, 16.2.2.3). 1
    Mbps has only the long preamble.
    """
    return Mode((96 if short_preamble and mbps > 1 else 192) * US, mbps, mbps)


def ofdm(mbps: int) -> Mode:
    """Returns a mode of clause 17: training and SIGNAL of 20 µs, symbols of 4 µs."""
    return Mode(20 * US, mbps, mbps, OFDM[mbps], 4 * US)


def ht(mcs: int, streams: int = 1, width: int = 40, guard: int = 400) -> Mode:
    """Returns an HT-mixed mode: 20 µs as OFDM, HT-SIG 8, HT-STF 4, HT-LTFs of 4 (19.3.9).

    A second encoder is used above 300 Mbps (19.5, at 800 ns).
    """
    bits = HT[width][mcs] * streams
    return _many(bits, 32, streams, guard, REFERENCE[mcs], 2 if bits > 1200 else 1)


def vht(mcs: int, streams: int = 1, width: int = 80, guard: int = 400) -> Mode:
    """Returns a VHT mode.

    20 µs as OFDM, VHT-SIG-A 8, VHT-STF 4, VHT-LTFs of 4, VHT-SIG-B 4 (21.3.4); an encoder for each
    600 Mbps (21.5, at 400 ns).
    """
    bits = VHT[width][mcs] * streams
    return _many(bits, 36, streams, guard, REFERENCE[mcs], math.ceil(bits / 2160))


def _many(bits: int, preamble: int, streams: int, guard: int, reference: int, encoders: int) -> Mode:
    fields = {1: 1, 2: 2, 3: 4, 4: 4}[streams]  # Tables 19-13, 21-13
    symbol = 3_200 + guard
    return Mode((preamble + 4 * fields) * US, bits * 1000 / symbol, reference, bits, symbol, encoders)
