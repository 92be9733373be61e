"""Renders documents as one HTML file without external resources."""

import base64
import datetime
import gzip
import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import zip_longest
from pathlib import Path
from typing import Any

import jinja2
import markdown
from markupsafe import Markup, escape
from plotly.offline import get_plotlyjs

from acklab.atomic import write_text
from acklab.metrics import metrics, written
from acklab.report.document import Document
from acklab.verdict import BOUNDS, NOT_REPRODUCED, REPRODUCED, SAME_DIRECTION, UNDECIDED, VERDICTS, Finding, counted, summary

_CLASSES = {REPRODUCED: "good", SAME_DIRECTION: "near", NOT_REPRODUCED: "bad", UNDECIDED: "open"}

_LINE, _LETTERS, _ROW, _CLAIM = 26, 90, 34, 41
"""Height of a line of text, characters per line, and heights of a row and of a claim, in pixels of
a wide page. They estimate the length of the scroll bar.
"""

_NAME, _SENTENCE = 16, 40
"""Maximum characters of a name in a cell, and minimum characters of a sentence."""

_PICTURE = re.compile(r"!\[[^]]*\]\(figures/[^)]*\.svg\)")
"""A committed picture of a study's README."""

_LARGE = 10_000
"""Minimum size in bytes of figures that are compressed in the page. The browser unpacks them when
they come into view.
"""


def render(documents: Sequence[Document]) -> str:
    """Returns the report of one or more documents: scorecard, then texts, tables and figures."""
    page = resources.files("acklab.report") / "page"
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(
        markdown=_markdown,
        written=written,
        number=_number,
        gauge=_gauge,
        tolerance=_tolerance,
        plain=_without_heading,
        height=_height_of_text,
        breakable=_breakable,
    )
    environment.globals.update(verdicts=VERDICTS, classes=_CLASSES, meaning=_meaning)
    template = environment.from_string((page / "report.html.j2").read_text(encoding="utf-8"))
    views = [_view(document, index) for index, document in enumerate(documents)]
    findings = [finding for document in documents for finding in document.findings]
    has_figures = any(item["kind"] == "figure" for view in views for section in view["sections"] for item in section["items"])
    return template.render(
        title=documents[0].title if len(documents) == 1 else "Results",
        documents=views,
        findings=findings,
        summary=summary(findings),
        revisions=list(dict.fromkeys(document.revision for document in documents if document.findings)),
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        counts=_tally(findings),
        style=Markup((page / "style.css").read_text(encoding="utf-8")),
        script=Markup("".join((page / name).read_text(encoding="utf-8") for name in ("narrow.js", "script.js"))),
        # Plotly is included once for all figures, and omitted in reports without figures, because
        # it is most of the file. It is compressed, and unpacked after the page is shown.
        plotly=_packed(get_plotlyjs()) if has_figures else "",
    )


def write(documents: Sequence[Document], path: Path) -> Path:
    """Writes the report of these documents as one HTML file, which works offline.

    Raises StoreError.
    """
    write_text(path, render(documents))
    return path


def _view(document: Document, index: int) -> dict[str, Any]:
    view = document.to_dict()
    view["anchor"] = f"study-{index}"
    view["findings"] = document.findings
    view["height"] = _height_of_claims(document.findings)
    view["counts"] = _tally(document.findings)
    for number, section in enumerate(view["sections"]):
        section["anchor"] = f"{view['anchor']}-{number}"
        for item in section["items"]:
            if item["kind"] == "figure":
                data = json.dumps(item["figure"], separators=(",", ":"))
                item["packed"] = len(data) > _LARGE
                # In a script element, "</script" would end the element, and "<!--<script" would
                # keep it open.
                item["data"] = Markup(_packed(data) if item["packed"] else data.replace("<", "\\u003c"))
                item["height"] = int(item["figure"]["layout"].get("height", 400))
            else:
                item["best"] = {tuple(cell) for cell in item["best"]}
                # Documents of an earlier version have neither `text` nor `left_out`.
                item |= {"text": item.get("text", []), "left_out": item.get("left_out", 0)}
                item["meanings"] = _meanings(item["head"], item["rows"])
                item["widths"] = [_width(column) for column in zip_longest(*item["rows"], fillvalue="")]
        section["height"] = _height_of_section(section)
    return view


def _breakable(cell: str) -> Markup:
    """Returns a cell whose name may be broken after underscores in narrow columns."""
    return Markup(str(escape(cell)).replace("_", "_<wbr>"))


def _meaning(text: str) -> str:
    """Returns the definition of the metric in a cell; empty for other cells.

    The cell may contain the unit.
    """
    return _definitions().get(text.split(" [", maxsplit=1)[0], "")


@cache
def _definitions() -> dict[str, str]:
    return {metric.name: metric.meaning for metric in metrics()}


def _meanings(head: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, str]:
    """Returns the definitions of the metrics in the head and the first column of a table."""
    cells = [*head, *(row[0] for row in rows if row)]
    return {cell.split(" [")[0]: meaning for cell in cells if (meaning := _meaning(cell))}


def _tally(findings: Sequence[Finding]) -> dict[str, int]:
    """Returns the number of statements per verdict, without other readings of a statement."""
    verdicts = [finding.verdict for finding in counted(findings)]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def _width(column: Sequence[str]) -> str:
    """Returns the CSS class of a column of text.

    Names are unbreakable; sentences need several words per line.
    """
    longest = max(map(len, column))
    return "name" if longest <= _NAME else "sentence" if longest > _SENTENCE else ""


def _height_of_text(text: str) -> int:
    """Returns the approximate height of a text in Markdown, in pixels."""
    return sum(_LINE * (1 + len(line) // _LETTERS) for line in text.splitlines() if line)


def _height_of_section(section: Mapping[str, Any]) -> int:
    """Returns the approximate height of a section, in pixels."""
    figures: int = sum(item["height"] + 4 * _LINE for item in section["items"] if item["kind"] == "figure")
    rows: int = sum(len(item["rows"]) + 4 for item in section["items"] if item["kind"] == "table")
    return 3 * _LINE + _height_of_text(section["text"]) + figures + rows * _ROW


def _height_of_claims(findings: Sequence[Finding]) -> int:
    """Returns the approximate height of a card of claims, in pixels."""
    notes = sum(_height_of_text(finding.note) for finding in findings if finding.verdict != REPRODUCED)
    return 3 * _LINE + len(findings) * _CLAIM + notes


def _packed(text: str) -> str:
    """Returns the text compressed by gzip and encoded in base64, deterministically."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _markdown(text: str) -> Markup:
    """Returns Markdown as HTML, with headings below those of the page."""
    html = markdown.markdown(
        text, extensions=["tables", "fenced_code", "sane_lists", "toc"], extension_configs={"toc": {"baselevel": 3}}
    )
    return Markup(html.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>"))


def _without_heading(text: str) -> str:
    """Returns a README without its title and pictures.

    The page shows the title itself, and the pictures as figures.
    """
    lines = [line for line in text.lstrip().splitlines() if not _PICTURE.fullmatch(line)]
    return "\n".join(lines[1:] if lines and lines[0].startswith("# ") else lines)


def _number(value: float) -> str:
    """Returns a number for a table of claims, with enough digits for a comparison."""
    if value is None or math.isnan(value):
        return "–"
    if float(value).is_integer():
        return f"{int(value):,}"
    size = abs(value)
    return (
        f"{value:,.0f}" if size >= 10_000 else f"{value:.1f}" if size >= 1000 else f"{value:.2f}" if size >= 1 else f"{value:.3g}"
    )


def _tolerance(finding: Finding) -> str:
    """Returns the tolerance as text."""
    return finding.tolerance if finding.tolerance in BOUNDS or finding.tolerance.startswith("factor") else f"±{finding.tolerance}"


def _gauge(finding: Finding) -> Markup:
    """Returns a small picture of a claim.

    A band around the published number shows the tolerance, and a dot with an interval shows our
    number.
    """
    lowest, highest = finding.tolerated
    room = max(edge for edge in (highest - finding.published, finding.published - lowest) if math.isfinite(edge))
    if finding.tolerance in BOUNDS and not math.isnan(finding.measured):
        room = abs(finding.measured - finding.published) / 2
    span = 3.0 * (room or abs(finding.published) * 0.01 or 1.0)

    def place(value: float) -> float:
        return 80 + 72 * max(-1.0, min(1.0, (value - finding.published) / span))

    kind = _CLASSES[finding.verdict]
    parts = [
        f'<svg class="gauge {kind}" viewBox="0 0 160 22" role="img" aria-label="{finding.verdict}">',
        '<line class="axis" x1="4" x2="156" y1="11" y2="11"/>',
        f'<rect class="band" x="{place(lowest):.1f}" width="{place(highest) - place(lowest):.1f}" y="3" height="16" rx="3"/>',
        '<line class="published" x1="80" x2="80" y1="1" y2="21"/>',
    ]
    if not math.isnan(finding.low):
        low, high = place(finding.low), place(finding.high)
        parts.append(f'<line class="interval" x1="{low:.1f}" x2="{high:.1f}" y1="11" y2="11"/>')
    if not math.isnan(finding.measured):
        x = place(finding.measured)
        outside = abs(finding.measured - finding.published) > span
        shape = (
            f'<path class="dot" d="M {x:.1f} 4 l {7 if x > 80 else -7} 7 l {-7 if x > 80 else 7} 7 z"/>'
            if outside
            else f'<circle class="dot" cx="{x:.1f}" cy="11" r="4.6"/>'
        )
        parts.append(shape)
    return Markup("".join([*parts, "</svg>"]))
