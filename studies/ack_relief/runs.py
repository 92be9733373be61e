"""Results of each scheme in each cell, per run."""

from collections.abc import Mapping

import polars as pl

from acklab.sweeps import SweepResult

from .air import Direction, costs

AXES = ("cell", "scheme")
BASELINE = {"scheme": "every second"}


def summary(result: SweepResult, directions: Mapping[str, Direction]) -> pl.DataFrame:
    """Returns one row per run, with gains and costs.

    The columns `cell` and `scheme` identify the setting.
    """
    by = [result.columns[axis] for axis in AXES]
    key = ["point", *by, "seed"]
    flows = result.flows.group_by(key, maintain_order=True).agg(
        goodput=pl.col("mean_throughput_l7").sum(),
        segments=pl.col("total_data_packets_l4").sum(),
        acks=pl.col("total_acks_sent_l4").sum(),
        # Consecutive ACKs trigger one burst of all segments that they acknowledge.
        burst=pl.col("total_data_packets_l4").sum() / (pl.col("total_acks_delivered_l4") / pl.col("mean_ack_burst_l4")).sum(),
        srtt=pl.col("mean_srtt_l4").mean(),
        one_way=pl.col("mean_one_way_delay_l4").mean(),
        retransmissions=pl.col("total_retransmissions_l4").sum(),
        timeouts=pl.col("total_rtos_l4").sum(),
    )
    network = result.network.select("point", jain="jain_throughput_l4")
    nodes = result.table("stations").group_by("point", maintain_order=True).agg(
        unanswered=100 * pl.col("total_unanswered_l2").sum() / pl.col("total_ppdus_l2").sum(),
        filtered=pl.col("total_filtered_acks_l2").sum(),
        queue=pl.col("mean_queue_length_l2").filter(pl.col("node") == "ap").sum(),
    )  # fmt: skip
    air = costs(result, ["point"], directions, by[0])
    table = flows
    for other in (network, nodes, air):
        table = table.join(other, on="point", maintain_order="left")
    return table.rename(dict(zip(by, AXES, strict=True)), strict=False)
