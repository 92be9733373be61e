"""The airtime of ACKs, compared with a log of the medium, and a part of the study."""

import polars as pl
import pytest

import acklab
from acklab.report import Figure, Table
from acklab.studies import Bench, find
from acklab.sweeps import Grid
from conftest import study_code


@pytest.fixture
def module():
    return study_code("ack_relief")


@pytest.mark.parametrize("cell", ["n1", "a1", "b5up"])
def test_the_airtime_of_acks_agrees_with_the_log_of_the_air(module, tmp_path, cell):
    bench = Bench(find("ack_relief"), tmp_path, quick=True, quiet=True)
    chosen = bench.variants("cells.toml").chosen[cell]
    source = bench.source("cell.toml")
    direction = module.air.Direction.of(source.load(list(chosen.set)))
    sets = [*chosen.set, "duration=3s", "measure.from=0s", 'measure.series=["air"]']
    sweep = acklab.sweep(source, grid=Grid.of({"set_cell": {cell: sets}}), out=tmp_path / "sweep", quiet=True)
    costs = module.air.costs(sweep, ["point"], {cell: direction}, "set_cell").row(0, named=True)
    log = sweep.table("air")
    window = float(sweep.table("airtime")["time"].sum()) / 1000

    received = log.filter(pl.col("fate") == "received")
    is_acknowledging = (pl.col("node") == "ap") == direction.is_upload
    frames = float(received.filter(pl.col("kind") == "tcp_ack")["duration"].sum())
    responses = received.filter(pl.col("kind").is_in(["ack", "block_ack"]) & ~is_acknowledging)
    requests = float(received.filter((pl.col("kind") == "block_ack_request") & is_acknowledging)["duration"].sum())
    answered = float(responses["duration"].sum()) + responses.height * direction.sifs / 1000 + requests
    assert costs["frames"] == pytest.approx(100 * frames / window, rel=0.02)
    assert costs["responses"] == pytest.approx(100 * answered / window, rel=0.02)
    assert 0 < costs["access"] < 20
    assert costs["air"] == pytest.approx(sum(costs[part] for part in module.air.PARTS))


def test_a_share_of_the_study(module, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "QUICK_SCHEMES", "schemes.toml:every second,HACK")
    bench = Bench(find("ack_relief"), tmp_path, quick=True, quiet=True)
    cells = bench.variants("cells.toml:a1")
    monkeypatch.setattr(Bench, "variants", lambda self, text: cells if text == "cells.toml" else original(self, text))
    sections = module.sections(bench)
    drawn = [item for section in sections for item in section.items if isinstance(item, Figure)]
    assert all(figure.commands for figure in drawn)
    table = next(item for item in sections[-1].items if isinstance(item, Table))
    stock, hack = table.rows
    assert float(hack[3]) < 1
    assert float(stock[3]) > 15
    assert float(hack[2]) > 15


original = Bench.variants
