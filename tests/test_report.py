"""A report is one file that holds everything it needs, and its figures draw."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import plotly.graph_objects as go
import polars as pl
import pytest

from acklab import figures
from acklab.errors import StoreError
from acklab.report import Document, Figure, Section, Table, render, write_report
from acklab.verdict import Finding

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
    without_library = re.sub(r"<script>.*?</script>", "", html, count=1, flags=re.S)
    assert not re.search(r"""(src|href)=["'](https?:)?//""", html.split("<body>")[0][:2000])
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", without_library)
    assert html.count("plotly.js v") == 1
    assert "a &lt;title&gt;" in html


def test_a_document_survives_a_round_trip(tmp_path):
    DOCUMENT.write(tmp_path)
    read = Document.read(tmp_path)
    assert read.to_dict() == DOCUMENT.to_dict()
    assert render([read]) == render([DOCUMENT])
    (tmp_path / "report.json").write_text(json.dumps({"format": 1, "name": "s"}))
    with pytest.raises(StoreError, match="does not fit"):
        Document.read(tmp_path)


def test_the_best_value_is_marked():
    row = re.search(r"<tr><td class=\"\">m</td>.*?</tr>", render([DOCUMENT]))
    assert row is not None
    assert row[0].count("best") == 1
    assert 'class="num best">1<' in row[0]


def test_comparison_leaves_out_what_has_no_ratio():
    zero = Finding("s.z", "zero", "", "", 0.0, 0.0, 0.0, 0.0, "1", "reproduced", 0.0, 3, "flows.x", "")
    drawn = figures.comparison([CLAIM, zero])
    assert list(drawn.data[0].y) == ["a <title>"]


def drawn_by_a_browser(page: Path) -> str:
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom")
    words = ["chromium", *options, f"file://{page}"]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout


needs_a_browser = pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a browser")


@needs_a_browser
def test_figures_draw_in_a_browser(tmp_path: Path):
    (tmp_path / "s").mkdir()
    DOCUMENT.write(tmp_path / "s")
    dom = drawn_by_a_browser(write_report(tmp_path))
    assert dom.count('class="main-svg"') >= 1
    assert 'data-ground="' in dom


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
    click = f"const plot = document.querySelector('.plot'); plot.emit('plotly_click', {{ points: [{point}] }});"
    page.write_text(f"{page.read_text()}<script>setTimeout(() => {{ {click} }}, 1000);</script>")
    assert f'<code class="command">{command}</code>' in drawn_by_a_browser(page)


def test_gauges_are_well_formed():
    for picture in re.findall(r"<svg class=\"gauge.*?</svg>", render([DOCUMENT])):
        ET.fromstring(picture)
