"""Output to terminals: results go to standard output, everything else to standard error.

`out` and `err` are consoles of Rich, which is imported at the first use.
"""

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from acklab.files import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from acklab.answer import Answer
    from acklab.sweeps.execution import Progress as Points
    from acklab.tables import Table

    out: Console
    err: Console

_WIDTH = 160
"""Width in characters for files and pipes, which have no width."""
_MAX_ROWS = 40
"""Maximum number of rows on a terminal. A file or a pipe receives all rows."""
_SENTENCE = 40
"""Number of characters above which the text of a cell is wrapped as a sentence."""
_NUMBER = re.compile(r"[-+−]?[\d.,]+(e[-+]?\d+)?( ± [\d.,]+(e[-+]?\d+)?)?|–?")
"""A number with its interval, a dash, or nothing."""
_GAP = 2
"""Characters between two columns."""


@cache
def _console(to_stderr: bool) -> "Console":
    from rich.console import Console

    stream = sys.stderr if to_stderr else sys.stdout
    return Console(stderr=to_stderr, width=None if stream.isatty() else _WIDTH)


def __getattr__(name: str) -> Any:
    if name in ("out", "err"):
        return _console(name == "err")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def show_table(table: "Table", hint: str = "") -> None:
    """Prints a table to standard output, best values in bold.

    On a terminal, a long table is cut, and the number of omitted rows is printed with `hint`.
    """
    from rich.text import Text

    console = _console(False)
    cut = table.cut(_MAX_ROWS) if console.is_terminal else table
    for number, part in enumerate(_parts(cut, console.width)):
        if number:
            console.print()
        if len(part.rows) > _MAX_ROWS and not _has_sentences(part):
            console.file.write(_plain(part))
        else:
            console.print(_drawn(part))
    if cut.left_out:
        console.print(Text(f"… {cut.left_out:,} more{visible(hint)}", style="dim"), soft_wrap=True)


def _drawn(table: "Table") -> "RichTable":
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(
        title=Text(visible(table.caption)) if table.caption else None,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    widths = _widths(table)
    for index, name in enumerate(table.head):
        units = table.numeric_from == 2 and index == 1
        is_number = table.is_number(index)
        justify: Literal["left", "right"] = "right" if is_number else "left"
        # Numbers are not broken between lines, because they could not be copied. Columns of values
        # may also contain long texts.
        is_whole = is_number and all(_NUMBER.fullmatch(visible(row[index])) for row in table.rows)
        drawn.add_column(
            Text(visible(name)),
            justify=justify,
            style="dim" if units else "",
            overflow="fold",
            no_wrap=is_whole,
            min_width=widths[index] if is_whole else None,
        )
    for line, row in enumerate(table.rows):
        cells = (Text(visible(cell), style="bold" if (line, place) in table.best else "") for place, cell in enumerate(row))
        drawn.add_row(*cells)
    return drawn


def _plain(table: "Table") -> str:
    """Returns the same lines without styles.

    Rich needs half a millisecond per row, which is too slow for files with ten thousand rows.
    """
    from rich.cells import cell_len

    columns = [[visible(cell) for cell in column] for column in zip(table.head, *table.rows, strict=True)]
    padded = []
    for place, column in enumerate(columns):
        widths = [len(cell) if cell.isascii() else cell_len(cell) for cell in column]
        widest, is_number = max(widths), table.is_number(place)
        pads = [" " * (widest - width) for width in widths]
        padded.append([pad + cell if is_number else cell + pad for cell, pad in zip(column, pads, strict=True)])
    lines = [visible(table.caption)] if table.caption else []
    lines += ((" " * _GAP).join(cells).rstrip() for cells in zip(*padded, strict=True))
    return "\n".join(lines) + "\n"


def _widths(table: "Table") -> list[int]:
    """Returns the width of the widest cell of each column."""
    from rich.cells import cell_len

    columns = zip(table.head, *table.rows, strict=True)
    return [max(len(text) if text.isascii() else cell_len(text) for text in map(visible, column)) for column in columns]


def _has_sentences(table: "Table") -> bool:
    """Returns whether a column has sentences, which are wrapped."""
    return any(width > _SENTENCE for place, width in enumerate(_widths(table)) if not table.is_number(place))


def _parts(table: "Table", width: int) -> "list[Table]":
    """Returns the table split by columns into parts that fit, so that no name or number is cut.

    Each part begins with the columns of names. A column of sentences is wrapped instead.
    """
    widths = _widths(table)
    names = list(range(max(table.numeric_from, 1)))
    rest = [place for place in range(len(table.head)) if place not in names]
    if _has_sentences(table) or not rest or sum(widths) + _GAP * (len(widths) - 1) <= width:
        return [table]
    room = width - sum(widths[place] + _GAP for place in names)
    groups: list[list[int]] = [[]]
    left = room
    for place in rest:
        if groups[-1] and widths[place] > left:
            groups.append([])
            left = room
        groups[-1].append(place)
        left -= widths[place] + _GAP
    parts = [table.columns([*names, *group]) for group in groups]
    return [parts[0], *(replace(part, caption="") for part in parts[1:])]


def show_answers(answers: "Sequence[Answer]") -> None:
    """Prints the short answer to a run, with some lines per flow."""
    from rich.cells import cell_len
    from rich.table import Table as Drawn
    from rich.text import Text

    console = _console(False)
    for answer in answers:
        # A single text, so that a long one is wrapped.
        console.print(Text.assemble((visible(answer.flow), "bold"), "  ", (visible(answer.kind), "dim")))
        grid = Drawn.grid(padding=(0, 2, 0, 0))
        grid.add_column(overflow="fold")
        # Values are not split over two lines, because they could not be copied.
        grid.add_column(no_wrap=True, min_width=max((cell_len(visible(line.value)) for line in answer.lines), default=0))
        grid.add_column(overflow="fold")
        for line in answer.lines:
            grid.add_row(
                Text(f"  {line.name:<15}", style="dim"), Text(visible(line.value)), Text(visible(line.detail), style="dim")
            )
        console.print(grid)


def notify(message: str) -> None:
    """Prints lines to standard error."""
    print(visible(message, lines=True), file=sys.stderr)


@contextlib.contextmanager
def progress_bar(quiet: bool = False, title: str = "runs") -> Iterator[Callable[["Points"], None]]:
    """Shows a bar of finished and remaining points and the remaining time.

    The bar is on standard error, or in the notebook.
    """
    if quiet:
        yield lambda points: None
        return
    if _in_notebook():
        from acklab.notebook import progress_bar as bar_of_notebook

        with bar_of_notebook(title) as show_points:
            yield show_points
        return
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=_console(True), transient=False) as bar:
        task = bar.add_task(title, total=None, left="")

        def show(points: "Points") -> None:
            # Stored points are shown as finished, but the estimate of the remaining time ignores
            # them.
            if bar.tasks[0].total is None:
                bar.reset(task, total=points.total, completed=points.kept)
            failed = f", [bold red]{points.failed} failed[/]" if points.failed else ""
            where = f" ({escape(points.where)})" if points.where else ""
            bar.update(task, completed=points.total - points.left, left=f"{points.left} left{failed}{where}")

        yield show


_BAR_DELAY = 1.0
"""Seconds before a run shows a bar. Shorter runs show no bar."""


@contextlib.contextmanager
def run_bar(title: str = "run") -> Iterator[Callable[[float], None]]:
    """Shows a bar of the elapsed share of one run, after a second and only on a terminal."""
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    import time

    start, bar = time.monotonic(), None

    def show(share: float) -> None:
        nonlocal bar
        if bar is None:
            if time.monotonic() - start < _BAR_DELAY:
                return
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            bar = Progress(*columns, console=_console(True), transient=True)
            bar.add_task(visible(title), total=1.0)
            bar.start()
        bar.update(bar.task_ids[0], completed=share)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


def _in_notebook() -> bool:
    """Returns `True` in a Jupyter kernel, and `False` in IPython in a terminal."""
    shell = sys.modules.get("IPython")
    current = None if shell is None else shell.get_ipython()
    return current is not None and type(current).__name__ == "ZMQInteractiveShell"
