"""Claims are read strictly and judged by a rule of one sentence."""

import json
import math
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace

import polars as pl
import pytest

from acklab.cli.study import studies_command
from acklab.errors import RunError, StoreError, UsageError
from acklab.report import Document
from acklab.runner import run
from acklab.scenario import Source
from acklab.statistics import mean_interval
from acklab.studies import Bench, Study, differences, discover, find, per_seed, run_study
from acklab.studies.metric import Metric
from acklab.studies.modules import load_module
from acklab.studies.new import new_study
from acklab.verdict import Finding, counted, summary

CLAIMS = """
title = "Test"
question = "Does it work?"
seeds = 4
quick_seeds = 2
vary = { "flow.0.start" = "0ms..5ms" }

[[claim]]
id = "throughput"
title = "throughput"
source = "a page"
unit = "Mbps"
published = 14.05
tolerance = "3%"
scenario = "one.toml"
metric = "flows.mean_throughput_l4"

[[claim]]
id = "drops"
title = "drops"
source = "a page"
published = 100
tolerance = 5
scenario = "one.toml"
set = ["flow.0.congestion=cubic"]
metric = "links[btl_forward].total_qdisc_drops_l2"
direction = { higher_than = 10 }
note = "There is a reason."
"""


@pytest.fixture
def study(tmp_path, scenario, monkeypatch):
    folder = tmp_path / "studies" / "test"
    folder.mkdir(parents=True)
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "README.md").write_text("# Test\n\nText.\n")
    (folder / "one.toml").write_text(scenario.read_text())
    monkeypatch.chdir(tmp_path)
    return find("test")


def test_a_study_is_kept_in_a_store(fake, study, tmp_path):
    pytest.importorskip("fsspec")
    there = run_study(study, "memory://studies", quiet=True)
    here = run_study(study, tmp_path / "out", quiet=True)
    assert there.findings == here.findings
    assert Document.read("memory://studies/test").to_dict() == Document.read(tmp_path / "out" / "test").to_dict()
    runs = fake.runs
    run_study(study, "memory://studies", quiet=True)
    assert fake.runs == runs
    with pytest.raises(UsageError, match=r"memory://studies: found a store, expected a folder of this machine"):
        run_study(study, "memory://studies", quiet=True, way="emulate")


def test_a_study_is_run_over_its_seeds_and_judged(fake, study, tmp_path):
    result = run_study(study, tmp_path / "out", quiet=True)
    assert fake.runs == 8
    throughput, drops = result.findings
    assert throughput.verdict == "reproduced"
    assert throughput.low < throughput.measured < throughput.high
    assert throughput.command == "acklab run studies/test/one.toml --seed 42"
    assert drops.verdict == "same direction"
    kept = json.loads((tmp_path / "out" / "test" / "claims.json").read_text())
    assert [list(claim) for claim in kept["claims"]] == 2 * [
        [
            "id",
            "source",
            "unit",
            "published",
            "measured",
            "low",
            "high",
            "seeds",
            "tolerance",
            "verdict",
            "fitted",
            "kind",
            "reading_of",
        ]
    ]
    assert kept["claims"][1]["id"] == "test.drops"
    run_study(study, tmp_path / "out", quiet=True)
    assert fake.runs == 8


def test_a_ratio_is_taken_seed_by_seed(fake, study, tmp_path):
    (study.folder / "kinds.toml").write_text('[slow]\nset = ["flow.0.congestion=cubic"]\n')
    head, first, _ = CLAIMS.split("[[claim]]")
    first = first.replace("14.05", "1").replace('"3%"', '"0.03"')
    ratio = f"{head}[[claim]]{first}"
    ratio += 'variants = ["kinds.toml:slow"]\nset = ["flow.0.mss=1000B"]\nrelative_to = { variants = [] }\n'
    (study.folder / "claims.toml").write_text(ratio)
    (finding,) = run_study("test", tmp_path / "out", quiet=True).findings
    own, other = finding.command.splitlines()
    assert own == "acklab run studies/test/one.toml --set flow.0.congestion=cubic --set flow.0.mss=1000B --seed 42"
    assert other == "acklab run studies/test/one.toml --set flow.0.mss=1000B --seed 42"
    bench = Bench(study, tmp_path / "out" / "test", quiet=True)
    throughputs = [
        [result.flows["mean_throughput_l4"][0] for result in bench.results(points)]
        for points in bench.replicas(
            [("one.toml", ["flow.0.congestion=cubic", "flow.0.mss=1000B"]), ("one.toml", ["flow.0.mss=1000B"])]
        )
    ]
    ratios = [above / below for above, below in zip(*throughputs, strict=True)]
    assert finding.measured == pytest.approx(math.prod(ratios) ** (1 / 4))
    assert finding.as_written == ratios[0]
    (study.folder / "claims.toml").write_text(ratio + 'direction = { higher_than = "one.toml" }\n')
    with pytest.raises(StoreError, match="direction of a ratio"):
        find("test")


MEASURED = """
[[claim]]
id = "sum"
title = "sum"
source = "a page"
published = 6
tolerance = 0.5
metric = "study.sum"
direction = { higher_than = 4 }
"""
MEASURES = (
    "from acklab.studies import Measure\n\n\ndef measures(bench):\n    return {'sum': Measure([4.0, 5.0, 6.0], ['a', 'b'])}\n"
)


def test_a_study_measures_by_itself(fake, study, tmp_path):
    (study.folder / "claims.toml").write_text(CLAIMS + MEASURED)
    with pytest.raises(UsageError, match=r"no measure 'sum' in study\.py, expected one of: none"):
        run_study(find("test"), tmp_path / "out", quiet=True)
    (study.folder / "study.py").write_text(MEASURES)
    found = run_study(find("test"), tmp_path / "out", quiet=True).findings[-1]
    assert (found.measured, found.seeds, found.as_written, found.command) == (5.0, 3, 4.0, "a\nb")
    # 5 ± 2.5 lies on both sides of 4.
    assert found.verdict == "undecided"
    assert 5.0 - found.low == found.high - 5.0 == pytest.approx(4.3027 / 3**0.5, abs=1e-3)
    (study.folder / "claims.toml").write_text(CLAIMS + MEASURED.replace("higher_than = 4", "higher_than = 2"))
    assert run_study(find("test"), tmp_path / "out", quiet=True).findings[-1].verdict == "same direction"
    for more in ('scenario = "one.toml"', 'set = ["seed=2"]'):
        (study.folder / "claims.toml").write_text(CLAIMS + MEASURED + more)
        with pytest.raises(StoreError, match=r"found a scenario beside study\.sum"):
            find("test")
    (study.folder / "claims.toml").write_text(CLAIMS.replace('scenario = "one.toml"\n', "", 1))
    with pytest.raises(StoreError, match="expected a scenario to run"):
        find("test")


TWICE = """
[[claim]]
id = "double"
title = "twice the throughput"
source = "a page"
published = 100
tolerance = "50%"
metric = "study.double"
same_as = "drops"
"""


def test_one_quantity_has_one_verdict(fake, study, tmp_path):
    (study.folder / "study.py").write_text(MEASURES.replace("'sum': Measure([4.0, 5.0, 6.0]", "'double': Measure([100.0]"))
    (study.folder / "claims.toml").write_text(CLAIMS + TWICE)
    _, drops, double = run_study(find("test"), tmp_path / "out", quiet=True).findings
    assert drops.verdict == double.verdict == "same direction"
    for unknown in ("losses", "double"):
        (study.folder / "claims.toml").write_text(CLAIMS + TWICE.replace('same_as = "drops"', f'same_as = "{unknown}"'))
        with pytest.raises(StoreError, match=r"claim\.double\.same_as: found"):
            find("test")


def test_another_reading_of_a_statement_does_not_count(fake, study, tmp_path):
    (study.folder / "study.py").write_text(MEASURES.replace("'sum': Measure([4.0, 5.0, 6.0]", "'double': Measure([100.0]"))
    reading = TWICE.replace('same_as = "drops"', 'reading_of = "drops"')
    (study.folder / "claims.toml").write_text(CLAIMS + reading)
    first, drops, double = run_study(find("test"), tmp_path / "out", quiet=True).findings
    # It keeps its own verdict.
    assert (drops.verdict, double.verdict) == ("same direction", "reproduced")
    assert (double.reading_of, drops.reading_of) == ("test.drops", "")
    assert summary([first, drops, double]) == summary([first, drops]) == "1 of 2 reproduced"
    for unknown in ("losses", "double"):
        (study.folder / "claims.toml").write_text(CLAIMS + reading.replace('reading_of = "drops"', f'reading_of = "{unknown}"'))
        with pytest.raises(StoreError, match=rf"claim\.double: found a reading of '{unknown}'"):
            find("test")


def test_readings_of_the_claims_of_other_studies_do_not_count_beside_them(fake, study, tmp_path):
    (study.folder / "study.py").write_text(MEASURES.replace("'sum': Measure([4.0, 5.0, 6.0]", "'double': Measure([100.0]"))
    (study.folder / "claims.toml").write_text(CLAIMS + TWICE.replace('same_as = "drops"', 'reading_of = "other/double"'))
    first, drops, double = run_study(find("test"), tmp_path / "out", quiet=True).findings
    assert double.reading_of == "other.double"
    # Alone, the study has three statements; compared with the other one, two.
    assert summary([first, drops, double]) == "2 of 3 reproduced"
    assert counted([replace(double, id="other.double", reading_of=""), first, drops, double])[1:] == [first, drops]


def test_readings_of_other_studies_name_claims_that_count():
    every = {f"{study.name}/{claim.id}": claim for study in discover() for claim in study.file.claim}
    named = {claim.counts_as for claim in every.values() if "/" in claim.counts_as}
    assert named
    assert {name for name in named if name not in every or every[name].counts_as} == set()


def test_seeds_without_a_number_are_told_and_decide_nothing(fake, study, tmp_path):
    (study.folder / "study.py").write_text(MEASURES.replace("[4.0, 5.0, 6.0]", "[6.0, float('nan'), 6.0]"))
    (study.folder / "claims.toml").write_text(CLAIMS + MEASURED)
    found = run_study(find("test"), tmp_path / "out", quiet=True).findings[-1]
    assert (found.measured, found.low, found.high, found.seeds, found.missing) == (6.0, 6.0, 6.0, 2, 1)
    assert found.verdict == "undecided"
    assert found.note == "1 of 3 seeds have no number: the base is zero, or nothing was measured."


def test_a_measure_may_come_with_its_interval(fake, study, tmp_path):
    text = MEASURES.replace("import Measure", "import Measure\nfrom acklab.statistics import least").replace(
        "Measure([4.0, 5.0, 6.0], ['a', 'b'])", "Measure.of(least([[6.0, 6.2, 6.1], [9.0, 9.0, 9.0]]), ['a'])"
    )
    (study.folder / "study.py").write_text(text)
    (study.folder / "claims.toml").write_text(CLAIMS + MEASURED)
    found = run_study(find("test"), tmp_path / "out", quiet=True).findings[-1]
    assert found.measured == pytest.approx(6.1)
    assert (found.seeds, found.missing, found.verdict) == (3, 0, "reproduced")
    assert found.low < 6.1 < found.high


def test_a_fitted_setting_is_called_so(fake, study, tmp_path):
    (study.folder / "claims.toml").write_text(CLAIMS.replace('unit = "Mbps"', 'unit = "Mbps"\nfitted = "Searched for."', 1))
    findings = run_study(find("test"), tmp_path / "out", quiet=True).findings
    assert findings[0].verdict_text == "reproduced, fitted setting"
    assert [finding.row()["fitted"] for finding in findings] == [True, False]
    assert summary(findings) == "1 of 2 reproduced, 1 of them with settings fitted to the source"


def test_a_direction_by_another_scenario_is_taken_seed_by_seed(fake, study, tmp_path):
    (study.folder / "other.toml").write_text((study.folder / "one.toml").read_text() + "x = 1\n")
    beside = CLAIMS.replace("published = 14.05", "published = 20").replace(
        "metric = ", 'direction = { lower_than = "other.toml" }\nmetric = ', 1
    )
    (study.folder / "claims.toml").write_text(beside)
    ours = run_study(find("test"), tmp_path / "out", quiet=True).findings[0]
    bench = Bench(study, tmp_path / "out" / "test", quiet=True)
    throughputs = [
        [result.flows["mean_throughput_l4"][0] for result in bench.results(points)]
        for points in bench.replicas([("one.toml", []), ("other.toml", [])])
    ]
    beyond = mean_interval([one - other for one, other in zip(*throughputs, strict=True)])
    assert ours.verdict == ("same direction" if beyond.high < 0 else "undecided" if beyond.low < 0 else "not reproduced")


def test_a_claim_may_take_more_seeds(fake, study, tmp_path):
    (study.folder / "claims.toml").write_text(CLAIMS.replace('unit = "Mbps"', 'unit = "Mbps"\nseeds = 7', 1))
    assert [finding.seeds for finding in run_study(find("test"), tmp_path / "out", quiet=True).findings] == [7, 4]
    assert fake.runs == 11
    assert [finding.seeds for finding in run_study(find("test"), tmp_path / "out", quick=True, quiet=True).findings] == [2, 2]


def test_quick_takes_fewer_seeds(fake, study, tmp_path):
    assert run_study(study, tmp_path / "out", quick=True, quiet=True).findings[0].seeds == 2


def test_a_failing_study_py_is_named_with_its_line(fake, study, tmp_path):
    (study.folder / "study.py").write_text("def sections(bench):\n    return 1 / 0\n")
    with pytest.raises(RunError, match=r"study\.py: ZeroDivisionError: .*line 2"):
        run_study(study, tmp_path / "out", quiet=True)


def test_a_study_imports_modules_of_its_folder(fake, study, tmp_path):
    (study.folder / "beside.py").write_text("SIX = 6.0\n")
    (study.folder / "study.py").write_text("from .beside import SIX\n\n" + MEASURES.replace("6.0]", "SIX]"))
    (study.folder / "claims.toml").write_text(CLAIMS + MEASURED)
    assert run_study(find("test"), tmp_path / "out", quiet=True).findings[-1].measured == 5.0
    assert load_module(study) is load_module(find("test"))


def test_studies_of_one_name_in_two_folders_are_two_modules(study, tmp_path):
    (study.folder / "study.py").write_text("WHICH = 1\n")
    other = tmp_path / "elsewhere" / "test"
    shutil.copytree(study.folder, other)
    (other / "study.py").write_text("WHICH = 2\n")
    assert [getattr(load_module(one), "WHICH", None) for one in (study, Study.read(other))] == [1, 2]


def test_a_study_imports_no_other_study():
    folder = discover()[0].folder.parent
    for path in folder.glob("*/*.py"):
        imported = re.findall(r"^\s*(?:from|import)\s+(\S+)", path.read_text(), re.M)
        assert not [name for name in imported if name.startswith(("..", "studies"))], path


TABLE = """
[[claim]]
source = "a page"
scenario = "{row}.toml"
[claim.columns]
throughput = { title = "throughput of {row}", unit = "Mbps", tolerance = "3%", metric = "flows.mean_throughput_l4" }
drops = { title = "drops", tolerance = "20%", metric = "links[btl_forward].total_qdisc_drops_l2" }
[claim.rows]
one = { group = "One", throughput = 14.05, drops = 74 }
two = { group = "Two", throughput = 15 }
[claim.cells."one.drops"]
tolerance = "5%"
"""


def test_a_table_stands_for_a_claim_in_each_cell(study):
    (study.folder / "claims.toml").write_text(CLAIMS + TABLE)
    *_, first, drops, second = find("test").file.claim
    assert [first.id, drops.id, second.id] == ["one.throughput", "one.drops", "two.throughput"]
    assert (first.title, first.scenario, first.group, first.published) == ("throughput of one", "one.toml", "One", 14.05)
    assert (drops.tolerance, first.tolerance) == ("5%", "3%")
    assert (second.scenario, second.published) == ("two.toml", 15)


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("drops = 74", 'drops = "many"', r"claim\.one\.drops\.published"),
        ("throughput = 15 ", "throughput = 15, losses = 74 ", r"claim\.two\.throughput\.losses"),
        ('"one.drops"]', '"two.drops"]', r"claim\.cells: found two\.drops"),
        ('one = { group = "One", throughput = 14.05, drops = 74 }', "one = 14.05", r"claim\.rows: expected fields by name"),
    ],
)
def test_tables_are_read_strictly(tmp_path, before, after, place):
    assert before in TABLE
    (tmp_path / "claims.toml").write_text(CLAIMS + TABLE.replace(before, after, 1))
    with pytest.raises(StoreError, match=place):
        Study.read(tmp_path)


def test_generated_traces_are_written_once_and_are_a_function_of_their_values(study, tmp_path):
    trace = '[traces]\n"service.trace" = { model = "poisson", rate = 1.2, seconds = 20, seed = 3 }\n'
    (study.folder / "claims.toml").write_text(CLAIMS.replace("[[claim]]", trace + "[[claim]]", 1))
    path = study.folder / "service.trace"
    Bench(find("test"), tmp_path / "out")
    times = [int(line) for line in path.read_text().splitlines()]
    assert times == sorted(times)
    # 20 s at 1.2 Mbps are 1995 opportunities of 1504 bytes on average, with a standard deviation of
    # 45.
    assert abs(len(times) - 1995) < 4 * 45
    before = path.stat().st_mtime_ns
    Bench(find("test"), tmp_path / "out")
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ('source = "a page"\nunit', 'sauce = "a page"\nunit', r"claim\.throughput\.sauce"),
        ('tolerance = "3%"', 'tolerance = "3 percent"', r"claim\.throughput\.tolerance"),
        ("flows.mean_throughput_l4", "throughput", r"claim\.throughput\.metric"),
        ('id = "drops"', 'id = "throughput"', "more than once"),
        ("higher_than = 10", "lower_than = 1, higher_than = 10", r"claim\.drops\.direction"),
        ("seeds = 4", "seeds = ", "expected TOML"),
    ],
)
def test_claims_are_read_strictly(tmp_path, before, after, place):
    assert before in CLAIMS
    (tmp_path / "claims.toml").write_text(CLAIMS.replace(before, after, 1))
    with pytest.raises(StoreError, match=place):
        Study.read(tmp_path)


@pytest.mark.parametrize("claim", ["claim = 3", 'claim = ["a"]', "claim = [[1]]", "[claim]"])
def test_claims_are_a_list_of_tables(tmp_path, claim):
    (tmp_path / "claims.toml").write_text(f'title = "T"\nquestion = "Q"\n{claim}\n')
    with pytest.raises(StoreError, match=r"claim: found .*, expected tables"):
        Study.read(tmp_path)


def test_the_studies_of_the_user_stand_beside_the_built_in_ones(study):
    assert find("test").folder == study.folder
    assert find("ack_compression").origin == "built-in"
    assert find("test").origin == "studies"
    assert Source.of("ack_compression/experiment_55.toml").text


def test_a_study_of_the_user_replaces_the_built_in_one_of_its_name(study):
    shutil.copytree(study.folder, study.folder.parent / "ack_compression")
    assert find("ack_compression").file.title == "Test"
    assert [one.origin for one in discover() if one.name == "ack_compression"] == ["studies"]


def test_a_broken_study_is_named_and_skipped(study, capsys):
    (study.folder / "claims.toml").write_text("title = ")
    broken: list[StoreError] = []
    assert "parity" in [one.name for one in discover(broken.append)]
    assert [str(fault).split(":")[0] for fault in broken] == [str(study.folder / "claims.toml")]
    studies_command()
    output = capsys.readouterr()
    assert "parity" in output.out
    assert "skipped: " in output.err
    assert "studies/test/claims.toml" in output.err


def test_a_new_study_runs_and_its_rules_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new_study("mine")
    result = run_study(find("mine"), tmp_path / "out", quick=True, quiet=True)
    # The rules of the template follow from its link: payload per packet times the rate of the link,
    # and the delay with a full queue.
    assert [finding.verdict for finding in result.findings] == ["reproduced", "reproduced"]
    with pytest.raises(UsageError, match="exists"):
        new_study("mine")


@pytest.mark.parametrize("name", ["", "Mine", "../mine", "a b", "1st"])
def test_names_of_new_studies_are_names_of_folders(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="expected a name of lower-case letters"):
        new_study(name)


def test_metrics_name_what_they_do_not_find(fake, scenario):
    result = run(scenario)
    assert Metric.parse("links[btl_forward].total_qdisc_drops_l2").of(result) == 74
    assert Metric.parse("flows.mean_srtt_l4").unit(result) == "ms"
    total = sum(result.table("links")["total_qdisc_drops_l2"])
    assert Metric.parse("links[*].total_qdisc_drops_l2").of(result) == total
    share = Metric.parse("links[btl_forward].total_qdisc_drops_l2 / links[*].total_qdisc_drops_l2")
    assert (share.of(result), share.unit(result)) == (74 / total, None)
    with pytest.raises(UsageError, match="no column 'x'"):
        Metric.parse("flows.x").of(result)
    with pytest.raises(UsageError, match="expected one of: btl_forward, btl_reverse"):
        Metric.parse("links.total_qdisc_drops_l2").of(result)


def test_findings_survive_a_round_trip():
    finding = Finding("a", "b", "c", "", 1.0, 2.0, math.nan, math.nan, "3%", "reproduced", 2.0, 1, "flows.x", "acklab run x")
    assert repr(Finding(**Finding.with_nan(json.loads(json.dumps(finding.to_dict()))))) == repr(finding)


def test_the_studies_of_this_project_are_well_formed():
    studies = {study.name: study for study in discover()}
    assert {"ack_compression", "ack_policies", "parity"} <= set(studies)
    for study in studies.values():
        assert study.readme.startswith("# ")
        for claim in study.file.claim:
            assert claim.measured_by_study or (study.folder / claim.scenario).is_file()


def test_readmes_show_the_figures_that_their_studies_name():
    for study in discover():
        shown = re.findall(r"^!\[.+\]\(figures/(.+)\.svg\)$", study.readme, re.M)
        assert shown == list(study.file.figures), study.name
        assert {path.stem for path in study.folder.glob("figures/*")} == set(shown), study.name
        for name in shown:
            picture = study.picture(name)
            assert picture.stat().st_size <= 80_000, f"{picture}: every version of it stays in the repository"
            assert ET.parse(picture).getroot().tag.endswith("svg")


def test_figures_are_named_strictly(tmp_path):
    for before, place in (
        ("section = 1", r"figures\.links\.section"),
        ('section = "One", number = 0', r"figures\.links\.number"),
    ):
        (tmp_path / "claims.toml").write_text(CLAIMS.replace("[[claim]]", f"[figures]\nlinks = {{ {before} }}\n\n[[claim]]", 1))
        with pytest.raises(StoreError, match=place):
            Study.read(tmp_path)


def test_undecided_claims_get_more_seeds_and_the_others_none(fake, study, tmp_path):
    """The tolerance ends in the middle of the seeds' values, so four seeds cannot decide."""
    near = CLAIMS.replace('tolerance = "3%"', 'tolerance = "at least"')
    (study.folder / "claims.toml").write_text(near)
    few = run_study(find("test"), tmp_path / "out", quiet=True)
    assert [finding.verdict for finding in few.findings] == ["undecided", "same direction"]
    assert fake.runs == 8
    many = run_study(find("test"), tmp_path / "out", quiet=True, most_seeds=16)
    assert [finding.seeds for finding in many.findings] == [16, 4]
    assert fake.runs == 20, "twelve more of the undecided claim"
    # Looks after 4, 8 and 16 seeds: the last one has half of the error, so its interval has a
    # confidence of 97.5 %.
    bench = Bench(find("test"), tmp_path / "out" / "test", quiet=True)
    (points,) = bench.replicas([("one.toml", [])], [16])
    values = [result.flows["mean_throughput_l4"][0] for result in bench.results(points)]
    assert many.findings[0].low == pytest.approx(mean_interval(values, 0.975).low)


def test_per_seed_returns_the_column_of_one_setting_in_the_order_of_the_seeds():
    runs = pl.DataFrame({"link": ["b", "g", "b"], "sender": ["TCP"] * 3, "seed": [2, 1, 1], "acks": [7, 9, 5]})
    # Of the link b, seed 1 has 5 ACKs and seed 2 has 7, as floating-point numbers.
    assert per_seed(runs, "acks", link="b", sender="TCP") == [5.0, 7.0]
    assert per_seed(runs, "acks", link="b", sender="TACK") == []


def test_differences_are_taken_seed_by_seed():
    # 3 − 1 and 5 − 4.
    assert differences([3.0, 5.0], [1.0, 4.0]) == [2.0, 1.0]
    # Two runs and one run have no difference per seed.
    with pytest.raises(ValueError, match="zip"):
        differences([3.0, 5.0], [1.0])
