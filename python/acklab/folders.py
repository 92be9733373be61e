"""Folders of this machine with several writing processes: locks, and files of killed processes."""

import contextlib
import errno
import fcntl
import os
import platform
import re
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from acklab.errors import StoreError

_PAUSE = 0.05
"""Seconds between two tries for a lock."""
_OLD = 24 * 3600
"""Seconds after which a temporary file of another machine's process counts as abandoned."""
_TEMPORARY = re.compile(r"\..*\.(?P<host>[^.]+)\.(?P<process>\d+)\.\d+\.tmp", re.DOTALL)


class Busy(StoreError):
    """Raised if another process holds a lock."""


def temporary_name(path: Path) -> Path:
    """Returns a hidden name beside a path, which contains the number of the writing process."""
    return path.with_name(f".{path.name}.{_host()}.{os.getpid()}.{threading.get_ident()}.tmp")


def remove_abandoned(folder: Path) -> None:
    """Removes temporary files and folders whose process was killed."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _TEMPORARY.fullmatch(entry.name)
            if match is None:
                continue
            with contextlib.suppress(OSError):
                is_ours = match["host"] == _host()
                if (is_ours and not _runs(int(match["process"]))) or time.time() - entry.stat().st_mtime > _OLD:
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path)
                    else:
                        os.unlink(entry.path)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", platform.node())[:40] or "host"


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


@contextlib.contextmanager
def locked(folder: Path, name: str, *, wait: bool) -> Iterator[None]:
    """Holds a lock of a folder. The system releases it even if the process is killed.

    If another process holds the lock, waits, or raises StoreError with its number. Without effect
    on a file system without locks.
    """
    path = folder / f".{name}.lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while (descriptor := _try(path)) is None:
            if not wait:
                with contextlib.suppress(OSError):
                    holder = path.read_text("ascii", "replace").strip()
                    raise Busy(
                        f"{folder}: another acklab is writing there{f' (process {holder})' if holder else ''}, "
                        "expected a separate folder for each"
                    )
            time.sleep(_PAUSE)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    try:
        # The lock file contains the process number for messages. On a full disk, writing the number
        # fails, which is ignored.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(descriptor)


@contextlib.contextmanager
def sharing(folder: Path) -> Iterator[None]:
    """Holds a shared lock of a folder while files are added that are not referenced yet.

    Raises OSError.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # File system without locks
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Yields `True` if no process is `sharing` a folder.

    No process can begin to share it during the block.

    Unknown on a file system without locks.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_alone = True
        except OSError:
            is_alone = False
        yield is_alone
    finally:
        os.close(descriptor)


def _try(path: Path) -> int | None:
    """Returns the descriptor of a lock, or None if another process holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The previous holder removed the file, and a third process may have created another one
        # since.
        if os.fstat(descriptor).st_ino == path.stat().st_ino:
            return descriptor
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            return descriptor
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            os.close(descriptor)
            raise
    os.close(descriptor)
    return None
