"""The content of a report, without its layout: sections of text, figures and tables, stored as JSON with the results."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import plotly.graph_objects as go

from acklab import store
from acklab.errors import StoreError
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
        """Plain values."""
        plotly = cast(dict[str, Any], json.loads(self.figure.to_json()))
        return {"kind": "figure", "figure": plotly, "caption": self.caption, "commands": list(self.commands)}


@dataclass(frozen=True)
class Section:
    """A heading, text in Markdown, figures and tables."""

    title: str
    text: str = ""
    items: Sequence[Figure | Table] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        items = [_table(item) if isinstance(item, Table) else item.to_dict() for item in self.items]
        return {"title": self.title, "text": self.text, "items": items}


def _table(table: Table) -> dict[str, Any]:
    """Plain values."""
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
    revision: str
    version: str
    question: str = ""
    readme: str = ""
    seeds: int | None = None
    findings: Sequence[Finding] = ()
    sections: Sequence[Section | Mapping[str, Any]] = field(default=())
    """As created by a study, or as plain values after reading; only the page uses their content."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "format": _FORMAT,
            "name": self.name,
            "title": self.title,
            "question": self.question,
            "readme": self.readme,
            "revision": self.revision,
            "version": self.version,
            "seeds": self.seeds,
            "findings": [finding.to_dict() for finding in self.findings],
            "sections": [section.to_dict() if isinstance(section, Section) else dict(section) for section in self.sections],
        }

    def write(self, folder: Path) -> Path:
        """Writes the document into a folder. Raises StoreError."""
        path = folder / store.STUDY_FILE
        store.write_json(path, self.to_dict())
        return path

    @classmethod
    def read(cls, folder: Path) -> "Document":
        """Reads a document from a folder. Raises StoreError."""
        path = folder / store.STUDY_FILE
        expected = "the report of a study that acklab wrote"
        values = store.read_json(path, expected)
        try:
            if values.pop("format") != _FORMAT:
                raise StoreError(f"{path}: found another format than this version reads; run the study again")
            findings = tuple(Finding.from_dict(finding) for finding in values.pop("findings"))
            return cls(**values, findings=findings)
        except (AttributeError, KeyError, TypeError) as error:
            raise StoreError(f"{path}: found a document that does not fit ({error}), expected {expected}") from error
