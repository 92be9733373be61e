"""The notebooks of the documentation run, and hold no outputs that could go out of date."""

import asyncio
import warnings
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def read(path: Path):
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    book = read(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asyncio.run(NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).async_execute())
    said = [output for cell in book.cells for output in cell.get("outputs", ()) if output.output_type == "stream"]
    assert said == [], "no warning and no stray line"
    results = [output.data for cell in book.cells for output in cell.get("outputs", ()) if "data" in output]
    assert any("<table" in str(data.get("text/html", "")) for data in results)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    for cell in read(path).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
