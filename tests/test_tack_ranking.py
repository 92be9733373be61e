"""The study of ranks runs: a share of it that takes seconds; and the ensemble of paths."""

import polars as pl
import pytest

from acklab.report import Figure, Table
from acklab.studies import Bench, find
from conftest import BUILT, study_code

STUDY = study_code("tack_ranking")


def test_the_ensemble_is_always_the_same_and_grows_at_its_end():
    few, many = STUDY.runs.paths(4), STUDY.runs.paths(12)
    assert list(few.items()) == list(many.items())[:4]
    kinds = {len(path.get("flow", [None])) for path in many.values()}
    assert kinds == {1, 2}, "with cross traffic and without"
    assert any("loss" in path["link.btl.forward"] for path in many.values())


def test_the_best_has_rank_one_on_each_path():
    runs = pl.DataFrame(
        {"path": ["a", "a", "b", "b"], "scheme": ["TACK", "BBR"] * 2, "rank": [1.0, 2.0, 2.0, 1.0]},
    )
    assert STUDY.runs.ahead(runs, "BBR") == [1.0, -1.0]


@pytest.mark.skipif(not BUILT, reason="needs the compiled core")
def test_a_share_of_the_study(monkeypatch, tmp_path):
    monkeypatch.setattr(STUDY.runs, "QUICK_CCPERF", "../ack_policies/paths.toml:default")
    monkeypatch.setattr(STUDY.runs, "QUICK_PATHS", 1)
    bench = Bench(find("tack_ranking"), tmp_path, quick=True, quiet=True)
    found = STUDY.measures(bench)
    assert all(len(measure.values) == 2 for measure in found.values()), "a value for each path"
    (section,) = STUDY.sections(bench)
    assert all(item.commands for item in section.items if isinstance(item, Figure))
    ranks = next(item for item in section.items if isinstance(item, Table))
    assert len(ranks.rows) == 9
