"""The mean cycles of a frame exchange and of a download, and numbers calculated by hand."""

from dataclasses import replace

import pytest

from acklab.studies import closed_form


def scenario(standard, **wifi):
    cell = {"name": "cell", "standard": standard, "ap": {}, **wifi}
    return {"wifi": [cell], "flow": [{"transport": {"protocol": "udp"}, "traffic": {"write": "1472B"}}]}


def of(standard, **wifi):
    return closed_form.cycle(closed_form.of_scenario(scenario(standard, **wifi)))


@pytest.mark.parametrize(
    ("mode", "octets", "microseconds"),
    [
        (closed_form.dsss(11), 1536, 192 + 1118),  # 12288 bits / 11 = 1117.1
        (closed_form.dsss(2), 14, 192 + 56),
        (closed_form.dsss(2, short_preamble=True), 14, 96 + 56),
        # 1 Mbps has the long preamble only
        (closed_form.dsss(1, short_preamble=True), 14, 192 + 112),
        (closed_form.ofdm(54), 1536, 20 + 57 * 4),  # 16 + 12288 + 6 bits in symbols of 216
        (closed_form.ofdm(24), 14, 20 + 2 * 4),
        (closed_form.ofdm(6), 14, 20 + 6 * 4),
        (closed_form.ofdm(24), 32, 20 + 3 * 4),
        # 12326 bits in 23 symbols of 540 and 3.6 µs: 82.8, up to the next 4
        (closed_form.ht(7), 1538, 36 + 84),
        # two encoders: 12332 bits in 6 symbols of 2160: 21.6
        (closed_form.ht(7, streams=4), 1538, 48 + 24),
        # two encoders: 12364 bits in 4 symbols of 3120: 14.4
        (closed_form.vht(9, streams=2), 1542, 44 + 16),
        (closed_form.ht(0, width=20, guard=800), 1538, 36 + 475 * 4),  # 12326 bits in symbols of 26
    ],
)
def test_durations_of_ppdus(mode, octets, microseconds):
    assert mode.duration(octets) == microseconds * 1000


@pytest.mark.parametrize(
    ("mode", "mbps"),
    [
        (closed_form.ht(7, 2), 300),
        (closed_form.ht(7, 4), 600),
        (closed_form.vht(9, 2), 866.7),
        (closed_form.ht(0), 15),
        (closed_form.ht(0, 1, 20, 800), 6.5),
    ],
)
def test_rates_are_those_of_the_tables(mode, mbps):
    assert mode.mbps == pytest.approx(mbps, abs=0.05)


@pytest.mark.parametrize(
    ("cycle", "microseconds"),
    [
        # DIFS, mean backoff, data, SIFS, ACK.
        (of("802.11b"), 50 + 15.5 * 20 + 1310 + 10 + 248),
        (of("802.11b", short_preamble=True), 50 + 310 + 96 + 1118 + 10 + 152),
        (of("802.11b", short_preamble=True, basic_rates=["1Mbps", "2Mbps", "5.5Mbps", "11Mbps"]), 50 + 310 + 1214 + 10 + 96 + 11),
        (of("802.11a"), 34 + 67.5 + 248 + 16 + 28),
        # The signal extension of 6 µs compensates the shorter SIFS.
        (of("802.11g"), 28 + 67.5 + 254 + 10 + 34),
        (of("802.11g", long_slot=True), 50 + 150 + 254 + 10 + 34),
        (of("802.11g", protection="cts-to-self"), 50 + 150 + 248 + 10 + 254 + 10 + 34),
        (of("802.11a", rts_threshold="500B"), 34 + 67.5 + (28 + 16 + 28 + 16) + 248 + 16 + 28),
        # AIFS of 43 µs; four streams, one frame.
        (of("802.11n", streams=4, aggregation={"max_bytes": "0B"}), 110.5 + 72 + 16 + 28),
        # 41 subframes of 1544 bytes and one of 1542: 518806 bits in 481 symbols of 1080, 1731.6 µs.
        (of("802.11n", streams=2), 110.5 + 40 + 1732 + 16 + 32),
        # 64 subframes of 1544, the last of 1542: 790510 bits in 254 symbols of 3120, 914.4 µs.
        (of("802.11ac", streams=2), 110.5 + 44 + 916 + 16 + 32),
        # In 1000 µs, 22 subframes: 271750 bits in 252 symbols, 907.2 µs.
        (of("802.11n", streams=2, access={"best_effort": {"txop_limit": "1000us"}}), 110.5 + 40 + 908 + 16 + 32),
        # In 300 µs, two exchanges of a frame each with SIFS between them.
        (
            of("802.11n", streams=4, aggregation={"max_bytes": "0B"}, access={"best_effort": {"txop_limit": "300us"}}),
            110.5 + 116 + 16 + 116,
        ),
    ],
)
def test_cycles_by_hand(cycle, microseconds):
    assert cycle.total == microseconds * 1000
    assert cycle.goodput == pytest.approx(cycle.octets * 8 / microseconds)


def test_limits_of_an_aggregate():
    assert of("802.11n").frames == 65_535 // 1544
    assert of("802.11ac", streams=2).frames == 64
    assert of("802.11ac", streams=2, aggregation={"max_bytes": "65535B"}).frames == 42
    assert of("802.11n", aggregation={"max_frames": 8}).frames == 8
    # At 15 Mbps 4 ms hold 7432 bytes behind the preamble: four frames.
    assert of("802.11n", rate={"mcs": 0}, aggregation={"max_time": "4ms"}).frames == 4
    assert of("802.11n", rate={"mcs": 0}).frames == 6
    two = of("802.11n", streams=2, aggregation={"a_msdu": "3839B", "max_frames": 2})
    assert (two.frames, two.octets) == (2, 4 * 1472)


def test_the_answer_is_chosen_by_the_reference_rate():
    cell = closed_form.of_scenario(scenario("802.11n", rate={"mcs": 1}))
    assert cell.response_to(cell.mode).mbps == 12
    cell = closed_form.of_scenario(scenario("802.11a", basic_rates=["24Mbps", "54Mbps"], rate={"rate": "6Mbps"}))
    assert cell.response_to(cell.mode).mbps == 24


def test_the_parts_of_a_cycle_are_all_of_it():
    cycle = of("802.11g", protection="cts-to-self")
    parts = (cycle.aifs, cycle.backoff, cycle.control, cycle.preamble, cycle.payload, cycle.headers, cycle.sifs, cycle.response)
    assert sum(parts) == cycle.total
    assert cycle.control == 258_000
    assert cycle.payload == round(1472 * 8 / 54 * 1000)
    assert of("802.11a", late_answers="37us").total == of("802.11a").total + 37_000


def cell_of(standard, **wifi):
    of = {"name": "cell", "standard": standard, "ap": {}, "aggregation": {"max_time": "4ms"}, **wifi}
    transport = {"protocol": "tcp", "mss": "1460B", "timestamps": False}
    return closed_form.of_scenario({"wifi": [of], "flow": [{"transport": transport}]})


@pytest.mark.parametrize(
    ("of", "stock", "hack"),
    [
        # Two segments and an ACK of 76 bytes; 18 bytes of a longer ACK fit the symbols of 14.
        (cell_of("802.11a"), 2 * (101.5 + 248 + 16 + 28) + 101.5 + 32 + 16 + 28, 2 * (101.5 + 248 + 16 + 28)),
        # 42 segments, then 21 ACKs: 1762 bytes in 14 symbols of 1080; a Block ACK of 32 and of 116
        # bytes.
        (cell_of("802.11n", streams=2), 2 * (110.5 + 1772 + 16 + 32 + 110.5 + 92 + 16 + 32), 2 * (110.5 + 1772 + 16 + 60)),
        # Nine segments of 1544 bytes in symbols of 108; 4 ACKs (334 bytes), then 5 (418); response
        # frames at 12 Mbps.
        (
            cell_of("802.11n", rate={"mcs": 1}),
            2 * (110.5 + 3744 + 16 + 44) + (110.5 + 128 + 16 + 44) + (110.5 + 152 + 16 + 44),
            2 * (110.5 + 3744 + 16) + 56 + 60,
        ),
    ],
)
def test_downloads_by_hand(of, stock, hack):
    assert closed_form.stock(of).total == stock * 1000
    assert closed_form.hack(of).total == hack * 1000
    assert closed_form.gain(of) == pytest.approx(100 * (stock / hack - 1))
    assert closed_form.hack(of).appended == (closed_form.hack(of).total - closed_form.hack(of, compressed=0).total)


def test_the_same_octets_over_udp():
    of = cell_of("802.11a")
    assert closed_form.datagrams(of).goodput == pytest.approx(1472 * 8 / (101.5 + 248 + 16 + 28))


def test_a_single_ack_is_not_aggregated():
    (ack,) = closed_form.stock(replace(cell_of("802.11n"), frames=1)).acks
    assert ack.response == 28_000
