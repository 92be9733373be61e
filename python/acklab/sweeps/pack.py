"""Finished points as tables over all of these points.

A batch returns a pack, and a store contains packs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from acklab.provenance import Provenance
from acklab.result import Result

POINT = "point"
"""The first column of each table: the index of the point within the pack."""
POINTS = "points"
"""The table with a row per point."""
_SCHEMA = pa.schema(
    [
        pa.field("digest", pa.string()),
        pa.field("seed", pa.uint64()),
        pa.field("revision", pa.string()),
        pa.field("version", pa.string()),
        pa.field("command", pa.string()),
        pa.field("tables", pa.string()),
        pa.field("scenario", pa.string()),
    ]
)


@dataclass(frozen=True)
class StoredPoint:
    """Description of a point in a pack, in addition to its tables."""

    digest: str
    seed: int
    revision: str
    version: str
    command: str
    tables: str
    """The names of its tables, in their order, separated by commas."""
    scenario: str
    """The complete scenario as JSON."""

    def provenance(self) -> Provenance:
        """Returns the provenance of its result."""
        return Provenance(json.loads(self.scenario), self.seed, self.revision, self.version, self.command)


@dataclass(frozen=True)
class Pack:
    """Tables over several points, in the order of the points. The table `points` lists them."""

    points: pa.Table
    tables: Mapping[str, pa.Table]

    @classmethod
    def of(cls, points: Sequence[StoredPoint], tables: Mapping[str, pa.Table]) -> "Pack":
        """Returns a pack of these points.

        The first column of each table, `point`, is the index of the point.
        """
        columns = [pa.array([getattr(point, field.name) for point in points], field.type) for field in _SCHEMA]
        return cls(pa.Table.from_arrays(columns, schema=_SCHEMA), tables)

    @property
    def digests(self) -> list[str]:
        """Returns the digests of its points."""
        found: list[str] = self.points.column("digest").to_pylist()
        return found

    def all_tables(self) -> dict[str, pa.Table]:
        """Returns the tables by name, including the table of points."""
        return {POINTS: self.points, **self.tables}

    def select(self, chosen: Sequence[int]) -> "Pack":
        """Returns only these points, in this order."""
        place = np.full(self.points.num_rows, -1, dtype=np.int64)
        place[list(chosen)] = np.arange(len(chosen))
        tables = {}
        for name, table in self.tables.items():
            rows = in_order([renumbered(table, place)])
            if rows.num_rows or any(name in _names(self.points, index) for index in chosen):
                tables[name] = rows
        return Pack(self.points.take(pa.array(list(chosen), pa.int64())), tables)

    def results(self) -> Iterator[Result]:
        """Yields the result of each point."""
        starts = {name: _starts(table, self.points.num_rows) for name, table in self.tables.items()}
        for index, row in enumerate(self.points.to_pylist()):
            point = StoredPoint(**row)
            tables = {}
            for name in filter(None, point.tables.split(",")):
                first, end = starts[name][index], starts[name][index + 1]
                tables[name] = self.tables[name].slice(first, end - first).drop_columns([POINT])
            yield Result(tables, point.provenance())

    @classmethod
    def joined(cls, packs: Sequence["Pack"]) -> "Pack":
        """Returns one pack with the points of several, in the order of their digests.

        If a point is in two packs, its rows of the first pack are used.
        """
        places: dict[str, tuple[int, int]] = {}
        for which, pack in enumerate(packs):
            for index, digest in enumerate(pack.digests):
                places.setdefault(digest, (which, index))
        order = {place: new for new, (_, place) in enumerate(sorted(places.items()))}
        maps = [np.full(pack.points.num_rows, -1, dtype=np.int64) for pack in packs]
        for (which, index), new in order.items():
            maps[which][index] = new
        points = pa.concat_tables(
            [pack.points.append_column("_", pa.array(place)) for pack, place in zip(packs, maps, strict=True)]
        )
        points = points.filter(pc.greater_equal(points["_"], 0)).sort_by("_").drop_columns(["_"]).combine_chunks()
        names = sorted({name for pack in packs for name in pack.tables})
        tables = {
            name: in_order(
                [renumbered(pack.tables[name], place) for pack, place in zip(packs, maps, strict=True) if name in pack.tables]
            )
            for name in names
        }
        return cls(points, tables)


def renumbered(table: pa.Table, place: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> pa.Table:
    """Returns the rows of the points that have a place. The place becomes their index."""
    numbers = place[table.column(POINT).to_numpy()]
    wanted = numbers >= 0
    if not wanted.all():
        table, numbers = table.filter(pa.array(wanted)), numbers[wanted]
    return table.set_column(0, pa.field(POINT, pa.uint32(), nullable=False), pa.array(numbers, pa.uint32()))


def in_order(parts: Sequence[pa.Table]) -> pa.Table:
    """Returns one table in the order of its points. The rows of a point keep their order."""
    schema = parts[0].schema
    whole = pa.concat_tables([part if part.schema.equals(schema, check_metadata=True) else part.cast(schema) for part in parts])
    numbers = whole.column(POINT).to_numpy()
    if (numbers[1:] < numbers[:-1]).any():
        whole = whole.take(pa.array(np.argsort(numbers, kind="stable")))
    return whole.combine_chunks()


def _starts(table: pa.Table, points: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Returns the index of the first row of each point, and the end of the last point."""
    return np.searchsorted(table.column(POINT).to_numpy(), np.arange(points + 1))


def _names(points: pa.Table, index: int) -> list[str]:
    names: str = points.column("tables")[index].as_py()
    return names.split(",")
