"""Airtime of TCP ACKs in a cell, by part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from acklab.sweeps import SweepResult

SIFS = {"802.11b": 10_000}
"""SIFS of DSSS [ns]. In the other cells, SIFS is 16 µs."""

PARTS = ("frames", "access", "responses", "collisions", "compressed")
"""Parts of the airtime of ACKs: PPDUs with ACKs; AIFS and backoff before the PPDUs; response frames
to the PPDUs, and requests for response frames; collisions; the extension of response frames by
compressed ACKs.
"""


@dataclass(frozen=True)
class Direction:
    """Nodes that send TCP ACKs in a cell.

    Stations acknowledge downloads, and the access point acknowledges uploads.
    """

    is_upload: bool
    sifs: int

    @classmethod
    def of(cls, scenario: Mapping[str, Any]) -> "Direction":
        """Returns the direction of a scenario whose flows have the same direction."""
        cell = scenario["wifi"][0]
        return cls(scenario["flow"][0]["to"] == "server", SIFS.get(cell["standard"], 16_000))


def costs(result: SweepResult, point: Sequence[str], directions: Mapping[str, Direction], cell: str) -> pl.DataFrame:
    """Returns the share of each part of the air [%], one row per run.

    `cell` is the column with the name of the cell, and `point` are the columns that identify the
    run.

    Airtime is attributed to its sender. The cost of ACKs is the airtime of the acknowledging side,
    without its response frames to data, plus the response frames of the other side. A collision is
    included if the acknowledging side sent one of the collided frames. Each collision has two
    senders.
    """
    frames = result.table("airtime").join(_sides(directions), left_on=cell, right_on="name")
    nodes = result.table("stations").join(_sides(directions), left_on=cell, right_on="name")
    acknowledges = (pl.col("node") == "ap") == pl.col("is_upload")
    counted = nodes.group_by(*point, maintain_order=True).agg(
        pl.col("sifs").first(),
        responses_given=pl.col("total_link_acks_l2").filter(acknowledges).sum(),
        responses_taken=pl.col("total_link_acks_l2").filter(~acknowledges).sum(),
        collided=pl.col("total_collisions_l1").filter(acknowledges).sum(),
        all_collided=pl.col("total_collisions_l1").sum(),
    )

    def used(*uses: str, by: pl.Expr | None = None) -> pl.Expr:
        chosen = pl.col("use").is_in(uses)
        return pl.col("time").filter(chosen if by is None else chosen & by).sum().cast(pl.Float64)

    booked = frames.group_by(*point, maintain_order=True).agg(
        window=pl.col("time").sum().cast(pl.Float64),
        frames=used("transport_ack"),
        access=used("interframe_space", "backoff", by=acknowledges),
        responses=used("link_ack", by=~acknowledges) + used("control", by=acknowledges),
        collisions=used("collision"),
        compressed=used("compressed_ack"),
    )
    of_acks = pl.when(pl.col("all_collided") > 0).then((2 * pl.col("collided") / pl.col("all_collided")).clip(0, 1)).otherwise(0)
    return (
        booked.join(counted, on=list(point), maintain_order="left")
        .with_columns(
            access=pl.col("access") - pl.col("responses_given") * pl.col("sifs"),
            responses=pl.col("responses") + pl.col("responses_taken") * pl.col("sifs"),
            collisions=pl.col("collisions") * of_acks,
        )
        .select(*point, *((100 * pl.col(part) / pl.col("window")).alias(part) for part in PARTS))
        .with_columns(air=pl.sum_horizontal(PARTS))
    )


def _sides(directions: Mapping[str, Direction]) -> pl.DataFrame:
    rows = [(name, side.is_upload, side.sifs) for name, side in directions.items()]
    return pl.DataFrame(rows, schema={"name": pl.String, "is_upload": pl.Boolean, "sifs": pl.Int64}, orient="row")
