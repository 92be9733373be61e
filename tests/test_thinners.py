"""Thinners on links and in stations: the ACKs that pass, and the effect on the flow."""

import pytest

import acklab

RULES = ["every", "scsc", "dhd", "unisoc"]


def dumbbell(thinner=None, **flow):
    """Runs some seconds of a download at 50 Mbps and 20 ms.

    The receiver acknowledges every second segment.
    """
    reverse = {"rate": "1Gbps", "delay": "10ms"} | ({} if thinner is None else {"thinner": thinner})
    forward = {"rate": "50Mbps", "delay": "10ms", "queue": {"discipline": "fifo", "limit": "400packets"}}
    link = {"name": "line", "from": "server", "to": "client", "forward": forward, "reverse": reverse}
    down = {"from": "server", "to": "client", "preset": "linux", "congestion": "cubic", "ack": {"policy": "delayed"}}
    return {"duration": "2s", "seed": 1, "link": [link], "flow": [down | flow]}


def cell(thinner=None):
    """Runs three seconds of a download in a cell of 802.11n whose station has this thinner."""
    station = {"name": "phone"} | ({} if thinner is None else {"thinner": thinner})
    wlan = {"name": "wlan", "standard": "802.11n", "ap": {"name": "ap"}, "station": [station]}
    link = {
        "name": "wire",
        "from": "server",
        "to": "ap",
        "forward": {"rate": "1Gbps", "delay": "5ms"},
        "reverse": {"rate": "1Gbps", "delay": "5ms"},
    }
    down = {"from": "server", "to": "phone", "preset": "linux", "congestion": "cubic", "ack": {"policy": "delayed"}}
    return {"duration": "3s", "seed": 1, "measure": {"from": "1s"}, "wifi": [wlan], "link": [link], "flow": [down]}


def link(result, name="line_reverse"):
    return result.links.filter(result.links["link"] == name).to_dicts()[0]


@pytest.mark.parametrize("acks", [2, 4, 8])
def test_one_of_several_acks_goes_on(acks):
    after_start_up = {"duration": "5s", "measure": {"from": "3s"}}
    plain = acklab.run(dumbbell(congestion="bbr") | after_start_up)
    thinned = acklab.run(dumbbell({"rule": "every", "acks": acks, "hold": "20ms"}, congestion="bbr") | after_start_up)
    back = link(thinned)
    # Without losses every ACK acknowledges new data, and eight come within 4 ms.
    assert back["total_packets_out_l2"] == pytest.approx(back["total_packets_in_l2"] / acks, abs=2)
    assert thinned.flows["mean_throughput_l4"][0] > 0.98 * plain.flows["mean_throughput_l4"][0]


@pytest.mark.parametrize("rule", RULES)
def test_what_comes_goes_on_or_is_counted(rule):
    back = link(acklab.run(dumbbell({"rule": rule}, traffic={"model": "fixed", "size": "8MB"})))
    assert back["total_filtered_acks_l2"] > 0
    gone = back["total_packets_out_l2"] + back["total_filtered_acks_l2"] + back["total_qdisc_drops_l2"]
    assert gone == back["total_packets_in_l2"]


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_holds_the_acks_of_quic(rule):
    scenario = dumbbell({"rule": rule}) | {"flow": [{"from": "server", "to": "client", "transport": "quic"}]}
    back = link(acklab.run(scenario))
    assert back["total_packets_in_l2"] > 100
    assert back["total_filtered_acks_l2"] == 0


def test_a_station_that_thins_sends_fewer_acks_and_receives_more():
    found = {}
    for rule in [None, *RULES[1:]]:
        result = acklab.run(cell(None if rule is None else {"rule": rule}))
        phone = result.stations.filter(result.stations["node"] == "phone").to_dicts()[0]
        found[rule] = (result.flows["mean_throughput_l4"][0], phone["total_filtered_acks_l2"])
    assert found[None][1] == 0
    for rule in RULES[1:]:
        assert found[rule][1] > 1000, (rule, found)
        # An ACK that is not sent releases the time of its contention, preamble and Block ACK for
        # data.
        assert found[rule][0] > found[None][0], (rule, found)


def test_the_same_octets_again():
    scenario = cell({"rule": "scsc"})
    first, second = acklab.run(scenario), acklab.run(scenario)
    assert first.to_dict() == second.to_dict()


@pytest.mark.parametrize(
    ("thinner", "expected"),
    [
        ({"rule": "every", "acks": 0}, "thinner.acks"),
        ({"rule": "dhd", "delay": "0s"}, "thinner.delay"),
        ({"rule": "scsc", "interval": "1us"}, "thinner.interval"),
        ({"rule": "often"}, "scsc"),
    ],
)
def test_bad_settings_are_refused_by_name(thinner, expected):
    for scenario in (dumbbell(thinner), cell(thinner)):
        with pytest.raises(acklab.ScenarioError, match=expected):
            acklab.check(scenario)
