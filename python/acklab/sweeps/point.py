"""One run of a sweep."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acklab import core
from acklab.errors import ScenarioError, UsageError
from acklab.files import printable
from acklab.provenance import Provenance
from acklab.result import Result
from acklab.runner import repeating, run_source
from acklab.scenario import Source, with_seed
from acklab.store import is_whole, read_metadata, read_table, table_files, write_tables_at_once
from acklab.strategy_files import StrategyFile, faults_named


@dataclass(frozen=True)
class Point:
    """One run: a scenario with overrides and a seed, stored under the digest of everything that its result depends on."""

    source: Source
    sets: tuple[str, ...]
    seed: int
    digest: str
    strategies: tuple[StrategyFile, ...] = ()

    @classmethod
    def of(cls, source: Source, sets: Sequence[str], seed: int, strategies: Sequence[StrategyFile] = ()) -> "Point":
        """Checks the scenario of the point and the files that it names, and computes its digest. Raises ScenarioError, UsageError."""
        scenario = source.check(with_seed(sets, seed))
        used = _strategies(scenario, source, {file.name: file for file in strategies})
        return cls(source, tuple(sets), seed, digest(scenario, source.base, used), used)

    @property
    def command(self) -> str:
        """The command that repeats this point."""
        return repeating(self.source, self.sets, self.seed, self._by_name)

    @property
    def _by_name(self) -> dict[str, StrategyFile]:
        return {file.name: file for file in self.strategies}

    def folder(self, store: Path) -> Path:
        """The folder of the tables of this point."""
        return store / "points" / self.digest

    def is_done(self, store: Path) -> bool:
        """Whether this point is finished: its folder appears only after all files are written, and no file was truncated since."""
        return is_whole(self.folder(store))

    def run(self, store: Path, cancel: core.Cancel) -> None:
        """Runs the point and keeps its tables. Raises RunError, Cancelled, StoreError."""
        with faults_named(self.strategies):
            result = run_source(self.source, list(self.sets), self.seed, cancel=cancel, strategies=self._by_name)
        write_tables_at_once(self.folder(store), result.tables, result.provenance)

    def result(self, store: Path) -> Result:
        """Reads the tables of the finished point. Raises StoreError."""
        return kept_result(self.folder(store))


def kept_result(folder: Path) -> Result:
    """Reads the tables of a run. Raises StoreError."""
    files = table_files(folder)
    first = next(iter(files.values()))
    return Result({name: read_table(path) for name, path in files.items()}, Provenance.of(read_metadata(first), first))


def _strategies(scenario: dict[str, Any], source: Source, files: dict[str, StrategyFile]) -> tuple[StrategyFile, ...]:
    """The strategies that a scenario names. Raises UsageError for one that is not in a file."""
    used: dict[str, StrategyFile] = {}
    for index, flow in enumerate(scenario.get("flow") or []):
        transport = flow.get("transport", {})
        # Only what is not built in has a name.
        found = {
            "transport.name": transport.get("name"),
            "ack.name": transport.get("ack", {}).get("name"),
            "congestion.name": transport.get("congestion", {}).get("name"),
        }
        for key, name in found.items():
            if name in files:
                used[name] = files[name]
            elif name is not None:
                known = f" or one of {', '.join(files)}" if files else ""
                raise UsageError(
                    f"{source.name}: flow.{index}.{key}: found the strategy {name!r}, expected a built-in one{known}: a sweep keeps each "
                    "point under all that its result depends on, so a strategy of yours must stand in a file (--strategy FILE:CLASS)"
                )
    return tuple(used.values())


def digest(scenario: dict[str, Any], base: Path, strategies: Sequence[StrategyFile] = ()) -> str:
    """The name of a point. It depends on the full scenario including the seed, the files and strategies that it reads, and the core."""
    state = hashlib.sha256(json.dumps([scenario, core.revision()], sort_keys=True, separators=(",", ":")).encode())
    for name in sorted(set(_files(scenario))):
        state.update(_digest_of_trace(base / name))
    for file in strategies:
        state.update(f"{file.name}:{file.made}:{file.digest}".encode())
    return state.hexdigest()[:32]


def _digest_of_trace(path: Path) -> bytes:
    """The digest of a file that the core has read before."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        raise ScenarioError(f"{printable(path)}: cannot read the trace: {error.strerror}") from error


def _files(value: Any) -> Iterator[str]:
    """Names of the trace files that a run reads."""
    if isinstance(value, dict):
        trace = value.get("trace")
        if isinstance(trace, dict) and isinstance(trace.get("file"), str):
            yield trace["file"]
        for item in value.values():
            yield from _files(item)
    elif isinstance(value, list):
        for item in value:
            yield from _files(item)
