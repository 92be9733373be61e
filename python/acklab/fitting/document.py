"""A fit as TOML."""

from collections.abc import Mapping, Sequence
from typing import Any


def toml_of(scenario: Mapping[str, Any], table: Mapping[str, Any], notes: Sequence[str]) -> str:
    """Returns the scenario as TOML, with notes in a comment and the table `fit` at its end."""
    lines = [f"# {note}" for note in notes]
    lines += [f"{key} = {_value(value)}" for key, value in scenario.items() if not isinstance(value, list)]
    for name in ("link", "flow"):
        for entry in scenario[name]:
            lines += ["", f"[[{name}]]", *_pairs(entry)]
    parts = {name: entries for name, entries in table.items() if isinstance(entries, list)}
    lines += ["", "[fit]", *_pairs({key: value for key, value in table.items() if key not in parts})]
    for name, entries in parts.items():
        for entry in entries:
            lines += ["", f"[[fit.{name}]]", *_pairs(entry)]
    return "\n".join(lines) + "\n"


def _pairs(entry: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in entry.items()]


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }" if value else "{}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    text = "".join(letter if letter.isprintable() else " " for letter in str(value))
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
