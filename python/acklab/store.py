"""Tables as Parquet, with all that is needed to repeat the run inside every file.

A file appears under its name only when it is whole: it is written beside its place and renamed.
"""

import contextlib
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from acklab.errors import StoreError
from acklab.folders import temporary_name
from acklab.provenance import Provenance

SCENARIO_FILE = "scenario.json"
SWEEP_FILE = "sweep.json"
STUDY_FILE = "report.json"
_PREFIX = "acklab."
_FRAME = b"PAR1"
"""What a Parquet file begins and ends with."""
_EXPECTED = "expected a Parquet table that acklab wrote"


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Gives a name beside `path` to write to, and renames it to `path` at the end; nothing is left behind on failure.

    Raises StoreError, naming `path`, for a full disk, a folder that may not be written, and the like.
    """
    temporary = temporary_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot write it: {reason(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def make_folder(path: Path) -> Path:
    """Makes a folder if it is missing, and gives it. Raises StoreError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot make the folder: {reason(error)}") from error
    return path


def write_text(path: Path, text: str) -> None:
    """Writes a text file whole or not at all. Raises StoreError."""
    with writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: object) -> None:
    """Writes a JSON document whole or not at all. Raises StoreError."""
    write_text(path, json_text(value))


def json_text(value: object) -> str:
    """A JSON document as it is written."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def write_tables(directory: Path, tables: Mapping[str, pa.Table], provenance: Provenance) -> None:
    """Writes one Parquet file a table, and the scenario in full as `scenario.json`, into a folder. Raises StoreError."""
    metadata = provenance.metadata()
    for name, table in tables.items():
        with writing(directory / f"{name}.parquet") as temporary:
            _write(temporary, table.replace_schema_metadata(metadata))
    write_json(directory / SCENARIO_FILE, provenance.scenario)


def remove_stale(directory: Path, tables: Container[str], key: str) -> None:
    """Removes tables of earlier results that are not among `tables`: their metadata have the key `key`."""
    for path in directory.glob("*.parquet"):
        with contextlib.suppress(StoreError):  # somebody has removed it first, or it is not ours
            if path.stem not in tables and key in read_metadata(path):
                path.unlink(missing_ok=True)


def write_tables_at_once(directory: Path, tables: Mapping[str, pa.Table], provenance: Provenance) -> None:
    """As `write_tables`, but the folder itself appears only when all of it is written."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    except OSError as error:
        raise StoreError(f"{directory}: cannot write it: {reason(error)}") from error
    try:
        metadata = provenance.metadata()
        for name, table in tables.items():
            _write(temporary / f"{name}.parquet", table.replace_schema_metadata(metadata))
        temporary.chmod(0o755)
        _put(temporary, directory)
    except OSError as error:
        raise StoreError(f"{directory}: cannot write it: {reason(error)}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write(path: Path, table: pa.Table) -> None:
    # Arrow opens no file whose name is not UTF-8; Python does.
    with path.open("wb") as file:
        pq.write_table(table, file)


def _put(temporary: Path, directory: Path) -> None:
    """Renames a folder, unless another process has just written the same folder. A damaged folder of that name is replaced."""
    for _ in range(3):
        try:
            temporary.rename(directory)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if is_whole(directory):
            return
        damaged = directory.with_name(f".{directory.name}.{os.getpid()}.damaged")
        with contextlib.suppress(FileNotFoundError):  # another process has moved it away first
            directory.rename(damaged)
        shutil.rmtree(damaged, ignore_errors=True)
    temporary.rename(directory)


def is_whole(directory: Path) -> bool:
    """Whether a folder has tables, and each begins and ends as a Parquet file does: one that was cut off or emptied does not."""
    files = list(directory.glob("*.parquet"))
    return bool(files) and all(is_framed(path) for path in files)


def has_frame(octets: bytes) -> bool:
    """Whether octets begin and end as a Parquet file does."""
    return octets[:4] == octets[-4:] == _FRAME


def is_framed(path: Path) -> bool:
    """Whether a file begins and ends as one of Parquet does."""
    try:
        with path.open("rb") as file:
            head = file.read(4)
            file.seek(-4, os.SEEK_END)
            return head == file.read(4) == _FRAME
    except OSError:
        return False


def parsed(octets: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """The table in the octets of a Parquet file. Raises what Arrow raises.

    The octets are copied into memory of Arrow's own. Threads of Arrow release what they have read some time after the table is there, and one
    that releases memory of Python's while the interpreter ends aborts the process.
    """
    buffer = pa.allocate_buffer(len(octets))
    memoryview(buffer).cast("B")[:] = octets
    return pq.read_table(pa.BufferReader(buffer), columns=None if columns is None else list(columns))


def read_metadata(path: Path) -> dict[str, str]:
    """The key-value metadata of a Parquet file that acklab wrote. Raises StoreError."""
    try:
        with path.open("rb") as file:
            found = pq.read_metadata(file).metadata or {}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise StoreError(_what_was_found(path, error)) from error
    try:
        return {key.decode(): value.decode() for key, value in found.items() if key.startswith(_PREFIX.encode())}
    except UnicodeDecodeError as error:
        raise StoreError(f"{path}: found metadata that are not UTF-8, {_EXPECTED}") from error


def units_of(schema: pa.Schema) -> dict[str, str]:
    """The unit of each column that has one."""
    return {field.name: field.metadata[b"unit"].decode() for field in schema if (field.metadata or {}).get(b"unit")}


def reason(error: OSError) -> str:
    """What went wrong, in words."""
    return error.strerror or str(error)


def _what_was_found(path: Path, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{path}: found no such file, {_EXPECTED}"
    try:
        return what_was_found(str(path), path.read_bytes(), error)
    except OSError as other:
        return f"{path}: cannot read it: {reason(other)}"


def what_was_found(name: str, octets: bytes, error: Exception) -> str:
    """What is wrong with octets that should be a Parquet file and were refused with `error`."""
    if not octets:
        return f"{name}: found an empty file, {_EXPECTED}"
    if octets[:4] != _FRAME:
        return f"{name}: found {len(octets)} octets that begin with {octets[:4]!r}, {_EXPECTED} (which begins with b'PAR1')"
    if octets[-4:] != _FRAME:
        return f"{name}: found {len(octets)} octets without the end of a Parquet file: it is cut off or overwritten; {_EXPECTED}"
    return f"{name}: found a damaged Parquet file ({error}), {_EXPECTED}"
