"""The study of ACK filtering: its numbers from invented runs, and a part that takes seconds."""

import dataclasses
import math

import pytest

from acklab.report import Figure, Table
from acklab.scenario import overrides
from acklab.statistics import mean_interval
from acklab.studies import Bench, find
from conftest import study_code

STUDY = study_code("ack_filtering")
arms, claim_values, runs = STUDY.arms, STUDY.claim_values, STUDY.runs


def test_gains_are_geometric_means_seed_by_seed():
    assert claim_values.percent(mean_interval(claim_values.logarithms([6.0, 5.0], [5.0, 4.0]))).mean == pytest.approx(
        100 * (math.sqrt(1.2 * 1.25) - 1)
    )
    assert math.isnan(claim_values.logarithms([1.0], [0.0])[0])


def test_arms_have_names_and_settings_of_their_own():
    every = {arm.name: arm for arm in [*arms.EVERY, *arms.OF_SMALL]}.values()
    assert len({arm.name for arm in every}) == len({str(arm.set) for arm in every}) == len(every)
    arm = arms.Arm(50, is_filtered=True, window="MIMD", is_delayed=True)
    assert arm.name == "q 50 filter delayed MIMD"
    assert arm.set["wifi.0.ap.queue"] == {
        "discipline": "ack-filter",
        "keeps": "duplicates",
        "place": "in-place",
        "limit": "50packets",
    }
    bench = Bench(find("ack_filtering"), find("ack_filtering").folder)
    for arm in every:
        bench.source("upload.toml").load(overrides(arm.set))


def made_up(mbps):
    """Returns runs of two seeds. The arm and the number of stations determine their goodput."""
    other = {
        "jain": 1.0,
        "timeouts": 3.0,
        "collisions": 50.0,
        "queue": 11.0,
        "longest": 12.0,
        "acks": 0.5,
        "rtt": 40.0,
        "delay": 9.0,
    }
    values = {
        (arm.name, count): {"mbps": [mbps(arm, count)] * 2} | {name: [value] * 2 for name, value in other.items()}
        for arm in [*arms.EVERY, *arms.OF_SMALL]
        for count in (1, 2, 5, 10, 20, 30, 50)
    }
    return runs.Values(values)


def test_numbers_of_claims():
    every = made_up(lambda arm, count: 5.0 * (1 + (0.21 - 0.01 * count) * arm.is_filtered))
    found = claim_values.numbers(every)
    of_small = claim_values.of_small(every)
    assert {*found, *of_small} == {claim.measured_by_study for claim in find("ack_filtering").file.claim}
    assert set(claim_values.of_more(every)) < set(found)
    ahead, behind = math.log(1.01), math.log(0.91)  # with 20 and 30 stations
    assert found["crossover"].row == pytest.approx([20 + 10 * ahead / (ahead - behind)] * 3)
    # of 2 and 5 stations
    assert found["few_250"].mean == pytest.approx(100 * (math.sqrt(1.19 * 1.16) - 1))
    assert found["most_250"].mean == pytest.approx(-9)
    assert found["mimd_ahead"].mean == pytest.approx(-0.45)
    assert found["queue_most_50"] == pytest.approx([1.1] * 2)
    assert found["timeouts_50"].row == pytest.approx((1, 1, 1))
    assert found["both_alike"].mean == pytest.approx(0)
    assert found["drops_more_10"].mean == found["delay_50"].mean == found["collisions_30_250"].mean == 1


def test_one_station_and_more_than_thirty_are_in_no_claim():
    far = made_up(lambda arm, count: 5.0 if count in (1, 50) else 6.0)
    assert claim_values.numbers(far)["mimd_mbps"].mean == 6


def test_every_setting_is_a_scenario():
    bench = Bench(find("ack_filtering"), find("ack_filtering").folder)
    for file in ("settings.toml", "filters.toml"):
        for variant in bench.variants(file).chosen.values():
            bench.source("upload.toml").load(list(variant.set))


def test_a_share_of_the_study(tmp_path, monkeypatch):
    module = study_code("ack_filtering")
    for part in (module.runs, module.contention):
        monkeypatch.setattr(part, "counts", lambda _: [2, 10, 30])
    monkeypatch.setattr(module.settings, "QUICK", "settings.toml:window 20")
    monkeypatch.setattr(module.mimd, "FLOORS", (1, 31))
    monkeypatch.setattr(module.thinning, "FILTERS", "filters.toml:none,CAKE")
    bench = Bench(find("ack_filtering"), tmp_path, quick=True, quiet=True)
    bench = dataclasses.replace(
        bench, study=dataclasses.replace(bench.study, file=bench.study.file.model_copy(update={"quick_seeds": 1}))
    )
    found = module.measures(bench)
    assert found["queue_full_250"].values == pytest.approx([1.0], abs=0.05)
    assert found["few_250"].values[0] > 10
    # Figure 9: ns-2 yields 6.84 to 6.89 Mbps, a gain of 21 to 57 %, with stations only.
    assert found["mimd_mbps_of_stations"].values[0] == pytest.approx(6.84, rel=0.03)
    assert found["mimd_mbps"].values[0] == pytest.approx(6.75, rel=0.03)
    assert found["mimd_lead"].values[0] > 15
    sections = module.sections(bench)
    drawn = [item for section in sections for item in section.items if isinstance(item, Figure)]
    assert all(figure.commands for figure in drawn)
    tally = next(item for item in sections[-1].items if isinstance(item, Table))
    assert [row[0] for row in tally.rows] == ["base", "window 20"]
    counted = [claim for claim in bench.study.file.claim if not claim.reading_of]
    assert {sum(map(int, row[2:])) for row in tally.rows} == {len(counted)}
