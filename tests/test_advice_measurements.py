"""The measured table of fits and advice: its numbers in the documentation, and its test."""

import json

from scripts.places import read
from validation.advice.records import MEASURED
from validation.advice.table import PAGE, holds, places


def test_the_page_has_the_numbers_that_were_measured_last():
    for name, text in places(json.loads(MEASURED.read_text(encoding="utf-8"))).items():
        assert read(PAGE, name) == text, f"{PAGE} differs from {MEASURED}: run `python validation/advice/table.py`"


def test_a_coverage_below_its_level_by_chance_holds():
    """Of 20 intervals of 95 %, 17 or fewer contain the truth with a probability of 7.5 %, and 16 or
    fewer with a probability of 1.6 %."""
    assert holds(17, 20, 0.95)
    assert not holds(16, 20, 0.95)
    assert holds(0, 0, 0.95)
