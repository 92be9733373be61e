"""The gain by the length of the access point's queue."""

import polars as pl

from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals, ratios
from acklab.studies import Bench
from acklab.sweeps import load_sweep

from . import drawing
from .runs import COMMAND, LINES, MORE_DATA, OF, STOCK, folder, over, published


def section(bench: Bench) -> Section:
    """Returns goodput, the share of compressed ACKs, and the gain."""
    parts, commands = [], [COMMAND]
    for count, place in LINES:
        swept = load_sweep(bench.folder / folder(count, place))
        commands.append(swept.rerun)
        hack = swept.table("hack").group_by("packets", "scheme", "seed", maintain_order=True)
        share = hack.agg(
            share=100
            * pl.col("total_compressed_acks_l2").sum()
            / (pl.col("total_compressed_acks_l2") + pl.col("total_plain_acks_l2")).sum()
        )
        network = swept.network.select("packets", "scheme", "seed", "agg_throughput_l4")
        parts.append(
            network.join(share, on=["packets", "scheme", "seed"], how="left").with_columns(line=pl.lit(_line(count, place)))
        )
    frame = pl.concat(parts)
    gains = ratios(frame, ["line", "packets", "scheme"], "agg_throughput_l4", {"scheme": STOCK}).filter(
        pl.col("scheme") == MORE_DATA
    )
    means = intervals(frame, ["line", "packets", "scheme"], "agg_throughput_l4")
    shares = intervals(frame.filter(pl.col("scheme") == MORE_DATA), ["line", "packets"], "share")
    rows = []
    for gain, compressed in zip(gains.to_dicts(), shares.to_dicts(), strict=True):
        own = means.filter(pl.col("line") == gain["line"], pl.col("packets") == gain["packets"]).to_dicts()
        rows.append(
            [
                gain["line"],
                gain["packets"],
                *(Interval.of_row(cell).text(1) for cell in own),
                Interval.of_row(compressed).text(1),
                Interval.of_row(gain).text(3),
            ]
        )
    head = ["", "packets per client", STOCK, MORE_DATA, "ACKs compressed [%]", "gain"]
    return Section(
        "Length of the access point's queue",
        "The queue of the cell includes packets on the air. While a batch of 42 packets is on the air, the ACKs of the previous batch wait for its response frame. For MORE DATA, "
        "a third batch must wait behind it. If a loss has made the window smaller, the last batch signals that nothing follows, and its ACKs are sent as frames.",
        items=[
            Figure(drawing.gains(gains, "packets", published(bench), OF), f"Goodput of MORE DATA ÷ stock by length of the queue: geometric {over(bench)}; dashed: published", commands),
            Table(head, rows, f"In Mbps: {over(bench)}", numeric_from=2),
        ],
    )  # fmt: skip


def _line(count: str, place: str) -> str:
    return OF[count] if count == "1" else f"{OF[count]}, {place}"
