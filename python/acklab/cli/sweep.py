"""`acklab sweep`."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from acklab.cli.run import DEFAULT_VIEW, View, finite
from acklab.errors import Cancelled, StoreError
from acklab.files import printable
from acklab.metrics import numbers_of
from acklab.sweeps import SweepResult, estimate, sweep
from acklab.sweeps.estimation import Estimate
from acklab.sweeps.on_ray import executor_of
from acklab.sweeps.summary import chosen_metrics
from acklab.sweeps.unfinished import Unfinished
from acklab.terminal import notify, out, show_table
from acklab.ways import SIMULATE


def sweep_command(
    file: Path,
    grid: list[str],
    seeds: int,
    sets: list[str],
    vary: list[str],
    folder: str,
    jobs: int | None,
    as_json: bool,
    strategies: list[str],
    on: str | None,
    dry_run: bool,
    way: str,
    kernel: str | None,
    view: View = DEFAULT_VIEW,
) -> None:
    """Runs a sweep. Shows results, folder and failures, or how to resume if it was stopped.

    A long sweep on this machine begins with an estimate.
    """
    metrics = metrics_of(view)
    common: dict[str, Any] = {"grid": grid, "seeds": seeds, "set": sets, "vary": vary, "out": folder, "jobs": jobs}
    common |= {"strategies": strategies, "way": way, "kernel": kernel}
    if dry_run:
        expected = estimate(file, **common)
        print(json.dumps(expected.to_dict()) if as_json else expected.text)
        return
    try:
        announce = None if on is not None or way != SIMULATE else _announce
        result = sweep(file, **common, quiet=as_json, on=executor_of(on), announce=announce)
    except (Cancelled, StoreError) as error:
        again = shlex.join(["acklab", *sys.argv[1:]])
        raise type(error)(f"{error}\nfinished points are stored; resume with: {again}") from error
    if as_json:
        print(json.dumps(finite(result.to_dict(metrics)), allow_nan=False))
    else:
        show(result, metrics)
    if result.replaced:
        notify(
            f"note: {printable(folder)} had tables of a sweep with {result.replaced} points more. They were replaced; the points "
            "are still stored: rerun that sweep to restore its tables"
        )
    report_failures(result.failures)
    if result.failures:
        raise typer.Exit(1)


def metrics_of(view: View) -> tuple[str, ...]:
    """Returns the metrics of a sweep to show. Raises UsageError for an unknown one."""
    return chosen_metrics(numbers_of("flows") if view.everything else view.only)


def _announce(estimate: Estimate) -> None:
    notify(f"{estimate.text}\nCtrl-C stops; finished points are stored")


def report_failures(failures: Sequence[tuple[str, str]]) -> None:
    """Prints failures: equal ones once, with their number and a command that repeats the first."""
    groups: dict[str, list[str]] = {}
    for command, message in failures:
        groups.setdefault(message, []).append(command)
    for message, commands in groups.items():
        count = f" ({len(commands)} points)" if len(commands) > 1 else ""
        which = "the first" if len(commands) > 1 else "it"
        notify(f"failed{count}: {message}\n  repeat {which} with: {commands[0]}")


def show(result: SweepResult, metrics: Sequence[str] = ()) -> None:
    """Prints means over seeds for each point of the grid, and the folder of the tables."""
    where = printable(str(result.place))
    if result.has_results:
        from acklab.contrast import unchanged_axes

        show_table(result.summary_table(metrics=metrics), f" (all rows: {where}/flows.parquet)")
        for key in unchanged_axes(result):
            notify(f"note: {key} has no effect: every flow has equal numbers for all of its values")
    done = result.count - len(result.failures)
    tables = ", ".join(f"{name}.parquet" for name in sorted(result.files))
    out.print(f"{done} of {result.count} points in {where}: {tables}", highlight=False, soft_wrap=True, markup=False)
    for one in Unfinished.found(result.place):
        notify(f"note: a sweep into {where} is unfinished: {one.described}")
