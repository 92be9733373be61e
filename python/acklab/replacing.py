"""Puts a result into a folder as a whole, in the place of an earlier one.

All files are first written into a hidden folder within. Then a journal, which appears at once, says what moves where and what of the earlier result
goes: from then on the new result is in place, even if the process is killed, because whoever opens the folder next finishes what the journal
says. Before it, the earlier result is untouched.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from acklab.contents import Contents, refuse_others
from acklab.errors import StoreError
from acklab.files import ensure_writable
from acklab.folders import locked, remove_abandoned
from acklab.places import LocalPlace, Place, Stamp
from acklab.store import read_metadata, reason, write_json

CHECKSUMS_FILE = "checksums.json"
_STAGING = ".acklab-new"
_JOURNAL = ".acklab-journal.json"
_LOCK = "acklab"


@dataclass
class Replacement:
    """A result that is being written."""

    folder: Path
    """Where it will be."""
    staging: Path
    """Where its files are written meanwhile, under the names that they will have."""
    is_complete: bool = field(default=False)

    def make_room(self, names: Iterable[str]) -> None:
        """Makes the folders within that files of these names need. Raises StoreError if a link of the result's folder leads out of it."""
        for name in names:
            _within(self.folder, name)
            (self.staging / name).parent.mkdir(parents=True, exist_ok=True)

    def complete(self) -> None:
        """Says that all files are written: at the end of the block they take the place of the earlier result."""
        self.is_complete = True


@contextlib.contextmanager
def replacing(folder: Path, kind: Contents) -> Iterator[Replacement]:
    """Gives a place to write a result of this kind to. A block that fails, or does not call `complete`, leaves the folder as it was.

    Raises StoreError for a folder with results of another kind, for one that another process is writing to, and if files cannot be written.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        ensure_writable(folder)
        with locked(folder, _LOCK, wait=False):
            settle(folder)
            refuse_others(LocalPlace(folder), kind)
            remove_abandoned(folder)
            replacement = Replacement(folder, folder / _STAGING)
            try:
                shutil.rmtree(replacement.staging, ignore_errors=True)
                replacement.staging.mkdir()
                yield replacement
                if replacement.is_complete:
                    _commit(replacement)
            except OSError as error:
                raise StoreError(f"{folder}: cannot write it: {reason(error)}") from error
            finally:
                if not (folder / _JOURNAL).exists():
                    shutil.rmtree(replacement.staging, ignore_errors=True)
    finally:
        for path in made:
            with contextlib.suppress(OSError):  # what holds a result is not empty
                path.rmdir()


def settle(folder: Path) -> None:
    """Finishes a replacement that was cut off. Raises StoreError if it cannot."""
    journal = folder / _JOURNAL
    if not journal.is_file():
        return
    try:
        document = json.loads(journal.read_text(encoding="utf-8"))
        moved, removed = list(map(str, document["moved"])), list(map(str, document["removed"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{journal}: found a damaged journal ({error}), expected that of a result that was being written"
        ) from error
    try:
        for name in moved:
            if (staged := folder / _STAGING / name).is_file():
                _within(folder, name).parent.mkdir(parents=True, exist_ok=True)
                staged.replace(_within(folder, name))
        for name in removed:
            _within(folder, name).unlink(missing_ok=True)
        journal.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: found a result whose writing was cut off, and cannot finish it: {reason(error)}") from error
    shutil.rmtree(folder / _STAGING, ignore_errors=True)


def _commit(replacement: Replacement) -> None:
    folder, staging = replacement.folder, replacement.staging
    files = sorted(path.relative_to(staging).as_posix() for path in staging.rglob("*") if path.is_file())
    write_json(
        staging / CHECKSUMS_FILE,
        {"format": 1, "files": {name: _stamp(staging / name).to_dict() for name in files}},
    )
    for name in files:
        _within(folder, name)
        with (staging / name).open("rb+") as file:
            os.fsync(file.fileno())
    moved = [*files, CHECKSUMS_FILE]
    removed = sorted({*_files_of(folder), *_tables_of(folder)} - {*moved})
    write_json(folder / _JOURNAL, {"moved": moved, "removed": removed})
    settle(folder)


def _stamp(path: Path) -> Stamp:
    import hashlib

    with path.open("rb") as file:
        return Stamp(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def _within(folder: Path, name: str) -> Path:
    """The path of a file. Raises StoreError if a link leads out of the folder on the way."""
    path = folder / name
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise StoreError(f"{path.parent}: found a link that leads out of {folder}, expected a folder within")
    return path


def stamps(place: Place) -> dict[str, Stamp]:
    """The stamps of the files of a result by name; none for a result of an earlier version. Raises StoreError."""
    if not place.exists(CHECKSUMS_FILE):
        return {}
    try:
        document = json.loads(place.read(CHECKSUMS_FILE))
        return {str(name): Stamp.from_dict(stamp) for name, stamp in document["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        path = place.name_of(CHECKSUMS_FILE)
        raise StoreError(f"{path}: found damaged JSON ({error}), expected the checksums of a result that acklab wrote") from error


def _files_of(folder: Path) -> list[str]:
    """The files of the earlier result, captures among them."""
    try:
        return list(stamps(LocalPlace(folder)))
    except StoreError:
        return []


def _tables_of(folder: Path) -> list[str]:
    """The tables of an earlier result, also of one without checksums."""
    found = []
    for path in folder.glob("*.parquet"):
        with contextlib.suppress(StoreError):  # it is not ours
            if "acklab.scenario" in read_metadata(path):
                found.append(path.name)
    return found
