"""Columns that studies compute from the table `flows`."""

import polars as pl


def acks_per_round_trip() -> pl.Expr:
    """Returns the number of ACKs per smoothed RTT, for a flow that was measured while active."""
    seconds = pl.col("total_delivered_bytes_l7") * 8 / 1e6 / pl.col("mean_throughput_l7")
    return pl.col("total_acks_sent_l4") / seconds * pl.col("mean_srtt_l4") / 1000
