"""Summary of a sweep: means over seeds for each combination of its grid."""

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acklab.errors import UsageError
from acklab.metrics import numbers_of, written
from acklab.tables import Table

if TYPE_CHECKING:
    import polars as pl

METRICS = ("mean_throughput_l4", "mean_throughput_l7", "mean_srtt_l4", "total_retransmissions_l4", "total_acks_sent_l4")
"""Metrics of flows in a summary by default, if the table has them."""


def chosen_metrics(only: Sequence[str]) -> tuple[str, ...]:
    """Returns the metrics of a summary: `only`, or by default the most important.

    Raises UsageError for a name that is not a numeric column of flows, with similar names.
    """
    known = numbers_of("flows")
    for name in only:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or ["p95_one_way_delay_l4"]
            raise UsageError(f"--only: found {name!r}, expected a number of the table flows such as {', '.join(near)}")
    return tuple(only) or METRICS


def summary(flows: "pl.DataFrame", names: Sequence[str], metrics: Sequence[str] = METRICS) -> "pl.DataFrame":
    """Returns mean, low and high of each of the metrics over seeds.

    There is a row per combination of the columns `names` and kind of flow.

    Flows of one kind are averaged within a run first. Different kinds, such as a download and a
    call, have separate rows.
    """
    import polars as pl

    from acklab.samples import kinds_of_flow
    from acklab.statistics import intervals

    kinds = flows.with_columns(kinds_of_flow(flows, ["point"]))
    by = [*names, "kind"]
    rows = kinds.select(by).unique(maintain_order=True)
    counts = kinds.group_by(by, maintain_order=True).agg(seeds=pl.col("seed").n_unique())
    found = rows.join(counts, on=by, how="left", maintain_order="left")
    for metric in (name for name in metrics if name in flows.columns):
        means = intervals(kinds, by, metric, within="mean")
        columns = means.select(*by, *(pl.col(part).alias(f"{metric}_{part}") for part in ("mean", "low", "high")))
        found = found.join(columns, on=by, how="left", maintain_order="left")
    return found.drop("kind") if (found["kind"] == "").all() else found.rename({"kind": "flows"})


def summary_table(frame: "pl.DataFrame", units: Mapping[str, str], seeds: int) -> Table:
    """Returns a summary as text: means with the half-widths of their intervals."""
    names = [name for name in frame.columns if name != "seeds" and not name.endswith(("_mean", "_low", "_high"))]
    measured = [name.removesuffix("_mean") for name in frame.columns if name.endswith("_mean")]
    shown = [name for name in measured if frame[f"{name}_mean"].null_count() < frame.height]
    head = [*names, *(f"{name} [{units[name]}]" if units.get(name) else name for name in shown)]
    rows = [[*(str(row[name]) for name in names), *(_cell(row, name) for name in shown)] for row in frame.iter_rows(named=True)]
    caption = (
        f"Each flow: mean ± half-width of the 95 % confidence interval, {seeds} seeds" if seeds > 1 else "Each flow, one seed"
    )
    return Table(head, rows, caption, numeric_from=len(names))


def _cell(row: Mapping[str, Any], metric: str) -> str:
    mean, low, high = (row[f"{metric}_{part}"] for part in ("mean", "low", "high"))
    return written(mean) if mean is None or low is None else f"{written(mean)} ± {written((high - low) / 2)}"
