"""Statistics against values worked out by hand or printed in tables."""

import math

import polars as pl
import pytest

from acklab.statistics import cov, ecdf, intervals, jain, mean_interval, pseudo_values, uses_of_air


def test_interval_uses_students_t():
    # t(0.975, 4) = 2.7764451 (any table of Student's t); s = sqrt(2.5), n = 5.
    interval = mean_interval([1, 2, 3, 4, 5])
    assert interval.mean == 3
    assert interval.half_width == pytest.approx(2.7764451 * math.sqrt(2.5 / 5), rel=1e-7)
    assert interval.count == 5


def test_interval_of_one_value_is_unknown_and_missing_values_are_left_out():
    interval = mean_interval([math.nan, 7.0, None])
    assert (interval.mean, interval.count) == (7.0, 1)
    assert math.isnan(interval.low)
    assert math.isnan(mean_interval([]).mean)


def test_pseudo_values_of_a_mean_are_the_values():
    assert pseudo_values([[1.0, 2.0, 6.0]], lambda means: means[0]) == pytest.approx([1, 2, 6])
    assert pseudo_values([[5.0]], lambda means: means[0]) == [5.0]


def test_pseudo_values_take_the_bias_of_a_square_away():
    # The square of a mean is too large by s²/n, which is what the jackknife subtracts: s² = 1 for 1, 2, 3.
    found = pseudo_values([[1.0, 2.0, 3.0]], lambda means: means[0] ** 2)
    assert sum(found) / 3 == pytest.approx(2.0**2 - 1 / 3)


def test_the_least_of_means_is_no_mean_of_the_least():
    # Two noisy quantities of the same mean: the least of each seed averages 4, the least of the means is 5.
    found = pseudo_values([[4.0, 6.0, 4.0, 6.0], [6.0, 4.0, 6.0, 4.0]], min)
    assert sum(found) / 4 > 4.9


def test_uses_of_the_air_add_up_by_cell():
    airtime = pl.DataFrame(
        {
            "cell": ["a", "a", "a", "b"],
            "node": ["ap", "ap", "sta", "ap"],
            "use": ["data", "backoff", "backoff", "data"],
            "time": [50, 10, 40, 100],
            "share": [0.5, 0.1, 0.4, 1.0],
        }
    )
    expected = [("a", "data", 50, 0.5), ("a", "backoff", 50, 0.5), ("b", "data", 100, 1.0)]
    assert uses_of_air(airtime).rows() == expected


def test_intervals_keep_the_order_of_their_groups():
    frame = pl.DataFrame({"x": ["b", "a", "b", "a"], "v": [1.0, 5.0, 3.0, 5.0]})
    found = intervals(frame, ["x"], "v")
    assert found["x"].to_list() == ["b", "a"]
    assert found["mean"].to_list() == [2.0, 5.0]
    assert found["low"].to_list() == pytest.approx([2 - 12.7062047 * math.sqrt(2 / 2), 5.0])


@pytest.mark.parametrize(("shares", "index"), [([1, 1, 1], 1), ([1, 0, 0, 0], 0.25), ([4, 2], 36 / 40)])
def test_jain(shares, index):
    assert jain(shares) == pytest.approx(index)


def test_cov_is_of_the_population():
    assert cov([2, 4, 4, 4, 5, 5, 7, 9]) == pytest.approx(2 / 5)
    assert math.isnan(cov([]))


def test_ecdf_counts_values_that_are_not_greater():
    x, share = ecdf([3, 1, 3, 2])
    assert x.tolist() == [1, 2, 3]
    assert share.tolist() == [0.25, 0.5, 1.0]
