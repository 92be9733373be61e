"""Results at a URL are read like those in a folder."""

from pathlib import Path

import pytest

import acklab
import commands
from acklab.places import LocalPlace, RemotePlace, place_of
from acklab.report import write_report

fsspec = pytest.importorskip("fsspec")

GRID = {"flow.0.congestion": ["newreno", "cubic"]}


@pytest.fixture
def url():
    """Returns an empty folder of a store in memory."""
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs.clear()
    yield "memory://lab"
    memory.store.clear()
    memory.pseudo_dirs.clear()


def copied(folder, url):
    """Copies the files of a folder to a URL."""
    for path in folder.rglob("*"):
        if path.is_file():
            RemotePlace(url).write(str(path.relative_to(folder)), path.read_bytes())
    return url


def shown(*words):
    done = commands.acklab(*words)
    assert done.returncode in (0, None), done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("show", "{}"),
        ("show", "{}", "--json"),
        ("compare", "{}", "--relative-to", "congestion=newreno"),
        ("query", "select congestion, seed, mean_srtt_l4 from flows order by all", "{}", "--csv"),
        ("plot", "{}", "--list"),
    ],
    ids=lambda words: words[0],
)
def test_a_sweep_in_a_store_is_shown_as_that_of_a_folder(fake, scenario, tmp_path, url, words):
    here = tmp_path / "swept"
    acklab.sweep(scenario, grid=GRID, seeds=3, out=here, quiet=True)
    acklab.sweep(scenario, grid=GRID, seeds=3, out=f"{url}/swept", quiet=True)
    there = shown(*(word.format(f"{url}/swept") for word in words))
    assert there.replace(f"{url}/swept", str(here)) == shown(*(word.format(here) for word in words))


def test_a_run_in_a_store_is_shown_and_compared(fake, scenario, tmp_path, url):
    for seed in (7, 8):
        acklab.run(scenario, seed=seed).save(tmp_path / str(seed))
        copied(tmp_path / str(seed), f"{url}/{seed}")
    assert acklab.load_result(f"{url}/7").flows.equals(acklab.load_result(tmp_path / "7").flows)
    assert shown("show", f"{url}/7", "--json") == shown("show", tmp_path / "7", "--json")
    tables = [shown("compare", f"{top}/7", f"{top}/8", "--only", "mean_srtt_l4") for top in (url, tmp_path)]
    numbers = [{word for word in text.split() if word.replace(".", "").isdigit()} for text in tables]
    assert numbers[0] == numbers[1] != set()
    octets = RemotePlace(f"{url}/7").read("flows.parquet")
    RemotePlace(f"{url}/7").write("flows.parquet", octets[:200] + bytes([octets[200] ^ 1]) + octets[201:])
    with pytest.raises(acklab.StoreError, match=r"memory://lab/7/flows\.parquet: checksum mismatch"):
        acklab.load_result(f"{url}/7")


def test_a_report_of_a_store_is_that_of_a_folder(fake, scenario, tmp_path, url, monkeypatch):
    acklab.sweep(scenario, grid=GRID, seeds=3, out=tmp_path / "all" / "swept", quiet=True)
    acklab.run(scenario, seed=7).save(tmp_path / "all" / "run")
    copied(tmp_path / "all", f"{url}/all")
    monkeypatch.chdir(tmp_path)
    report = write_report(f"{url}/all")
    assert report == Path("report.html")
    assert report.read_text() == write_report(tmp_path / "all").read_text()


def test_what_is_not_there_is_named_with_its_url(url):
    for words in (["show", f"{url}/none"], ["report", f"{url}/none"], ["query", "select 1", f"{url}/none"]):
        done = commands.acklab(*words)
        assert done.returncode == 1
        assert done.stderr.startswith(f"error: {url}/none: found no ")


def test_a_store_with_another_kind_of_result_is_refused(fake, scenario, tmp_path, url):
    acklab.run(scenario, seed=7).save(tmp_path / "run")
    with pytest.raises(acklab.StoreError, match=r"memory://lab/run: found the result of a run, expected a folder"):
        acklab.sweep(scenario, out=copied(tmp_path / "run", f"{url}/run"), quiet=True)


def test_a_url_of_a_file_is_a_folder(tmp_path):
    assert place_of(f"file://{tmp_path}", "DIR") == LocalPlace(tmp_path)


def test_options_of_a_url_stay_behind_its_path():
    place = RemotePlace("s3://bucket/lab?region=eu-west-1")
    assert str(place / "sweep") == "s3://bucket/lab/sweep?region=eu-west-1"
    assert (place / "sweep").name_of("flows.parquet") == "s3://bucket/lab/sweep/flows.parquet?region=eu-west-1"
