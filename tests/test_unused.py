"""If a configured mechanism had no effect in a run, a remark names it."""

from acklab.unused import unused


def scenario(**reverse):
    return {
        "link": [
            {"name": "l", "forward": {"queue": {"discipline": "fifo"}}, "reverse": {"queue": {"discipline": "fifo"}, **reverse}}
        ]
    }


def row(filtered, longest=40):
    return {"link": "l_reverse", "total_packets_in_l2": 1000, "total_filtered_acks_l2": filtered, "max_qdisc_length_l2": longest}


def test_a_filter_that_removed_nothing_is_named_with_the_length_of_its_queue():
    for queue in ({"discipline": "ack-filter"}, {"discipline": "cake", "ack_filter": "on"}):
        (found,) = unused(scenario(queue=queue), [row(0)], [])
        assert "removed none of 1,000 packets: at most 40 packets waited" in found
        (short,) = unused(scenario(queue=queue), [row(0, longest=1)], [])
        assert "its queue never held two packets" in short
        assert unused(scenario(queue=queue), [row(5)], []) == []
    assert unused(scenario(queue={"discipline": "cake", "ack_filter": "off"}), [row(0)], []) == []


def test_a_thinner_that_removed_nothing_is_named():
    (found,) = unused(scenario(thinner={"rule": "every"}), [row(0)], [])
    assert "its thinner (every) removed none of 1,000 packets" in found
    assert unused(scenario(thinner={"rule": "every"}), [row(3)], []) == []


def test_hack_that_compressed_nothing_is_named_with_the_cause():
    plain = {"cell": "air", "total_plain_acks_l2": 37_457, "total_compressed_acks_l2": 0}
    (found,) = unused({}, [], [plain, plain | {"total_plain_acks_l2": 0}])
    assert "air: TCP/HACK compressed none of 37,457 ACKs: none waited for a response" in found
    (late,) = unused({}, [], [plain | {"total_missed_answers_l2": 12}])
    assert "12 came too late for their response" in late
    assert unused({}, [], [plain | {"total_compressed_acks_l2": 1}]) == []
