"""The study of ACKs over a satellite runs: a share of it that takes seconds."""

import pytest

from acklab.report import Figure
from acklab.studies import Bench, find
from conftest import load_every_variant, study_code


@pytest.fixture
def module(monkeypatch):
    module = study_code("quic_ack_satellite")
    monkeypatch.setattr(module, "QUICK_STACKS", "stacks.toml:NewReno,TCP + PEP,quinn")
    monkeypatch.setattr(module, "QUICK_CHANNELS", "channels.toml:pipe,96 kbps")
    monkeypatch.setattr(module, "SIZES", "sizes.toml:100 kB")
    monkeypatch.setattr(module, "PATHS", "paths.toml:vdsl")
    return module


def test_a_share_of_the_study(module, tmp_path):
    bench = Bench(find("quic_ack_satellite"), tmp_path, quick=True, quiet=True)
    sections = module.sections(bench)
    assert [section.title for section in sections] == [
        "Channels, stacks and policies",
        "Downloads of 10 MB",
        "Measured values",
        "Stacks and policies over all paths",
        "Other asymmetric paths",
        "Slow start",
        "The stream window",
        "The queue at the gateway",
        "Searched",
        "Short downloads",
        "Packet by packet",
    ]
    figures = [item for section in sections for item in section.items if isinstance(item, Figure)]
    assert all(figure.commands for figure in figures)
    # At 96 kbps ACKs for two packets do not fit. TCP halves its window for them; quinn loses
    # nothing, so the file comes no later.
    ratios = {(cell, stack): value for cell, stack, value in zip(*_cells(figures[0]), strict=True)}
    assert ratios["96 kbps", "NewReno"] > 1.2
    assert ratios["96 kbps", "quinn"] < 1
    assert abs(ratios["pipe", "NewReno"] - 1) < 0.1


def _cells(figure):
    """Yields column, row and ratio of each cell of a map."""
    columns, lines, ratios = [], [], []
    for trace in figure.figure.data:
        for line, texts in zip(trace.y, trace.text, strict=True):
            for column, text in zip(trace.x, texts, strict=True):
                if text:
                    columns.append(column)
                    lines.append(line)
                    ratios.append(float(text.split("<br>")[0]))
    return columns, lines, ratios


def test_every_variant_is_a_scenario(module):
    bench = load_every_variant(
        "quic_ack_satellite", "path.toml", ("channels.toml", "paths.toml", "queues.toml", "sizes.toml", "fitted_queues.toml")
    )
    for sets in module.arms(bench, "stacks.toml").values():
        bench.source("path.toml").load(sets)
