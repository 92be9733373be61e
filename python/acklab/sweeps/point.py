"""One run of a sweep."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acklab import core
from acklab.errors import ScenarioError, UsageError
from acklab.result import Result
from acklab.runner import run_source
from acklab.scenario import Source, with_seed
from acklab.store import Provenance, read_metadata, read_table, table_files, write_tables_at_once


@dataclass(frozen=True)
class Point:
    """One run: a scenario with overrides and a seed, kept under the digest of all that its result depends on."""

    source: Source
    sets: tuple[str, ...]
    seed: int
    digest: str

    @classmethod
    def of(cls, source: Source, sets: Sequence[str], seed: int) -> "Point":
        """Checks the scenario of the point and computes its digest. Raises ScenarioError, UsageError."""
        scenario = source.load(with_seed(sets, seed))
        _refuse_custom(scenario, source)
        return cls(source, tuple(sets), seed, digest(scenario, source.base))

    @property
    def command(self) -> str:
        """The command that repeats this point."""
        return self.source.command(self.sets, self.seed)

    def folder(self, store: Path) -> Path:
        """Where the tables of this point are kept."""
        return store / "points" / self.digest

    def is_done(self, store: Path) -> bool:
        """Whether this point was finished: its folder appears only when all of it is written."""
        return self.folder(store).is_dir()

    def run(self, store: Path, cancel: core.Cancel) -> None:
        """Runs the point and keeps its tables. Raises RunError, Cancelled, StoreError."""
        result = run_source(self.source, list(self.sets), self.seed, cancel=cancel)
        write_tables_at_once(self.folder(store), result.tables, result.provenance)

    def result(self, store: Path) -> Result:
        """Reads the tables of the finished point. Raises StoreError."""
        files = table_files(self.folder(store))
        first = next(iter(files.values()))
        return Result({name: read_table(path) for name, path in files.items()}, Provenance.of(read_metadata(first), first))


def _refuse_custom(scenario: dict[str, Any], source: Source) -> None:
    for index, flow in enumerate(scenario.get("flow") or []):
        transport = flow.get("transport", {})
        # Only what is not built in has a name.
        found = {
            "transport.name": transport.get("name"),
            "ack.name": transport.get("ack", {}).get("name"),
            "congestion.name": transport.get("congestion", {}).get("name"),
        }
        for key, name in found.items():
            if name is not None:
                raise UsageError(
                    f"{source.name}: flow.{index}.{key}: found the strategy {name!r}, expected built-in ones: a sweep keeps each "
                    "point under all that its result depends on, and cannot tell what a strategy of yours depends on; call acklab.run "
                    "for each point instead"
                )


def digest(scenario: dict[str, Any], base: Path) -> str:
    """The name of a point: it changes with the scenario in full (seed included), the files that it reads, and the revision of the core."""
    state = hashlib.sha256(json.dumps([scenario, core.revision()], sort_keys=True, separators=(",", ":")).encode())
    for name in sorted(set(_files(scenario))):
        path = base / name
        try:
            state.update(hashlib.sha256(path.read_bytes()).digest())
        except OSError as error:
            raise ScenarioError(f"{path}: cannot read the trace file: {error.strerror}") from error
    return state.hexdigest()[:32]


def _files(value: Any) -> Iterator[str]:
    """Names of the files that a run reads: those of traces."""
    if isinstance(value, dict):
        trace = value.get("trace")
        if isinstance(trace, dict) and isinstance(trace.get("file"), str):
            yield trace["file"]
        for item in value.values():
            yield from _files(item)
    elif isinstance(value, list):
        for item in value:
            yield from _files(item)
