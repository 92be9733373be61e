"""`acklab inspect`: captures of known paths, files that are not captures, and the output."""

import json
import struct
from typing import Any

import polars
import pytest

import acklab
from acklab import inspection
from commands import acklab as command

PATH = {
    "duration": "20s",
    "seed": 1,
    "link": [
        {
            "name": "btl",
            "from": "src",
            "to": "dst",
            "forward": {"rate": "8Mbps", "delay": "15ms", "queue": {"discipline": "fifo", "limit": "40packets"}},
            "reverse": {"rate": "8Mbps", "delay": "15ms"},
        }
    ],
    "flow": [{"from": "src", "to": "dst", "preset": "linux", "congestion": "cubic"}],
    "capture": [{"point": "src", "file": "src.pcapng"}, {"point": "dst", "file": "dst.pcapng"}],
}


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """Returns the folder with captures of both ends, and the flow's row.

    In 24 s CUBIC reduces its window often enough to be identified.
    """
    folder = tmp_path_factory.mktemp("captures")
    return folder, acklab.run(PATH | {"duration": "24s"}, captures=folder).flows.row(0, named=True)


@pytest.mark.parametrize(("end", "position"), [("src", "sender"), ("dst", "receiver")])
def test_either_end_tells_the_path(captured, end, position):
    folder, flow = captured
    (way,) = inspection.inspect(folder / f"{end}.pcapng").ways
    assert way["rate"] is not None and way["acks"] is not None  # noqa: PT018 - for the type checker
    assert way["position"] == position
    assert way["rate"]["value"] == pytest.approx(8, rel=0.01)
    # 30 ms of propagation, and SYN and SYN-ACK of 60 bytes at 8 Mbps.
    assert way["round_trip"]["base"] == pytest.approx(30.12, rel=0.01)
    assert way["goodput"] == pytest.approx(flow["mean_throughput_l4"], rel=0.02)
    assert way["acks"]["thinning"] == ("none" if end == "src" else "not-visible")
    if end == "src":
        assert way["losses"]["retransmitted"] == flow["total_retransmissions_l4"]
        assert way["controller"] is not None
        assert way["controller"]["family"] == "cubic"
        count = flow["total_acks_delivered_l4"]
    else:
        count = flow["total_acks_sent_l4"] - 1  # without the SYN-ACK
    assert way["acks"]["count"] == pytest.approx(count, abs=2)


@pytest.mark.parametrize("transport", ["quic", "quinn"])
@pytest.mark.parametrize("version", ["0.3", "draft-13"])
def test_a_log_of_either_end_tells_the_path(tmp_path, transport, version):
    """ACKs and losses of QUIC, which no capture shows, are in qlog."""
    flow = {"from": "src", "to": "dst", "transport": transport}
    scenario = PATH | {"duration": "4s", "flow": [flow], "capture": []}
    told = acklab.run(scenario, qlog=tmp_path, qlog_version=version).flows.row(0, named=True)
    name = next(tmp_path.glob("*_client.sqlog")).name.removesuffix("_client.sqlog")
    (sent,) = inspection.inspect(tmp_path / f"{name}_client.sqlog").ways
    (received,) = inspection.inspect(tmp_path / f"{name}_server.sqlog").ways
    assert (sent["position"], received["position"]) == ("sender", "receiver")
    for way in (sent, received):
        assert way["rate"] is not None and way["acks"] is not None  # noqa: PT018 - for the type checker
        assert way["rate"]["value"] == pytest.approx(8, rel=0.01)
        assert way["goodput"] == pytest.approx(told["mean_throughput_l4"], rel=0.03)
        assert way["acks"]["count"] == pytest.approx(told["total_acks_sent_l4"], rel=0.03)
    # A handshake, then packets of 1500 bytes: 30 ms of propagation and their time on the link.
    assert sent["round_trip"]["base"] == pytest.approx(told["min_rtt_l4"], rel=0.02)
    assert sent["losses"]["share"] == pytest.approx(told["total_drops_l2"] / told["total_data_packets_l4"], abs=0.01)


def test_a_log_in_one_piece_and_one_that_is_cut_off_are_read(tmp_path):
    acklab.run(
        PATH | {"duration": "2s", "flow": [{"from": "src", "to": "dst", "transport": "quic"}], "capture": []}, qlog=tmp_path
    )
    log = next(tmp_path.glob("*_client.sqlog"))
    _, *records = log.read_text(encoding="utf-8").split("\x1e")
    events = [json.loads(record) for record in records[1:]]
    whole = tmp_path / "whole.qlog"
    whole.write_text(json.dumps({"qlog_version": "0.3", "traces": [{"events": events}]}), encoding="utf-8")
    expected = inspection.inspect(log)
    assert inspection.inspect(whole).ways == expected.ways
    cut = tmp_path / "cut.sqlog"
    cut.write_bytes(log.read_bytes()[:-20])
    found = inspection.inspect(cut)
    assert found.cut is not None
    assert found.ways[0]["data_segments"] == pytest.approx(expected.ways[0]["data_segments"], abs=2)


@pytest.mark.parametrize("transport", [{"protocol": "quic", "spin_bit": True}, {"protocol": "quic", "spin_bit": False}, "quinn"])
def test_handshake_and_spin_bit_tell_round_trips_of_quic(tmp_path, transport):
    flow = {"from": "src", "to": "dst", "transport": transport}
    told = acklab.run(PATH | {"duration": "4s", "flow": [flow]}, captures=tmp_path).flows.row(0, named=True)
    spins = transport != {"protocol": "quic", "spin_bit": False}
    for end, position in (("src", "sender"), ("dst", "receiver")):
        (way, *_) = inspection.inspect(tmp_path / f"{end}.pcapng").ways
        round_trip = way["round_trip"]
        assert way["position"] == position
        assert round_trip["by_spin_bit"] == spins
        # 30 ms of propagation, and at 8 Mbps a datagram of 1200 bytes, which an ACK answers, or in
        # a handshake a padded one of 1200 to 1472.
        assert round_trip["base"] is not None and 31.2 < round_trip["base"] < 32.8  # noqa: PT018 - for the type checker
        if spins:
            assert round_trip["mean"] == pytest.approx(told["mean_rtt_l4"], rel=0.1)
        else:
            assert round_trip["mean"] is None


def test_flights_tell_the_rate_although_a_gate_releases_their_acks_together(tmp_path):
    """The gate triples the RTT, and the queue holds less than the window of a round trip.

    So the bottleneck is idle for most of the time.
    """
    link: dict[str, Any] = PATH["link"][0]  # type: ignore[index]
    reverse = link["reverse"] | {"gate": {"interval": "100ms", "quota": 100}}
    forward = link["forward"] | {"queue": {"discipline": "fifo", "limit": "20packets"}}
    told = acklab.run(PATH | {"link": [link | {"forward": forward, "reverse": reverse}]}, captures=tmp_path).flows.row(
        0, named=True
    )
    assert told["mean_throughput_l4"] < 0.5 * 8
    (way,) = inspection.inspect(tmp_path / "src.pcapng").ways
    assert way["rate"] is not None and way["acks"] is not None  # noqa: PT018 - for the type checker
    assert way["rate"]["value"] == pytest.approx(8, rel=0.03)
    assert way["acks"]["period"] == pytest.approx(100, rel=0.01)
    assert way["acks"]["thinning"] == "none"


def test_aggregates_have_the_period_of_their_ppdus(tmp_path):
    """With a single station, its A-MPDUs follow each other.

    Each takes at most 5484 µs, or 64 MPDUs, and the rest of the exchange.
    """
    scenario = {
        "duration": "4s",
        "seed": 1,
        "wifi": [
            {
                "name": "cell",
                "standard": "802.11n",
                "rate": {"control": "fixed", "mcs": 7},
                "ap": {"name": "ap"},
                "station": [{"name": "sta"}],
            }
        ],
        "flow": [{"from": "ap", "to": "sta", "preset": "linux", "congestion": "cubic"}],
        "capture": [{"point": "sta", "file": "sta.pcapng"}],
    }
    result = acklab.run(scenario, captures=tmp_path)
    ppdus = result.stations.filter(polars.col("node") == "ap")["total_ppdus_l2"].item()
    (way,) = inspection.inspect(tmp_path / "sta.pcapng").ways
    assert way["acks"] is not None
    assert way["acks"]["period"] == pytest.approx(4000 / ppdus, rel=0.1)


def test_intervals_hold_what_is_true(captured):
    folder, flow = captured
    (way,) = inspection.inspect(folder / "src.pcapng").ways
    assert way["acks"] is not None
    for interval, value in [
        (way["goodput_interval"], flow["mean_throughput_l4"]),
        (way["acks"]["ratio_interval"], flow["total_data_packets_l4"] / flow["total_acks_delivered_l4"]),
        (way["losses"]["share_interval"], flow["total_drops_l2"] / flow["total_data_packets_l4"]),
        (way["round_trip"]["mean_interval"], way["round_trip"]["mean"]),
    ]:
        assert interval is not None
        low, high = interval
        assert low <= value <= high, (interval, value)
        assert high - low < max(value, 0.02)


def test_the_command_line_shows_a_table_and_writes_a_report(captured, tmp_path):
    folder, _ = captured
    done = command("inspect", folder / "src.pcapng", "--report", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    assert "rate of the bottleneck" in done.stdout
    assert "cubic" in done.stdout
    assert "Sequence number over time" in (tmp_path / "report.html").read_text(encoding="utf-8")
    printed = json.loads(command("inspect", folder / "src.pcapng", "--json").stdout)
    assert printed["connections"][0]["ways"][0]["position"] == "sender"


def test_a_capture_that_is_cut_off_is_read_up_to_there(captured, tmp_path):
    folder, _ = captured
    whole = (folder / "src.pcapng").read_bytes()
    (tmp_path / "cut.pcapng").write_bytes(whole[: len(whole) // 2 + 5])
    found = inspection.inspect(tmp_path / "cut.pcapng")
    assert found.cut is not None
    assert "in the midst of a packet" in found.cut
    rate = found.ways[0]["rate"]
    assert rate is not None
    assert rate["value"] == pytest.approx(8, rel=0.02)


@pytest.mark.parametrize(
    ("octets", "told"),
    [
        (b"", "found an empty file, expected a capture as pcap or pcapng, or a log in qlog"),
        (
            b"hello there",
            "found a file that begins with [68, 65, 6c, 6c], expected a capture as pcap or pcapng, or a log in qlog",
        ),
        (b"\x1e[1, 2", "found a text with neither traces nor events, expected a log in qlog"),
        (b'{"name": "acklab", "private": true}\n', "found a text with neither traces nor events, expected a log in qlog"),
        (b"BZh91AY", "found a file that bzip2 compressed, expected a capture"),
        (struct.pack("<IHHi", 0xA1B2C3D4, 2, 4, 0), "found 12 octets of the header of a pcap file, expected 24"),
    ],
)
def test_other_files_are_refused(tmp_path, octets, told):
    (tmp_path / "file").write_bytes(octets)
    done = command("inspect", tmp_path / "file")
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_file_that_is_missing_is_named(tmp_path):
    done = command("inspect", tmp_path / "no.pcap")
    assert done.returncode == 2
    assert "no.pcap: cannot read the capture" in done.stderr


def test_an_empty_capture_has_no_connections(tmp_path):
    (tmp_path / "empty.pcap").write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    done = command("inspect", tmp_path / "empty.pcap")
    assert done.returncode == 0
    assert "found 0 packets and no connection with data" in done.stderr
