"""Samples are seeds: how the flows of a run become one number, and how ratios are formed."""

import itertools
import math
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest

from acklab import figures
from acklab.errors import UsageError
from acklab.report.sources import _over_grid
from acklab.samples import kinds_of_flow
from acklab.statistics import intervals, mean_interval, ratios


def runs_of(values, policy="p", src=None, **columns):
    """Returns a frame of flows: `values[seed][flow]`."""
    rows = [
        {
            "point": (policy, seed).__hash__() % 10**9,
            "policy": policy,
            "seed": seed,
            "flow": f"flow_{number + 1}",
            "src": "server" if src is None else src[number],
            "dst": f"phone_{number + 1}" if src is None else ("server" if src[number] != "server" else f"phone_{number + 1}"),
            "goodput": value,
        }
        for seed, own in enumerate(values, start=1)
        for number, value in enumerate(own)
    ]
    return pl.DataFrame(rows).with_columns(**{name: pl.lit(value) for name, value in columns.items()})


def random_runs(chance, seeds, flows, policy="p"):
    return runs_of(chance.lognormal(1.0, 0.5, size=(seeds, flows)).tolist(), policy)


def test_five_phones_and_two_seeds_are_a_sample_of_two():
    frame = runs_of([[3.0, 3.5, 4.0, 4.5, 5.0], [3.24, 3.74, 4.24, 4.74, 5.24]])
    (mean,) = intervals(frame, ["policy"], "goodput", within="mean").to_dicts()
    # t(0.975, 1) = 12.7062; the means of the seeds, 4.00 and 4.24, differ by 0.24.
    assert mean["count"] == 2
    assert (mean["high"] - mean["low"]) / 2 == pytest.approx(12.7062 * 0.24 / 2, rel=1e-4)
    (total,) = intervals(frame, ["policy"], "goodput", within="sum").to_dicts()
    assert total["mean"] == pytest.approx(5 * mean["mean"])
    by_name = intervals(frame, ["policy", "flow"], "goodput")
    assert by_name["count"].to_list() == [2] * 5


def test_several_flows_of_a_run_need_a_choice():
    frame = runs_of([[3.0, 4.0], [3.5, 4.5]])
    with pytest.raises(UsageError, match=r'found 2 rows for one seed by policy: .*within="sum"'):
        intervals(frame, ["policy"], "goodput")
    with pytest.raises(UsageError, match="found no column 'seed'"):
        intervals(frame.drop("seed"), ["policy"], "goodput")
    other = runs_of([[1.0], [2.0]], "q")
    with pytest.raises(UsageError, match="found 2 points of the sweep"):
        intervals(pl.concat([frame, other]), ["flow"], "goodput")


@pytest.mark.parametrize("seed", range(20))
def test_the_sample_of_an_interval_is_one_number_for_each_seed(seed):
    chance = np.random.default_rng(seed)
    seeds, flows = int(chance.integers(2, 9)), int(chance.integers(1, 7))
    frame = random_runs(chance, seeds, flows)
    folds: list[tuple[Literal["sum", "mean"], Any]] = [("sum", np.sum), ("mean", np.mean)]
    for within, fold in folds:
        (found,) = intervals(frame.sample(fraction=1, shuffle=True, seed=seed), ["policy"], "goodput", within=within).to_dicts()
        sample = frame["goodput"].to_numpy().reshape(seeds, flows)
        expected = mean_interval(fold(sample, axis=1))
        assert found["count"] == seeds
        assert (found["mean"], found["low"], found["high"]) == pytest.approx((expected.mean, expected.low, expected.high))
    # Further copies of a flow add no evidence.
    copies = pl.concat([frame.filter(flow="flow_1").with_columns(flow=pl.lit(f"copy_{number}")) for number in range(4)])
    (once,) = intervals(frame.filter(flow="flow_1"), ["policy"], "goodput").to_dicts()
    (often,) = intervals(copies, ["policy"], "goodput", within="mean").to_dicts()
    assert often == pytest.approx(once)


def test_a_run_in_which_a_flow_has_no_value_has_none():
    frame = runs_of([[1.0, math.nan], [2.0, 4.0], [3.0, 5.0]])
    (found,) = intervals(frame, ["policy"], "goodput", within="mean").to_dicts()
    assert (found["mean"], found["count"]) == (3.5, 2)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("within", [None, "sum", "mean"])
def test_a_baseline_over_itself_is_exactly_one(seed, within):
    chance = np.random.default_rng(seed)
    seeds, flows = int(chance.integers(2, 6)), int(chance.integers(1, 6))
    frame = pl.concat([random_runs(chance, seeds, flows, policy) for policy in ("base", "other")])
    base, other = ratios(frame, ["policy"], "goodput", {"policy": "base"}, within=within).to_dicts()
    assert (base["mean"], base["low"], base["high"], base["count"]) == (1.0, 1.0, 1.0, seeds)
    back = ratios(frame, ["policy"], "goodput", {"policy": "other"}, within=within).row(0, named=True)
    assert back["mean"] == pytest.approx(1 / other["mean"])
    assert (back["low"], back["high"]) == pytest.approx((1 / other["high"], 1 / other["low"]))
    assert other["count"] == seeds


def test_each_flow_is_divided_by_the_flow_of_its_name():
    base = runs_of([[1.0, 10.0], [2.0, 30.0]], "base")
    twice = runs_of([[20.0, 2.0], [60.0, 4.0]], "twice").with_columns(
        flow=pl.col("flow").replace({"flow_1": "flow_2", "flow_2": "flow_1"}),
        dst=pl.col("dst").replace({"phone_1": "phone_2", "phone_2": "phone_1"}),
    )
    cell = ratios(pl.concat([base, twice]), ["policy"], "goodput", {"policy": "base"}).row(1, named=True)
    assert (cell["mean"], cell["low"], cell["high"], cell["count"]) == pytest.approx((2.0, 2.0, 2.0, 2))


def test_unlike_flows_have_no_mean():
    values = [[30.0, 5.0, 0.1], [31.0, 6.0, 0.1]]
    frame = runs_of(values, src=["server", "phone_2", "server"]).with_columns(
        cca=pl.when(pl.col("flow") == "flow_3").then(pl.lit("none")).otherwise(pl.lit("cubic")), x=pl.lit("1"), y=pl.lit("2")
    )
    for refused in (
        lambda: intervals(frame, ["policy"], "goodput", within="mean"),
        lambda: ratios(frame, ["policy"], "goodput", {"policy": "p"}),
        lambda: figures.heat_map(frame, "x", "y", "goodput", "Mbps", within="mean"),
    ):
        with pytest.raises(UsageError, match="differ in src, dst, cca"):
            refused()
    assert intervals(frame, ["policy"], "goodput", within="sum")["mean"].to_list() == pytest.approx([36.1])
    kinds = kinds_of_flow(frame, ["point"])
    assert kinds.to_list()[:3] == ["server → phone, cubic", "phone → server, cubic", "server → phone, none"]
    for _, part in frame.with_columns(kinds).group_by("kind"):
        assert intervals(part, ["policy"], "goodput")["count"].to_list() == [2]


def test_flows_of_one_entry_are_of_one_kind():
    frame = runs_of([[1.0, 2.0], [2.0, 3.0]])
    assert kinds_of_flow(frame, ["point"]).to_list() == [""] * 4


def test_a_report_of_a_sweep_has_a_map_for_each_kind_of_flow():
    parts = [
        runs_of([[30.0 + a, 5.0, 6.0], [31.0, 6.0 + b, 7.0]], f"{a}{b}", src=["server", "phone_2", "phone_3"]).with_columns(
            a=pl.lit(str(a)), b=pl.lit(str(b)), c=pl.lit(str(c)), point=pl.col("seed") + 100 * a + 10 * b + 1000 * c
        )
        for a, b, c in itertools.product((1, 2), (1, 2), (1, 2))
    ]
    found = list(_over_grid(pl.concat(parts), ["a", "b", "c"], "goodput", "goodput [Mbps]"))
    assert [what for _, what in found] == [
        "Mean goodput [Mbps] of the flows server → phone: mean over seeds with its 95 % confidence interval",
        "Mean goodput [Mbps] of the flows phone → server, averaged over up to 2 flows per run: mean over seeds with its 95 % confidence interval",
    ]
    assert [title.text for title in found[0][0].layout.annotations[:2]] == ["c 1", "c 2"]
