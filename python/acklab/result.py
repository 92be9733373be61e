"""The result of one run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from acklab import store
from acklab.errors import StoreError, UsageError
from acklab.store import Provenance

SERIES = ("operating_point", "throughput", "queue", "packets", "events", "decisions", "air")
"""Tables that a run yields only if `measure.series` asks for them."""


@dataclass(frozen=True)
class Result:
    """Tables of one run and where they come from.

    `result.flows`, `result.links`, … are Polars frames (`.to_pandas()` and `.to_arrow()` turn them into what you prefer);
    `result.arrow("flows")` is the Arrow table itself, whose fields carry their units.
    """

    tables: Mapping[str, pa.Table] = field(repr=False)
    provenance: Provenance

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario in full, presets resolved."""
        return self.provenance.scenario

    @property
    def seed(self) -> int:
        """The seed that all random streams of the run come from."""
        return self.provenance.seed

    @property
    def flows(self) -> pl.DataFrame:
        """One row a flow: what it is and the means of its window."""
        return self.table("flows")

    @property
    def links(self) -> pl.DataFrame:
        """One row a direction of a link."""
        return self.table("links")

    @property
    def stations(self) -> pl.DataFrame:
        """One row a node of a Wi-Fi cell, the access point first: what it did as a sender."""
        return self.table("stations")

    @property
    def airtime(self) -> pl.DataFrame:
        """Time [ns] that each node of a Wi-Fi cell used the air for, by use."""
        return self.table("airtime")

    @property
    def hack(self) -> pl.DataFrame:
        """One row a node of a Wi-Fi cell with TCP/HACK, the access point first: the ACKs that went on answers, and what became of them."""
        return self.table("hack")

    @property
    def network(self) -> pl.DataFrame:
        """One row: sums and means over all flows and links."""
        return self.table("network")

    @property
    def acks(self) -> pl.DataFrame:
        """How many acknowledgements each flow sent, by reason."""
        return self.table("acks")

    @property
    def operating_point(self) -> pl.DataFrame:
        """Window, flight [segments] and smoothed RTT [ms] at each ACK that reaches a sender."""
        return self.table("operating_point")

    @property
    def throughput(self) -> pl.DataFrame:
        """Throughput [Mbps] of each flow in each bin of time [s, end of the bin]."""
        return self.table("throughput")

    @property
    def queue(self) -> pl.DataFrame:
        """Length [packets] of each queue whenever it changes."""
        return self.table("queue")

    @property
    def packets(self) -> pl.DataFrame:
        """Each packet sent, retransmitted, received or acknowledged, by number."""
        return self.table("packets")

    @property
    def events(self) -> pl.DataFrame:
        """What the endpoints decided: timeouts, recovery, changes of state."""
        return self.table("events")

    @property
    def decisions(self) -> pl.DataFrame:
        """Each decision of an ACK policy: when to acknowledge (after `delay` [ms] if later), why, and how much was unacknowledged."""
        return self.table("decisions")

    @property
    def air(self) -> pl.DataFrame:
        """Each PPDU of a cell: start [s], duration [µs], who sent what to whom, and what became of it."""
        return self.table("air")

    def table(self, name: str) -> pl.DataFrame:
        """A table as a Polars frame. Raises UsageError if the run did not yield it."""
        frame = pl.from_arrow(self.arrow(name))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def arrow(self, name: str) -> pa.Table:
        """A table as Arrow, with its units. Raises UsageError if the run did not yield it."""
        if name in self.tables:
            return self.tables[name]
        hint = f'; ask for it with measure.series = ["{name}"]' if name in SERIES else ""
        raise UsageError(f"this result has no table {name!r}, it has {', '.join(self.tables)}{hint}")

    def units(self, name: str) -> dict[str, str]:
        """The unit of each column of a table that has one."""
        return store.units(self.arrow(name).schema)

    def save(self, directory: str | Path) -> Path:
        """Writes the tables as Parquet and the scenario as JSON into a folder.

        Scenario, seed, revision and the command that repeats the run are in the metadata of every file. Raises StoreError.
        """
        target = Path(directory)
        store.write_tables(target, self.tables, self.provenance)
        return target

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: `{"scenario": …, "seed": …, "flows": […], "network": {…}, …}`. Not-a-number becomes None."""
        document: dict[str, Any] = {
            "scenario": self.scenario,
            "seed": self.seed,
            "revision": self.provenance.revision,
            "command": self.provenance.command,
        }
        for name in self.tables:
            document[name] = rows(self.table(name))
        if len(document.get("network", ())) == 1:
            document["network"] = document["network"][0]
        return document


def load_result(directory: str | Path) -> Result:
    """Reads what `Result.save` or `acklab run --out` wrote. Raises StoreError."""
    source = Path(directory)
    files = store.table_files(source)
    first = next(iter(files.values()))
    provenance = Provenance.of(store.read_metadata(first), first)
    tables = {name: store.read_table(path) for name, path in files.items()}
    if "flows" not in tables:
        raise StoreError(f"{source}: found the tables {', '.join(files)}, expected the result of a run with a table 'flows'")
    return Result(tables, provenance)


def rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as dicts, with None for what is not a number."""
    return frame.with_columns(pl.selectors.float().fill_nan(None)).to_dicts()
