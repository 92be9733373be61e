"""Written results can be read, have their provenance, and are never incomplete."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import acklab
from acklab import store
from acklab.places import LocalPlace
from acklab.sweeps import PackedStore


@pytest.fixture
def kept(fake, scenario, tmp_path):
    acklab.run(scenario, seed=7).save(tmp_path / "kept")
    return tmp_path / "kept"


def test_a_result_comes_back_with_units_and_provenance(kept, scenario):
    result = acklab.load_result(kept)
    assert result.seed == 7
    assert result.provenance.command == f"acklab run {scenario} --seed 7"
    assert result.provenance.revision == "fake"
    assert result.units("flows") == {"mean_throughput_l4": "Mbps", "mean_srtt_l4": "ms"}
    assert result.flows.to_pandas().loc[0, "flow"] == "flow_1"
    assert result.flows.to_arrow().num_rows == 1


def test_every_file_carries_what_repeats_the_run(kept):
    for path in kept.glob("*.parquet"):
        metadata = pq.read_metadata(path).metadata
        assert json.loads(metadata[b"acklab.scenario"])["seed"] == 7
        assert metadata[b"acklab.seed"] == b"7"
        assert {b"acklab.command", b"acklab.revision", b"acklab.version"} <= set(metadata)
    assert acklab.check(kept / "scenario.json")["seed"] == 7


def test_a_dict_runs_like_a_file(fake, scenario):
    document = {"duration": "15s", "seed": 42, "flow": [{"congestion": "newreno", "start": "0s"}]}
    assert acklab.run(document).flows.equals(acklab.run(scenario).flows)


def test_the_same_run_gives_the_same_octets(fake, scenario, tmp_path):
    for name in ("a", "b"):
        acklab.run(scenario).save(tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda octets: b"", "empty file"),
        (lambda octets: b"not a table at all", "begin with b'not '"),
        (lambda octets: octets[:-20], "truncated"),
        (lambda octets: octets[:4] + b"\0" * (len(octets) - 12) + octets[-8:], "damaged"),
    ],
)
def test_a_damaged_file_is_named_with_what_was_found(kept, damage, found):
    path = kept / "flows.parquet"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(acklab.StoreError, match=found) as caught:
        acklab.load_result(kept)
    assert str(path) in str(caught.value)
    assert re.search("expected|checksum mismatch", str(caught.value))


def test_somebody_elses_parquet_is_refused(tmp_path):
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "flows.parquet")
    with pytest.raises(acklab.StoreError, match=r"acklab\.scenario"):
        acklab.load_result(tmp_path)


def test_a_table_that_is_not_there_is_named(fake, scenario):
    with pytest.raises(acklab.UsageError, match=r'measure\.series = \["queue"\]'):
        _ = acklab.run(scenario).queue


def test_a_folder_that_cannot_be_written_is_named(fake, scenario, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(acklab.StoreError, match=r"file/out: cannot be written: "):
        acklab.run(scenario).save(tmp_path / "file" / "out")


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    store.write_json(path, {"old": True})
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(acklab.StoreError, match=r"a\.json: cannot be written: No space left on device"):
        store.write_json(path, {"new": True})
    assert json.loads(path.read_text()) == {"old": True}
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


@pytest.fixture
def small_disk(tmp_path):
    """Returns a folder on a disk of 256 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_stops_a_sweep_and_keeps_what_is_done(fake, scenario, small_disk: Path):
    with pytest.raises(acklab.StoreError, match="No space left on device"):
        acklab.sweep(scenario, seeds=400, out=small_disk, quiet=True)
    kept = PackedStore(LocalPlace(small_disk))
    assert kept.done()
    assert all(result.flows.height == 1 for result in kept.results(sorted(kept.done())))


def test_a_run_of_a_dict_says_where_its_scenario_is(fake, tmp_path):
    result = acklab.run({"duration": "15s", "seed": 42, "flow": [{"congestion": "newreno"}]})
    command, comment = result.provenance.command.split("  # ")
    assert comment == "scenario.json is beside the tables"
    result.save(tmp_path / "kept")
    assert command.split()[:3] == ["acklab", "run", "scenario.json"]
    assert acklab.check(tmp_path / "kept" / "scenario.json") == result.scenario


def test_a_result_is_short_as_text_and_tables_in_a_notebook(fake, scenario):
    result = acklab.run(scenario)
    assert len(repr(result)) < 200
    assert "<td" in result._repr_html_()
    assert "mean_throughput_l4" in result._repr_html_()


def test_what_arrow_reads_lies_in_memory_of_its_own(fake, scenario, tmp_path, monkeypatch):
    """A thread of Arrow must not release Python's memory while the interpreter ends.

    That aborted one of eight runs of `acklab show SWEEP`.
    """
    sources = []
    read = pq.read_table

    def noted(source, **options):
        sources.append(source)
        return read(source, **options)

    monkeypatch.setattr(pq, "read_table", noted)
    acklab.run(scenario).save(tmp_path / "run")
    assert acklab.load_result(tmp_path / "run").flows.height == 1
    acklab.sweep(scenario, seeds=3, out=tmp_path / "sweep", quiet=True)
    assert acklab.load_sweep(tmp_path / "sweep").flows.height == 3
    assert sources
    assert all(type(source) is pa.BufferReader for source in sources)
    octets = (tmp_path / "run" / "flows.parquet").read_bytes()
    owners = sys.getrefcount(octets)
    table = store.parsed(octets)
    assert sys.getrefcount(octets) == owners
    assert table.num_rows == 1
