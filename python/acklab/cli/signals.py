"""Signals that end what runs in real time."""

import contextlib
import signal
from collections.abc import Iterator

from acklab import core


@contextlib.contextmanager
def stopped_by_signals(cancel: core.Cancel) -> Iterator[None]:
    """Ctrl-C, and what a service manager or a terminal that goes away sends, are an orderly end."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: cancel.cancel()) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
