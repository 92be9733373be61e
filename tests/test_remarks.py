"""Runs with anomalies have remarks, and others have none."""

import pyarrow as pa
import pytest

import acklab
from acklab.provenance import Provenance
from acklab.remarks import remarks
from acklab.result import Result

FLOW = {
    "flow": "a",
    "src": "src_1",
    "dst": "dst",
    "transport_protocol": "tcp",
    "traffic_model": "greedy",
    "mean_throughput_l4": 8.0,
    "total_data_packets_l4": 1000,
    "total_retransmissions_l4": 3,
    "total_delivered_bytes_l7": 1_400_000,
}
LINK = {
    "link": "btl_forward",
    "total_packets_in_l2": 1000,
    "total_packets_out_l2": 985,
    "total_qdisc_drops_l2": 3,
    "total_filtered_acks_l2": 0,
    "total_wire_losses_l1": 0,
    "total_wire_duplicates_l1": 0,
    "max_qdisc_length_l2": 20,
}


def found(flows, links=(LINK,)):
    tables = {"flows": pa.Table.from_pylist(flows), "links": pa.Table.from_pylist(list(links))}
    return remarks(Result(tables, Provenance({}, 1, "", "", "")))


def test_a_good_run_has_none():
    assert found([FLOW, FLOW | {"flow": "b", "src": "src_2"}]) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"total_data_packets_l4": 0, "total_delivered_bytes_l7": 0}, "sent no data in the window"),
        ({"total_delivered_bytes_l7": 0}, "delivered nothing"),
        ({"total_retransmissions_l4": 501}, "retransmissions (501 of 1,000 packets)"),
        ({"total_retransmissions_l4": 1000}, "retransmissions (1,000 of 1,000 packets)"),
    ],
)
def test_a_flow_that_went_wrong_is_named(change, words):
    (remark,) = found([FLOW | change])
    assert remark.startswith("a: ")
    assert words in remark


def test_a_flow_starves_beside_those_that_it_competes_with():
    slow = FLOW | {"flow": "b", "src": "src_2", "mean_throughput_l4": 0.03}
    assert "b: starved" in found([FLOW, slow])[0]
    assert found([FLOW, slow | {"transport_protocol": "udp"}]) == [], "a call is slow on purpose"
    assert found([FLOW, slow | {"src": "dst", "dst": "src_1"}]) == [], "an upload does not compete with a download"


def test_many_flows_share_a_remark():
    silent = [FLOW | {"flow": f"f{number}", "src": f"src_{number}", "total_data_packets_l4": 0} for number in range(6)]
    assert found(silent)[0].startswith("f0, f1, f2, f3 and 2 more: sent no data")


def test_a_queue_that_only_grows_is_named():
    overloaded = LINK | {
        "total_packets_in_l2": 1200,
        "total_packets_out_l2": 1000,
        "total_qdisc_drops_l2": 0,
        "max_qdisc_length_l2": 200,
    }
    assert "grew by 200 packets while 1,000 left" in found([FLOW], [overloaded])[0]
    assert found([FLOW], [overloaded | {"total_qdisc_drops_l2": 185}]) == [], "what was dropped does not wait"


def test_an_overload_of_a_real_link_is_found():
    scenario = {
        "duration": "5s",
        "seed": 1,
        "link": [{"name": "btl", "from": "a", "to": "b", "forward": {"rate": "1Mbps", "delay": "1ms"}, "reverse": {}}],
        "flow": [
            {"from": "a", "to": "b", "transport": "udp", "traffic": {"model": "constant", "rate": "2Mbps", "write": "1000B"}}
        ],
    }
    assert "never drained" in remarks(acklab.run(scenario))[0]
    assert remarks(acklab.run(scenario, set={"flow.0.traffic.rate": "0.5Mbps"})) == []


def test_programs_that_died_or_had_to_be_killed_are_named():
    program = {"application": "a", "start_time": 0.0, "stop_time": 1.5, "exit_status": None, "signal": None, "failure": None}

    def of(**changes):
        tables = {"flows": pa.Table.from_pylist([FLOW]), "applications": pa.Table.from_pylist([program | changes])}
        return remarks(Result(tables, Provenance({}, 1, "", "", "")))

    assert of(exit_status=0) == of(signal=15) == []
    assert of(exit_status=7) == ["a: exit status 7 at 1.5 s"]
    assert of(signal=11) == ["a: ended by SIGSEGV at 1.5 s"]
    assert "was killed at 1.5 s" in of(signal=9)[0]
    assert of(failure="no such file", stop_time=None) == ["a: failed to start: no such file"]
    assert "never started" in of(start_time=None, stop_time=None)[0]


def test_an_emulation_with_late_packets_says_so():
    timing = {"trusted": "no", "reasons": "in second 3 of the run, p99.9 lateness 5.00 ms (limit 500 µs)"}
    tables = {"flows": pa.Table.from_pylist([FLOW]), "timing": pa.Table.from_pylist([timing])}
    (remark,) = remarks(Result(tables, Provenance({}, 1, "", "", "")))
    assert remark == f"results unreliable: {timing['reasons']}"


def test_an_emulation_that_was_stopped_says_so():
    timing = {"trusted": "yes", "reasons": None, "stopped_time": 12.34}
    tables = {"flows": pa.Table.from_pylist([FLOW]), "timing": pa.Table.from_pylist([timing])}
    (remark,) = remarks(Result(tables, Provenance({}, 1, "", "", "")))
    assert remark == "stopped early at 12.3 s: the tables cover the time until then"


def test_connections_that_ended_or_stand_say_so():
    failed = FLOW | {"ending": "failed: code 0x1", "ending_time": 3.25}
    assert found([failed]) == ["a: connection failed at 3.250 s (INTERNAL_ERROR, code 0x1)"]
    gaps = "a: connection failed at 3.250 s (INTERNAL_ERROR, code 0x1: more than 1,024 gaps in its stream)"
    assert found([failed | {"transport_protocol": "QUIC (quinn)"}]) == [gaps]
    of_tack = failed | {"ending": "failed: code 0x8000000a"}
    assert found([of_tack]) == ["a: connection failed at 3.250 s (PROTOCOL_VIOLATION, code 0x8000000a)"]
    unknown = FLOW | {"ending": "failed: code 0x7777", "ending_time": 1.0}
    assert found([unknown]) == ["a: connection failed at 1.000 s (code 0x7777)"]
    closed = FLOW | {"ending": "closed: code 0x1", "ending_time": 1.0}
    assert found([closed]) == ["a: connection closed by an application at 1.000 s (code 0x1)"]
    stands = FLOW | {
        "ending": "stands",
        "ending_time": 1.9,
        "total_rtos_l4": 2,
        "mean_in_flight_l4": 6877.3,
        "mean_blocked_l4": 746.6,
    }
    (remark,) = found([stands])
    assert remark.startswith(
        "a: stalled: nothing was delivered after 1.900 s (2 retransmission timeouts in the window, 6,877 segments in flight"
    )
    assert found([FLOW | {"ending": ending, "ending_time": None} for ending in ("open",)]) == []
    assert found([FLOW | {"ending": "finished", "ending_time": 4.0}]) == []
    refused = [FLOW | {"flow": f"f{number}", "ending": "refused", "ending_time": 0.5} for number in range(9)]
    assert found(refused)[4:] == ["5 more flows failed or stalled (column `ending`)"]


def test_a_goodput_above_the_capacity_is_explained():
    late = FLOW | {
        "mean_throughput_l7": 4.12,
        "mean_throughput_l4": 3.1,
        "bottleneck_capacity_l2": 3.27,
        "bottleneck": "l_forward",
    }
    (remark,) = found([late])
    assert remark.startswith("a: goodput exceeds the capacity of l_forward")
    assert remark.endswith("3.10 Mbps arrived in the window")
    assert found([late | {"mean_throughput_l7": 3.2}]) == []
