"""Workloads: arrivals at random, sizes of published distributions, requests that the receiver
opens, and how long they take.
"""

import itertools

import pytest

import acklab

LINK = {
    "name": "net",
    "from": "server",
    "to": "client",
    "forward": {"rate": "100Mbps", "delay": "5ms"},
    "reverse": {"rate": "100Mbps", "delay": "5ms"},
}


def scenario(duration="20s", **flow):
    flow = {"name": "web", "from": "server", "to": "client", "preset": "linux", **flow}
    return {"duration": duration, "seed": 1, "link": [LINK], "flow": [flow]}


def test_arrivals_are_a_poisson_process_of_the_mean_gap():
    result = acklab.run(
        scenario(count=400, spacing="20ms", arrivals="poisson", traffic={"model": "fixed", "size": "2kB"}, duration="60s")
    )
    starts = sorted(result.flows["start_time"])
    gaps = [later - earlier for earlier, later in itertools.pairwise(starts)]
    mean = sum(gaps) / len(gaps)
    # Within three standard deviations, the mean of 399 exponential gaps is within 15 % of 20 ms.
    # The deviation of the gaps equals their mean.
    assert mean == pytest.approx(0.020, rel=0.15)
    deviation = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert deviation == pytest.approx(mean, rel=0.2)


def test_copies_that_would_start_after_the_end_are_left_out():
    result = acklab.run(
        scenario(count=400, spacing="20ms", arrivals="poisson", traffic={"model": "fixed", "size": "2kB"}, duration="2s")
    )
    assert 60 < len(result.flows) < 140  # 100 in 2 s, with a deviation of 10
    assert max(result.flows["start_time"]) < 2


def test_sizes_and_starts_follow_from_the_seed():
    workload = scenario(
        count=50, spacing="50ms", arrivals="poisson", traffic={"model": "drawn", "sizes": "websearch"}, duration="5s"
    )
    one, again, other = (acklab.run(workload, seed=seed).flows for seed in (1, 1, 2))
    assert one.equals(again)
    assert one["total_delivered_bytes_l7"].to_list() != other["total_delivered_bytes_l7"].to_list()


def test_completion_times_are_told_by_size():
    result = acklab.run(
        scenario(count=200, spacing="200ms", arrivals="poisson", traffic={"model": "drawn", "sizes": "websearch"}, duration="60s")
    )
    table = result.completions
    assert table["sizes"].to_list() == ["all", "up to 100 kB", "100 kB to 10 MB", "above 10 MB"]
    whole, small, middle, large = table.iter_rows(named=True)
    assert whole["total_flows_l7"] == small["total_flows_l7"] + middle["total_flows_l7"] + large["total_flows_l7"]
    # 53 % of the flows have no more than 80 kB, and 60 % no more than 200 kB.
    assert 0.45 < small["total_flows_l7"] / whole["total_flows_l7"] < 0.65
    for row in (whole, small, middle):
        assert row["p50_completion_time_l7"] <= row["p95_completion_time_l7"] <= row["p99_completion_time_l7"]
    # A handshake and the data take two round trips of 10 ms; FIN and its ACK end with the data.
    assert 0.020 <= small["p50_completion_time_l7"] < middle["p50_completion_time_l7"]


def test_the_receiver_opens_requests_with_drawn_responses():
    result = acklab.run(
        scenario(count=30, spacing="300ms", arrivals="poisson", page={"sizes": "cache", "request": "1kB"}, duration="20s")
    )
    assert result.completions["sizes"][0] == "all"
    assert len(set(result.objects["size_l7"])) > 10
    # From the opening of the connection to the last byte of the response: one round trip for the
    # handshake and one for the request.
    assert result.completions["p50_completion_time_l7"][0] >= 0.020


@pytest.mark.parametrize(
    ("flow", "told"),
    [
        ({"count": 3, "arrivals": "poisson"}, "spacing"),
        ({"page": {"sizes": "cache", "document": "1kB"}}, "`document` is given too"),
        ({"traffic": {"model": "drawn", "sizes": "webserch"}}, "websearch"),
        ({"page": {"request": "1kB"}}, "document"),
    ],
)
def test_what_makes_no_workload_is_refused(flow, told):
    with pytest.raises(acklab.ScenarioError, match=told):
        acklab.check(scenario(**flow))
