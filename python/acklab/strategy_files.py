"""Strategies from files (`--strategy FILE:CLASS`), so that a command can repeat runs and sweeps with them."""

import hashlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acklab.errors import UsageError
from acklab.scenario import printable

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
        """Reads `mine.py:EveryThird`, or `every-third=mine.py:EveryThird` for another name than that of the class. Raises UsageError."""
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"strategy {text!r}: expected FILE.py:CLASS, or NAME=FILE.py:CLASS")
        file = cls(match["name"] or match["made"], Path(match["file"]), match["made"])
        file.load()
        return file

    @property
    def text(self) -> str:
        """As it is written after `--strategy`."""
        place = f"{printable(self.path)}:{self.made}"
        return place if self.name == self.made else f"{self.name}={place}"

    @property
    def digest(self) -> str:
        """Digest of the octets of the file, without the modules that it imports. Raises UsageError."""
        return hashlib.sha256(self._octets()).hexdigest()

    def load(self) -> Any:
        """The class. The file is executed once, as any module is. Raises UsageError."""
        name = f"acklab_strategy_{self.digest[:16]}"
        module = sys.modules.get(name)
        if module is None:
            spec = importlib.util.spec_from_file_location(name, self.path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            try:
                spec.loader.exec_module(module)
            except Exception as error:
                del sys.modules[name]
                place = traceback.extract_tb(error.__traceback__)[-1]
                line = error.lineno if isinstance(error, SyntaxError) else place.lineno
                raise UsageError(f"{printable(self.path)}: line {line}: {type(error).__name__}: {error}") from error
        if not callable(made := getattr(module, self.made, None)):
            classes = [key for key, value in vars(module).items() if isinstance(value, type) and value.__module__ == name]
            raise UsageError(f"{printable(self.path)}: found no class {self.made!r}, it has {', '.join(classes) or 'none'}")
        return made

    def _octets(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise UsageError(f"{printable(self.path)}: cannot read the strategy: {error.strerror}") from error

    def __call__(self, start: Any) -> Any:
        """Creates an instance of the strategy."""
        return self.load()(start)


def strategy_files(given: Sequence["str | StrategyFile"]) -> dict[str, StrategyFile]:
    """Strategies by their names in scenarios. Raises UsageError for a duplicate name."""
    if isinstance(given, str):
        given = [given]
    files: dict[str, StrategyFile] = {}
    for text in given:
        file = StrategyFile.parse(text) if isinstance(text, str) else text
        if file.name in files:
            raise UsageError(
                f"strategy {file.text!r}: found the name {file.name!r} twice, expected NAME=FILE.py:CLASS with another name"
            )
        files[file.name] = file
    return files
