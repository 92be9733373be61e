"""Signals: Ctrl-C and SIGTERM end a command within two seconds, whatever it waits for.

A command that computes ends by an exception, and by a thread of this module if the exception comes too late: in a library that does not
look for signals, or while other threads still run. SIGTERM ends it at once, as any program. A command that runs in real time ends in an orderly
way: it is told to stop, and shows and keeps what was measured. Output that nobody takes is then dropped.
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
"""Seconds from a signal to the end of a command that computes. Chosen: a bit less than the two that are promised."""
OUTPUT_SECONDS = 1.0
"""Seconds after which output that blocks an orderly end is dropped. Chosen: half of the two that are promised."""
_AGAIN = 0.1
"""Interval in which output is looked at from then on."""
_STOPPED = b"error: stopped\n"

Handlers = dict[int, Any]


class Interruption:
    """Whether Ctrl-C has come, and the thread that ends the process if it does not end by itself."""

    def __init__(self) -> None:
        """Ctrl-C has not come."""
        self.has_come = False
        self.is_told = False
        """Whether its message has been printed."""
        self._sockets: tuple[socket.socket, socket.socket] | None = None

    @contextlib.contextmanager
    def heeded(self) -> Iterator[None]:
        """Raises KeyboardInterrupt at Ctrl-C during the block. A process that ignores Ctrl-C, as in the background of a shell, still does."""

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
        """Starts the thread. The main thread may be in a library when the signal comes: Python's own handler, in C, wakes the thread."""
        if self._sockets is not None or threading.current_thread() is not threading.main_thread():
            return
        reader, writer = self._sockets = socket.socketpair()
        writer.setblocking(False)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._wait, args=(reader,), name="signals", daemon=True).start()

    def _unlimit(self) -> None:
        # Once Ctrl-C has come, the rest of the process has to end in time too.
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
                    if not self.is_told:
                        os.write(2, _STOPPED)
                    os._exit(Cancelled.exit_code)


@contextlib.contextmanager
def stopped_by_signals(cancel: core.Cancel) -> Iterator[None]:
    """Makes Ctrl-C, and what a service manager or a terminal that goes away sends, an orderly end. A second signal ends the process at once."""
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
    """Makes the first signal an orderly end, for which a server may take its time. A second one raises KeyboardInterrupt."""

    def stop(number: int, frame: FrameType | None) -> None:
        if cancel.cancelled:
            raise KeyboardInterrupt
        cancel.cancel()
        # The lines of a server go to a reader that may take nothing, which would hold back the end of the process.
        start_to_drop()

    with _output_dropped_after() as start_to_drop:
        before = _handled((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), stop)
        try:
            yield
        finally:
            _restore(before)


@contextlib.contextmanager
def _output_dropped_after() -> Iterator[Callable[[], object]]:
    """Yields a function that starts a timer, after which output that blocks is dropped until the end of the block."""
    before = _handled((signal.SIGALRM,), lambda *_: drop_output((1, 2), only_if_blocked=True))
    try:
        yield lambda: signal.setitimer(signal.ITIMER_REAL, OUTPUT_SECONDS, _AGAIN)
    finally:
        if before:
            signal.setitimer(signal.ITIMER_REAL, 0)
        _restore(before)


def drop_output(descriptors: tuple[int, ...], *, only_if_blocked: bool) -> None:
    """Lets the rest of the output go nowhere: all of it, or only where nobody takes it. A write that blocks is repeated there after a signal."""
    for descriptor in descriptors:
        with contextlib.suppress(OSError, ValueError):
            if only_if_blocked and select.select([], [descriptor], [], 0)[1]:
                continue
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)


def _handled(numbers: tuple[int, ...], handler: Callable[[int, FrameType | None], None]) -> Handlers:
    """Sets a handler for the signals that are not ignored, as `nohup` has it. Returns what they had before; nothing outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    heeded = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in heeded}


def _restore(before: Handlers) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)
