"""The model of TCP with and without HACK against numbers worked out by hand, and a share of the study."""

from dataclasses import replace

import pytest

from acklab.report import Figure
from acklab.studies import Bench, find
from acklab.studies.runner import load_module
from conftest import BUILT

STUDY = load_module(find("hack_capacity"))
model, space, rates = STUDY.model, STUDY.space, STUDY.rates


def cell(standard, **wifi):
    of = {"name": "cell", "standard": standard, "ap": {}, "aggregation": {"max_time": "4ms"}, **wifi}
    transport = {"protocol": "tcp", "mss": "1460B", "timestamps": False}
    return STUDY.wifi.of_scenario({"wifi": [of], "flow": [{"transport": transport}]})


@pytest.mark.parametrize(
    ("of", "stock", "hack"),
    [
        # Two segments and an ACK of 76 octets; 18 octets of a longer ACK fit the symbols of 14.
        (cell("802.11a"), 2 * (101.5 + 248 + 16 + 28) + 101.5 + 32 + 16 + 28, 2 * (101.5 + 248 + 16 + 28)),
        # 42 segments, then 21 ACKs: 1762 octets in 14 symbols of 1080; a Block ACK of 32 and of 116 octets.
        (cell("802.11n", streams=2), 2 * (110.5 + 1772 + 16 + 32 + 110.5 + 92 + 16 + 32), 2 * (110.5 + 1772 + 16 + 60)),
        # Nine segments of 1544 octets in symbols of 108; 4 ACKs (334 octets), then 5 (418); answers at 12 Mbps.
        (
            cell("802.11n", rate={"mcs": 1}),
            2 * (110.5 + 3744 + 16 + 44) + (110.5 + 128 + 16 + 44) + (110.5 + 152 + 16 + 44),
            2 * (110.5 + 3744 + 16) + 56 + 60,
        ),
    ],
)
def test_downloads_by_hand(of, stock, hack):
    assert model.stock(of).total == stock * 1000
    assert model.hack(of).total == hack * 1000
    assert model.gain(of) == pytest.approx(100 * (stock / hack - 1))
    assert model.hack(of).appended == (model.hack(of).total - model.hack(of, compressed=0).total)


def test_the_same_octets_over_udp():
    of = cell("802.11a")
    assert model.datagrams(of).goodput == pytest.approx(1472 * 8 / (101.5 + 248 + 16 + 28))


def test_a_single_ack_is_not_aggregated():
    (ack,) = model.stock(replace(cell("802.11n"), frames=1)).acks
    assert ack.answer == 28_000


def test_rates_are_those_of_the_model():
    for rate in rates.ALL:
        control = {"rate": {key.rpartition(".")[2]: value for key, value in rate.set.items() if ".rate." in key}}
        of = cell(rate.standard, streams=rate.set.get("wifi.0.streams", 1), **control)
        assert of.mode.mbps == pytest.approx(rate.mbps)


def test_choices_by_themselves_and_in_all_combinations():
    of = {rate.mbps: replace(cell("802.11n"), mode=cell("802.11n", rate={"mcs": 4}).mode) for rate in rates.ALL}
    below, at_150, at_600 = space.gains(of, ())
    assert below == pytest.approx(at_150) == pytest.approx(at_600) == pytest.approx(model.gain(of[150]))
    (free,) = (choices for choices in space.alone() if choices and choices[0].compressed == 0)
    assert space.gains(of, free)[0] == pytest.approx(model.gain(of[150], 0))
    assert len(list(space.combinations())) == 108
    assert len(list(space.alone())) == 9


@pytest.mark.skipif(not BUILT, reason="needs the compiled core")
def test_a_share_of_the_study(tmp_path):
    module = load_module(find("hack_capacity"))
    bench = Bench(find("hack_capacity"), tmp_path, quick=True, quiet=True)
    found = module.measures(bench)
    assert found["collisions"].values == [0]
    assert found["apart_stock"].values[0] < 0.5
    assert found["apart_hack"].values[0] < 3
    assert found["figure_12"].values[0] > found["at_150"].values[0]
    sections = module.sections(bench)
    assert all(item.commands for section in sections for item in section.items)
    assert sum(isinstance(item, Figure) for section in sections for item in section.items) == 5
