"""Files that acklab keeps: each appears under its name when it is whole, and is there after a loss of power.

It is written beside its place, under a hidden name that tells the process, then forced to the disk and renamed. The folder, which holds the name,
is forced to the disk too (fsync(2): that of a file says nothing of the entry in its folder).
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
"""What file systems answer that cannot force a folder to the disk, and folders that may not be opened."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Gives a name beside `path` to write to, and puts the file in the place of `path` at the end; nothing is left behind on failure.

    Raises StoreError, naming `path`, for a full disk, a folder that may not be written, and the like.
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
        raise StoreError(f"{path}: cannot write it: {reason(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text file whole or not at all. Raises StoreError."""
    with writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def make_folder(path: Path) -> Path:
    """Makes a folder if it is missing, and gives it. Raises StoreError."""
    try:
        _make(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot make the folder: {reason(error)}") from error
    return path


def move(source: Path, target: Path) -> None:
    """Renames a file or a folder for good, in the place of another. Raises OSError."""
    source.replace(target)
    sync_folder(target.parent)


def sync(path: Path) -> None:
    """Forces the content of a file to the disk. Raises OSError."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Forces the names in a folder to the disk. Raises OSError."""
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
    """Forces a folder with all that is in it to the disk. Raises OSError."""
    for parent, _, names in os.walk(folder):
        for name in names:
            sync(Path(parent, name))
        sync_folder(Path(parent))


def reason(error: OSError) -> str:
    """What went wrong, in words."""
    return error.strerror or str(error)


def _make(folder: Path) -> None:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        sync_folder(path.parent)
