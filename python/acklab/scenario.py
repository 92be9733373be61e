"""A scenario before it is checked: text of a file or a dict, and overrides."""

import json
import math
import operator
import os
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from acklab import _core
from acklab.errors import ScenarioError, UsageError
from acklab.files import is_utf8, path_of, printable, read_text

Overrides = Mapping[str, object] | Sequence[str]
"""Changes on top of a scenario: {"flow.0.congestion": "cubic"}, or the same as
["flow.0.congestion=cubic"].
"""

FROM_DICT = "scenario.json"
"""Name of a scenario from a dict: the file in which it is stored beside its results."""
_MAX_DEPTH = 100
"""Maximum depth of tables in a dict.

The core reads up to 127. The limit refuses a dict that contains itself.
"""


@dataclass(frozen=True)
class Source:
    """The text of a scenario, its name in messages, and the folder of relative trace files."""

    text: str
    name: str
    base: Path

    @classmethod
    def of(cls, scenario: "str | Path | Mapping[str, Any] | Source", base: Path | None = None) -> "Source":
        """Reads a scenario from a TOML or JSON file, or from a dict.

        Raises ScenarioError if the file cannot be read or the dict has invalid values; UsageError
        for other types.
        """
        if isinstance(scenario, Source):
            return scenario
        if isinstance(scenario, Mapping):
            return cls(json.dumps(plain(scenario, ""), ensure_ascii=False), FROM_DICT, base or Path.cwd())
        if not isinstance(scenario, str | os.PathLike):
            raise UsageError(f"found a scenario of type {type(scenario).__name__}, expected the path of a file, or a dict")
        path = of_a_study(path_of(scenario, "scenario"))
        form = "JSON" if path.suffix.lower() == ".json" else "TOML"
        return cls(read_text(path, "scenario", f"a scenario as {form} text", ScenarioError), printable(path), base or path.parent)

    def document(self) -> dict[str, Any]:
        """Returns the text as a dict, before presets and checks. Raises ScenarioError."""
        try:
            found = json.loads(self.text) if self.text.lstrip().startswith("{") else tomllib.loads(self.text)
        except ValueError as error:
            raise ScenarioError(f"{self.name}: {error}") from None
        return found if isinstance(found, dict) else {}

    def load(self, sets: Sequence[str] = ()) -> dict[str, Any]:
        """Returns the complete scenario, with every preset resolved. Raises ScenarioError."""
        return cast(dict[str, Any], json.loads(_core.load(self.text, self.name, overrides(sets))))

    def check(self, sets: Sequence[str] = ()) -> dict[str, Any]:
        """Checks as `load` does, and reads the files that the scenario names.

        Raises ScenarioError for everything that a run would refuse.
        """
        return cast(dict[str, Any], json.loads(_core.check(self.text, self.name, overrides(sets), self.base)))

    def command(self, sets: Sequence[str], seed: int, subcommand: str = "run", strategies: Sequence[str] = ()) -> str:
        """Returns the command that repeats the run.

        `subcommand` is "run", or "emulate" with its options.

        `strategies` have the form of `--strategy`.
        """
        words = ["acklab", *subcommand.split(), self.name]
        for change in sets:
            words += ["--set", change]
        for strategy in strategies:
            words += ["--strategy", strategy]
        return shlex.join([*words, "--seed", str(seed)])


def of_a_study(path: Path) -> Path:
    """Returns the path. If it does not exist, returns the path of the study's file of this name.

    An example is `ack_compression/experiment_55.toml`, in a checkout or in a wheel.
    """
    from acklab.studies.folders import study_folders

    if path.is_absolute() or len(path.parts) < 2 or path.exists():
        return path
    study, *rest = path.parts[path.parts[0] == "studies" :]
    folder = study_folders().get(study)
    found = path if folder is None else folder.joinpath(*rest)
    return found if found.is_file() else path


def overrides(changes: Overrides) -> list[str]:
    """Returns overrides in the form of the core: "key=value".

    Raises UsageError, and ScenarioError for values that no scenario can have.
    """
    if isinstance(changes, Mapping):
        changes = [f"{key}={literal(plain(value, str(key)))}" for key, value in changes.items()]
    return texts_of(changes, "overrides", "flow.0.congestion=cubic")


def texts_of(given: object, what: str, such_as: str) -> list[str]:
    """Returns a list of texts, as for a repeated option.

    Raises UsageError, also for a single text, which would be a list of letters.
    """
    texts = items_of(given)
    if texts is None:
        raise UsageError(f'{what}: found {given!r}, expected a list such as ["{such_as}"]')
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f'{what}: found {text!r} in the list, expected text such as "{such_as}"')
        if not is_utf8(text):
            raise UsageError(f'{what}: found "{printable(text)}", which is not UTF-8, expected text such as "{such_as}"')
    return texts


def items_of(given: object) -> list[Any] | None:
    """Returns the items of a list, range, generator, array or column; None for anything else.

    A set is refused, because its order may change from process to process.
    """
    if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) != 1:
        return None
    return list(given)


def whole_number(value: object) -> int | None:
    """Returns a whole number of Python or NumPy; None for anything else."""
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type] # it is tried
    except TypeError:
        return None


def literal(value: object) -> str:
    """Returns a value as written after `key=`: text unchanged, everything else as TOML."""
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
    """Returns the overrides, followed by an override of the seed if a seed is given."""
    return list(sets) if seed is None else [*sets, f"seed={seed}"]


def plain(value: object, place: str, depth: int = 0) -> object:
    """Returns a value as JSON can write it.

    Raises ScenarioError with the place of an invalid value.
    """
    if depth > _MAX_DEPTH:
        raise ScenarioError(f"{FROM_DICT}: {place[:60]}…: found more than {_MAX_DEPTH} nested tables, expected a scenario")
    if isinstance(value, float) and not math.isfinite(value):
        raise ScenarioError(f"{FROM_DICT}: {place}: found {value}, expected a finite number")
    if isinstance(value, str) and not is_utf8(value):
        raise ScenarioError(f"{FROM_DICT}: {place}: found {value!r}, which is not UTF-8, expected text")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    inside = f"{place}." if place else ""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or not is_utf8(key):
                raise ScenarioError(f"{FROM_DICT}: {place or 'the scenario'}: found the key {key!r}, expected text")
        return {key: plain(item, f"{inside}{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, os.PathLike):
        return plain(os.fspath(value), place)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [plain(item, f"{inside}{index}", depth + 1) for index, item in enumerate(value)]
    if hasattr(value, "tolist"):  # Number or array of NumPy
        return plain(value.tolist(), place, depth)
    raise ScenarioError(
        f"{FROM_DICT}: {place}: found a value of type {type(value).__name__}, expected text, a number, a list or a table"
    )
