"""A grid of values times a set of seeds."""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from acklab import core, store
from acklab.contents import Contents, refuse_others
from acklab.errors import StoreError, UsageError
from acklab.files import path_of
from acklab.named_tables import NamedTables
from acklab.scenario import Overrides, Source, overrides, whole_number
from acklab.store import SWEEP_FILE
from acklab.strategy_files import StrategyFile, strategy_files
from acklab.sweeps.execution import Watcher, execute
from acklab.sweeps.grid import Axes, Grid, variations
from acklab.sweeps.merging import DamagedPoint, merge
from acklab.sweeps.plan import Plan
from acklab.sweeps.point import Point
from acklab.sweeps.summary import summary, summary_table
from acklab.sweeps.variants import Variants
from acklab.tables import Table
from acklab.terminal import progress_bar

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, repr=False)
class SweepResult(NamedTables):
    """A finished sweep: a folder with one Parquet file a table, over all points.

    Each table begins with the columns `point`, one for each key of the grid (`columns` tells their names), and `seed`.
    """

    directory: Path
    grid: Grid
    columns: Mapping[str, str]
    """Column name by key of the grid."""
    seeds: tuple[int, ...]
    command: str
    """The command that repeats the sweep, without the folder."""
    commands: tuple[str, ...]
    """The command that repeats each point, by point."""
    failures: tuple[tuple[str, str], ...] = field(default=())
    """Command and message of each point that failed."""
    replaced: int = field(default=0, compare=False)
    """Number of points of an earlier sweep that the tables no longer contain; the points themselves are kept."""

    @property
    def rerun(self) -> str:
        """The command that repeats the sweep into its folder."""
        return f"{self.command} --out {self.directory}"

    @property
    def has_results(self) -> bool:
        """Whether any point was finished."""
        return (self.directory / "flows.parquet").is_file()

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(store.table_files(self.directory))

    def table(self, name: str) -> "pl.DataFrame":
        """A table over all points. Raises StoreError."""
        import polars as pl

        frame = pl.from_arrow(store.read_table(self.directory / f"{name}.parquet"))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def units(self, name: str) -> dict[str, str]:
        """The unit of each column of a table that has one. Raises StoreError."""
        return store.units(self.directory / f"{name}.parquet")

    def summary(self) -> "pl.DataFrame":
        """Means over seeds with intervals of 95 %, a row for each combination of the grid and each kind of flow."""
        return summary(self.flows, list(self.columns.values()))

    def summary_table(self) -> Table:
        """The summary as a table of text: 13.9 ± 0.2."""
        return summary_table(self.summary(), self.units("flows"), len(self.seeds))

    def to_dict(self) -> dict[str, Any]:
        """The output of `acklab sweep --json`: the summary, the points and the failures. NaN becomes None."""
        return {
            "command": self.rerun,
            "summary": self.summary().to_dicts() if self.has_results else [],
            "points": list(self.commands),
            "failures": [{"command": command, "error": message} for command, message in self.failures],
        }

    def __repr__(self) -> str:
        """A short text, because a sweep may have thousands of points."""
        axes = ", ".join(f"{name} × {len(values)}" for name, values in self.grid.values.items())
        return f"SweepResult({str(self.directory)!r}, {len(self.commands)} points: {axes or 'no grid'}, {len(self.seeds)} seeds)"

    def _repr_html_(self) -> str:
        """For notebooks: the summary, and a figure for a grid with one axis."""
        from acklab.notebook import page

        failed = f", {len(self.failures)} failed" if self.failures else ""
        note = f"{len(self.commands)} points{failed}, {len(self.seeds)} seeds, in {self.directory}"
        if not self.has_results:
            return page("Sweep", note, [])
        figure = ""
        if len(self.columns) == 1:
            from acklab.figures import profiles

            (axis,) = self.columns.values()
            drawn = profiles(self.flows, axis, "flow", "mean_throughput_l4", "throughput [Mbps]", axis)
            figure = drawn.to_html(full_html=False, include_plotlyjs=True)
        return page("Sweep", note, [self.summary_table()], figure)

    def query(self, sql: str) -> "pl.DataFrame":
        """Asks DuckDB; every table is a view of its own name: `select congestion, avg(mean_srtt_l4) from flows group by all`.

        Raises UsageError for a query that DuckDB refuses or that yields no table.
        """
        import duckdb

        with duckdb.connect() as connection:
            for name, path in store.table_files(self.directory).items():
                quoted = str(path).replace("'", "''")
                connection.execute(f"create view \"{name}\" as select * from read_parquet('{quoted}')")
            try:
                relation = connection.sql(sql)
                if relation is None:
                    raise UsageError(f"query: found {sql!r}, expected one that yields a table")
                frame: pl.DataFrame = relation.pl()
            except duckdb.Error as error:
                raise UsageError(f"DuckDB refused the query: {error}") from error
        return frame


def sweep(
    scenario: str | Path | Mapping[str, Any] | Source,
    *,
    grid: Axes | Sequence[str] | Grid = (),
    seeds: SupportsIndex | Iterable[SupportsIndex] = 1,
    out: str | Path,
    set: Overrides = (),
    vary: Mapping[str, str] | Sequence[str] = (),
    jobs: SupportsIndex | None = None,
    base: str | Path | None = None,
    watch: Watcher | None = None,
    quiet: bool = False,
    strategies: Sequence[str | StrategyFile] | None = None,
) -> SweepResult:
    """Runs a scenario at every point of a grid, for every seed, on all cores.

    `grid` gives values by key (a list, a range, a column or an array), or named variants with their overrides, such as `{"path": {"near": {"link.0.forward.delay": "1ms"}}}`
    or `{"path": Variants.read("paths.toml")}`. `seeds` is a number of seeds, counted up from that of the scenario, or the seeds themselves. `vary`
    gives values that are drawn anew for each seed but the first, such as `{"flow.0.start": "0ms..5ms"}`. Results are kept in the
    folder `out`: a point that is there is not run again, so an interrupted sweep resumes and a grid may be extended.

    `strategies` are those of your own that the scenario names, in files: `["mine.py:EveryThird"]`. A point depends on the octets of
    its file, but not on what that imports.

    The tables are the same, to the octet, for any number of `jobs` (default: one a core). Points that fail are listed in `failures`
    of the result and leave the others alone. Raises ScenarioError or UsageError before anything runs if a point makes no sense,
    Cancelled on Ctrl-C, StoreError if results cannot be kept, also in a folder that holds those of a run, an emulation or a study.
    """
    source = Source.of(scenario, None if base is None else path_of(base, "base"))
    directory = path_of(out, "out")
    at_once = None if jobs is None else whole_number(jobs)
    if jobs is not None and (at_once is None or at_once < 1):
        raise UsageError(f"jobs: found {jobs!r}, expected a whole number of at least 1")
    plan = Plan.of(
        source, Grid.of(grid), seeds, overrides(set), variations(vary), tuple(strategy_files(strategies or ()).values())
    )
    refuse_others(directory, Contents.SWEEP)
    replaced = _replaced(directory, plan)
    # What has no file gets one, so that commands can name it.
    if isinstance(scenario, Mapping):
        store.write_text(directory / source.name, source.text)
    if isinstance(grid, Mapping):
        for name, given in grid.items():
            if isinstance(given, Mapping):
                store.write_json(directory / f"{name}.json", Variants.of(name, given).document())
    points = [point for point, _ in plan.points]
    with progress_bar(quiet or watch is not None) as bar:
        outcome = execute(points, directory, at_once, watch or bar)
    columns = _columns(plan, directory)
    rows = [(point, {columns[key]: value for key, value in values.items()}) for point, values in plan.points]
    _merge(rows, directory, plan, at_once)
    failed = {point.digest: message for point, message in outcome.failed}
    _write_summary(directory, plan, columns, failed)
    return SweepResult(
        directory=directory,
        grid=plan.grid,
        columns=columns,
        seeds=plan.seeds,
        command=plan.command,
        commands=tuple(point.command for point, _ in plan.points),
        failures=tuple((point.command, message) for point, message in outcome.failed),
        replaced=replaced,
    )


def load_sweep(directory: str | Path) -> SweepResult:
    """Reads what `sweep` wrote. Raises StoreError."""
    folder = path_of(directory, "directory")
    path = folder / SWEEP_FILE
    document = store.read_json(path, "the summary of a sweep that acklab wrote")
    try:
        return SweepResult(
            directory=folder,
            grid=Grid.from_document(document["grid"]),
            columns=document["columns"],
            seeds=tuple(document["seeds"]),
            command=document["command"],
            commands=tuple(point["command"] for point in document["points"]),
            failures=tuple((point["command"], point["error"]) for point in document["points"] if "error" in point),
        )
    except KeyError as error:
        raise StoreError(f"{path}: found no key {error}, expected the summary of a sweep that acklab wrote") from error
    except (TypeError, AttributeError, ValueError) as error:
        raise StoreError(
            f"{path}: found values of other types ({error}), expected the summary of a sweep that acklab wrote"
        ) from error


def _replaced(directory: Path, plan: Plan) -> int:
    """Number of points in the tables of a folder that are not part of this sweep."""
    try:
        points = json.loads((directory / SWEEP_FILE).read_text(encoding="utf-8"))["points"]
        before = {point["digest"] for point in points if "error" not in point}
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return len(before - {point.digest for point, _ in plan.points})


def _merge(rows: Sequence[tuple[Point, Mapping[str, str]]], directory: Path, plan: Plan, jobs: int | None) -> None:
    """Merges the tables of the points and runs damaged points again. Raises StoreError."""
    for _ in range(len(rows)):
        try:
            merge(rows, directory, plan.metadata())
            return
        except DamagedPoint as error:
            shutil.rmtree(error.point.folder(directory), ignore_errors=True)
            execute([error.point], directory, jobs)
    merge(rows, directory, plan.metadata())


def _columns(plan: Plan, directory: Path) -> dict[str, str]:
    taken = {"point", "seed"}
    done = next((point for point, _ in plan.points if point.is_done(directory)), None)
    if done is not None:
        for path in store.table_files(done.folder(directory)).values():
            taken.update(store.read_table(path).column_names)
    return plan.grid.columns(taken)


def _write_summary(directory: Path, plan: Plan, columns: Mapping[str, str], failed: Mapping[str, str]) -> None:
    points = []
    for point, values in plan.points:
        row: dict[str, Any] = {"digest": point.digest, "values": dict(values), "seed": point.seed, "command": point.command}
        if point.digest in failed:
            row["error"] = failed[point.digest]
        points.append(row)
    document = {
        "scenario": plan.source.name,
        "command": plan.command,
        "grid": plan.grid.document(),
        "columns": dict(columns),
        "seeds": list(plan.seeds),
        "revision": core.revision(),
        "version": core.version(),
        "points": points,
    }
    store.write_json(directory / SWEEP_FILE, document)
