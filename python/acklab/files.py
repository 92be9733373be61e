"""Reads files that users name. Messages can print any name, and text is read up to a limit."""

import contextlib
import errno
import os
import select
import stat
import tempfile
from pathlib import Path

from acklab.errors import AcklabError, StoreError, UsageError

LARGEST_FILE = 1 << 26
"""Maximum size of a text file in bytes: an endless file is refused."""
PATIENCE = 5.0
"""Maximum seconds to wait for the next bytes from the writer of a FIFO.

Chosen: longer than a command in `<(…)` takes to start.
"""
_PART = 1 << 20


def path_of(value: object, what: str) -> Path:
    """Returns the path for the argument `what`. Raises UsageError for other values."""
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str) or "\0" in path:
        raise UsageError(f"{what}: found {value!r}, expected the path of a file or a folder")
    return Path(path)


def printable(text: str | Path) -> str:
    """Returns the name of a file, or any text, for messages.

    Bytes that are not UTF-8 are escaped.
    """
    try:
        octets = os.fsencode(text)
    except UnicodeEncodeError:  # Half of a surrogate pair, which represents no byte
        octets = str(text).encode("utf-8", "backslashreplace")
    return octets.decode("utf-8", "backslashreplace")


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
_LINES = {code: escaped for code, escaped in _CONTROLS.items() if chr(code) not in "\n\t"}


def visible(text: str, *, lines: bool = False) -> str:
    """Returns text for a terminal, with control characters escaped.

    `lines` keeps ends of lines and tabs.
    """
    return text.translate(_LINES if lines else _CONTROLS)


def is_utf8(text: str) -> bool:
    """Returns whether text can be encoded as UTF-8.

    File names and arguments in another encoding cannot.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def ensure_writable(folder: Path) -> None:
    """Creates a folder if it is missing.

    Raises StoreError if it cannot be written. Called before a run, so that the error does not
    follow the run.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise StoreError(f"{printable(folder)}: cannot be written: {error.strerror or error}") from error


def read_octets(path: Path, what: str, expected: str, error: type[AcklabError]) -> bytes:
    """Returns the bytes of a file. Raises `error` if it cannot be read or is too large.

    `what` names the content ("scenario"), and `expected` describes it ("a scenario as TOML text").
    """
    name = printable(path)
    try:
        octets = _read(path)
    except (OSError, ValueError) as reason:
        words = reason.strerror if isinstance(reason, OSError) else reason
        raise error(f"{name}: cannot read the {what}: {words}") from reason
    if len(octets) > LARGEST_FILE:
        raise error(f"{name}: found more than {LARGEST_FILE >> 20} MiB, expected {expected}")
    return octets


def _read(path: Path) -> bytes:
    """Returns the bytes of a file, up to one more than the limit.

    Neither opening nor reading blocks forever on a FIFO or a device.
    """
    # The core does the same for its files: `crates/live/src/named_file.rs`.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        kind = os.fstat(descriptor).st_mode
        may_wait = not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))
        octets = bytearray()
        while len(octets) <= LARGEST_FILE:
            if may_wait and not select.select([descriptor], [], [], PATIENCE)[0]:
                raise OSError(errno.ETIMEDOUT, f"found a FIFO or a device from which nothing came for {PATIENCE:g} s")
            with contextlib.suppress(BlockingIOError):
                part = os.read(descriptor, _PART)
                if not part:
                    break
                octets += part
        return bytes(octets[: LARGEST_FILE + 1])
    finally:
        os.close(descriptor)


def read_text(path: Path, what: str, expected: str, error: type[AcklabError]) -> str:
    """Reads a file like `read_octets`, and returns its text.

    Also raises `error` for text that is not UTF-8, with the position of the first invalid byte.
    """
    octets = read_octets(path, what, expected, error)
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError as reason:
        before = octets[: reason.start]
        line, column = before.count(b"\n") + 1, reason.start - before.rfind(b"\n")
        raise error(
            f"{printable(path)}: line {line}, column {column}: found the byte 0x{octets[reason.start]:02x}, which is not UTF-8, expected {expected}"
        ) from reason
