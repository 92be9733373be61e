"""The effect of queue disciplines on a download whose ACKs share a cable line with an upload."""

import tomllib
from importlib import resources

import pytest

import acklab


def cable(**queue):
    """Runs a download by BBR and an upload by CUBIC, with this queue upstream.

    Returns the rate of the download and the number of its ACKs that arrived.
    """
    text = resources.files("acklab.templates").joinpath("cable.toml").read_text(encoding="utf-8")
    changes = {"duration": "6s", "measure.from": "2s", "flow.down.congestion": "bbr", "link.docsis.reverse.queue": queue}
    result = acklab.run(tomllib.loads(text), set=changes)
    return result.flows["mean_throughput_l4"][0], result.flows["total_acks_delivered_l4"][0]


def test_the_filter_of_cake_starves_acks_in_a_queue_that_data_share_and_not_in_cake():
    _, plain = cable(discipline="fifo", limit="100packets")
    starved, few = cable(discipline="cake-ack-filter", limit="100packets")
    served, many = cable(discipline="cake", limit="1000packets", rate="4.75Mbps", ack_filter="on")
    # In a FIFO every ACK is outdated before the data ahead of it have left. In a separate queue, an
    # ACK is always at the head.
    assert few < plain / 5
    assert many > 3 * few
    assert served > 2 * starved


def test_shaped_queues_are_refused_where_the_owner_decides_when_packets_leave():
    cell = {
        "name": "cell",
        "standard": "802.11n",
        "ap": {"name": "ap", "queue": {"discipline": "cake", "rate": "10Mbps"}},
        "station": [{"name": "sta"}],
    }
    flow = {"from": "ap", "to": "sta", "preset": "linux"}
    with pytest.raises(acklab.ScenarioError, match="the MAC decides when packets leave"):
        acklab.check({"duration": "1s", "seed": 1, "wifi": [cell], "flow": [flow]})


def test_the_cable_delivers_its_rates_with_cake_in_front_of_the_grants():
    """A line of 300 and 12 Mbps carries at most 290 and 11.6 Mbps of payload.

    Packets of 1500 bytes have 1448 bytes of payload.
    """
    text = resources.files("acklab.templates").joinpath("cable.toml").read_text(encoding="utf-8")
    changes = {
        "duration": "8s",
        "measure.from": "4s",
        "link.docsis.forward.rate": "300Mbps",
        "link.docsis.forward.queue.limit": "1000packets",
        "link.docsis.reverse.rate": "12Mbps",
        "link.docsis.reverse.queue": {"discipline": "cake", "limit": "1000packets"},
    }
    scenario = tomllib.loads(text)
    flows = {flow["name"]: flow for flow in scenario["flow"]}
    for name, rate in (("down", 290.0), ("up", 11.6)):
        alone = acklab.run(scenario | {"flow": [flows[name]]}, set=changes)
        assert alone.flows["mean_throughput_l7"][0] > 0.94 * rate, name
    # Together they fill both directions.
    both = acklab.run(scenario, set=changes)
    used = dict(zip(both.links["link"], both.links["mean_utilization_l1"], strict=True))
    assert used["docsis_forward"] > 0.97
    assert used["docsis_reverse"] > 0.9
