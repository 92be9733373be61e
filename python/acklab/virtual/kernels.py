"""Kernels of guests, in the cache of the user."""

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from acklab.atomic import write_text
from acklab.errors import RunError, UsageError

BUILD = "acklab kernel build"
"""The command that builds a kernel."""

_DESCRIPTION = "kernel.json"


@dataclass(frozen=True)
class GuestKernel:
    """A kernel of guests in virtual time."""

    folder: Path
    release: str
    """The release that `uname -r` prints in the guest."""
    config: str
    """The first twelve hexadecimal digits of the SHA-256 of its configuration."""
    source: str
    """The package and version of the source, or the folder of a tree of the user."""
    built: str
    """Date and time of the build, in UTC."""

    @property
    def name(self) -> str:
        """Returns the name in the cache."""
        return f"{self.release}-{self.config}"

    @property
    def executable(self) -> Path:
        """Returns the kernel, a program of the host."""
        return self.folder / "linux"

    @property
    def library(self) -> Path:
        """Returns the library that is preloaded into the kernel (`host.c`)."""
        return self.folder / "host.so"

    def write(self) -> None:
        """Writes the description beside the kernel."""
        text = json.dumps({name: value for name, value in asdict(self).items() if name != "folder"}, indent=2)
        write_text(self.folder / _DESCRIPTION, text + "\n")


def cache() -> Path:
    """Returns the folder of kernels, in the cache of the XDG Base Directory Specification."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "acklab" / "kernels"


def kernels() -> list[GuestKernel]:
    """Returns all kernels, the newest first. Ignores folders of unfinished builds."""
    found = []
    for description in cache().glob(f"*/{_DESCRIPTION}"):
        try:
            fields = json.loads(description.read_text(encoding="utf-8"))
            found.append(GuestKernel(description.parent, **fields))
        except (OSError, ValueError, TypeError):
            continue
    return sorted(found, key=lambda kernel: kernel.built, reverse=True)


def find(name: str | None = None) -> GuestKernel:
    """Returns the kernel whose name begins with `name`, or the newest.

    Raises RunError if there is none, and UsageError if `name` matches none or several.
    """
    every = kernels()
    if not every:
        raise RunError(f"virtual time: required guest kernel is missing; `{BUILD}` makes one in some minutes")
    if name is None:
        return every[0]
    named = [kernel for kernel in every if kernel.name.startswith(name)]
    if len(named) != 1:
        known = ", ".join(kernel.name for kernel in every)
        raise UsageError(f"kernel: found {name!r}, expected one of: {known}")
    return named[0]


def remove(name: str) -> GuestKernel:
    """Deletes a kernel from the cache and returns its description.

    Raises UsageError and RunError as `find`.
    """
    kernel = find(name)
    shutil.rmtree(kernel.folder)
    return kernel
