"""Questions in SQL about kept tables, which DuckDB answers. It reads the columns and the groups of rows that a question needs."""

import contextlib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from acklab.errors import AcklabError, UsageError
from acklab.files import is_utf8
from acklab.places import Place, RemotePlace, Stamp

if TYPE_CHECKING:
    import duckdb
    import polars as pl

_INTERRUPTED = "Query interrupted"
"""The message of the RuntimeError that DuckDB raises at Ctrl-C."""


def ask(sql: str, place: Place, tables: Mapping[str, Stamp | None]) -> "pl.DataFrame":
    """The answer to a question. Each table is a view of its own name. Those that the question names are checked first, if they have stamps.

    Raises UsageError for a question that DuckDB refuses or that yields no table, StoreError for a table that is damaged.
    """
    import duckdb

    if not is_utf8(sql) or "\0" in sql:
        raise UsageError(f"query: found {sql!r}, expected text in UTF-8")
    named = _named(sql, tables)
    with duckdb.connect() as connection:
        for name, stamp in tables.items():
            _view(connection, place, name, stamp, is_named=name in named)
        try:
            relation = connection.sql(sql)
            if relation is None:
                raise UsageError(f"query: found {sql!r}, expected one that yields a table")
            frame: pl.DataFrame = relation.pl()
        except (AcklabError, MemoryError):
            raise
        except Exception as error:
            # DuckDB looks for signals itself, and reports Ctrl-C as a failure of the query.
            if isinstance(error, duckdb.InterruptException) or str(error) == _INTERRUPTED:
                raise KeyboardInterrupt from None
            # Besides what DuckDB refuses, there are values that Polars has no type for.
            raise UsageError(f"DuckDB refused the query: {error}") from error
    return frame


def _named(sql: str, tables: Iterable[str]) -> set[str]:
    """The tables that a question may read: those whose names occur in it, or all of them if it may compute a name (`query_table`)."""
    text = sql.lower()
    return {name for name in tables if name.lower() in text or "query" in text}


def _view(connection: "duckdb.DuckDBPyConnection", place: Place, name: str, stamp: Stamp | None, *, is_named: bool) -> None:
    """Makes a table known to DuckDB. Raises StoreError for one that the question names and that is damaged."""
    import duckdb
    import pyarrow.dataset as ds

    file = f"{name}.parquet"
    full = place.name_of(file)
    is_read_by_duckdb = place.path is not None and is_utf8(full)
    if is_named and (stamp is None or not is_read_by_duckdb):
        # What is checked is what is read: a store sends it once, and Arrow finds most damage where there is no stamp.
        connection.register(name, place.table(file, stamp))
        return
    if is_named and stamp is not None:
        place.verify(file, stamp)
    # A table that the question does not name is there to be listed. If it is damaged, the question can do without.
    with contextlib.nullcontext() if is_named else contextlib.suppress(duckdb.Error, OSError, ValueError):
        if is_read_by_duckdb:
            view, source = _quoted(name, '"'), _quoted(_literally(full), "'")
            connection.execute(f"create view {view} as select * from read_parquet({source})")
        elif isinstance(place, RemotePlace):
            connection.register(name, ds.dataset(place.full(file), filesystem=place.filesystem, format="parquet"))


def _quoted(text: str, mark: str) -> str:
    return f"{mark}{text.replace(mark, 2 * mark)}{mark}"


def _literally(path: str) -> str:
    """A path whose characters stand for themselves where DuckDB expects a pattern."""
    return re.sub(r"[*?\[]", r"[\g<0>]", path)
