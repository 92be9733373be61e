"""The study that sets our QUIC beside quinn-proto runs: a share of it that takes seconds."""

import pytest

from acklab.report import Table
from acklab.studies import Bench, find
from conftest import load_every_variant, study_code


@pytest.fixture
def module(monkeypatch):
    module = study_code("quic_parity")
    monkeypatch.setattr(module, "QUICK_PATHS", "paths.toml:thin")
    return module


def test_a_share_of_the_study(module, tmp_path):
    sections = module.sections(Bench(find("quic_parity"), tmp_path, quick=True, quiet=True))
    assert [section.title for section in sections] == [
        "Ratio to the other implementation",
        "Eleven paths",
        "Controllers of quinn",
    ]
    tables = [item for section in sections for item in section.items if isinstance(item, Table)]
    assert [table.caption for table in tables] == ["newreno", "cubic", "Ratios"]
    # An ACK of quinn-proto has about 62 bytes, and ours no more: the return link of 250 kbps
    # carries them all.
    for row in tables[0].rows:
        assert float(row[-1].split(" · ")[0]) < 90, row


def test_every_variant_is_a_scenario():
    load_every_variant("quic_parity", "path.toml", ("paths.toml",), ("endpoints.toml",), ("controllers.toml",))
