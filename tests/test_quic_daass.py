"""The study of DAASS runs: a share of it that takes seconds."""

import pytest

from acklab.report import Figure, Table
from acklab.studies import Bench, find
from conftest import load_every_variant, study_code


@pytest.fixture
def module(monkeypatch):
    module = study_code("quic_daass")
    monkeypatch.setattr(module, "QUICK", {**module.QUICK, "size": "sizes.toml:1 MB"})
    return module


def test_a_share_of_the_study(module, tmp_path):
    sections = module.sections(Bench(find("quic_daass"), tmp_path, quick=True, quiet=True))
    figures = [item for section in sections for item in section.items if isinstance(item, Figure)]
    assert len(figures) == 2
    assert all(figure.commands for figure in figures)
    (table,) = (item for item in sections[-1].items if isinstance(item, Table))
    times = {(stack, policy): float(time.split()[0]) for _, stack, policy, time, *_ in table.rows}
    # With DAASS, a window that grows per ACK saves round trips of 630 ms. A window that grows per
    # acknowledged byte saves none.
    assert times["TCP per ACK", "DAASS 2"] < times["TCP per ACK", "every 2"] - 0.6
    assert times["QUIC", "DAASS 2"] == pytest.approx(times["QUIC", "every 2"], rel=0.05)


def test_every_variant_is_a_scenario():
    load_every_variant("quic_daass", "path.toml", ("stacks.toml",), ("paths.toml", "sizes.toml", "policies.toml"))
