"""Strategies from files (`--strategy FILE:CLASS`), so that commands can repeat runs."""

import contextlib
import hashlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acklab.errors import AcklabError, RunError, UsageError, words_of
from acklab.files import printable, read_octets

_FORM = re.compile(r"(?:(?P<name>[^=:/]+)=)?(?P<file>.+\.py):(?P<made>\w+)")


@dataclass(frozen=True)
class StrategyFile:
    """A class in a Python file, and its name in scenarios. Calling it creates an instance."""

    name: str
    path: Path
    made: str
    """The name of the class."""

    @classmethod
    def parse(cls, text: str) -> "StrategyFile":
        """Reads `mine.py:EveryThird`, or with another name `every-third=mine.py:EveryThird`.

        Raises UsageError.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"strategy {text!r}: expected FILE.py:CLASS, or NAME=FILE.py:CLASS")
        file = cls(match["name"] or match["made"], Path(match["file"]), match["made"])
        file.load()
        return file

    @property
    def text(self) -> str:
        """Returns the form of `--strategy`."""
        place = f"{printable(self.path)}:{self.made}"
        return place if self.name == self.made else f"{self.name}={place}"

    @property
    def digest(self) -> str:
        """Returns a digest of the bytes of the file, without the modules that it imports.

        Raises UsageError.
        """
        return hashlib.sha256(self._octets()).hexdigest()

    def load(self) -> Any:
        """Returns the class.

        The file is executed once, like any module. It is executed again after the file changes.

        Raises UsageError.
        """
        # A copy in another folder is a separate module, because it may read files of its folder,
        # and because its errors show its path.
        place_and_content = os.fsencode(self._absolute) + b"\0" + self._octets()
        name = f"acklab_strategy_{hashlib.sha256(place_and_content).hexdigest()[:16]}"
        module = sys.modules.get(name)
        if module is None:
            spec = importlib.util.spec_from_file_location(name, self.path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            try:
                spec.loader.exec_module(module)
            except BaseException as error:
                del sys.modules[name]
                if isinstance(error, KeyboardInterrupt):
                    raise
                raise UsageError(self.fault(error)) from error
        if not callable(made := getattr(module, self.made, None)):
            classes = [key for key, value in vars(module).items() if isinstance(value, type) and value.__module__ == name]
            raise UsageError(
                f"{printable(self.path)}: found no class {self.made!r}, expected one of: {', '.join(classes) or 'none'}"
            )
        return made

    def fault(self, error: BaseException) -> str:
        """Returns an error of the code in the file, with its line."""
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self._absolute]
        if isinstance(error, SyntaxError):
            lines.append(error.lineno)
        place = f": line {lines[-1]}" if lines and lines[-1] else ""
        words = error.msg if isinstance(error, SyntaxError) else words_of(error)
        return f"{printable(self.path)}{place}: {type(error).__name__}: {words}"

    @property
    def _absolute(self) -> str:
        """Returns the path as in tracebacks."""
        return str(self.path.absolute())

    def _octets(self) -> bytes:
        return read_octets(self.path, "strategy", "a class in Python", UsageError)

    def __call__(self, start: Any) -> Any:
        """Creates an instance of the strategy."""
        return self.load()(start)


def strategy_files(given: Sequence["str | StrategyFile"]) -> dict[str, StrategyFile]:
    """Returns strategies by their names in scenarios. Raises UsageError for a duplicate name."""
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Iterable):
        raise UsageError(f'strategies: found {given!r}, expected a list such as ["mine.py:EveryThird"]')
    files: dict[str, StrategyFile] = {}
    for text in given:
        if not isinstance(text, str | StrategyFile):
            raise UsageError(f'strategies: found {text!r}, expected a file and a class such as "mine.py:EveryThird"')
        file = StrategyFile.parse(text) if isinstance(text, str) else text
        if file.name in files:
            raise UsageError(
                f"strategy {file.text!r}: found the name {file.name!r} twice, expected NAME=FILE.py:CLASS with another name"
            )
        files[file.name] = file
    return files


@contextlib.contextmanager
def faults_named(files: Iterable[object]) -> Iterator[None]:
    """Converts errors of strategies in these files to a RunError with file and line."""
    try:
        yield
    except (AcklabError, KeyboardInterrupt):
        raise
    # Includes SystemExit, which would end the process without a message.
    except BaseException as error:
        own = [file for file in files if isinstance(file, StrategyFile)]
        at = {frame.filename for frame in traceback.extract_tb(error.__traceback__)}
        for file in [*(file for file in own if file._absolute in at), *own]:
            raise RunError(file.fault(error)) from error
        raise


def refuse_unused(given: Iterable[str], scenario: object, sets: Iterable[str] = ()) -> None:
    """Raises UsageError for an unused strategy.

    A strategy is used by the complete scenario, or by a value `sets` of the grid of a sweep.
    """
    named = custom_names(scenario)
    for name in given:
        word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        if name not in named and not any(word.search(change) for change in sets):
            others = f", which names {', '.join(sorted(named))}" if named else ""
            raise UsageError(
                f"strategy {name!r}: no flow of the scenario names it{others}; expected it in a flow, such as "
                f'--set \'flow.0.ack={{policy = "custom", name = "{name}"}}\' or --set \'flow.0.congestion={{custom = "{name}"}}\''
            )


def custom_names(value: object) -> set[str]:
    """Returns the names of the user's own strategies in a complete scenario.

    These names are in tables with the key "custom".
    """
    if isinstance(value, list):
        return set().union(*map(custom_names, value))
    if not isinstance(value, dict):
        return set()
    own = {value["name"]} if "custom" in value.values() and isinstance(value.get("name"), str) else set()
    return own.union(*map(custom_names, value.values()))
