"""SQL queries of stored tables, executed by DuckDB.

DuckDB reads only the columns and groups of rows that a query needs.
"""

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
"""The message of DuckDB's RuntimeError at Ctrl-C."""


def run_query(sql: str, place: Place, tables: Mapping[str, Stamp | None]) -> "pl.DataFrame":
    """Returns the result of a query. Each table is a view of the same name.

    Tables in the query are verified first, if they have stamps.

    Raises UsageError for a query that DuckDB refuses or that returns no table, StoreError for a
    damaged table.
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
                raise UsageError(f"query: found {sql!r}, expected a query that returns a table")
            frame: pl.DataFrame = relation.pl()
        except (AcklabError, MemoryError):
            raise
        except Exception as error:
            # DuckDB handles signals itself, and reports Ctrl-C as a failure of the query.
            if isinstance(error, duckdb.InterruptException) or str(error) == _INTERRUPTED:
                raise KeyboardInterrupt from None
            # The result may include types that Polars does not support.
            raise UsageError(f"DuckDB refused the query: {error}") from error
    return frame


def _named(sql: str, tables: Iterable[str]) -> set[str]:
    """Returns the tables that a query may read: those whose names occur in it.

    Returns all tables if the query may compute a name (`query_table`).
    """
    text = sql.lower()
    return {name for name in tables if name.lower() in text or "query" in text}


def _view(connection: "duckdb.DuckDBPyConnection", place: Place, name: str, stamp: Stamp | None, *, is_named: bool) -> None:
    """Registers a table in DuckDB. Raises StoreError if the query names a damaged table."""
    import duckdb
    import pyarrow.dataset as ds

    file = f"{name}.parquet"
    full = place.name_of(file)
    is_read_by_duckdb = place.path is not None and is_utf8(full)
    if is_named and (stamp is None or not is_read_by_duckdb):
        # The bytes are verified and read in one pass, so a store sends them only once. Without a
        # stamp, Arrow detects most damage.
        connection.register(name, place.table(file, stamp))
        return
    if is_named and stamp is not None:
        place.verify(file, stamp)
    # A table that the query does not name is registered for listings. The query succeeds even if
    # this table is damaged.
    with contextlib.nullcontext() if is_named else contextlib.suppress(duckdb.Error, OSError, ValueError):
        if is_read_by_duckdb:
            view, source = _quoted(name, '"'), _quoted(_literally(full), "'")
            connection.execute(f"create view {view} as select * from read_parquet({source})")
        elif isinstance(place, RemotePlace):
            connection.register(name, ds.dataset(place.full(file), filesystem=place.filesystem, format="parquet"))


def _quoted(text: str, mark: str) -> str:
    return f"{mark}{text.replace(mark, 2 * mark)}{mark}"


def _literally(path: str) -> str:
    """Returns a path with escaped characters where DuckDB expects a pattern."""
    return re.sub(r"[*?\[]", r"[\g<0>]", path)
