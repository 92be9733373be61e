"""`acklab show` and `acklab compare`: results that were kept, again."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from acklab.cli.run import finite
from acklab.cli.run import show as show_run
from acklab.contents import Contents
from acklab.errors import UsageError
from acklab.files import printable
from acklab.result import Result, load_result
from acklab.store import STUDY_FILE, SWEEP_FILE
from acklab.tables import METRIC_TABLES, Table, compare
from acklab.terminal import show_table, tell


def show_command(folder: Path, as_json: bool) -> None:
    """Shows the result of a run, a sweep or a study."""
    if (folder / SWEEP_FILE).is_file() or Contents.of(folder) is Contents.POINTS:
        from acklab.cli.sweep import show as show_sweep
        from acklab.sweeps import load_sweep

        sweep = load_sweep(folder)
        if as_json:
            print(json.dumps(finite(sweep.to_dict()), allow_nan=False))
        else:
            show_sweep(sweep)
    elif (folder / STUDY_FILE).is_file():
        from acklab.cli.study import show as show_study
        from acklab.report import Document

        document = Document.read(folder)
        if as_json:
            print(json.dumps({"claims": [finding.row() for finding in document.findings]}, allow_nan=False))
        else:
            show_study(document.title, document.findings)
    elif as_json:
        print(json.dumps(finite(load_result(folder).to_dict()), allow_nan=False))
    elif not any(folder.glob("*.parquet")) and (below := sorted(path.parent for path in folder.glob(f"*/{STUDY_FILE}"))):
        for place in below:
            show_command(place, as_json)
    else:
        result = load_result(folder)
        show_run(result, folder)
        tell(f"repeat it with: {result.provenance.command}")


def compare_command(folders: list[Path], table: str, only: list[str]) -> None:
    """Shows what differs between the scenarios of several runs, then their tables side by side."""
    if len(folders) < 2:
        raise UsageError("expected two folders or more, each with the result of a run")
    results = {}
    for folder in folders:
        results[printable(folder)] = load_result(folder)
    if (differences := _differences(results)).rows:
        show_table(differences)
    else:
        tell(
            "note: the scenarios are the same"
            + ("" if len({one.seed for one in results.values()}) == 1 else ", the seeds are not")
        )
    _check_names(results, table, only)
    for name in (
        [table]
        if table
        else [name for name in METRIC_TABLES if name != "hack" or "hack" in _common(results, list(METRIC_TABLES))]
    ):
        if all(name in result.tables for result in results.values()):
            _show_rows(results, name, only)


def _check_names(results: Mapping[str, Result], table: str, only: list[str]) -> None:
    """Raises UsageError for a table or a metric that not all results have."""
    names = [name for name in next(iter(results.values())).tables if all(name in result.tables for result in results.values())]
    if table and table not in names:
        raise UsageError(f"--table: found {table!r}, expected one that all results have: {', '.join(names)}")
    known = {column for name in ([table] if table else names) for column in next(iter(results.values())).arrow(name).column_names}
    if unknown := [metric for metric in only if metric not in known]:
        raise UsageError(f"--only: found {unknown[0]!r}, expected a column of {table or 'a table'} such as mean_throughput_l4")


def _common(results: Mapping[str, Result], names: list[str]) -> list[str]:
    return [name for name in names if all(name in result.tables for result in results.values())]


def _show_rows(results: Mapping[str, Result], name: str, only: list[str]) -> None:
    """A table for each row that all results have by its name; one for all of them if each has a single row."""
    arrow = {label: result.arrow(name) for label, result in results.items()}
    if all(table.num_rows == 1 for table in arrow.values()):
        show_table(compare(results, name, None, METRIC_TABLES.get(name, name), only))
        return
    names = [table.column(0).to_pylist() for table in arrow.values()]
    for row in (row for row in names[0] if all(row in others for others in names)):
        show_table(compare(results, name, str(row), f"{METRIC_TABLES.get(name, name)}: {row}", only))


def _differences(results: Mapping[str, Result]) -> Table:
    """The keys of the scenarios in full that differ, with their values."""
    flat = [dict(_leaves(result.scenario, "")) for result in results.values()]
    keys = dict.fromkeys(key for one in flat for key in one)
    rows = [[key, *(str(one.get(key, "–")) for one in flat)] for key in keys if len({str(one.get(key)) for one in flat}) > 1]
    return Table(["scenario", *results], rows, "What differs")


def _leaves(value: Any, place: str) -> Any:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{place}.{key}" if place else key)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            name = item.get("name", index) if isinstance(item, dict) else index
            yield from _leaves(item, f"{place}.{name}")
    else:
        yield place, value
