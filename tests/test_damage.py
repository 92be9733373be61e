"""Damaged results: no command and no call uses them, wherever a bit has flipped."""

import json
import os
import random
import shutil
from pathlib import Path
from unittest import mock

import pytest

import acklab
from acklab.places import LocalPlace
from acklab.report import Document
from acklab.seals import sealed, verify
from commands import acklab as command
from hostile_desk import SCENARIO

SUM = "select sum(mean_throughput_l4) as sum from flows"
PLACES = 40
"""Number of flipped bits in a file. Their places are random with a fixed seed, and at both ends."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Returns a folder with a run in `kept` and a sweep in `swept`."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "good.toml").write_text(SCENARIO)
    acklab.run(folder / "good.toml").save(folder / "kept")
    acklab.sweep(folder / "good.toml", grid={"flow.0.congestion": ["cubic", "newreno"]}, out=folder / "swept", quiet=True)
    return folder


@pytest.fixture
def copy(desk, tmp_path):
    """Returns a copy of these results, to be damaged."""
    for name in ("kept", "swept"):
        shutil.copytree(desk / name, tmp_path / name)
    return tmp_path


def flip(path: Path, bit: int) -> None:
    octets = bytearray(path.read_bytes())
    octets[bit // 8] ^= 1 << bit % 8
    path.write_bytes(octets)


def bits(path: Path):
    """Returns positions of bits in a file: near its beginning, near its end, and at random."""
    count = 8 * path.stat().st_size
    chosen = random.Random(path.name)
    return [0, 40, count - 40, count - 1, *(chosen.randrange(count) for _ in range(PLACES))]


@pytest.mark.parametrize("folder", ["kept", "swept"])
def test_a_query_refuses_a_table_with_a_flipped_bit(copy, folder):
    path = copy / folder / "flows.parquet"
    whole = path.read_bytes()
    for bit in bits(path):
        flip(path, bit)
        done = command("query", SUM, folder, cwd=copy)
        assert (done.returncode, done.stdout) == (1, ""), bit
        assert "flows.parquet: checksum mismatch" in done.stderr
        path.write_bytes(whole)
    assert command("query", SUM, folder, cwd=copy).returncode == 0


def test_a_query_that_does_not_name_a_damaged_table_is_answered(copy):
    (copy / "swept" / "links.parquet").write_bytes(b"PAR1 nonsense PAR1")
    assert command("query", SUM, "swept", cwd=copy).returncode == 0
    # The name of the table is computed, so it may be the damaged one.
    done = command("query", "select count(*) from query_table('fl' || 'ows')", "swept", cwd=copy)
    assert done.returncode == 1
    assert "links.parquet: found" in done.stderr


@pytest.mark.parametrize("damage", ["flipped", "cut", "emptied", "gone", "exchanged"])
def test_every_way_to_the_numbers_refuses_them(copy, damage):
    path = copy / "swept" / "flows.parquet"
    octets = path.read_bytes()
    if damage == "gone":
        path.unlink()
    elif damage == "exchanged":
        # A valid table of acklab, but of another result.
        shutil.copy(copy / "kept" / "flows.parquet", path)
    else:
        path.write_bytes({"flipped": octets[:900] + bytes([octets[900] ^ 1]) + octets[901:], "cut": octets[:-9]}.get(damage, b""))
    swept = acklab.load_sweep(copy / "swept")
    for way in (
        lambda: swept.query(SUM),
        lambda: swept.flows,
        lambda: swept.table("flows", ["seed"]),
        lambda: swept.units("flows"),
        swept.summary,
        swept.to_dict,
    ):
        with pytest.raises(acklab.StoreError, match=r"flows\.parquet: "):
            way()
    for words in (
        ["query", SUM],
        ["show"],
        ["report"],
        ["plot", "--out", "figures"],
        ["compare", "--relative-to", "congestion=cubic"],
    ):
        done = command(
            words[0], *(words[1:2] if words[0] == "query" else []), "swept", *words[1 + (words[0] == "query") :], cwd=copy
        )
        assert done.returncode == 1, words
        assert "flows.parquet: " in done.stderr
        assert "Traceback" not in done.stderr


def test_a_store_with_a_url_is_checked_too(copy):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.put(str(copy / "swept"), "/damaged", recursive=True)
    memory.put(str(copy / "kept"), "/damaged_run", recursive=True)
    whole = acklab.load_sweep("memory://damaged").query(SUM)["sum"].item()
    assert whole == acklab.load_sweep(copy / "swept").query(SUM)["sum"].item()
    for folder in ("damaged", "damaged_run"):
        octets = bytearray(memory.cat(f"/{folder}/flows.parquet"))
        octets[1000] ^= 1
        memory.pipe(f"/{folder}/flows.parquet", bytes(octets))
        done = command("query", SUM, f"memory://{folder}", cwd=copy)
        assert done.returncode == 1
        assert f"memory://{folder}/flows.parquet: checksum mismatch" in done.stderr
    with pytest.raises(acklab.StoreError, match="checksum mismatch"):
        acklab.load_sweep("memory://damaged").query(SUM)
    with pytest.raises(acklab.StoreError, match="checksum mismatch"):
        acklab.load_sweep("memory://damaged").units("flows")


def test_a_summary_with_a_flipped_bit_is_refused_or_the_same(copy):
    path = copy / "swept" / "sweep.json"
    whole = path.read_bytes()
    before = json.loads(whole)
    before.pop("sha256")
    refused = 0
    for bit in [*bits(path), *range(8 * whole.index(b'"points"'), 8 * whole.index(b'"points"') + 100)]:
        flip(path, bit)
        try:
            acklab.load_sweep(copy / "swept")
        except acklab.StoreError:
            refused += 1
        else:
            # The change is in white space, or in the name of the checksum: the content is the same.
            after = json.loads(path.read_bytes())
            assert {key: after.get(key) for key in before} == before or "format" not in after
        path.write_bytes(whole)
    assert refused > 100


def test_a_report_of_a_study_with_another_number_is_refused(tmp_path):
    Document("name", "title", question="why", seeds=5).write(tmp_path)
    assert Document.read(tmp_path).seeds == 5
    text = (tmp_path / "report.json").read_text()
    (tmp_path / "report.json").write_text(text.replace('"seeds": 5', '"seeds": 7'))
    with pytest.raises(acklab.StoreError, match=r"report\.json: checksum mismatch"):
        Document.read(tmp_path)


def test_a_checksum_depends_on_values_alone():
    document = {"a": [1, 2.5, "ü", None], "b": {"c": True}}
    verify(sealed(document), "x")
    verify(json.loads(json.dumps(sealed(document), indent=3)), "x")
    verify(document, "an earlier version has none")
    with pytest.raises(acklab.StoreError, match="x: checksum mismatch"):
        verify(sealed(document) | {"b": {"c": False}}, "x")


def test_tables_are_read_once_until_they_change(copy):
    swept = acklab.load_sweep(copy / "swept")
    path = copy / "swept" / "flows.parquet"
    opened = []
    before = LocalPlace.opened

    def counted(place, name):
        opened.append(name)
        return before(place, name)

    with mock.patch.object(LocalPlace, "opened", counted):
        for _ in range(5):
            swept.query(SUM)
        assert opened == ["flows.parquet"], "one table, once"
        # The modification time is restored, as by `cp -p`.
        times = path.stat()
        flip(path, 8000)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        with pytest.raises(acklab.StoreError, match="checksum mismatch"):
            swept.query(SUM)
        # The result of a failed check is not cached either.
        flip(path, 8000)
        swept.query(SUM)


def test_a_table_that_its_checksums_do_not_list_is_refused(copy):
    shutil.copy(copy / "swept" / "points.parquet", copy / "kept" / "points.parquet")
    done = command("query", SUM, "kept", cwd=copy)
    assert done.returncode == 1
    assert "points.parquet: found a table without a checksum" in done.stderr
    (copy / "kept" / "points.parquet").unlink()
    (copy / "kept" / "links.parquet").unlink()
    done = command("show", "kept", cwd=copy)
    assert done.returncode == 1
    assert "links.parquet: found no such file, expected the table" in done.stderr


def test_a_result_without_checksums_is_checked_by_arrow(copy):
    (copy / "kept" / "checksums.json").unlink()
    path = copy / "kept" / "flows.parquet"
    assert command("query", SUM, "kept", cwd=copy).returncode == 0
    path.write_bytes(path.read_bytes()[:-30])
    done = command("query", SUM, "kept", cwd=copy)
    assert done.returncode == 1
    assert "flows.parquet: found" in done.stderr
    assert "without the end of a Parquet file" in done.stderr


@pytest.mark.parametrize("name", ["a[1]", "a*", "a?b", "it's", 'say "x"', os.fsdecode(b"caf\xe9"), "ü"])
def test_a_folder_with_any_name_is_queried(copy, name):
    # DuckDB treats some characters of a path as a pattern, and opens only paths in UTF-8.
    shutil.copytree(copy / "swept", copy / name)
    shutil.copytree(copy / "kept", copy / "a1")
    assert command("query", SUM, name, "--json", cwd=copy).stdout == command("query", SUM, "swept", "--json", cwd=copy).stdout


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("select 'x'::blob as x", "78"),
        ("select [1, 2] as x", "[1, 2]"),
        ("select {'a': 1} as x", '{"a": 1}'),
        ("select time '12:00' as x", "12:00:00"),
        ("select 1.5::decimal(5, 2) as x", "1.5"),
        ("select interval 1 day as x", None),
        ("select union_value(a := 1) as x", None),
        ("select \0", None),
        ("select '\udce9'", None),
        ("select * from read_csv('nothing.csv')", None),
    ],
)
@pytest.mark.parametrize("how", [[], ["--csv"], ["--json"]])
def test_values_of_any_type_are_shown_or_refused(copy, sql, shown, how):
    done = command("query", sql, "kept", *how, cwd=copy)
    assert "Traceback" not in done.stderr
    if shown is None:
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
    else:
        assert done.returncode == 0, done.stderr
        assert shown in done.stdout.replace('\\"', '"').replace('""', '"')


def test_a_query_of_a_folder_without_tables_names_the_folder(copy):
    (copy / "swept" / "sweep.json").unlink()
    for path in (copy / "swept").glob("*.parquet"):
        path.unlink()
    done = command("query", SUM, "swept", cwd=copy)
    assert done.returncode == 1
    assert "swept/sweep.json: cannot be read: No such file or directory" in done.stderr
