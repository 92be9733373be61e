"""The study of controllers on TACK's feedback runs: Vegas and Copa, one seed."""

from acklab.report import Table
from conftest import one_seed, study_code


def test_the_quick_study_with_one_seed(tmp_path):
    module = study_code("tack_controllers")
    bench = one_seed("tack_controllers", tmp_path)
    measured = module.measures(bench)
    for controller in ("vegas", "copa"):
        # One seed: the overshoot of slow start is random, and both controllers take long to recover
        # from it.
        assert measured[f"{controller}_tack"].interval.mean > 0.75
        assert measured[f"{controller}_law"].interval.mean < 0.1
    table = module.sections(bench)[1].items[1]
    assert isinstance(table, Table)
    assert len(table.rows) == 10
