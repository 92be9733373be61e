"""Model and simulation, point by point."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from acklab.scenario import overrides
from acklab.statistics import Interval, mean_interval
from acklab.studies import Bench, closed_form
from acklab.sweeps import SweepResult, Variant, load_sweep

from .choices import SPACES, Choice, Space, beyond
from .points import Point, points

SCENARIO = "cell.toml"
AXIS = "setting"
CURVES = "curves"


@dataclass(frozen=True)
class Held:
    """A cell: values of the model and, if it was simulated, results."""

    name: str
    cycle: closed_form.Cycle
    simulated: Interval | None
    """Goodput over the seeds [Mbps]."""
    air: dict[str, float]
    """Shares of the airtime in the simulation, by use."""
    command: str
    """Command that repeats the first seed; empty without a simulation."""

    @property
    def apart(self) -> float:
        """Returns the difference of the simulated mean from the model [% of the model]."""
        assert self.simulated is not None
        return 100 * (self.simulated.mean / self.cycle.goodput - 1)

    @property
    def apart_in_time(self) -> float:
        """Returns the maximum difference of airtime shares between the two, in per cent."""
        cycle = self.cycle
        spent = {"backoff": cycle.backoff, "data": cycle.data, "link_ack": cycle.response}
        return max(100 * abs(self.air.get(use, 0.0) - time / cycle.total) for use, time in spent.items())


@dataclass(frozen=True)
class Curves:
    """Points of the curves, and the command that repeats them."""

    points: Sequence[Point]
    held: Sequence[Held]
    command: str


@dataclass(frozen=True)
class Candidates:
    """Single deviations from the default of a link, and the command that repeats their runs."""

    space: Space
    title: str
    """Title of the link."""
    choices: Sequence[Choice]
    held: Sequence[Held]
    command: str


def run(bench: Bench) -> dict[str, SweepResult]:
    """Runs all points of the curves and all candidates that the simulator has."""
    settings = {CURVES: {point.name: point.set for point in points(bench.quick)}}
    swept = {CURVES: bench.sweep(SCENARIO, CURVES, {AXIS: settings[CURVES]})}
    for space in SPACES:
        simulated = {choice.name: choice.set for choice in space.candidates() if choice.is_simulated}
        swept[space.link] = bench.sweep(SCENARIO, space.link, {AXIS: simulated}, set=link(bench, space.link).set)
    return swept


def kept(bench: Bench) -> dict[str, SweepResult]:
    """Returns the stored results of `run`."""
    return {name: load_sweep(bench.folder / name) for name in (CURVES, *(space.link for space in SPACES))}


def curves(bench: Bench, result: SweepResult) -> Curves:
    """Returns the points of the curves."""
    chosen, source = list(points(bench.quick)), bench.source(SCENARIO)
    cells = [closed_form.of_scenario(source.load(overrides(point.set))) for point in chosen]
    return Curves(chosen, _hold([point.name for point in chosen], cells, result), result.rerun)


def candidates(bench: Bench, space: Space, result: SweepResult) -> Candidates:
    """Returns the choices of a link, one at a time."""
    choices = list(space.candidates())
    cells = cells_of(bench, space, [(choice,) for choice in choices])
    of = link(bench, space.link)
    return Candidates(space, of.title, choices, _hold([choice.name for choice in choices], cells, result), result.rerun)


def link(bench: Bench, name: str) -> Variant:
    """Returns a link of links.toml."""
    return bench.variants(f"links.toml:{name}").chosen[name]


def cells_of(bench: Bench, space: Space, chosen: Iterable[Sequence[Choice]]) -> list[closed_form.Cell]:
    """Returns the model's cells of a link with these choices."""
    source, of = bench.source(SCENARIO), link(bench, space.link).set

    def cell(choices: Sequence[Choice]) -> closed_form.Cell:
        sets = [*of, *(text for choice in choices for text in overrides(choice.set))]
        return beyond(closed_form.of_scenario(source.load(sets)), choices)

    return [cell(choices) for choices in chosen]


def _hold(names: Sequence[str], cells: Sequence[closed_form.Cell], result: SweepResult) -> list[Held]:
    column = result.columns[AXIS]
    flows = result.flows.group_by(column, maintain_order=True).agg(pl.col("mean_throughput_l7"), pl.col("point").first())
    air = result.table("airtime").group_by(column, "use").agg(pl.col("share").sum() / len(result.seeds))
    rows = {row[column]: row for row in flows.to_dicts()}
    shares: dict[str, dict[str, float]] = {}
    for name, use, share in air.iter_rows():
        shares.setdefault(name, {})[use] = share
    held = []
    for name, cell in zip(names, cells, strict=True):
        row = rows.get(name)
        simulated = None if row is None else mean_interval(row["mean_throughput_l7"])
        command = "" if row is None else result.commands[row["point"]]
        held.append(Held(name, closed_form.cycle(cell), simulated, shares.get(name, {}), command))
    return held
