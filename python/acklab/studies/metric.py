"""How a number is read from the tables of a run: `table.column`, or `table[row].column` where a table has many rows."""

import math
import re
from dataclasses import dataclass

import polars as pl

from acklab.errors import UsageError
from acklab.result import Result

_FORM = re.compile(r"(?P<table>\w+)(?:\[(?P<row>[^\]]+)\])?\.(?P<column>\w+)")


@dataclass(frozen=True)
class Metric:
    """A column of a table and, if the table has many rows, the name in the first column of the row that is meant."""

    table: str
    row: str | None
    column: str

    @classmethod
    def parse(cls, text: str) -> "Metric":
        """Reads `flows.mean_srtt_l4` or `links[btl_forward].mean_qdisc_length_l2`. Raises UsageError."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise UsageError(f"metric {text!r}: expected table.column or table[row].column")
        return cls(match["table"], match["row"], match["column"])

    def __str__(self) -> str:
        row = "" if self.row is None else f"[{self.row}]"
        return f"{self.table}{row}.{self.column}"

    def of(self, result: Result) -> float:
        """The number, in the unit of its column; not a number where the table has none. Raises UsageError."""
        frame = result.table(self.table)
        if self.column not in frame.columns:
            raise UsageError(
                f"metric {self}: the table {self.table!r} has no column {self.column!r}, it has {', '.join(frame.columns)}"
            )
        if self.row is not None:
            names = frame.columns[0]
            frame = frame.filter(pl.col(names).cast(pl.String) == self.row)
        if frame.height != 1:
            found = ", ".join(str(name) for name in result.table(self.table).to_series(0))
            raise UsageError(f"metric {self}: found {frame.height} rows of the table {self.table!r}, expected one of: {found}")
        value = frame[self.column][0]
        return math.nan if value is None else float(value)

    def unit(self, result: Result) -> str | None:
        """The unit of the column, if it has one."""
        return result.units(self.table).get(self.column)
