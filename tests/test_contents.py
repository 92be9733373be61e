"""No kind of result replaces another in a folder, and no stored result is lost or mixed."""

import dataclasses
import itertools

import polars as pl
import pytest

import acklab
from acklab.studies import find, run_study

KINDS = ("run", "emulation", "sweep", "study")


def emulated(result):
    """Returns a result of an emulation, which has one table more than that of a run."""
    return dataclasses.replace(result, tables={**result.tables, "timing": pl.DataFrame({"trusted": ["yes"]}).to_arrow()})


def keep(kind, scenario, folder):
    """Writes a result of a kind into a folder."""
    if kind == "run":
        acklab.run(scenario).save(folder)
    elif kind == "emulation":
        emulated(acklab.run(scenario)).save(folder)
    elif kind == "sweep":
        acklab.sweep(scenario, seeds=2, out=folder, quiet=True)
    else:
        run_study(study_called(folder.name), folder.parent, quick=True, quiet=True)


def study_called(name):
    """Returns a study without scenarios that has the name of a folder."""
    study = find("ack_compression")
    return dataclasses.replace(study, file=study.file.model_copy(update={"claim": ()}), folder=study.folder.parent / name)


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


FOUND = {"run": "the result of a run", "emulation": "the result of an emulation", "sweep": "a sweep", "study": "a study"}


@pytest.mark.parametrize(("before", "after"), list(itertools.permutations(KINDS, 2)))
def test_one_kind_is_not_written_over_another(fake, scenario, tmp_path, before, after):
    folder = tmp_path / "kept"
    keep(before, scenario, folder)
    kept, runs = contents(folder), fake.runs
    with pytest.raises(acklab.StoreError) as refused:
        keep(after, scenario, folder)
    assert str(refused.value) == (f"{folder}: found {FOUND[before]}, expected a folder without results, or with {FOUND[after]}")
    assert contents(folder) == kept
    assert fake.runs - runs == (after in ("run", "emulation")), "a sweep and a study are refused before they run anything"


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_takes_the_place_of_its_kind(fake, scenario, tmp_path, kind):
    keep(kind, scenario, tmp_path / "kept")
    kept = contents(tmp_path / "kept")
    keep(kind, scenario, tmp_path / "kept")
    assert contents(tmp_path / "kept") == kept


@pytest.mark.parametrize("kind", ["sweep", "study"])
def test_points_that_were_interrupted_are_for_those_that_go_on_with_them(fake, scenario, tmp_path, kind):
    folder = tmp_path / "kept"
    acklab.sweep(scenario, out=folder, quiet=True)
    for path in folder.glob("*.*"):
        path.unlink()
    with pytest.raises(acklab.StoreError, match="found points of an unfinished sweep or study, expected a folder"):
        acklab.run(scenario).save(folder)
    keep(kind, scenario, folder)


def test_a_table_of_somebody_else_is_not_overwritten(fake, scenario, tmp_path):
    pl.DataFrame({"mine": [1]}).write_parquet(tmp_path / "flows.parquet")
    for kind in KINDS:
        with pytest.raises(acklab.StoreError, match="found a table that acklab did not write"):
            keep(kind, scenario, tmp_path)


def test_no_table_of_an_earlier_run_is_left(fake, scenario, tmp_path):
    result = acklab.run(scenario)
    dataclasses.replace(result, tables={**result.tables, "queue": result.arrow("links")}).save(tmp_path)
    pl.DataFrame({"mine": [1]}).write_parquet(tmp_path / "mine.parquet")
    result.save(tmp_path)
    assert {path.stem for path in tmp_path.glob("*.parquet")} == {*result.tables, "mine"}
