"""Unfinished sweeps: their progress, and how to resume."""

import io
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from acklab import core
from acklab.errors import StoreError
from acklab.places import Place
from acklab.store import parsed
from acklab.sweeps.packed_store import PackedStore
from acklab.sweeps.plan import Plan

_FOLDER = "unfinished"


@dataclass(frozen=True)
class Unfinished:
    """A sweep that has started.

    The file is written before the first point and removed after the tables are complete.
    """

    place: Place
    name: str
    command: str
    """The command that resumes the sweep."""
    points: int
    done: int

    @classmethod
    def begin(cls, plan: Plan, store: PackedStore) -> "Unfinished":
        """Records that a sweep starts. Raises StoreError."""
        digests = {point.digest for point in plan.points}
        done = len(digests & set(store.done()))
        command = f"{plan.command} --out {shlex.quote(str(store.place))}"
        found = cls(store.place, f"{_FOLDER}/{plan.digest}.parquet", command, len(digests), done)
        if done < len(digests):
            metadata = {"acklab.command": command, "acklab.revision": core.revision()}
            schema = pa.schema([pa.field("digest", pa.string())], metadata)
            buffer = io.BytesIO()
            pq.write_table(pa.table([pa.array(sorted(digests))], schema=schema), buffer)
            store.place.write(found.name, buffer.getvalue())
        return found

    def end(self) -> None:
        """Removes the record of a finished sweep. Raises StoreError."""
        self.place.remove(self.name)
        self.place.clean(_FOLDER)

    @classmethod
    def found(cls, place: Place) -> "Sequence[Unfinished]":
        """Returns the unfinished sweeps of a place. Raises StoreError."""
        names = [f"{_FOLDER}/{name}" for name in place.names(_FOLDER)]
        done = PackedStore(place).done() if names else ()
        found = []
        for name in names:
            try:
                table = parsed(place.read(name))
                command = table.schema.metadata[b"acklab.command"].decode()
                digests = table.column("digest").to_pylist()
            except (StoreError, pa.ArrowException, OSError, KeyError, TypeError, ValueError):
                continue
            found.append(cls(place, name, command, len(digests), sum(digest in done for digest in digests)))
        return found

    @property
    def described(self) -> str:
        """Returns the progress, and the command that resumes the sweep."""
        return f"{self.done} of {self.points} points are done; resume with: {self.command}"
