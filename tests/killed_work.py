"""Work that is killed, and checks of its remains.

`python killed_work.py WHAT FOLDER FIRST STRIDE` prints the last step.
"""

import shutil
import sys
from pathlib import Path

import polars  # noqa: F401 - what children import, this process imports once for all of them
import pyarrow.parquet  # noqa: F401

import acklab
from acklab.contents import Contents
from acklab.places import LocalPlace
from acklab.report import Document
from acklab.store import tables_with
from acklab.sweeps import sweep
from acklab.sweeps.packed_store import Entry
from acklab.templates import new
from folders import contents
from hostile_desk import SCENARIO
from kills import child, rounds

GRID = {"flow.0.congestion": ["cubic", "newreno"]}
BASE = Path(sys.argv[2])
FIRST, STRIDE = int(sys.argv[3]), int(sys.argv[4])


def swept(folder: Path, seeds: int) -> None:
    """Runs a sweep in small batches, so that packs are joined."""
    sweep(BASE / "good.toml", grid=GRID, seeds=seeds, out=folder, quiet=True, jobs=1)


def shown(folder: Path) -> str:
    """Returns the message with which `load_sweep` refuses a folder; empty if it does not."""
    try:
        found = acklab.load_sweep(folder)
        for name in found.tables:
            found.table(name)
    except acklab.StoreError as error:
        return str(error)
    return ""


def no_orphans(folder: Path) -> None:
    """Checks that every file of a pack has an entry, and that no hidden file is left."""
    entries = [Entry.read(path.stem, path.read_bytes()) for path in (folder / "points").glob("*.json")]
    named = {entry.file(name) for entry in entries for name in entry.files}
    assert {f"points/{path.name}" for path in (folder / "points").glob("*.parquet")} == named
    hidden = [path for path in folder.rglob("*") if path.name.startswith(".")]
    assert not hidden, hidden


def a_sweep() -> int:
    """Returns a new sweep.

    After a kill, the folder shows that the sweep is unfinished, and the same command finishes it.
    """
    assert child(lambda: swept(BASE / "whole", 3)) == 0
    whole = contents(BASE / "whole")

    def look(folder: Path) -> None:
        said = shown(folder)
        assert "damaged" not in said, said
        if (folder / "unfinished").is_dir() and any((folder / "unfinished").glob("*.parquet")) and said:
            assert "found an unfinished sweep" in said, said
            assert "resume with: acklab sweep" in said
            assert Contents.of(LocalPlace(folder)) in (None, Contents.POINTS), "no table without its summary"
        swept(folder, 3)
        no_orphans(folder)
        assert contents(folder) == whole, "the same octets as of a sweep that was not killed"

    return rounds(lambda at: BASE / f"round{at}", lambda folder: swept(folder, 3), look, FIRST, STRIDE)


def an_extended_sweep() -> int:
    """Returns a sweep over more seeds in the folder of an earlier one.

    Afterwards the folder has either the complete earlier sweep or the new one.
    """
    assert child(lambda: swept(BASE / "before", 2)) == 0

    def fresh(at: int) -> Path:
        return Path(shutil.copytree(BASE / "before", BASE / f"round{at}"))

    def look(folder: Path) -> None:
        assert shown(folder) == ""
        assert acklab.load_sweep(folder).count in (4, 6)
        assert len(acklab.load_sweep(folder).flows) == acklab.load_sweep(folder).count
        swept(folder, 3)
        assert acklab.load_sweep(folder).count == 6
        no_orphans(folder)

    return rounds(fresh, lambda folder: swept(folder, 3), look, FIRST, STRIDE)


def a_run() -> int:
    """Returns a run with fewer tables in the folder of an earlier one.

    Afterwards the folder has either the complete earlier run or the new one.
    """

    def first() -> None:
        acklab.run(BASE / "good.toml", seed=7, set={"measure.series": ["queue"]}).save(BASE / "before")

    assert child(first) == 0
    tables = {path.stem for path in (BASE / "before").glob("*.parquet")}

    def fresh(at: int) -> Path:
        return Path(shutil.copytree(BASE / "before", BASE / f"round{at}"))

    def work(folder: Path) -> None:
        acklab.run(BASE / "good.toml", seed=8).save(folder)

    def look(folder: Path) -> None:
        found = acklab.load_result(folder)
        assert found.seed in (7, 8)
        assert set(found.tables) == tables - ({"queue"} if found.seed == 8 else set())
        assert len(tables_with(folder, "acklab.scenario")) == len(found.tables)
        work(folder)
        assert acklab.load_result(folder).seed == 8
        assert not [path for path in folder.iterdir() if path.name.startswith(".")]

    return rounds(fresh, work, look, FIRST, STRIDE)


def a_file() -> int:
    """Returns one file, in a folder that is new: the report of a study, a scenario and a trace."""

    def work(folder: Path) -> None:
        Document("new", "new").write(folder / "study")
        new("satellite", folder / "satellite.toml")

    def look(folder: Path) -> None:
        if (folder / "study" / "report.json").exists():
            assert Document.read(folder / "study").name == "new"
        if (folder / "satellite.toml").exists():
            acklab.check(folder / "satellite.toml")

    return rounds(lambda at: BASE / f"round{at}", work, look, FIRST, STRIDE)


if __name__ == "__main__":
    (BASE / "good.toml").write_text(SCENARIO)
    work = {"sweep": a_sweep, "extended": an_extended_sweep, "run": a_run, "file": a_file}[sys.argv[1]]
    # This process forks, so only its children may start threads.
    print(work())
