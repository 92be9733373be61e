"""The study of TCP/HACK by signal-to-noise ratio: its positions, its envelope, and a part of it."""

import math

import pytest

from acklab.report import Figure
from acklab.studies import Bench, find
from conftest import study_code

STUDY = study_code("hack_snr")
places, downloads = STUDY.places, STUDY.runs

CHANNEL = {
    "model": "snr",
    "access_point_power": 16.0206,
    "noise_figure": 7.0,
    "path_loss": {"exponent": 3.0, "reference_distance": 1.0, "reference_loss": 46.6777},
}


def runs(*goodput):
    return downloads.Downloads(goodput=goodput, timeouts=[0], retransmissions=[0], frames=1.0, unanswered=0.0)


def test_a_ratio_is_a_distance():
    # 16.02 dBm, 46.68 dB at 1 m, noise of −90.95 dBm: 60.29 dB at 1 m, and 30 dB less at 10 m.
    assert places.distance(CHANNEL, 60.29) == pytest.approx(1.0, rel=1e-3)
    assert places.distance(CHANNEL, 30.29) == pytest.approx(10.0, rel=1e-3)


def test_rates_are_tried_around_what_they_need():
    assert places.tried_at(0) == [0, 1, 2, 3, 4]
    assert places.tried_at(7) == [19, 20, 21, 22, 23]
    assert places.lossless(7) == places.Place(7, 23)
    assert [place.mcs for place in places.places(quick=True)] == list(range(8))


def test_the_envelope_takes_the_best_mean_at_each_snr():
    slow, fast = [places.Place(0, snr) for snr in places.tried_at(0)], [places.Place(1, snr) for snr in places.tried_at(1)]
    measured = {place: runs(12.0) for place in slow} | {place: runs(8.0, 26.0) for place in fast if place.snr > 3}
    best = {one.snr: one.place for one in downloads.envelope(measured)}
    assert best[3] == places.Place(0, 3)
    assert best[4] == places.Place(1, 4)
    assert best[20] == places.lossless(1)
    # A geometric mean of 1.1 and 1.05.
    assert downloads.improvement(runs(10.0, 20.0), runs(11.0, 21.0)).mean == pytest.approx(100 * (math.sqrt(1.1 * 1.05) - 1))


def test_a_share_of_the_study(tmp_path):
    chosen = [places.lossless(mcs) for mcs in (4, 7)]
    bench = Bench(find("hack_snr"), tmp_path, quick=True, quiet=True)
    setting = bench.variants("settings.toml").chosen[downloads.WAITING].set
    result = downloads.sweep_of(bench, downloads.WAITING, chosen, setting)
    found = downloads.measured(result)
    pairs = [(places.RATES[place.mcs], found["stock"][place], found["hack"][place]) for place in chosen]
    assert all(8 < downloads.improvement(stock, hack).mean < 18 for _, stock, hack in pairs)
    assert all(hack.acks["total_decompression_failures_l2"] == 0 for _, _, hack in pairs)
    assert all(hack.unanswered + 0.03 < stock.unanswered for _, stock, hack in pairs)
    drawn = STUDY.drawing.by_rate({"as written": pairs, "waiting": pairs})
    assert Figure(drawn, "").to_dict()["kind"] == "figure"


def test_every_setting_is_a_scenario():
    bench = Bench(find("hack_snr"), find("hack_snr").folder)
    for file in ("schemes.toml", "settings.toml"):
        for variant in bench.variants(file).chosen.values():
            bench.source("cell.toml").load(list(variant.set))
