"""`acklab query`: SQL queries of stored tables."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from acklab.cli.run import finite
from acklab.contents import Contents
from acklab.places import Place, Stamp, place_of
from acklab.queries import run_query
from acklab.result import files_of
from acklab.sweeps import load_sweep
from acklab.tables import plain_table
from acklab.terminal import show_table

if TYPE_CHECKING:
    import polars as pl


def query_command(sql: str, where: str, as_json: bool, as_csv: bool) -> None:
    """Prints the result as a table, one JSON list, or CSV."""
    place = place_of(where, "DIR")
    frame = run_query(sql, place, _tables(place))
    if as_csv:
        print(_flat(frame).write_csv(), end="")
    elif as_json:
        print(json.dumps(finite(frame.to_dicts()), allow_nan=False, default=_text))
    else:
        rows = [{name: _cell(value) for name, value in row.items()} for row in frame.to_dicts()]
        show_table(plain_table(rows or [dict.fromkeys(frame.columns, "")]), " (all rows: --csv or --json)")


def _flat(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Returns the frame with text in the columns whose types CSV does not support."""
    import polars as pl

    odd = [name for name, kind in frame.schema.items() if kind.is_nested() or kind in (pl.Binary, pl.Object)]
    return frame.with_columns(pl.Series(name, [_cell(value) for value in frame[name].to_list()], pl.String) for name in odd)


def _cell(value: Any) -> bool | float | str | None:
    """Returns a value as a number or as text. Lists and structures become JSON."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return json.dumps(finite(value), default=_text) if isinstance(value, list | dict) else _text(value)


def _text(value: Any) -> str:
    """Returns text for a value that JSON does not support.

    Bytes become hexadecimal; times and decimals stay as written.
    """
    return value.hex() if isinstance(value, bytes) else str(value)


def _tables(place: Place) -> Mapping[str, Stamp | None]:
    """Returns the tables of a sweep or a run, with their stamps. Raises StoreError."""
    contents = Contents.of(place)
    if contents is not None and contents.is_sweep:
        return load_sweep(place).files
    return files_of(place)
