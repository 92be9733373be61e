"""Tables of the study: both endpoints path by path, under two controllers."""

from collections.abc import Sequence

import polars as pl

from acklab.figures import agreement
from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals, ratios
from acklab.studies import Bench

SCENARIO = "path.toml"
COMMAND = "acklab study quic_parity"
OURS, THEIRS, THEIR_OWN = "quic", "quinn", "quinn_own"
PACKETS = (2, 10)
QUICK_PATHS = "paths.toml:lan,lossy,thin"
MEASURED = {
    "seconds": ("time to completion [s]", 3),
    "acks": ("ACKs", 0),
    "packets": ("data packets", 0),
    "srtt": ("smoothed RTT [ms]", 1),
    "ack_bytes": ("bytes per ACK", 1),
}
"""Compared columns: title and decimals."""


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    endpoints = ",".join(f"{name}_{packets}" for packets in PACKETS for name in (OURS, THEIRS, THEIR_OWN))
    axes = {
        "path": bench.variants(QUICK_PATHS if bench.quick else "paths.toml"),
        "endpoint": bench.variants(f"endpoints.toml:{endpoints}"),
        "controller": bench.variants("controllers.toml"),
    }
    result = bench.sweep(SCENARIO, "controllers", axes)
    found = result.flows.select(
        "path",
        "controller",
        "seed",
        side=pl.col("endpoint").str.replace(r"_\d+$", ""),
        every=pl.col("endpoint").str.extract(r"_(\d+)$").cast(pl.Int64),
        seconds="flow_completion_time_l4",
        acks=pl.col("total_acks_sent_l4").cast(pl.Float64),
        packets=pl.col("total_data_packets_l4").cast(pl.Float64),
        srtt="mean_srtt_l4",
        ack_bytes=pl.col("total_ack_bytes_l3") / pl.col("total_acks_delivered_l4"),
    )
    commands = [COMMAND, result.rerun]
    shelf = found.filter(pl.col("side") != THEIR_OWN)
    caption = f"Ratio of ours to quinn-proto, with 95 % confidence intervals over {bench.seeds} seeds or more"
    return [
        Section("Ratio to the other implementation", items=[Figure(agreement(bench.findings), caption, [COMMAND])]),
        Section(
            "Eleven paths",
            "Ours and quinn-proto with the same controller, an ACK per two and per ten packets: means of ours, and ratios to "
            f"quinn-proto's as geometric mean with its 95 % confidence interval over {len(result.seeds)} seeds.",
            items=[
                Table(
                    ["path", "packets per ACK", *(head for head, _ in MEASURED.values())],
                    _rows(part, ["path", "every"]),
                    str(controller),
                    commands=commands,
                    numeric_from=2,
                )
                for (controller,), part in shelf.group_by(["controller"], maintain_order=True)
            ],
        ),
        Section(
            "Controllers of quinn",
            "quinn-proto with the controllers of acklab ÷ quinn-proto with its own controller of the same name.",
            items=[_own(found, commands)],
        ),
    ]


def _rows(found: pl.DataFrame, by: Sequence[str]) -> list[list[str]]:
    """Returns the means of ours per combination of `by`, and their ratios to quinn-proto."""
    cells: dict[tuple[object, ...], list[str]] = {}
    for name, (_, decimals) in MEASURED.items():
        own = intervals(found.filter(pl.col("side") == OURS), list(by), name)
        ratio = ratios(found, [*by, "side"], name, {"side": THEIRS}).filter(pl.col("side") == OURS)
        for mean, compared in zip(own.to_dicts(), ratio.to_dicts(), strict=True):
            text = f"{mean['mean']:.{decimals}f} · {Interval.of_row(compared).text(3)}"
            cells.setdefault(tuple(mean[axis] for axis in by), []).append(text)
    return [[*map(str, key), *texts] for key, texts in cells.items()]


def _own(found: pl.DataFrame, commands: Sequence[str]) -> Table:
    by = ["path", "controller", "every"]
    theirs = found.filter(pl.col("side") != OURS)
    columns: dict[tuple[object, ...], list[str]] = {}
    for name in ("seconds", "acks"):
        cells = ratios(theirs, [*by, "side"], name, {"side": THEIR_OWN}).filter(pl.col("side") == THEIRS)
        for cell in cells.to_dicts():
            columns.setdefault(tuple(cell[axis] for axis in by), []).append(Interval.of_row(cell).text(3))
    rows = [[*map(str, key), *texts] for key, texts in columns.items()]
    return Table([*by[:2], "packets per ACK", "time", "ACKs"], rows, "Ratios", commands=commands, numeric_from=2)
