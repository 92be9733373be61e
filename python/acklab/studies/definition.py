"""The definition of a study, and the search for studies."""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from acklab.atomic import write_text
from acklab.errors import StoreError, UsageError
from acklab.faults import Location, faults
from acklab.studies.claim import Claim, Strict
from acklab.studies.folders import CLAIMS_FILE, origin, study_folders
from acklab.studies.tables import expand
from acklab.studies.traces import Trace
from acklab.verdict import KINDS, OWN


class Place(Strict):
    """The place of a figure in the report of a study."""

    section: str
    number: Annotated[int, Field(ge=1)] = 1
    """The index of the figure in the section, from one."""


class StudyFile(Strict):
    """The content of claims.toml."""

    title: str
    question: str
    kind: Literal["", "paper", "parity", "own"] = ""
    """The list that names the study, one of `acklab.verdict.KINDS`.

    If it is empty, the kind of the claims is the list. A study of our question that also compares
    single published numbers gives "own".
"""
    seeds: Annotated[int, Field(ge=1)] = 10
    quick_seeds: Annotated[int, Field(ge=1)] = 3
    vary: dict[str, str] = Field(default_factory=dict)
    """Random values for each seed except the first, such as {"flow.0.start" = "0ms..5ms"}."""
    traces: dict[str, Trace] = Field(default_factory=dict)
    """Generated trace files, by name."""
    figures: dict[Annotated[str, Field(pattern="^[a-z0-9_]+$")], Place] = Field(default_factory=dict)
    """Figures of the report that the README shows as committed pictures, by file name."""
    claim: tuple[Claim, ...]


@dataclass(frozen=True)
class Study:
    """A study: its folder and content."""

    folder: Path
    file: StudyFile

    @property
    def name(self) -> str:
        """Returns the name of the folder."""
        return self.folder.name

    @property
    def origin(self) -> str:
        """Returns where the study comes from: "built-in", or the user's folder."""
        return origin(self.folder)

    @property
    def kind(self) -> str:
        """Returns the list that names the study, one of `acklab.verdict.KINDS`."""
        found = {claim.origin for claim in self.file.claim}
        return self.file.kind or next((kind for kind in KINDS if kind in found), OWN)

    @property
    def readme(self) -> str:
        """Returns the README as Markdown; empty if there is none."""
        path = self.folder / "README.md"
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def scenario(self, name: str) -> Path:
        """Returns the path of a scenario file, relative to the current folder if possible."""
        path = self.folder / name
        below = os.path.relpath(path)
        return path if below.startswith("..") else Path(below)

    def picture(self, name: str) -> Path:
        """Returns the path of a figure as a committed picture."""
        return self.folder / "figures" / f"{name}.svg"

    def write_traces(self) -> None:
        """Writes generated traces into the folder unless they exist. Raises StoreError."""
        for name, trace in self.file.traces.items():
            path = self.folder / name
            if not path.is_file() or path.read_text(encoding="utf-8") != trace.text:
                write_text(path, trace.text)

    @classmethod
    def read(cls, folder: Path) -> "Study":
        """Reads a study. Raises StoreError with the place of every error."""
        path = folder / CLAIMS_FILE
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
            document["claim"] = claims = list(expand(document.get("claim", ())))
            study = cls(folder, StudyFile.model_validate(document))
        except OSError as error:
            raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
        except ValidationError as error:
            raise StoreError(f"{path}: {faults(error, place=lambda place: _place(place, claims))}") from error
        except tomllib.TOMLDecodeError as error:
            raise StoreError(f"{path}: expected TOML: {error}") from error
        except ValueError as error:
            raise StoreError(f"{path}: {error}") from error
        ids = [claim.id for claim in study.file.claim]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise StoreError(f"{path}: found the id {', '.join(twice)} more than once")
        own_verdict = {claim.id for claim in study.file.claim if not claim.same_as}
        for claim in study.file.claim:
            if claim.same_as and claim.same_as not in own_verdict:
                raise StoreError(
                    f"{path}: claim.{claim.id}.same_as: found {claim.same_as!r}, expected a claim with its own verdict"
                )
        counted = {claim.id for claim in study.file.claim if not claim.counts_as}
        for claim in study.file.claim:
            # Claims of other studies are read with them.
            if claim.counts_as and "/" not in claim.counts_as and claim.counts_as not in counted:
                raise StoreError(
                    f"{path}: claim.{claim.id}: found a reading of {claim.counts_as!r}, expected a claim that counts"
                )
        return study


def _place(location: Location, claims: Sequence[Mapping[str, Any]]) -> str:
    """Returns the path of a key, with claims by their ids, since rows of tables have no index."""
    if location[0] == "claim" and len(location) > 1 and isinstance(location[1], int):
        location = ("claim", str(claims[location[1]].get("id", location[1])), *location[2:])
    return ".".join(str(part) for part in location)


def discover(broken: Callable[[StoreError], None] | None = None) -> list[Study]:
    """Returns all studies by name: the studies of the user's folder, and the built-in studies.

    A broken study is skipped, and its error is passed to `broken`. Without `broken`, raises
    StoreError.
    """
    found = []
    for folder in study_folders().values():
        try:
            found.append(Study.read(folder))
        except StoreError as error:
            if broken is None:
                raise
            broken(error)
    return found


def find(name: str) -> Study:
    """Returns the study of that name, of the user's folder or built in.

    Raises UsageError with the available names, and StoreError for a broken study.
    """
    known = study_folders()
    if name not in known:
        raise UsageError(f"found no study {name!r}, expected one of: {', '.join(known)}")
    return Study.read(known[name])
