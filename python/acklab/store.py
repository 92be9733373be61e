"""Tables as Parquet, with all that is needed to repeat the run inside every file.

A file appears under its name only when it is whole: it is written beside its place and renamed.
"""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from acklab.errors import StoreError

SCENARIO_FILE = "scenario.json"
_PREFIX = "acklab."


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from."""

    scenario: dict[str, Any]
    """The scenario in full, presets resolved."""
    seed: int
    revision: str
    """The commit that the core was built from."""
    version: str
    command: str
    """The command that repeats the run."""

    def metadata(self) -> dict[str, str]:
        """Key and value as they stand in the metadata of a Parquet file."""
        return {
            "acklab.scenario": json.dumps(self.scenario, sort_keys=True),
            "acklab.seed": str(self.seed),
            "acklab.revision": self.revision,
            "acklab.version": self.version,
            "acklab.command": self.command,
        }

    @classmethod
    def of(cls, metadata: Mapping[str, str], path: Path) -> "Provenance":
        """Reads what `metadata` wrote; raises StoreError naming `path` if something is missing."""
        try:
            return cls(
                scenario=json.loads(metadata["acklab.scenario"]),
                seed=int(metadata["acklab.seed"]),
                revision=metadata["acklab.revision"],
                version=metadata["acklab.version"],
                command=metadata["acklab.command"],
            )
        except KeyError as error:
            raise StoreError(
                f"{path}: found a Parquet file without the key {error.args[0]!r} in its metadata, expected a result that acklab wrote"
            ) from error
        except ValueError as error:
            raise StoreError(f"{path}: found damaged metadata ({error}), expected a result that acklab wrote") from error


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Gives a name beside `path` to write to, and renames it to `path` at the end; nothing is left behind on failure.

    Raises StoreError, naming `path`, for a full disk, a folder that may not be written, and the like.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot write it: {_reason(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text file whole or not at all. Raises StoreError."""
    with writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: object) -> None:
    """Writes a JSON document whole or not at all. Raises StoreError."""
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def read_json(path: Path, expected: str) -> Any:
    """Reads a JSON document; `expected` says in an error what it should have been. Raises StoreError."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StoreError(f"{path}: cannot read it: {_reason(error)}") from error
    except ValueError as error:
        raise StoreError(f"{path}: found damaged JSON ({error}), expected {expected}") from error


def write_tables(directory: Path, tables: Mapping[str, pa.Table], provenance: Provenance) -> None:
    """Writes one Parquet file a table, and the scenario in full as `scenario.json`, into a folder.

    Raises StoreError; files that were there before and could not be replaced are still whole.
    """
    metadata = provenance.metadata()
    for name, table in tables.items():
        with writing(directory / f"{name}.parquet") as temporary:
            pq.write_table(table.replace_schema_metadata(metadata), temporary)
    write_json(directory / SCENARIO_FILE, provenance.scenario)


def write_tables_at_once(directory: Path, tables: Mapping[str, pa.Table], provenance: Provenance) -> None:
    """As `write_tables`, but the folder itself appears only when all of it is written."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    except OSError as error:
        raise StoreError(f"{directory}: cannot write it: {_reason(error)}") from error
    try:
        metadata = provenance.metadata()
        for name, table in tables.items():
            pq.write_table(table.replace_schema_metadata(metadata), temporary / f"{name}.parquet")
        temporary.chmod(0o755)
        temporary.rename(directory)
    except OSError as error:
        raise StoreError(f"{directory}: cannot write it: {_reason(error)}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_table(path: Path) -> pa.Table:
    """Reads a table that acklab wrote.

    Raises StoreError naming the path, what was found and what was expected.
    """
    try:
        return pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise StoreError(_what_was_found(path, error)) from error


def read_metadata(path: Path) -> dict[str, str]:
    """The key-value metadata of a Parquet file that acklab wrote. Raises StoreError."""
    try:
        found = pq.read_metadata(path).metadata or {}
    except (pa.ArrowException, OSError) as error:
        raise StoreError(_what_was_found(path, error)) from error
    return {key.decode(): value.decode() for key, value in found.items() if key.startswith(_PREFIX.encode())}


def table_files(directory: Path) -> dict[str, Path]:
    """The tables of a folder by name, in the order of their names. Raises StoreError if there are none."""
    if not directory.is_dir():
        raise StoreError(f"{directory}: found no such folder, expected one with results of acklab (*.parquet)")
    files = {path.stem: path for path in sorted(directory.glob("*.parquet"))}
    if not files:
        raise StoreError(f"{directory}: found no table, expected a folder with results of acklab (*.parquet)")
    return files


def units(schema: pa.Schema) -> dict[str, str]:
    """The unit of each column that has one."""
    return {
        field.name: field.metadata[b"unit"].decode()
        for field in schema
        if field.metadata is not None and field.metadata.get(b"unit")
    }


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _what_was_found(path: Path, error: Exception) -> str:
    expected = "expected a Parquet table that acklab wrote"
    if isinstance(error, FileNotFoundError):
        return f"{path}: found no such file, {expected}"
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(4)
            file.seek(max(size - 4, 0))
            tail = file.read(4)
    except OSError as other:
        return f"{path}: cannot read it: {_reason(other)}"
    if size == 0:
        return f"{path}: found an empty file, {expected}"
    if head != b"PAR1":
        return f"{path}: found {size} octets that begin with {head!r}, {expected} (which begins with b'PAR1')"
    if tail != b"PAR1":
        return f"{path}: found {size} octets without the end of a Parquet file: it is cut off or overwritten; {expected}"
    return f"{path}: found a damaged Parquet file ({error}), {expected}"
