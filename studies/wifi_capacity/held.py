"""The model beside the simulation, point by point."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from acklab.scenario import overrides
from acklab.statistics import Interval, mean_interval
from acklab.studies import Bench
from acklab.sweeps import SweepResult

from . import model
from .points import Point, points
from .space import Choice, Space, beyond

SCENARIO = "cell.toml"
AXIS = "setting"


@dataclass(frozen=True)
class Held:
    """One cell: what the model says of it and, if it was simulated, what came out."""

    name: str
    cycle: model.Cycle
    simulated: Interval | None
    """Goodput in Mbps over the seeds."""
    air: dict[str, float]
    """Shares of the time on the air, by use, of the simulation."""
    command: str
    """Repeats the first seed; empty without a simulation."""

    @property
    def apart(self) -> float:
        """How far the mean of the simulation is from the model, in per cent of the model."""
        assert self.simulated is not None
        return 100 * (self.simulated.mean / self.cycle.goodput - 1)

    @property
    def apart_in_time(self) -> float:
        """The largest difference between the two in what the time on the air goes into, in per cent of that time."""
        cycle = self.cycle
        spent = {"backoff": cycle.backoff, "data": cycle.data, "link_ack": cycle.answer}
        return max(100 * abs(self.air.get(use, 0.0) - time / cycle.total) for use, time in spent.items())


@dataclass(frozen=True)
class Curves:
    """All points of the curves, and the command that repeats them."""

    points: Sequence[Point]
    held: Sequence[Held]
    command: str


@dataclass(frozen=True)
class Candidates:
    """The choices of a link, each by itself, and the command that repeats them."""

    space: Space
    choices: Sequence[Choice]
    held: Sequence[Held]
    command: str


def curves(bench: Bench) -> Curves:
    """Runs the points of the curves."""
    chosen = list(points(bench.quick))
    result = bench.sweep(SCENARIO, "curves", {AXIS: {point.name: point.set for point in chosen}})
    source = bench.source(SCENARIO)
    cells = [model.of_scenario(source.load(overrides(point.set))) for point in chosen]
    return Curves(chosen, _hold([point.name for point in chosen], cells, result), _command(result))


def candidates(bench: Bench, space: Space) -> Candidates:
    """Runs what a link may be, one choice at a time, as far as the simulator has it."""
    link = bench.variants(f"links.toml:{space.link}").chosen[space.link].set
    choices = list(space.candidates())
    simulated = {choice.name: dict(choice.set) for choice in choices if choice.is_simulated}
    result = bench.sweep(SCENARIO, f"candidates_{space.link}", {AXIS: simulated}, set=link)
    cells = [cell_of(bench, space, (choice,)) for choice in choices]
    return Candidates(space, choices, _hold([choice.name for choice in choices], cells, result), _command(result))


def cell_of(bench: Bench, space: Space, choices: Sequence[Choice]) -> model.Cell:
    """The model's cell of a link with these choices."""
    link = bench.variants(f"links.toml:{space.link}").chosen[space.link].set
    sets = [*link, *(text for choice in choices for text in overrides(choice.set))]
    return beyond(model.of_scenario(bench.source(SCENARIO).load(sets)), choices)


def _hold(names: Sequence[str], cells: Sequence[model.Cell], result: SweepResult) -> list[Held]:
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
        held.append(Held(name, model.cycle(cell), simulated, shares.get(name, {}), command))
    return held


def _command(result: SweepResult) -> str:
    return f"{result.command} --out {result.directory}"
