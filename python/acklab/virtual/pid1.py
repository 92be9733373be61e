"""The first process of a guest: mounts, starts the command, and powers off.

It runs with Python alone, without acklab or other packages.

The plan is a JSON file: `arguments`, `environment` and `folder` of the command, the `writable`
folders of the host, and the files `output`, `errors` and `status`. All other changes of files stay
in memory, and are lost with the guest.
"""

import ctypes
import json
import os
import signal
import socket
import struct
import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)

# include/uapi/linux/mount.h, umount(2), reboot(2).
_MNT_DETACH = 2
_CAD_OFF = 0
_POWER_OFF = 0x4321FEDC
# arch/x86/entry/syscalls/syscall_64.tbl; the C library has no function for it.
_PIVOT_ROOT = 155
# ioctl(2) of netdevice(7).
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1

_MOUNT_POINTS = ("/mnt", "/media", "/srv", "/opt", "/var")
"""Folders of the host. The new root is mounted on one of them."""


def _mount(source: str, target: str, kind: str, options: str = "") -> None:
    if _LIBC.mount(source.encode(), target.encode(), kind.encode(), 0, options.encode()) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"mount {kind} on {target}: {os.strerror(code)}")


def _new_root(writable: list[str]) -> None:
    """Puts a layer in memory over the host's files, except the `writable` folders."""
    base = next(folder for folder in _MOUNT_POINTS if Path(folder).is_dir())
    _mount("tmpfs", base, "tmpfs", "mode=755")
    layers = {name: f"{base}/{name}" for name in ("upper", "work", "root")}
    for folder in layers.values():
        Path(folder).mkdir()
    root = layers["root"]
    _mount("overlay", root, "overlay", f"lowerdir=/,upperdir={layers['upper']},workdir={layers['work']}")
    for folder in writable:
        _mount("none", root + folder, "hostfs", folder)
    os.chdir(root)
    if _LIBC.syscall(_PIVOT_ROOT, b".", b".") != 0:
        raise OSError(ctypes.get_errno(), "pivot_root")
    _LIBC.umount2(b".", _MNT_DETACH)
    os.chdir("/")


def _system_folders() -> None:
    for kind, target, options in (
        ("proc", "/proc", ""),
        ("sysfs", "/sys", ""),
        ("devtmpfs", "/dev", ""),
        ("tmpfs", "/run", "mode=755"),
    ):
        Path(target).mkdir(exist_ok=True)
        _mount(kind, target, kind, options)
    for kind, target, options in (("devpts", "/dev/pts", "ptmxmode=0666"), ("tmpfs", "/dev/shm", "mode=1777")):
        Path(target).mkdir(exist_ok=True)
        _mount(kind, target, kind, options)
    tun = Path("/dev/net/tun")
    if not tun.exists():
        tun.parent.mkdir(exist_ok=True)
        # Documentation/admin-guide/devices.txt: 10 200.
        os.mknod(tun, 0o666 | 0o020000, os.makedev(10, 200))
    for name, target in (
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ):
        if not Path("/dev", name).exists():
            Path("/dev", name).symlink_to(target)


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", _IFF_UP)
        if _LIBC.ioctl(any_socket.fileno(), _SIOCSIFFLAGS, request) != 0:
            raise OSError(ctypes.get_errno(), "loopback")


def _start(plan: dict[str, Any]) -> int:
    """Starts the command and returns its process."""
    child = os.fork()
    if child != 0:
        return child
    try:
        os.setsid()
        os.chdir(plan["folder"])
        for descriptor, file, flags in (
            (0, os.devnull, os.O_RDONLY),
            (1, plan["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND),
            (2, plan["errors"], os.O_WRONLY | os.O_CREAT | os.O_APPEND),
        ):
            opened = os.open(file, flags, 0o644)
            os.dup2(opened, descriptor)
        os.execve(plan["arguments"][0], plan["arguments"], plan["environment"])
    except BaseException:
        traceback.print_exc()
    os._exit(127)


def _status_of(child: int) -> int:
    """Waits for the command, and reaps all other processes that end.

    Returns the exit status of the command: 128 plus the number of its signal if it was killed.
    """
    while True:
        process, status = os.waitpid(-1, 0)
        if process == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def main(plan_file: str) -> None:
    """Runs the plan."""
    plan = json.loads(Path(plan_file).read_text(encoding="utf-8"))
    status = "1"
    try:
        _new_root(plan["writable"])
        _system_folders()
        _loopback_up()
        child = _start(plan)

        def stop(number: int, _: FrameType | None) -> None:
            os.kill(child, number)

        # Ctrl-Alt-Del of the console of the host becomes SIGINT of this process (reboot(2)).
        signal.signal(signal.SIGINT, stop)
        _LIBC.reboot(_CAD_OFF)
        status = str(_status_of(child))
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    try:
        Path(plan["status"]).write_text(status, encoding="utf-8")
        os.sync()
    finally:
        _LIBC.reboot(ctypes.c_int(_POWER_OFF - (1 << 32) if _POWER_OFF >= 1 << 31 else _POWER_OFF))


if __name__ == "__main__":
    main(sys.argv[1])
