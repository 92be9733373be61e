"""Sweeps of the study, and metrics of their runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from acklab.studies import Bench
from acklab.sweeps import SweepResult, Variants

from .arms import EVERY, LARGE, MIMD, MIMD_OF_STATIONS, OF_SMALL, Arm, with_filter

COMMAND = "acklab study ack_filtering"
BASE = "base"
"""Name of the sweep of all arms over upload.toml, without other changes."""
SCENARIO = "upload.toml"
STATIONS = "wifi.0.station.0.count"
SECONDS = 30.0
"""Length of the measurement window in upload.toml, in seconds."""

MIMD_SEEDS = 20

FEW, MANY, TEN, MOST = 5, 10, 10, 30
"""Numbers of stations: "few" and "many" in the paper, the number in its Figure 5, and the maximum
of the claims.
"""


@dataclass(frozen=True)
class Values:
    """Values of each metric in one setting, seed by seed, by arm and number of stations."""

    values: Mapping[tuple[str, int], Mapping[str, Sequence[float]]]

    def of(self, arm: Arm, stations: int, metric: str) -> list[float]:
        """Returns the values of a metric, in the order of the seeds."""
        return list(self.values[arm.name, stations][metric])

    def stations(self, *arms: Arm, least: int = 2, most: int = MOST) -> list[int]:
        """Returns numbers of stations that all these arms were run with.

        A single station contends only with the access point.
        """
        common = set.intersection(*({count for name, count in self.values if name == arm.name} for arm in arms))
        return sorted(count for count in common if least <= count <= most)


METRICS = {
    "mbps": "goodput [Mbps]",
    "jain": "Jain's index",
    "timeouts": "timeouts",
    "collisions": "collisions per second",
    "queue": "mean queue of the access point [packets]",
    "longest": "maximum queue of the access point [packets]",
    "acks": "ACKs received per data packet",
    "delay": "delay of a packet at the access point [ms], mean",
    "rtt": "smoothed RTT [ms], mean of the flows",
}


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run: the columns of the grid, the seed and `METRICS`."""
    keys = ["point", *result.columns.values(), "seed"]
    flows = result.flows.group_by(keys, maintain_order=True).agg(
        mbps=pl.col("mean_throughput_l7").sum(), timeouts=pl.col("total_rtos_l4").sum(), rtt=pl.col("mean_srtt_l4").mean()
    )
    nodes = result.table("stations")
    air = nodes.group_by("point").agg(collisions=pl.col("total_collisions_l1").sum() / SECONDS)
    ap = nodes.filter(pl.col("node") == "ap").select(
        "point", queue="mean_queue_length_l2", longest="max_queue_length_l2", delay="mean_delay_l2"
    )
    ends = result.network.select(
        "point", jain="jain_throughput_l4", acks=pl.col("agg_acks_delivered_l4") / pl.col("agg_data_packets_l4")
    )
    joined = flows.join(air, on="point").join(ap, on="point").join(ends, on="point").sort("point")
    return joined.rename({result.columns[STATIONS]: "stations"}).with_columns(pl.col("stations").cast(pl.Int64))


def collect(frames: Iterable[pl.DataFrame]) -> Values:
    """Returns the runs of one setting, from summaries of sweeps over arms and station numbers."""
    values = {}
    for frame in frames:
        for (arm, stations), part in frame.group_by(["arm", "stations"], maintain_order=True):
            values[str(arm), int(str(stations))] = {name: part[name].cast(pl.Float64).to_list() for name in METRICS}
    return Values(values)


def counts(bench: Bench) -> list[int]:
    """Returns numbers of stations of the curves."""
    return [2, 5, 10, 15, 20, 30] if bench.quick else [1, 2, 3, 5, 8, 10, 13, 16, 20, 25, 30, 40, 50]


def sweep_arms(
    bench: Bench,
    name: str,
    arms: Sequence[Arm],
    stations: Sequence[int],
    settings: Variants | None = None,
    seeds: int | None = None,
) -> SweepResult:
    """Runs arms by numbers of stations, with other settings if given."""
    axes = {} if settings is None else {"setting": settings}
    return bench.sweep(SCENARIO, name, {**axes, "arm": {arm.name: arm.set for arm in arms}, STATIONS: stations}, seeds=seeds)


def base(bench: Bench) -> SweepResult:
    """Returns all arms with the settings of upload.toml."""
    return sweep_arms(bench, BASE, EVERY, counts(bench))


def of_small(bench: Bench) -> SweepResult:
    """Returns the arms of Figures 8 and 10 with q = 50, except those of the base."""
    return sweep_arms(bench, "small", OF_SMALL, [count for count in counts(bench) if MANY <= count <= MOST])


def of_mimd(bench: Bench) -> SweepResult:
    """Returns the arms of Figure 9 over more seeds.

    More seeds are required because the minimum of a dozen gains is only as certain as the noisiest
    gain.
    """
    arms = with_filter([LARGE, MIMD, MIMD_OF_STATIONS])
    return sweep_arms(bench, "mimd", arms, [count for count in counts(bench) if count <= MOST], seeds=bench.at_least(MIMD_SEEDS))
