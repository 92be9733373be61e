"""A variant has any number of overrides. A sweep over variants is as reproducible as others."""

import json

import pytest

import acklab
from acklab.sweeps import Grid, Variants

FILE = """
[plain]

[slow]
title = "not so fast"
set = { "flow.0.congestion" = "cubic", "flow.0.ack" = { policy = "delayed", segments = 2 } }

[late]
set = ["flow.0.start=5ms"]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "kinds.toml"
    path.write_text(FILE)
    return path


def test_a_file_of_variants_is_an_axis(fake, scenario, file, tmp_path):
    out = tmp_path / "out"
    result = acklab.sweep(scenario, grid=[f"kind=@{file}", "duration=1s,2s"], seeds=2, out=out, quiet=True)
    assert result.flows.select("kind", "duration").unique(maintain_order=True).rows() == [
        (kind, duration) for kind in ("plain", "slow", "late") for duration in (1, 2)
    ]
    settings = "--set flow.0.congestion=cubic --set 'flow.0.ack={policy = \"delayed\", segments = 2}'"
    assert result.commands[4] == f"acklab run {scenario} {settings} --set duration=1s --seed 42"
    assert result.command == f"acklab sweep {scenario} --grid kind=@{file} --grid duration=1s,2s --seeds 2"
    assert acklab.load_sweep(out) == result


def test_the_order_of_axes_is_that_of_the_overrides(file):
    grid = Grid.of({"kind": Variants.read(file), "flow.0.start": ["1ms"]})
    assert grid.sets(("late", "1ms")) == ["flow.0.start=5ms", "flow.0.start=1ms"]


def test_some_variants_of_a_file(file):
    assert list(Variants.parse(f"{file}:late,plain").chosen) == ["plain", "late"]
    assert str(Variants.parse(f"{file}:late,plain")) == f"{file}:plain,late"
    assert str(Variants.parse(f"{file}:late,plain,slow")) == str(file)


def test_variants_of_a_program_get_a_file(fake, scenario, tmp_path):
    out = tmp_path / "out"
    result = acklab.sweep(scenario, grid={"kind": {"a": {"duration": "1s"}, "b": ["duration=2s"]}}, out=out, quiet=True)
    assert "--grid kind=@kind.json" in result.command
    assert list(Variants.read(out / "kind.json").chosen) == ["a", "b"]
    again = acklab.sweep(scenario, grid=[f"kind=@{out / 'kind.json'}"], out=tmp_path / "again", quiet=True)
    assert again.commands == result.commands


def test_json_reads_as_toml_does(tmp_path):
    path = tmp_path / "kinds.json"
    path.write_text(json.dumps({"a": {"set": {"x": 1}}}))
    assert Variants.read(path).chosen["a"].set == ("x=1",)


def test_variants_of_a_study_are_found_as_its_scenario_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = Variants.read("ack_policies/paths.toml", ["geo"])
    assert list(found.chosen) == ["geo"]
    assert list(Grid.of(["path=@ack_policies/paths.toml:geo"]).values) == ["path"]
