"""The study of the capacity of Wi-Fi: its choices, and a share of it."""

import dataclasses

from acklab.report import Figure, Table
from acklab.studies import Bench, find
from conftest import study_code

STUDY = study_code("wifi_capacity")


def test_combinations_leave_out_the_defaults():
    space = dataclasses.replace(STUDY.SPACES[0], dimensions=dict(list(STUDY.SPACES[0].dimensions.items())[:2]))
    titles = [[choice.title for choice in choices] for choices in space.combinations()]
    assert titles[0] == []
    assert titles[-1] == ["short preamble", "response frames at 1 Mbps"]
    assert len(titles) == 6
    assert [choice.title for choice in space.candidates()][1:] == [
        "short preamble",
        "response frames at up to 11 Mbps",
        "response frames at 1 Mbps",
    ]


def test_a_share_of_the_study(tmp_path, monkeypatch):
    module = study_code("wifi_capacity")
    for part in (module, module.runs):
        monkeypatch.setattr(part, "SPACES", module.SPACES[:1])
    bench = Bench(find("wifi_capacity"), tmp_path, quick=True, quiet=True)
    found = module.measures(bench)
    assert found["apart"].values[0] < 0.5
    assert found["batch"].values == [42.0, 42.0]
    assert found["payload"].values == [80.0]
    sections = module.sections(bench)
    drawn = [item for section in sections for item in section.items if isinstance(item, Figure)]
    assert all(figure.commands for figure in drawn)
    tried = next(
        item for section in sections for item in section.items if isinstance(item, Table) and "one choice" in item.caption
    )
    assert [row[0] for row in tried.rows][:2] == ["the standard's defaults", "short preamble"]
    assert tried.rows[1][2] == "6.78"
