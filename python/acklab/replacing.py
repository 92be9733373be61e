"""Replaces a result in a folder atomically.

All files are first written into a hidden subfolder. Then a journal is created, which lists the
files to move and the files of the earlier result to remove. From then on the new result is valid,
even if the process is killed: the next process that opens the folder executes the journal. Before
that, the earlier result is unchanged.
"""

import contextlib
import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from acklab.atomic import reason, sync_all, sync_folder
from acklab.checksums import CHECKSUMS_FILE, stamps, write_checksums
from acklab.contents import Contents, refuse_others
from acklab.errors import StoreError
from acklab.files import ensure_writable
from acklab.folders import Busy, locked, remove_abandoned
from acklab.places import LocalPlace
from acklab.store import tables_with, write_json

_STAGING = ".acklab-new"
_JOURNAL = ".acklab-journal.json"
_LOCK = "acklab"
_PAUSE = 0.05
"""Seconds between two checks of another process's replacement."""


@dataclass
class Replacement:
    """A result that is being written."""

    folder: Path
    """The final folder."""
    staging: Path
    """The folder in which the files are written first, under their final names."""
    is_complete: bool = field(default=False)

    def make_room(self, names: Iterable[str]) -> None:
        """Creates the subfolders for files of these names.

        Raises StoreError if a symbolic link in the result's folder points outside of the folder.
        """
        for name in names:
            _within(self.folder, name)
            (self.staging / name).parent.mkdir(parents=True, exist_ok=True)

    def complete(self) -> None:
        """Marks all files as written. They replace the earlier result at the end of the block."""
        self.is_complete = True


@contextlib.contextmanager
def replacing(folder: Path, kind: Contents) -> Iterator[Replacement]:
    """Yields a place for writing a result of this kind.

    A block that fails, or does not call `complete`, leaves the folder unchanged.

    Raises StoreError for a folder with results of another kind, for a folder in use by another
    process, and if files cannot be written.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        ensure_writable(folder)
        with locked(folder, _LOCK, wait=False):
            _settle(folder)
            refuse_others(LocalPlace(folder), kind)
            remove_abandoned(folder)
            with _staging(folder) as staging:
                replacement = Replacement(folder, staging)
                yield replacement
                if replacement.is_complete:
                    _commit(replacement)
    finally:
        for path in made:
            with contextlib.suppress(OSError):  # A folder with a result is not empty.
                path.rmdir()


@contextlib.contextmanager
def exchanging(folder: Path, obsolete: Callable[[], Iterable[str]]) -> Iterator[Path]:
    """Yields a folder. At the end of the block, all of its files are moved into `folder`, or none.

    Then removes the files `obsolete`. Waits for another process that does the same. Raises
    StoreError.
    """
    with locked(folder, _LOCK, wait=True):
        _settle(folder)
        with _staging(folder) as staging:
            yield staging
            names = [path.relative_to(staging).as_posix() for path in staging.rglob("*") if path.is_file()]
            _move_all(folder, sorted(names), sorted({*obsolete()} - {*names}))


@contextlib.contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """Yields an empty hidden folder, which is removed unless a journal refers to its files.

    Raises StoreError.
    """
    staging = folder / _STAGING
    try:
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
        yield staging
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {reason(error)}") from error
    finally:
        if not (folder / _JOURNAL).exists():
            shutil.rmtree(staging, ignore_errors=True)


def settle(folder: Path) -> None:
    """Finishes an interrupted replacement, or waits until another process has finished it.

    Raises StoreError if the replacement cannot be finished.
    """
    while (folder / _JOURNAL).is_file():
        try:
            with locked(folder, _LOCK, wait=False):
                _settle(folder)
        except Busy:
            time.sleep(_PAUSE)


def tidy(folder: Path) -> None:
    """Finishes the result of a killed writer if it left a journal, then removes its other files.

    Raises StoreError.
    """
    with locked(folder, _LOCK, wait=True):
        _settle(folder)
        shutil.rmtree(folder / _STAGING, ignore_errors=True)
        remove_abandoned(folder)


def _settle(folder: Path) -> None:
    journal = folder / _JOURNAL
    if not journal.is_file():
        return
    try:
        document = json.loads(journal.read_text(encoding="utf-8"))
        moved, removed = list(map(str, document["moved"])), list(map(str, document["removed"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{journal}: found a damaged journal ({error}), expected the journal of an unfinished result") from error
    try:
        touched = {folder}
        for name in moved:
            target = _within(folder, name)
            if (staged := folder / _STAGING / name).is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                staged.replace(target)
            touched |= {target.parent, target.parent.parent} if target.parent != folder else set()
        for name in removed:
            _within(folder, name).unlink(missing_ok=True)
        # The journal stays until all its moves have reached the disk.
        for path in touched:
            sync_folder(path)
        journal.unlink(missing_ok=True)
        sync_folder(folder)
    except OSError as error:
        raise StoreError(f"{folder}: found an interrupted write of a result that cannot be finished: {reason(error)}") from error
    shutil.rmtree(folder / _STAGING, ignore_errors=True)


def _commit(replacement: Replacement) -> None:
    folder = replacement.folder
    moved = [*write_checksums(replacement.staging), CHECKSUMS_FILE]
    _move_all(folder, moved, sorted({*_files_of(folder), *tables_with(folder, "acklab.scenario")} - {*moved}))


def _move_all(folder: Path, moved: Sequence[str], removed: Sequence[str]) -> None:
    """Moves and removes the files that the journal lists. The journal must be on disk.

    Raises OSError, StoreError.
    """
    for name in moved:
        _within(folder, name)
    sync_all(folder / _STAGING)
    write_json(folder / _JOURNAL, {"moved": [*moved], "removed": [*removed]})
    _settle(folder)


def _within(folder: Path, name: str) -> Path:
    """Returns the path of a file.

    Raises StoreError if a symbolic link in the path points outside of the folder.
    """
    path = folder / name
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise StoreError(f"{path.parent}: found a link that leads out of {folder}, expected a folder within")
    return path


def _files_of(folder: Path) -> list[str]:
    """Returns the files of the earlier result, including captures."""
    try:
        return list(stamps(LocalPlace(folder)))
    except StoreError:
        return []
