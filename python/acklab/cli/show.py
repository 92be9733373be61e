"""`acklab show` and `acklab compare`: stored results."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from acklab.cli.run import DEFAULT_VIEW, View, finite
from acklab.cli.run import show as show_run
from acklab.contents import Contents
from acklab.errors import UsageError
from acklab.files import printable
from acklab.places import Place, place_of
from acklab.result import Result, load_result
from acklab.store import STUDY_FILE
from acklab.tables import METRIC_TABLES, Table, chosen_document
from acklab.terminal import notify, show_table


def show_command(where: str, as_json: bool, view: View = DEFAULT_VIEW) -> None:
    """Shows the result of a run, a sweep or a study."""
    _show(place_of(where, "DIR"), as_json, view)


def _show(place: Place, as_json: bool, view: View) -> None:
    contents = Contents.of(place)
    if contents is not None and contents.is_sweep:
        from acklab.cli.sweep import metrics_of
        from acklab.cli.sweep import show as show_sweep
        from acklab.sweeps import load_sweep

        sweep = load_sweep(place)
        if as_json:
            print(json.dumps(finite(sweep.to_dict(metrics_of(view))), allow_nan=False))
        else:
            show_sweep(sweep, metrics_of(view))
    elif contents is Contents.STUDY:
        if view.only:
            raise UsageError("found --only for a study, expected a run or a sweep: a study shows its claims")
        from acklab.cli.study import show as show_study
        from acklab.report import Document

        document = Document.read(place)
        if as_json:
            print(json.dumps({"claims": [finding.row() for finding in document.findings]}, allow_nan=False))
        else:
            show_study(document.title, document.findings)
    elif as_json:
        print(json.dumps(finite(chosen_document(load_result(place), view.only)), allow_nan=False))
    elif not place.exists("flows.parquet") and (below := _studies(place)):
        for one in below:
            _show(one, as_json, view)
    else:
        result = load_result(place)
        show_run(result, str(place), view)
        notify(f"repeat with: {result.provenance.command}")


def _studies(place: Place) -> list[Place]:
    """Returns the studies in a folder of studies."""
    if place.path is not None and not place.path.is_dir():
        return []
    return [place / name for name in place.folders() if (place / name).exists(STUDY_FILE)]


def compare_command(folders: list[str], table: str, only: list[str], relative_to: str = "", everything: bool = False) -> None:
    """Compares the results of runs, of sweeps, or of the points of one sweep."""
    from acklab.contrast import SHORT, run_columns

    names = tuple(name for text in only for name in text.split(",") if name)
    places = {_label(folder): place_of(folder, "DIR") for folder in folders}
    kinds = {label: Contents.of(place) for label, place in places.items()}
    sweeps = [label for label, kind in kinds.items() if kind is not None and kind.is_sweep]
    if sweeps:
        _compare_sweeps(places, sweeps, names, relative_to)
        return
    if len(folders) < 2:
        raise UsageError("expected at least two folders with runs or sweeps, or one with a sweep and --relative-to AXIS=VALUE")
    results = run_columns({label: load_result(place) for label, place in places.items()}, _label(relative_to))
    if (differences := _differences(results)).rows:
        show_table(differences)
    else:
        notify(
            "note: the scenarios are the same"
            + ("" if len({one.seed for one in results.values()}) == 1 else ", the seeds are not")
        )
    _check_names(results, table, names)
    for name in (
        [table]
        if table
        else [name for name in METRIC_TABLES if name != "hack" or "hack" in _common(results, list(METRIC_TABLES))]
    ):
        if all(name in result.tables for result in results.values()):
            _show_rows(results, name, names or (() if everything or table else SHORT), everything or bool(table or names))
    if not (everything or names or table):
        notify("all metrics: --all; selected metrics: --only NAME,NAME; for intervals, compare sweeps over several seeds")


def _compare_sweeps(places: Mapping[str, Place], sweeps: Sequence[str], only: Sequence[str], relative_to: str) -> None:
    from acklab.contrast import contrast_sweeps, contrast_within
    from acklab.sweeps import load_sweep

    if len(sweeps) < len(places):
        other = next(label for label in places if label not in sweeps)
        raise UsageError(f"{other}: found no sweep, expected only sweeps or only runs")
    found = {label: load_sweep(place) for label, place in places.items()}
    if len(found) == 1:
        (sweep,) = found.values()
        if not relative_to:
            raise UsageError("found one sweep, expected --relative-to AXIS=VALUE, or a second sweep")
        tables = contrast_within(sweep, relative_to, only)
    else:
        tables = contrast_sweeps(found, only, _label(relative_to))
    for one in tables:
        show_table(one)


def _label(folder: str) -> str:
    """Returns the name of a folder or a URL in tables, without a trailing slash."""
    return printable(str(place_of(folder, "DIR"))) if folder else ""


def _check_names(results: Mapping[str, Result], table: str, only: Sequence[str]) -> None:
    """Raises UsageError for a table or a metric that is missing from a result."""
    names = [name for name in next(iter(results.values())).tables if all(name in result.tables for result in results.values())]
    if table and table not in names:
        raise UsageError(f"--table: found {table!r}, expected a table of all results: {', '.join(names)}")
    known = {column for name in ([table] if table else names) for column in next(iter(results.values())).arrow(name).column_names}
    if unknown := [metric for metric in only if metric not in known]:
        raise UsageError(f"--only: found {unknown[0]!r}, expected a column of {table or 'a table'} such as mean_throughput_l4")


def _common(results: Mapping[str, Result], names: list[str]) -> list[str]:
    return [name for name in names if all(name in result.tables for result in results.values())]


def _show_rows(results: Mapping[str, Result], name: str, only: Sequence[str], everything: bool) -> None:
    """Shows a comparison for each row name that all results have.

    Tables with one row have a single comparison.

    Without `everything`, shows only links that are the slowest hop of a flow or of its ACKs.
    """
    from acklab.contrast import contrast_rows

    caption = METRIC_TABLES.get(name, name).split(",")[0]
    rows = {label: result.arrow(name).to_pylist() for label, result in results.items()}
    units = next(iter(results.values())).units(name)
    if all(len(found) == 1 for found in rows.values()):
        shown = {"": {label: found[0] for label, found in rows.items()}}
    else:
        by_name = {label: {str(next(iter(row.values()))): row for row in found} for label, found in rows.items()}
        first = next(iter(by_name.values()))
        slowest = _slowest_hops(results) if name == "links" and not everything else first.keys()
        common = [row for row in first if row in slowest and all(row in found for found in by_name.values())]
        shown = {row: {label: found[row] for label, found in by_name.items()} for row in common}
    for row, columns in shown.items():
        table = contrast_rows(columns, units, only, f"{caption}: {row}" if row else caption)
        if table.rows:
            show_table(table)


def _slowest_hops(results: Mapping[str, Result]) -> set[str]:
    """Returns the slowest hops of flows and of their ACKs."""
    flows = [flow for result in results.values() for flow in result.arrow("flows").to_pylist()]
    return {str(flow.get(column)) for flow in flows for column in ("bottleneck", "return_bottleneck")}


def _differences(results: Mapping[str, Result]) -> Table:
    """Returns the keys that differ between the complete scenarios, with their values."""
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
