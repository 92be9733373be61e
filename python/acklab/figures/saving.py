"""Figures as files."""

from pathlib import Path

import plotly.graph_objects as go

from acklab.atomic import writing
from acklab.errors import StoreError, UsageError

_DRAWN = ("svg", "pdf", "png")
KINDS = (*_DRAWN, "html")
"""Extensions of the files of figures."""


def on_paper(figure: go.Figure) -> go.Figure:
    """Returns a copy of the figure with an opaque background.

    An image file has no page that could be the background.
    """
    return go.Figure(figure).update_layout(paper_bgcolor="white", plot_bgcolor="white")


def save(figure: go.Figure, path: str | Path, width: int = 900) -> Path:
    """Writes a figure as HTML, which works offline, or as SVG, PDF or PNG, by the extension.

    `width` is in pixels; the height is that of the figure. SVG, PDF and PNG require Kaleido (`pip
    install acklab[images]`) and Chromium. Raises UsageError for another extension, StoreError if
    the file cannot be written or drawn.
    """
    target = Path(path)
    kind = target.suffix.removeprefix(".").lower()
    if kind == "html":
        with writing(target) as temporary:
            figure.write_html(temporary, include_plotlyjs=True)
        return target
    if kind not in _DRAWN:
        raise UsageError(f"{target}: found the extension {target.suffix!r}, expected .html, .{', .'.join(_DRAWN)}")
    try:
        octets = figure.to_image(format=kind, width=width, height=figure.layout.height or 450)
    except Exception as error:
        raise StoreError(f"{target}: cannot be drawn: {str(error).strip().splitlines()[0]}") from error
    with writing(target) as temporary:
        temporary.write_bytes(octets)
    return target
