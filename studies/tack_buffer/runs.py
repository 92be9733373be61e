"""Runs of the study: receive windows of limited size, and queues of limited length."""

import math

import polars as pl

from acklab.studies import Bench
from acklab.sweeps import SweepResult, load_sweep

COMMAND = "acklab study tack_buffer"
SCENARIO = "path.toml"
WINDOWS, BUFFERS = "windows", "buffers"

BDP = 50e6 * 0.040 / 8 / 1500
"""The bandwidth-delay product of the path [packets]."""
MSS = 1427
"""Bytes of a stream in a packet of 1500."""
MOST = 50 * MSS / 1500
"""The highest goodput [Mbps]."""

BETAS = (2, 3, 4, 6, 8)
BY_TIME, BY_COUNT = "by time", "by count"
SIZES = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.2)
"""Windows in bandwidth-delay products."""
QUEUES = (0.03, 0.06, 0.1, 0.2, 0.33, 0.5, 1.0, 2.0)
"""Lengths of the queue in bandwidth-delay products."""
CONTROLLERS = ("bbr-tack", "cubic")


def _window(clock: str, beta: int, size: float) -> dict[str, object]:
    """Returns a receive window in bandwidth-delay products, and β ACKs per clock or window."""
    octets = round(size * BDP * MSS)
    count = math.ceil(size * BDP / beta)
    ack = (
        {"policy": "tack", "segments": 2, "beta": beta}
        if clock == BY_TIME
        else {"policy": "byte-counting", "segments": count, "timer": "500ms"}
    )
    return {"flow.0.transport.receive_buffer": f"{octets}B", "flow.0.transport.ack": ack}  # fmt: skip


def _queue(controller: str, beta: int, length: float) -> dict[str, object]:
    ack = {"policy": "tack", "segments": 2, "beta": beta, "per_packet_startup": True}
    return {
        "flow.0.transport.congestion": controller,
        "flow.0.transport.initial_window": "10segments",
        "flow.0.transport.ack": ack,
        "link.btl.forward.queue.limit": f"{max(1, round(length * BDP))}packets",
        "duration": "30s",
    }


def run(bench: Bench) -> dict[str, SweepResult]:
    """Runs both sweeps. Nothing in a run is random, so one seed is sufficient."""
    sizes = (1.0, 1.5) if bench.quick else SIZES
    queues = (0.1, 0.33, 1.0) if bench.quick else QUEUES
    windows = {
        f"{clock}|{beta}|{size}": _window(clock, beta, size) for clock in (BY_TIME, BY_COUNT) for beta in BETAS for size in sizes
    }
    buffers = {
        f"{controller}|{beta}|{length}": _queue(controller, beta, length)
        for controller in CONTROLLERS
        for beta in BETAS
        for length in queues
    }
    return {
        WINDOWS: bench.sweep(SCENARIO, WINDOWS, {"setting": windows}, seeds=1),
        BUFFERS: bench.sweep(SCENARIO, BUFFERS, {"setting": buffers}, seeds=1),
    }


def kept(bench: Bench) -> dict[str, SweepResult]:
    """Returns the stored results of `run`."""
    return {name: load_sweep(bench.folder / name) for name in (WINDOWS, BUFFERS)}


def table(result: SweepResult) -> pl.DataFrame:
    """Returns one row for each run.

    A row has the axes, utilisation [%], and the maximum and mean queue [bandwidth-delay products].
    """
    column = result.columns["setting"]
    queue = result.links.filter(pl.col("link") == "btl_forward").select(
        "point",
        longest=pl.col("max_qdisc_length_l2") / BDP,
        drops=pl.col("total_qdisc_drops_l2").cast(pl.Float64),
        packets=pl.col("total_packets_in_l2").cast(pl.Float64),
    )
    parts = pl.col(column).str.split("|")
    flows = result.flows.select(
        "point", "seed", kind=parts.list.get(0), beta=parts.list.get(1).cast(pl.Int64), size=parts.list.get(2).cast(pl.Float64),
        utilisation=100 * pl.col("mean_throughput_l7") / MOST,
    )  # fmt: skip
    joined = flows.join(queue, on="point", maintain_order="left")
    return joined.with_columns(dropped=100 * pl.col("drops") / pl.col("packets"))


def value(runs: pl.DataFrame, kind: str, beta: int, size: float, column: str) -> float:
    """Returns a column of one run."""
    own = runs.filter(pl.col("kind") == kind, pl.col("beta") == beta, pl.col("size") == size)
    return float(own[column][0])


def least_window(runs: pl.DataFrame, kind: str, beta: int) -> float:
    """Returns the minimum window that fills the link [bandwidth-delay products].

    Below this window, utilisation is proportional to the window.
    """
    return 100 / value(runs, kind, beta, 1.0, "utilisation")
