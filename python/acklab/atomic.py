"""Atomic, durable files: each file appears only when it is complete, and survives a loss of power.

A file is written in the target folder under a hidden name that contains the process number, then
synced and renamed. The folder, which holds the name, is synced too (fsync(2): syncing a file does
not sync its directory entry).
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from acklab.errors import StoreError
from acklab.folders import temporary_name

_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EROFS, errno.EACCES)
"""Errors of file systems that cannot sync a folder, and of folders that may not be opened."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Yields a temporary name beside `path`, and replaces `path` with that file at the end.

    Leaves nothing behind on failure.

    Raises StoreError, naming `path`, for a full disk, a folder without permission, and similar
    errors.
    """
    temporary = temporary_name(path)
    try:
        _make(path.parent)
        yield temporary
        with contextlib.suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        sync(temporary)
        move(temporary, path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {reason(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text file atomically. Raises StoreError."""
    with writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def make_folder(path: Path) -> Path:
    """Creates a folder if it is missing, and returns it. Raises StoreError."""
    try:
        _make(path)
    except OSError as error:
        raise StoreError(f"{path}: the folder cannot be created: {reason(error)}") from error
    return path


def move(source: Path, target: Path) -> None:
    """Renames a file or a folder durably, replacing another. Raises OSError."""
    source.replace(target)
    sync_folder(target.parent)


def sync(path: Path) -> None:
    """Syncs the content of a file to the disk. Raises OSError."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Syncs the names in a folder to the disk. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise


def sync_all(folder: Path) -> None:
    """Syncs a folder and its content to the disk. Raises OSError."""
    for parent, _, names in os.walk(folder):
        for name in names:
            sync(Path(parent, name))
        sync_folder(Path(parent))


def reason(error: OSError) -> str:
    """Returns the reason of an error as text."""
    return error.strerror or str(error)


def _make(folder: Path) -> None:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        sync_folder(path.parent)
