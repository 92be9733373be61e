"""Builds the kernel of guests, from Debian's source or from a tree of the user.

Root is not required.
"""

import contextlib
import datetime
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

from acklab.errors import Cancelled, RunError, UsageError
from acklab.virtual.kernels import GuestKernel, cache

DEFAULT_VERSION = "6.12"
"""The long-term release that Debian has as a package `linux-source-6.12`."""

_TOOLS: Mapping[str, str] = {
    "make": "make",
    "gcc": "gcc",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
}
"""Programs that a build runs, and the Debian packages that contain them."""

_ESSENTIAL = (
    "64BIT",
    "UML_TIME_TRAVEL_SUPPORT",
    "HOSTFS",
    "OVERLAY_FS",
    "TMPFS",
    "PROC_FS",
    "NET_NS",
    "TUN",
    "INET",
    "TCP_CONG_CUBIC",
    # TCP counts delayed ACKs and retransmission timers in jiffies: at 100 Hz they are 10 ms.
    "HZ=1000",
)
"""Options that every emulation requires. Older or newer trees may lack other options."""

_HZ = """
config HZ
	int
	default 1000
"""
"""An option that `arch/um/Kconfig` fixes at 100.

The first default of an option is valid, so this default is inserted before the original.
"""

Progress = Callable[[str], None]


def build(version: str | None = None, source: str | Path | None = None, progress: Progress = lambda _: None) -> GuestKernel:
    """Builds a kernel, puts it into the cache, and returns it.

    Parameters
    ----------
    version
        Version of Debian's package `linux-source-…`, such as "6.12" or "6.1"; by default
        `DEFAULT_VERSION`.
    source
        A kernel tree of the user, which is not changed. It may be patched.
    progress
        Receives one line for each step.

    Raises UsageError if both a version and a source are given, and RunError for a missing program
    or a failed build.

    """
    if version is not None and source is not None:
        raise UsageError("kernel build: found --version and --source, expected one of them")
    _check_tools(source is None)
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=cache()) as folder:
        place = Path(folder)
        tree, origin = _unpacked(version or DEFAULT_VERSION, place, progress) if source is None else _given(Path(source))
        with as_file(files("acklab.virtual").joinpath("guest.config")) as config:
            return _kernel(tree, origin, config, place / "out", progress)


def _check_tools(needs_package: bool) -> None:
    missing = [
        package for tool, package in _TOOLS.items() if shutil.which(tool) is None and (needs_package or tool not in ("tar", "xz"))
    ]
    if missing:
        raise RunError(f"kernel build: required programs are missing; on Debian: apt-get install {' '.join(missing)}")


def _unpacked(version: str, place: Path, progress: Progress) -> tuple[Path, str]:
    """Unpacks Debian's source. Returns the tree, and the package with its version."""
    package = f"linux-source-{version}"
    archive = Path("/usr/src") / f"{package}.tar.xz"
    if not archive.exists():
        raise RunError(f"kernel build: {archive} is missing; on Debian: apt-get install {package}")
    progress(f"unpacking {archive}")
    _run(["tar", "--extract", "--file", str(archive), "--directory", str(place)], "tar")
    found = subprocess.run(["dpkg-query", "--show", package], capture_output=True, text=True, check=False)
    return place / package, " ".join(found.stdout.split()) or package


def _given(tree: Path) -> tuple[Path, str]:
    if not (tree / "arch" / "um").is_dir():
        raise UsageError(f"--source {tree}: found no arch/um, expected the top folder of a Linux tree")
    if (tree / ".config").exists() or (tree / "include" / "config").exists():
        raise UsageError(
            f"--source {tree}: found a build in the tree, expected none; run `make mrproper` there, or give a `git worktree` of it"
        )
    return tree.resolve(), str(tree.resolve())


def _kernel(tree: Path, origin: str, config: Path, out: Path, progress: Progress) -> GuestKernel:
    out.mkdir()
    make = ["make", "-C", str(tree), f"O={out}", "ARCH=um", f"KBUILD_KCONFIG={_top(tree, out.parent)}"]
    progress("configuring")
    _run([*make, f"KCONFIG_ALLCONFIG={config}", "allnoconfig"], "make allnoconfig")
    digest = _checked(out / ".config", tree)
    for number, line in enumerate(_lines([*make, f"-j{os.cpu_count() or 1}", "linux"], "make linux"), 1):
        if number % 100 == 0:
            progress(f"compiling, file {number}: {line.strip()}")
    release = (out / "include" / "config" / "kernel.release").read_text(encoding="utf-8").strip()
    progress("linking")
    shutil.move(out / "linux", out.parent / "linux")
    with as_file(files("acklab.virtual").joinpath("host.c")) as library:
        _run(["gcc", "-O2", "-shared", "-fPIC", "-o", str(out.parent / "host.so"), str(library)], "gcc")
    now = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    return _stored(GuestKernel(out.parent, release, digest, origin, now), out / ".config")


def _top(tree: Path, place: Path) -> Path:
    """Writes the top of the options of `tree`, with the guest's HZ before those of the tree."""
    title, rest = (tree / "Kconfig").read_text(encoding="utf-8").split("\nsource ", maxsplit=1)
    top = place / "Kconfig"
    top.write_text(f"{title}\n{_HZ}\nsource {rest}", encoding="utf-8")
    return top


def _stored(kernel: GuestKernel, config: Path) -> GuestKernel:
    """Moves a finished build into the cache. Replaces an older build of the same name."""
    with tempfile.TemporaryDirectory(prefix=".kernel-", dir=cache()) as folder:
        whole = Path(folder) / "kernel"
        whole.mkdir()
        subprocess.run(["strip", "--strip-debug", str(kernel.executable)], capture_output=True, check=False)
        for file in (kernel.executable, kernel.library):
            shutil.move(file, whole / file.name)
        shutil.copy(config, whole / "config")
        replace(kernel, folder=whole).write()
        target = cache() / kernel.name
        shutil.rmtree(target, ignore_errors=True)
        whole.rename(target)
    return replace(kernel, folder=target)


def _checked(config: Path, tree: Path) -> str:
    """Returns the digest of a configuration. Raises RunError if an essential option is missing."""
    text = config.read_text(encoding="utf-8")
    enabled = set(re.findall(r"^CONFIG_(\w+)=y$", text, re.MULTILINE)) | set(re.findall(r"^CONFIG_(HZ=\d+)$", text, re.MULTILINE))
    missing = [name for name in _ESSENTIAL if name not in enabled]
    if missing:
        raise RunError(f"kernel build: {tree} does not enable {', '.join(missing)}; expected a tree of Linux 6.1 or newer")
    # The first lines have the release, which is part of the name, and the compiler, which has no
    # effect.
    options = "\n".join(sorted(line for line in text.splitlines() if line.startswith("CONFIG_") and "_VERSION" not in line))
    return hashlib.sha256(options.encode()).hexdigest()[:12]


def _run(command: list[str], what: str) -> None:
    for _ in _lines(command, what):
        pass


def _lines(command: list[str], what: str) -> Iterator[str]:
    """Runs a command and yields its lines as they arrive.

    Raises RunError with the last lines of a command that fails.
    """
    last: list[str] = []
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            last = [*last[-19:], line.rstrip()]
            yield line
        if process.wait() != 0:
            shown = "\n  ".join(line for line in last if "error" in line.lower()) or "\n  ".join(last)
            raise RunError(f"kernel build: {what} failed:\n  {shown}")
    except KeyboardInterrupt as error:
        raise Cancelled("kernel build: stopped; nothing was kept") from error
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 15)
            process.wait()
