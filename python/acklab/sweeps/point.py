"""One run of a sweep."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from acklab import _core, core
from acklab.errors import ScenarioError, UsageError
from acklab.files import printable
from acklab.runner import repeating
from acklab.scenario import Source, with_seed
from acklab.strategy_files import StrategyFile


@dataclass(frozen=True)
class Point:
    """One run: a scenario with overrides and a seed.

    The point is stored under a digest of all inputs that affect its result.
    """

    source: Source
    sets: tuple[str, ...]
    seed: int
    digest: str
    strategies: tuple[StrategyFile, ...] = ()
    traces: tuple[str, ...] = ()
    """Trace files of the scenario, relative to the folder of the source."""
    kernel: str = ""
    """The guest kernel of an emulation in virtual time; empty for a simulation."""

    @classmethod
    def of(cls, source: Source, sets: Sequence[str], seed: int, strategies: Sequence[StrategyFile] = ()) -> "Point":
        """Checks the scenario of the point and its files, and computes its digest.

        Raises ScenarioError, UsageError.
        """
        (identity,) = identities(source, (), [with_seed(sets, seed)], strategies)
        return identity.point(source, sets, seed)

    @property
    def command(self) -> str:
        """Returns the command that repeats this point."""
        if self.kernel:
            return self.source.command(self.sets, self.seed, f"emulate --clock virtual --kernel {self.kernel}")
        return repeating(self.source, self.sets, self.seed, self.by_name)

    @property
    def by_name(self) -> dict[str, StrategyFile]:
        """Returns the strategies by their names in the scenario."""
        return {file.name: file for file in self.strategies}


@dataclass(frozen=True)
class Identity:
    """Everything that the result of a run depends on, except its seed."""

    digest: str
    strategies: tuple[StrategyFile, ...]
    traces: tuple[str, ...]
    kernel: str = ""

    def point(self, source: Source, sets: Sequence[str], seed: int) -> Point:
        """Returns the point with this seed."""
        digest = hashlib.sha256(f"{self.digest}/{seed}".encode()).hexdigest()[:32]
        return Point(source, tuple(sets), seed, digest, self.strategies, self.traces, self.kernel)


def identities(
    source: Source,
    common: Sequence[str],
    points: Sequence[Sequence[str]],
    strategies: Sequence[StrategyFile] = (),
    threads: int = 1,
    kernel: str = "",
) -> list[Identity]:
    """Checks scenarios with the overrides `common` and the overrides of each point.

    An identity depends on the complete scenario, its trace files and strategies, the core, and the
    guest kernel of an emulation. Raises ScenarioError, UsageError.
    """
    files = {file.name: file for file in strategies}
    octets = {file.name: f"{file.name}:{file.made}:{file.digest}".encode() for file in strategies}
    traces: dict[str, bytes] = {}
    found = []
    for scenario, read, named in _core.check_many(source.text, source.name, common, points, source.base, threads):
        state = hashlib.sha256(f"{core.revision()}\n{scenario}".encode())
        for name in read:
            if name not in traces:
                traces[name] = _digest_of_trace(source.base / name)
            state.update(traces[name])
        used = _strategies(named, source, files)
        for file in used:
            state.update(octets[file.name])
        state.update(kernel.encode())
        found.append(Identity(state.hexdigest(), used, tuple(read), kernel))
    return found


def _strategies(named: Sequence[tuple[str, str]], source: Source, files: Mapping[str, StrategyFile]) -> tuple[StrategyFile, ...]:
    """Returns the files of the strategies that a scenario names, each by its key and its name.

    Raises UsageError for a strategy that is not in a file.
    """
    used: dict[str, StrategyFile] = {}
    for key, name in named:
        if name not in files:
            known = f" or one of {', '.join(files)}" if files else ""
            raise UsageError(
                f"{source.name}: {key}: found the strategy {name!r}, expected a built-in one{known}: a sweep stores each "
                "point by everything that its result depends on, so your own strategies must be in files (--strategy FILE:CLASS)"
            )
        used[name] = files[name]
    return tuple(used.values())


def _digest_of_trace(path: Path) -> bytes:
    """Returns the digest of a file that the core has read before."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        raise ScenarioError(f"{printable(path)}: cannot read the trace: {error.strerror}") from error
