"""The choices of an axis as values of a column: numbers in one unit where they are numbers, and text otherwise."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from acklab.sweeps.grid import Axis

_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([A-Za-zµ%]*)")
_FAMILIES: tuple[Mapping[str, int], ...] = (
    {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9},
    {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9},
    {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
    {"packets": 1, "packet": 1},
    {"segments": 1, "segment": 1},
    {"": 1},
)
"""The units of scenarios, each with its factor, by what they measure (crates/base/src/units.rs)."""


@dataclass(frozen=True)
class AxisColumn:
    """A column for an axis."""

    values: Sequence[str | int | float]
    """The value of each choice."""
    unit: str
    """The unit of numbers; empty for none, and for text."""

    @classmethod
    def of(cls, axis: Axis) -> "AxisColumn":
        """The column of an axis. Numbers with different units of one kind are in that of the first; the names of variants are text."""
        choices = list(axis.choices)
        if axis.is_of_variants:
            return cls(choices, "")
        found = [_NUMBER.fullmatch(choice) for choice in choices]
        units = [match[2] for match in found if match]
        family = next((family for family in _FAMILIES if all(unit in family for unit in units)), None)
        if family is None or len(units) < len(choices):
            return cls(choices, "")
        factor = family[units[0]]
        exact = [Decimal(match[1]) * family[match[2]] / factor for match in found if match]
        whole = all(number == int(number) for number in exact) and not any("." in choice for choice in choices)
        numbers = [int(number) if whole else float(number) for number in exact]
        return cls(numbers, units[0])

    @property
    def type(self) -> pa.DataType:
        """The type of the column."""
        kinds = {type(value) for value in self.values}
        return pa.string() if str in kinds else pa.float64() if float in kinds else pa.int64()

    def field(self, name: str) -> pa.Field:
        """The field of a schema, with the unit in its metadata."""
        return pa.field(name, self.type, metadata={"unit": self.unit} if self.unit else None)
