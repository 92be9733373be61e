"""The study of TACK over Wi-Fi runs: a share of it that takes seconds."""

import pytest

from acklab.report import Table
from conftest import load_every_variant, one_seed, study_code


@pytest.fixture
def module(monkeypatch):
    module = study_code("tack_wlan")
    monkeypatch.setattr(module, "THINNED", (2, 8))
    monkeypatch.setattr(module.runs, "THINNED", (2, 8))
    monkeypatch.setattr(module.drawing, "THINNED", (2, 8))
    chosen = {"as chosen": ("802.11g",), "5 others": ("802.11g",)}
    monkeypatch.setattr(module, "CAUSES", chosen)
    monkeypatch.setattr(module.runs, "CAUSES", chosen)
    monkeypatch.setattr(module.client, "UPLINKS", {"802.11g": module.client.UPLINKS["802.11g"]})
    return module


def test_a_share_of_the_study(module, tmp_path):
    bench = one_seed("tack_wlan", tmp_path)
    measured = module.measures(bench)
    for link in ("b", "g", "n", "ac"):
        assert measured[f"gain_{link}"].interval.mean > 8, link
    assert measured["share_tack_g"].interval.mean == pytest.approx(1.9, abs=0.3)
    assert measured["actual_tack"].interval.mean > measured["actual_l2"].interval.mean
    links, thinned, client, causes = module.sections(bench)
    tables = [next(item for item in section.items if isinstance(item, Table)) for section in (links, thinned, client, causes)]
    assert [len(table.rows) for table in tables] == [12, 10, 5, 6]
    assert measured["client_gain_g"].interval.mean > measured["gain_g"].interval.mean, "ACKs at 12 Mbps cost more"


def test_every_variant_is_a_scenario():
    bench = load_every_variant("tack_wlan", "cell.toml", ("senders.toml", "rtts.toml", "lossy_link.toml"))
    for name, on in study_code("tack_wlan").runs.CAUSES.items():
        scenario = "busy_cell.toml" if name.endswith("others") else "cell.toml"
        for link in on:
            bench.source(scenario).load(bench.sets([f"../tack_ideal/links.toml:{link}", f"alternatives.toml:{name}"]))
