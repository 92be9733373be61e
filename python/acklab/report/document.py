"""The content of a report, without its layout: sections of text, figures and tables.

It is stored as JSON with the results.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import plotly.graph_objects as go
from pydantic import ValidationError

from acklab import core, store
from acklab.errors import StoreError
from acklab.faults import faults
from acklab.places import Place, place_of
from acklab.report.stored import StoredDocument
from acklab.seals import opened, sealed, verify
from acklab.tables import Table
from acklab.verdict import Finding

_FORMAT = 1


@dataclass(frozen=True)
class Figure:
    """A figure with its caption and the commands that repeat its runs."""

    figure: go.Figure
    caption: str
    commands: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        plotly = cast(dict[str, Any], json.loads(self.figure.to_json()))
        return {"kind": "figure", "figure": plotly, "caption": self.caption, "commands": list(self.commands)}


@dataclass(frozen=True)
class Section:
    """A heading, text in Markdown, figures and tables."""

    title: str
    text: str = ""
    items: Sequence[Figure | Table] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        items = [_table(item) if isinstance(item, Table) else item.to_dict() for item in self.items]
        return {"title": self.title, "text": self.text, "items": items}


def _table(table: Table) -> dict[str, Any]:
    """Returns plain values."""
    return {
        "kind": "table",
        "head": list(table.head),
        "rows": [list(row) for row in table.rows],
        "caption": table.caption,
        "best": sorted(list(cell) for cell in table.best),
        "commands": list(table.commands),
        "numeric_from": table.numeric_from,
        "text": sorted(table.text),
        "left_out": table.left_out,
    }


@dataclass(frozen=True)
class Document:
    """The report of one study, one run or one sweep."""

    name: str
    title: str
    revision: str = field(default_factory=core.revision)
    version: str = field(default_factory=core.version)
    """The version of the core that computed the report; by default the present version."""
    question: str = ""
    readme: str = ""
    seeds: int | None = None
    part_of: str = ""
    """The name of the emulated study, if the report is of an emulation of a study; otherwise
    empty.
    """
    findings: Sequence[Finding] = ()
    sections: Sequence[Section | Mapping[str, Any]] = field(default=())
    """Sections as a study created them, or plain values as read from a file.

    Only the page uses their content.
    """

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {
            "format": _FORMAT,
            "name": self.name,
            "title": self.title,
            "question": self.question,
            "readme": self.readme,
            "revision": self.revision,
            "version": self.version,
            "seeds": self.seeds,
            "part_of": self.part_of,
            "findings": [finding.to_dict() for finding in self.findings],
            "sections": [section.to_dict() if isinstance(section, Section) else dict(section) for section in self.sections],
        }

    def write(self, folder: Path | Place) -> None:
        """Writes the document into a folder. Raises StoreError."""
        place_of(folder, "folder").write_json(store.STUDY_FILE, sealed(self.to_dict()))

    @classmethod
    def read(cls, folder: str | Path | Place) -> "Document":
        """Reads a document from a folder. Raises StoreError with the place of each error."""
        place = place_of(folder, "folder")
        path = place.name_of(store.STUDY_FILE)
        expected = "the report of a study that acklab wrote"
        found = place.read_json(store.STUDY_FILE, expected)
        if not isinstance(found, dict):
            raise StoreError(f"{path}: found a value of type {type(found).__name__}, expected {expected}")
        values = opened(found)
        if (read := values.pop("format", None)) != _FORMAT:
            raise StoreError(f"{path}: format: found {read!r}, expected {_FORMAT}; rerun the study")
        try:
            stored = StoredDocument.model_validate(values)
        except ValidationError as error:
            # A file of another kind has an error in every line.
            raise StoreError(f"{path}: {faults(error, limit=3)}; expected {expected}") from error
        verify(found, path)
        return cls(**values | {"findings": tuple(stored.findings)})
