"""Values of settings, one per seed."""

from collections.abc import Sequence

import polars as pl


def per_seed(runs: pl.DataFrame, column: str, **setting: object) -> list[float]:
    """Returns the values of a column in one setting, in the order of the seeds.

    `runs` has one row per run. `setting` gives the values of other columns.
    """
    own = runs.filter(*(pl.col(name) == value for name, value in setting.items())).sort("seed")
    return own[column].cast(pl.Float64).to_list()


def differences(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Returns above − below for each seed."""
    return [one - other for one, other in zip(above, below, strict=True)]
