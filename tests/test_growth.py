"""The cost of larger runs.

The page has the measured numbers, and no cost grows faster than the work.
"""

import json
import time
from pathlib import Path

import pytest

import acklab
from scripts import growth

ROOT = Path(__file__).parents[1]
KEPT = json.loads((ROOT / growth.DATA).read_text())


def point(size, hops, cpu):
    return growth.Point(size, hops, cpu, 0.0, 0.0)


def test_the_page_tells_what_was_measured_last():
    assert growth.tables(KEPT) in (ROOT / growth.PAGE).read_text(), f"run {growth.__file__}"


@pytest.mark.parametrize("way", growth.WAYS)
def test_nothing_measured_grows_faster_than_its_work(way):
    assert growth.exponent([growth.Point(**one) for one in KEPT[way]]) < growth.STEEPEST


def test_an_exponent_is_that_of_the_time_over_the_work():
    assert growth.exponent([point(1, 100, 0.1), point(4, 400, 0.4)]) == pytest.approx(1.0)
    assert growth.exponent([point(1, 100, 0.1), point(4, 400, 1.6)]) == pytest.approx(2.0)
    # The number of packets is constant, and the window is four times as large.
    assert growth.exponent([point(1, 100, 0.1), point(4, 100, 0.1)]) == pytest.approx(1.0)
    assert growth.exponent([point(1, 100, 0.1), point(4, 100, 0.4)]) == pytest.approx(2.0)


def test_a_collision_of_many_stations_costs_their_square():
    """All stations have data to send at the same time.

    In a collision of n PPDUs each interferes with all others. A search in one list of all PPDUs
    took n³ steps.
    """

    def seconds(stations):
        scenario = growth.WAYS["stations"][1](stations) | {"seed": 1, "duration": "1s"}
        start = time.process_time()
        result = acklab.run(scenario)
        return time.process_time() - start, int(result.stations["total_collisions_l1"].sum())

    few, many = seconds(300), seconds(1200)
    # The cost per colliding PPDU. A collision has four times as many PPDUs, and each overlaps four
    # times as many others.
    assert many[0] / many[1] < 5 * few[0] / few[1]
