"""The study of TACK's ACK frequency: the formula min{bw/(L·MSS), β/RTTmin}, and a share of the
study.
"""

import pytest

from acklab.report import Figure, Table
from acklab.studies import Bench, find
from conftest import study_code


@pytest.fixture
def module():
    return study_code("tack_frequency")


def test_the_law_bends_where_the_path_holds_beta_times_l_packets(module):
    """Li et al., SIGCOMM 2020, section 4.1.

    ACKs are periodic from a bandwidth-delay product of β·L·MSS.
    """
    rtt, mss = 0.08, 1500
    bend = 4 * 2 * mss * 8 / rtt
    assert module.law.tack(bend, rtt, mss) == pytest.approx(50)
    assert module.law.tack(bend / 2, rtt, mss) == pytest.approx(25)
    assert module.law.tack(100 * bend, rtt, mss) == pytest.approx(50)
    assert module.law.byte_counting(bend / 2, 2, mss) == pytest.approx(25)


def test_a_share_of_the_study(module, tmp_path, monkeypatch):
    bench = Bench(find("tack_frequency"), tmp_path, quick=True, quiet=True)
    fewer = {"links.toml": "links.toml:802.11b,802.11n", "rtts.toml": "rtts.toml:10 ms,80 ms"}
    original = Bench.variants
    monkeypatch.setattr(Bench, "variants", lambda self, text: original(self, fewer.get(text) or text))
    measured = module.measures(bench)
    assert measured["law_ac_tcp"].values == [pytest.approx(24776.9, abs=0.1)]
    for name in ("b_10", "b_80", "n_10", "n_80"):
        assert measured[f"over_law_{name}_tack"].interval.mean == pytest.approx(1, abs=0.05)
        assert measured[f"over_law_{name}_tcp"].interval.mean == pytest.approx(1, abs=0.05)
    (section,) = module.sections(bench)
    figure, table = section.items
    assert isinstance(figure, Figure)
    assert isinstance(table, Table)
    assert len(table.rows) == 8


def test_the_window_of_measurement_is_that_of_the_scenario(module):
    scenario = Bench(find("tack_frequency"), find("tack_frequency").folder).source("path.toml").load([])
    until, start = (float(text.removesuffix("s")) for text in (scenario["duration"], scenario["measure"]["from"]))
    assert until - start == module.runs.SECONDS
