"""The study of friendliness runs: a share of it that takes seconds."""

from acklab.report import Figure, Table
from acklab.studies import Bench, find
from conftest import study_code


def test_a_share_of_the_study(monkeypatch, tmp_path):
    module = study_code("tack_friendliness")
    monkeypatch.setattr(module, "QUICK_QUEUES", "queues.toml:1 bdp")
    bench = Bench(find("tack_friendliness"), tmp_path, quick=True, quiet=True)
    found = module.measures(bench)
    assert min(found["cubic_standard"].values) > 60, "over a queue of 1 bdp BBR takes more than CUBIC"
    differences = [ours - theirs for ours, theirs in zip(found["cubic_tack"].values, found["cubic_standard"].values, strict=True)]
    assert found["cubic_difference"].values == differences
    (section,) = module.sections(bench)
    assert all(item.commands for item in section.items if isinstance(item, Figure))
    table = next(item for item in section.items if isinstance(item, Table))
    assert len(table.rows) == 8
