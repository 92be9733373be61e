"""The study of ideal goodput: the packets that the tool sends, and a part of the study."""

import pytest

from acklab.report import Table
from conftest import one_seed, study_code


@pytest.fixture
def module():
    return study_code("tack_ideal")


def test_frequencies_are_those_of_the_papers_tool(module):
    arms = module.arms
    assert arms.BY_COUNT[1].frequency(590) == pytest.approx(49_554, abs=1)
    assert arms.BY_COUNT[2].frequency(7) == pytest.approx(294, abs=0.5)
    assert [arms.TACKS[rtt].frequency(590) for rtt in arms.RTTS] == [400, 50, 20]
    assert arms.TACKS["10 ms"].frequency(7) == pytest.approx(294, abs=0.5), "byte counting"


def test_a_receiver_that_counts_stands_where_its_line_meets_the_curve(module):
    """Goodput that falls as 100 Mbps − 2 kbit an ACK.

    With L packets an ACK, g = 100 − 0.002·g·10⁶/(8·1472·L).
    """
    curve = {float(hertz): 100 - 0.002 * hertz for hertz in range(100, 30_000, 100)}
    for packets in (1, 4):
        expected = 100 / (1 + 0.002e6 / (8 * 1472 * packets))
        assert module.runs.counted(curve, packets) == pytest.approx(expected, rel=1e-3)


def test_a_share_of_the_study(module, tmp_path, monkeypatch):
    bench = one_seed("tack_ideal", tmp_path)
    monkeypatch.setattr(module.runs, "FREQUENCIES", (50, 1600, 25_600, 51_200))
    measured = module.measures(bench)
    assert measured["baseline_n"].interval.mean == pytest.approx(210, rel=0.03)
    by_count = [measured[f"n_l{packets}"].interval.mean for packets in (1, 4, 16)]
    assert by_count == sorted(by_count)
    assert measured["n_tack_80"].interval.mean > by_count[-1]
    assert measured["gain_ac_200"].interval.mean > 100
    sections = module.sections(bench)
    tables = [item for section in sections for item in section.items if isinstance(item, Table)]
    assert [len(table.rows) for table in tables] == [4, 4, 5]
