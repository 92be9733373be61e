"""Results of each download per run, and their tables in the report."""

from collections.abc import Sequence

import polars as pl

from acklab.statistics import Interval, intervals, ratios
from acklab.studies import Bench
from acklab.sweeps import SweepResult

STACKS = "stacks.toml"
POLICIES, ASKED = "policies.toml", "requested_policies.toml"
ASKING = ("quinn",)
"""Stacks whose receiver uses the sender's requests."""
POLICY, STACK, ARM = "policy", "stack", "arm"
BASELINE = {POLICY: "every 2"}
THINNED = "every 10"


def arms(bench: Bench, stacks: str) -> dict[str, list[str]]:
    """Returns the overrides of each stack with each policy.

    A stack replaces the flow, so it is applied before the policy.
    """
    return {
        f"{stack}: {policy}": [*variant.set, *laid.set]
        for stack, variant in bench.variants(stacks).chosen.items()
        for policy, laid in bench.variants(ASKED if stack in ASKING else POLICIES).chosen.items()
    }


def downloads(result: SweepResult, by: Sequence[str]) -> pl.DataFrame:
    """Returns one row per download.

    Columns are `by`, the stack and its policy, `seed`, and measurements.

    Time and throughput are measured until the terminal's application has the file. ACKs are the
    ACKs that the terminal sent over the satellite.
    """
    by = [*by, STACK, POLICY]
    of_arm = pl.col(ARM).str.split(": ")
    back = result.links.filter(pl.col("link") == "geo_reverse").select(
        "point", "total_bytes_out_l2", "mean_qdisc_delay_l2", "total_capacity_requests_l2", "total_bytes_assigned_l1", "total_bytes_unused_l1"
    )  # fmt: skip
    over = result.links.filter(pl.col("link") == "geo_forward").select("point", forward="total_bytes_out_l2")
    flows = result.flows.join(back, on="point", maintain_order="left").join(over, on="point", maintain_order="left")
    is_complete = pl.col("total_delivered_bytes_l7") >= pl.col("traffic_model").str.extract(r"bytes=(\d+)").cast(pl.Int64)
    return flows.with_columns(
        # A download that did not complete before the end of the run has no time.
        seconds=pl.when(is_complete).then(pl.col("delivery_time_l7")),
        throughput=pl.when(is_complete).then(pl.col("mean_receiving_rate_l7")),
        last_ack=pl.when(is_complete).then(pl.col("flow_completion_time_l4")),
        acks=pl.col("total_acks_sent_l4"),
        return_kbps=pl.col("total_bytes_out_l2") * 8 / 1000 / pl.col("flow_completion_time_l4"),
        waited=pl.col("mean_qdisc_delay_l2"),
        headers=100 * pl.col("total_overhead_bytes_l3") / pl.col("total_delivered_bytes_l7"),
        beyond=100 * (pl.col("forward") / pl.col("total_delivered_bytes_l7") - 1),
        stack=of_arm.list.first(),
        policy=of_arm.list.last(),
    ).select("point", *by, ARM, "seed", "flow", "seconds", "throughput", "last_ack", "acks", "return_kbps", "waited", "headers", "beyond",
             "handshake_time_l4", "mean_srtt_l4", "total_retransmissions_l4", "total_capacity_requests_l2", "total_bytes_assigned_l1", "total_bytes_unused_l1")  # fmt: skip


def gains(found: pl.DataFrame, by: Sequence[str], value: str, result: SweepResult) -> pl.DataFrame:
    """Returns `value` with an ACK per ten packets relative to an ACK per two, per seed."""
    cells = ratios(found, [*by, POLICY], value, BASELINE).filter(pl.col(POLICY) == THINNED)
    return result.with_commands(cells, found, [*by, POLICY])


def relative(found: pl.DataFrame, by: str, value: str, baseline: str, result: SweepResult) -> pl.DataFrame:
    """Returns `value` of each stack and policy relative to the arm `baseline`, per seed.

    There is one baseline per value of `by`.
    """
    keys = [by, ARM]
    return result.with_commands(ratios(found, keys, value, {ARM: baseline}), found, keys)


def rows(found: pl.DataFrame, by: Sequence[str]) -> list[list[str]]:
    """Returns a row per combination of `by`, with both policies, in the columns of `HEAD`."""
    table = []
    for key in found.select(by).unique(maintain_order=True).rows():
        own = found.filter(*(pl.col(name) == held for name, held in zip(by, key, strict=True)))
        measured = [*_both(own, "throughput", 2), *_both(own, "seconds", 1)]
        table.append([*map(str, key), *measured, *(_means(own, name, decimals) for name, decimals, _ in MEANS)])
    return table


def _both(found: pl.DataFrame, name: str, decimals: int) -> list[str]:
    return [Interval.of_row(row).text(decimals) for row in intervals(found, [POLICY], name).to_dicts()]


def _means(found: pl.DataFrame, name: str, decimals: int) -> str:
    means = intervals(found, [POLICY], name)["mean"].to_list()
    return " / ".join("–" if mean is None else f"{mean:.{decimals}f}" for mean in means)


MEANS = (
    ("last_ack", 1, "last ACK [s]"),
    ("handshake_time_l4", 0, "handshake [ms]"),
    ("mean_srtt_l4", 0, "sRTT [ms]"),
    ("acks", 0, "ACKs"),
    ("return_kbps", 0, "return [kbps]"),
    ("waited", 0, "ACKs wait [ms]"),
    ("total_retransmissions_l4", 0, "retransmitted"),
    ("headers", 1, "headers, TLS [%]"),
    ("beyond", 1, "beyond the data [%]"),
)
"""Columns of means in the tables: name, decimals, heading."""

HEAD = [
    "throughput, 2",
    "throughput, 10",
    "file after [s], 2",
    "file after [s], 10",
    *(f"{heading}, 2 / 10" for _, _, heading in MEANS),
]
