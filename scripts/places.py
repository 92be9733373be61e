"""Marked places of pages, `<!-- NAME -->text<!-- end -->`, with measured numbers of scripts."""

import re
import sys
from pathlib import Path


def fill(page: Path, name: str, text: str) -> None:
    """Replaces the text of the place `name` of a page.

    Ends the process with an error if the page does not have exactly one.
    """
    old = page.read_text(encoding="utf-8")
    page.write_text(_place(name).sub(lambda match: match[1] + text + match[3], _checked(page, old, name)), encoding="utf-8")


def read(page: Path, name: str) -> str:
    """Returns the text of the place `name` of a page.

    Ends the process with an error if the page does not have exactly one.
    """
    found = _place(name).search(_checked(page, page.read_text(encoding="utf-8"), name))
    return found[2] if found else ""


def _place(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {re.escape(name)} -->)(.*?)(<!-- end -->)", re.DOTALL)


def _checked(page: Path, text: str, name: str) -> str:
    count = len(_place(name).findall(text))
    if count != 1:
        sys.exit(f"error: {page}: found {count} places `<!-- {name} -->…<!-- end -->`, expected one")
    return text
