"""Settings of the analytic curves that the paper omits, and their effect on its three gains."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from acklab.studies.closed_form import Cell, Mode, gain, ofdm
from acklab.studies.closed_form.download import COMPRESSED

from .rates import N, named

Gains = tuple[float, float, float]
"""Published gains [%]: mean below 100 Mbps, at 150 and at 600 Mbps."""

BELOW_100 = tuple(named(N, mbps) for mbps in (15, 30, 45, 60, 90))
PRINTED = (8, 7, 20)


@dataclass(frozen=True)
class Choice:
    """A choice: changes to the cell of the model, or the bytes of a compressed ACK."""

    title: str
    cell: Mapping[str, Any] = field(default_factory=dict)
    compressed: int | None = None


def _basic(*rates: int) -> dict[str, tuple[Mode, ...]]:
    return {"basic": tuple(ofdm(rate) for rate in rates)}


DIMENSIONS: Sequence[Sequence[Choice]] = (
    (
        Choice("1460 bytes without timestamps"),
        Choice("1460 bytes and timestamps", {"transport": 32}),
        Choice("1448 bytes and timestamps", {"payload": 1448, "transport": 32}),
    ),
    (
        Choice("4 bytes per compressed ACK"),
        Choice("3 bytes per compressed ACK", compressed=3),
        Choice("compressed ACKs at no cost", compressed=0),
    ),
    (Choice("PPDUs of at most 4 ms"), Choice("PPDUs of at most 5.484 ms", {"max_time": 5_484_000})),
    (
        Choice("response frames at 6, 12 and 24 Mbps"),
        Choice("response frames at 6 Mbps", _basic(6)),
        Choice("response frames at up to 54 Mbps", _basic(6, 12, 24, 54)),
    ),
    (Choice("7.5 slots of backoff on average"), Choice("7 slots of backoff on average", {"cw_min": 14})),
)
"""The first choice of each dimension is the default."""


def alone() -> Iterator[tuple[Choice, ...]]:
    """Yields the defaults, then each other choice by itself."""
    yield ()
    yield from ((choice,) for choices in DIMENSIONS for choice in choices[1:])


def combinations() -> Iterator[tuple[Choice, ...]]:
    """Yields all combinations."""
    yield from itertools.product(*DIMENSIONS)


def gains(cells: Mapping[int, Cell], choices: Sequence[Choice]) -> Gains:
    """Returns the three gains, of the cells of 802.11n by rate."""
    compressed = next((choice.compressed for choice in choices if choice.compressed is not None), COMPRESSED)

    def gain_at(mbps: int) -> float:
        cell = cells[mbps]
        for choice in choices:
            cell = replace(cell, **choice.cell)
        return gain(cell, compressed)

    return sum(gain_at(rate.mbps) for rate in BELOW_100) / len(BELOW_100), gain_at(150), gain_at(600)
