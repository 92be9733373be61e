"""Named variants of a scenario that differ in several keys, such as paths or ACK policies."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from acklab.errors import UsageError
from acklab.files import path_of, printable, read_text
from acklab.scenario import of_a_study, overrides, texts_of
from acklab.store import SCENARIO_FILE, STUDY_FILE, SWEEP_FILE

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_FORM = re.compile(r"(?P<file>.+?\.(?:toml|json))(?::(?P<names>.+))?")


def _sets(value: object) -> tuple[str, ...]:
    try:
        return tuple(overrides(value))  # type: ignore[arg-type] # it is checked there
    except UsageError as error:
        raise ValueError(str(error).removeprefix("overrides: ")) from error


def _fault(item: "ErrorDetails") -> str:
    """Returns the fault of a value in the form of other messages."""
    if item["type"] == "extra_forbidden":
        return f"found no such key, expected one of {', '.join(Variant.model_fields)}"
    if item["type"] == "value_error":
        return str(item["ctx"]["error"])
    return f"found {item['input']!r}, expected text"


class Variant(BaseModel):
    """One variant: its overrides, title, source and note."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    set: Annotated[tuple[str, ...], BeforeValidator(_sets)] = ()
    """Overrides in the form of --set: a list of "key=value", or a table of values by key."""
    title: str = ""
    """Title."""
    source: str = ""
    """Source of the variant's values."""
    note: str = ""


@dataclass(frozen=True)
class Variants:
    """Variants by name, in order, and their file."""

    file: str
    chosen: Mapping[str, Variant]
    left_out: bool = False
    """`True` if the file has more variants."""

    @classmethod
    def read(cls, path: str | Path, names: Iterable[str] = ()) -> "Variants":
        """Reads variants from a TOML or JSON file: all, or those named.

        As for scenarios, the file may be a file of a study, such as `ack_policies/paths.toml`.
        Raises UsageError.
        """
        place = of_a_study(path_of(path, "variants"))
        form = "JSON" if place.suffix == ".json" else "TOML"
        parse: Callable[[str], Any] = json.loads if form == "JSON" else tomllib.loads
        text = read_text(place, "variants", f"variants by name, as {form}", UsageError)
        try:
            document = parse(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{printable(place)}: {error}, expected variants by name, as {form}") from error
        if not isinstance(document, Mapping):
            raise UsageError(f"{printable(place)}: found a value of type {type(document).__name__}, expected variants by name")
        return cls._checked(printable(place), document).only(names)

    @classmethod
    def of(cls, name: str, given: Mapping[str, object]) -> "Variants":
        """Returns variants from overrides by name: {"L = 8": {"flow.0.ack.segments": 8}}.

        `name` is the name of the axis. Raises UsageError.
        """
        file = f"{name}.json"
        if "/" in name or not name or file in (SCENARIO_FILE, SWEEP_FILE, STUDY_FILE):
            raise UsageError(f"grid {name!r}: found a reserved or invalid name ({file}), expected another such as 'path'")
        return cls._checked(file, {variant: {"set": sets} for variant, sets in given.items()})

    @classmethod
    def parse(cls, text: str) -> "Variants":
        """Reads `paths.toml`, or `paths.toml:short,lossy` for two of them. Raises UsageError."""
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"variants {text!r}: expected a file such as paths.toml or, for some of it, paths.toml:short,lossy")
        return cls.read(match["file"], [name.strip() for name in (match["names"] or "").split(",") if name.strip()])

    @classmethod
    def _checked(cls, file: str, document: Mapping[str, object]) -> "Variants":
        chosen: dict[str, Variant] = {}
        for name, values in document.items():
            if not isinstance(name, str) or "," in name or name != name.strip() or not name:
                raise UsageError(f"{file}: found the name {name!r}, expected one without commas and outer spaces")
            if not isinstance(values, Mapping):
                raise UsageError(f"{file}: {name}: found {values!r}, expected a table with set, title, source and note")
            try:
                chosen[name] = Variant.model_validate(values)
            except ValidationError as error:
                places = "; ".join(f"{'.'.join(map(str, (name, *item['loc'])))}: {_fault(item)}" for item in error.errors())
                raise UsageError(f"{file}: {places}") from error
        return cls(file, chosen)

    def only(self, names: Iterable[str]) -> "Variants":
        """Returns the variants with these names, in the order of the file, or all without names.

        Raises UsageError for an unknown name.
        """
        wanted = texts_of(names, "names of variants", "short")
        if unknown := [name for name in wanted if name not in self.chosen]:
            raise UsageError(f"{self.file}: found no variant {unknown[0]!r}, expected one of: {', '.join(self.chosen)}")
        if not wanted or set(wanted) == set(self.chosen):
            return self
        return Variants(self.file, {name: self.chosen[name] for name in self.chosen if name in wanted}, left_out=True)

    def __str__(self) -> str:
        return f"{self.file}:{','.join(self.chosen)}" if self.left_out else self.file

    def document(self) -> dict[str, object]:
        """Returns the content of a file for `read`."""
        return {name: {"set": list(variant.set)} for name, variant in self.chosen.items()}
