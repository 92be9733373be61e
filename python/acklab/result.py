"""The result of one run."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acklab.errors import StoreError, UsageError
from acklab.files import path_of
from acklab.named_tables import NamedTables
from acklab.provenance import Provenance

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from acklab.places import Place, Stamp
    from acklab.replacing import Replacement

SERIES = ("operating_point", "throughput", "queue", "packets", "events", "decisions", "air")
"""Tables that a run has only if `measure.series` requests them."""


@dataclass(frozen=True, repr=False)
class Result(NamedTables):
    """Tables of one run and their provenance.

    `result.flows`, `result.links` and the other tables are Polars frames (`.to_pandas()` and
    `.to_arrow()` convert them); `result.arrow("flows")` is the Arrow table itself, whose fields
    carry their units.
    """

    tables: "Mapping[str, pa.Table]" = field(repr=False)
    provenance: Provenance

    @property
    def scenario(self) -> dict[str, Any]:
        """Returns the complete scenario, with presets resolved."""
        return self.provenance.scenario

    @property
    def seed(self) -> int:
        """Returns the seed of all random streams of the run."""
        return self.provenance.seed

    def table(self, name: str) -> "pl.DataFrame":
        """Returns a table as a Polars frame. Raises UsageError if the run has no such table."""
        import polars as pl

        frame = pl.from_arrow(self.arrow(name))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def arrow(self, name: str) -> "pa.Table":
        """Returns a table as Arrow, with its units.

        Raises UsageError if the run has no such table.
        """
        if name in self.tables:
            return self.tables[name]
        hint = f'; request it with measure.series = ["{name}"]' if name in SERIES else ""
        raise UsageError(f"found no table {name!r}, expected one of: {', '.join(self.tables)}{hint}")

    def units(self, name: str) -> dict[str, str]:
        """Returns the units of a table by column. Columns without a unit are omitted."""
        from acklab.store import units_of

        return units_of(self.arrow(name).schema)

    def save(self, directory: str | Path) -> Path:
        """Writes the tables as Parquet and the scenario as JSON into a folder.

        The metadata of every file contain scenario, seed, revision and the command that repeats the
        run. The result replaces an earlier result of the same kind atomically: if writing fails,
        the earlier result is unchanged. Raises StoreError, also for a folder with results of
        another kind, such as a sweep, and for a folder in use by another process.
        """
        from acklab.contents import Contents
        from acklab.replacing import replacing

        target = path_of(directory, "directory")
        with replacing(target, Contents.EMULATION if "timing" in self.tables else Contents.RUN) as replacement:
            self.complete(replacement)
        return target

    def complete(self, replacement: "Replacement") -> None:
        """Writes the tables and the scenario into the replacement, and completes the replacement.

        Raises StoreError.
        """
        from acklab.store import write_tables

        write_tables(replacement.staging, self.tables, self.provenance)
        replacement.complete()

    def __repr__(self) -> str:
        """Returns a short description with the names of the tables."""
        title = self.scenario.get("title") or self.provenance.command
        return f"Result({title!r}, seed {self.seed}: {', '.join(self.tables)})"

    def _repr_html_(self) -> str:
        """Returns HTML for notebooks: the short answer, folded tables of metrics, and remarks."""
        from html import escape

        from acklab.answer import answer_table
        from acklab.notebook import page
        from acklab.remarks import remarks
        from acklab.tables import tables_of

        notes = "".join(f"<div><b>note:</b> {escape(remark)}</div>" for remark in remarks(self))
        title = str(self.scenario.get("title") or "Run")
        answer = [answer_table(self)] if self.arrow("flows").num_rows else []
        return page(title, f"seed {self.seed}, revision {self.provenance.revision}", [*answer, *tables_of(self)], notes)

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as plain values.

        The keys are `{"scenario": …, "seed": …, "flows": […], "network": {…}, …}`. NaN becomes
        None.
        """
        document: dict[str, Any] = {
            "scenario": self.scenario,
            "seed": self.seed,
            "revision": self.provenance.revision,
            "command": self.provenance.command,
        }
        for name in self.tables:
            document[name] = rows(self.arrow(name))
        if len(document.get("network", ())) == 1:
            document["network"] = document["network"][0]
        return document


def load_result(directory: "str | Path | Place") -> Result:
    """Reads what `Result.save` or `acklab run --out` wrote, from a folder or the URL of a copy.

    Raises StoreError.
    """
    from acklab.contents import Contents
    from acklab.places import place_of

    place = place_of(directory, "directory")
    contents = Contents.of(place)
    if contents is Contents.STUDY or (contents is not None and contents.is_sweep):
        raise StoreError(f"{place}: found a sweep or a study, expected the result of a run (acklab run --out DIR)")
    names = place.table_names()
    if "flows" not in names:
        raise StoreError(f"{place}: found the tables {', '.join(names)}, expected the result of a run with a table 'flows'")
    return read_result(place)


def files_of(place: "Place") -> "dict[str, Stamp | None]":
    """Returns the tables of a result by name, with their stamps.

    A result of an earlier version has no stamps. Raises StoreError.
    """
    from acklab.checksums import stamps
    from acklab.replacing import settle

    if place.path is not None:
        settle(place.path)
    names = place.table_names()
    known = stamps(place)
    if not known:
        return dict.fromkeys(names)
    for name in sorted({f"{name}.parquet" for name in names} ^ {name for name in known if name.endswith(".parquet")}):
        found = "no such file, expected the table" if name in known else "a table without a checksum, expected no such table"
        raise StoreError(f"{place.name_of(name)}: found {found} beside the other tables of the result")
    return {name: known[f"{name}.parquet"] for name in names}


def read_result(place: "Place") -> Result:
    """Reads the tables of a result and their provenance. Raises StoreError."""
    files = files_of(place)
    tables = {name: place.table(f"{name}.parquet", stamp) for name, stamp in files.items()}
    first = next(iter(files))
    return Result(tables, Provenance.of(tables[first].schema.metadata, place.name_of(f"{first}.parquet")))


def rows(table: "pa.Table") -> list[dict[str, Any]]:
    """Returns the rows of a table as dicts, with None for NaN."""
    return [
        {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in table.to_pylist()
    ]
