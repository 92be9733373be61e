"""What a shell may complete: keys of a scenario and their values, names of studies. Never fails: there is nobody to tell."""

import contextlib
import io
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from acklab.errors import AcklabError


def keys(incomplete: str) -> list[str]:
    """What may follow on `--set`: the keys of the scenario on the command line, and those that it leaves at their defaults.

    They end at the next dot, or at a `=` if they hold a value. Behind a `=` follow the values that have a name, or examples.
    """
    with contextlib.suppress(AcklabError):
        scenario = _loaded()
        if "=" in incomplete:
            path, value = incomplete.split("=", 1)
            return [f"{path}={one}" for one in _values(scenario, path) if one.startswith(value)]
        return list(dict.fromkeys([*_present(scenario, incomplete), *_possible(scenario, incomplete)]))
    return []


def paths(incomplete: str) -> list[str]:
    """The keys of any scenario that begin as typed, up to the next dot."""
    from acklab.keys import keys as known

    with contextlib.suppress(AcklabError):
        depth = incomplete.count(".")
        return list(
            dict.fromkeys(".".join(key.path.split(".")[: depth + 1]) for key in known() if key.path.startswith(incomplete))
        )
    return []


def studies(incomplete: str) -> list[str]:
    """Names of studies."""
    from acklab.studies.folders import names

    with contextlib.suppress(AcklabError):
        return [name for name in names() if name.startswith(incomplete)]
    return []


def _words() -> list[str]:
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    with contextlib.suppress(ValueError):
        return shlex.split(line)
    return []


def complete(answer: Callable[[], int]) -> int:
    """Lets `answer` print what may follow on the command line.

    bash takes a key, a `=` and a value for three words, and replaces the last: they are one for `answer`, and of what it prints the values
    are passed on.
    """
    words, place = _words(), int(os.environ.get("COMP_CWORD") or "0")
    words += [""] * (place + 1 - len(words))
    if "=" not in words[max(place - 1, 1) : place + 1]:
        return answer()
    joined: list[str] = []
    for at, word in enumerate(words[: place + 1]):
        if joined and (word == "=" or words[at - 1] == "="):
            joined[-1] += word
        else:
            joined.append(word)
    os.environ.update(COMP_WORDS=" ".join(joined), COMP_CWORD=str(len(joined) - 1))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = answer()
    for line in printed.getvalue().splitlines():
        print(line.split("=", 1)[-1])
    return status


def _loaded() -> dict[str, Any]:
    """The scenario among the words of the command line: an option without its value keeps Typer from reading the arguments."""
    from acklab.scenario import Source

    files = (Path(word).expanduser() for word in _words())
    file = next((path for path in files if path.suffix in (".toml", ".json") and path.is_file()), None)
    return {} if file is None else Source.of(file).load()


def _present(scenario: dict[str, Any], incomplete: str) -> Iterator[str]:
    for key in _leaves(scenario, ""):
        if key.startswith(incomplete):
            rest = key[len(incomplete) :]
            yield incomplete + rest.split(".")[0] + ("." if "." in rest else "=")


def _possible(scenario: dict[str, Any], incomplete: str) -> Iterator[str]:
    """Keys that the table before the last dot may have and the scenario does not."""
    from acklab.keys import keys as known

    table, _, begun = incomplete.rpartition(".")
    place = _place(scenario, table.split("."))
    if not table or place is None:
        return
    for key in known():
        holder, _, name = key.path.rpartition(".")
        if holder == place and name.startswith(begun):
            yield f"{table}.{name}" + ("." if key.is_table and not key.values else "=")


def _place(scenario: dict[str, Any], typed: Sequence[str]) -> str | None:
    """The path of a table in the reference: without the numbers and names of tables in lists, and with the names of variants."""
    from acklab.keys import keys as known

    variants = {key.path: {value.name for value in key.values} for key in known()}
    path: list[str] = []
    value: Any = scenario
    for part in typed:
        if isinstance(value, list):
            value = next((item for at, item in enumerate(value) if part in (str(at), item.get("name"))), None)
            if value is None:
                return None
        else:
            path.append(part)
            value = value.get(part) if isinstance(value, dict) else None
        chosen = variants.get(".".join(path), set())
        # Of a table with variants, the one that the scenario has chosen.
        path += [
            str(tag) for tag in (value.values() if isinstance(value, dict) else ()) if isinstance(tag, str) and tag in chosen
        ][:1]
    return ".".join(path)


def _values(scenario: dict[str, Any], path: str) -> list[str]:
    from acklab.keys import keys as known

    table, _, name = path.rpartition(".")
    place = _place(scenario, table.split(".")) if table else ""
    wanted = f"{place}.{name}" if place else name
    variant, _, tag = wanted.rpartition(".")
    for key in known():
        if key.path == wanted:
            return [value.name for value in key.values] or (
                ["true", "false"] if "true or false" in key.takes else list(key.examples)
            )
        # The key that chooses the variant itself, such as `policy`.
        if key.tag == tag and f"{key.path}." in f"{variant}." and variant.rpartition(".")[0] == key.path:
            return [value.name for value in key.values]
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
