"""`acklab sweep`."""

import json
import shlex
import sys
from pathlib import Path

import typer

from acklab.cli.run import finite
from acklab.errors import Cancelled, StoreError
from acklab.files import printable
from acklab.sweeps import SweepResult, sweep
from acklab.terminal import out, show_table, tell


def sweep_command(
    file: Path,
    grid: list[str],
    seeds: int,
    sets: list[str],
    vary: list[str],
    folder: Path,
    jobs: int | None,
    as_json: bool,
    strategies: list[str],
) -> None:
    """Runs a sweep and shows its results, says where they are, what failed, and how to go on if it was stopped."""
    try:
        result = sweep(
            file, grid=grid, seeds=seeds, set=sets, vary=vary, out=folder, jobs=jobs, quiet=as_json, strategies=strategies
        )
    except (Cancelled, StoreError) as error:
        again = shlex.join(["acklab", *sys.argv[1:]])
        raise type(error)(f"{error}\nwhat is finished is kept; go on with: {again}") from error
    if as_json:
        print(json.dumps(finite(result.to_dict()), allow_nan=False))
    else:
        show(result)
    if result.replaced:
        tell(
            f"note: {printable(folder)} had tables of a sweep with {result.replaced} points more; they hold this sweep now, and the points "
            "are kept: run that sweep again to have them back"
        )
    for command, message in result.failures:
        tell(f"failed: {message}\n  repeat it with: {command}")
    if result.failures:
        raise typer.Exit(1)


def show(result: SweepResult) -> None:
    """Prints means over seeds for each point of the grid, and where the tables are."""
    if result.has_results:
        show_table(result.summary_table(), f" (all of them: {printable(result.directory)}/flows.parquet)")
    done = len(result.commands) - len(result.failures)
    tables = ", ".join(sorted(path.name for path in result.directory.glob("*.parquet")))
    out.print(
        f"{done} of {len(result.commands)} points in {printable(result.directory)}: {tables}",
        highlight=False, soft_wrap=True, markup=False,
    )  # fmt: skip
