"""The keys of a scenario, from its schema: their meaning, values and defaults.

A key is written as in `--set`, without the indices and names of tables in a list:
`link.forward.rate`. If a table has variants, the name of the variant follows the key that selects
it: `flow.ack.tack.beta` is the key `beta` of the ACK policy `tack`.
"""

import dataclasses
import difflib
import functools
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from acklab import core
from acklab.errors import UsageError

Schema = dict[str, Any]

QUANTITIES = {
    "Duration": "a duration with its unit",
    "Rate": "a rate with its unit",
    "Bytes": "a size with its unit",
    "Limit": "a number of packets, or a size with its unit",
}


@dataclass(frozen=True)
class Value:
    """A named value of a key, and its meaning."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Key:
    """A key of a scenario."""

    path: str
    """The path, such as `flow.ack.tack.beta`."""
    meaning: str
    """One or more sentences, with the source if there is one."""
    takes: str
    """The type of the key's values, in words."""
    values: tuple[Value, ...]
    """The names that the key accepts, including names of variants of a table."""
    default: str
    """The default as TOML; empty if there is none, or if a preset defines it."""
    required: bool
    """`True` if the key's table requires the key."""
    is_table: bool
    """`True` if the key contains other keys."""
    examples: tuple[str, ...] = ()
    """Example values."""
    tag: str = ""
    """The key within this table that selects the variant of the table by one of `values`, such as
    `policy`.
    """
    by_name: bool = True
    """`True` if the key accepts one of `values` directly, and not only a table with `tag`."""


@functools.cache
def keys() -> tuple[Key, ...]:
    """Returns all keys of a scenario, each after the key that contains it."""
    schema = core.schema()
    return tuple(_walk(schema, ""))


def find(path: str) -> list[Key]:
    """Returns the keys that match `path`: the whole path, or its end (`tack.beta`).

    The path may have indices and names of tables in lists.

    Raises UsageError with similar names if there is none.
    """
    wanted = tuple(part for part in path.split(".") if part)
    # After the first key, an index or the name of a table in a list is skipped.
    spelled = [wanted] if len(wanted) < 3 else [wanted, (wanted[0], *wanted[2:])]
    for matches in (_is_path, _is_end, _is_outline):
        if found := [key for key in keys() if any(matches(tuple(key.path.split(".")), parts) for parts in spelled if parts)]:
            return found
    raise UsageError(f"found no key `{path}` of a scenario{_hint(wanted)}; `acklab explain` lists the top-level keys")


def _hint(wanted: Sequence[str]) -> str:
    near = difflib.get_close_matches(".".join(wanted), [key.path for key in keys()], n=3)
    return f"; perhaps {' or '.join(f'`{name}`' for name in near)}" if near else ""


def _is_path(path: Sequence[str], wanted: Sequence[str]) -> bool:
    return path == wanted


def _is_end(path: Sequence[str], wanted: Sequence[str]) -> bool:
    return path[-len(wanted) :] == wanted


def _is_outline(path: Sequence[str], wanted: Sequence[str]) -> bool:
    """Returns whether `path` has all parts of `wanted` in this order.

    Names of variants may be omitted.
    """
    rest = iter(path)
    return (path[0], path[-1]) == (wanted[0], wanted[-1]) and all(part in rest for part in wanted)


def below(path: str) -> list[Key]:
    """Returns the keys of the table `path`.

    The keys of a variant follow the name of the variant.
    """
    depth = path.count(".") + 1 if path else 0
    inside = [key for key in keys() if not path or key.path.startswith(path + ".")]
    variants = {value.name for key in keys() if key.path == path for value in key.values}
    own = [key for key in inside if key.path.count(".") == depth]
    return own or [key for key in inside if key.path.count(".") == depth + 1 and key.path.split(".")[depth] in variants]


def _walk(node: Schema, path: str) -> Iterator[Key]:
    required = set(node.get("required", ()))
    for name, schema in node.get("properties", {}).items():
        yield from _key(schema, f"{path}.{name}" if path else name, name in required)


def _key(schema: Schema, path: str, required: bool) -> Iterator[Key]:
    inner = schema["items"] if schema.get("type") == "array" and isinstance(schema.get("items"), dict) else schema
    variants = list(_variants(inner))
    is_table = bool(inner.get("properties")) or any(len(node["properties"]) > 1 for _, node in variants)
    default = schema.get("default")
    yield Key(
        path=path,
        meaning=schema.get("description") or inner.get("description", ""),
        takes=_takes(schema),
        values=tuple(_values(inner)),
        default="" if default is None else _toml(default),
        required=required,
        is_table=is_table,
        examples=tuple(example.strip('"') for example in _examples(schema, list(_alternatives(schema)))),
        tag=variants[0][0] if variants else "",
        by_name=not variants or _takes_text(inner),
    )
    yield from _walk(inner, path)
    for tag, node in variants:
        name = node["properties"][tag]["const"]
        others = {key: value for key, value in node["properties"].items() if key != tag}
        yield from _walk({**node, "properties": others}, f"{path}.{name}")


def _alternatives(schema: Schema) -> Iterator[Schema]:
    for kind in ("oneOf", "anyOf"):
        for alternative in schema.get(kind, ()):
            yield alternative
            yield from _alternatives(alternative)


def _variants(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yields the variants of a table, each with the key whose value selects it."""
    for alternative in _alternatives(schema):
        for name, value in alternative.get("properties", {}).items():
            if "const" in value:
                yield name, alternative
                break


def _values(schema: Schema) -> Iterator[Value]:
    seen = set()
    for node in (schema, *_alternatives(schema)):
        meanings = node.get("x-taplo", {}).get("docs", {}).get("enumValues", [])
        names = [str(name) for name in node.get("enum", ())]
        if isinstance(node.get("const"), str):
            names, meanings = [node["const"]], [node.get("description", "")]
        for at, name in enumerate(names):
            if name not in seen:
                seen.add(name)
                yield Value(name, (meanings[at] if at < len(meanings) else "") or "")
    for tag, node in _variants(schema):
        name = node["properties"][tag]["const"]
        if name not in seen:
            seen.add(name)
            yield Value(name, node.get("description", ""))


def _takes_text(schema: Schema) -> bool:
    """Returns whether a name is accepted in place of a table."""
    return any("properties" not in node and ("enum" in node or node.get("type") == "string") for node in _alternatives(schema))


def _takes(schema: Schema) -> str:
    if schema.get("type") == "array":
        items = schema.get("items", {})
        return "a list of tables" if items.get("properties") or list(_variants(items)) else f"a list: {_takes(items)} each"
    alternatives = [node for node in _alternatives(schema) if node.get("type") != "null"]
    examples = _examples(schema, alternatives)
    such_as = f", such as {' or '.join(examples)}" if examples else ""
    if quantity := schema.get("x-acklab-quantity") or next(
        (node["x-acklab-quantity"] for node in alternatives if "x-acklab-quantity" in node), ""
    ):
        return QUANTITIES.get(quantity, quantity.lower()) + such_as
    if schema.get("properties"):
        return "a table"
    if list(_values(schema)):
        names, is_table = "one of the names below", any(node.get("properties") for node in alternatives)
        tag = "" if _takes_text(schema) else next((tag for tag, _ in _variants(schema)), "")
        named = f"a table whose key `{tag}` is {names}" if tag else f"{names}, or a table"
        return named if is_table else names
    kinds = schema.get("type", [node.get("type") for node in alternatives])
    kinds = [kinds] if isinstance(kinds, str) else [kind for kind in kinds or () if kind and kind != "null"]
    words_of = {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "string": "text",
        "object": "a table",
        "array": "a list",
    }
    words = " or ".join(dict.fromkeys(words_of.get(str(kind), str(kind)) for kind in kinds)) or "a value"
    return words + _bounds(schema) + such_as


def _bounds(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low and high is not None:
        return f" from {low} to {high}"
    if low:
        return f", at least {low}"
    return f" up to {high}" if high is not None else ""


def _examples(schema: Schema, alternatives: Sequence[Schema]) -> list[str]:
    found = [*schema.get("examples", ()), *(example for node in alternatives for example in node.get("examples", ()))]
    return list(dict.fromkeys(_toml(example) for example in found if not isinstance(example, dict | list)))[:3]


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value)


def pages() -> dict[str, str]:
    """Returns the reference of all keys as Markdown: a page per table and per transport."""
    transports = [f"flow.transport.{value.name}" for value in find("flow.transport")[0].values]
    shared = {path.removeprefix(f"{transport}.") for transport in transports for path in (key.path for key in below(transport))}
    found: dict[str, list[str]] = {name: [] for name in (*(key.path for key in below("")), *transports)}
    for key in keys():
        parts = key.path.split(".")
        transport = ".".join(parts[:3])
        if transport in found and len(parts) > 3:
            found[transport].append(_entry(key, key.path.removeprefix("flow.transport.")))
        elif parts[0] == "flow" and len(parts) > 1 and (parts[1] in shared or transport in found):
            continue  # The same keys, written in the flow in addition to the name of the transport
        elif parts[:3] == ["pep", "side", "transport"] and len(parts) > 3:
            continue  # Keys of a flow's transport
        else:
            found[parts[0]].append(_entry(key, key.path))
    return {name: _page(name, entries) for name, entries in found.items()}


def _page(name: str, entries: Sequence[str]) -> str:
    if not name.startswith("flow.transport."):
        return "".join(entries)
    protocol = name.rsplit(".", 1)[1]
    words = f"Keys of a `[[flow]]` whose `transport` is `{protocol}`, beside the keys of [every flow](flow.md)."
    return f'# `flow` with `transport = "{protocol}"`\n\n{words}\n\n{"".join(entries)}'


def _entry(key: Key, name: str) -> str:
    """Returns a key with its heading, whose anchor is its path."""
    level = "#" if "." not in key.path else "##"
    facts = [key.takes[:1].upper() + key.takes[1:] + "."]
    facts += ["Required."] if key.required else []
    facts += [f"Default: `{key.default}`."] if key.default else []
    lines = [f"{level} `{name}` {{: #{key.path} }}", key.meaning, " ".join(facts)]
    if key.values:
        rows = [f"| `{value.name}` | {_cell(value.meaning)} |" for value in key.values]
        lines.append("\n".join(["| value | meaning |", "|---|---|", *rows]))
    return "\n\n".join(line for line in lines if line) + "\n\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def explain(path: str) -> str:
    """Returns the explanation of a key for a terminal.

    Covers all keys that match `path`; equal explanations appear once.

    Raises UsageError if there is no such key.
    """
    if not path:
        return "\n".join(_line(key.path, key.meaning) for key in below(""))
    same: dict[Key, list[str]] = {}
    for key in find(path):
        same.setdefault(dataclasses.replace(key, path=""), []).append(key.path)
    return "\n\n".join(_explained(key, paths) for key, paths in same.items())


def _explained(key: Key, paths: Sequence[str]) -> str:
    shortest = min(paths, key=len)
    lines = [shortest, *_wrapped(key.meaning, "  "), *_wrapped(f"Takes {key.takes}.", "  ")]
    lines += ["  Required."] if key.required else []
    lines += [f"  Default: {key.default}"] if key.default else []
    lines += [_line(value.name, value.meaning) for value in key.values]
    inner = [inside for inside in below(shortest) if inside.path.count(".") == shortest.count(".") + 1]
    lines += ["  Keys:"] if inner else []
    lines += [_line(inside.path.rsplit(".", 1)[1], inside.meaning) for inside in inner]
    others = sorted(set(paths) - {shortest})
    return "\n".join([*lines, *(_wrapped(f"Same as: {', '.join(others)}", "  ") if others else [])])


def _line(name: str, meaning: str) -> str:
    first = meaning.split(". ", maxsplit=1)[0].rstrip(".")
    return "\n".join([f"    {name}", *_wrapped(first, "        ")]) if first else f"    {name}"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, 80, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
