"""The study of QUIC's ACKs in a cell runs: a share of it that takes seconds."""

import pytest

from acklab.report import Figure, Table
from acklab.studies import Bench, find
from conftest import load_every_variant, study_code


@pytest.fixture
def module(monkeypatch):
    module = study_code("quic_ack_wifi")
    monkeypatch.setattr(module, "QUICK", {**module.QUICK, "stations": "stations.toml:1"})
    return module


def test_a_share_of_the_study(module, tmp_path):
    sections = module.sections(Bench(find("quic_ack_wifi"), tmp_path, quick=True, quiet=True))
    figures = [item for section in sections for item in section.items if isinstance(item, Figure)]
    assert len(figures) == 3
    assert all(figure.commands for figure in figures)
    tables = [item for item in sections[-1].items if isinstance(item, Table)]
    assert [table.caption for table in tables] == ["802.11n, TCP", "802.11n, QUIC"]
    for table in tables:
        every_2, every_10 = table.rows
        # Without losses, there are half as many ACKs as packets, or a tenth. Their frames take less
        # airtime.
        assert float(every_2[3]) == pytest.approx(0.5, abs=0.02)
        assert float(every_10[3]) == pytest.approx(0.1, abs=0.02)
        assert float(every_10[5]) < float(every_2[5])


def test_every_variant_is_a_scenario():
    load_every_variant("quic_ack_wifi", "cell.toml", ("stacks.toml",), ("cells.toml", "stations.toml", "policies.toml"))
