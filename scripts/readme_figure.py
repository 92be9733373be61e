"""Draws the figure of the README: `python scripts/readme_figure.py`, with chromium installed.

The browser that shows reports also converts the figure to SVG, so no second renderer is required.
"""

import html
import json
import re
import subprocess
import tempfile
from pathlib import Path

from plotly.offline import get_plotlyjs

import acklab
from acklab import figures

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "images" / "operating_point.svg"
SERIES = ["operating_point", "throughput"]

PAGE = """<!doctype html><meta charset="utf-8"><script>{plotly}</script><div id="plot"></div><pre id="svg"></pre><script>
const figure = {figure};
Plotly.newPlot("plot", figure.data, {{...figure.layout, width: 960, height: 560, autosize: false}})
  .then((plot) => Plotly.toImage(plot, {{format: "svg", width: 960, height: 560}}))
  .then((url) => {{ document.getElementById("svg").textContent = decodeURIComponent(url.slice(url.indexOf(",") + 1)); }});
</script>"""


def main() -> None:
    """Runs the experiment and writes the SVG."""
    result = acklab.run(ROOT / "studies" / "ack_compression" / "experiment_55.toml", set={"measure.series": SERIES})
    figure = json.dumps(json.loads(figures.operating_point(result).to_json())).replace("</", "<\\/")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(PAGE.format(plotly=get_plotlyjs(), figure=figure), encoding="utf-8")
        words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]
        dom = subprocess.run([*words, f"file://{page}"], capture_output=True, text=True, check=True).stdout
    found = re.search(r'<pre id="svg">(.*?)</pre>', dom, re.S)
    if found is None or "<svg" not in html.unescape(found[1]):
        raise SystemExit("error: the browser drew nothing")
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(html.unescape(found[1]) + "\n", encoding="utf-8")
    print(TARGET.relative_to(ROOT))


if __name__ == "__main__":
    main()
