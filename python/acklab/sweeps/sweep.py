"""A grid of values times a set of seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from acklab import core, store
from acklab.errors import StoreError, UsageError
from acklab.scenario import Overrides, Source, overrides
from acklab.sweeps.execution import Watcher, execute
from acklab.sweeps.grid import Axes, Grid, variations
from acklab.sweeps.merging import merge
from acklab.sweeps.plan import Plan
from acklab.sweeps.variants import Variants
from acklab.terminal import progress_bar

SWEEP_FILE = "sweep.json"


@dataclass(frozen=True)
class SweepResult:
    """A finished sweep: a folder with one Parquet file a table, over all points.

    Each table begins with the columns `point`, one for each key of the grid (`columns` tells their names), and `seed`.
    """

    directory: Path
    grid: Grid
    columns: Mapping[str, str]
    """Name of the column by key of the grid."""
    seeds: tuple[int, ...]
    command: str
    """The command that repeats the sweep, without the folder."""
    commands: tuple[str, ...]
    """The command that repeats each point, by point."""
    failures: tuple[tuple[str, str], ...] = field(default=())
    """Command and message of each point that failed."""

    @property
    def rerun(self) -> str:
        """The command that repeats the sweep into its folder."""
        return f"{self.command} --out {self.directory}"

    @property
    def flows(self) -> pl.DataFrame:
        """One row a point and flow."""
        return self.table("flows")

    @property
    def links(self) -> pl.DataFrame:
        """One row a point and direction of a link."""
        return self.table("links")

    @property
    def network(self) -> pl.DataFrame:
        """One row a point."""
        return self.table("network")

    def table(self, name: str) -> pl.DataFrame:
        """A table over all points. Raises StoreError."""
        frame = pl.from_arrow(store.read_table(self.directory / f"{name}.parquet"))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def query(self, sql: str) -> pl.DataFrame:
        """Asks DuckDB; every table is a view of its own name: `select congestion, avg(mean_srtt_l4) from flows group by all`."""
        with duckdb.connect() as connection:
            for name, path in store.table_files(self.directory).items():
                quoted = str(path).replace("'", "''")
                connection.execute(f"create view \"{name}\" as select * from read_parquet('{quoted}')")
            try:
                frame: pl.DataFrame = connection.sql(sql).pl()
            except duckdb.Error as error:
                raise UsageError(f"DuckDB refused the query: {error}") from error
        return frame


def sweep(
    scenario: str | Path | Mapping[str, Any] | Source,
    *,
    grid: Axes | Sequence[str] | Grid = (),
    seeds: int | Sequence[int] = 1,
    out: str | Path,
    set: Overrides = (),
    vary: Mapping[str, str] | Sequence[str] = (),
    jobs: int | None = None,
    base: str | Path | None = None,
    watch: Watcher | None = None,
    quiet: bool = False,
) -> SweepResult:
    """Runs a scenario at every point of a grid, for every seed, on all cores.

    `grid` gives values by key, or named variants with their overrides, such as `{"path": {"near": {"link.0.forward.delay": "1ms"}}}`
    or `{"path": Variants.read("paths.toml")}`. `seeds` is a number of seeds, counted up from that of the scenario, or the seeds themselves. `vary`
    gives values that are drawn anew for each seed but the first, such as `{"flow.0.start": "0ms..5ms"}`. Results are kept in the
    folder `out`: a point that is there is not run again, so an interrupted sweep resumes and a grid may be extended.

    The tables are the same, to the octet, for any number of `jobs` (default: one a core). Points that fail are listed in `failures`
    of the result and leave the others alone. Raises ScenarioError or UsageError before anything runs if a point makes no sense,
    Cancelled on Ctrl-C, StoreError if results cannot be kept.
    """
    source = Source.of(scenario, None if base is None else Path(base))
    directory = Path(out)
    plan = Plan.of(source, Grid.of(grid), seeds, overrides(set), variations(vary))
    # What has no file gets one, so that commands can name it.
    if isinstance(scenario, Mapping):
        store.write_text(directory / source.name, source.text)
    if isinstance(grid, Mapping):
        for name, given in grid.items():
            if isinstance(given, Mapping):
                store.write_json(directory / f"{name}.json", Variants.of(name, given).document())
    with progress_bar(quiet or watch is not None) as bar:
        outcome = execute([point for point, _ in plan.points], directory, jobs, watch or bar)
    columns = _columns(plan, directory)
    rows = [(point, {columns[key]: value for key, value in values.items()}) for point, values in plan.points]
    failed = {point.digest: message for point, message in outcome.failed}
    merge(rows, directory, plan.metadata())
    _write_summary(directory, plan, columns, failed)
    return SweepResult(
        directory=directory,
        grid=plan.grid,
        columns=columns,
        seeds=plan.seeds,
        command=plan.command,
        commands=tuple(point.command for point, _ in plan.points),
        failures=tuple((point.command, message) for point, message in outcome.failed),
    )


def load_sweep(directory: str | Path) -> SweepResult:
    """Reads what `sweep` wrote. Raises StoreError."""
    path = Path(directory) / SWEEP_FILE
    document = store.read_json(path, "the summary of a sweep that acklab wrote")
    try:
        return SweepResult(
            directory=Path(directory),
            grid=Grid.from_document(document["grid"]),
            columns=document["columns"],
            seeds=tuple(document["seeds"]),
            command=document["command"],
            commands=tuple(point["command"] for point in document["points"]),
            failures=tuple((point["command"], point["error"]) for point in document["points"] if "error" in point),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{path}: found a document without {error}, expected the summary of a sweep that acklab wrote"
        ) from error


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
