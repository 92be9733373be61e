"""The study of windows and buffers runs: a share of it that takes seconds."""

import pytest

from acklab.report import Figure
from acklab.studies import Bench, find
from conftest import study_code


def test_a_share_of_the_study(monkeypatch, tmp_path):
    module = study_code("tack_buffer")
    for part in (module, module.runs):
        monkeypatch.setattr(part, "BETAS", (2, 4))
        monkeypatch.setattr(part, "CONTROLLERS", ("bbr-tack",))
    bench = Bench(find("tack_buffer"), tmp_path, quick=True, quiet=True)
    found = {name: measure.values[0] for name, measure in module.measures(bench).items()}
    for beta in (2, 4):
        assert found[f"count_{beta}"] == pytest.approx(beta / (beta - 1), rel=0.02), "an ACK waits for its share of the window"
        assert found[f"time_{beta}"] == pytest.approx((beta + 1) / beta, rel=0.02), "an ACK waits for its share of the round trip"
    drawn = [item for section in module.sections(bench) for item in section.items if isinstance(item, Figure)]
    assert all(figure.commands for figure in drawn)
