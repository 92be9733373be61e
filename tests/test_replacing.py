"""A result replaces another as a whole, or not at all."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import acklab
import commands
from acklab import replacing, store
from acklab.contents import Contents
from folders import contents


@pytest.fixture
def kept(fake, scenario, tmp_path):
    acklab.run(scenario, seed=7).save(tmp_path / "kept")
    return tmp_path / "kept"


def test_a_write_that_fails_leaves_the_earlier_result(kept, scenario, monkeypatch):
    """The disk becomes full after some of the tables are written."""
    written: list[Path] = []
    before, real = contents(kept), store._write

    def full(path, table):
        if len(written) == 2:
            raise OSError(28, "No space left on device")
        written.append(path)
        real(path, table)

    monkeypatch.setattr(store, "_write", full)
    with pytest.raises(acklab.StoreError, match="No space left on device"):
        acklab.run(scenario, seed=8).save(kept)
    assert contents(kept) == before


@pytest.mark.parametrize("moves", range(5))
def test_a_result_that_was_cut_off_while_it_took_its_place_is_finished_by_whoever_reads_it(kept, scenario, monkeypatch, moves):
    """The process is killed after some of the files have moved: old and new files are not mixed."""
    real = Path.replace
    moved: list[Path] = []

    def cut(path, target):
        if replacing._STAGING in path.parts and len(moved) == moves:
            raise KeyboardInterrupt
        moved.append(path)
        return real(path, target)

    # The renamings of the journal and of the files in the hidden folder also count, so let those
    # pass.
    def counted(path, target):
        if replacing._STAGING in path.parts and replacing._STAGING not in target.parts:
            return cut(path, target)
        return real(path, target)

    monkeypatch.setattr(Path, "replace", counted)
    moved.clear()
    with pytest.raises(KeyboardInterrupt):
        acklab.run(scenario, seed=8).save(kept)
    monkeypatch.undo()
    after = acklab.load_result(kept)
    assert after.seed == 8
    assert {json.loads(store.read_metadata(path)["acklab.seed"]) for path in kept.glob("*.parquet")} == {8}
    assert not [path for path in kept.iterdir() if path.name.startswith(".")]


def test_a_bit_that_flips_in_any_file_is_seen(kept):
    for path in kept.glob("*.parquet"):
        whole = path.read_bytes()
        for place in range(5, len(whole) - 5, max(1, len(whole) // 40)):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(acklab.StoreError, match=f"{path.name}: (found|checksum mismatch)"):
                acklab.load_result(kept)
        path.write_bytes(whole)
    assert acklab.load_result(kept).seed == 7


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": 1}', '{"files": {"flows.parquet": 1}}'])
def test_damaged_checksums_are_named(kept, text):
    (kept / "checksums.json").write_text(text)
    with pytest.raises(acklab.StoreError, match=r"checksums\.json: found damaged JSON"):
        acklab.load_result(kept)


def test_files_of_others_stay(kept, scenario):
    (kept / "notes.txt").write_text("mine")
    acklab.run(scenario, seed=8).save(kept)
    assert (kept / "notes.txt").read_text() == "mine"


def test_a_folder_that_another_process_writes_to_is_refused(kept, scenario):
    with replacing.replacing(kept, Contents.RUN):
        before = contents(kept)
        code = f"import acklab; from pathlib import Path; from acklab.replacing import replacing; from acklab.contents import Contents\nwith replacing(Path({str(kept)!r}), Contents.RUN): pass"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert f"another acklab is writing there (process {os.getpid()})" in done.stderr
        assert contents(kept) == before


def test_what_a_killed_writer_has_left_goes_with_the_next(kept, scenario):
    code = f"import time; from pathlib import Path; from acklab.replacing import replacing; from acklab.contents import Contents\nwith replacing(Path({str(kept)!r}), Contents.RUN) as new:\n (new.staging / 'x').write_text('x'); print('there', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "there\n"
        writer.kill()
    assert acklab.load_result(kept).seed == 7
    acklab.run(scenario, seed=8).save(kept)
    assert not [path for path in kept.iterdir() if path.name.startswith(".")]
    assert acklab.load_result(kept).seed == 8


PATH = """
duration = "1s"
seed = 1
[[link]]
name = "lan"
from = "a"
to = "b"
forward = { rate = "1Mbps", delay = "1ms" }
reverse = { rate = "1Mbps", delay = "1ms" }
[[flow]]
from = "a"
to = "b"
preset = "linux"
[[capture]]
point = "a"
file = "FILE"
"""


def test_a_capture_belongs_to_the_result(tmp_path):
    """A capture is replaced together with the result. A link in its place is not followed."""
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "path.toml").write_text(PATH.replace("FILE", "pcap/a.pcapng"))
    for expected in (0, 0):
        done = commands.acklab("run", "path.toml", "--out", "out", cwd=tmp_path)
        assert done.returncode in (None, expected), done.stderr
        capture = tmp_path / "out" / "pcap" / "a.pcapng"
        assert capture.read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
        capture.unlink()
        capture.symlink_to(tmp_path / "precious")
    (tmp_path / "path.toml").write_text(PATH.replace("FILE", "b.pcapng"))
    commands.acklab("run", "path.toml", "--out", "out", cwd=tmp_path)
    assert not capture.is_symlink(), "the capture of the earlier run went with it"
    assert (tmp_path / "out" / "b.pcapng").is_file()
    (tmp_path / "b.pcapng").symlink_to("precious")
    done = commands.acklab("run", "path.toml", cwd=tmp_path)
    assert "found a symbolic link, expected no file or a regular one" in done.stderr
    assert (tmp_path / "precious").read_text() == "precious"


@pytest.mark.parametrize("name", ["flows.parquet", "scenario.json", ".hidden"])
def test_a_capture_does_not_take_the_name_of_a_table(tmp_path, name):
    (tmp_path / "path.toml").write_text(PATH.replace("FILE", name))
    done = commands.acklab("run", "path.toml", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert f'capture.0.file: found "{name}", expected another name' in done.stderr


def test_a_run_that_is_stopped_leaves_the_earlier_result(tmp_path):
    (tmp_path / "path.toml").write_text(PATH.replace("FILE", "a.pcapng"))
    commands.acklab("run", "path.toml", "--out", "out", cwd=tmp_path)
    before = contents(tmp_path / "out")
    words = [sys.executable, "-m", "acklab", "run", "path.toml", "--set", "duration=100000s", "--seed", "9", "--out", "out"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL) as run:
        until = time.monotonic() + 60
        while not (tmp_path / "out" / ".acklab-new" / "a.pcapng").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        run.kill()
    assert {name: octets for name, octets in contents(tmp_path / "out").items() if not name.startswith(".")} == before
    commands.acklab("run", "path.toml", "--out", "out", cwd=tmp_path)
    assert contents(tmp_path / "out") == before
