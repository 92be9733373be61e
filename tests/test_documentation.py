"""The documentation runs: its Python, and every line that begins with `$ acklab`."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import BUILT

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder that looks like the root of the project to what is run in it."""
    (tmp_path / "studies").symlink_to(ROOT / "studies")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.skipif(not BUILT, reason="needs the compiled core")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page, desk):
    names: dict[str, object] = {}
    for number, text in enumerate(blocks(page, "python")):
        exec(compile(text, f"{page.name}, block {number}", "exec"), names)
    for text in blocks(page, "console"):
        for line in text.splitlines():
            command = line.removeprefix("$ acklab ")
            assert command != line, f"{page.name}: {line}"
            words = [sys.executable, "-m", "acklab", *shlex.split(command)]
            done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ)
            assert done.returncode == 0, f"{page.name}: {line}\n{done.stderr}"


def test_rust_is_of_the_example():
    example = (ROOT / "crates" / "lab" / "examples" / "own_strategy.rs").read_text(encoding="utf-8")
    shown = blocks(ROOT / "docs" / "guide" / "strategies.md", "rust")
    assert shown
    for text in shown:
        assert text in example


def test_links_lead_somewhere():
    for page in [*PAGES, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page}: {target}"
