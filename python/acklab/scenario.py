"""A scenario before it is checked: text of a file or a dict, and the overrides on top of it."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acklab import core
from acklab.errors import ScenarioError

Overrides = Mapping[str, object] | Sequence[str]
"""Changes on top of a scenario: {"flow.0.congestion": "cubic"}, or the same as ["flow.0.congestion=cubic"]."""


@dataclass(frozen=True)
class Source:
    """The text of a scenario, what to call it in messages, and the folder its trace files are relative to."""

    text: str
    name: str
    base: Path

    @classmethod
    def of(cls, scenario: "str | Path | Mapping[str, Any] | Source", base: Path | None = None) -> "Source":
        """Reads a scenario from a TOML or JSON file, or takes it from a dict.

        Raises ScenarioError if the file cannot be read.
        """
        if isinstance(scenario, Source):
            return scenario
        if isinstance(scenario, Mapping):
            return cls(json.dumps(scenario), "scenario.json", base or Path.cwd())
        path = Path(scenario)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ScenarioError(f"{path}: expected a scenario as TOML text in UTF-8, found octets that are not") from error
        except OSError as error:
            raise ScenarioError(f"{path}: cannot read the scenario: {error.strerror}") from error
        return cls(text, str(path), base or path.parent)

    def load(self, sets: Sequence[str] = ()) -> dict[str, Any]:
        """The scenario in full, with every preset resolved. Raises ScenarioError."""
        return core.load(self.text, self.name, sets)

    def command(self, sets: Sequence[str], seed: int, way: str = "run") -> str:
        """The command that repeats the run, which is a simulation ("run") or an emulation ("emulate")."""
        words = ["acklab", way, self.name]
        for change in sets:
            words += ["--set", change]
        return shlex.join([*words, "--seed", str(seed)])


def overrides(changes: Overrides) -> list[str]:
    """Overrides in the form the core reads: "key=value"."""
    if isinstance(changes, Mapping):
        return [f"{key}={literal(value)}" for key, value in changes.items()]
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
