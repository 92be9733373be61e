"""The documentation runs.

Its Python, every line that begins with `$ acklab`, and scenarios that have a file name.

A block of TOML or Python that begins with `# NAME.toml` or `# NAME.py` is that file. A block that
begins with `# in NAME.toml` is appended to that file and run.
"""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest

import acklab
from browser import needs_a_browser
from commands import acklab as run_command

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    """Yields language and text of the blocks in these languages, in the order of the page."""
    pattern = rf"^```({'|'.join(languages)})\n(.*?)^```"
    return re.findall(pattern, page.read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The folder `out` of all pages: runs of one page are not repeated for the next."""
    return tmp_path_factory.mktemp("out")


@pytest.fixture
def desk(tmp_path, results, monkeypatch):
    """Returns a folder that looks like the project's root to programs that run in it."""
    (tmp_path / "studies").symlink_to(ROOT / "studies")
    (tmp_path / "out").symlink_to(results)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# the README's complete command takes hundreds of runs
@pytest.mark.usefixtures("share_of_ack_policies")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page, desk):
    names: dict[str, object] = {}
    for number, (language, text) in enumerate(blocks(page, "python", "console", "toml")):
        if language == "python":
            if named := re.match(r"# (\S+\.py)\n", text):
                (desk / named[1]).write_text(text, encoding="utf-8")
            exec(compile(text, f"{page.name}, block {number}", "exec"), names)
        elif language == "console":
            printed = ""
            for line in text.splitlines():
                if line.startswith("$ "):
                    printed = command(page, line)
                else:
                    # A line below a command is a part of the command's output.
                    assert squeezed(line) in printed, f"{page.name}: {line!r} was not printed:\n{printed}"
        elif named := re.match(r"# (in )?(\S+\.toml)\n", text):
            added, file = named[1], desk / named[2]
            if added:
                acklab.run(tomllib.loads(file.read_text(encoding="utf-8") + text))
            else:
                file.write_text(text, encoding="utf-8")


NOTEBOOK = """
import plotly.graph_objects as go
from acklab.notebook import page
from acklab.tables import Table

figure = go.Figure(go.Scatter(x=[1, 2], y=[3, 4])).update_layout(height=300)

class Shown:
    def _repr_html_(self):
        return page("A result", "seed 1", [Table(["metric", "flow"], [["rate", "1.0"]], "Flows")], figure=figure)
"""


@needs_a_browser
def test_notebooks_of_the_site_have_their_tables_and_figures_with_an_svg_beside(tmp_path):
    documentation = pytest.importorskip("scripts.documentation", reason="needs what builds the site")
    cells = [nbformat.v4.new_markdown_cell("# A notebook"), *map(nbformat.v4.new_code_cell, (NOTEBOOK, "figure", "Shown()"))]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "book.ipynb")
    documentation._notebook(tmp_path / "book.ipynb", tmp_path / "pages")
    page = (tmp_path / "pages" / "book.md").read_text(encoding="utf-8")
    assert page.startswith("# A notebook")
    assert page.count("class='drawn'") == 2, "the figure of a cell, and that of a result"
    assert "<summary>Flows</summary>" in page
    assert len(page) < 40_000, "without a copy of Plotly"
    pictures = re.findall(r"<noscript><img src='(figures/[^']+)'", page)
    assert len(pictures) == 2
    for picture in pictures:
        assert f"<a href='{picture}'>SVG</a>" in page
        assert (tmp_path / "pages" / picture).read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("protocol", ["tcp", "quic", "tack", "quinn"])
def test_strategies_of_the_guide_run_over_every_transport(protocol, desk):
    """Receivers with a policy run both policies, and all senders run the controller."""
    names: dict[str, Any] = {}
    for _, text in blocks(ROOT / "docs" / "guide" / "strategies.md", "python"):
        exec(compile(text, "strategies.md", "exec"), names)
    every_third, by_bytes, halfway = names["EveryThird"], names["ByBytes"], names["Halfway"]
    scenario = names["scenario"] | {"duration": "3s"}
    for policy in (by_bytes, every_third):
        transport: dict[str, Any] = {"protocol": protocol, "congestion": {"custom": "halfway"}}
        if protocol == "tcp":
            transport["preset"] = "rfc"
        if protocol in ("tcp", "quic"):
            transport["ack"] = {"policy": "custom", "name": "mine"}
        flow = {"from": "src", "to": "dst", "transport": transport}
        result = acklab.run(scenario | {"flow": [flow]}, strategies={"mine": policy, "halfway": halfway})
        assert result.flows["mean_throughput_l4"][0] > 10
        if "ack" in transport:
            assert set(result.acks["reason"]) & {"enough-bytes", "in-order"}


def squeezed(text: str) -> str:
    """Returns a text whose columns do not depend on the width of a terminal."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def command(page: Path, line: str) -> str:
    """Runs a command of a page and returns its output without repeated spaces."""
    arguments = line.removeprefix("$ acklab ")
    assert arguments != line, f"{page.name}: {line}"
    done = run_command(*shlex.split(arguments), cwd=Path.cwd())
    assert done.returncode == 0, f"{page.name}: {line}\n{done.stderr}"
    return squeezed(done.stdout)


@pytest.mark.parametrize(("page", "file"), [("strategies", "own_strategy"), ("transports", "own_transport")])
def test_rust_is_of_the_example(page, file):
    example = (ROOT / "crates" / "lab" / "examples" / f"{file}.rs").read_text(encoding="utf-8")
    shown = blocks(ROOT / "docs" / "guide" / f"{page}.md", "rust")
    assert shown
    for _, text in shown:
        assert text in example


def test_links_lead_somewhere():
    for page in [*PAGES, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page}: {target}"
