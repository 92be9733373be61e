"""Draws the figures on the pages of the studies.

Usage: scripts/study_figures.py [OUT [STUDY …]], with kaleido and chromium installed.

Each figure that `[figures]` of claims.toml names is taken from the results in OUT (default: out)
and written to figures/ of the study. The pictures of studies without results are not changed.
"""

import re
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from acklab.figures import save
from acklab.report import Document
from acklab.store import STUDY_FILE
from acklab.studies import Study, discover

LARGEST = 80_000
"""Maximum bytes of a picture, because the repository keeps every version."""
WIDTH = 860
"""Width and height in pixels, unless a figure needs more."""
SVG = "http://www.w3.org/2000/svg"
ET.register_namespace("", SVG)
ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def main(out: Path, names: Sequence[str]) -> None:
    """Draws the figures of these studies, or of all studies with results."""
    for study in discover():
        if study.file.figures and (not names or study.name in names) and (out / study.name / STUDY_FILE).is_file():
            for path, figure in chosen(study, Document.read(out / study.name)):
                path.parent.mkdir(exist_ok=True)
                path.write_text(drawn(figure), encoding="utf-8")
                print(f"{path.relative_to(study.folder.parent)}: {path.stat().st_size} octets")
                if path.stat().st_size > LARGEST:
                    sys.exit(f"error: {path}: found {path.stat().st_size} octets, expected {LARGEST} at most")


def chosen(study: Study, document: Document) -> Iterator[tuple[Path, go.Figure]]:
    """Yields the figures that the study names, each with its path.

    Exits if the results have no such figure.
    """
    plain: Iterable[Mapping[str, Any]] = document.to_dict()["sections"]
    sections = {section["title"]: section for section in plain}
    for name, place in study.file.figures.items():
        items = sections[place.section]["items"] if place.section in sections else []
        figures = [item["figure"] for item in items if item["kind"] == "figure"]
        if place.number > len(figures):
            sys.exit(
                f"error: {study.name}: figures.{name}: found {len(figures)} figures in the section {place.section!r} of the results, "
                f"expected {place.number} at least"
            )
        yield study.picture(name), go.Figure(figures[place.number - 1])


def drawn(figure: go.Figure) -> str:
    """Returns the figure as small SVG. Equal numbers give equal SVG."""
    least = (figure.layout.meta or {}).get("least_width", 0)
    with tempfile.TemporaryDirectory() as folder:
        text = save(figure, Path(folder) / "figure.svg", max(WIDTH, least)).read_text(encoding="utf-8")
    # Plotly gives random names to parts of the figure.
    for name in set(re.findall(r'id="defs-([0-9a-f]{6})"', text)):
        text = text.replace(name, "")
    picture = ET.fromstring(re.sub(r"(\d\.\d\d)\d+", r"\1", text))
    for path in picture.iter(f"{{{SVG}}}path"):
        path.set("d", re.sub(r"(\d\.\d)\d+", r"\1", path.get("d", "")))
    _share_styles(picture)
    _prune(picture, text)
    return ET.tostring(picture, encoding="unicode") + "\n"


def _share_styles(picture: ET.Element) -> None:
    """Replaces the repeated styles of an SVG by named classes.

    Plotly repeats the style of a text for each letter. The new classes replace the classes by which
    Plotly's script finds parts.
    """
    styles: dict[str, str] = {}
    for element in picture.iter():
        for name in [name for name in element.attrib if name == "class" or name.startswith("data-")]:
            del element.attrib[name]
        if style := element.attrib.pop("style", "").strip():
            element.set("class", styles.setdefault(style, f"s{len(styles)}"))
    sheet = ET.Element(f"{{{SVG}}}style")
    sheet.text = "".join(f".{name}{{{style}}}" for style, name in styles.items())
    picture.insert(0, sheet)


def _prune(element: ET.Element, text: str) -> None:
    """Removes empty groups and paths, unused clip paths, and groups that only contain a group."""
    children = []
    for child in element:
        _prune(child, text)
        kind = child.tag.removeprefix(f"{{{SVG}}}")
        unused = kind == "clipPath" and f"#{child.get('id')}" not in text
        if unused or (kind in ("g", "defs") and not len(child)) or child.get("d") == "M0,0Z":
            continue
        children += list(child) if kind == "g" and not child.attrib else [child]
    element[:] = children


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"), sys.argv[2:])
