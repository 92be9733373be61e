"""Results of each policy in each cell, per run."""

import polars as pl

from acklab.sweeps import SweepResult

AXES = ("generation", "stations", "stack", "policy")
BASELINE = {"policy": "every 2"}


def summary(result: SweepResult) -> pl.DataFrame:
    """Returns one row per run, with all downloads together.

    Goodput [Mbps], ACKs and data packets, smoothed round trip [ms], retransmitted packets, Jain's
    index; the share of the air [%] of the stations' PPDUs, which hold only ACKs, and of collisions;
    PPDUs of the stations.
    """
    key = ["point", *AXES, "seed"]
    flows = result.flows.group_by(key, maintain_order=True).agg(
        goodput=pl.col("mean_throughput_l7").sum(),
        acks=pl.col("total_acks_sent_l4").sum().cast(pl.Float64),
        packets=pl.col("total_data_packets_l4").sum().cast(pl.Float64),
        srtt=pl.col("mean_srtt_l4").mean(),
        burst=pl.col("total_data_packets_l4").sum() / (pl.col("total_acks_delivered_l4") / pl.col("mean_ack_burst_l4")).sum(),
        again=pl.col("total_retransmissions_l4").sum().cast(pl.Float64),
    )
    is_of_station = pl.col("node") != "ap"
    air = result.airtime.group_by("point", maintain_order=True).agg(
        air=100 * pl.col("share").filter(is_of_station & pl.col("use").is_in(["data", "transport_ack"])).sum(),
        collisions=100 * pl.col("share").filter(pl.col("use") == "collision").sum(),
    )
    nodes = result.table("stations").group_by("point", maintain_order=True).agg(
        ppdus=pl.col("total_ppdus_l2").filter(is_of_station).sum().cast(pl.Float64)
    )  # fmt: skip
    table = flows.join(air, on="point", maintain_order="left").join(nodes, on="point", maintain_order="left")
    network = result.network.select("point", jain="jain_throughput_l4")
    return table.join(network, on="point", maintain_order="left").with_columns(per_packet=pl.col("acks") / pl.col("packets"))
