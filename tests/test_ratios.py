"""Ratios to a baseline, and the figure that shows which of them are significant."""

import math

import polars as pl
import pytest

from acklab import figures
from acklab.figures.ratio import is_decided
from acklab.statistics import ratios

FRAME = pl.DataFrame(
    {
        "path": ["p"] * 9 + ["q"] * 4,
        "policy": ["base"] * 3 + ["twice"] * 3 + ["noisy"] * 3 + ["base"] * 2 + ["twice"] * 2,
        "seed": [1, 2, 3] * 3 + [1, 2] * 2,
        "goodput": [1.0, 10.0, 100.0, 2.0, 20.0, 200.0, 2.0, 5.0, 100.0, 1.0, 1.0, 0.0, 3.0],
    }
)


@pytest.fixture
def cells():
    return ratios(FRAME, ["path", "policy"], "goodput", {"policy": "base"})


def test_ratios_are_taken_seed_by_seed(cells):
    twice = cells.row(1, named=True)
    assert twice["mean"] == pytest.approx(2)
    # The ratio is the same for all seeds, although their values differ.
    assert (twice["low"], twice["high"]) == (pytest.approx(2), pytest.approx(2))
    noisy = cells.row(2, named=True)
    assert noisy["mean"] == pytest.approx(1)
    assert noisy["low"] * noisy["high"] == pytest.approx(1)


def test_a_pair_with_a_zero_has_no_ratio(cells):
    assert cells.filter(path="q", policy="twice").select("mean", "low", "count").row(0) == (pytest.approx(3), None, 1)


def test_exchanging_the_sides_inverts_ratio_and_interval(cells):
    inverse = ratios(FRAME, ["path", "policy"], "goodput", {"policy": "noisy"}).filter(path="p", policy="base").row(0, named=True)
    noisy = cells.filter(path="p", policy="noisy").row(0, named=True)
    assert inverse["low"] == pytest.approx(1 / noisy["high"])


def test_only_cells_that_say_something_are_coloured(cells):
    assert [is_decided(cell) for cell in cells.to_dicts()] == [False, True, False, False, False]
    told = cells.with_columns(note=pl.lit("a note"), command=pl.lit("acklab run x"))
    drawn = figures.ratio_map(told, "policy", "path", "ratio", notes="note", commands="command")
    grey, coloured = drawn.data
    assert coloured.coloraxis == "coloraxis"
    assert list(coloured.z[0]) == [None, pytest.approx(1), None]
    assert list(coloured.z[1]) == [None, None, None]
    assert [value is None for value in grey.z[0]] == [False, True, False]
    assert coloured.customdata[0][1] == ["ratio 2.000 (2.000 … 2.000), 3 seeds<br>a note", "acklab run x"]
    assert coloured.meta == {"command": 1}


def test_less_may_be_better(cells):
    drawn = figures.ratio_map(cells, "policy", "path", "ratio", less_is_better=True)
    assert drawn.data[1].z[0][1] == pytest.approx(-math.log2(2))


def test_titles_of_panels_have_room_side_by_side(cells):
    narrow, wide = (
        figures.ratio_map(
            cells.with_columns(panel=pl.Series([title] * 4 + ["other"])), "path", "policy", "x", "panel"
        ).layout.meta
        for title in ("one", "DAASS 10, 100 kB")
    )
    # Two columns of cells in each panel are narrower than a long title, and wider than a short one.
    assert wide["least_width"] - narrow["least_width"] == 2 * (9 * len("DAASS 10, 100 kB ") - 2 * 31)
