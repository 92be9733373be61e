"""Signals: Ctrl-C and SIGTERM end a command within two seconds.

A command that computes ends by an exception. If the exception is late, a thread of this module ends
the process. The exception may be late in a library that ignores signals, or while other threads
run. SIGTERM ends such a command immediately, as it ends any program. A command that runs in real
time is cancelled instead: it shows and stores the measurements until then. Output that blocks is
then dropped.
"""

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from acklab import core
from acklab.errors import Cancelled

END_SECONDS = 1.8
"""Seconds from a signal to the end of a command that computes.

Chosen: slightly less than the documented two seconds.
"""
OUTPUT_SECONDS = 1.0
"""Seconds after which output that blocks the end of a command is dropped.

Chosen: half of the documented two seconds.
"""
_AGAIN = 0.1
"""Interval in seconds at which output is checked after `OUTPUT_SECONDS`."""
_STOPPED = b"error: stopped: nothing incomplete was stored\n"

Handlers = dict[int, Any]


class Interruption:
    """Records whether Ctrl-C has arrived.

    Manages the thread that ends the process if the process does not end by itself.
    """

    def __init__(self) -> None:
        """Starts without Ctrl-C."""
        self.has_come = False
        self.is_reported = False
        """`True` once the message about Ctrl-C is printed."""
        self._sockets: tuple[socket.socket, socket.socket] | None = None

    @contextlib.contextmanager
    def handled(self) -> Iterator[None]:
        """Raises KeyboardInterrupt at Ctrl-C during the block.

        Ctrl-C stays ignored in a process that ignores it, such as in the background of a shell.
        """

        def interrupt(number: int, frame: FrameType | None) -> None:
            self.has_come = True
            raise KeyboardInterrupt

        before = _handled((signal.SIGINT,), interrupt)
        try:
            yield
        finally:
            self._unlimit()
            _restore(before)

    def limit(self) -> None:
        """Starts the thread.

        The main thread may be in a library when the signal arrives. Python's handler in C wakes
        this thread nevertheless.
        """
        if self._sockets is not None or threading.current_thread() is not threading.main_thread():
            return
        reader, writer = self._sockets = socket.socketpair()
        writer.setblocking(False)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._wait, args=(reader,), name="signals", daemon=True).start()

    def _unlimit(self) -> None:
        # After Ctrl-C, the same time limit applies to the rest of the process.
        if self._sockets is not None and not self.has_come:
            signal.set_wakeup_fd(-1)
            self._sockets[1].close()
            self._sockets = None

    def _wait(self, reader: socket.socket) -> None:
        with reader:
            while number := reader.recv(1):
                if number[0] == signal.SIGINT:
                    time.sleep(END_SECONDS)
                    drop_output((2,), only_if_blocked=True)
                    if not self.is_reported:
                        os.write(2, _STOPPED)
                    os._exit(Cancelled.exit_code)


@contextlib.contextmanager
def stopped_by_signals(cancel: core.Cancel) -> Iterator[None]:
    """Cancels at Ctrl-C, SIGTERM or SIGHUP. A second signal ends the process immediately."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(number: int, frame: FrameType | None) -> None:
        cancel.cancel()
        for one in before:
            signal.signal(one, signal.SIG_DFL)
        start_to_drop()

    with _output_dropped_after() as start_to_drop:
        before = _handled(numbers, stop)
        try:
            yield
        finally:
            _restore(before)


@contextlib.contextmanager
def drained_by_signals(cancel: core.Cancel) -> Iterator[None]:
    """Cancels at the first signal, after which a server may drain.

    A second signal raises KeyboardInterrupt.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        if cancel.cancelled:
            raise KeyboardInterrupt
        cancel.cancel()
        # If the reader of the output does not read, the server's output blocks, and would delay the
        # end of the process.
        start_to_drop()

    with _output_dropped_after() as start_to_drop:
        before = _handled((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), stop)
        try:
            yield
        finally:
            _restore(before)


@contextlib.contextmanager
def _output_dropped_after() -> Iterator[Callable[[], object]]:
    """Yields a function that starts a timer, after which blocking output is dropped."""
    before = _handled((signal.SIGALRM,), lambda *_: drop_output((1, 2), only_if_blocked=True))
    try:
        yield lambda: signal.setitimer(signal.ITIMER_REAL, OUTPUT_SECONDS, _AGAIN)
    finally:
        if before:
            signal.setitimer(signal.ITIMER_REAL, 0)
        _restore(before)


def drop_output(descriptors: tuple[int, ...], *, only_if_blocked: bool) -> None:
    """Redirects all descriptors, or only those that block, to the null device.

    A signal interrupts a write that blocks; the write is then repeated to the null device.
    """
    for descriptor in descriptors:
        with contextlib.suppress(OSError, ValueError):
            if only_if_blocked and select.select([], [descriptor], [], 0)[1]:
                continue
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)


def _handled(numbers: tuple[int, ...], handler: Callable[[int, FrameType | None], None]) -> Handlers:
    """Sets a handler for those signals that are not ignored.

    A process under `nohup` ignores SIGHUP, for example.

    Returns the previous handlers; none outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    heeded = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in heeded}


def _restore(before: Handlers) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)
