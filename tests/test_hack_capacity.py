"""The study of the capacity of TCP/HACK: its rates and choices, and a share of it."""

from dataclasses import replace

import pytest

from acklab.report import Figure
from acklab.studies import closed_form
from conftest import one_seed, study_code

STUDY = study_code("hack_capacity")
model_settings, rates = STUDY.model_settings, STUDY.rates


def cell(standard, **wifi):
    of = {"name": "cell", "standard": standard, "ap": {}, "aggregation": {"max_time": "4ms"}, **wifi}
    transport = {"protocol": "tcp", "mss": "1460B", "timestamps": False}
    return closed_form.of_scenario({"wifi": [of], "flow": [{"transport": transport}]})


def test_rates_are_those_of_the_model():
    for rate in rates.ALL:
        control = {"rate": {key.rpartition(".")[2]: value for key, value in rate.set.items() if ".rate." in key}}
        of = cell(rate.standard, streams=rate.set.get("wifi.0.streams", 1), **control)
        assert of.mode.mbps == pytest.approx(rate.mbps)


def test_choices_by_themselves_and_in_all_combinations():
    of = {rate.mbps: replace(cell("802.11n"), mode=cell("802.11n", rate={"mcs": 4}).mode) for rate in rates.ALL}
    below, at_150, at_600 = model_settings.gains(of, ())
    assert below == pytest.approx(at_150) == pytest.approx(at_600) == pytest.approx(closed_form.gain(of[150]))
    (free,) = (choices for choices in model_settings.alone() if choices and choices[0].compressed == 0)
    assert model_settings.gains(of, free)[0] == pytest.approx(closed_form.gain(of[150], 0))
    assert len(list(model_settings.combinations())) == 108
    assert len(list(model_settings.alone())) == 9


def test_a_share_of_the_study(tmp_path):
    module = study_code("hack_capacity")
    bench = one_seed("hack_capacity", tmp_path)
    found = module.measures(bench)
    assert found["collisions"].values == [0]
    assert found["apart_stock"].values[0] < 0.5
    assert found["apart_hack"].values[0] < 3
    assert found["figure_12"].values[0] > found["at_150"].values[0]
    sections = module.sections(bench)
    assert all(item.commands for section in sections for item in section.items)
    assert sum(isinstance(item, Figure) for section in sections for item in section.items) == 5
