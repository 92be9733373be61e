"""Functions shared by callers of the core: revision, cancellation, and results in types of Python.

Other functions of the core are called directly in `_core`.
"""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from acklab import _core
from acklab._core import Cancel, acquire_permission

if TYPE_CHECKING:
    import pyarrow as pa


QLOG_VERSIONS: tuple[str, ...] = tuple(_core.QLOG_VERSIONS)
"""The supported versions of qlog, the default first."""


PROCESSORS: tuple[str, ...] = tuple(_core.PROCESSORS)
"""The modes of idle processors during an emulation."""


def version() -> str:
    """Returns the version of acklab, such as "0.1.0"."""
    return _core.VERSION


@functools.cache
def revision() -> str:
    """Returns the commit from which the core was built.

    Outside a clean checkout, a commit does not identify the code, so a digest of the compiled
    module is appended. Two results with the same revision come from the same code.
    """
    stamp: str = _core.REVISION
    path = getattr(_core, "__file__", None)
    if path is None or not (stamp == "unknown" or stamp.endswith("-dirty")):
        return stamp
    return f"{stamp}-{hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]}"


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of a scenario."""
    return cast(dict[str, Any], json.loads(_core.schema()))


def arrow(tables: Mapping[str, _core.Table]) -> "dict[str, pa.Table]":
    """Returns tables of the core as Arrow tables, without a copy.

    Their fields have their unit as metadata "unit".
    """
    import pyarrow as pa

    # pa.table imports pandas to test for frames.
    return {name: pa.Table.from_batches([pa.record_batch(batch)]) for name, batch in tables.items()}


def parsed(watch: Callable[[dict[str, Any]], None] | None) -> Callable[[str], None] | None:
    """Returns a function that parses JSON reports of the core and passes them to `watch`.

    Returns None without `watch`.
    """
    return None if watch is None else lambda text: watch(json.loads(text))


@dataclass(frozen=True)
class Emulation:
    """The result of an emulation, in real or in virtual time."""

    scenario: dict[str, Any]
    """The complete scenario."""
    tables: "dict[str, pa.Table]"
    reasons: list[str]
    """Reasons why the results are unreliable; empty if they are reliable."""
    exit_status: int | None
    """The exit status of the command that used the terminal."""
    stopped: float | None
    """The time of an early stop, in seconds."""

    @classmethod
    def of(cls, done: _core.EmulationResult) -> "Emulation":
        """Converts the result of the core."""
        return cls(json.loads(done.scenario), arrow(done.tables), done.reasons, done.exit_status, done.stopped)


__all__ = [
    "PROCESSORS",
    "QLOG_VERSIONS",
    "Cancel",
    "Emulation",
    "acquire_permission",
    "arrow",
    "parsed",
    "revision",
    "schema",
    "version",
]
