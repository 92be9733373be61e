"""Spacers at the far end of a link.

They spread ACKs over time, and restore those that an ACK filter has removed.
"""

import pytest

import acklab


def path(spacer=None, reverse=None, **flow):
    """Runs a download at 10 Mbps and 40 ms."""
    reverse = {"delay": "20ms"} | (reverse or {}) | ({} if spacer is None else {"spacer": spacer})
    forward = {"rate": "10Mbps", "delay": "20ms", "queue": {"discipline": "fifo", "limit": "20packets"}}
    link = {"name": "line", "from": "server", "to": "client", "forward": forward, "reverse": reverse}
    down = {"from": "server", "to": "client", "preset": "linux", "congestion": "newreno"}
    return {"duration": "10s", "seed": 1, "measure": {"from": "2s"}, "link": [link], "flow": [down | flow]}


THIN = {"rate": "30kbps", "queue": {"discipline": "ack-filter", "limit": "30packets"}}


def back(result):
    return result.links.filter(result.links["link"] == "line_reverse").to_dicts()[0]


def test_what_a_filter_has_removed_is_put_back():
    """In slow start an ACK counts for at most two segments (RFC 3465).

    So a window grows faster with all ACKs than with some.

    This preset was chosen because it gains. A preset that counts all bytes, such as `linux`, does
    not (docs/models/spacers.md).
    """
    longer = {"duration": "40s"}
    filtered = acklab.run(path(reverse=THIN, preset="rfc") | longer)
    restored = acklab.run(path({"rule": "reconstruct"}, reverse=THIN, preset="rfc") | longer)
    assert back(filtered)["total_packets_out_l2"] < 0.6 * back(filtered)["total_packets_in_l2"]
    assert back(restored)["total_packets_out_l2"] > 0.9 * back(restored)["total_packets_in_l2"]
    assert restored.flows["mean_throughput_l4"][0] > 1.02 * filtered.flows["mean_throughput_l4"][0]


@pytest.mark.parametrize("spacer", [{"rule": "rate", "rate": "10Mbps"}, {"rule": "interval", "interval": "2ms"}])
def test_acks_that_a_gate_released_together_are_spread(spacer):
    gate = {"gate": {"interval": "20ms", "quota": 20}}
    together, spread = acklab.run(path(reverse=gate)), acklab.run(path(spacer, reverse=gate))
    assert together.flows["mean_ack_burst_l4"][0] > 3
    assert spread.flows["mean_ack_burst_l4"][0] < 1.5
    # Each ACK that arrived leaves, except those that still wait at the end.
    assert back(spread)["total_packets_out_l2"] == pytest.approx(back(spread)["total_packets_in_l2"], abs=30)


def test_flows_of_other_transports_pass():
    scenario = path({"rule": "interval", "interval": "50ms"}, transport="quic")
    del scenario["flow"][0]["preset"], scenario["flow"][0]["congestion"]
    plain = path(transport="quic")
    plain["flow"] = scenario["flow"]
    assert acklab.run(scenario).flows["mean_throughput_l4"][0] == acklab.run(plain).flows["mean_throughput_l4"][0]


def test_the_same_octets_again():
    scenario = path({"rule": "reconstruct"}, reverse=THIN)
    assert acklab.run(scenario).to_dict() == acklab.run(scenario).to_dict()


@pytest.mark.parametrize(
    ("spacer", "expected"),
    [
        ({"rule": "interval", "interval": "0s"}, "spacer.interval"),
        ({"rule": "reconstruct", "segments": 0}, "spacer.segments"),
        ({"rule": "reconstruct", "weight": 2.0}, "spacer.weight"),
        ({"rule": "rate", "rate": "0bps"}, "spacer"),
        ({"rule": "sometimes"}, "reconstruct"),
    ],
)
def test_bad_settings_are_refused_by_name(spacer, expected):
    with pytest.raises(acklab.ScenarioError, match=expected):
        acklab.check(path(spacer))
