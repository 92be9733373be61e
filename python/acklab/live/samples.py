"""The samples of a run, for readers that wait for the next one."""

import json
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

MAX_SAMPLES = 7200
"""Maximum number of stored samples. Chosen: two hours of one per second, about 10 MB, because
`inline` may run for months.
"""
_WAIT = 1.0
"""Seconds after which a reader returns without a sample, to detect a client that disconnected.
Chosen.
"""


class Stream:
    """The samples of a run so far. Only the last `MAX_SAMPLES` are kept."""

    def __init__(self) -> None:
        """Starts without a sample."""
        self._samples: deque[str] = deque(maxlen=MAX_SAMPLES)
        self._added = 0
        self._is_over = False
        self._changed = threading.Condition()

    def add(self, sample: Mapping[str, Any]) -> None:
        """Adds a sample."""
        text = json.dumps(sample)
        with self._changed:
            self._samples.append(text)
            self._added += 1
            self._changed.notify_all()

    def end(self) -> None:
        """Marks the end: no sample follows."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def after(self, seen: int) -> tuple[list[str], int, bool]:
        """Returns the samples after the first `seen`, their new count, and whether the run is over.

        Waits for a second if there are none.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or self._added > seen, _WAIT)
            dropped = self._added - len(self._samples)
            return [*self._samples][max(0, seen - dropped) :], self._added, self._is_over
