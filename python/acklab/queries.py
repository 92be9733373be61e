"""Questions in SQL about kept tables, which DuckDB answers. It reads the columns and the groups of rows that a question needs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from acklab.errors import UsageError
from acklab.places import Place, RemotePlace

if TYPE_CHECKING:
    import polars as pl


def ask(sql: str, place: Place, tables: Sequence[str]) -> "pl.DataFrame":
    """The answer to a question. Each table is a view of its own name.

    Raises UsageError for a question that DuckDB refuses or that yields no table.
    """
    import duckdb
    import pyarrow.dataset as ds

    with duckdb.connect() as connection:
        for name in tables:
            if isinstance(place, RemotePlace):
                files = ds.dataset(place.full(f"{name}.parquet"), filesystem=place.filesystem, format="parquet")
                connection.register(name, files)
            else:
                quoted = place.name_of(f"{name}.parquet").replace("'", "''")
                connection.execute(f"create view \"{name}\" as select * from read_parquet('{quoted}')")
        try:
            relation = connection.sql(sql)
            if relation is None:
                raise UsageError(f"query: found {sql!r}, expected one that yields a table")
            frame: pl.DataFrame = relation.pl()
        except duckdb.Error as error:
            raise UsageError(f"DuckDB refused the query: {error}") from error
    return frame
