"""The contribution of a run to a sample: one number.

Flows of one run share a network, so they are not independent samples. Only runs with different
seeds are independent. Several rows of one run are first combined into one number, in a way that the
caller chooses.
"""

from collections.abc import Sequence
from typing import Literal

import polars as pl

from acklab.errors import UsageError

Within = Literal["sum", "mean"]
"""How the rows of one run become one number."""

_DESCRIBE = ("src", "dst", "transport_protocol", "preset", "cca", "cc_recovery_alg", "ack_policy", "traffic_model")
"""Columns of the table of flows that describe a flow.

Names of nodes of one station entry differ only in their final number.
"""


def per_run(frame: pl.DataFrame, by: Sequence[str], value: str, within: Within | None, seed: str = "seed") -> pl.DataFrame:
    """Returns one row per combination of the columns `by` and seed, in order of appearance.

    The columns are `by`, `seed` and `value`.

    `within` adds or averages several rows of one run. A run with a missing row has no value. Raises
    UsageError if a run has several rows and `within` is None, if it would average flows of
    different kinds, or if the rows belong to several points of a sweep. A frame without the columns
    `seed` and `flow` has one row per run.
    """
    if seed not in frame.columns and "flow" not in frame.columns:
        frame = frame.with_row_index(seed)
    runs = [*by, seed]
    require_runs(frame, by, seed)
    numbers = frame.with_columns(pl.col(value).cast(pl.Float64).fill_nan(None))
    if within is None:
        refuse_several_rows(frame, runs)
        return numbers.select(*runs, value)
    if within == "mean":
        refuse_unlike_flows(frame, runs)
    folded = pl.col(value).mean() if within == "mean" else pl.col(value).sum()
    known = pl.when(pl.col(value).null_count() == 0).then(folded)
    return numbers.group_by(runs, maintain_order=True).agg(known.alias(value))


def require_runs(frame: pl.DataFrame, by: Sequence[str], seed: str) -> None:
    """Raises UsageError unless each combination of `by` and a seed is a single point of a sweep."""
    if seed not in frame.columns:
        raise UsageError(f"found no column {seed!r}, expected the seed of each row: the seeds are the sample")
    if "point" in frame.columns and "point" not in by:
        largest = _max_rows(frame, [*by, seed], pl.col("point").n_unique())
        if largest > 1:
            raise UsageError(
                f"found {largest} points of the sweep for one seed by {_listed(by)}, expected all axes of the grid, or a filter"
            )


def refuse_several_rows(frame: pl.DataFrame, runs: Sequence[str]) -> None:
    """Raises UsageError if a run has several rows, with the alternatives."""
    largest = _max_rows(frame, runs, pl.len())
    if largest > 1:
        raise UsageError(
            f"found {largest} rows for one seed by {_listed(runs[:-1])}: flows of one run are not independent samples; expected "
            'within="sum" or within="mean", or the name of the flow among the grouping columns'
        )


def refuse_unlike_flows(frame: pl.DataFrame, runs: Sequence[str]) -> None:
    """Raises UsageError if the flows of a run differ in kind, with the differing columns."""
    if differing := _differing(frame, runs):
        raise UsageError(
            f"found flows of one run that differ in {_listed(differing)}, expected flows of one kind: unlike flows have no mean; filter them, "
            "or add the name of the flow to the grouping columns"
        )


def kinds_of_flow(frame: pl.DataFrame, runs: Sequence[str]) -> pl.Series:
    """Returns the kind of the flow in each row as text, such as `ap → sta`.

    The kind contains the columns that differ between flows of one run. It is empty if all flows are
    alike.
    """
    differing = _differing(frame, runs)
    if not differing:
        return pl.Series("kind", [""] * frame.height, dtype=pl.String)
    ends = [name for name in ("src", "dst") if name in differing]
    if ends:
        # Both ends define the direction, even if only one of them differs.
        differing = ["src", "dst", *(name for name in differing if name not in ends)]
    stems = _with_stems(frame)
    arrow = [pl.concat_str("src", "dst", separator=" → ")] if ends else []
    others = [pl.col(name).cast(pl.String) for name in differing if name not in ("src", "dst")]
    return stems.select(pl.concat_str([*arrow, *others], separator=", ", ignore_nulls=True).alias("kind"))["kind"]


def _differing(frame: pl.DataFrame, runs: Sequence[str]) -> list[str]:
    """Returns the describing columns with several values in one run."""
    described = [name for name in _DESCRIBE if name in frame.columns and name not in runs]
    if not described or frame.is_empty():
        return []
    counted = _with_stems(frame).group_by(list(runs)).agg(pl.col(name).n_unique() for name in described)
    return [name for name in described if (counted[name] > 1).any()]


def _with_stems(frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the frame in which names of nodes have no final number."""
    return frame.with_columns(pl.col(name).str.replace(r"_\d+$", "") for name in ("src", "dst") if name in frame.columns)


def _max_rows(frame: pl.DataFrame, groups: Sequence[str], count: pl.Expr) -> int:
    return 0 if frame.is_empty() else int(frame.group_by(list(groups)).agg(count.alias("_count"))["_count"].max())  # type: ignore[arg-type]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"
