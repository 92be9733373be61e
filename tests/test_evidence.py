"""The table of evidence of an inspection."""

from typing import Any

from acklab.inspection.evidence import evidence_table


def _way(evidence: dict[str, str], not_known: dict[str, str]) -> Any:
    return {"evidence": evidence, "not_known": not_known}


def test_one_direction_needs_no_number():
    table = evidence_table([_way({"rate": "40 busy periods"}, {"controller": "1 loss epoch, expected at least 5"})])
    assert table is not None
    assert table.head == ["quantity", "evidence"]
    assert table.rows == [
        ["rate of the bottleneck", "40 busy periods"],
        ["controller", "not known: 1 loss epoch, expected at least 5"],
    ]


def test_directions_with_the_same_text_share_a_row():
    idle = {"rate": "12 segments, expected at least 50"}
    table = evidence_table([_way({}, idle), _way({"rate": "40 busy periods"}, {}), _way({}, idle)])
    assert table is not None
    assert table.rows == [
        ["rate of the bottleneck", "1, 3", "not known: 12 segments, expected at least 50"],
        ["rate of the bottleneck", "2", "40 busy periods"],
    ]


def test_a_quantity_without_a_name_of_its_own_is_shown_in_words():
    table = evidence_table([_way({"period_of_bursts": "31 bursts"}, {})])
    assert table is not None
    assert table.rows[0][0] == "period of bursts"


def test_directions_without_findings_have_no_table():
    assert evidence_table([_way({}, {})]) is None
