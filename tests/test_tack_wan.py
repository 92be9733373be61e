"""The study of TACK over WLAN and WAN runs: one case of it, one seed."""

import polars as pl
import pytest

from acklab.report import Table
from conftest import load_every_variant, one_seed, study_code


@pytest.fixture
def module(monkeypatch):
    module = study_code("tack_wan")
    for place in (module, module.runs):
        monkeypatch.setattr(place, "LINKS", {"case 1": "802.11g"})
        monkeypatch.setattr(place, "CAUSES", {"protection": ("case 1",)})
    return module


def test_a_case_of_the_study(module, tmp_path):
    bench = one_seed("tack_wan", tmp_path)
    measured = module.measures(bench)
    # β/RTTmin for 120 s, and few other ACKs.
    assert measured["acks_tack_1"].interval.mean == pytest.approx(24_000, rel=0.08)
    assert measured["gain_1"].interval.mean > 8
    result = module.runs.again(bench, "cases")
    assert module.runs.by_case(result)["sender"].unique().sort().to_list() == [
        "TACK",
        "TCP BBR",
        "TCP BBR Linux",
        "TCP BBR RFC 5681",
        "TCP CUBIC",
    ]
    runs = module.runs.by_cause(module.run_causes(bench))
    assert runs.select(pl.col("cause", "case").unique()).rows() == [("protection", "case 1")]
    causes = module.sections(bench)[1]
    table = next(item for item in causes.items if isinstance(item, Table))
    assert [row[1].startswith("802.11g behind") for row in table.rows] == [False, False, True, True]


def test_every_variant_is_a_scenario():
    load_every_variant("tack_wan", "path.toml", ("senders.toml", "cases.toml", "alternatives.toml"))
