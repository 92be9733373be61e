"""Simulated runs: each rate without collisions, and the cell of Figure 12.

The cell of Figure 12 also runs with other settings and other queues.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from acklab.scenario import overrides
from acklab.statistics import Interval, mean_interval, ratio_interval
from acklab.studies import Bench, closed_form
from acklab.sweeps import SweepResult, load_sweep

from .rates import N, Rate, named, rates

STOCK, HACK = "stock", "TCP/HACK"
PROTOCOLS: Mapping[str, Mapping[str, object]] = {STOCK: {}, HACK: {"wifi.0.hack": {"variant": "more-data"}}}

FREE, DOWNLOAD = "collision_free.toml", "../wifi_parity/download.toml"
FIGURE_12, STEADY, IN_TURN = "figure_12", "steady", "in_turn"
CHANGES = ("ns3", "longer", "newreno", "timestamps", "txop")
AT_150, AT_600 = named(N, 150), named(N, 600)

QUEUE = 126
WAITING, IN_ALL = "126 waiting", "126 in all"
COUNTS: Mapping[str, str] = {WAITING: "unsent", IN_ALL: "unacknowledged"}
"""Two readings of the paper's queue: without packets on the air, as ns-3 counted at the time of the
paper, and with them, as in ns-3 3.37.
"""
QUEUES = (84, 126, 168, 210, 336)


@dataclass(frozen=True)
class Cell:
    """Results of a cell over the seeds."""

    goodput: Sequence[float]
    """Goodput [Mbps] per seed."""
    unanswered: float
    """Mean share of unanswered PPDUs with data, including ordinary ACKs."""
    collisions: int
    """Collided frames, sum over the seeds."""
    frames: float
    """MPDUs per PPDU of the access point, on average."""
    timeouts: int
    """TCP timeouts, sum over the seeds."""
    plain: float
    """Mean share of ACKs that the station sent as ordinary frames."""
    command: str
    """Command that repeats the first seed."""

    @property
    def interval(self) -> Interval:
        """Returns the mean goodput with its 95 % confidence interval."""
        return mean_interval(self.goodput)


@dataclass(frozen=True)
class Pair:
    """The same cell with and without TCP/HACK."""

    cells: Mapping[str, Cell]

    def __getitem__(self, protocol: str) -> Cell:
        return self.cells[protocol]

    @property
    def gain(self) -> Interval:
        """Returns the gain of TCP/HACK [%]."""
        return ratio_interval(self[HACK].goodput, self[STOCK].goodput).gain


@dataclass(frozen=True)
class Measured:
    """All simulated cells."""

    free: Mapping[Rate, Pair]
    """Cells without collisions, by rate."""
    figure_12: Mapping[str, Mapping[Rate, Pair]]
    """Cells by the reading of the queue, at the rates of one stream."""
    steps: Mapping[str, Pair]
    """Cells at 150 Mbps by title, from the first to that of Figure 12."""
    changes: Mapping[str, Pair]
    """Cells at 150 Mbps by title: Figure 12 with one change."""
    queues: Mapping[Rate, Mapping[int, Pair]]
    """Cells by limit of the queue in packets, including those on the air."""
    commands: Mapping[str, str]
    """Commands that repeat each group of cells."""


def run(bench: Bench) -> None:
    """Runs all cells."""
    for group, (scenario, cells) in _groups(bench).items():
        bench.sweep(scenario, group, {"cell": {_name(*place): sets for place, sets in cells.items()}})


def measured(bench: Bench) -> Measured:
    """Returns the stored results of `run`."""
    swept = {group: load_sweep(bench.folder / group) for group in _groups(bench)}
    cells = {group: _cells(result) for group, result in swept.items()}

    def pair(group: str, *place: object) -> Pair:
        return Pair({protocol: cells[group][_name(*place, protocol)] for protocol in PROTOCOLS})

    chosen, titles = rates(bench.quick), {name: of.title for name, of in bench.variants("cells.toml").chosen.items()}
    figure_12 = {
        queue: {rate: pair(FIGURE_12, rate.name, queue) for rate in _of_one_stream(chosen)} for queue in (WAITING, IN_ALL)
    }
    return Measured(
        free={rate: pair("free", rate.name) for rate in chosen},
        figure_12=figure_12,
        steps={
            "no collisions, no drops": pair("free", AT_150.name),
            "a queue that overflows": pair("changes", IN_TURN),
            "collisions": pair("collisions"),
            "both": pair("changes", STEADY),
            titles[FIGURE_12]: figure_12[WAITING][AT_150],
        },
        changes={
            "a queue of 126 packets including those on the air": figure_12[IN_ALL][AT_150],
            **{titles[name]: pair("changes", name) for name in CHANGES},
        },
        queues={rate: {limit: pair("queues", rate.name, limit) for limit in QUEUES} for rate in (AT_150, AT_600)},
        commands={group: result.rerun for group, result in swept.items()},
    )


def analytic(bench: Bench, rate: Rate) -> closed_form.Cell:
    """Returns the cell of the model at a rate, with the access rules of the standard."""
    return closed_form.of_scenario(bench.source(FREE).load(overrides(rate.set)))


def ordered(bench: Bench, rate: Rate) -> closed_form.Download:
    """Returns the model of the stock cell as it is simulated without collisions."""
    scenario = bench.source(FREE).load([*overrides(rate.set), *bench.variants("access.toml").chosen[rate.standard].set])
    return closed_form.stock(closed_form.of_scenario(scenario), closed_form.of_scenario(scenario, "station"))


_Sets = list[str]


def _groups(bench: Bench) -> Mapping[str, tuple[str, Mapping[tuple[object, ...], _Sets]]]:
    """Returns the scenario of each group, and the overrides of each cell by place and protocol."""
    access, settings = bench.variants("access.toml").chosen, bench.variants("cells.toml").chosen
    chosen, protocols = rates(bench.quick), {protocol: overrides(of) for protocol, of in PROTOCOLS.items()}

    def both(places: Mapping[tuple[object, ...], _Sets], of_stock: Sequence[str] = ()) -> Mapping[tuple[object, ...], _Sets]:
        return {
            (*place, protocol): [*sets, *of, *(of_stock if protocol == STOCK else ())]
            for place, sets in places.items()
            for protocol, of in protocols.items()
        }

    def download(rate: Rate, limit: int, counts: str, *names: str) -> _Sets:
        laid = [change for name in (FIGURE_12, *names) for change in settings[name].set]
        return [*overrides(rate.set), f"wifi.0.ap.queue.limit={limit}packets", f"wifi.0.queue_counts={counts}", *laid]

    def waiting(*names: str) -> _Sets:
        return download(AT_150, QUEUE, COUNTS[WAITING], *names)

    return {
        "free": (
            FREE,
            {
                place: sets
                for rate in chosen
                for place, sets in both({(rate.name,): overrides(rate.set)}, access[rate.standard].set).items()
            },
        ),
        "collisions": (FREE, both({(): overrides(AT_150.set)})),
        FIGURE_12: (
            DOWNLOAD,
            both({
                (rate.name, queue): download(rate, QUEUE, counts) for rate in _of_one_stream(chosen) for queue, counts in COUNTS.items()
            }),
        ),
        "changes": (
            DOWNLOAD,
            {
                **both({(name,): waiting(name) for name in (STEADY, *CHANGES)}),
                **both({(IN_TURN,): waiting(STEADY)}, access[N].set),
            },
        ),
        "queues": (
            DOWNLOAD,
            both({(rate.name, limit): download(rate, limit, COUNTS[IN_ALL], STEADY) for rate in (AT_150, AT_600) for limit in QUEUES}),
        ),
    }  # fmt: skip


def _of_one_stream(chosen: Iterable[Rate]) -> list[Rate]:
    return [rate for rate in chosen if rate.standard == N and rate.mbps <= AT_150.mbps]


def _name(*place: object) -> str:
    return " ".join(map(str, place))


def _cells(result: SweepResult) -> dict[str, Cell]:
    """Returns the cells of a group by name."""
    column = result.columns["cell"]
    stations = result.table("stations").group_by("point").agg(
        unanswered=pl.col("total_unanswered_l2").sum() / pl.col("total_ppdus_l2").sum(),
        collisions=pl.col("total_collisions_l1").sum(),
        frames=pl.col("mean_mpdus_per_ppdu_l2").filter(pl.col("node") == "ap").first(),
    )  # fmt: skip
    carried = (
        result.table("hack").filter(pl.col("node") == "sta").select("point", "total_plain_acks_l2", "total_compressed_acks_l2")
    )
    joined = result.flows.join(stations, on="point", maintain_order="left").join(
        carried, on="point", how="left", maintain_order="left"
    )
    flows = joined.group_by(column, maintain_order=True)
    cells = flows.agg(
        goodput="mean_throughput_l7",
        unanswered=pl.col("unanswered").mean(),
        collisions=pl.col("collisions").sum(),
        frames=pl.col("frames").mean(),
        timeouts=pl.col("total_rtos_l4").sum(),
        # A stock cell has no row in the table `hack`, and all its ACKs are ordinary frames.
        plain=(pl.col("total_plain_acks_l2") / (pl.col("total_plain_acks_l2") + pl.col("total_compressed_acks_l2")))
        .fill_null(1)
        .mean(),
        command=pl.col("point").first(),
    )
    return {row.pop(column): Cell(**{**row, "command": result.commands[row["command"]]}) for row in cells.to_dicts()}
