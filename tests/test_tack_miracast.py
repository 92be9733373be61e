"""The study of wireless projection runs: a share of it that takes seconds."""

from acklab.report import Figure, Table
from conftest import one_seed, study_code


def test_a_share_of_the_study(monkeypatch, tmp_path):
    module = study_code("tack_miracast")
    monkeypatch.setattr(module.runs, "QUICK_LOADS", "loads.toml:1")
    monkeypatch.setattr(module.runs, "CLAIMED", "loads.toml:1")
    bench = one_seed("tack_miracast", tmp_path)
    found = module.measures(bench)
    of_streams = ("macroblocking_rtp", "macroblocking_cubic", "macroblocking_bbr", "macroblocking_tack")
    assert [found[name].values for name in of_streams] == [[0.0]] * 4, "one neighbour leaves room for the video"
    # The tuned memory of 20 TACK intervals is less than two frames long, so that a slow frame can
    # delay the next ones by more than 100 ms.
    assert max(found["macroblocking_messages"].values) < 200, "a run of frames in seven seconds at most"
    assert max(found["rebuffering_tack"].values) < 2
    section, causes = module.sections(bench)
    (table,) = causes.items
    assert len(table.rows) == len(bench.variants("alternatives.toml").chosen) + 3
    assert all(item.commands for item in section.items if isinstance(item, Figure))
    shown = next(item for item in section.items if isinstance(item, Table))
    assert [row[1] for row in shown.rows][:3] == ["RTP over UDP", "TCP CUBIC", "TCP BBR"]
