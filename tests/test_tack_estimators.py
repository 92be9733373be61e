"""The study of receiver reports runs: a share of it that takes seconds."""

import pytest

from acklab.report import Figure
from acklab.studies import Bench, find
from conftest import study_code


def test_a_share_of_the_study(tmp_path):
    module = study_code("tack_estimators")
    bench = Bench(find("tack_estimators"), tmp_path, quick=True, quiet=True)
    found = module.measures(bench)
    assert min(found["iacks_spare"].values) > 5, "without IACKs a loss is reported at most a quarter of RTTmin later"
    assert all(value == pytest.approx(22, abs=3) for value in found["bias_mean"].values)
    drawn = [item for section in module.sections(bench) for item in section.items if isinstance(item, Figure)]
    assert len(drawn) == 4
    assert all(figure.commands for figure in drawn)
