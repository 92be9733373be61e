"""Kills a process at each step at which it changes a folder, and checks the remains.

Run as a program by `test_kills.py`.

A step is the opening of a file for writing, a renaming, a removal, a new folder, or a file that is
forced to the disk. In every other round, half of a file that is not yet on the disk is lost, as in
a power failure.
"""

import functools
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Killer:
    """Counts the steps of this process in a folder, and kills it at one of them."""

    def __init__(self, folder: Path, at: int) -> None:
        """Kills at the step `at`, counted from 1.

        If `at` is even, half of a file that is not on the disk yet is lost.
        """
        self.folder, self.at, self.count = os.fspath(folder), at, 0
        sys.addaudithook(self._hook)
        self._fsync = os.fsync
        setattr(os, "fsync", self._synced)  # noqa: B010 - another signature than that of the type's

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if not isinstance(path, str | bytes | os.PathLike) or not isinstance(flags, int) or not flags & _WRITING:
                return
        elif event not in _CHANGES:
            return
        if self.folder in str(arguments[0]):
            self._step()

    def _synced(self, file: int) -> None:
        if self.folder in os.readlink(f"/proc/self/fd/{file}"):
            path = os.readlink(f"/proc/self/fd/{file}")
            if self.count + 1 == self.at and self.at % 2 == 0 and os.path.isfile(path):
                os.ftruncate(file, os.fstat(file).st_size // 2)
            self._step()
        self._fsync(file)

    def _step(self) -> None:
        self.count += 1
        if self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


def child(work: Callable[[], None]) -> int:
    """Does work in a separate process.

    Returns its exit status, which is negative after a signal.
    """
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _killed(work: Callable[[Path], None], folder: Path, at: int) -> None:
    Killer(folder, at)
    work(folder)


def rounds(
    fresh: Callable[[int], Path], work: Callable[[Path], None], look: Callable[[Path], None], first: int, stride: int
) -> int:
    """Kills `work` at the step `first`, then `stride` steps later, and so on, until it ends by
    itself. Returns the last step.

    Each round has a separate folder from `fresh`. After a kill, `look` raises an exception if the
    remains are not in order.
    """
    for at in range(first, 100_000, stride):
        folder = fresh(at)

        status = child(functools.partial(_killed, work, folder, at))
        assert status in (0, -signal.SIGKILL), f"step {at}: status {status}"
        assert child(functools.partial(look, folder)) == 0, f"after a kill at step {at}"
        shutil.rmtree(folder, ignore_errors=True)
        if status == 0:
            return at - stride
    raise AssertionError("it does not end")
