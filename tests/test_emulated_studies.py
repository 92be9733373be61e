"""Points of studies that are emulated: their files, and the numbers side by side."""

import math
from typing import Any

import pytest

from acklab.errors import StoreError, UsageError
from acklab.report.render import render
from acklab.statistics import Interval
from acklab.studies import Bench, discover, find, run_study
from acklab.studies.emulated import Comparison, document, read
from acklab.studies.emulated.definition import FILE
from acklab.studies.emulated.runs import _seconds
from acklab.studies.metric import Metric
from conftest import BUILT

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
    }


@pytest.mark.skipif(not BUILT, reason="needs the compiled core")
@pytest.mark.parametrize("name", EMULATED)
def test_the_points_of_each_study_are_scenarios_of_a_linux_kernel(name, tmp_path):
    study = find(name)
    bench = Bench(study, tmp_path)
    for point in read(study).point:
        scenario = bench.source(point.scenario).load([*bench.sets(point.variants), *point.set])
        assert {flow["transport"]["preset"] for flow in scenario["flow"]} == {"linux"}, point.name
        metrics = [Metric.parse(text) for text in (*point.metrics, *(claim.metric for claim in point.chosen(study)))]
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
    with pytest.raises(UsageError, match=r"one: found no emulated\.toml, expected a study that has one: none"):
        run_study(study, tmp_path / "out", way="emulate")
    with pytest.raises(UsageError, match="found the way 'fly', expected 'simulate' or 'emulate'"):
        run_study(study, tmp_path / "out", way="fly")
    file = tmp_path / "one" / FILE
    file.write_text('[[point]]\nname = "a"\nscenario = "b.toml"\nmetrics = ["goodput"]\n')
    with pytest.raises(StoreError, match=r"point\.0\.metrics\.0: .*expected table\.column"):
        read(study)
    file.write_text('[[point]]\nname = "a"\nscenario = "b.toml"\nclaims = ["windows.*"]\n')
    with pytest.raises(UsageError, match=r"point 'a': claims: found 'windows\.\*'"):
        read(study).point[0].chosen(study)


def comparison(**changes: Any) -> Comparison:
    values: dict[str, Any] = {
        "point": "reno",
        "title": "goodput",
        "metric": "flows.mean_throughput_l7",
        "unit": "Mbps",
        "published": 15.27,
        "simulated": Interval(15.0, 14.75, 15.25, 3),
        "emulated": Interval(15.3, 15.0, 15.6, 3),
        "trusted": 2,
        "simulation": "acklab run one.toml --seed 1",
        "emulation": "acklab emulate one.toml --seed 1",
    }
    return Comparison(**(values | changes))


def test_the_report_has_published_simulated_and_emulated_side_by_side():
    none = Interval(0.0, 0.0, 0.0, 3)
    rows = [comparison(), comparison(title="failures", published=math.nan, simulated=none, emulated=none, trusted=3)]
    assert rows[0].difference == pytest.approx(2.0)
    assert math.isnan(rows[1].difference)
    assert rows[1].row()["published"] is None
    page = render([document(find("parity"), "", rows)])
    assert "<td" in page
    for cell in (">15.27<", ">15 ± 0.25<", ">15.30 ± 0.30<", ">+2.0<", ">2 of 3<", "acklab emulate one.toml"):
        assert cell in page, cell


@pytest.mark.parametrize(("text", "seconds"), [("15s", 15.0), ("2500ms", 2.5), ("10min", 600.0), ("90us", 9e-5), ("5ns", 5e-9)])
def test_durations_are_read(text, seconds):
    assert _seconds(text) == pytest.approx(seconds)
