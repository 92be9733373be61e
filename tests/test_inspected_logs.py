"""`acklab inspect` of logs in qlog: selection, names and refusals.

The forms of logs are tested in crates/inspect/tests/qlog.rs.
"""

import gzip
import json
import os
import threading

import pytest

from acklab import inspection
from acklab.errors import RunError, UsageError
from commands import acklab as command

PACKETS = 60


def sent(number, at):
    frames = [{"frame_type": "stream", "stream_id": 0, "length": 1000}]
    header = {"packet_type": "1RTT", "packet_number": number}
    return {"time": at, "name": "transport:packet_sent", "data": {"header": header, "raw": {"length": 1030}, "frames": frames}}


def acknowledged(number, at):
    """Returns an ACK of the packets 2 n and 2 n + 1."""
    frames = [{"frame_type": "ack", "acked_ranges": [[2 * number, 2 * number + 1]]}]
    return {
        "time": at,
        "name": "transport:packet_received",
        "data": {"header": {"packet_type": "1RTT", "packet_number": number}, "frames": frames},
    }


def events(packets=PACKETS):
    """Returns a log with a packet per millisecond, and an ACK for every two after 20 ms."""
    told = [sent(number, number) for number in range(packets)]
    told += [acknowledged(number, 2 * number + 21) for number in range(packets // 2)]
    return sorted(told, key=lambda event: event["time"])


def trace(name, odcid, packets=PACKETS):
    return {
        "vantage_point": {"type": name, "name": "stack"},
        "common_fields": {"ODCID": odcid, "time_format": "relative"},
        "events": events(packets),
    }


@pytest.fixture
def both_ends(tmp_path):
    """Returns a log of two traces, of which the first has more packets."""
    path = tmp_path / "both.json"
    log = {"qlog_version": "0.3", "traces": [trace("client", "0102030405060708090a"), trace("server", "beef", 20)]}
    path.write_text(json.dumps(log), encoding="utf-8")
    return path


def test_counts_are_those_of_the_log(both_ends):
    found = inspection.inspect(both_ends)
    assert found.log is not None
    assert (found.log["traces"], found.log["events"], found.log["packets"]) == (2, 90 + 30, [80, 40, 0])
    assert found.log["packets_with_data"] == 80
    client, server = found.ways
    assert client["acks"] is not None and server["acks"] is not None  # noqa: PT018 - for the type checker
    assert (client["data_segments"], client["acks"]["count"]) == (60, 30)
    assert (server["data_segments"], server["acks"]["count"]) == (20, 10)
    assert client["round_trip"]["base"] == pytest.approx(20, abs=0.01)


def test_a_direction_is_named_by_its_ends_and_its_log(both_ends):
    found = inspection.inspect(both_ends)
    assert [found.name_of(way) for way in found.ways] == [
        "client → server (trace 1, stack, 010203040506070…)",
        "server → client (trace 2, stack, beef)",
    ]
    (alone,) = inspection.inspect(both_ends, trace=2).connections
    assert alone["ends"] == ["server", "client"]
    assert inspection.tables(found)[0].head[2:] == [
        "1: client → server (trace 1, stack, 010203040506070…)",
        "2: server → client (trace 2, stack, beef)",
    ]


def test_one_trace_is_selected(both_ends):
    shown = command("inspect", both_ends, "--trace", "2", "--json")
    (connection,) = json.loads(shown.stdout)["connections"]
    assert connection["source"] == {
        "trace": 2,
        "vantage_point": "server",
        "title": "stack",
        "connection_id": "beef",
        "description": None,
        "protocol": None,
    }


@pytest.mark.parametrize("number", ["0", "x"])
def test_the_number_of_a_trace_is_checked(both_ends, number):
    assert command("inspect", both_ends, "--trace", number).returncode == 2


def test_a_trace_that_is_absent_is_refused(both_ends, tmp_path):
    done = command("inspect", both_ends, "--trace", "3")
    assert (done.returncode, done.stdout) == (2, "")
    assert "trace: found 3, expected a number from 1 to 2" in done.stderr
    with pytest.raises(UsageError, match="trace: found 0, expected the number of a trace"):
        inspection.inspect(both_ends, trace=0)
    (tmp_path / "text").write_bytes(b"hello there")
    with pytest.raises(UsageError, match="trace: found a file that is no log"):
        inspection.inspect(tmp_path / "text", trace=1)


def test_events_that_are_not_understood_are_named(tmp_path):
    log = trace("client", "01")
    log["events"] += 3 * [{"time": 99, "name": "transport:packet_sent", "data": {"header": "?"}}] + [[]]
    path = tmp_path / "odd.qlog"
    path.write_text(json.dumps({"traces": [log]}), encoding="utf-8")
    done = command("inspect", path)
    assert done.returncode == 0
    assert "note: 4 events were not understood: transport:packet_sent ×3, (no name) ×1" in done.stderr


def test_a_log_without_data_is_an_error_that_names_its_content(tmp_path):
    path = tmp_path / "empty.qlog"
    log = trace("client", "01")
    log["events"] = [acknowledged(0, 1), {"time": 2, "name": "transport:parameters_set", "data": {}}]
    path.write_text(json.dumps({"qlog_version": "0.3", "traces": [log]}), encoding="utf-8")
    done = command("inspect", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        "empty.qlog: found a log of version 0.3 with 1 trace, 2 events, 0 packets sent and 1 received, none of them with data"
        in (done.stderr)
    )
    with pytest.raises(RunError, match="expected packets with data of streams or datagrams"):
        inspection.inspect(path)


def test_a_compressed_log_is_read_and_read_up_to_where_it_was_cut(both_ends):
    whole = gzip.compress(both_ends.read_bytes())
    path = both_ends.with_name("log.qlog.gz")
    path.write_bytes(whole)
    assert inspection.inspect(path).ways == inspection.inspect(both_ends).ways
    path.write_bytes(whole[: len(whole) * 3 // 4])
    found = inspection.inspect(path)
    assert found.cut is not None and found.cut.startswith("the compressed log is not whole")  # noqa: PT018 - for the type checker
    assert 0 < found.ways[0]["data_segments"] <= 60


def test_a_log_is_told_by_its_content_and_read_from_a_pipe(both_ends):
    expected = inspection.inspect(both_ends).ways
    text = both_ends.read_bytes()
    for name, octets in [("log.pcap", text), ("log", b"\xef\xbb\xbf" + text), ("log.txt", b" \n" + text)]:
        other = both_ends.with_name(name)
        other.write_bytes(octets)
        assert inspection.inspect(other).ways == expected, name
    pipe = both_ends.with_name("pipe")
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(text,))
    writer.start()
    assert inspection.inspect(pipe).ways == expected
    writer.join()
