"""What is wrong with a document that pydantic has refused, in the words of all messages: place, what was found, what was expected."""

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
"""Our words for types, by pydantic's names of errors."""


def faults(error: ValidationError, most: int | None = None, place: Callable[[Location], str] | None = None) -> str:
    """The faults of a document, each with its place: all, or the first `most`. `place` writes a place as text."""
    found = error.errors()
    shown = found[:most]
    rest = f"; and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return "; ".join(f"{(place or _place)(item['loc'])}: {_fault(item)}" for item in shown) + rest


def _place(location: Location) -> str:
    return ".".join(map(str, location))


def _fault(item: "ErrorDetails") -> str:
    kind, found = item["type"], item["input"]
    if kind == "missing":
        return "found no such key"
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return "found an unknown key"
    if kind == "value_error":
        return str(item["ctx"]["error"])
    if kind == "union_tag_invalid":
        found, expected = item["ctx"]["tag"], item["ctx"]["expected_tags"]
    else:
        expected = _EXPECTED.get(kind) or item["msg"].removeprefix("Input should be ")
    shown = f"a value of type {type(found).__name__}" if isinstance(found, dict | list) else repr(found)[:60]
    return f"found {shown}, expected {expected}"
