"""`acklab sweep`."""

import shlex
import sys
from pathlib import Path

import typer
from rich.markup import escape

from acklab.errors import Cancelled, StoreError
from acklab.sweeps import sweep
from acklab.terminal import err, out


def sweep_command(
    file: Path, grid: list[str], seeds: int, sets: list[str], vary: list[str], folder: Path, jobs: int | None
) -> None:
    """Runs a sweep and says where its tables are, what failed, and how to go on if it was stopped."""
    try:
        result = sweep(file, grid=grid, seeds=seeds, set=sets, vary=vary, out=folder, jobs=jobs)
    except (Cancelled, StoreError) as error:
        again = shlex.join(["acklab", *sys.argv[1:]])
        raise type(error)(f"{error}\nwhat is finished is kept; go on with: {again}") from error
    done = len(result.commands) - len(result.failures)
    out.print(f"{done} of {len(result.commands)} points in {folder}", highlight=False, soft_wrap=True)
    for path in sorted(folder.glob("*.parquet")):
        out.print(f"  {path}", highlight=False, soft_wrap=True)
    for command, message in result.failures:
        err.print(f"[bold red]failed:[/] {escape(message)}\n  repeat it with: {escape(command)}", highlight=False, soft_wrap=True)
    if result.failures:
        raise typer.Exit(1)
