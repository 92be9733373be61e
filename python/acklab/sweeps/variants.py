"""Named variants of a scenario that differ in several keys, such as paths or ACK policies."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from acklab.errors import UsageError
from acklab.scenario import overrides

_FORM = re.compile(r"(?P<file>.+?\.(?:toml|json))(?::(?P<names>.+))?")


def _sets(value: object) -> object:
    return overrides(value) if isinstance(value, Mapping) else value


class Variant(BaseModel):
    """One variant: its overrides, title, source and note."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    set: Annotated[tuple[str, ...], BeforeValidator(_sets)] = ()
    """As after --set: a list of "key=value", or a table of values by key."""
    title: str = ""
    """Title."""
    source: str = ""
    """Source of its values."""
    note: str = ""


@dataclass(frozen=True)
class Variants:
    """Variants by name, in order, and their file."""

    file: str
    chosen: Mapping[str, Variant]
    left_out: bool = False
    """Whether the file has further variants."""

    @classmethod
    def read(cls, path: str | Path, names: Iterable[str] = ()) -> "Variants":
        """Reads variants from a TOML or JSON file: all, or those named. Raises UsageError."""
        place = Path(path)
        parse: Any = json.loads if place.suffix == ".json" else tomllib.loads
        try:
            document = parse(place.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"{path}: cannot read the variants: {error.strerror}") from error
        except ValueError as error:
            raise UsageError(f"{path}: {error}") from error
        return cls._checked(str(path), document).only(names)

    @classmethod
    def of(cls, name: str, given: Mapping[str, object]) -> "Variants":
        """Variants from overrides by name: {"L = 8": {"flow.0.ack.segments": 8}}; `name` is that of the axis. Raises UsageError."""
        return cls._checked(f"{name}.json", {variant: {"set": sets} for variant, sets in given.items()})

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
            try:
                chosen[name] = Variant.model_validate(values)
            except ValidationError as error:
                places = "; ".join(
                    f"{'.'.join(str(part) for part in (name, *item['loc']))}: {item['msg']}" for item in error.errors()
                )
                raise UsageError(f"{file}: {places}") from error
        if unfit := [name for name in chosen if "," in name or name != name.strip() or not name]:
            raise UsageError(f"{file}: found the name {unfit[0]!r}, expected one without commas and outer spaces")
        return cls(file, chosen)

    def only(self, names: Iterable[str]) -> "Variants":
        """Returns the variants with these names, in the order of the file; all if there are no names. Raises UsageError for an unknown name."""
        wanted = list(names)
        if unknown := [name for name in wanted if name not in self.chosen]:
            raise UsageError(f"{self.file}: found no variant {unknown[0]!r}, it has {', '.join(self.chosen)}")
        if not wanted or set(wanted) == set(self.chosen):
            return self
        return Variants(self.file, {name: self.chosen[name] for name in self.chosen if name in wanted}, left_out=True)

    def __str__(self) -> str:
        return f"{self.file}:{','.join(self.chosen)}" if self.left_out else self.file

    def document(self) -> dict[str, object]:
        """The content of a file for `read`."""
        return {name: {"set": list(variant.set)} for name, variant in self.chosen.items()}
