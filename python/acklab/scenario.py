"""A scenario before it is checked: text of a file or a dict, and the overrides on top of it."""

import json
import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acklab import core
from acklab.errors import ScenarioError, UsageError

Overrides = Mapping[str, object] | Sequence[str]
"""Changes on top of a scenario: {"flow.0.congestion": "cubic"}, or the same as ["flow.0.congestion=cubic"]."""

FROM_DICT = "scenario.json"
"""What a scenario is called that came as a dict: the file under which it is kept beside its results."""
LARGEST_FILE = 1 << 26
"""Octets of the largest scenario that is read: an endless file is refused rather than read."""


@dataclass(frozen=True)
class Source:
    """The text of a scenario, what to call it in messages, and the folder its trace files are relative to."""

    text: str
    name: str
    base: Path

    @classmethod
    def of(cls, scenario: "str | Path | Mapping[str, Any] | Source", base: Path | None = None) -> "Source":
        """Reads a scenario from a TOML or JSON file, or takes it from a dict.

        Raises ScenarioError if the file cannot be read or the dict holds what a scenario cannot, UsageError for anything else.
        """
        if isinstance(scenario, Source):
            return scenario
        if isinstance(scenario, Mapping):
            return cls(json.dumps(_plain(scenario, ""), ensure_ascii=False), FROM_DICT, base or Path.cwd())
        if not isinstance(scenario, str | os.PathLike):
            raise UsageError(f"found a scenario of type {type(scenario).__name__}, expected the path of a file, or a dict")
        path = Path(scenario)
        name = printable(path)
        try:
            with path.open("rb") as file:
                octets = file.read(LARGEST_FILE + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise ScenarioError(f"{name}: cannot read the scenario: {reason}") from error
        if len(octets) > LARGEST_FILE:
            raise ScenarioError(f"{name}: found more than {LARGEST_FILE >> 20} MiB, expected a scenario as TOML text")
        return cls(utf8(octets, name, "a scenario as TOML text"), name, base or path.parent)

    def load(self, sets: Sequence[str] = ()) -> dict[str, Any]:
        """The scenario in full, with every preset resolved. Raises ScenarioError."""
        return core.load(self.text, self.name, sets)

    def command(self, sets: Sequence[str], seed: int, way: str = "run", strategies: Sequence[str] = ()) -> str:
        """The command that repeats the run, which is a simulation ("run") or an emulation ("emulate").

        `strategies` are written as after `--strategy`.
        """
        words = ["acklab", way, self.name]
        for change in sets:
            words += ["--set", change]
        for strategy in strategies:
            words += ["--strategy", strategy]
        return shlex.join([*words, "--seed", str(seed)])


def overrides(changes: Overrides) -> list[str]:
    """Overrides in the form the core reads: "key=value". Raises UsageError for a single text, which is a list of letters."""
    if isinstance(changes, str):
        raise UsageError(f'overrides: found the text {changes!r}, expected {{"key": value}} or ["key=value"]')
    if isinstance(changes, Mapping):
        return [f"{key}={literal(_plain(value, str(key)))}" for key, value in changes.items()]
    return list(changes)


def literal(value: object) -> str:
    """A value as it is written after `key=`: text as it stands, everything else as TOML writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{key} = {json.dumps(item) if isinstance(item, str) else literal(item)}" for key, item in value.items())
            + "}"
        )
    if isinstance(value, Sequence):
        return "[" + ", ".join(json.dumps(item) if isinstance(item, str) else literal(item) for item in value) + "]"
    return str(value)


def with_seed(sets: Sequence[str], seed: int | None) -> list[str]:
    """Overrides with the seed, if there is one, as the last of them."""
    return list(sets) if seed is None else [*sets, f"seed={seed}"]


def printable(path: str | Path) -> str:
    """The name of a file for messages: octets that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def utf8(octets: bytes, name: str, expected: str) -> str:
    """The text of a file. Raises ScenarioError with the line and the column of the first octet that is not UTF-8."""
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError as error:
        before = octets[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise ScenarioError(
            f"{name}: line {line}, column {column}: found the octet 0x{octets[error.start]:02x}, which is not UTF-8, expected {expected}"
        ) from error


def _plain(value: object, place: str) -> object:
    """A value of a dict as JSON can write it. Raises ScenarioError with the place of what it cannot."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ScenarioError(f"{FROM_DICT}: {place}: found {value}, expected a number")
        return value
    inside = f"{place}." if place else ""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ScenarioError(f"{FROM_DICT}: {place or 'the scenario'}: found the key {key!r}, expected text")
        return {key: _plain(item, f"{inside}{key}") for key, item in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_plain(item, f"{inside}{index}") for index, item in enumerate(value)]
    if hasattr(value, "item"):  # a number of NumPy
        return _plain(value.item(), place)
    raise ScenarioError(
        f"{FROM_DICT}: {place}: found a value of type {type(value).__name__}, expected text, a number, a list or a table"
    )
