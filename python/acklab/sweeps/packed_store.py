"""A store of points in a place: packs of Parquet files, and a manifest that only grows.

A pack is one Parquet file per table, over many points, and an entry of the manifest, which names
the files with their stamps. The entry is written last, so a pack is complete or absent. Every file
is named by a digest of its bytes, so writers need no lock, and equal packs are stored once.
Compaction joins packs, and removes them after the new pack exists. A point may be in two packs if
two processes ran it or a compaction was interrupted. Both copies are equal, and the point is
counted once.
"""

import hashlib
import io
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from acklab.errors import StoreError
from acklab.places import Place, Stamp
from acklab.result import Result
from acklab.sweeps.pack import POINT, POINTS, Pack, in_order, renumbered

T = TypeVar("T")

FOLDER = "points"
"""The folder of packs within a place."""
_FORMAT = 1
_CACHED = 8
"""Maximum number of packs whose tables stay in memory."""
JOINED = 1 << 27
"""Maximum bytes of packs that are joined at the end."""
_LITTLE = 1 << 23
"""Maximum bytes of packs that are joined during a sweep."""
_MANY = 64
"""Minimum number of small packs that are joined during a sweep."""


class DamagedPack(StoreError):
    """A pack can no longer be read."""

    def __init__(self, pack: str, message: str) -> None:
        super().__init__(message)
        self.pack = pack


class DamagedEntry(ValueError):
    """An entry of the manifest does not match its digest."""


@dataclass(frozen=True)
class Entry:
    """An entry of the manifest."""

    name: str
    files: Mapping[str, Stamp]
    """The file of each table."""
    rows: Mapping[str, int]

    def file(self, table: str) -> str:
        """Returns the name of the file of a table."""
        return f"{FOLDER}/{self.files[table].sha256[:24]}.{table}.parquet"

    @property
    def octets(self) -> int:
        """Returns the size of the entry's files in bytes."""
        return sum(stamp.octets for stamp in self.files.values())

    def document(self) -> dict[str, Any]:
        """Returns plain values, without the name."""
        tables = {name: stamp.to_dict() | {"rows": self.rows[name]} for name, stamp in self.files.items()}
        return {"format": _FORMAT, "tables": tables}

    @classmethod
    def read(cls, name: str, octets: bytes) -> "Entry":
        """Reads an entry. Raises DamagedEntry, and ValueError for an entry of another version."""
        if _name_of(octets) != name:
            raise DamagedEntry("its bytes do not match its name")
        document = json.loads(octets)
        if document["format"] != _FORMAT:
            raise ValueError(f"found the format {document['format']}, expected {_FORMAT}, which this version reads")
        tables = document["tables"]
        return cls(
            name,
            {table: Stamp.from_dict(stamp) for table, stamp in tables.items()},
            {table: int(stamp["rows"]) for table, stamp in tables.items()},
        )


@dataclass
class PackedStore:
    """The points of a place.

    Several processes may write to the store concurrently, also from several machines. Each point is
    counted once.
    """

    place: Place
    _entries: dict[str, Entry] = field(default_factory=dict, repr=False)
    _points: dict[str, list[str]] = field(default_factory=dict, repr=False)
    """The digests of each pack that was read."""
    _index: dict[str, tuple[str, int]] = field(default_factory=dict, repr=False)
    """Pack and index of each point."""
    _cache: "OrderedDict[tuple[str, str], pa.Table]" = field(default_factory=OrderedDict, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _is_read: bool = field(default=False, repr=False)

    def refresh(self) -> None:
        """Reads what other processes wrote or joined. Ignores damaged entries and packs."""
        with self._lock:
            names = [name.removesuffix(".json") for name in self.place.names(FOLDER) if name.endswith(".json")]
            present = set(names)
            for name in [*self._entries]:
                if name not in present:
                    self._forget(name)
            for name in names:
                if name not in self._entries:
                    self._read_entry(name)
            self._reindex()
            self._is_read = True

    def done(self) -> Collection[str]:
        """Returns the digests of the finished points."""
        with self._lock:
            if not self._is_read:
                self.refresh()
            return self._index.keys()

    def keep(self, pack: Pack) -> None:
        """Stores a pack atomically. Raises StoreError."""
        if not pack.points.num_rows:
            return
        self._add(self._write(pack), pack)
        if len(self._entries) > _MANY:
            self._compact(_LITTLE)

    def results(self, digests: Sequence[str]) -> list[Result]:
        """Returns the results of finished points.

        Raises DamagedPack, and StoreError for a missing point.
        """
        return self._steadily(lambda: self._results(digests))

    def _results(self, digests: Sequence[str]) -> list[Result]:
        with self._lock:
            by_pack: dict[str, dict[int, list[int]]] = {}
            for position, digest in enumerate(digests):
                pack, index = self._place_of(digest)
                by_pack.setdefault(pack, {}).setdefault(index, []).append(position)
            found: dict[int, Result] = {}
            for name, wanted in by_pack.items():
                for positions, result in zip(wanted.values(), self._read(name).select(list(wanted)).results(), strict=True):
                    found |= dict.fromkeys(positions, result)
            return [found[position] for position in range(len(digests))]

    def names(self, digests: Iterable[str]) -> list[str]:
        """Returns the names of the tables that any of these points has."""
        packs = {self._place_of(digest)[0] for digest in digests}
        return sorted({name for pack in packs for name in self._entries[pack].files} - {POINTS})

    def columns(self, digests: Iterable[str]) -> set[str]:
        """Returns the names of the columns of all tables of these points. Raises DamagedPack."""
        return self._steadily(lambda: self._columns(digests))

    def _columns(self, digests: Iterable[str]) -> set[str]:
        packs = {self._place_of(digest)[0] for digest in digests}
        tables = (self._table(pack, name) for pack in packs for name in self._entries[pack].files if name != POINTS)
        return {column for table in tables for column in table.column_names} - {POINT}

    def rows(self, name: str, digests: Iterable[str]) -> int:
        """Returns an upper estimate of the rows of a table over these points."""
        packs = {self._place_of(digest)[0] for digest in digests}
        return sum(self._entries[pack].rows.get(name, 0) for pack in packs)

    def table(self, name: str, digests: Sequence[str]) -> pa.Table | None:
        """Returns a table over points, whose first column `point` is their position in `digests`.

        Returns None if no point has the table.

        A point with several positions has its rows only at the first position. Raises DamagedPack.
        """
        return self._steadily(lambda: self._over_points(name, digests))

    def _over_points(self, name: str, digests: Sequence[str]) -> pa.Table | None:
        with self._lock:
            places: dict[str, Any] = {}
            for position, digest in enumerate(digests):
                pack, index = self._place_of(digest)
                if pack not in places:
                    places[pack] = np.full(len(self._points[pack]), -1, dtype=np.int64)
                if places[pack][index] < 0:
                    places[pack][index] = position
            # Sorted by name, so that the schema does not depend on the writer of a pack.
            having = [pack for pack in sorted(places) if name in self._entries[pack].files]
            parts = [renumbered(self._table(pack, name), places[pack]) for pack in having]
            return in_order(parts) if parts else None

    def drop(self, pack: str) -> None:
        """Removes a damaged pack, so that its points are run again. Raises StoreError."""
        with self._lock:
            self._remove([self._entries[pack]])

    def compact(self) -> None:
        """Joins packs until few packs remain.

        The content of a joined pack does not depend on its parts. Raises StoreError.
        """
        self._compact(JOINED)
        self.place.clean(FOLDER)
        self._collect()

    def _collect(self) -> None:
        """Removes the files of packs without an entry, whose writer was killed.

        Raises StoreError.
        """
        with self.place.alone(FOLDER) as is_alone:
            if not is_alone:
                return
            names = self.place.names(FOLDER)
            wanted: set[str] = set()
            for name in (name for name in names if name.endswith(".json")):
                try:
                    entry = Entry.read(name.removesuffix(".json"), self.place.read(f"{FOLDER}/{name}"))
                except DamagedEntry:
                    self.place.remove(f"{FOLDER}/{name}")
                except (ValueError, KeyError, TypeError, AttributeError):
                    return  # An entry of another version may name any file.
                else:
                    wanted |= {entry.file(table) for table in entry.files}
            for name in names:
                if name.endswith(".parquet") and f"{FOLDER}/{name}" not in wanted:
                    self.place.remove(f"{FOLDER}/{name}")

    def _compact(self, max_octets: int) -> None:
        """Joins packs with files below `max_octets` bytes into packs of about this size."""
        with self.place.exclusively("compact"):
            self.refresh()
            entries = sorted(self._entries.values(), key=lambda entry: (entry.octets, entry.name))
            groups: list[list[Entry]] = [[]]
            for entry in (entry for entry in entries if entry.octets < max_octets):
                if sum(one.octets for one in groups[-1]) > max_octets:
                    groups.append([])
                groups[-1].append(entry)
            for group in groups:
                self._join(group)

    def _join(self, group: Sequence[Entry]) -> None:
        if len(group) < 2:
            return
        packs, whole = [], []
        for entry in group:
            try:
                packs.append(self._read(entry.name))
                whole.append(entry)
            except DamagedPack:
                self.drop(entry.name)
        if len(whole) > 1:
            joined = Pack.joined(packs)
            new = self._write(joined)
            self._add(new, joined)
            kept = {new.file(name) for name in new.files}
            with self._lock:
                self._remove([entry for entry in whole if entry.name != new.name], kept)

    def _write(self, pack: Pack) -> Entry:
        files, rows = {}, {}
        with self.place.sharing(FOLDER):
            for name, table in pack.all_tables().items():
                octets = _encoded(table)
                stamp = files[name] = Stamp.of(octets)
                rows[name] = table.num_rows
                self.place.write(f"{FOLDER}/{stamp.sha256[:24]}.{name}.parquet", octets)
            octets = json.dumps(Entry("", files, rows).document(), indent=1, sort_keys=True).encode() + b"\n"
            name = _name_of(octets)
            self.place.write(f"{FOLDER}/{name}.json", octets)
        return Entry(name, files, rows)

    def _add(self, entry: Entry, pack: Pack) -> None:
        with self._lock:
            self._entries[entry.name] = entry
            digests = self._points[entry.name] = pack.digests
            for index, digest in enumerate(digests):
                self._index.setdefault(digest, (entry.name, index))

    def _read_entry(self, name: str) -> None:
        try:
            entry = Entry.read(name, self.place.read(f"{FOLDER}/{name}.json"))
            points = self._file(entry, POINTS, ["digest"])
        except (StoreError, ValueError, KeyError, TypeError):
            # Another process has just joined the pack, or the pack is damaged. Points of a damaged
            # pack are run again.
            return
        self._entries[name] = entry
        self._points[name] = points.column("digest").to_pylist()

    def _reindex(self) -> None:
        self._index = {}
        for name in sorted(self._entries, reverse=True):
            self._index.update(zip(self._points[name], ((name, index) for index in range(len(self._points[name]))), strict=True))

    def _forget(self, name: str) -> None:
        self._entries.pop(name, None)
        self._points.pop(name, None)
        for key in [key for key in self._cache if key[0] == name]:
            del self._cache[key]

    def _remove(self, entries: Iterable[Entry], kept: Collection[str] = ()) -> None:
        entries = list(entries)
        for entry in entries:
            self._forget(entry.name)
        self._reindex()
        shared = {entry.file(name) for entry in self._entries.values() for name in entry.files}
        for entry in entries:
            self.place.remove(f"{FOLDER}/{entry.name}.json")
        for entry in entries:
            for name in entry.files:
                if entry.file(name) not in kept and entry.file(name) not in shared:
                    self.place.remove(entry.file(name))

    def _place_of(self, digest: str) -> tuple[str, int]:
        with self._lock:
            if digest not in self.done():
                self.refresh()
            if digest not in self._index:
                raise StoreError(f"{self.place}: found no finished point {digest}")
            return self._index[digest]

    def _steadily(self, read: Callable[[], T]) -> T:
        """Calls `read` again if another process joined packs during the call."""
        while True:
            try:
                return read()
            except DamagedPack as error:
                if self.place.exists(f"{FOLDER}/{error.pack}.json"):
                    raise
                self.refresh()

    def _read(self, name: str) -> Pack:
        entry = self._entries[name]
        return Pack(self._table(name, POINTS), {table: self._table(name, table) for table in entry.files if table != POINTS})

    def _table(self, pack: str, name: str) -> pa.Table:
        with self._lock:
            if (pack, name) in self._cache:
                self._cache.move_to_end((pack, name))
                return self._cache[pack, name]
            try:
                table = self._file(self._entries[pack], name)
            except StoreError as error:
                raise DamagedPack(pack, str(error)) from error
            self._cache[pack, name] = table
            while len(self._cache) > _CACHED * len(self._entries[pack].files):
                self._cache.popitem(last=False)
            return table

    def _file(self, entry: Entry, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        return self.place.table(entry.file(name), entry.files[name], columns)


def _encoded(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _name_of(octets: bytes) -> str:
    return hashlib.sha256(octets).hexdigest()[:24]
