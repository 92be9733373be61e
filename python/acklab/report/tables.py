"""Tables of metrics, with the best value of each row marked."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from acklab.metrics import best, is_metric, name_columns, written
from acklab.report.document import Table
from acklab.result import Result


def metric_table(result: Result, name: str, caption: str = "", commands: Sequence[str] = ()) -> Table:
    """A table of a run turned on its side: a row for each metric, a column for each flow, link or node."""
    frame = result.table(name)
    names = name_columns(frame.columns)
    rows = frame.iter_rows(named=True)
    columns = {" ".join(str(row[one]) for one in names) or name: row for row in rows}
    return _table(columns, result.units(name), caption, commands)


def compare(
    results: Mapping[str, Result], name: str, row: str | None = None, caption: str = "", only: Sequence[str] = ()
) -> Table:
    """The same row of a table in several runs, side by side: a column for each run.

    `row` is the name in the first column of the table, if it has many rows; `only` names the metrics to show (default: all).
    """
    columns: dict[str, dict[str, Any]] = {}
    units: dict[str, str] = {}
    for label, result in results.items():
        frame = result.table(name)
        if row is not None:
            frame = frame.filter(pl.col(frame.columns[0]) == row)
        columns[label] = frame.row(0, named=True)
        units = result.units(name)
    commands = [result.provenance.command for result in results.values()]
    return _table(columns, units, caption, commands, only)


def frame_table(frame: pl.DataFrame, caption: str = "", limit: int = 500) -> Table:
    """A frame as it is, up to `limit` rows."""
    shown = frame.head(limit)
    rows = [[written(value) for value in row] for row in shown.rows()]
    more = f" (the first {limit} of {frame.height} rows)" if frame.height > limit else ""
    text = sum(1 for dtype in frame.dtypes if not dtype.is_numeric())
    return Table(frame.columns, rows, caption + more, numeric_from=text)


def _table(
    columns: Mapping[str, Mapping[str, Any]],
    units: Mapping[str, str],
    caption: str,
    commands: Sequence[str],
    only: Sequence[str] = (),
) -> Table:
    first = next(iter(columns.values()))
    metrics = list(only) or [column for column in first if is_metric(column)]
    rows, marked = [], set()
    for index, metric in enumerate(metrics):
        values = [column.get(metric) for column in columns.values()]
        rows.append([metric, units.get(metric, ""), *(written(value) for value in values)])
        marked |= {(index, 2 + place) for place in best(metric, values)}
    return Table(["metric", "unit", *columns], rows, caption, frozenset(marked), commands, numeric_from=2)
