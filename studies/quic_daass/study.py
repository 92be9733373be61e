"""Figures and tables of the study: slow start with an ACK per packet, and without."""

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, intervals, ratios
from acklab.studies import Bench
from acklab.sweeps import SweepResult

SCENARIO = "path.toml"
COMMAND = "acklab study quic_daass"
AXES = ("path", "stack", "size", "policy")
FILES = {"path": "paths.toml", "stack": "stacks.toml", "size": "sizes.toml", "policy": "policies.toml"}
QUICK = {"path": "paths.toml:satellite", "size": "sizes.toml:100 kB,1 MB"}
PAIRS = {"DAASS 2": "every 2", "DAASS 10": "every 10"}
"""For each policy with DAASS, the same policy without DAASS."""


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    files = {**FILES, **(QUICK if bench.quick else {})}
    # A stack replaces the flow, so the size is applied after it.
    result = bench.sweep(SCENARIO, "downloads", {axis: bench.variants(files[axis]) for axis in AXES})
    found = result.flows.select(
        "point", *AXES, "seed", seconds="flow_completion_time_l4", acks=pl.col("total_acks_sent_l4").cast(pl.Float64), again="total_retransmissions_l4"
    )  # fmt: skip
    of = f"geometric mean and 95 % confidence interval over {len(result.seeds)} seeds; grey where the interval includes 1"
    items = []
    for value, title, most in (("seconds", "time to completion", 2.0), ("acks", "ACKs", 4.0)):
        cells = _cells(found, value, result)
        figure = figures.ratio_map(
            cells,
            "path",
            "stack",
            f"{title}, with DAASS ÷ without",
            "where",
            wrap=3,
            less_is_better=True,
            most=most,
            commands="command",
        )
        items.append(
            Figure(
                figure,
                f"{title[0].upper()}{title[1:]} with an ACK per packet in slow start ÷ that without: {of}",
                [COMMAND, result.rerun],
            )
        )
    listed = [
        Table(
            [axis, "description", "source"],
            [[name, of.title, of.source] for name, of in bench.variants(files[axis]).chosen.items()],
            axis,
            numeric_from=3,
        )
        for axis in ("path", "stack", "policy")
    ]
    return [
        Section("Paths, stacks and policies", items=listed),
        Section("With and without DAASS", "Seed by seed, with an ACK per two and per ten packets after slow start.", items=items),
        Section(
            "Measured values",
            "Time to completion in s with its 95 % confidence interval, ACKs, and retransmitted packets.",
            items=[_numbers(part.drop("path"), str(path)) for (path,), part in found.group_by(["path"], maintain_order=True)],
        ),
    ]  # fmt: skip


def _cells(found: pl.DataFrame, value: str, result: SweepResult) -> pl.DataFrame:
    by = list(AXES)
    parts = []
    for policy, without in PAIRS.items():
        pair = found.filter(pl.col("policy").is_in([policy, without]))
        parts.append(ratios(pair, by, value, {"policy": without}).filter(pl.col("policy") == policy))
    cells = pl.concat(parts).with_columns(where=pl.concat_str("policy", "size", separator=", "))
    return result.with_commands(cells, found, by)


def _numbers(part: pl.DataFrame, path: str) -> Table:
    by = ["size", "stack", "policy"]
    means = part.group_by(by, maintain_order=True).agg(pl.col("acks", "again").mean())
    times = {tuple(row[axis] for axis in by): row for row in intervals(part, by, "seconds").to_dicts()}
    rows = []
    for mean in means.to_dicts():
        key = tuple(mean[axis] for axis in by)
        rows.append([*key, Interval.of_row(times[key]).text(3), f"{mean['acks']:.0f}", f"{mean['again']:.0f}"])
    return Table([*by, "time [s]", "ACKs", "retransmitted"], rows, path, commands=[COMMAND], numeric_from=3)
