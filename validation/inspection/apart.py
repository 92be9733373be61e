"""Runs a function over many inputs, each in a separate process with limits.

A crash or a hang affects only one input.
"""

import contextlib
import json
import multiprocessing
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any

# The children need not import the modules that the parent has imported.
_CONTEXT = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Limits:
    """Limits of a process, and number of concurrent processes."""

    seconds: float = 120.0
    octets: int = 4 << 30
    at_once: int = 2


@dataclass(frozen=True)
class _Running:
    item: str
    process: ForkProcess
    receiver: Connection
    deadline: float


def run_apart(
    function: Callable[[str], dict[str, Any]], items: Sequence[str], limits: Limits
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields each item with the result of `function`, or with its failure.

    A failure has only the key `failure`: a traceback, a signal, or the time limit.
    """
    waiting = list(reversed(items))
    running: list[_Running] = []
    while waiting or running:
        while waiting and len(running) < limits.at_once:
            running.append(_start(function, waiting.pop(), limits))
        due = min(one.deadline for one in running) - time.monotonic()
        ready = wait([one.receiver for one in running], max(due, 0.0))
        for one in list(running):
            if one.receiver in ready or time.monotonic() >= one.deadline:
                running.remove(one)
                yield one.item, _collect(one, limits)


def _start(function: Callable[[str], dict[str, Any]], item: str, limits: Limits) -> _Running:
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_child, args=(function, item, sender, limits))
    process.start()
    sender.close()
    return _Running(item, process, receiver, time.monotonic() + limits.seconds)


def _child(function: Callable[[str], dict[str, Any]], item: str, sender: Connection, limits: Limits) -> None:
    # The process has a separate process group, so that its children end with it.
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (limits.octets, limits.octets))
    try:
        outcome = function(item)
    except BaseException:  # A panic of the core is not an `Exception`.
        outcome = {"failure": traceback.format_exc()}
    sender.send_bytes(json.dumps(outcome).encode())
    sender.close()


def _number(one: _Running) -> int:
    """Returns the identifier of the process and of its group."""
    assert one.process.pid is not None
    return one.process.pid


def _collect(one: _Running, limits: Limits) -> dict[str, Any]:
    try:
        if not one.receiver.poll():
            return {"failure": f"found no result after {limits.seconds:g} s, expected one"}
        outcome: dict[str, Any] = json.loads(one.receiver.recv_bytes())
        return outcome
    except EOFError:
        # The process is not reaped yet. So no other group can have its number when the group is
        # killed below.
        ended = os.waitid(os.P_PID, _number(one), os.WEXITED | os.WNOWAIT)
        is_signal = ended is not None and ended.si_code != os.CLD_EXITED
        return {"failure": f"the process ended with {'signal' if is_signal else 'status'} {ended and ended.si_status}"}
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(_number(one), signal.SIGKILL)
        one.process.join()
        one.receiver.close()
