"""What queue disciplines do to a download whose ACKs share a cable line with an upload."""

import tomllib
from importlib import resources

import pytest

import acklab
from conftest import BUILT

pytestmark = pytest.mark.skipif(not BUILT, reason="needs the compiled core")


def cable(**queue):
    """A download by BBR and an upload by CUBIC, with this queue upstream.

    The rate of the download and its ACKs that arrived.
    """
    text = resources.files("acklab.templates").joinpath("cable.toml").read_text(encoding="utf-8")
    changes = {"duration": "6s", "measure.from": "2s", "flow.down.congestion": "bbr", "link.docsis.reverse.queue": queue}
    result = acklab.run(tomllib.loads(text), set=changes)
    return result.flows["mean_throughput_l4"][0], result.flows["total_acks_delivered_l4"][0]


def test_the_filter_of_cake_starves_acks_in_a_queue_that_data_share_and_not_in_cake():
    _, plain = cable(discipline="fifo", limit="100packets")
    starved, few = cable(discipline="cake-ack-filter", limit="100packets")
    served, many = cable(discipline="cake", limit="1000packets", rate="4.75Mbps", ack_filter="on")
    # In a FIFO every ACK is outdated before the data ahead of it have left. In a queue of its own,
    # one is always at the head.
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
