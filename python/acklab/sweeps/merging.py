"""One table over all points of a sweep, in the order of the points, not of their execution."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from acklab.places import Place, Stamp
from acklab.sweeps.axis_values import AxisColumn
from acklab.sweeps.pack import POINT
from acklab.sweeps.packed_store import PackedStore
from acklab.sweeps.plan import Plan

_ROWS_AT_ONCE = 4_000_000
"""Maximum number of rows of a table in memory."""
_ROW_GROUP = 1 << 17
"""Rows per group. A reader of few points skips groups by their minimum and maximum values."""

POINTS = "points"
"""The table with a row per point of the sweep."""


@dataclass(frozen=True)
class Front:
    """The first columns of each table of a sweep, by point: index, a value per axis, the seed."""

    table: pa.Table

    @classmethod
    def of(cls, plan: Plan, names: Mapping[str, str]) -> "Front":
        """Returns the columns of a plan. `names` has the name of the column of each axis."""
        fields, arrays = [pa.field(POINT, pa.int64())], [pa.array(range(len(plan.points)), pa.int64())]
        for position, (key, grid_axis) in enumerate(plan.grid.axes.items()):
            axis = AxisColumn.of(grid_axis)
            values = list(axis.values)
            which = pa.array(plan.choices(position), pa.int32())
            fields.append(axis.field(names[key]))
            arrays.append(pa.array(values, axis.type).take(which))
        seeds = pa.array([point.seed for point in plan.points], pa.uint64())
        return cls(pa.Table.from_arrays([*arrays, seeds], schema=pa.schema([*fields, pa.field("seed", pa.uint64())])))

    def before(self, table: pa.Table) -> pa.Table:
        """Returns a table in which these columns replace the index of the point."""
        front = self.table.take(table.column(POINT))
        rest = table.drop_columns([POINT])
        return pa.Table.from_arrays(
            [*front.columns, *rest.columns], schema=pa.schema([*front.schema, *rest.schema], rest.schema.metadata)
        )


def merge(plan: Plan, names: Mapping[str, str], store: PackedStore, place: Place) -> dict[str, Stamp]:
    """Writes each table of the finished points as one Parquet file into `place`.

    Returns the stamps of the files by the names of tables.

    `names` has the name of the column of each axis. Raises DamagedPack for a pack that cannot be
    read, and StoreError if the tables cannot be written.
    """
    done = store.done()
    finished = np.array([index for index, point in enumerate(plan.points) if point.digest in done], dtype=np.int64)
    digests = [plan.points[index].digest for index in finished]
    front, metadata = Front.of(plan, names), plan.metadata()
    stamps = {}
    for name in store.names(digests):
        parts = _parts(name, digests, store)
        stamps[name] = _write(place, name, (front.before(_numbered(part, finished)) for part in parts), metadata)
    columns = {"digest": [point.digest for point in plan.points], "command": [point.command for point in plan.points]}
    points = front.table
    for column, values in columns.items():
        points = points.append_column(column, pa.array(values, pa.string()))
    points = points.append_column("done", pa.array([point.digest in done for point in plan.points]))
    stamps[POINTS] = _write(place, POINTS, iter([points]), metadata)
    return stamps


def _parts(name: str, digests: Sequence[str], store: PackedStore) -> Iterator[pa.Table]:
    """Yields a table in parts. `point` is the position in `digests`."""
    count = max(1, -(-store.rows(name, digests) // _ROWS_AT_ONCE))
    size = -(-len(digests) // count)
    for start in range(0, len(digests), size):
        wanted = digests[start : start + size]
        table = store.table(name, wanted)
        if table is not None:
            yield _numbered(repeated(table, wanted), np.arange(start, start + len(wanted)))


def _numbered(table: pa.Table, numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> pa.Table:
    return table.set_column(0, pa.field(POINT, pa.int64()), pa.array(numbers[table.column(POINT).to_numpy()]))


def repeated(table: pa.Table, digests: Sequence[str]) -> pa.Table:
    """Returns the table with rows for each position of a repeated digest.

    Points with the same digest differ only in the text of their settings.
    """
    first: dict[str, int] = {}
    source = np.array([first.setdefault(digest, position) for position, digest in enumerate(digests)], dtype=np.int64)
    if len(first) == len(digests):
        return table
    bounds = np.searchsorted(table.column(POINT).to_numpy(), np.arange(len(digests) + 1))
    counts = (bounds[1:] - bounds[:-1])[source]
    starts = bounds[:-1][source]
    within = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
    rows = table.take(pa.array(np.repeat(starts, counts) + within))
    return rows.set_column(0, table.schema.field(0), pa.array(np.repeat(np.arange(len(digests)), counts), pa.uint32()))


def _write(place: Place, name: str, parts: Iterator[pa.Table], metadata: Mapping[str, str]) -> Stamp:
    first = next(parts)
    schema = first.schema.with_metadata(dict(metadata))
    # Readers that verify checksums of pages detect damage too.
    options = {"compression": "zstd", "write_page_checksum": True}
    with place.creating(f"{name}.parquet") as file, pq.ParquetWriter(file, schema, **options) as writer:
        writer.write_table(first.cast(schema), row_group_size=_ROW_GROUP)
        for part in parts:
            writer.write_table(part.cast(schema), row_group_size=_ROW_GROUP)
    return file.stamp
