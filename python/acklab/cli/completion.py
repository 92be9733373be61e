"""Shell completion: keys of a scenario, their values, and names of studies.

Completion never fails, since a shell shows no errors while it completes.
"""

import contextlib
import io
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from acklab.errors import AcklabError


def keys(incomplete: str) -> list[str]:
    """Returns completions of `--set`: keys of the scenario, and optional keys that it omits.

    The scenario is the one on the command line.

    A key ends at the next dot, or at a `=` if it holds a value. After a `=`, returns named values
    or examples.
    """
    with contextlib.suppress(AcklabError):
        scenario = _loaded()
        if "=" in incomplete:
            path, value = incomplete.split("=", 1)
            return [f"{path}={one}" for one in _values(scenario, path) if one.startswith(value)]
        return list(dict.fromkeys([*_present(scenario, incomplete), *_possible(scenario, incomplete)]))
    return []


def lists(incomplete: str) -> list[str]:
    """Returns completions of `--grid`: as for `--set`, with a further value after each comma."""
    path, is_value, values = incomplete.partition("=")
    before, comma, last = values.rpartition(",")
    if not is_value or not comma:
        return keys(incomplete)
    given = before.split(",")
    found = [one.partition("=")[2] for one in keys(f"{path}={last}")]
    return [f"{path}={before},{one}" for one in found if one not in given]


def paths(incomplete: str) -> list[str]:
    """Returns the keys of any scenario that begin with the text, up to the next dot."""
    from acklab.keys import keys as known

    with contextlib.suppress(AcklabError):
        depth = incomplete.count(".")
        return list(
            dict.fromkeys(".".join(key.path.split(".")[: depth + 1]) for key in known() if key.path.startswith(incomplete))
        )
    return []


def studies(incomplete: str) -> list[str]:
    """Returns the names of studies that begin with the text."""
    from acklab.studies.folders import names

    return [name for name in names() if name.startswith(incomplete)]


def _words() -> list[str]:
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    with contextlib.suppress(ValueError):
        return shlex.split(line)
    return []


def complete(answer: Callable[[], int]) -> int:
    """Calls `answer` to print the completions of the command line.

    bash splits a key, a `=` and a value into three words, and replaces the last word. `answer`
    receives the three as one word. Only the values in its output are printed.
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
    """Returns the scenario whose file is a word of the command line.

    Typer cannot parse the arguments, because the option to complete has no value yet.
    """
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
    """Yields keys that the table before the last dot may have and the scenario omits."""
    from acklab.keys import keys as known

    table, _, begun = incomplete.rpartition(".")
    holders, tags = _holders(scenario, table)
    for name in tags:
        if name.startswith(begun):
            yield f"{table}.{name}="
    for key in known():
        holder, _, name = key.path.rpartition(".")
        if table and holder in holders and name.startswith(begun):
            if not key.is_table or (key.values and key.by_name):
                yield f"{table}.{name}="
            if key.is_table:
                yield f"{table}.{name}."


def _holders(scenario: dict[str, Any], table: str) -> tuple[set[str], dict[str, list[str]]]:
    """Returns the paths of a table in the reference, and the names of its variants by tag key.

    A path omits the index or name of a table in a list. It contains the name of the variant that
    the scenario selects; without a selection, there is a path per variant. A list itself has no
    path, because only its tables have keys.
    """
    from acklab.keys import keys as known

    found = {key.path: key for key in known()}
    value: Any = scenario
    places, tags, is_list = {""}, dict[str, list[str]](), False
    for part in filter(None, table.split(".")):
        if is_list:
            value = next((item for at, item in enumerate(value) if part in (str(at), item.get("name"))), None)
            is_list = False
            if value is None:
                return set(), {}
            continue
        value = value.get(part) if isinstance(value, dict) else None
        own = {path for place in places if (path := f"{place}.{part}".lstrip(".")) in found}
        is_list = isinstance(value, list) and bool(value) and isinstance(value[0], dict)
        places, tags = set(own), {}
        for key in (found[path] for path in own if found[path].tag):
            names = tags.setdefault(key.tag, [])
            names += [one.name for one in key.values if one.name not in names]
            chosen = value.get(key.tag) if isinstance(value, dict) else value
            places |= {f"{key.path}.{name}" for name in ([chosen] if chosen in names else names)}
    return (set(), {}) if is_list else (places, tags)


def _values(scenario: dict[str, Any], path: str) -> list[str]:
    from acklab.keys import keys as known

    table, _, name = path.rpartition(".")
    holders, tags = _holders(scenario, table)
    if name in tags:
        return tags[name]
    found: dict[str, None] = {}
    for key in known():
        holder, _, last = key.path.rpartition(".")
        if holder in holders and last == name:
            names = [one.name for one in key.values] if key.by_name else []
            found |= dict.fromkeys(
                names or ([] if key.tag else ["true", "false"] if "true or false" in key.takes else key.examples)
            )
    return list(found)


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
