"""Pages take measured numbers from stored results of studies."""

import json
import re
from pathlib import Path

import pytest

from scripts import study_pages
from scripts.study_pages import PlaceError, filled, pages, place

RESULTS = {
    "revision": "abc",
    "seeds": 5,
    "findings": {
        "gain": {
            "group": "Figure 1",
            "title": "case 1",
            "published": "17.80",
            "measured": "22.18",
            "interval": "22.02 … 22.34",
            "unit": "%",
            "verdict": "not reproduced",
            "counts": True,
        },
        "acks": {
            "group": "Figure 1",
            "title": "case 2",
            "published": "2,474",
            "measured": "2,421",
            "interval": "",
            "unit": "packets",
            "verdict": "reproduced",
            "counts": True,
        },
    },
    "tables": {
        "Cases": {
            "head": ["case", "", "goodput [Mbps]", "ACKs"],
            "labels": 2,
            "rows": [["case 1, lossy", "TACK", "194.5 ± 0.4", "24356 ± 21"], ["case 1, lossy", "BBR", "159.2 ± 0.1", "104298"]],
        }
    },
}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "studies" / "wan"
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(json.dumps(RESULTS))
    monkeypatch.setattr(study_pages, "ROOT", tmp_path)
    return folder


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: str(page.relative_to(study_pages.ROOT)))
def test_each_page_has_the_stored_numbers(page: Path) -> None:
    """`python -m scripts.study_pages` fills a page that differs."""
    assert filled(page) == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: str(page.relative_to(study_pages.ROOT)))
def test_no_line_of_prose_begins_with_a_place(page: Path) -> None:
    """CommonMark takes such a line for a block of HTML, which ends the paragraph before it."""
    for line in page.read_text(encoding="utf-8").splitlines():
        assert not re.match(r"\s*<!-- (?!end -->).*-->.*<!-- end -->", line), line


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gain", "22.18"),
        ("gain interval", "22.02 … 22.34"),
        ("gain verdict", "not reproduced"),
        ("counts", "1 of 2 claims are reproduced, 1 not reproduced"),
        ("Cases | case 1 | TACK | goodput", "194.5"),
        ("Cases | case 1 | TACK | goodput ±", "194.5 ± 0.4"),
        ("Cases | | BBR | ACKs", "104,298"),
        ("Cases | case 1 | TACK | ACKs ±", "24,356 ± 21"),
    ],
)
def test_a_place_takes_its_number_from_the_store(study: Path, name: str, text: str) -> None:
    assert place(name, "wan") == text
    assert place(f"wan: {name}", "") == text


def test_tables_have_the_chosen_columns(study: Path) -> None:
    assert place("table Cases | ACKs", "wan") == (
        "\n\n| case |  | ACKs |\n|---|---|---:|\n| case 1, lossy | TACK | 24,356 ± 21 |\n| case 1, lossy | BBR | 104,298 |\n\n"
    )
    assert "| case 1 | 17.80 | 22.18 | 22.02 … 22.34 | % | not reproduced |" in place("claims Figure 1", "wan")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("loss", "found no claim 'loss', expected one of: gain, acks"),
        ("gain colour", "found the field 'colour', expected one of interval, verdict"),
        ("Cases | case 1 | ACKs", "found 2 rows for 'case 1', expected one of: case 1, lossy | TACK; case 1, lossy | BBR"),
        ("Cases | case 1 | TACK | delay", "found 0 columns 'delay', expected one of: case, , goodput \\[Mbps\\], ACKs"),
        ("table Causes", "found no table 'Causes', expected one of: Cases"),
        ("claims Figure 2", "found no group 'Figure 2', expected one of: Figure 1"),
    ],
)
def test_an_unknown_place_is_an_error_with_what_there_is(study: Path, name: str, error: str) -> None:
    with pytest.raises(PlaceError, match=error):
        place(name, "wan")


def test_a_page_with_another_number_is_filled(study: Path) -> None:
    page = study / "README.md"
    page.write_text("A gain of <!-- gain -->19.3<!-- end --> %.\n")
    assert filled(page) == "A gain of <!-- gain -->22.18<!-- end --> %.\n"
    page.write_text("<!-- lost -->1<!-- end --> and <!-- late -->2<!-- end -->\n")
    with pytest.raises(PlaceError, match=r"lost(.|\n)*late"):
        filled(page)
