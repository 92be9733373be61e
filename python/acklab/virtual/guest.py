"""Boots a kernel with a command, and ends it in any case."""

import codecs
import contextlib
import json
import os
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from acklab.errors import RunError
from acklab.virtual.kernels import GuestKernel

START = 1_700_000_000
"""The wall clock of every guest at its boot, in seconds since 1970: the same in each run
(chosen).
"""
MEMORY = "2G"
"""The memory of a guest. The host allocates only pages that the guest uses."""

_POLL = 0.02
"""Seconds between reads of the output of a guest."""
_GRACE = 2.0
"""Maximum seconds of wall time for a guest to end after the request."""
_SPINNING = 30.0
"""Seconds of wall time between checks of the guest's clock, if no sample arrives."""
_CONSOLE_LINES = 20
_MCONSOLE_MAGIC = 0xCAFEBABE
_MCONSOLE_VERSION = 2
"""arch/um/drivers/mconsole.h."""
_UMID = "guest"
_INIT = '"mount -t hostfs none /mnt -o /proc/self/cwd && exec /mnt/init"'
"""The first command of a guest, quoted for the kernel. The host resolves `/proc/self/cwd`."""


@dataclass(frozen=True)
class Command:
    """A command for a guest."""

    arguments: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    writable: Sequence[Path] = ()
    """Folders of the host that the guest may change. All other changes are lost with the guest."""


@dataclass(frozen=True)
class Watch:
    """Functions that are called while a guest runs."""

    output: Callable[[str], None] = lambda _: None
    """Receives the standard output of the command."""
    errors: Callable[[str], None] = lambda _: None
    """Receives the standard error of the command."""
    poll: Callable[[], bool] = lambda: False
    """Called often. Returns `True` if the guest must end."""
    progress: Callable[[], float | None] = lambda: None
    """Returns the last known time of the guest's clock, or `None` if it is not known.
    """


class Tail:
    """Reads a growing file."""

    def __init__(self, path: Path, receive: Callable[[str], None]) -> None:
        self.path = path
        self.receive = receive
        self.place = 0
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def read(self) -> None:
        """Passes new text to the caller, in whole characters."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self.place)
            new = file.read()
        self.place += len(new)
        if text := self.decoder.decode(new):
            self.receive(text)


def run(kernel: GuestKernel, command: Command, seed: int, watch: Watch) -> int:
    """Runs a command in a guest and returns its exit status.

    The guest ends with this process, however the process ends. Raises RunError with the last lines
    of the console if the kernel ends by itself, and if a process spins.
    """
    with tempfile.TemporaryDirectory(prefix="acklab-guest-") as folder:
        # The path of the folder must not depend on the run, because the guest's memory contains the
        # path.
        return _Guest(kernel, Path(folder).resolve()).run(command, seed, watch)


@dataclass
class _Guest:
    kernel: GuestKernel
    folder: Path
    uptime: bytes = b""
    """The uptime that the guest reported last."""

    def run(self, command: Command, seed: int, watch: Watch) -> int:
        plan = {
            "arguments": [str(argument) for argument in command.arguments],
            "folder": str(command.folder),
            "environment": dict(command.environment),
            "writable": [str(path) for path in (self.folder, *command.writable)],
            **{name: str(self.folder / name) for name in ("output", "errors", "status")},
        }
        (self.folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        shutil.copy(str(files("acklab.virtual").joinpath("pid1.py")), self.folder / "pid1.py")
        init = self.folder / "init"
        words = [sys.executable, "-I", "-S", self.folder / "pid1.py", self.folder / "plan.json"]
        init.write_text(f"#!/bin/sh\nexec {shlex.join(map(str, words))}\n", encoding="utf-8")
        init.chmod(0o755)
        tails = [Tail(self.folder / "output", watch.output), Tail(self.folder / "errors", watch.errors)]
        with self._booted(seed) as process:
            self._until_end(process, watch, tails)
        for tail in tails:
            tail.read()
        status = self.folder / "status"
        if not status.exists():
            raise RunError(f"the guest ended by itself; the last lines of its console:\n{self._console()}")
        code = int(status.read_text(encoding="utf-8"))
        if not (self.folder / "output").exists():
            raise RunError(f"the guest could not start the command; the last lines of its console:\n{self._console()}")
        return code

    def _until_end(self, process: "subprocess.Popen[bytes]", watch: Watch, tails: Sequence[Tail]) -> None:
        requested: float | None = None
        seen, since = watch.progress(), time.monotonic()
        while process.poll() is None:
            time.sleep(_POLL)
            for tail in tails:
                tail.read()
            now = time.monotonic()
            if requested is None and watch.poll():
                requested = now
                self._request("cad")
            if requested is not None and now - requested > _GRACE:
                return
            if (progress := watch.progress()) != seen or (now - since > _SPINNING and self._moves()):
                seen, since = progress, now
            elif now - since > _SPINNING:
                self._request("sysrq p")
                time.sleep(_POLL)
                raise RunError(
                    f"the clock of the guest has stopped at {seen or 0:.3f} s: a process computes without end;"
                    f" the last lines of the console:\n{self._console()}"
                )

    @contextlib.contextmanager
    def _booted(self, seed: int) -> Iterator["subprocess.Popen[bytes]"]:
        # The command line feeds the guest's entropy (drivers/char/random.c, random_init_early). So
        # the command line contains no path of this run or machine; the folder is the working folder
        # of the kernel.
        arguments = [
            f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet", "panic=-1",
            "time-travel=inf-cpu", f"time-travel-start={START * 10**9}",
            "con=null", "con0=fd:0,fd:1", "uml_dir=./", f"umid={_UMID}", "init=/bin/sh", "--", "-c", _INIT,
        ]  # fmt: skip
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.folder), "TERM": "linux"}
        environment |= {
            "LD_PRELOAD": str(self.kernel.library),
            "ACKLAB_ENTROPY": str(seed),
            "ACKLAB_PARENT": str(os.getpid()),
            "TMPDIR": _memory_folder(),
        }
        with (self.folder / "console").open("wb") as console:
            process = subprocess.Popen(
                [str(self.kernel.executable), *arguments],
                stdin=subprocess.DEVNULL, stdout=console, stderr=console, env=environment, start_new_session=True, cwd=self.folder,
            )  # fmt: skip
            try:
                yield process
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _moves(self) -> bool:
        """Returns `True` if the clock of the guest has advanced since the last call.

        A request interrupts the guest, which changes its random bytes. It is sent only after a long
        silence.
        """
        reply = self._request("proc uptime")
        has_moved = reply != self.uptime
        self.uptime = reply
        return has_moved

    def _request(self, text: str) -> bytes:
        """Sends a request to the kernel's management console.

        Returns the reply, if there is one.
        """
        request = struct.pack("<III512s", _MCONSOLE_MAGIC, _MCONSOLE_VERSION, len(text), text.encode())
        own = self.folder / "request"
        own.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as console, contextlib.suppress(OSError):
            console.bind(str(own))
            console.settimeout(_GRACE)
            console.sendto(request, str(self.folder / _UMID / "mconsole"))
            return console.recv(1024)
        return b""

    def _console(self) -> str:
        with contextlib.suppress(OSError):
            lines = (self.folder / "console").read_text(encoding="utf-8", errors="replace").splitlines()
            return "\n".join(f"  {line}" for line in lines[-_CONSOLE_LINES:])
        return "  (empty)"


def _memory_folder() -> str:
    """Returns the folder for the file with a guest's memory.

    The folder is in memory if there is space.
    """
    with contextlib.suppress(OSError):
        room = os.statvfs("/dev/shm")
        if room.f_bavail * room.f_frsize >= 1 << 30:
            return "/dev/shm"
    return tempfile.gettempdir()
