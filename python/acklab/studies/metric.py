"""Metrics: positions of numbers in the tables of a run.

A metric is `table.column`; for a table with many rows `table[row].column`, or `table[*].column` for
the sum over all. Two of these form a share: `table[*].part / table[*].whole`.
"""

import math
import re
from dataclasses import dataclass

import polars as pl

from acklab.errors import UsageError
from acklab.result import Result

_EVENTS = frozenset({"total_rtos_l4", "agg_rtos_l4", "total_decompression_failures_l2"})
"""Columns that count rare events: most runs may have no event."""

_FORM = re.compile(r"(?P<table>\w+)(?:\[(?P<row>[^\]]+)\])?\.(?P<column>\w+)")
_ALL = "*"


@dataclass(frozen=True)
class Metric:
    """A column of a table and, for a table with many rows, a name that identifies the row."""

    table: str
    row: str | None
    column: str
    whole: "Metric | None" = None
    """The denominator of a share; None for other metrics."""

    @classmethod
    def parse(cls, text: str) -> "Metric":
        """Reads `flows.mean_srtt_l4`, or a share of two metrics. Raises UsageError.

        An example of a share is `stations[*].total_unanswered_l2 / stations[*].total_ppdus_l2`.
        """
        part, *whole = text.split(" / ", 1)
        match = _FORM.fullmatch(part)
        if match is None:
            raise UsageError(f"metric {text!r}: expected table.column, table[row].column, or two of these with ' / ' between")
        return cls(match["table"], match["row"], match["column"], cls.parse(whole[0]) if whole else None)

    def __str__(self) -> str:
        row = "" if self.row is None else f"[{self.row}]"
        return f"{self.table}{row}.{self.column}" + ("" if self.whole is None else f" / {self.whole}")

    def of(self, result: Result) -> float:
        """Returns the number in the unit of its column; NaN if the table has none.

        Raises UsageError.
        """
        value = self._value(result)
        if self.whole is None:
            return value
        whole = self.whole.of(result)
        return value / whole if whole else math.nan

    def _value(self, result: Result) -> float:
        frame = result.table(self.table)
        if self.column not in frame.columns:
            raise UsageError(
                f"metric {self}: found no column {self.column!r} in the table {self.table!r}, expected one of: {', '.join(frame.columns)}"
            )
        if self.row == _ALL:
            return math.fsum(float(value) for value in frame[self.column] if value is not None)
        if self.row is not None:
            names = [name for index, (name, kind) in enumerate(frame.schema.items()) if index == 0 or kind == pl.String]
            frame = frame.filter(pl.any_horizontal(pl.col(names).cast(pl.String) == self.row))
        if frame.height != 1:
            found = ", ".join(str(name) for name in result.table(self.table).to_series(0))
            raise UsageError(f"metric {self}: found {frame.height} rows of the table {self.table!r}, expected one of: {found}")
        value = frame[self.column][0]
        return math.nan if value is None else float(value)

    @property
    def counts_events(self) -> bool:
        """Returns `True` if the metric counts rare events, such as timeouts."""
        return self.whole is None and self.column in _EVENTS

    def unit(self, result: Result) -> str | None:
        """Returns the unit of the column, if it has one."""
        return None if self.whole is not None else result.units(self.table).get(self.column)
