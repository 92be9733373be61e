"""The rule of verdicts: the strongest verdict that the whole interval supports."""

import math
from typing import Any

import numpy as np
import pytest

from acklab.errors import UsageError
from acklab.statistics import Interval
from acklab.studies import Claim, discover
from acklab.verdict import BOUNDS, OWN, PAPER, PARITY, VERDICTS, judge, kind_of, lies_within, tolerated


def ours(low, high):
    return Interval((low + high) / 2, low, high, 5)


def claim(**fields):
    told: dict[str, Any] = {"published": 100, "tolerance": "3%"} | fields
    return Claim(id="x", title="x", source="a page", metric="study.x", **told)


@pytest.mark.parametrize(
    ("low", "high", "fields", "verdict"),
    [
        (98, 103, {}, "reproduced"),
        (98, 103.1, {}, "undecided"),
        (103.1, 104, {}, "not reproduced"),
        (97, 103, {}, "reproduced"),
        (103.1, 104, {"direction": {"higher_than": 50}}, "same direction"),
        # Whether the claim is reproduced is open, but its direction is certain.
        (98, 110, {"direction": {"higher_than": 50}}, "same direction"),
        (98, 110, {"direction": {"higher_than": 99}}, "undecided"),
        (40, 60, {"direction": {"higher_than": 50}}, "undecided"),
        (40, 49, {"direction": {"higher_than": 50}}, "not reproduced"),
        # With zero as the bound, the effect must be at least a tenth of the published one.
        (1, 2, {"direction": {"higher_than": 0}}, "not reproduced"),
        (9, 12, {"direction": {"higher_than": 0}}, "undecided"),
        (11, 12, {"direction": {"higher_than": 0}}, "same direction"),
        (0.985, 0.994, {"published": 0.95, "tolerance": "5%", "no_effect": 1, "direction": {"lower_than": 1}}, "same direction"),
        (0.996, 0.999, {"published": 0.95, "tolerance": "5%", "no_effect": 1, "direction": {"lower_than": 1}}, "not reproduced"),
        (60, 70, {"published": 90, "tolerance": "factor 1.5"}, "reproduced"),
        (136, 137, {"published": 90, "tolerance": "factor 1.5"}, "not reproduced"),
        # A sign that is not significant is no evidence.
        (-1, 3, {"published": 0, "tolerance": "at least"}, "undecided"),
        (-3, 1, {"published": 0, "tolerance": "at most"}, "undecided"),
        (0, 3, {"published": 0, "tolerance": "at least"}, "reproduced"),
        (0, 3, {"published": 0, "tolerance": "more than"}, "undecided"),
        (0.1, 3, {"published": 0, "tolerance": "more than"}, "reproduced"),
        (-3, 0, {"published": 0, "tolerance": "more than"}, "not reproduced"),
        (22, 24, {"published": 29, "tolerance": "less than"}, "reproduced"),
        (29, 29, {"published": 29, "tolerance": "less than"}, "not reproduced"),
        (0, 0, {"published": 0, "tolerance": "0"}, "reproduced"),
        # 29 % as a ratio: five per cent of the gain, not of 1.29.
        (1.232, 1.232, {"published": 1.29, "tolerance": "5%", "no_effect": 1}, "not reproduced"),
        (1.28, 1.30, {"published": 1.29, "tolerance": "5%", "no_effect": 1}, "reproduced"),
        (-0.5, 13.7, {"published": 15, "tolerance": "10%", "direction": {"higher_than": 5}}, "undecided"),
    ],
)
def test_verdicts(low, high, fields, verdict):
    assert claim(**fields).verdict(ours(low, high)) == verdict


def test_a_single_seed_decides_nothing_and_no_number_is_not_reproduced():
    assert claim().verdict(Interval(100.0, math.nan, math.nan, 1)) == "undecided"
    assert claim().verdict(Interval(math.nan, math.nan, math.nan, 0)) == "not reproduced"


@pytest.mark.parametrize("seed", range(50))
def test_each_verdict_says_what_all_of_the_interval_supports(seed):
    chance = np.random.default_rng(seed)
    one = claim(published=10, tolerance="20%", direction={"higher_than": float(chance.uniform(2, 14))})
    for _ in range(40):
        low, high = np.sort(chance.uniform(0, 16, 2)).tolist()
        # What a value by itself would be called; the interval is tried at many places, and next to
        # where verdicts change.
        edges = [8.0, 12.0, one.direction.bound]
        places = [
            *np.linspace(low, high, 41),
            *(edge + off for edge in edges for off in (-1e-7, 1e-7) if low < edge + off < high),
        ]
        alone = {one.verdict(ours(place, place)) for place in places}
        verdict = one.verdict(ours(low, high))
        if verdict == "undecided":
            assert len(alone) > 1
        elif verdict == "same direction":
            assert all(place > one.direction.bound for place in places)
        else:
            assert alone == {verdict}


@pytest.mark.parametrize("seed", range(20))
def test_narrower_intervals_never_take_a_verdict_back(seed):
    chance = np.random.default_rng(seed)
    one = claim(published=10, tolerance="20%", direction={"higher_than": 5})
    low, high = np.sort(chance.uniform(0, 16, 2)).tolist()
    rank = {"reproduced": 2, "same direction": 1}
    before = one.verdict(ours(low, high))
    inside = np.sort(chance.uniform(low, high, 2)).tolist()
    after = one.verdict(ours(*inside))
    assert before == "undecided" or rank.get(after, 0) >= rank.get(before, 0)
    assert before != "not reproduced" or after == before


def test_every_outcome_has_one_of_the_verdicts():
    for reproduced in (True, False, None):
        for right_side in (True, False, None):
            verdict = judge(reproduced, right_side)
            assert verdict in VERDICTS
            assert (verdict == "reproduced") == (reproduced is True)
            assert (verdict == "undecided") == (
                reproduced is not True and right_side is not True and None in (reproduced, right_side)
            )


def test_lying_within_bounds():
    assert lies_within(ours(1, 2), 1, 2)
    assert lies_within(ours(1, 2), 1.5, 3) is None
    assert lies_within(ours(1, 2), 2.5, 3) is False
    assert lies_within(ours(1, 2), -math.inf, 2)
    assert lies_within(ours(1, 2), -math.inf, 2, strictly=True) is None
    assert lies_within(ours(2, 2), 2, math.inf, strictly=True) is False
    assert lies_within(ours(1, 2.0000000001), 1, 2)


def test_tolerances():
    assert tolerated("3%", 200) == (194, 206)
    assert tolerated("3%", -200) == (-206, -194)
    assert tolerated("10%", 1.25, 1) == pytest.approx((1.225, 1.275))
    assert tolerated("10%", 0.75, 1) == pytest.approx((0.725, 0.775))
    assert tolerated("0.05", 1) == (0.95, 1.05)
    assert tolerated("factor 2", 10) == (5, 20)
    assert tolerated("at least", 6) == tolerated("more than", 6) == (6, math.inf)
    assert tolerated("at most", 6) == tolerated("less than", 6) == (-math.inf, 6)
    for nonsense in ("-1", "factor 0.5", "factor 3%", "a lot"):
        with pytest.raises(UsageError):
            tolerated(nonsense, 1)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("none: what we hold ourselves to", OWN),
        ("the rule: a gap is reported late", OWN),
        ("ns-3 3.37 on the same path, median of three seeds", PARITY),
        ("Linux 6.18 between two network namespaces", PARITY),
        ("quinn-proto 0.11 on the same path", PARITY),
        ("Salameh et al., USENIX ATC 2014, section 4.3: by their ns-3", PAPER),
    ],
)
def test_whose_number_it_is_follows_from_the_source(source, kind):
    assert kind_of(source) == kind
    assert Claim(**claim().model_dump() | {"source": source}).origin == kind
    assert Claim(**claim().model_dump() | {"source": source, "kind": "own"}).origin == OWN


def test_every_claim_of_ours_tells_whose_number_it_is():
    parity = {study.name for study in discover() if all(claim.origin == PARITY for claim in study.file.claim)}
    assert parity == {"parity", "wifi_parity", "quic_parity"}


def test_shares_of_a_ratio_are_shares_of_its_effect():
    ratio = {"scenario": "x.toml", "metric": "flows.x", "relative_to": {}}
    assert Claim(**claim().model_dump() | ratio | {"published": 1.2}).effect_from == 1
    assert claim().effect_from == 0
    with pytest.raises(ValueError, match="tolerance 3% of no effect"):
        claim(published=1, no_effect=1)
    for bound in BOUNDS:
        assert claim(published=1, no_effect=1, tolerance=bound).tolerance == bound
