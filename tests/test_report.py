"""A report is one file with all its parts, and its figures are drawn."""

import base64
import gzip
import importlib.util
import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import plotly.graph_objects as go
import polars as pl
import pytest

import acklab
from acklab import figures
from acklab.errors import StoreError, UsageError
from acklab.report import Document, Figure, Section, Table, collect, render, write_report
from acklab.studies import StudyResult, find
from acklab.verdict import BOUNDS, Finding
from browser import needs_a_browser, page_in_a_browser

CLAIM = Finding(
    "s.a",
    "a <title>",
    "a page",
    "Mbps",
    14.0,
    14.2,
    14.1,
    14.3,
    "3%",
    "reproduced",
    14.2,
    3,
    "flows.x",
    "acklab run x",
    "because",
    "Flow",
)
DOCUMENT = Document(
    name="s",
    title="A study",
    revision="abc",
    version="0.0.0",
    question="Why?",
    readme="# A study\n\n## Question\n\nText with `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    seeds=3,
    findings=(CLAIM,),
    sections=(
        Section(
            "Figures",
            "Words.",
            [
                Figure(go.Figure(go.Scatter(x=[1, 2], y=[1, 2], name="</script>")), "a figure", ["acklab run a"]),
                Table(["metric", "unit", "one", "two"], [["m", "ms", "1", "2"]], "a table", frozenset({(0, 2)}), numeric_from=2),
            ],
        ),
    ),
)


def test_a_report_needs_no_network():
    html = render([DOCUMENT])
    assert not re.search(r"""(src|href)=["'](https?:)?//""", html.split("<body>")[0][:2000])
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", html)
    (library,) = re.findall(r'id="plotly" data-packed>(.*?)</script>', html)
    assert "plotly.js v" in gzip.decompress(base64.b64decode(library)).decode()[:400]
    assert "a &lt;title&gt;" in html


def test_a_document_survives_a_round_trip(tmp_path):
    DOCUMENT.write(tmp_path)
    read = Document.read(tmp_path)
    assert read.to_dict() == DOCUMENT.to_dict()
    assert render([read]) == render([DOCUMENT])


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["format"], 2, "format: found 2, expected 1"),
        (["title"], None, "title: found None, expected text"),
        (["seeds"], "three", "seeds: found 'three', expected a whole number"),
        (["colour"], "red", "colour: found no such key"),
        (["sections"], 3, "sections: found 3, expected a list"),
        (["findings", 0], 3, "findings.0: found 3, expected a table"),
        (["findings", 0, "measured"], "much", "findings.0.measured: found 'much', expected a number"),
        (["findings", 0, "published"], None, "findings.0: published: found nan, expected a finite number"),
        (["findings", 0, "verdict"], "fine", "findings.0: verdict: found 'fine', expected one of reproduced"),
        (["findings", 0, "kind"], "rumour", "findings.0: kind: found 'rumour', expected one of paper, parity, own"),
        (["findings", 0, "tolerance"], "3 %%", "findings.0: tolerance '3 %%': expected a share such as"),
        (["sections", 0, "items", 0, "kind"], "map", "sections.0.items.0: found 'map', expected 'table', 'figure'"),
        (["sections", 0, "items", 0, "figure", "layout", "height"], "high", "layout.height: found 'high', expected a number"),
        (["sections", 0, "items", 1, "rows", 0, 1], 5, "sections.0.items.1.table.rows.0.1: found 5, expected text"),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, list) else "",
)
def test_a_damaged_document_is_refused_with_its_place(tmp_path, place, value, message):
    DOCUMENT.write(tmp_path)
    path = tmp_path / "report.json"
    values = json.loads(path.read_text())
    within = values
    for key in place[:-1]:
        within = within[key]
    within[place[-1]] = value
    path.write_text(json.dumps(values))
    with pytest.raises(StoreError, match=re.escape(f"{path}: ") + ".*" + re.escape(message)):
        Document.read(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found damaged JSON (Expecting value: line 1 column 1 (char 0)), expected the report of a study"),
        ('{"a":' * 10_000, "found damaged JSON (maximum recursion depth exceeded"),
        ("[]", "found a value of type list, expected the report of a study"),
        ("{}", "format: found None, expected 1"),
        (
            '{"format": 1}',
            "required key `name` is missing; required key `title` is missing; required key `question` is missing; and 6 more; expected",
        ),
    ],
)
def test_what_is_no_document_is_refused(tmp_path, text, message):
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(StoreError, match=re.escape(f"{path}: {message}")):
        Document.read(tmp_path)


def test_the_best_value_is_marked():
    row = re.search(r"<tr><td class=\"name\">m</td>.*?</tr>", render([DOCUMENT]))
    assert row is not None
    assert row[0].count("best") == 1
    assert 'class="num best">1<' in row[0]


def test_a_comparison_omits_metrics_without_a_ratio():
    zero = Finding("s.z", "zero", "", "", 0.0, 0.0, 0.0, 0.0, "1", "reproduced", 0.0, 3, "flows.x", "")
    drawn = figures.comparison([CLAIM, zero])
    assert list(drawn.data[0].y) == ["a <title>"]


def test_the_bar_of_a_bound_ends_with_the_farthest_number():
    bound = replace(CLAIM, title="bound", tolerance="at least", measured=21.0)
    bars = figures.comparison([CLAIM, bound]).data[0]
    assert dict(zip(bars.y, zip(bars.base, bars.x, strict=True), strict=True))["bound"] == (0, 50)


def air(exchanges: int) -> pl.DataFrame:
    """Returns exchanges of data and ACK at intervals of a millisecond.

    The third collides with a TCP ACK.
    """
    rows = []
    for number in range(exchanges):
        start, collides = 0.001 * number, number == 2
        data = {"duration": 500.0, "node": "ap", "to": "sta", "kind": "data", "mpdus": 4, "octets": 6176, "mode": "HT MCS 7"}
        rows.append({"time": start, "fate": "collided" if collides else "answered"} | data)
        ack = {"duration": 28.0, "node": "sta", "to": "ap", "mpdus": 1, "octets": 14, "mode": "OFDM 24 Mbps"}
        if collides:
            rows.append({"time": start, "fate": "collided", "kind": "tcp_ack"} | ack)
        else:
            rows.append({"time": start + 0.000516, "fate": "received", "kind": "ack"} | ack)
    return pl.DataFrame(rows)


def test_bars_stand_in_groups_with_stars_where_a_number_was_published():
    rows = [("one", "stock", 19.0, 18.5, 19.5), ("one", "HACK", 25.0, None, None), ("both", "stock", 19.2, 18.9, 19.5)]
    cells = pl.DataFrame(rows, schema=["clients", "scheme", "mean", "low", "high"], orient="row")
    drawn = figures.bars(cells, "clients", "scheme", "Mbps", published={("one", "HACK"): 25.5, ("both", "HACK"): 26.0})
    bars, stars = ([trace for trace in drawn.data if trace.type == kind] for kind in ("bar", "scatter"))
    assert [(trace.name, list(trace.x), list(trace.error_y.array)) for trace in bars] == [
        ("stock", ["one", "both"], [0.5, pytest.approx(0.3)]),
        ("HACK", ["one"], [0.0]),
    ]
    assert [(trace.offsetgroup, list(trace.x), list(trace.y)) for trace in stars] == [("HACK", ["one"], [25.5])]


def test_the_air_has_a_lane_a_node_and_a_bar_a_ppdu():
    drawn = figures.air_timeline(air(10))
    bars = {trace.name: trace for trace in drawn.data}
    assert list(bars) == ["data", "TCP ACK", "ACK", "collided"]
    assert drawn.layout.yaxis.categoryarray == ("sta", "ap")
    assert (len(bars["data"].x), len(bars["TCP ACK"].x), len(bars["ACK"].x)) == (10, 1, 9)
    assert (bars["data"].base[3], bars["data"].x[3]) == pytest.approx((3.0, 0.5))
    assert (bars["ACK"].base[0], bars["ACK"].x[0]) == pytest.approx((0.516, 0.028))
    assert [number for number, shape in enumerate(bars["data"].marker.pattern.shape) if shape] == [2]
    assert [number for number, width in enumerate(bars["data"].marker.line.width) if width] == [2]
    assert bars["TCP ACK"].marker.line.color[0] == bars["collided"].marker.line.color
    assert list(bars["data"].customdata[0][:4]) == ["sta", 500.0, 4, 6176]


def test_of_a_long_run_a_part_of_the_air_is_drawn():
    table = air(10_000)
    drawn = figures.air_timeline(table, window=(5.0, 5.01), at_most=400)
    starts = sorted(start for trace in drawn.data if trace.base is not None for start in trace.base)
    assert (len(starts), drawn.layout.xaxis.range) == (400, (5000.0, 5010.0))
    assert starts[-1] > 5010
    assert starts[99] < 5000 <= starts[100]
    assert drawn.layout.annotations[0].text == "PPDUs 9901 to 10300 of 20000"
    first = figures.air_timeline(table, at_most=400)
    assert first.layout.annotations[0].text == "PPDUs 1 to 400 of 20000"
    start, end = first.layout.xaxis.range
    assert -0.5 < start < 0
    assert 19.5 < end < 20.5


def drawn_by_a_browser(page: Path, until: str = "document.querySelector('.main-svg')") -> str:
    dom: str = page_in_a_browser(page, until)
    return dom


@needs_a_browser
def test_figures_draw_in_a_browser(tmp_path: Path):
    (tmp_path / "s").mkdir()
    DOCUMENT.write(tmp_path / "s")
    dom = drawn_by_a_browser(write_report(tmp_path))
    assert dom.count('class="main-svg"') >= 1
    assert 'data-ground="' in dom


@needs_a_browser
def test_a_large_figure_is_packed_and_drawn(tmp_path: Path):
    large = Figure(go.Figure(go.Scatter(x=list(range(20_000)), y=[2] * 20_000, name="unpacked </script>")), "many points")
    document = replace(DOCUMENT, sections=(Section("Large", items=[large]),))
    page = tmp_path / "report.html"
    page.write_text(render([document]))
    plain = len(large.figure.to_json())
    assert page.stat().st_size < len(render([DOCUMENT])) + 0.6 * plain
    dom = drawn_by_a_browser(page)
    assert dom.count('class="main-svg"') >= 1
    assert "19999" in dom


@needs_a_browser
def test_figures_in_view_are_drawn_when_the_page_has_loaded(tmp_path: Path):
    """Browsers take the picture of a page when the page has loaded."""
    (tmp_path / "s").mkdir()
    DOCUMENT.write(tmp_path / "s")
    drawn = "document.querySelectorAll('.js-plotly-plot .main-svg').length > 0"
    assert page_in_a_browser(write_report(tmp_path), "true", drawn) is True


@needs_a_browser
def test_a_telephone_shows_whole_legends_below_their_figures_and_all_numbers(tmp_path: Path):
    uses = ("data", "transport_ack", "link_ack", "compressed_ack", "interframe_space", "backoff", "collision", "lost", "idle")
    shares = Figure(figures.air_shares({"cell": dict.fromkeys(uses, 1 / 9)}), "Airtime by use")
    table = Table(["metric", "unit", "down"], [["mean_return_utilization_l1", "packets", "12 345"]], "Flows")
    page = tmp_path / "report.html"
    page.write_text(render([replace(DOCUMENT, sections=(Section("Figures", items=[shares, table]),))]))
    found = """(() => {
        const box = (query) => document.querySelector(query).getBoundingClientRect();
        const entries = [...document.querySelectorAll(".legend .traces")].map((entry) => entry.getBoundingClientRect());
        const frame = box(".legend .bg");
        return {
            below: frame.top >= box(".xtitle").bottom,
            whole: entries.length === 9 && entries.every((entry) => entry.bottom <= frame.bottom + 1 && entry.top >= frame.top - 1),
            bar: [...document.querySelectorAll(".legend .scrollbar")].every((bar) => bar.getBoundingClientRect().height === 0),
            ticks: [...document.querySelectorAll(".xtick text")].map((tick) => tick.textContent),
            width: document.documentElement.scrollWidth,
            number: document.querySelector("td.num").getBoundingClientRect().right,
        };
    })()"""
    shown_there = page_in_a_browser(page, "document.querySelector('.legend .traces')", found, height=900, width=390)
    assert shown_there["below"], "above, the buttons of the figure cover it"
    assert (shown_there["whole"], shown_there["bar"]) == (True, True)
    assert "100 %" in shown_there["ticks"]
    assert (shown_there["width"], shown_there["number"] <= 390) == (390, True), "names are broken, numbers are seen"


@needs_a_browser
def test_what_is_out_of_view_costs_nothing_and_is_printed(tmp_path: Path):
    above = [Section(f"Table {number}", items=[Table(["a"], [["1"]] * 300)]) for number in range(20)]
    page = tmp_path / "report.html"
    page.write_text(render([replace(DOCUMENT, sections=(*above, *DOCUMENT.sections))]))
    laid_out = (
        "[...document.querySelectorAll('section.part > h2')].map((head) => head.checkVisibility({ contentVisibilityAuto: true }))"
    )
    # Some frames were drawn, and all parts are unpacked.
    ready = (
        "performance.now() > 1000 && [...document.querySelectorAll('script[data-packed]')].every((script) => texts.has(script))"
    )
    shown, started = page_in_a_browser(page, ready, f"[{laid_out}, 'Plotly' in window]", height=800)
    assert (shown[0], shown[-1], started) == (True, False, False)
    printed = f"{ready} && (dispatchEvent(new Event('beforeprint')), document.querySelector('.main-svg'))"
    assert page_in_a_browser(page, printed, "document.querySelectorAll('.js-plotly-plot').length", height=800) == 1


def test_nodes_of_cells_are_told_apart_and_tables_without_rows_left_out(fake, scenario, tmp_path: Path):
    run = acklab.run(scenario)
    flows = run.flows.with_columns(mean_in_flight_l4=10.0)
    names = {"cell": ["one", "one", "two"], "node": ["ap", "sta", "ap"]}
    stations = pl.DataFrame(names | {"total_ppdus_l2": [7, 8, 9]})
    airtime = pl.DataFrame(names | {"use": ["data", "link_ack", "idle"], "time": [1, 2, 3], "share": [0.1, 0.2, 1.0]})
    tables = {"flows": flows, "links": run.links.clear(), "stations": stations, "airtime": airtime}
    replace(run, tables=dict(run.tables) | {name: frame.to_arrow() for name, frame in tables.items()}).save(tmp_path / "run")
    html = write_report(tmp_path / "run").read_text()
    for head in ("one ap", "one sta", "two ap"):
        assert re.search(rf"<th[^>]*>{head}</th>", html)
    assert "Time on the air" in html
    assert "btl_forward" not in html


@needs_a_browser
def test_the_report_of_a_run_shows_the_air(fake, scenario, tmp_path: Path):
    run = acklab.run(scenario)
    flows = run.flows.with_columns(mean_in_flight_l4=10.0)
    replace(run, tables={**run.tables, "flows": flows.to_arrow(), "air": air(10).to_arrow()}).save(tmp_path / "run")
    html = write_report(tmp_path / "run").read_text()
    assert "<figcaption>PPDUs on the air</figcaption>" in html
    dom = drawn_by_a_browser(tmp_path / "run" / "report.html")
    # Nine bars of data, and the bar that collided, which is the only one with a pattern.
    assert dom.count('class="point"') >= 19
    assert "<pattern" in dom


@needs_a_browser
def test_a_click_on_a_cell_tells_its_command(tmp_path: Path):
    command = f"acklab run 'a b' {'--set x=1 ' * 20}--seed 1"
    cell = {"x": "a", "y": "b", "mean": 2.0, "low": 1.5, "high": 2.7, "count": 3, "command": command}
    figure = figures.ratio_map(pl.DataFrame([cell]), "x", "y", "ratio", commands="command")
    (tmp_path / "s").mkdir()
    document = replace(DOCUMENT, sections=(Section("Cells", items=[Figure(figure, "cells")]),))
    document.write(tmp_path / "s")
    page = write_report(tmp_path)
    point = "{ data: plot.data[0], customdata: plot.data[0].customdata[0][0] }"
    drawn = "document.querySelector('.plot')?._ev?.listenerCount('plotly_click')"
    click = f"(() => {{ const plot = document.querySelector('.plot'); plot.emit('plotly_click', {{ points: [{point}] }}); }})()"
    shown_there = "document.querySelector('figure > .command').textContent"
    assert page_in_a_browser(page, drawn, f"{click} ?? {shown_there}") == command


def test_gauges_are_well_formed():
    bounds = [
        replace(CLAIM, tolerance=bound, measured=measured) for bound in BOUNDS for measured in (CLAIM.published, math.nan, 1e3)
    ]
    page = render([DOCUMENT, replace(DOCUMENT, findings=bounds)])
    pictures = re.findall(r"<svg class=\"gauge.*?</svg>", page)
    assert len(pictures) == len(DOCUMENT.findings) + len(bounds)
    for picture in pictures:
        assert all(math.isfinite(float(part.get("width", 0))) for part in ET.fromstring(picture))
    assert "<i>at least</i>" in page


@needs_a_browser
@pytest.mark.parametrize(("ending", "head"), [("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG"), ("html", b"<!doc")])
def test_figures_are_saved(tmp_path: Path, ending, head):
    pytest.importorskip("kaleido")
    drawn = figures.bars(pl.DataFrame({"x": ["a"], "s": ["b"], "mean": [1.0], "low": [0.9], "high": [1.1]}), "x", "s", "Mbps")
    assert figures.save(drawn, tmp_path / f"figure.{ending}").read_bytes()[:5].startswith(head[:5])
    with pytest.raises(UsageError, match="expected"):
        figures.save(drawn, tmp_path / "figure.doc")


def profile(values: list[str]) -> go.Figure:
    rows = [(value, seed, "a", 1.0 + seed) for value in values for seed in (1, 2, 3)]
    frame = pl.DataFrame(rows, schema=["x", "seed", "flow", "mbps"], orient="row")
    return figures.profiles(frame, "x", "flow", "mbps", "Mbps", "x")


def test_a_line_joins_numbers_in_their_order_and_no_categories():
    band, line = profile(["5ms", "1ms", "10ms"]).data
    assert band.mode == "lines", "the corners of the band are no points"
    assert (line.mode, list(line.x)) == ("lines+markers", [1.0, 5.0, 10.0])
    (dots,) = profile(["cubic", "newreno"]).data
    assert (dots.mode, list(dots.x)) == ("markers", ["cubic", "newreno"])
    assert min(dots.error_y.array) > 0
    assert profile(["1ms", "100ms"]).layout.xaxis.type == "log"


def test_several_studies_have_an_overview():
    page = render([DOCUMENT, replace(DOCUMENT, title="Another")])
    overview = page.split("overview")[1].split("</table>")[0]
    assert re.findall(r">([^<>]+)</a>", overview) == ["A study", "Another"]
    assert "overview" not in render([DOCUMENT]).split("</head>")[1]


def test_headers_have_a_scope_and_figures_a_text():
    page = render([DOCUMENT]).split("</head>")[1]
    assert len(re.findall("<th[ >]", page)) == page.count('scope="col"') + page.split('class="readme part"')[1].split("</table>")[
        0
    ].count("<th>")
    assert 'role="img" aria-label="a figure"' in page


def test_long_tables_can_be_filtered():
    table = Table(["a", "n"], [[str(row), str(row)] for row in range(13)], left_out=7960)
    page = render([replace(DOCUMENT, sections=(Section("Long", items=[table]),))])
    assert 'class="filter"' in page
    assert "… 7,960 more rows" in page
    assert 'class="filter"' not in render([DOCUMENT])


def test_names_are_not_broken_and_sentences_have_room():
    sentence = "as the sender asks: 4 in a round trip, 2 to 256 packets"
    table = Table(["policy", "an ACK", "of", "ratio"], [["per-packet", sentence, "a few of the paths", "1.18"]], numeric_from=3)
    page = render([replace(DOCUMENT, sections=(Section("Names", items=[table]),))])
    cells = re.findall(r'<td class="([^"]*)">([^<]*)</td>', page.split("</head>")[1])
    assert cells == [("name", "per-packet"), ("sentence", sentence), ("", "a few of the paths"), ("num", "1.18")]


@pytest.fixture
def scorecard(tmp_path, monkeypatch):
    """Returns the script with its own output folder."""
    spec = importlib.util.spec_from_file_location("scorecard", Path(__file__).parents[1] / "scripts" / "scorecard.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "discover", lambda: [])
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("Beside ours: <!-- scorecard -->none\nyet<!-- end -->. More.\n")
    return module


def test_the_scorecard_has_every_claim_and_the_reason_of_those_that_fail(tmp_path, scorecard):
    failed = replace(
        CLAIM, id="s.b", title="another", verdict="not reproduced", note="for a reason", seeds=20, side="more than 3"
    )
    replace(DOCUMENT, findings=(CLAIM, failed)).write(tmp_path / "out" / "s")
    scorecard.main(tmp_path / "out")
    page = (tmp_path / "docs" / "scorecard.md").read_text()
    assert "1 of 2 reproduced, by revision `abc`" in page
    assert "| Flow: a <title> | 14 | 14.20 | 14.10 … 14.30 | 3 | Mbps | 3% |  | reproduced |" in page
    assert "| 20 | Mbps | 3% | more than 3 | not reproduced |" in page
    assert "| 3 to 20 | 2 | 1 | 0 | 1 | 0 | 0 |" in page
    assert "* *another:* for a reason" in page
    assert f"| {CLAIM.source} | {DOCUMENT.title} | 2 | 1 |" in page
    assert "because" not in page
    count = "1 of 2 published results are reproduced, 0 of them with settings fitted to the paper"
    assert (tmp_path / "README.md").read_text() == f"Beside ours: <!-- scorecard -->{count}<!-- end -->. More.\n"


def test_the_scorecard_tells_papers_from_parity_and_counts_a_statement_once(tmp_path, scorecard):
    reading = replace(CLAIM, id="s.b", title="the same otherwise", verdict="not reproduced", reading_of="s.a", note="lost")
    parity = replace(CLAIM, id="s.c", source="ns-3 3.37 on the same path", fitted="by hand")
    own = replace(CLAIM, id="s.d", source="none: what we hold ourselves to", verdict="undecided")
    replace(DOCUMENT, findings=(parity, own, reading, CLAIM)).write(tmp_path / "out" / "s")
    scorecard.main(tmp_path / "out")
    page = (tmp_path / "docs" / "scorecard.md").read_text()
    assert (
        "1 of 1 published reproduced; 1 of 1 of parity reproduced, 1 of them with settings fitted to the source; "
        "0 of 1 of our own reproduced, 1 undecided (more seeds), by revision" in " ".join(page.split())
    )
    places = [page.index(f"## {title}") for title in scorecard.KIND_TITLES.values()]
    assert places == sorted(places)
    # The alternative reading follows the claim that counts, whatever its place in the document.
    lines = page.splitlines()
    counted = next(row for row, line in enumerate(lines) if line.startswith("| Flow: a <title> |") and "fitted" not in line)
    below = next(row for row, line in enumerate(lines) if line.startswith("| ↳ Flow: the same otherwise |"))
    assert lines[below - 1].startswith("| Flow: a <title> |")
    assert counted < below
    assert "* *fitted (1: a <title>):* by hand" in page


def test_the_scorecard_refuses_results_of_several_revisions(tmp_path, scorecard):
    DOCUMENT.write(tmp_path / "out" / "s")
    replace(DOCUMENT, name="t", revision="def").write(tmp_path / "out" / "t")
    with pytest.raises(SystemExit, match=r"2 revisions of the core \(abc in s; def in t\)"):
        scorecard.main(tmp_path / "out")
    assert not (tmp_path / "docs" / "scorecard.md").exists()


def test_the_scorecard_names_studies_that_are_missing_or_had_few_seeds(tmp_path, scorecard, monkeypatch):
    few, missing = (
        replace(find(name), file=find(name).file.model_copy(update={"claim": ()})) for name in ("hack_limits", "parity")
    )
    monkeypatch.setattr(scorecard, "discover", lambda: [few, missing])
    monkeypatch.setattr(scorecard, "_as_claimed", lambda document, _: document)
    replace(DOCUMENT, name="hack_limits", seeds=3).write(tmp_path / "out" / "hack_limits")
    scorecard.main(tmp_path / "out")
    page = (tmp_path / "docs" / "scorecard.md").read_text()
    prose = " ".join(page.split())
    assert "no count includes them: [Parity with ns-3 and Linux](../studies/parity/README.md)." in prose
    assert "[Limits of TCP/HACK](../studies/hack_limits/README.md) (3 of 10)" in prose
    assert " (1 of 2 studies)<!-- end -->" in (tmp_path / "README.md").read_text()
    replace(DOCUMENT, name="hack_limits", seeds=10).write(tmp_path / "out" / "hack_limits")
    replace(DOCUMENT, name="parity", seeds=10).write(tmp_path / "out" / "parity")
    (tmp_path / "README.md").write_text("<!-- scorecard -->none<!-- end -->")
    scorecard.main(tmp_path / "out")
    page = (tmp_path / "docs" / "scorecard.md").read_text()
    assert "Some studies are missing" not in page
    assert "fewer seeds" not in page


def test_notes_of_the_scorecard_are_those_of_the_claims_file(tmp_path, scorecard, monkeypatch):
    study = find("hack_limits")
    claims = [claim.model_copy(update={"note": f"now {claim.id}", "fitted": "since"}) for claim in study.file.claim]
    stored = [
        replace(
            CLAIM, id=f"hack_limits.{claim.id}", published=claim.published, tolerance=claim.tolerance, metric=claim.metric,
            verdict="not reproduced", note="stale",
        )
        for claim in claims
    ]  # fmt: skip
    now = replace(study, file=study.file.model_copy(update={"claim": tuple(claims)}))
    monkeypatch.setattr(scorecard, "discover", lambda: [now])
    document = replace(DOCUMENT, name="hack_limits", findings=tuple(stored))
    document.write(tmp_path / "out" / "hack_limits")
    scorecard.main(tmp_path / "out")
    page = (tmp_path / "docs" / "scorecard.md").read_text()
    assert "stale" not in page
    assert all(f"now {claim.id}" in page for claim in claims)
    assert "not reproduced, fitted setting" in page
    # A different published number makes it another claim.
    replace(document, findings=(replace(stored[0], published=1e9), *stored[1:])).write(tmp_path / "out" / "hack_limits")
    with pytest.raises(SystemExit, match=f"other claims than claims.toml has \\({claims[0].id}\\)"):
        scorecard.main(tmp_path / "out")


def test_a_study_shows_itself_in_a_notebook_without_a_network(tmp_path):
    result = StudyResult(find("ack_compression"), tmp_path, (CLAIM,), DOCUMENT)
    page = result._repr_html_()
    assert "a &lt;title&gt;" in page
    assert "1 of 1 reproduced" in repr(result)
    assert not re.search(r"<(script|link)[^>]+(src|href)=", page)


def test_pictures_of_a_readme_are_left_to_the_figures():
    page = render([replace(DOCUMENT, readme="# T\n\nBefore.\n\n![A figure](figures/links.svg)\n\nAfter.\n")])
    assert "Before." in page
    assert "After." in page
    assert "links.svg" not in page


def test_a_large_grid_is_drawn_from_aggregates(fake, scenario, tmp_path):
    grid = {"flow.0.start": [f"{number}ms" for number in range(40)], "flow.0.stop": [f"{number}s" for number in range(40)]}
    acklab.sweep(scenario, grid=grid, out=tmp_path / "large", quiet=True)
    (document,) = collect(tmp_path / "large")
    (section,) = document.to_dict()["sections"]
    tables = [item for item in section["items"] if item["kind"] == "table"]
    assert [(len(table["rows"]), table["left_out"]) for table in tables] == [(500, 1100), (500, 1100)]
    captions = [item["caption"] for item in section["items"] if item["kind"] == "figure"]
    assert captions[:3] == [
        "Throughput [Mbps] along start: median, and 10th to 90th percentile, of all other settings and seeds",
        "Throughput [Mbps] along stop: median, and 10th to 90th percentile, of all other settings and seeds",
        "Throughput [Mbps] over stop and start: median of all other settings and seeds",
    ]
    # The size of the drawing grows with the values of an axis, not with the points.
    assert len(json.dumps(section)) < 400_000
