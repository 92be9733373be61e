"""The study of TCP/HACK over 802.11a: the cost of ACKs by hand, and a share of the study."""

from dataclasses import replace

import pytest

from acklab import figures
from acklab.report import Figure
from acklab.statistics import Interval
from acklab.studies import Bench, find
from acklab.studies import runs as of_runs
from conftest import study_code

STUDY = study_code("hack_80211a")
transfer, runs = STUDY.transfer, STUDY.runs

# The paper's stock TCP: 9060 ACKs of 52 bytes; an eighth of them sent twice, backoffs of 8.2 slots
# on average.
STOCK = transfer.Cost(9060, 471_120, 0, 0, 0, frames=10_147, answered=9060, backoff=8.2, late=37.0)


def test_times_of_acks_are_those_of_table_3():
    assert pytest.approx(69.8, abs=0.05) == STOCK.ack_time
    # (34 + 8.2 · 9) µs for each transmission, (16 + 37) µs for each ACK that was answered.
    assert pytest.approx(1093.8, abs=0.05) == STOCK.access_time
    assert pytest.approx(480.2, abs=0.05) == STOCK.answer_time
    hack = replace(STOCK, acks=10, octets=520, compressed=9050, compressed_octets=39_478)
    assert hack.rohc_time == pytest.approx(13.16, abs=0.005)
    assert hack.compressed_mean == pytest.approx(4.362, abs=0.0005)


def test_each_response_frame_with_acks_has_one_octet_more_and_each_ack_one_of_its_context():
    row = {"total_compressed_bytes_l2": 90, "total_augmented_answers_l2": 20, "total_compressed_acks_l2": 25}
    assert transfer.on_answers(row) == 110
    assert transfer.headers_alone(row) == 65


def test_a_number_that_is_none_is_a_dash():
    assert Interval(float("nan"), float("nan"), float("nan"), 0).text() == "–"
    assert Interval.of_row({"mean": 1.5, "low": None, "high": None}).text(1) == "1.5"
    assert Interval.of_row({"mean": 1.5, "low": 1.25, "high": 1.75}).text(signed=True) == "+1.50 ± 0.25"


def test_a_share_of_the_study(tmp_path):
    bench = Bench(find("hack_80211a"), tmp_path, quick=True, quiet=True)
    done = runs.transfers(bench)
    stock, hack = (transfer.costs(bench, done[name])[0] for name in runs.SCHEMES)
    assert stock.acks == hack.frames + hack.compressed
    assert hack.acks < 20
    # Two bytes without timestamps; each of the two takes one byte if it has advanced, and three if
    # it has not (docs/models/rohc.md).
    assert hack.compressed_mean == pytest.approx(4.55, abs=0.03)
    assert hack.carried_mean == pytest.approx(hack.compressed_mean + 2, abs=0.01)
    # Table 2: an ACK of 52 bytes for every second of 26214400/1448 segments.
    assert stock.acks == 9053
    assert stock.octets == pytest.approx(52 * 9053, abs=52)
    assert hack.access_time < stock.access_time / 100
    assert all(of_runs.failures(result) == 0 for result in done["HACK"].results)
    assert Figure(figures.air_shares({name: own.uses for name, own in done.items()}), "").to_dict()["kind"] == "figure"


def test_every_setting_is_a_scenario():
    bench = Bench(find("hack_80211a"), find("hack_80211a").folder)
    for file in (
        "schemes.toml",
        "clients.toml",
        "settings.toml",
        "traffic.toml",
        "crosscheck.toml",
        "losses.toml",
        "sensing.toml",
    ):
        for variant in bench.variants(file).chosen.values():
            bench.source("testbed.toml").load(list(variant.set))


def test_late_sensing_costs_stock_tcp_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "LATE_SENSING", ("0us", "9us"))
    monkeypatch.setattr(STUDY.sensing, "LATE_SENSING", ("0us", "9us"))
    monkeypatch.setattr(runs, "SHORTER", {"duration": "10s"})
    bench = Bench(find("hack_80211a"), tmp_path, quick=True, quiet=True)
    runs.sensed_late(bench)
    monkeypatch.setattr(STUDY.sensing, "_by_whom", lambda _: None)
    table, _ = STUDY.sensing.section(bench).items
    in_time, late, published = table.rows
    assert published[1] == "26.5"
    udp, hack, stock = ([float(row[column].split(" ± ")[0]) for row in (in_time, late)] for column in (1, 2, 3))
    assert udp[0] == udp[1]
    assert hack[1] == pytest.approx(hack[0], rel=0.001)
    assert stock[1] < 0.93 * stock[0]


def test_who_senses_late_is_told_by_node(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "SHORTER", {"duration": "7s"})
    table = STUDY.sensing._by_whom(Bench(find("hack_80211a"), tmp_path, quick=True, quiet=True))
    again = {row[0]: [float(cell.split(" ± ")[0]) for cell in row[1:4]] for row in table.rows[:-1]}
    assert len(again) == 6
    # A sender that senses a slot late adds collisions of stock TCP, and so do such clients.
    # With TCP/HACK, only one node contends for the medium.
    alone = again["in time"]
    for one in ("only the sender, 9 µs", "only the clients, 9 µs"):
        assert alone[0] + 2 < again[one][0] < again["all nodes, 9 µs"][0]
    assert all(abs(own[2] - alone[2]) < 0.5 for own in again.values())
    # A link-layer ACK begins before the DIFS of a bystander ends, even if the DIFS begins when the
    # ACK ends according to the duration fields.
    assert again["none; late link-layer ACKs not in duration fields"] == pytest.approx(alone, abs=0.5)
