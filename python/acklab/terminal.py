"""What a person sees in a terminal: results go to standard output, everything else to standard error."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    from acklab.sweeps.execution import Progress as Points

# A file or a pipe has no width: what goes there is not folded at that of a terminal of the eighties.
_WIDTH = 160
out = Console(width=None if sys.stdout.isatty() else _WIDTH)
err = Console(stderr=True, width=None if sys.stderr.isatty() else _WIDTH)


class _Left(ProgressColumn):
    """How many points are left, and how many failed."""

    def render(self, task: Task) -> Text:
        failed = task.fields.get("failed", 0)
        text = Text(f"{int((task.total or 0) - task.completed)} left", style="progress.remaining")
        return text.append(f", {failed} failed", style="bold red") if failed else text


@contextlib.contextmanager
def progress_bar(quiet: bool = False, title: str = "runs") -> Iterator[Callable[["Points"], None]]:
    """A bar on standard error with what is done, what is left, and the time to go."""
    if quiet:
        yield lambda points: None
        return
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Left(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=False) as bar:
        task = bar.add_task(title, total=None)

        def show(points: "Points") -> None:
            # Kept points count as done, but not in the estimate of the time to go.
            if bar.tasks[0].total is None:
                bar.reset(task, total=points.total, completed=points.kept)
            bar.update(task, completed=points.total - points.left, failed=points.failed)

        yield show
