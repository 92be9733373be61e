"""What a shell may complete: keys of a scenario, names of studies. Never fails: there is nobody to tell."""

import contextlib
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acklab.errors import AcklabError


def keys(incomplete: str) -> list[str]:
    """The keys of the scenario on the command line that begin as typed, up to the next dot, with a `=` behind those that hold a value."""
    file = _scenario()
    if file is None or "=" in incomplete:
        return []
    from acklab.scenario import Source

    found: dict[str, None] = {}
    with contextlib.suppress(AcklabError):
        for key in _leaves(Source.of(file).load(), ""):
            if key.startswith(incomplete):
                rest = key[len(incomplete) :]
                found[incomplete + rest.split(".")[0] + ("." if "." in rest else "=")] = None
    return list(found)


def _scenario() -> Path | None:
    """The scenario among the words of the command line: an option without its value keeps Typer from reading the arguments."""
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    with contextlib.suppress(ValueError):
        paths = (Path(word).expanduser() for word in shlex.split(line))
        return next((path for path in paths if path.suffix in (".toml", ".json") and path.is_file()), None)
    return None


def studies(incomplete: str) -> list[str]:
    """Names of studies."""
    from acklab.studies.folders import names

    with contextlib.suppress(AcklabError):
        return [name for name in names() if name.startswith(incomplete)]
    return []


def _leaves(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{place}.{key}" if place else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for index, item in enumerate(value):
            for name in dict.fromkeys((str(item.get("name", index)), str(index))):
                yield from _leaves(item, f"{place}.{name}")
    else:
        yield place
