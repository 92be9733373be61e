"""The study of ranks runs: a part of it that takes seconds, and the ensemble of paths."""

import sys

import polars as pl
import pytest

from acklab.report import Figure, Table
from acklab.studies import Bench, find
from conftest import study_code

STUDY = study_code("tack_ranking")


def test_the_ensemble_is_always_the_same_and_grows_at_its_end():
    few, many = STUDY.runs.draw(4), STUDY.runs.draw(12)
    assert few == many[:4]
    kinds = {len(path.set.get("flow", [None])) for path in many}
    assert kinds == {1, 2}, "with cross traffic and without"
    assert any("loss" in path.set["link.btl.forward"] for path in many)


def test_the_best_has_rank_one_on_each_path():
    runs = pl.DataFrame(
        {"path": ["a", "a", "b", "b"], "scheme": ["TACK", "BBR"] * 2, "rank": [1.0, 2.0, 2.0, 1.0]},
    )
    assert STUDY.runs.ahead(runs, "BBR") == [1.0, -1.0]


def test_cross_traffic_is_laid_over_pantheons_emulators(tmp_path):
    found = STUDY.runs.emulators(("korea",), Bench(find("tack_ranking"), tmp_path, quick=True, quiet=True))
    assert list(found) == ["korea", "korea + Poisson", "korea + CUBIC"]
    assert not any(text.startswith("flow") for text in found["korea"])
    assert any("19430kbps" in text for text in found["korea + Poisson"]), "a quarter of 77.72 Mbps"


def test_order_and_agreement():
    published = STUDY.runs.PUBLISHED
    rows = [
        {"path": path, "scheme": scheme, "rank": rank + shift}
        for path, shift in (("a", 0.0), ("b", 0.5))
        for scheme, rank in published.items()
    ]
    assert STUDY.runs.agreement(pl.DataFrame(rows)) == pytest.approx(1.0)
    backwards = pl.DataFrame([row | {"rank": -float(str(row["rank"]))} for row in rows])
    assert STUDY.runs.agreement(backwards) == pytest.approx(-1.0)
    assert STUDY.runs.surely_ahead(pl.DataFrame(rows), "Vegas", "Sprout") is True
    assert STUDY.runs.surely_ahead(backwards, "Vegas", "Sprout") is False
    noisy = pl.DataFrame({"path": ["a", "a", "b", "b"], "scheme": ["Vegas", "Sprout"] * 2, "rank": [1.0, 2.0, 2.0, 1.0]})
    assert STUDY.runs.surely_ahead(noisy, "Vegas", "Sprout") is None


def test_thinning_decides_where_the_better_one_changes():
    own = pl.DataFrame(
        {"path": ["a"] * 5, "scheme": ["TACK", "CUBIC", "Copa", "BBR", "Vegas"], "utility": [3.0, 2.0, 4.0, 1.0, 3.5]},
    )
    thinned = pl.DataFrame(
        {
            "path": ["a"] * 3,
            "scheme": ["TACK with every second ACK", "CUBIC thinned", "Vegas thinned"],
            "utility": [1.5, 2.5, 2.0],
        },
    )
    found = {
        (row["changed"], row["other"]): (row["decides"], row["better"]) for row in STUDY.runs.decided(own, thinned).to_dicts()
    }
    assert found == {
        ("TACK", "CUBIC"): (True, False),
        ("TACK", "Copa"): (False, False),
        ("TACK", "BBR"): (False, False),
        ("TACK", "Vegas"): (False, False),
        ("CUBIC", "TACK"): (False, False),
        ("Vegas", "TACK"): (True, False),
    }


def test_cellular_ratios_are_of_the_same_link():
    cells = pl.DataFrame(
        {
            "path": ["a", "a", "a + CoDel", "b", "b", "b + CoDel"],
            "scheme": ["CUBIC", "Sprout", "CUBIC"] * 2,
            "delay": [800.0, 100.0, 200.0, 400.0, 100.0, 50.0],
        }
    )
    assert STUDY.runs.cellular_ratio(cells, "CUBIC", "Sprout", "delay").mean == pytest.approx(32**0.5)
    assert STUDY.runs.cellular_ratio(cells, "CUBIC", "Sprout", "delay", codel=True).mean == pytest.approx(1.0)


def test_a_share_of_the_study(monkeypatch, tmp_path):
    monkeypatch.setattr(STUDY.runs, "QUICK_PATHS", 2)
    monkeypatch.setattr(STUDY, "QUICK_PATHS", 2)
    ensemble = sys.modules[STUDY.runs.Path.__module__]
    for bound in ("LONGEST", "SHORTEST"):
        monkeypatch.setattr(ensemble, bound, 4.0)
    bench = Bench(find("tack_ranking"), tmp_path, quick=True, quiet=True)
    found = STUDY.measures(bench)
    assert all(len(measure.values) == 2 for name, measure in found.items() if name.startswith("ahead")), "a value for each path"
    assert {claim.metric.removeprefix("study.") for claim in find("tack_ranking").file.claim} <= set(found)
    ranks, others, thinning, cells = STUDY.sections(bench)
    assert all(item.commands for section in (ranks, others) for item in section.items if isinstance(item, Figure))
    summary = next(item for item in ranks.items if isinstance(item, Table))
    assert len(summary.rows) == 11
    assert {row[0] for row in others.items[1].rows} >= {"all draws", "Pantheon's emulators", "cellular"}
    assert thinning.items[0].rows
    assert cells.items[0].rows
