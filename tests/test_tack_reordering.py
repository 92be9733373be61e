"""The study of reordering runs: a share of it that takes seconds."""

from acklab.report import Figure
from acklab.studies import Bench, find
from conftest import study_code


def test_a_share_of_the_study(monkeypatch, tmp_path):
    module = study_code("tack_reordering")
    monkeypatch.setattr(module, "SETTLING", ("0", "0.25", "1"))
    bench = Bench(find("tack_reordering"), tmp_path, quick=True, quiet=True)
    found = module.measures(bench)
    assert max(found["needless_quarter"].values) == 0, "5 ms are less than a quarter of 40 ms"
    assert min(found["needless_quarter_20"].values) > 80, "20 ms are more"
    assert max(found["needless_adaptive_20"].values) < 1
    assert min(found["wait_quarter"].values) > 0
    drawn = [item for section in module.sections(bench) for item in section.items if isinstance(item, Figure)]
    assert all(figure.commands for figure in drawn)
