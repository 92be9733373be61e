"""A store has each point once, in few files, for any writers, and never returns damaged data."""

import json
import os
import random
import subprocess
import sys
import threading

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import acklab
import commands
from acklab.folders import locked, remove_abandoned, temporary_name
from acklab.places import LocalPlace
from acklab.sweeps import PackedStore
from acklab.sweeps.axis_values import AxisColumn
from acklab.sweeps.grid import Axis
from acklab.sweeps.pack import Pack, StoredPoint
from acklab.sweeps.packed_store import DamagedPack
from folders import contents

GRID = {"flow.0.congestion": ["newreno", "cubic"], "link.reverse.gate.interval": ["1ms", "5ms", "10ms"]}


def pack(numbers, tables=("flows",)):
    """Returns points by number. Each has two rows per table, which contain the number."""
    points = [
        StoredPoint(f"{number:032x}", number, "r", "v", f"acklab run {number}", ",".join(tables), "{}") for number in numbers
    ]
    index = pa.array([place for place in range(len(points)) for _ in range(2)], pa.uint32())
    values = pa.array([number + half / 2 for number in numbers for half in range(2)])
    return Pack.of(points, dict.fromkeys(tables, pa.table({"point": index, "value": values})))


def values_of(result, name="flows"):
    return result.table(name)["value"].to_list()


def rows(store, name, digests):
    found = store.table(name, digests)
    assert found is not None
    return found


def test_points_come_back_in_any_order_from_any_pack(tmp_path):
    store = PackedStore(LocalPlace(tmp_path))
    store.keep(pack([3, 1]))
    store.keep(pack([2, 0], tables=("links", "flows")))
    store = PackedStore(LocalPlace(tmp_path))
    results = store.results([f"{number:032x}" for number in (0, 3, 1, 2, 0)])
    assert [values_of(result) for result in results] == [[0, 0.5], [3, 3.5], [1, 1.5], [2, 2.5], [0, 0.5]]
    assert [tuple(result.tables) for result in results[:2]] == [("links", "flows"), ("flows",)]
    assert rows(store, "links", [f"{number:032x}" for number in (1, 2)])["point"].to_pylist() == [1, 1]
    assert store.table("queue", [f"{1:032x}"]) is None


def test_a_point_of_two_writers_counts_once(tmp_path):
    writers = [PackedStore(LocalPlace(tmp_path)) for _ in range(2)]
    writers[0].keep(pack([1, 2]))
    writers[1].keep(pack([2, 3]))
    store = PackedStore(LocalPlace(tmp_path))
    assert len(store.done()) == 3
    assert rows(store, "flows", sorted(store.done()))["value"].to_pylist() == [1, 1.5, 2, 2.5, 3, 3.5]
    store.compact()
    assert sum(pq.read_metadata(path).num_rows for path in tmp_path.glob("points/*.points.parquet")) == 3


def test_what_compaction_makes_does_not_depend_on_the_packs(tmp_path):
    numbers = list(range(40))
    for name, size in (("few", 20), ("many", 1), ("odd", 7)):
        random.Random(size).shuffle(numbers)
        store = PackedStore(LocalPlace(tmp_path / name))
        for start in range(0, len(numbers), size):
            store.keep(pack(numbers[start : start + size]))
        store.compact()
    assert contents(tmp_path / "few") == contents(tmp_path / "many") == contents(tmp_path / "odd")
    assert len(contents(tmp_path / "few")) == 3, "a table, the points and an entry of the manifest"


def test_packs_are_joined_before_they_are_too_many(tmp_path):
    store = PackedStore(LocalPlace(tmp_path))
    for number in range(200):
        store.keep(pack([number]))
        assert len(list(tmp_path.glob("points/*.json"))) <= 65
    assert len(store.done()) == 200
    assert rows(store, "flows", sorted(store.done())).num_rows == 400


def test_a_reader_goes_on_while_another_process_joins_packs(tmp_path):
    ours, theirs = (PackedStore(LocalPlace(tmp_path)) for _ in range(2))
    for number in range(5):
        ours.keep(pack([number]))
    theirs.compact()
    ours._cache.clear()
    assert [values_of(result)[0] for result in ours.results(sorted(ours.done()))] == [0, 1, 2, 3, 4]


def test_writers_at_once_lose_nothing(tmp_path):
    def work(which):
        store = PackedStore(LocalPlace(tmp_path))
        for number in range(which, 60, 3):
            store.keep(pack([number]))
            if number % 7 == 0:
                store.compact()

    workers = [threading.Thread(target=work, args=(which,)) for which in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    store = PackedStore(LocalPlace(tmp_path))
    assert rows(store, "flows", sorted(store.done()))["value"].to_pylist() == [n / 2 for n in range(120)]


def test_a_damaged_pack_is_named_and_forgotten(tmp_path):
    PackedStore(LocalPlace(tmp_path)).keep(pack([1, 2]))
    (victim,) = tmp_path.glob("points/*.flows.parquet")
    victim.write_bytes(victim.read_bytes()[:-1] + b"x")
    store = PackedStore(LocalPlace(tmp_path))
    with pytest.raises(DamagedPack, match=r"flows\.parquet: found \d+ bytes without the end of a Parquet file") as caught:
        store.results(sorted(store.done()))
    store.drop(caught.value.pack)
    assert not PackedStore(LocalPlace(tmp_path)).done()
    assert not list(tmp_path.glob("points/*.*"))


def test_no_bit_that_flips_changes_a_table_unnoticed(fake, scenario, tmp_path):
    """Flips 50 bits of the points.

    Each flip either has no effect, or is detected and the points run again.
    """
    out = tmp_path / "out"
    acklab.sweep(scenario, grid=GRID, out=out, quiet=True)
    whole = contents(out)
    tables = {name: octets for name, octets in whole.items() if "/" not in name}
    files = sorted(name for name in whole if "/" in name)
    chance = random.Random(1)
    for _ in range(50):
        name = chance.choice(files)
        octets = bytearray(whole[name])
        place = chance.randrange(8 * len(octets))
        octets[place // 8] ^= 1 << place % 8
        (out / name).write_bytes(octets)
        (out / "sweep.json").unlink()
        acklab.sweep(scenario, grid=GRID, out=out, quiet=True)
        assert {name: octets for name, octets in contents(out).items() if "/" not in name} == tables
        (out / name).write_bytes(whole[name])


def test_a_bit_of_the_tables_that_flips_is_named(fake, scenario, tmp_path):
    out = tmp_path / "out"
    result = acklab.sweep(scenario, grid=GRID, out=out, quiet=True)
    octets = bytearray((out / "flows.parquet").read_bytes())
    octets[len(octets) // 2] ^= 4
    (out / "flows.parquet").write_bytes(octets)
    with pytest.raises(acklab.StoreError, match=r"flows\.parquet: checksum mismatch"):
        _ = acklab.load_sweep(out).flows
    again = acklab.sweep(scenario, grid=GRID, out=out, quiet=True)
    assert again == result
    assert again.flows.height == 6
    assert fake.runs == 6, "the points are whole"


def test_a_finished_sweep_is_not_merged_again(fake, scenario, tmp_path, monkeypatch):
    out = tmp_path / "out"
    acklab.sweep(scenario, grid=GRID, out=out, quiet=True)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.*")}
    assert acklab.sweep(scenario, grid=GRID, out=out, quiet=True).replaced == 0
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.*")} == before


def test_points_that_differ_in_words_only_have_rows_of_their_own(fake, scenario, tmp_path):
    kinds = {"kind": {"one": {"duration": "1s"}, "other": {"x": 1}, "same": {"duration": "1s"}}}
    result = acklab.sweep(scenario, grid=kinds, out=tmp_path / "out", quiet=True)
    assert fake.runs == 2
    assert result.flows["kind"].to_list() == ["one", "other", "same"]
    assert result.table("links")["point"].to_list() == [0, 0, 1, 1, 2, 2]
    assert result.flows["mean_srtt_l4"][0] == result.flows["mean_srtt_l4"][2]


@pytest.mark.parametrize(
    ("choices", "values", "unit", "kind"),
    [
        (["1ms", "5ms"], [1, 5], "ms", pa.int64()),
        (["500us", "1ms", "0.25ms"], [500, 1000, 250], "us", pa.float64()),
        (["16Mbps", "1Gbps"], [16, 1000], "Mbps", pa.int64()),
        (["0", "0.25"], [0, 0.25], "", pa.float64()),
        (["20packets", "1packet"], [20, 1], "packets", pa.int64()),
        (["1ms", "1Mbps"], ["1ms", "1Mbps"], "", pa.string()),
        (["true", "false"], ["true", "false"], "", pa.string()),
        (["cubic"], ["cubic"], "", pa.string()),
    ],
)
def test_choices_of_an_axis_are_numbers_in_one_unit(choices, values, unit, kind):
    column = AxisColumn.of(Axis.of_values("key", choices))
    assert (column.values, column.unit, column.type) == (values, unit, kind)


def test_the_unit_of_an_axis_is_in_the_schema(fake, scenario, tmp_path):
    result = acklab.sweep(scenario, grid=GRID, out=tmp_path / "out", quiet=True)
    assert result.units("flows") == {"interval": "ms", "mean_throughput_l4": "Mbps", "mean_srtt_l4": "ms"}
    assert result.flows.filter(pl.col("interval") > 4)["interval"].unique().sort().to_list() == [5, 10]
    assert pl.read_parquet(tmp_path / "out" / "points.parquet").columns == [
        "point", "congestion", "interval", "seed", "digest", "command", "done",
    ]  # fmt: skip


def test_a_sweep_that_was_killed_says_how_far_it_came(fake, scenario, tmp_path):
    out = tmp_path / "out"
    grid = ["--grid", "sleep=0,0.01,0.02", "--grid", "kill=0,1"]
    real = fake.run_many

    def killed(text, name, sets, points, *rest, **options):
        if any("kill=1" in own for own in points):
            raise MemoryError
        return real(text, name, sets, points, *rest, **options)

    fake.run_many = killed
    with pytest.raises(MemoryError):
        acklab.sweep(scenario, grid=["sleep=0,0.01,0.02", "kill=0,1"], out=out, jobs=1, quiet=True)
    again = f"acklab sweep {scenario} --grid sleep=0,0.01,0.02 --grid kill=0,1 --seeds 1 --out {out}"
    with pytest.raises(acklab.StoreError) as caught:
        acklab.load_sweep(out)
    assert str(caught.value) == f"{out}: found an unfinished sweep: 1 of 6 points are done; resume with: {again}"
    assert "1 of 6 points are done" in commands.acklab("show", str(out)).stderr
    fake.run_many = real
    assert commands.acklab("sweep", str(scenario), *grid, "--out", str(out)).returncode == 0
    assert acklab.load_sweep(out).count == 6
    assert not list(out.glob("unfinished/*"))


def test_equal_failures_are_one_message_with_a_count(fake, scenario, tmp_path):
    done = commands.acklab("sweep", str(scenario), "--grid", "fail=true,false", "--seeds", "3", "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stderr.count("asked to") == 1
    assert "failed (3 points): " in done.stderr
    assert f"repeat the first with: acklab run {scenario} --set fail=true --seed 42" in done.stderr


def test_a_folder_of_an_earlier_version_opens(fake, scenario, tmp_path):
    """The summary lists the points, the grid has values in text, and the tables have no stamps."""
    out = tmp_path / "out"
    new = acklab.sweep(scenario, grid=GRID, out=out, quiet=True)
    document = json.loads((out / "sweep.json").read_text())
    for key in ("format", "plan", "failures", "tables"):
        del document[key]
    document["points"] = [{"digest": "x", "values": {}, "seed": 42, "command": command} for command in new.commands]
    (out / "sweep.json").write_text(json.dumps(document))
    (out / "points.parquet").unlink()
    old = acklab.load_sweep(out)
    assert old.commands == new.commands
    assert old.flows.equals(new.flows)
    assert old.query("select count(*) as n from flows")["n"].item() == 6
    assert acklab.sweep(scenario, grid=GRID, out=out, quiet=True) == new


def test_a_lock_is_held_by_one_process_and_freed_when_it_is_killed(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from acklab.folders import locked\n"
        f"with locked(Path({str(tmp_path)!r}), 'x', wait=False): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(acklab.StoreError, match=rf"another acklab is writing there \(process {holder.pid}\)"),
            locked(tmp_path, "x", wait=False),
        ):
            pass
        holder.kill()
    with locked(tmp_path, "x", wait=False):
        assert (tmp_path / ".x.lock").read_text() == f"{os.getpid()}\n"
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_has_left_is_removed(tmp_path):
    mine = temporary_name(tmp_path / "a.parquet")
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    theirs = mine.with_name(mine.name.replace(f".{os.getpid()}.", f".{dead.pid}."))
    other = tmp_path / ".mine.tmp"
    for path in (mine, theirs, other):
        path.write_text("x")
    remove_abandoned(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {mine.name, other.name}
