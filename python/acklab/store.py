"""Tables as Parquet. Each file contains everything that is required to repeat the run."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from acklab.atomic import reason, write_text
from acklab.errors import StoreError
from acklab.provenance import Provenance

SCENARIO_FILE = "scenario.json"
SWEEP_FILE = "sweep.json"
STUDY_FILE = "report.json"
_PREFIX = "acklab."
_FRAME = b"PAR1"
"""First and last bytes of a Parquet file."""
_EXPECTED = "expected a Parquet table that acklab wrote"


def write_json(path: Path, value: object) -> None:
    """Writes a JSON document atomically. Raises StoreError."""
    write_text(path, json_text(value))


def json_text(value: object) -> str:
    """Returns a JSON document as text."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def write_tables(directory: Path, tables: Mapping[str, pa.Table], provenance: Provenance) -> None:
    """Writes a Parquet file per table, and the complete scenario as `scenario.json`.

    No other process may use the folder yet. Raises OSError.
    """
    metadata = provenance.metadata()
    for name, table in tables.items():
        _write(directory / f"{name}.parquet", table.replace_schema_metadata(metadata))
    (directory / SCENARIO_FILE).write_text(json_text(provenance.scenario), encoding="utf-8")


def tables_with(directory: Path, key: str) -> list[str]:
    """Returns the tables of a folder whose metadata have this key, because acklab wrote them."""
    found = []
    for path in directory.glob("*.parquet"):
        # Another process has removed the file already, or acklab did not write the file.
        with contextlib.suppress(StoreError):
            if key in read_metadata(path):
                found.append(path.name)
    return found


def _write(path: Path, table: pa.Table) -> None:
    # Arrow cannot open files whose names are not UTF-8.
    with path.open("wb") as file:
        pq.write_table(table, file)


def has_frame(octets: bytes) -> bool:
    """Returns whether bytes begin and end as a Parquet file."""
    return octets[:4] == octets[-4:] == _FRAME


def parsed(octets: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """Returns the table in the bytes of a Parquet file. Raises the errors of Arrow.

    The bytes are copied into Arrow's memory. Threads of Arrow release their input some time after
    the table is ready. If the input is Python's memory and the interpreter is ending, the process
    aborts.
    """
    buffer = pa.allocate_buffer(len(octets))
    memoryview(buffer).cast("B")[:] = octets
    return pq.read_table(pa.BufferReader(buffer), columns=None if columns is None else list(columns))


def read_metadata(path: Path) -> dict[str, str]:
    """Returns the key-value metadata of a Parquet file that acklab wrote. Raises StoreError."""
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
    """Returns the units by column. Columns without a unit are omitted."""
    return {field.name: field.metadata[b"unit"].decode() for field in schema if (field.metadata or {}).get(b"unit")}


def _what_was_found(path: Path, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{path}: no such file, {_EXPECTED}"
    try:
        return what_was_found(str(path), path.read_bytes(), error)
    except OSError as other:
        return f"{path}: cannot be read: {reason(other)}"


def what_was_found(name: str, octets: bytes, error: Exception) -> str:
    """Returns a description of bytes that Arrow refused with `error` as a Parquet file."""
    if not octets:
        return f"{name}: found an empty file, {_EXPECTED}"
    if octets[:4] != _FRAME:
        return f"{name}: found {len(octets)} bytes that begin with {octets[:4]!r}, {_EXPECTED} (which begins with b'PAR1')"
    if octets[-4:] != _FRAME:
        return f"{name}: found {len(octets)} bytes without the end of a Parquet file: truncated or overwritten; {_EXPECTED}"
    return f"{name}: found a damaged Parquet file ({error}), {_EXPECTED}"
