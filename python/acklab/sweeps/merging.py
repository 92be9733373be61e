"""One table over all points of a sweep, in the order of the points and not of their execution."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from acklab.errors import StoreError
from acklab.store import read_table, remove_stale, table_files, writing
from acklab.sweeps.point import Point

_ROWS_AT_ONCE = 1 << 16


class DamagedPoint(StoreError):
    """A finished point can no longer be read."""

    def __init__(self, point: Point, message: str) -> None:
        super().__init__(message)
        self.point = point


@dataclass
class _Merged:
    """A table that is being written."""

    writer: pq.ParquetWriter
    schema: pa.Schema
    waiting: list[pa.Table] = field(default_factory=list)
    rows: int = 0

    def add(self, table: pa.Table) -> None:
        self.waiting.append(table.cast(self.schema))
        self.rows += table.num_rows
        if self.rows >= _ROWS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        # One row group for many points: a group for each would make the file slow to read.
        if self.waiting:
            self.writer.write_table(pa.concat_tables(self.waiting))
        self.waiting, self.rows = [], 0


def merge(points: Sequence[tuple[Point, Mapping[str, str]]], store: Path, metadata: Mapping[str, str]) -> dict[str, Path]:
    """Writes each table of the finished points as one Parquet file into `store`.

    Each point comes with the columns that tell it from the others, by name; the columns `point` and `seed` are added. Raises
    DamagedPoint if one cannot be read, naming the file, and StoreError if the tables cannot be written.
    """
    with ExitStack() as stack:
        merged: dict[str, _Merged] = {}
        for index, (point, columns) in enumerate(points):
            if not point.is_done(store):
                continue
            for name, path in table_files(point.folder(store)).items():
                try:
                    table = _with_columns(read_table(path), index, point.seed, columns)
                except StoreError as error:
                    raise DamagedPoint(point, str(error)) from error
                if name not in merged:
                    schema = table.schema.with_metadata(dict(metadata))
                    temporary = stack.enter_context(writing(store / f"{name}.parquet"))
                    writer = stack.enter_context(pq.ParquetWriter(temporary, schema))
                    merged[name] = _Merged(writer, schema)
                merged[name].add(table)
        for table in merged.values():
            table.flush()
    # Tables over the points of an earlier grid that this one does not yield.
    remove_stale(store, merged, "acklab.grid")
    return {name: store / f"{name}.parquet" for name in merged}


def _with_columns(table: pa.Table, index: int, seed: int, columns: Mapping[str, str]) -> pa.Table:
    rows = table.num_rows
    front = {
        "point": pa.array([index] * rows, pa.int64()),
        **{name: pa.array([value] * rows, pa.string()) for name, value in columns.items()},
        "seed": pa.array([seed] * rows, pa.uint64()),
    }
    fields = [pa.field(name, array.type) for name, array in front.items()]
    return pa.Table.from_arrays([*front.values(), *table.columns], schema=pa.schema([*fields, *table.schema]))
