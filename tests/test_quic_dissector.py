"""tshark reads the frames of acklab's own QUIC, whose packets are not encrypted, by the dissector
of this project.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import acklab

pytestmark = [
    pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark"),
]
DISSECTOR = Path(__file__).parents[1] / "dissectors" / "quic.lua"
SCENARIO = {
    "duration": "2s",
    "seed": 1,
    "link": [
        {
            "name": "net",
            "from": "server",
            "to": "client",
            "forward": {"rate": "20Mbps", "delay": "10ms", "loss": {"model": "list", "packets": [30]}},
            "reverse": {"rate": "20Mbps", "delay": "10ms"},
        }
    ],
    "flow": [{"name": "page", "from": "server", "to": "client", "transport": "quic", "page": {"document": "200kB"}}],
    "capture": [{"point": "client", "file": "client.pcapng"}],
}


def tshark(path, filter, *fields):
    words = ["tshark", "-n", "-X", f"lua_script:{DISSECTOR}", "-r", str(path), "-Y", filter, "-T", "fields"]
    done = subprocess.run(
        [*words, *(word for field in fields for word in ("-e", field))], capture_output=True, text=True, check=True
    )
    assert "lua" not in done.stderr.lower(), done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captures")
    acklab.run(SCENARIO, captures=folder)
    return next(folder.glob("*.pcapng"))


def test_every_packet_is_read(capture):
    every = tshark(capture, "frame", "frame.number")
    assert len(tshark(capture, "acklab_quic", "frame.number")) == len(every) > 100
    assert tshark(capture, "_ws.malformed or _ws.lua.error", "frame.number") == []


def test_the_handshake_and_its_ends_are_told(capture):
    source, kind, said = tshark(capture, "frame.number == 1", "ip.src", "acklab_quic.type", "_ws.col.Info")[0]
    # Nodes have addresses in the order of their names, so that the client has the first: the
    # requests for the page opens the connection.
    assert (source, kind) == ("10.0.0.1", "0")
    assert said.startswith("Initial 0: CRYPTO")
    assert tshark(capture, "acklab_quic.frame == 0x1e", "ip.src")[0] == ["10.0.0.2"]


def test_streams_add_up_and_acknowledgments_tell_the_gap(capture):
    from_server = "ip.src == 10.0.0.2 and acklab_quic.stream"
    told = " ".join(text for (text,) in tshark(capture, from_server, "_ws.col.Info"))
    assert max(int(end) for end in re.findall(r"STREAM 0 \d+–(\d+)", told)) == 200_000
    acked = [
        text for (texts,) in tshark(capture, "ip.src == 10.0.0.1", "acklab_quic.ack.acked") for text in texts.split(",") if text
    ]
    assert any(" " in text or "–" in text for text in acked)
    assert tshark(capture, "ip.src == 10.0.0.1 and acklab_quic.ack.ranges > 0", "acklab_quic.ack.acked"), (
        "the ACKs after the lost packet have a gap"
    )


def test_receive_timestamps_are_told_by_packet(tmp_path):
    acklab.run(SCENARIO, set={"flow.0.transport": {"protocol": "quic", "receive_timestamps": {}}}, captures=tmp_path)
    path = next(tmp_path.glob("*.pcapng"))
    assert tshark(path, "_ws.malformed or _ws.lua.error", "frame.number") == []
    frames = tshark(
        path,
        "acklab_quic.frame == 0x03178307 and ip.src == 10.0.0.1",
        "frame.time_epoch",
        "acklab_quic.ack.largest",
        "acklab_quic.ack.received",
    )
    arrived = {int(number): int(time) for _, _, told in frames for number, time in re.findall(r"(\d+) at (\d+)", told)}
    assert len(arrived) > 100
    numbers = sorted(arrived)
    # The lost packet arrived again with another number. No packet overtakes another.
    assert [arrived[number] for number in numbers] == sorted(arrived.values())
    # The capture is at the receiver, and its frames have the receiver's clock.
    captured = [float(time) for (time,) in tshark(path, "ip.src == 10.0.0.2 and acklab_quic.stream", "frame.time_epoch")]
    spread = 1e6 * (captured[-1] - captured[0])
    assert max(arrived.values()) - min(arrived.values()) == pytest.approx(spread, rel=0.2)
