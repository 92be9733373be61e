"""Emulated points of studies: their files, and the tables that compare numbers."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from acklab.durations import seconds_of
from acklab.errors import RunError, StoreError, UsageError
from acklab.report.document import Section
from acklab.report.render import render
from acklab.report.sources import collect
from acklab.statistics import Interval
from acklab.studies import Bench, discover, find, run_study
from acklab.studies.emulated import Comparison, document, read, runs
from acklab.studies.emulated.comparison import _gain
from acklab.studies.emulated.definition import FILE, GainFile
from acklab.studies.emulated.deployed import _flows
from acklab.studies.metric import Metric

EMULATED = [study.name for study in discover() if (study.folder / FILE).is_file()]


def test_the_studies_that_are_emulated():
    assert set(EMULATED) == {
        "ack_compression",
        "ack_filtering",
        "hack_80211a",
        "hack_capacity",
        "hack_clients",
        "hack_snr",
        "parity",
        "tack_wan",
        "tack_wlan",
    }


@pytest.mark.parametrize("name", EMULATED)
def test_the_points_of_each_study_are_scenarios_of_a_linux_kernel(name, tmp_path):
    study = find(name)
    bench = Bench(study, tmp_path)
    for point in read(study).point:
        scenario = bench.source(point.scenario).load([*bench.sets(point.variants), *point.set])
        if not point.perf:
            assert {flow["transport"]["preset"] for flow in scenario["flow"]} == {"linux"}, point.name
        metrics = [
            Metric.parse(text)
            for text in (
                *point.metrics,
                *(claim.metric for claim in point.chosen(study)),
                *(metric for metric, _ in point.beside(study)),
            )
        ]
        assert metrics, point.name


def test_lines_of_linux_are_all_emulated():
    study = find("parity")
    chosen = {claim.id for point in read(study).point for claim in point.chosen(study)}
    assert chosen == {claim.id for claim in study.file.claim if claim.id.startswith("linux_")}


def test_what_is_wrong_is_said_by_its_place(tmp_path, monkeypatch):
    (tmp_path / "one").mkdir()
    claims = find("parity").folder / "claims.toml"
    (tmp_path / "one" / "claims.toml").write_text(claims.read_text())
    monkeypatch.setenv("ACKLAB_STUDIES", str(tmp_path))
    study = find("one")
    with pytest.raises(UsageError, match=r"one: found no emulated\.toml, expected a study that has one: ack_compression"):
        run_study(study, tmp_path / "out", way="emulate")
    with pytest.raises(UsageError, match="way: found 'fly', expected one of: simulate, emulate, virtual"):
        run_study(study, tmp_path / "out", way="fly")
    with pytest.raises(UsageError, match="kernel: found a guest kernel with the way 'emulate', expected 'virtual'"):
        run_study(study, tmp_path / "out", way="emulate", kernel="6.12")
    file = tmp_path / "one" / FILE
    file.write_text('[[point]]\nname = "a"\nscenario = "b.toml"\nmetrics = ["goodput"]\n')
    with pytest.raises(StoreError, match=r"point\.0\.metrics\.0: .*expected table\.column"):
        read(study)
    file.write_text('[[point]]\nname = "a"\nscenario = "b.toml"\nclaims = ["windows.*"]\n')
    with pytest.raises(UsageError, match=r"point 'a': claims: found 'windows\.\*'"):
        read(study).point[0].chosen(study)


def test_gains_name_points_and_claims(tmp_path, monkeypatch):
    study = find("hack_capacity")
    (gain,) = read(study).gain
    # Published as 14 %.
    assert gain.published(study) == pytest.approx(1.14)
    assert math.isnan(gain.model_copy(update={"claim": ""}).published(study))
    with pytest.raises(UsageError, match=r"claim: found 'figure_13', expected the id of a claim"):
        gain.model_copy(update={"claim": "figure_13"}).published(study)
    monkeypatch.setenv("ACKLAB_STUDIES", str(tmp_path))
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "claims.toml").write_text((study.folder / "claims.toml").read_text())
    text = '[[point]]\nname = "a"\nscenario = "b.toml"\n[[gain]]\ntitle = "a over b"\npoint = "a"\nover = "b"\n'
    (tmp_path / "one" / FILE).write_text(text)
    with pytest.raises(StoreError, match=r"gain 'a over b': found the point 'b', expected one of: a"):
        read(find("one"))


class Ran:
    """Sets the goodput that a run reports."""

    provenance = SimpleNamespace(command="acklab run")

    def __init__(self, goodput, trusted="yes"):
        self.tables = {"network": {"agg_throughput_l4": [goodput]}, "timing": {"trusted": [trusted]}}

    def table(self, name):
        return pl.DataFrame(self.tables[name])


def test_a_gain_is_a_geometric_mean_of_ratios_run_by_run():
    both: Any = {
        "HACK": ([Ran(24.0), Ran(25.0)], [Ran(30.0), Ran(22.0, "no")]),
        "stock": ([Ran(20.0), Ran(20.0)], [Ran(20.0), Ran(20.0)]),
    }
    found = _gain(GainFile(title="gain", point="HACK", over="stock"), find("parity"), both)
    assert found.simulated.mean == pytest.approx(math.sqrt(1.2 * 1.25))
    assert found.emulated.mean == pytest.approx(math.sqrt(1.5 * 1.1))
    assert (found.trusted, found.emulated.count) == (1, 2)


class Emulated(Ran):
    """A run in which the hypervisor took too much time of processors, unless they may halt."""

    def __init__(self, processors):
        super().__init__(20.0, "yes" if processors == "halt" else "no")
        self.tables["timing"]["halting_time"] = [2.0 if processors == "auto" else None]
        self.is_trusted = processors == "halt"


@pytest.mark.parametrize(
    ("chosen", "used"),
    [
        # After the first run in which the hypervisor took too much time, `halt` is used, also for
        # other points.
        ("auto", ["auto", "halt", "halt"]),
        ("awake", ["awake"] * 6),
        ("halt", ["halt", "halt"]),
    ],
)
def test_processors_halt_in_runs_after_one_from_which_the_hypervisor_took_time(tmp_path, monkeypatch, chosen, used):
    ran: list[str] = []
    kept: set[Any] = set()

    def run(_emulation, processors):
        ran.append(processors)
        return Emulated(processors)

    monkeypatch.setattr(runs.Emulation, "run", run)
    monkeypatch.setattr(runs, "write_point", lambda folder, tables, provenance: kept.add(folder))
    monkeypatch.setattr(runs, "read_result", lambda place: None)
    points = [runs.Emulation(cast(Any, SimpleNamespace(digest=digest)), processors=chosen) for digest in ("one", "other")]
    runs.emulate_points(points, tmp_path, lambda progress: None)
    assert ran == used
    assert len(kept) == 2
    assert {folder.name.endswith(f"-{chosen}") for folder in kept} == {chosen != "auto"}, (
        "chosen processors have runs of their own"
    )


def comparison(**changes: Any) -> Comparison:
    values: dict[str, Any] = {
        "point": "reno",
        "title": "goodput",
        "metric": "flows.mean_throughput_l7",
        "unit": "Mbps",
        "published": 15.27,
        "simulated": Interval(15.0, 14.75, 15.25, 3),
        "emulated": Interval(15.3, 15.0, 15.6, 3),
        "ratio": Interval(1.02, 1.017, 1.023, 3),
        "trusted": 2,
        "simulation": "acklab run one.toml --seed 1",
        "emulation": "acklab emulate one.toml --seed 1",
    }
    return Comparison(**(values | changes))


def test_the_report_has_published_simulated_and_emulated_side_by_side():
    none = Interval(0.0, 0.0, 0.0, 3)
    rows = [comparison(), comparison(title="failures", published=math.nan, simulated=none, emulated=none, trusted=3)]
    assert rows[0].difference.mean == pytest.approx(2.0)
    assert math.isnan(rows[1].difference.mean)
    # 0.2 ± 0.5 retransmissions do not differ from zero by 100 %.
    assert math.isnan(comparison(simulated=Interval(0.2, -0.3, 0.7, 3), emulated=none).difference.mean)
    assert rows[1].row()["published"] is None
    page = render([document(find("parity"), "", rows)])
    assert "<td" in page
    for cell in (">15.27<", ">15 ± 0.25<", ">15.30 ± 0.30<", ">+2.0 ± 0.3<", ">2 of 3<", "acklab emulate one.toml"):
        assert cell in page, cell


def test_a_folder_shows_the_emulated_study_in_the_chapter_of_the_simulated_one(tmp_path):
    study = find("parity")
    emulated = document(study, "", [comparison()])
    simulated = replace(emulated, name="parity", part_of="", sections=(Section("Agreement", "", items=[]),))
    other = replace(simulated, name="parity_of_old", revision="another")
    for one in (simulated, emulated, other):
        (tmp_path / one.name).mkdir()
        one.write(tmp_path / one.name)
    parity, old = collect(tmp_path)
    assert [section["title"] for section in parity.to_dict()["sections"]] == ["Published, simulated, emulated", "Agreement"]
    assert len(old.sections) == 1
    # An emulated study has a separate chapter if the simulated study is missing or has another
    # revision.
    replace(simulated, revision="another").write(tmp_path / "parity")
    assert [one.name for one in collect(tmp_path)] == ["parity", "parity_emulated", "parity_of_old"]
    assert [one.name for one in collect(tmp_path / "parity_emulated")] == ["parity_emulated"]


@pytest.mark.parametrize(("text", "seconds"), [("15s", 15.0), ("2500ms", 2.5), ("10min", 600.0), ("90us", 9e-5), ("5ns", 5e-9)])
def test_durations_are_read(text, seconds):
    assert seconds_of(text) == pytest.approx(seconds)


def test_a_point_of_acklab_perf_yields_the_columns_of_a_simulation():
    row = {"goodput": 23.5, "acks": 2300, "data_packets": 24000, "retransmissions": 12, "mean_rtt": None}
    told = "a warning\n" + json.dumps({"measurements": [row]})
    (flow,) = pl.DataFrame(_flows(told, "tack")).to_dicts()
    assert flow["mean_throughput_l7"] == 23.5
    assert flow["total_acks_sent_l4"] == 2300
    assert flow["mean_srtt_l4"] is None
    with pytest.raises(RunError, match=r"acklab perf --with tack: found 'error: refused', expected a measurement"):
        _flows("error: refused\n", "tack")


def test_published_numbers_stand_beside_what_measures_the_same():
    study = find("tack_wan")
    point = read(study).point[0]
    ((metric, claim),) = point.beside(study)
    assert metric == "flows.mean_throughput_l7"
    assert claim.published == 20.21
    with pytest.raises(UsageError, match=r"point 'case 1, TACK': published: found 'goodput', expected the id of a claim"):
        point.model_copy(update={"published": {metric: "goodput"}}).beside(study)
