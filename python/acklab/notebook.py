"""Display in notebooks: HTML tables that follow the light or dark theme, and progress bars."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from acklab.tables import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from acklab.sweeps.execution import Progress

_LONGEST = 60


DRAWN = "<div class='acklab-figure'>"
"""HTML before the figure in a page.

Programs that draw the figure differently search for this text.
"""


def page(title: str, note: str, tables: Sequence[Table], below: str = "", figure: "go.Figure | None" = None) -> str:
    """Returns a heading, a line of provenance, tables, HTML below them, and a figure.

    The first table is open; the others open on a click.
    """
    parts = [f"<div><b>{escape(title)}</b> <span style='opacity: .65'>{escape(note)}</span></div>"]
    for index, table in enumerate(tables):
        parts.append(
            f"<details{' open' if index == 0 else ''}><summary>{escape(table.caption or 'Table')}</summary>{html(table)}</details>"
        )
    drawn = f"{DRAWN}{figure.to_html(full_html=False, include_plotlyjs=True)}</div>" if figure is not None else ""
    return "".join([*parts, below, drawn])


def html(table: Table) -> str:
    """Returns a table as HTML with best values in bold.

    A long table is cut, with the number of omitted rows.
    """
    cut = table.cut(_LONGEST)
    left = [("right" if table.is_number(place) else "left") for place in range(len(table.head))]
    head = "".join(
        f'<th scope="col" style="text-align: {side}">{escape(name)}</th>' for side, name in zip(left, table.head, strict=True)
    )
    lines = []
    for line, row in enumerate(cut.rows):
        cells = []
        for place, cell in enumerate(row):
            weight = "; font-weight: bold" if (line, place) in table.best else ""
            cells.append(f'<td style="text-align: {left[place]}{weight}">{escape(cell)}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    more = f"<div style='opacity: .65'>… {cut.left_out:,} more</div>" if cut.left_out else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{more}"


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[Callable[["Progress"], None]]:
    """Shows a progress bar in the output of the cell, which is updated as runs finish."""
    from IPython import display as shell

    show_html: Any = shell.display
    handle = show_html({"text/html": ""}, raw=True, display_id=True)
    shown = 0.0

    def show(points: "Progress") -> None:
        nonlocal shown
        if points.left and time.monotonic() - shown < 0.2:
            return
        shown = time.monotonic()
        failed = f", {points.failed} failed" if points.failed else ""
        done = points.total - points.left
        bar = f"<progress value='{done}' max='{points.total}'></progress>"
        where = f" ({points.where})" if points.where else ""
        text = f"{done} of {points.total}{failed}, {points.seconds:.0f} s{where}"
        handle.update(
            {"text/html": f"<div>{escape(title)} {bar} {escape(text)}</div>", "text/plain": f"{title}: {text}"}, raw=True
        )

    yield show
