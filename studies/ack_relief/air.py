"""What the ACKs of TCP cost the air of a cell, part by part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from acklab.sweeps import SweepResult

SIFS = {"802.11b": 10_000}
"""Of DSSS [ns]; of the others in these cells 16 µs."""

PARTS = ("frames", "access", "responses", "collisions", "compressed")
"""PPDUs with ACKs; AIFS and backoff ahead of them; what answers them, and requests for that;
collisions; what response frames take longer.
"""


@dataclass(frozen=True)
class Direction:
    """Who acknowledges in a cell.

    The stations what they download, or the access point what they upload.
    """

    is_upload: bool
    sifs: int

    @classmethod
    def of(cls, scenario: Mapping[str, Any]) -> "Direction":
        """That of a scenario with flows of one direction."""
        cell = scenario["wifi"][0]
        return cls(scenario["flow"][0]["to"] == "server", SIFS.get(cell["standard"], 16_000))


def costs(result: SweepResult, point: Sequence[str], directions: Mapping[str, Direction], cell: str) -> pl.DataFrame:
    """Returns the share of each part of the air [%], a row a run.

    `cell` is the column that names the cell, `point` those that name the run.

    Air is booked to who uses it: what the acknowledging side uses beyond response frames to data is
    the cost of its ACKs, and what the other side uses to answer it. Of collisions it is those in
    which the acknowledging side took part, of two parties each.
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
