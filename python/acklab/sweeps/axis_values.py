"""The choices of an axis as values of a column: numbers in one unit, or text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from acklab.sweeps.grid import Axis
from acklab.sweeps.units import family_of

_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([A-Za-zµ%]*)")


@dataclass(frozen=True)
class AxisColumn:
    """The column of an axis."""

    values: Sequence[str | int | float]
    """The value of each choice."""
    unit: str
    """The unit of numbers; empty for text and for numbers without a unit."""

    @classmethod
    def of(cls, axis: Axis) -> "AxisColumn":
        """Returns the column of an axis.

        Numbers with different units of one kind are converted to the unit of the first. Names of
        variants are text.
        """
        choices = list(axis.choices)
        if axis.is_of_variants:
            return cls(choices, "")
        found = [_NUMBER.fullmatch(choice) for choice in choices]
        units = [match[2] for match in found if match]
        family = family_of(units)
        if family is None or len(units) < len(choices):
            return cls(choices, "")
        factor = family[units[0]]
        exact = [Decimal(match[1]) * family[match[2]] / factor for match in found if match]
        whole = all(number == int(number) for number in exact) and not any("." in choice for choice in choices)
        numbers = [int(number) if whole else float(number) for number in exact]
        return cls(numbers, units[0])

    @property
    def type(self) -> pa.DataType:
        """Returns the type of the column."""
        kinds = {type(value) for value in self.values}
        return pa.string() if str in kinds else pa.float64() if float in kinds else pa.int64()

    def field(self, name: str) -> pa.Field:
        """Returns the field of a schema, with the unit in its metadata."""
        return pa.field(name, self.type, metadata={"unit": self.unit} if self.unit else None)
