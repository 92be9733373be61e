"""Builds the documentation as a site that works offline.

Usage: scripts/documentation.py FOLDER [RESULTS].

The pages are those of docs/, the READMEs of the studies, the Python API from its docstrings, the
commands from their help texts, and a gallery. The gallery has the figures of studies whose results
are in RESULTS (default: out).
"""

import ast
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import plotly.graph_objects as go
import typer
from nbclient import NotebookClient
from plotly.offline import get_plotlyjs

from acklab import cli, figures, keys, notebook, report, statistics, strategies, studies, sweeps
from acklab.cli.main import app
from acklab.figures.saving import on_paper
from acklab.report import Document
from acklab.verdict import KIND_TITLES

ROOT = Path(__file__).resolve().parents[1]
MODULES = (figures, statistics, strategies, report, studies, sweeps)
_PLOTLY = "application/vnd.plotly.v1+json"
PER_STUDY = 3
"""Maximum number of figures of each study in the gallery."""
_LEAST_WIDTH = 320
"""Width in pixels of a panel below which a figure scrolls by default."""
_STYLE = """
.md-typeset figure.plot { width: 100%; text-align: left; }
.md-typeset .scrolls { overflow-x: auto; }
.md-typeset figure.plot figcaption { max-width: none; margin: .4em 0 2em; }
.md-typeset .js-plotly-plot svg { max-width: none; }
"""
"""Style of figures.

The theme makes pictures as wide as a page, which would distort the layers of a Plotly figure.
"""

CONFIG = """
site_name: acklab
site_description: A laboratory for the acknowledgements of transport protocols
docs_dir: {pages}
site_dir: {site}
use_directory_urls: false
theme:
  name: material
  font: false
  features: [navigation.tabs, navigation.top, content.code.copy, toc.follow, search.highlight]
  palette:
    - {{ media: "(prefers-color-scheme: light)", scheme: default, primary: indigo, toggle: {{ icon: material/weather-night, name: Dark }} }}
    - {{ media: "(prefers-color-scheme: dark)", scheme: slate, primary: indigo, toggle: {{ icon: material/weather-sunny, name: Light }} }}
plugins:
  - search
  - offline
  - mkdocstrings:
      handlers:
        python:
          paths: [{python}]
          options: {{ show_source: false, show_root_heading: true, heading_level: 2, members_order: source, docstring_style: google }}
markdown_extensions: [tables, fenced_code, sane_lists, attr_list, md_in_html, toc, pymdownx.highlight, pymdownx.superfences]
validation: {{ links: {{ not_found: ignore, unrecognized_links: ignore }} }}
nav:
  - Home: index.md
  - Guide: {guide}
  - Notebooks: {notebooks}
  - Models: {models}
  - Studies: {studies}
  - Gallery: gallery.md
  - Reference:
      - Keys of a scenario: {keys}
      - Commands: reference/commands.md
      - What a strategy sees: reference/strategies.md
      - Python: {modules}
  - Measurements: {validation}
  - Decisions: {decisions}
  - Scorecard: scorecard.md
  - Security: security.md
  - Language: language.md
  - Glossary: glossary.md
"""

_DRAW = (
    f"{(Path(report.__file__).parent / 'page' / 'narrow.js').read_text(encoding='utf-8')}"
    + """
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    const figure = JSON.parse(target.querySelector("script").textContent);
    Plotly.newPlot(target, figure.data, narrow(figure, target), { responsive: true, displaylogo: false });
  }
}, { rootMargin: "1200px" });
document.querySelectorAll(".drawn").forEach((plot) => seen.observe(plot));
"""
)
"""Script that draws a figure when it is about to come into view, so that a page with many figures
opens immediately.

It follows the script `narrow` of the reports.
"""


def main(site: Path, results: Path) -> None:
    """Gathers the pages in a separate folder and builds the site."""
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "docs"
        shutil.copytree(ROOT / "docs", pages, ignore=shutil.ignore_patterns("notebooks"))
        for readme in (ROOT / "studies" / "README.md", *sorted(ROOT.glob("studies/*/README.md"))):
            _write(pages / readme.relative_to(ROOT), readme.read_text(encoding="utf-8"))
        for picture in sorted(ROOT.glob("studies/*/figures/*.svg")):
            _write(pages / picture.relative_to(ROOT), picture.read_text(encoding="utf-8"))
        _write(pages / "CONTRIBUTING.md", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
        _write(pages / "index.md", (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "]("))
        (pages / "README.md").unlink()
        for page in pages.rglob("*.md"):
            _mend_links(page, pages)
        _write(pages / "reference" / "commands.md", _commands())
        _write(pages / "reference" / "strategies.md", _attributes())
        for name, text in _keys().items():
            _write(pages / "reference" / "keys" / f"{name}.md", text)
        for book in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
            _notebook(book, pages / "notebooks")
        for module in MODULES:
            name = module.__name__
            names = "".join(f"\n::: {name}.{member}\n" for member in _members(module))
            _write(pages / "reference" / f"{name}.md", f"# {name}\n\n{_words(module)}\n{names}")
        _write(
            pages / "reference" / "acklab.md",
            "# acklab\n\n::: acklab.runner.run\n\n::: acklab.check\n\n::: acklab.result.Result\n\n::: acklab.errors\n",
        )
        _write(pages / "gallery.md", _gallery(results))
        (pages / "assets").mkdir()
        (pages / "assets" / "plotly.js").write_text(get_plotlyjs(), encoding="utf-8")
        config = Path(folder) / "mkdocs.yml"
        config.write_text(_config(pages, site.resolve()), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean", "-f", config], check=True)
    _without_network(site)
    print(site / "index.html")


def _without_network(site: Path) -> None:
    """Copies a script of the theme into the folder of the pages.

    The theme would fetch it from the network. With the script, search works on pages opened from
    disk.
    """
    fetched, own = "https://unpkg.com/iframe-worker/shim", "assets/javascripts/frame_worker.js"
    shutil.copy(ROOT / "scripts" / "frame_worker.js", site / own)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(fetched, "../" * (len(page.relative_to(site).parts) - 1) + own), encoding="utf-8")


def _config(pages: Path, site: Path) -> str:
    def listed(folder: str) -> str:
        found = sorted((pages / folder).rglob("*.md"), key=lambda page: (page.name != "README.md", page))
        return str([{_title(page): str(page.relative_to(pages))} for page in found])

    modules = [{"acklab": "reference/acklab.md"}, *({module.__name__: f"reference/{module.__name__}.md"} for module in MODULES)]
    return CONFIG.format(
        pages=pages, site=site, python=ROOT / "python", modules=modules,
        guide=_in_order(pages), keys=listed("reference/keys"), notebooks=listed("notebooks"), models=listed("models"), studies=_studies(pages), decisions=listed("decisions"), validation=listed("validation"),
    )  # fmt: skip


def _studies(pages: Path) -> str:
    """Returns the index of the studies, followed by three lists of their pages."""
    lists: list[dict[str, object]] = [{"Index": "studies/README.md"}]
    every = studies.discover()
    for kind, title in KIND_TITLES.items():
        own = [pages / "studies" / study.name / "README.md" for study in every if study.kind == kind]
        lists.append({title: [{_title(page): str(page.relative_to(pages))} for page in own]})
    return str(lists)


def _in_order(pages: Path) -> str:
    """Returns the pages of the guide, in the order in which its first page lists them."""
    first = pages / "guide" / "README.md"
    linked = re.findall(r"\]\(([\w-]+\.md)\)", first.read_text(encoding="utf-8"))
    rest = sorted(page.name for page in (pages / "guide").glob("*.md") if page.name not in (*linked, "README.md"))
    found = [first, *(pages / "guide" / name for name in dict.fromkeys([*linked, *rest]))]
    return str([{_title(page): str(page.relative_to(pages))} for page in found])


def _keys() -> dict[str, str]:
    """Returns the reference of the keys of a scenario.

    Each table has a page, and the other keys share one.
    """
    tables, alone = {}, []
    for name, text in keys.pages().items():
        if text.count("\n## ") or name.startswith("flow.transport."):
            tables[name] = text
        else:
            alone.append("#" + text)
    first = f"# Keys of a scenario\n\n{(keys.__doc__ or '').split(chr(10), 2)[2].strip()}\n\n"
    links = "".join(f"* [`{name}`]({name}.md)\n" for name in tables)
    return {"README": f"{first}`acklab explain KEY` prints the same.\n\n{links}\n{''.join(alone)}", **tables}


def _attributes() -> str:
    """Returns the attributes of the objects that a strategy receives, from the core's stubs."""
    tree = ast.parse((ROOT / "python" / "acklab" / "_core.pyi").read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    parts = [
        "# What a strategy sees\n\nTimes are whole nanoseconds since the start of the run, sizes are bytes of payload, rates are bits per second.\n"
    ]
    for name in strategies.__all__:
        if name not in classes:
            continue
        node = classes[name]
        parts.append(
            f"\n## {name} {{: #{name} }}\n\n{ast.get_docstring(node) or ''}\n\n| attribute | type | meaning |\n|---|---|---|\n"
        )
        for member in node.body:
            if not isinstance(member, ast.FunctionDef):
                continue
            is_property = any(isinstance(mark, ast.Name) and mark.id == "property" for mark in member.decorator_list)
            words = " ".join((ast.get_docstring(member) or "").split()).replace("|", "\\|")
            arguments = "" if is_property else f"({', '.join(argument.arg for argument in member.args.args[1:])})"
            kind = ast.unparse(member.returns).replace("|", "\\|") if member.returns else ""
            shown = name if member.name == "__new__" else member.name
            parts.append(f"| `{shown}{arguments}` | `{kind}` | {words} |\n")
    return "".join(parts)


def _notebook(path: Path, folder: Path) -> None:
    """Returns a notebook as a page: its text, its code, and the printed and drawn output."""
    document = _executed(path)
    parts = ["<script src='../assets/plotly.js'></script>"]
    for at, cell in enumerate(document["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for number, output in enumerate(cell.get("outputs", ())):
            data = output.get("data", {})
            name = f"{path.stem}-{at}-{number}.svg"
            if _PLOTLY in data:
                parts.append(_plot_and_picture(data[_PLOTLY], folder / "figures" / name))
            elif "image/svg+xml" in data:
                _write(folder / "figures" / name, "".join(data["image/svg+xml"]))
                parts.append(f"![](figures/{name})")
            elif "text/html" in data:
                shown, _, drawn = "".join(data["text/html"]).partition(notebook.DRAWN)
                parts.append(f"<div class='scrolls' markdown=0>{shown}</div>")
                if drawn:
                    parts.append(_plot_and_picture(_figure_in(drawn), folder / "figures" / name))
            elif text := "".join(output.get("text", data.get("text/plain", ()))):
                parts.append(f"```text\n{text}\n```")
    parts.append(f"<style>{_STYLE}</style>\n<script>{_DRAW}</script>")
    # The title comes first, so that it appears in the navigation.
    _write(folder / f"{path.stem}.md", "\n\n".join([*parts[1:2], parts[0], *parts[2:]]) + "\n")


def _figure_in(html: str) -> Any:
    """Returns data and layout of the figure that Plotly has written as HTML."""
    decoder = json.JSONDecoder()
    data, end = decoder.raw_decode(html, html.index("[", html.index("Plotly.newPlot(")))
    layout, _ = decoder.raw_decode(html, html.index("{", end))
    return {"data": data, "layout": layout}


def _plot_and_picture(figure: Any, path: Path) -> str:
    """Returns a figure of Plotly together with the same figure as SVG.

    The SVG is for storing, for printing, and for readers without JavaScript.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    figures.save(on_paper(go.Figure(figure)), path)
    place = f"figures/{path.name}"
    return (
        f"{_plot(figure)}<noscript><img src='{place}' alt='the figure of the cell above'></noscript>"
        f"<figcaption><a href='{place}'>SVG</a></figcaption></figure>"
    )


def _executed(path: Path) -> Any:
    """Returns the notebook with the outputs of its cells."""
    book = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(book, timeout=600, resources={"metadata": {"path": folder}}).execute()
    return book


def _plot(figure: Any) -> str:
    """Returns a figure of Plotly, which is drawn when it comes into view."""
    layout = figure["layout"]
    panels = 2 if "xaxis2" in layout else 1
    least = (layout.get("meta") or {}).get("least_width", panels * _LEAST_WIDTH)
    # "</" would end the script element that contains the data.
    data = json.dumps({"data": figure["data"], "layout": layout}, separators=(",", ":")).replace("</", "<\\/")
    size = f"min-width: {least}px; height: {layout.get('height', 450)}px"
    plot = f"<div class='scrolls'><div class='drawn' style='{size}'><script type='application/json'>{data}</script></div></div>"
    return f"<figure markdown=0 class='plot'>{plot}"


def _title(page: Path) -> str:
    # The page without the anchor of a key.
    heading = re.search(r"^# (.+?)(?: \{:.*\})?$", page.read_text(encoding="utf-8"), re.M)
    return heading[1].replace("`", "") if heading else page.stem


def _mend_links(page: Path, pages: Path) -> None:
    """Redirects links to files outside of docs/ to the copies of these files in the site."""
    depth = len(page.relative_to(pages).parts) - 1
    out = "../" * (depth + 1)
    text = page.read_text(encoding="utf-8")
    for name in ("studies/", "CONTRIBUTING.md"):
        text = text.replace(f"]({out}{name}", f"]({'../' * depth}{name}")
    if "studies" in (page.parent.name, page.parent.parent.name):
        text = text.replace(f"]({'../' * depth}docs/", f"]({'../' * depth}")
    text = text.replace("](docs/", "](") if depth == 0 else text
    page.write_text(text, encoding="utf-8")


def _commands() -> str:
    parts = ["# Commands\n\nThe help of each command, as it prints it.\n"]
    group: Any = typer.main.get_command(app)
    for command in (name for name, found in group.commands.items() if not found.hidden):
        words = [sys.executable, "-c", f"from {cli.__name__} import main; main()", command, "--help"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        parts.append(f"\n## acklab {command}\n\n```text\n{done.stdout.replace('-c ', 'acklab ', 1).rstrip()}\n```\n")
    return "".join(parts)


def _members(module: Any) -> list[str]:
    """Returns the public functions and classes of a module that acklab defines."""
    offered = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    own = {name: getattr(module, name) for name in offered}
    return [
        name for name, value in own.items() if callable(value) and str(getattr(value, "__module__", "")).startswith("acklab.")
    ]


def _words(module: Any) -> str:
    return (module.__doc__ or "").split("\n\n")[0]


def _gallery(results: Path) -> str:
    """Returns the first figures of each study that has results."""
    parts = [
        "# Gallery\n\nFigures of the studies. Each heading leads to the page of its study.\n\n"
        f"<style>{_STYLE}</style>\n<script src='assets/plotly.js'></script>\n"
    ]
    for path in sorted(results.glob("*/report.json")):
        document = Document.read(path.parent)
        items = [item for section in document.sections for item in dict(section)["items"] if item["kind"] == "figure"]  # type: ignore[arg-type]
        if items:
            parts.append(f"\n## [{document.title}](studies/{document.name}/README.md)\n")
        for item in items[:PER_STUDY]:
            plot = _plot(item["figure"])
            parts.append(f"\n{plot}<figcaption>{item['caption']}</figcaption></figure>\n")
    parts.append(f"\n<script>{_DRAW}</script>\n")
    if len(parts) == 2:
        parts.append("\nNone here: the site was built without results (`acklab study --all`).\n")
    return "".join(parts)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "out"))
