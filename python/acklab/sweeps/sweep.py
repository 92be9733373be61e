"""A grid of values times a set of seeds."""

import contextlib
import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

import pyarrow as pa

from acklab import core, store
from acklab.contents import Contents, refuse_others
from acklab.errors import RunError, StoreError, UsageError
from acklab.files import path_of
from acklab.named_tables import NamedTables
from acklab.places import LocalPlace, Place, Stamp, place_of
from acklab.replacing import exchanging, settle, tidy
from acklab.result import Result
from acklab.scenario import Overrides, Source, overrides, whole_number
from acklab.seals import sealed, verify
from acklab.store import SWEEP_FILE
from acklab.strategy_files import StrategyFile, refuse_unused, strategy_files
from acklab.sweeps.execution import Executor, Outcome, Threads, Watcher, execute
from acklab.sweeps.grid import Axes, Grid, variations
from acklab.sweeps.merging import POINTS, merge
from acklab.sweeps.on_ray import executor_of
from acklab.sweeps.packed_store import DamagedPack, PackedStore
from acklab.sweeps.plan import Plan
from acklab.sweeps.summary import chosen_metrics, summary, summary_table
from acklab.sweeps.unfinished import Unfinished
from acklab.sweeps.variants import Variants
from acklab.tables import Table
from acklab.terminal import progress_bar
from acklab.virtual.kernels import find
from acklab.ways import SIMULATE, VIRTUAL, check_way

if TYPE_CHECKING:
    import polars as pl

    from acklab.sweeps.estimation import Estimate

WAYS = (SIMULATE, VIRTUAL)
"""Modes of a sweep: simulations, or emulations in virtual time."""

_LONG = 30_000.0
"""Simulated seconds beyond which a sweep is estimated first.

Chosen: 30,000 s at 100 Mbps take about a minute of CPU time, ten times the time of an estimate.
"""
_FORMAT = 2
"""Version of the document. In version 1, the document contained the points."""
_SUMMARY = "the summary of a sweep that acklab wrote"


@dataclass(frozen=True, repr=False)
class SweepResult(NamedTables):
    """A finished sweep: a folder with one Parquet file per table, over all points.

    Each table begins with the columns `point`, one per key of the grid (`columns` has their names),
    and `seed`. The table `points` has a row per point, with its digest and the command that repeats
    it.
    """

    place: Place
    """The folder or the store of the results."""
    grid: Grid
    columns: Mapping[str, str]
    """Column name by key of the grid."""
    seeds: tuple[int, ...]
    command: str
    """The command that repeats the sweep, without the folder."""
    count: int
    """Number of points."""
    files: Mapping[str, Stamp | None] = field(compare=False)
    """The files of the tables. Files of an earlier version have no stamp."""
    failures: tuple[tuple[str, str], ...] = field(default=())
    """Command and message of each point that failed."""
    replaced: int = field(default=0, compare=False)
    """Number of points of an earlier sweep that the tables no longer contain. The points themselves
    stay stored.
    """
    listed: tuple[str, ...] | None = field(default=None, compare=False)
    """The commands of points, for sweeps of an earlier version, which have no table of points."""

    @property
    def directory(self) -> Path:
        """Returns the folder. Raises UsageError if the results are not on this machine."""
        if self.place.path is None:
            raise UsageError(f"{self.place}: found a store, expected a folder of this machine")
        return self.place.path

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """Returns the commands that repeat the points, by point. Raises StoreError."""
        if self.listed is not None:
            return self.listed
        return tuple(self._arrow(POINTS, ["command"]).column("command").to_pylist())

    @property
    def rerun(self) -> str:
        """Returns the command that repeats the sweep into its folder."""
        return f"{self.command} --out {shlex.quote(str(self.place))}"

    @property
    def has_results(self) -> bool:
        """Returns whether any point was finished."""
        return "flows" in self.files

    @property
    def tables(self) -> tuple[str, ...]:
        """Returns the names of the tables."""
        return tuple(self.files)

    def table(self, name: str, columns: Sequence[str] | None = None) -> "pl.DataFrame":
        """Returns a table over all points, with all or some of its columns. Raises StoreError."""
        import polars as pl

        frame = pl.from_arrow(self._arrow(name, columns))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def units(self, name: str) -> dict[str, str]:
        """Returns the unit of each column of a table that has one. Raises StoreError."""
        return store.units_of(self.schema(name))

    def schema(self, name: str) -> pa.Schema:
        """Returns the schema of a table, whose metadata have the provenance. Raises StoreError."""
        self._refuse_unknown(name)
        stamp = self.files[name]
        if stamp is not None:
            self.place.verify(f"{name}.parquet", stamp)
        return self.place.schema(f"{name}.parquet")

    def with_commands(self, cells: "pl.DataFrame", runs: "pl.DataFrame", by: Sequence[str]) -> "pl.DataFrame":
        """Returns `cells` with the `command` that repeats a run of each.

        This is the first `point` of `runs` with equal values in the columns `by`. Raises
        StoreError.
        """
        import polars as pl

        first = runs.group_by(by, maintain_order=True).agg(pl.col("point").first())
        cells = cells.join(first, on=by, maintain_order="left")
        commands = self.commands
        return cells.with_columns(command=pl.Series([commands[point] for point in cells["point"]], dtype=pl.String))

    def result(self, point: int) -> Result:
        """Returns all tables of one point, as `acklab.run` does.

        Raises UsageError for a missing point, StoreError.
        """
        if not 0 <= point < self.count:
            raise UsageError(f"point: found {point}, expected a number from 0 to {self.count - 1}")
        digest = self._arrow(POINTS, ["digest"]).column("digest")[point].as_py()
        return PackedStore(self.place).results([digest])[0]

    def summary(self, metrics: Sequence[str] = ()) -> "pl.DataFrame":
        """Returns means over seeds with 95 % intervals.

        There is a row for each combination of the grid and each kind of flow. `metrics` are columns
        of the table of flows (default: the most important). Raises UsageError for other names.
        """
        return summary(self.flows, list(self.columns.values()), chosen_metrics(metrics))

    def summary_table(self, limit: int | None = None, metrics: Sequence[str] = ()) -> Table:
        """Returns the summary as a table of text: 13.9 ± 0.2.

        A limit sets the maximum number of rows.
        """
        frame = self.summary(metrics)
        shown = frame if limit is None else frame.head(limit)
        table = summary_table(shown, self.units("flows"), len(self.seeds))
        return replace(table, left_out=frame.height - shown.height)

    def to_dict(self, metrics: Sequence[str] = ()) -> dict[str, Any]:
        """Returns the output of `acklab sweep --json`: summary, points and failures.

        NaN becomes None.
        """
        return {
            "command": self.rerun,
            "summary": self.summary(metrics).to_dicts() if self.has_results else [],
            "points": list(self.commands),
            "failures": [{"command": command, "error": message} for command, message in self.failures],
        }

    def __repr__(self) -> str:
        """Returns a short text, because a sweep may have thousands of points."""
        axes = ", ".join(f"{name} × {len(values)}" for name, values in self.grid.values.items())
        return f"SweepResult({str(self.place)!r}, {self.count} points: {axes or 'no grid'}, {len(self.seeds)} seeds)"

    def _repr_html_(self) -> str:
        """Returns HTML for notebooks: the summary, and a figure for a grid with one axis."""
        from acklab.notebook import page

        failed = f", {len(self.failures)} failed" if self.failures else ""
        note = f"{self.count} points{failed}, {len(self.seeds)} seeds, in {self.place}"
        if not self.has_results:
            return page("Sweep", note, [])
        figure = None
        if len(self.columns) == 1:
            from acklab.figures import profiles

            (axis,) = self.columns.values()
            figure = profiles(self.flows, axis, "flow", "mean_throughput_l4", "throughput [Mbps]", self.titled(axis))
        return page("Sweep", note, [self.summary_table()], figure=figure)

    def titled(self, column: str) -> str:
        """Returns the name of a column of the grid with its unit, if it has one: interval [ms]."""
        unit = self.units("flows").get(column)
        return f"{column} [{unit}]" if unit else column

    def query(self, sql: str) -> "pl.DataFrame":
        """Executes a query by DuckDB.

        Every table is a view of the same name: `select congestion, avg(mean_srtt_l4) from flows
        group by all`.

        Reads only the columns and groups of rows that the query needs. Verifies the tables first:
        once per process, and again after they change. Raises UsageError for a query that DuckDB
        refuses or that returns no table, StoreError for a damaged table.
        """
        from acklab.queries import run_query

        return run_query(sql, self.place, self.files)

    def _arrow(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        self._refuse_unknown(name)
        return self.place.table(f"{name}.parquet", self.files[name], columns)

    def _refuse_unknown(self, name: str) -> None:
        if name not in self.files:
            raise StoreError(f"{self.place}: found no table {name!r}, expected one of {', '.join(self.files)}")


def sweep(
    scenario: str | Path | Mapping[str, Any] | Source,
    *,
    grid: Axes | Sequence[str] | Grid = (),
    seeds: SupportsIndex | Iterable[SupportsIndex] = 1,
    out: str | Path | Place,
    set: Overrides = (),
    vary: Mapping[str, str] | Sequence[str] = (),
    jobs: SupportsIndex | None = None,
    base: str | Path | None = None,
    watch: Watcher | None = None,
    quiet: bool = False,
    strategies: Sequence[str | StrategyFile] | None = None,
    on: Executor | str | None = None,
    way: str = SIMULATE,
    kernel: str | None = None,
    announce: Callable[["Estimate"], None] | None = None,
) -> SweepResult:
    """Runs a scenario at every point of a grid, for every seed, on all cores.

    `grid` gives values by key (a list, a range, a column or an array), or named variants with their
    overrides, such as `{"path": {"near": {"link.0.forward.delay": "1ms"}}}` or
    `{"path": Variants.read("paths.toml")}`. `seeds` is a number of seeds, counted up from the
    scenario's seed, or a list of seeds. `vary` gives values that are drawn for each seed except the
    first, such as `{"flow.0.start": "0ms..5ms"}`. Results are stored in the folder `out`. A stored
    point is not run again, so an interrupted sweep resumes and a grid may be extended. `out` may be
    the URL of a store, such as `s3://bucket/folder`.

    `strategies` are the files of your own strategies in the scenario: `["mine.py:EveryThird"]`. A
    point depends on the bytes of its file, but not on its imports.

    `on` is the executor of points (default: threads on this machine): "ray" for the Ray cluster of
    this machine or of RAY_ADDRESS, "ray://HOST:PORT" for another, or your own executor.

    With the way "virtual", points are emulations with the kernel's TCP in virtual time, as by
    `acklab.emulate` with `clock="virtual"`; `kernel` is the name of a guest kernel (default: the
    newest).

    `base` is the folder of relative trace files (default: the folder of the file). `watch` receives
    the progress after each batch of points, as a `Progress`. Without it, a bar on standard error,
    or in the notebook, shows the progress; `quiet` hides the bar. `announce` receives an estimate
    of the cost before points run that simulate more than 30,000 s in all.

    The tables are identical for any number of `jobs` (default: one per core) and any executor.
    Failed points are listed in `failures` of the result and do not affect the others. Raises
    ScenarioError or UsageError before anything runs if a point is invalid. Raises Cancelled on
    Ctrl-C, and StoreError if results cannot be stored, also in a folder with results of a run, an
    emulation or a study.
    """
    at_once = _jobs(jobs)
    plan, place = _planned(scenario, grid, seeds, out, set, vary, base, strategies, _kernel(way, kernel))
    # A scenario without a file is written to a file, so that commands can name it.
    if isinstance(scenario, Mapping):
        place.write(plan.source.name, plan.source.text.encode())
    if isinstance(grid, Mapping):
        for name, given in grid.items():
            if isinstance(given, Mapping):
                place.write_json(f"{name}.json", Variants.of(name, given).document())
    executor = (executor_of(on) if isinstance(on, str) else on) or Threads(at_once)
    points = PackedStore(place)
    if announce is not None and plan.simulated_seconds(points.done()) > _LONG:
        from acklab.sweeps.estimation import estimate_plan

        # The sweep itself lists points that fail.
        with contextlib.suppress(RunError):
            announce(estimate_plan(plan, place, at_once))
    unfinished = Unfinished.begin(plan, points)
    with progress_bar(quiet or watch is not None) as bar:
        outcome = execute(plan.points, points, executor, watch or bar)
    with place.exclusively("sweep"):
        before = _document(place)
        if not outcome.failed and before.get("plan") == plan.digest and _is_whole(place, before):
            result = load_sweep(place)
            if place.path is not None:
                tidy(place.path)
        else:
            result = _merged(plan, place, points, executor, outcome, _replaced(before, place, plan))
    unfinished.end()
    return result


def estimate(
    scenario: str | Path | Mapping[str, Any] | Source,
    *,
    grid: Axes | Sequence[str] | Grid = (),
    seeds: SupportsIndex | Iterable[SupportsIndex] = 1,
    out: str | Path | Place,
    set: Overrides = (),
    vary: Mapping[str, str] | Sequence[str] = (),
    jobs: SupportsIndex | None = None,
    base: str | Path | None = None,
    strategies: Sequence[str | StrategyFile] | None = None,
    way: str = SIMULATE,
    kernel: str | None = None,
) -> "Estimate":
    """Estimates the cost of a `sweep` with these arguments: points, CPU time and memory.

    The estimate is for this machine.

    Checks every point. For about six seconds, runs a sample of the points that `out` lacks. Stores
    nothing. Raises the errors of `sweep`, and RunError if a point of the sample fails.
    """
    from acklab.sweeps.estimation import estimate_plan

    at_once = _jobs(jobs)
    return estimate_plan(*_planned(scenario, grid, seeds, out, set, vary, base, strategies, _kernel(way, kernel)), at_once)


def _kernel(way: str, kernel: str | None) -> str:
    """Returns the name of the guest kernel; empty for simulations. Raises UsageError, RunError."""
    check_way(way, kernel, WAYS)
    return find(kernel).name if way == VIRTUAL else ""


def _jobs(jobs: SupportsIndex | None) -> int | None:
    at_once = None if jobs is None else whole_number(jobs)
    if jobs is not None and (at_once is None or at_once < 1):
        raise UsageError(f"jobs: found {jobs!r}, expected a whole number of at least 1")
    return at_once


def _planned(
    scenario: str | Path | Mapping[str, Any] | Source,
    grid: Axes | Sequence[str] | Grid,
    seeds: SupportsIndex | Iterable[SupportsIndex],
    out: str | Path | Place,
    set: Overrides,
    vary: Mapping[str, str] | Sequence[str],
    base: str | Path | None,
    strategies: Sequence[str | StrategyFile] | None,
    kernel: str,
) -> tuple[Plan, Place]:
    """Returns the checked points, and the place. The place has no result of another kind."""
    source = Source.of(scenario, None if base is None else path_of(base, "base"))
    place = place_of(out, "out")
    files = tuple(strategy_files(strategies or ()).values())
    if kernel and files:
        raise UsageError("strategies: found own strategies with the kernel's TCP, expected none")
    plan = Plan.of(source, Grid.of(grid), seeds, overrides(set), variations(vary), files, kernel)
    changes = [change for axis in plan.grid.axes.values() for sets in axis.choices.values() for change in sets]
    refuse_unused((file.name for file in files), source.load(plan.sets), changes)
    refuse_others(place, Contents.SWEEP)
    return plan, place


def _merged(plan: Plan, place: Place, points: PackedStore, executor: Executor, outcome: Outcome, replaced: int) -> SweepResult:
    """Merges the tables of the points, and reruns damaged points. Raises StoreError."""
    for _ in range(len(plan.points) + 1):
        try:
            points.compact()
            done = points.done()
            first = next((point.digest for point in plan.points if point.digest in done), None)
            columns = plan.grid.columns({"point", "seed"} | (points.columns([first]) if first else set()))
            with _exchanging(place) as target:
                files = merge(plan, columns, points, target)
                document = _summary_of(plan, columns, files, outcome)
                target.write_json(SWEEP_FILE, sealed(document))
            break
        except DamagedPack as error:
            points.drop(error.pack)
            execute(plan.points, points, executor)
    place.clean("")
    return _result(place, document, replaced)


def _summary_of(plan: Plan, columns: Mapping[str, str], files: Mapping[str, Stamp], outcome: Outcome) -> dict[str, Any]:
    failed = {point.digest: message for point, message in outcome.failed}
    return {
        "format": _FORMAT,
        "scenario": plan.source.name,
        "command": plan.command,
        "grid": plan.grid.document(),
        "columns": dict(columns),
        "seeds": list(plan.seeds),
        "revision": core.revision(),
        "version": core.version(),
        "plan": plan.digest,
        "points": len(plan.points),
        "failures": [
            {"point": index, "command": point.command, "error": failed[point.digest]}
            for index, point in enumerate(plan.points)
            if point.digest in failed
        ],
        "tables": {name: stamp.to_dict() for name, stamp in files.items()},
    }


@contextlib.contextmanager
def _exchanging(place: Place) -> Iterator[Place]:
    """Yields a place for the tables and the summary, which replace the earlier ones together.

    A store has no atomic exchange: the earlier summary is removed first, and the new summary is
    written last. If the sweep is killed in between, there is no summary.
    """
    if place.path is None:
        place.remove(SWEEP_FILE)
        yield place
        return
    folder = place.path
    # Tables of an earlier grid that this grid does not have.
    with exchanging(folder, lambda: store.tables_with(folder, "acklab.grid")) as staging:
        yield LocalPlace(staging)


def load_sweep(directory: str | Path | Place) -> SweepResult:
    """Reads the output of `sweep`. Raises StoreError."""
    place = place_of(directory, "directory")
    if place.path is not None:
        settle(place.path)
    if not place.exists(SWEEP_FILE) and (left := Unfinished.found(place)):
        raise StoreError(f"{place}: found an unfinished sweep: {left[0].described}")
    name = place.name_of(SWEEP_FILE)
    document = place.read_json(SWEEP_FILE, _SUMMARY)
    try:
        if document.get("format", 1) > _FORMAT:
            raise StoreError(f"{name}: format: found {document['format']}, expected at most {_FORMAT}")
        result = _result(place, document)
    except KeyError as error:
        raise StoreError(f"{name}: required key {error} is missing, expected {_SUMMARY}") from error
    except (TypeError, AttributeError, ValueError) as error:
        raise StoreError(f"{name}: found values of other types ({error}), expected {_SUMMARY}") from error
    if "format" in document:
        verify(document, name)
    return result


def _result(place: Place, document: Mapping[str, Any], replaced: int = 0) -> SweepResult:
    """Returns the result of a summary.

    Raises KeyError, TypeError, AttributeError or ValueError for other documents.
    """
    grid = Grid.from_document(document["grid"])
    points = document["points"]
    files: dict[str, Stamp | None]
    if isinstance(points, int):
        count, listed = points, None
        failed = [(failure["command"], failure["error"]) for failure in document["failures"]]
        files = {name: Stamp.from_dict(stamp) for name, stamp in document["tables"].items()}
    else:
        count, listed = len(points), tuple(point["command"] for point in points)
        failed = [(point["command"], point["error"]) for point in points if "error" in point]
        files = {name.removesuffix(".parquet"): None for name in place.names("") if name.endswith(".parquet")}
    return SweepResult(
        place=place,
        grid=grid,
        columns=document["columns"],
        seeds=tuple(document["seeds"]),
        command=document["command"],
        count=count,
        files=files,
        failures=tuple(failed),
        replaced=replaced,
        listed=listed,
    )


def _document(place: Place) -> dict[str, Any]:
    """Returns the summary of the sweep in a place; empty if none can be read."""
    try:
        found = json.loads(place.read(SWEEP_FILE))
        if not isinstance(found, dict):
            return {}
        verify(found, place.name_of(SWEEP_FILE))
    except (StoreError, ValueError):
        return {}
    return found


def _is_whole(place: Place, document: Mapping[str, Any]) -> bool:
    """Returns whether the tables of a sweep match their stamps."""
    try:
        for name, stamp in document["tables"].items():
            place.verify(f"{name}.parquet", Stamp.from_dict(stamp))
    except (StoreError, KeyError, TypeError, ValueError, AttributeError):
        return False
    return True


def _replaced(before: Mapping[str, Any], place: Place, plan: Plan) -> int:
    """Returns the number of finished points in an earlier sweep's tables that this sweep lacks."""
    try:
        if isinstance(before["points"], list):
            earlier = {point["digest"] for point in before["points"] if "error" not in point}
        else:
            table = _result(place, before)._arrow(POINTS, ["digest", "done"])
            earlier = set(table.filter(table["done"]).column("digest").to_pylist())
    except (StoreError, KeyError, TypeError, ValueError, AttributeError):
        return 0
    return len(earlier - {point.digest for point in plan.points})
