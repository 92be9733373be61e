"""Statistics, compared with values calculated by hand or printed in tables."""

import math

import numpy as np
import polars as pl
import pytest

from acklab.statistics import (
    RARE_RUNS,
    Interval,
    cov,
    crossing,
    ecdf,
    event_rate,
    farthest,
    intervals,
    jain,
    least,
    mean_interval,
    rare_events,
    ratio_interval,
    ratio_of_means,
    ratios,
    uses_of_air,
)


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


def test_the_least_of_means_is_no_mean_of_the_least():
    # Two noisy quantities of the same mean: the minimum of each seed is 4 on average, and the
    # minimum of the means is 5.
    assert least([[4.0, 6.0, 4.0, 6.0], [6.0, 4.0, 6.0, 4.0]]).mean == 5
    assert farthest([[1.0, 3.0], [-4.0, -2.0]]).mean == 3


def test_a_single_seed_gives_the_least_no_interval():
    for found in (least([[4.0], [6.0]]), farthest([[4.0], [-6.0]])):
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert found.count == 1
    # A single seed of one of them gives no interval either: the NaN is not ignored.
    assert math.isnan(least([[4.0, 5.0], [6.0]]).low)


def test_the_interval_of_one_quantity_is_students():
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    assert least([values]) == mean_interval(values)
    assert farthest([[-value for value in values]]).high == pytest.approx(mean_interval(values).high)


MEANS = {
    "all alike": [0.0] * 8,
    "a slope": list(range(8)),
    "one below": [-3.0] + [0.0] * 7,
    "around zero": [-2.0, 1.9] + [0.0] * 6,
}
TRIES = 1000
"""With a true coverage of 0.95 the share over so many tries is above 0.934 in 99 of 100 cases (the
normal approximation).
"""


def covered(interval, truth, means, seeds):
    """Returns the share of tries in which the interval includes the true value."""
    chance = np.random.default_rng(1)
    found = [interval((np.asarray(means)[:, None] + chance.normal(size=(len(means), seeds))).tolist()) for _ in range(TRIES)]
    return sum(one.low <= truth <= one.high for one in found) / TRIES


@pytest.mark.parametrize("seeds", [3, 5, 10])
@pytest.mark.parametrize("means", MEANS.values(), ids=MEANS)
def test_intervals_of_the_least_and_the_farthest_cover(means, seeds):
    assert covered(least, min(means), means, seeds) > 0.934
    assert covered(farthest, max(map(abs, means)), means, seeds) > 0.934


PLACES = [2, 5, 10, 13, 16, 20, 25, 30]
LEADS = {
    "steep": [40.0, 30.0, 12.0, 5.0, 1.0, -3.0, -8.0, -15.0],
    "flat": [20.0, 12.0, 4.0, 1.0, 0.4, -0.6, -2.0, -6.0],
    "at a place": [20.0, 12.0, 4.0, 1.0, 0.0, -1.0, -4.0, -9.0],
}
"""Noise has a standard deviation of 1."""
CROSSINGS = {"steep": 17.0, "flat": 16 + 4 * 0.4, "at a place": 16.0}


def holds(interval, truth):
    """Returns whether an interval includes a value. An end that is NaN is open."""
    return not (interval.low > truth) and not (interval.high < truth)


@pytest.mark.parametrize("seeds", [3, 5, 20])
@pytest.mark.parametrize("name", LEADS)
def test_intervals_of_a_crossing_cover(name, seeds):
    chance = np.random.default_rng(3)
    leads = np.asarray(LEADS[name])[:, None]
    found = [crossing(PLACES, (leads + chance.normal(size=(len(PLACES), seeds))).tolist()) for _ in range(TRIES)]
    assert sum(holds(one, CROSSINGS[name]) for one in found) / TRIES > 0.934


def test_a_crossing_is_the_zero_of_the_line_with_the_places_that_may_be_zero():
    # Two seeds, t(0.975, 1) = 12.706. Without spread the interval is only the crossing: 10 + 10 ·
    # 3/(3 + 2).
    exact = crossing([0, 10, 20], [[5.0, 5.0], [3.0, 3.0], [-2.0, -2.0]])
    assert exact.row == pytest.approx((16, 16, 16))
    # Seeds shifted against each other by 2·0.1: the line is significantly different from zero where
    # it is farther from it than 12.706 · 0.1.
    wide = crossing([0, 10, 20], [[5.1, 4.9], [3.1, 2.9], [-1.9, -2.1]])
    assert wide.row == pytest.approx((16, 16 - 2 * 1.2706, 16 + 2 * 1.2706), rel=1e-4)


def test_a_crossing_that_may_lie_beyond_the_places_has_an_open_end():
    found = crossing([0, 10], [[2.0, 2.2], [-0.1, 0.05]])
    assert 0 < found.low < found.mean < 10
    assert math.isnan(found.high)
    assert math.isnan(crossing([0, 10], [[2.0, 2.0], [1.0, 1.0]]).mean)
    assert math.isnan(crossing([0, 10], [[-2.0, -2.0], [-1.0, -1.0]]).mean)


def test_the_ratio_of_means_is_fiellers():
    # Without covariance and spread below it is Student's t of the upper mean over the lower one.
    above = [1.0, 2.0, 3.0]
    found, of_mean = ratio_of_means(above, [4.0] * 3), mean_interval(above)
    assert found.row == pytest.approx((0.5, of_mean.low / 4, of_mean.high / 4))
    # Proportional counts give an interval of length zero.
    assert ratio_of_means([9.0, 10.0, 11.0], [18.0, 20.0, 22.0]).row == pytest.approx((0.5, 0.5, 0.5))
    # With a denominator that may be zero, the interval has no ends. With zero, there is no ratio.
    assert math.isnan(ratio_of_means([1.0, 2.0], [0.0, 1.0]).low)
    assert math.isnan(ratio_of_means([1.0, 2.0], [0.0, 0.0]).mean)


@pytest.mark.parametrize(("ours", "theirs"), [(10, 100), (2, 40), (90, 100)])
def test_intervals_of_ratios_of_means_cover(ours, theirs):
    chance = np.random.default_rng(4)
    found = [ratio_of_means(chance.poisson(ours, 6).tolist(), chance.poisson(theirs, 6).tolist()) for _ in range(TRIES)]
    assert sum(holds(one, ours / theirs) for one in found) / TRIES > 0.92


def test_gains_are_ratios_less_one():
    assert Interval(1.25, 1.1, 1.5, 4).gain.row == pytest.approx((25, 10, 50))


def test_rare_events_have_garwoods_interval():
    # Tables of Poisson limits (Garwood, Biometrika 28, 1936): none: 0 to 3.689; five: 1.623 to
    # 11.668.
    none, five = rare_events([0] * 20), rare_events([1] * 5 + [0] * 15)
    assert [none.low, none.high] == pytest.approx([0, 3.689 / 20], rel=1e-3)
    assert [five.low, five.high] == pytest.approx([1.623 / 20, 11.668 / 20], rel=1e-3)
    assert (five.mean, five.count) == (0.25, 20)


def test_few_runs_tell_nothing_of_rare_events():
    few = rare_events([0] * (RARE_RUNS - 1))
    assert (few.mean, few.count) == (0, RARE_RUNS - 1)
    assert math.isnan(few.low)
    assert math.isnan(rare_events([0] * 50, [0] * (RARE_RUNS - 1)).high)
    assert rare_events([0] * RARE_RUNS).high < 0.37


def test_none_on_both_sides_leaves_a_difference_open():
    found = rare_events([0] * 20, [0] * 20)
    assert [found.mean, found.low, found.high] == pytest.approx([0, -3.689 / 20, 3.689 / 20], rel=1e-3)


@pytest.mark.parametrize(("ours", "theirs"), [(0.05, 0.05), (0.3, 0.1), (0.02, 0.5)])
def test_intervals_of_rare_events_cover_their_difference(ours, theirs):
    chance = np.random.default_rng(2)
    found = [rare_events(chance.poisson(ours, 40).tolist(), chance.poisson(theirs, 40).tolist()) for _ in range(TRIES)]
    assert sum(one.low <= ours - theirs <= one.high for one in found) / TRIES > 0.934


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.4, 1.0, 2.0])
def test_intervals_of_event_rates_cover(rate):
    chance = np.random.default_rng(5)
    counts = [chance.poisson(rate, 10).tolist() for _ in range(TRIES)]
    assert sum(holds(event_rate(own), rate) for own in counts) / TRIES > 0.934
    if rate < 0.2:  # The result of Student's t.
        assert sum(holds(mean_interval(own), rate) for own in counts) / TRIES < 0.7


def test_a_timeout_in_each_run_is_no_chance():
    assert event_rate([1.0] * 10).row == (1, 1, 1)


def test_claims_and_figures_have_one_rule_for_ratios():
    above, below = [2.0, 8.0, 3.0], [1.0, 1.0, 2.0]
    frame = pl.DataFrame({"arm": ["a"] * 3 + ["b"] * 3, "seed": [1, 2, 3] * 2, "x": above + below})
    of_figure = ratios(frame, ["arm"], "x", {"arm": "b"}).row(0, named=True)
    found = ratio_interval(above, below)
    assert found.row == pytest.approx((of_figure["mean"], of_figure["low"], of_figure["high"]))
    assert found.mean == pytest.approx((2 * 8 * 1.5) ** (1 / 3))


def test_a_ratio_to_zero_is_counted_as_missing():
    found = ratio_interval([1.0, 2.0, 3.0], [0.0, 1.0, 1.0])
    assert found.count == 2
    assert found.mean == pytest.approx(6**0.5)
    assert math.isnan(ratio_interval([1.0], [0.0]).mean)


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
