"""The optimum that figures show, which depends on the capacity of the bottleneck."""

from typing import Any

import pytest

import acklab
from acklab import figures
from acklab.figures.path import optimum
from acklab.studies.closed_form import cycle, of_scenario

CELL: dict[str, Any] = {
    "duration": "1s",
    "seed": 1,
    "link": [
        {
            "name": "wire",
            "from": "server",
            "to": "ap",
            "forward": {"rate": "1Gbps", "delay": "10ms"},
            "reverse": {"rate": "1Gbps", "delay": "10ms"},
        }
    ],
    "wifi": [
        {
            "name": "cell",
            "standard": "802.11n",
            "rate": {"control": "fixed", "mcs": 7},
            "ap": {"name": "ap"},
            "station": [{"name": "phone"}],
        }
    ],
    "flow": [{"name": "download", "from": "server", "to": "phone", "preset": "linux"}],
    "measure": {"series": ["operating_point", "throughput"]},
}


def test_over_wifi_it_is_the_capacity_of_the_mac():
    result = acklab.run(CELL)
    best = optimum(result)
    assert best is not None
    # The closed form of the studies shares no code with the simulator. It yields the payload, which
    # has 52 bytes of headers.
    mean = cycle(of_scenario(acklab.check(CELL)))
    assert best.throughput == pytest.approx(mean.goodput * 1500 / 1448, rel=1e-4)
    assert best.rtt == pytest.approx(20 + mean.total / 1e6)
    assert best.in_flight == pytest.approx(best.throughput * best.rtt * 1000 / 8 / 1500)
    # The ACKs take a share of the air, so a flow of TCP stays below.
    flow = result.flows.row(0, named=True)
    assert flow["mean_utilization_bw_l4"] == pytest.approx(flow["mean_throughput_l4"] / best.throughput)
    assert 0.7 < flow["mean_utilization_bw_l4"] < 1
    access_point = result.stations.row(0, named=True)
    assert access_point["capacity_l2"] == pytest.approx(best.throughput)
    assert flow["mean_utilization_bw_l4"] < access_point["mean_utilization_l2"] < 1
    labels = [annotation.text for annotation in figures.operating_point(result).layout.annotations]
    assert f"bottleneck {best.throughput:.4g} Mbps" in labels


def test_over_links_it_is_the_rate_of_the_slowest():
    links = {**CELL["link"][0], "to": "phone", "reverse": {"delay": "10ms"}}
    wired = {key: value for key, value in CELL.items() if key != "wifi"} | {"link": [links]}
    best = optimum(acklab.run(wired))
    assert best is not None
    assert (best.throughput, best.rtt) == (1000, 20)


def test_without_propagation_delay_or_bottleneck_there_is_none():
    links = {**CELL["link"][0], "to": "phone", "forward": {"rate": "1Gbps"}, "reverse": {}}
    wired = {key: value for key, value in CELL.items() if key != "wifi"} | {"link": [links]}
    assert optimum(acklab.run(wired)) is None
    links = {**links, "forward": {"delay": "1ms"}}
    assert optimum(acklab.run(wired | {"link": [links]})) is None
