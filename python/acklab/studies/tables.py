"""Claims of one form, written as a table.

There is a row per scenario, a column per metric, and a published number in each cell.

An entry of claims.toml with `rows` represents many claims:

    [[claim]]
    source = "ns-3 3.37"                     # fields that all of them share
    scenario = "{row}.toml"                  # {row} and {column} represent the names
    [claim.columns]                          # fields by column
    goodput = { unit = "Mbps", tolerance = "3%", metric = "flows.mean_throughput_l7" }
    drops = { tolerance = "20%", metric = "links[btl].total_drops_l2" }
    [claim.rows]                             # fields by row, and a number for each column it has
    newreno = { group = "NewReno", goodput = 15.35, drops = 68 }
    cubic = { group = "CUBIC", goodput = 15.39 }
    [claim.cells."cubic.goodput"]            # fields of a single claim
    note = "Here it differs."

A field of a cell replaces the field of its row. A field of a row replaces the field of the column,
which replaces the shared field. The id is "{row}.{column}" unless `id` is given. Without `columns`,
each row is one claim, and its id is "{row}".
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Fields = Mapping[str, Any]
_PARTS = ("rows", "columns", "cells")


def expand(entries: object) -> Iterator[dict[str, Any]]:
    """Returns the claims of the entries of claims.toml, in order.

    Raises ValueError for anything else than a list of tables, and for an invalid table.
    """
    if not isinstance(entries, Sequence) or not all(isinstance(entry, Mapping) for entry in entries):
        raise ValueError(f"claim: found {entries!r}, expected tables, each under [[claim]]")
    for entry in entries:
        if "rows" in entry:
            yield from _claims(entry)
        else:
            yield dict(entry)


def _claims(entry: Fields) -> Iterator[dict[str, Any]]:
    rows, columns, cells = (_fields_by_name(entry, part) for part in _PARTS)
    shared = {name: value for name, value in entry.items() if name not in _PARTS}
    unused = set(cells)
    for row, values in rows.items():
        own = {name: value for name, value in values.items() if name not in columns}
        for column in columns or [""]:
            if columns and column not in values:
                continue
            cell = f"{row}.{column}" if column else row
            unused.discard(cell)
            published = {"published": values[column]} if column else {}
            fields = {"id": cell, **shared, **columns.get(column, {}), **own, **published, **cells.get(cell, {})}
            yield {name: _filled(value, row, column) for name, value in fields.items()}
    if unused:
        raise ValueError(f"claim.cells: found {', '.join(sorted(unused))}, expected cells that the rows of the table have")


def _fields_by_name(entry: Fields, part: str) -> dict[str, Fields]:
    found = entry.get(part, {})
    if not isinstance(found, Mapping) or not all(isinstance(fields, Mapping) for fields in found.values()):
        raise ValueError(f"claim.{part}: expected fields by name")
    return dict(found)


def _filled(value: Any, row: str, column: str) -> Any:
    """Returns the value with the names of its row and column instead of {row} and {column}."""
    if isinstance(value, str):
        return value.replace("{row}", row).replace("{column}", column)
    if isinstance(value, Mapping):
        return {name: _filled(item, row, column) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, row, column) for item in value]
    return value
