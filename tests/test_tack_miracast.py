"""The study of wireless projection runs: a share of it that takes seconds."""

import pytest

from acklab.report import Figure, Table
from acklab.studies import Bench, find
from conftest import BUILT, study_code

pytestmark = pytest.mark.skipif(not BUILT, reason="needs the compiled core")


def test_a_share_of_the_study(monkeypatch, tmp_path):
    module = study_code("tack_miracast")
    monkeypatch.setattr(module.runs, "QUICK_LOADS", "loads.toml:1")
    monkeypatch.setattr(module.runs, "CLAIMED", "loads.toml:1")
    bench = Bench(find("tack_miracast"), tmp_path, quick=True, quiet=True)
    found = module.measures(bench)
    assert {name: measure.values for name, measure in found.items() if name.startswith("macroblocking_")} == {
        "macroblocking_rtp": [0.0, 0.0],
        "macroblocking_cubic": [0.0, 0.0],
        "macroblocking_bbr": [0.0, 0.0],
        "macroblocking_tack": [0.0, 0.0],
        "macroblocking_messages": [0.0, 0.0],
    }, "one neighbour leaves room for the video"
    assert max(found["rebuffering_tack"].values) < 2
    (section,) = module.sections(bench)
    assert all(item.commands for item in section.items if isinstance(item, Figure))
    shown = next(item for item in section.items if isinstance(item, Table))
    assert [row[1] for row in shown.rows][:3] == ["RTP over UDP", "TCP CUBIC", "TCP BBR"]
