"""Generated traces have the requested statistics, and traces are read and written."""

import pytest

from acklab.cli.trace import MODELS
from acklab.errors import UsageError
from acklab.traces import NETWORKS, cellular, network, poisson, read, statistics, write
from commands import acklab


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_has_its_published_statistics(name):
    known, found = NETWORKS[name], statistics(network(name, 1000, seed=1))
    assert found.mean == pytest.approx(known.mean, rel=0.15)
    assert found.variation == pytest.approx(known.variation, rel=0.25)
    assert found.correlations[1] == pytest.approx(known.correlation, abs=0.06)


def test_the_memory_of_a_network_decays_exponentially():
    """A log-normal process has the correlation (exp(s²·r) − 1) / (exp(s²) − 1).

    Its logarithm has the correlation r(t).
    """
    found = statistics(network("tmobile-umts", 2000, seed=2)).correlations
    assert found[1] > found[2] > found[5] > found[10] > 0.1
    assert statistics(poisson(10, 200, seed=1)).correlations[1] == pytest.approx(0, abs=0.2)


def test_poisson_arrivals_have_no_memory_and_the_variance_of_their_number():
    found = statistics(poisson(2.64, 2000, seed=1))
    assert found.mean == pytest.approx(2.64, rel=0.02)
    assert found.variation == pytest.approx((2.64e6 / (1504 * 8)) ** -0.5, rel=0.1)


def test_sprouts_model_has_the_tail_of_recorded_links():
    """Sprout's recordings have exponents of 2.2 to 3.3 (see docs/models/path.md).

    A Poisson process of this rate has no such tail.
    """
    found = statistics(cellular(1000, seed=1))
    assert 2.2 < found.tail < 3.6
    assert found.long_gaps < 0.03


def test_traces_repeat_and_differ_by_seed():
    assert network("att-lte", 60, seed=1) == network("att-lte", 60, seed=1)
    assert network("att-lte", 60, seed=1) != network("att-lte", 60, seed=2)


def test_what_is_written_is_read():
    times = [1, 3, 3, 10]
    assert read(write(times)) == times
    assert read("1\n\n 2 \n") == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\nx\n", 'line 2: found "x"'),
        ("4\n3\n", "line 2 is earlier"),
        ("0\n", "a time above zero"),
        ("", "a time above zero"),
        ("1.5\n", "a whole number of milliseconds"),
    ],
)
def test_what_is_no_trace_is_refused_with_its_line(text, message):
    with pytest.raises(UsageError, match=message):
        read(text)


def test_unknown_networks_and_short_traces_are_refused():
    with pytest.raises(UsageError, match="expected a network: verizon-lte"):
        network("gprs", 60, 1)
    with pytest.raises(UsageError, match=r"found a trace of 2 s, expected at least 20 s"):
        statistics("1\n2000\n")


def test_the_command_generates_describes_and_lists(tmp_path):
    assert all(name in acklab("trace", cwd=tmp_path).stdout for name in MODELS)
    file = tmp_path / "lte.trace"
    acklab("trace", "verizon-lte", "--seed", "2", "--out", str(file), cwd=tmp_path)
    assert file.read_text() == network("verizon-lte", 60, 2)
    assert acklab("trace", "poisson", "--rate", "2.64", "--seconds", "5", cwd=tmp_path).stdout == poisson(2.64, 5, 1)
    assert "correlation" in acklab("trace", str(file), cwd=tmp_path).stdout
