"""A report is one file that holds everything it needs, and its figures draw."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import plotly.graph_objects as go
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


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a browser")
def test_figures_draw_in_a_browser(tmp_path: Path):
    (tmp_path / "s").mkdir()
    DOCUMENT.write(tmp_path / "s")
    page = write_report(tmp_path)
    words = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=20000",
        "--dump-dom",
        f"file://{page}",
    ]
    dom = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout
    assert dom.count('class="main-svg"') >= 1
    assert 'data-ground="' in dom


def test_gauges_are_well_formed():
    for picture in re.findall(r"<svg class=\"gauge.*?</svg>", render([DOCUMENT])):
        ET.fromstring(picture)
