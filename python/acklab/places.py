"""Places for results: a folder, or a store of pyarrow.fs or fsspec, such as S3.

An object appears under its name only when it is complete. References to it include its stamp, which
detects damage.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.parquet as pq

from acklab.atomic import make_folder, reason, writing
from acklab.errors import StoreError, UsageError
from acklab.files import path_of
from acklab.folders import alone, locked, remove_abandoned, sharing
from acklab.store import has_frame, json_text, parsed, what_was_found

if TYPE_CHECKING:
    from pyarrow import fs

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_PART = 1 << 22
"""Bytes per read of an object that is not needed as a whole."""
_SPOOL = 1 << 26
"""Bytes of a remote object that are buffered in memory before an upload. Larger objects are
buffered in a file.
"""


@dataclass(frozen=True)
class Stamp:
    """Size and digest of an object."""

    octets: int
    sha256: str

    @classmethod
    def of(cls, octets: bytes) -> "Stamp":
        """Returns the stamp of these bytes."""
        return cls(len(octets), hashlib.sha256(octets).hexdigest())

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Stamp":
        """Reads the result of `to_dict`.

        Ignores other keys. Raises KeyError, ValueError, TypeError.
        """
        return cls(int(values["octets"]), str(values["sha256"]))

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return asdict(self)


def changed(name: str) -> str:
    """Returns the message for a file that was changed or damaged after it was written."""
    return f"{name}: checksum mismatch: the file was changed or damaged"


class Writer(io.RawIOBase):
    """A file that is written sequentially, with its stamp."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._state, self._octets = file, hashlib.sha256(), 0

    def writable(self) -> bool:
        """Returns `True`."""
        return True

    def write(self, octets: Any) -> int:
        """Writes bytes."""
        view = memoryview(octets)
        self._state.update(view)
        self._file.write(view)
        self._octets += view.nbytes
        return view.nbytes

    def tell(self) -> int:
        """Returns the number of bytes so far."""
        return self._octets

    @property
    def stamp(self) -> Stamp:
        """Returns the stamp of the written bytes."""
        return Stamp(self._octets, self._state.hexdigest())


class Place(ABC):
    """A folder of objects. Names have `/` between their parts.

    All methods raise StoreError with the full name of the object.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Returns the name of the folder itself."""

    @abstractmethod
    def __truediv__(self, name: str) -> "Place":
        """Returns the place of a folder within."""

    @abstractmethod
    def folders(self) -> list[str]:
        """Returns the names of the folders directly in it, sorted, without hidden ones."""

    @abstractmethod
    def name_of(self, name: str) -> str:
        """Returns the full name of an object, for messages."""

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """Returns the sorted names of objects directly in a folder; none for a missing folder."""

    @abstractmethod
    def exists(self, name: str) -> bool:
        """Returns whether the object exists."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """Returns the bytes of an object."""

    @abstractmethod
    def opened(self, name: str) -> contextlib.AbstractContextManager[Any]:
        """Opens an object as a file with random access."""

    @abstractmethod
    def creating(self, name: str) -> contextlib.AbstractContextManager[Writer]:
        """Opens a file that becomes the object at the end of the block.

        Leaves nothing if the block fails.
        """

    @abstractmethod
    def remove(self, name: str) -> None:
        """Removes an object, if it is there."""

    def clean(self, folder: str) -> None:  # noqa: B027 - a store without temporary files has none to remove
        """Removes files that killed processes left in a folder."""

    def sharing(self, folder: str) -> contextlib.AbstractContextManager[None]:
        """Protects unreferenced new files of a folder from removal during the block.

        Otherwise, `clean` would remove them as files of a killed process. A store without locks
        does not protect them.
        """
        return contextlib.nullcontext()

    def alone(self, folder: str) -> contextlib.AbstractContextManager[bool]:
        """Yields `True` if the store detects that no process is in a block of `sharing`."""
        return contextlib.nullcontext(enter_result=False)

    @abstractmethod
    def exclusively(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Waits until no other process is in a block of this name.

        A store without locks does not wait.
        """

    def write(self, name: str, octets: bytes) -> Stamp:
        """Writes an object."""
        with self.creating(name) as writer:
            writer.write(octets)
        return writer.stamp

    def write_json(self, name: str, value: object) -> None:
        """Writes a JSON document."""
        self.write(name, json_text(value).encode())

    def read_json(self, name: str, expected: str) -> Any:
        """Reads a JSON document. `expected` names it in errors."""
        try:
            return json.loads(self.read(name))
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{self.name_of(name)}: found damaged JSON ({error}), expected {expected}") from error

    def verify(self, name: str, stamp: Stamp) -> None:
        """Raises StoreError if an object differs from its stamp.

        A process reads an object once, and again only after a change of the object's size, times or
        place.
        """
        key, full = self.state(name), self.name_of(name)
        if key is not None and _VERIFIED.get(full) == (stamp, key):
            return
        digest, octets = hashlib.sha256(), 0
        with self.opened(name) as file:
            while part := file.read(_PART):
                digest.update(part)
                octets += len(part)
        if octets != stamp.octets:
            raise StoreError(f"{full}: found {octets} bytes, expected {stamp.octets}")
        if digest.hexdigest() != stamp.sha256:
            raise StoreError(changed(full))
        if key is not None:
            _VERIFIED[full] = stamp, key

    @abstractmethod
    def state(self, name: str) -> tuple[object, ...] | None:
        """Returns values that change with the object, or None if the store has no times."""

    def table(self, name: str, stamp: Stamp | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Returns a Parquet table, with all or some of its columns.

        With a stamp, the file must match it.
        """
        octets, full = self.read(name), self.name_of(name)
        if stamp is not None and has_frame(octets) and Stamp.of(octets) != stamp:
            raise StoreError(changed(full))
        try:
            return parsed(octets, columns)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise StoreError(what_was_found(full, octets, error)) from error

    def schema(self, name: str) -> pa.Schema:
        """Returns the schema of a Parquet table and reads only its footer.

        The metadata of the schema have the provenance.
        """
        try:
            with self.opened(name) as file:
                return pq.read_schema(file)
        except (pa.ArrowException, ValueError) as error:
            raise StoreError(what_was_found(self.name_of(name), self.read(name), error)) from error

    def table_names(self) -> list[str]:
        """Returns the sorted names of the tables directly in the folder.

        Raises StoreError if there are none.
        """
        if self.path is not None and not self.path.is_dir():
            raise StoreError(f"{self}: no such folder, expected one with results of acklab (*.parquet)")
        names = [name.removesuffix(".parquet") for name in self.names("") if name.endswith(".parquet")]
        if not names:
            raise StoreError(f"{self}: found no table, expected a folder with results of acklab (*.parquet)")
        return names

    @property
    @abstractmethod
    def path(self) -> Path | None:
        """Returns the folder if it is on this machine."""


@dataclass(frozen=True)
class LocalPlace(Place):
    """A folder of this machine or of a network file system."""

    folder: Path

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def path(self) -> Path:
        """Returns the folder."""
        return self.folder

    @property
    def name(self) -> str:
        """Returns the name of the folder."""
        return self.folder.resolve().name

    def __truediv__(self, name: str) -> "LocalPlace":
        return LocalPlace(self.folder / name)

    def folders(self) -> list[str]:
        """Returns the names of the folders directly in it, sorted, without hidden ones."""
        try:
            return sorted(path.name for path in self.folder.iterdir() if path.is_dir() and not path.name.startswith("."))
        except OSError as error:
            raise StoreError(f"{self}: cannot be read: {reason(error)}") from error

    def name_of(self, name: str) -> str:
        """Returns the path of an object."""
        return str(self.folder / name)

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files directly in a folder, without hidden ones."""
        try:
            with os.scandir(self.folder / folder) as entries:
                return sorted(entry.name for entry in entries if entry.is_file() and not entry.name.startswith("."))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StoreError(f"{self.name_of(folder)}: cannot be read: {reason(error)}") from error

    def exists(self, name: str) -> bool:
        """Returns whether the file exists."""
        return (self.folder / name).is_file()

    def read(self, name: str) -> bytes:
        """Returns the bytes of a file."""
        try:
            return (self.folder / name).read_bytes()
        except OSError as error:
            raise StoreError(f"{self.name_of(name)}: cannot be read: {reason(error)}") from error

    def state(self, name: str) -> tuple[object, ...]:
        """Returns place, size and times of a file.

        The time of status change is included because it cannot be set: it changes even if the time
        of modification is restored.
        """
        try:
            found = (self.folder / name).stat()
        except OSError as error:
            raise StoreError(f"{self.name_of(name)}: cannot be read: {reason(error)}") from error
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    @contextlib.contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """Opens a file for reading."""
        try:
            with (self.folder / name).open("rb") as file:
                yield file
        except OSError as error:
            raise StoreError(f"{self.name_of(name)}: cannot be read: {reason(error)}") from error

    @contextlib.contextmanager
    def creating(self, name: str) -> Iterator[Writer]:
        """Opens a file for writing."""
        with writing(self.folder / name) as temporary, temporary.open("wb") as file:
            yield Writer(file)

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        try:
            (self.folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self.name_of(name)}: cannot be removed: {reason(error)}") from error

    def clean(self, folder: str) -> None:
        """Removes temporary files of processes that no longer run."""
        remove_abandoned(self.folder / folder)

    @contextlib.contextmanager
    def sharing(self, folder: str) -> Iterator[None]:
        """Holds a lock of the folder, which is created if it is missing."""
        path = make_folder(self.folder / folder)
        try:
            with sharing(path):
                yield
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {reason(error)}") from error

    def alone(self, folder: str) -> contextlib.AbstractContextManager[bool]:
        """Yields `True` if no process holds the lock of `sharing`."""
        return alone(self.folder / folder)

    def exclusively(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Waits until no other process is in a block of this name."""
        return locked(self.folder, name, wait=True)


@dataclass(frozen=True)
class RemotePlace(Place):
    """A folder of a filesystem of pyarrow.fs or fsspec."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def path(self) -> None:
        """None."""

    @property
    def name(self) -> str:
        """Returns the last part of the path."""
        return self.full("").rstrip("/").rpartition("/")[2]

    def __truediv__(self, name: str) -> "RemotePlace":
        return RemotePlace(self.name_of(name))

    def folders(self) -> list[str]:
        """Returns the last parts of the common prefixes of names."""
        return self._listed("", "Directory")

    @property
    def filesystem(self) -> "fs.FileSystem":
        """Returns the filesystem of Arrow."""
        return _filesystem(self.url)[0]

    def full(self, name: str) -> str:
        """Returns the path of an object in the filesystem."""
        return f"{_filesystem(self.url)[1]}/{name}"

    def name_of(self, name: str) -> str:
        """Returns the URL of an object."""
        url, question, options = self.url.partition("?")
        return f"{url.rstrip('/')}/{name}{question}{options}"

    def names(self, folder: str) -> list[str]:
        """Returns the names of the objects directly in a folder."""
        return self._listed(folder, "File")

    def _listed(self, folder: str, kind: str) -> list[str]:
        from pyarrow import fs

        with self._faults(folder):
            found = self.filesystem.get_file_info(fs.FileSelector(self.full(folder), allow_not_found=True))
        names = (info.base_name for info in found if info.type == getattr(fs.FileType, kind))
        return sorted(name for name in names if not name.startswith("."))

    def exists(self, name: str) -> bool:
        """Returns whether the object exists."""
        from pyarrow import fs

        with self._faults(name):
            return bool(self.filesystem.get_file_info(self.full(name)).type == fs.FileType.File)

    def read(self, name: str) -> bytes:
        """Returns the bytes of an object."""
        with self._faults(name), self.filesystem.open_input_stream(self.full(name)) as file:
            return cast(bytes, file.read())

    def state(self, name: str) -> tuple[object, ...] | None:
        """Size and time of an object."""
        with self._faults(name):
            found = self.filesystem.get_file_info(self.full(name))
        return None if found.mtime_ns is None else (found.size, found.mtime_ns)

    @contextlib.contextmanager
    def opened(self, name: str) -> "Iterator[pa.NativeFile]":
        """Opens an object. Only the ranges that are read are fetched."""
        with self._faults(name), self.filesystem.open_input_file(self.full(name)) as file:
            yield file

    @contextlib.contextmanager
    def creating(self, name: str) -> Iterator[Writer]:
        """Opens a file that is uploaded at the end."""
        with tempfile.SpooledTemporaryFile(_SPOOL) as file:
            yield Writer(cast(BinaryIO, file))
            file.seek(0)
            with self._faults(name):
                self.filesystem.create_dir(self.full(name).rpartition("/")[0], recursive=True)
                # The object appears when the upload is complete. An interrupted upload leaves no
                # object.
                with self.filesystem.open_output_stream(self.full(name)) as out:
                    while part := file.read(_PART):
                        out.write(part)

    def remove(self, name: str) -> None:
        """Removes an object, if it is there."""
        with self._faults(name), contextlib.suppress(FileNotFoundError):
            self.filesystem.delete_file(self.full(name))

    @contextlib.contextmanager
    def exclusively(self, name: str) -> Iterator[None]:
        """Does not wait."""
        yield

    @contextlib.contextmanager
    def _faults(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise StoreError(f"{self.name_of(name)}: cannot be read: No such file or directory") from error
        except (OSError, pa.ArrowException) as error:
            raise StoreError(f"{self.name_of(name)}: {error}") from error


_VERIFIED: dict[str, tuple[Stamp, tuple[object, ...]]] = {}
"""Stamps of verified objects, and the states of the objects at the verification."""

_FILESYSTEMS: dict[str, tuple[Any, str]] = {}


def _filesystem(url: str) -> "tuple[fs.FileSystem, str]":
    """Returns the filesystem of a URL, and the path in the filesystem.

    Each filesystem is opened once.
    """
    if url not in _FILESYSTEMS:
        from pyarrow import fs

        try:
            found, path = fs.FileSystem.from_uri(url)
        except (pa.ArrowException, OSError, ValueError) as refused:
            try:
                import fsspec

                of_fsspec, path = fsspec.core.url_to_fs(url)
            except ImportError as error:
                raise UsageError(f"{url}: {refused}; other protocols require fsspec and its package for the protocol") from error
            except (ValueError, OSError) as error:
                raise UsageError(f"{url}: {error}") from error
            found = fs.PyFileSystem(fs.FSSpecHandler(of_fsspec))
        _FILESYSTEMS[url] = found, path.rstrip("/")
    return _FILESYSTEMS[url]


def is_url(given: object) -> bool:
    """Returns whether this is the URL of a store, such as s3://bucket/folder."""
    return isinstance(given, str) and _URL.match(given) is not None


def place_of(given: object, what: str) -> Place:
    """Returns the place for the argument `what`: a folder, or a URL such as s3://bucket/folder.

    Raises UsageError.
    """
    if isinstance(given, Place):
        return given
    if isinstance(given, str) and given.startswith("file://"):
        return LocalPlace(Path(given.removeprefix("file://")))
    if isinstance(given, str) and is_url(given):
        return RemotePlace(given)
    return LocalPlace(path_of(given, what))
