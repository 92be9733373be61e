"""Describes why pydantic refused a document.

The text has the form of all messages: place, found, expected.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import ValidationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Location = tuple[int | str, ...]

_EXPECTED = {
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dataclass_type": "a table",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}
"""Names of types, by pydantic's names of errors."""


def faults(error: ValidationError, limit: int | None = None, place: Callable[[Location], str] | None = None) -> str:
    """Returns the faults of a document with their places: all, or the first `limit`.

    `place` converts a location to text.
    """
    found = error.errors()
    shown = found[:limit]
    rest = f"; and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return "; ".join(_fault(item, place or _place) for item in shown) + rest


def _place(location: Location) -> str:
    return ".".join(map(str, location))


def _fault(item: "ErrorDetails", place: Callable[[Location], str]) -> str:
    if item["type"] == "missing":
        *table, key = item["loc"]
        return f"{place(tuple(table))}: required key `{key}` is missing" if table else f"required key `{key}` is missing"
    return f"{place(item['loc'])}: {_problem(item)}"


def _problem(item: "ErrorDetails") -> str:
    kind, found = item["type"], item["input"]
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return "found no such key"
    if kind == "value_error":
        return str(item["ctx"]["error"])
    if kind == "union_tag_invalid":
        found, expected = item["ctx"]["tag"], item["ctx"]["expected_tags"]
    else:
        expected = _EXPECTED.get(kind) or item["msg"].removeprefix("Input should be ")
    shown = f"a value of type {type(found).__name__}" if isinstance(found, dict | list) else repr(found)[:60]
    return f"found {shown}, expected {expected}"
