"""The studies of thinners, of QUIC's requests and of marks behind few ACKs run.

A share of each that takes seconds.
"""

import polars as pl
import pytest

from acklab.report import Figure, Section
from conftest import load_every_variant, one_seed, study_code


def a_share(name, folder):
    """The code of a study, its measures with one seed, and its sections, of which each has figures
    or tables with commands.
    """
    module = study_code(name)
    bench = one_seed(name, folder)
    measured = {name: found.interval.mean for name, found in module.measures(bench).items()}
    sections = module.sections(bench)
    assert all(isinstance(section, Section) and section.items for section in sections)
    figures = [item for section in sections for item in section.items if isinstance(item, Figure)]
    assert figures
    assert all(figure.commands for figure in figures)
    claimed = {claim.metric.removeprefix("study.") for claim in bench.study.file.claim if claim.measured_by_study}
    assert claimed <= set(measured), "also a quick run has what is claimed"
    return module, bench, measured


def mean(runs, column, **of):
    own = runs.filter(*(pl.col(name) == value for name, value in of.items()))
    assert len(own) > 0, of
    return own[column].mean()


def test_stations_that_thin(tmp_path):
    module, bench, measured = a_share("thinner_stations", tmp_path)
    # Without aggregation, a driver that thins ACKs saves as much as TACK.
    assert measured["gain_plain_g"] > 8
    assert measured["gain_scsc_g"] < 5
    runs = module.summary(module.again(bench, "cells"), *module.BY)
    assert mean(runs, "air", scheme="SCSC") < 0.6 * mean(runs, "air", scheme="plain")
    assert mean(runs, "goodput", scheme="HACK") > mean(runs, "goodput", scheme="SCSC") > mean(runs, "goodput", scheme="plain")


def test_requests_of_a_quic_sender(tmp_path):
    module, bench, measured = a_share("quic_ack_rate", tmp_path)
    runs = module.summary(module.again(bench, "rates"), module.BY)
    for asked in (1, 4):
        acks = mean(runs, "acks", condition="clean", controller="BBR", request=str(asked))
        assert acks == pytest.approx(asked, rel=0.1), asked
    assert mean(runs, "acks", condition="clean", controller="BBR", request="phase") < 5
    assert measured["cubic_4"] == pytest.approx(1, abs=0.1)
    # The rule `phase` changes its requests, so it sends more frames.
    assert mean(runs, "frames", controller="BBR", request="phase") > mean(runs, "frames", controller="BBR", request="4")


def test_a_reordering_path(tmp_path):
    module, bench, measured = a_share("quic_reordering", tmp_path)
    assert measured["fixed_2"] < 0.9 < measured["adaptive_2"]
    # An eighth of a round trip is 5 ms, beyond which the time threshold declares packets lost.
    assert measured["adaptive_10"] < 0.5 < measured["both_10"]
    runs = module.summary(module.load_sweep(bench.folder / module.SWEEP))
    of = {"controller": "CUBIC", "late": "10"}
    needless = [mean(runs, "needless", threshold=threshold, **of) for threshold in ("3", "adaptive 2 RTT")]
    assert needless[0] > 0.5
    assert needless[1] < 0.1


def test_marks_behind_few_acks(tmp_path):
    _, _, measured = a_share("l4s_thinning", tmp_path)
    assert measured["law"] == pytest.approx(1, abs=0.4)
    assert measured["queue"] < 2
    assert 0.4 < measured["coupling"] < 2.5


def test_filters_and_accurate_ecn(tmp_path):
    _, _, measured = a_share("accecn_filtering", tmp_path)
    assert measured["option"] == 0
    assert measured["classic"] > 30
    assert measured["knows"] > 30


def test_connections_that_resume(tmp_path):
    module, bench, measured = a_share("quic_careful_resume", tmp_path)
    # Two round trips of slow start at least are left out of eight.
    assert measured["satellite_same"] < 0.75
    assert max(measured["satellite_4"], measured["satellite_16"]) < 0
    runs = module.summary(module.load_sweep(bench.folder / module.SATELLITE))
    times = {saved: mean(runs, "time", saved=saved) for saved in ("nothing", "other path")}
    assert times["nothing"] == times["other path"], "an unconfirmed round trip permits no jump"
    # More than two bandwidth-delay products do not fit path and queue.
    assert mean(runs, "lost", saved="16 BDP") > 100 > mean(runs, "lost", saved="nothing")
    beside = module.summary(module.load_sweep(bench.folder / module.COMPETING))
    assert mean(beside, "lost", competing="beside BBR", saved="4 BDP") > mean(
        beside, "lost", competing="beside BBR", saved="nothing"
    )


def test_receive_timestamps(tmp_path):
    module, bench, measured = a_share("quic_receive_timestamps", tmp_path)
    assert measured["copa_4"] > 1.15
    assert measured["cubic_4"] == pytest.approx(1, abs=0.02)
    # Packets that are late by 20 ms, with intervals of 40 ms and more: at most a third.
    assert 10 < measured["bursts_without"] < 34
    assert max(measured["bursts_with"], measured["jitter_with"], measured["clean_without"]) < 2
    runs = module.summary(module.load_sweep(bench.folder / module.SWEEP))
    octets = {one: mean(runs, "octets", controller="BBR", request="every 2", timestamps=one) for one in ("without", "with")}
    # The type adds three bytes. The count of ranges follows, and a range with its position, its
    # count and two times. The first is a time of seconds in µs.
    assert octets["with"] - octets["without"] == pytest.approx(3 + 1 + 1 + 1 + 4 + 2, abs=0.5)


def test_every_variant_is_a_scenario():
    load_every_variant("thinner_stations", "cell.toml", ("cells.toml", "controllers.toml", "schemes.toml"))
    load_every_variant("quic_ack_rate", "path.toml", ("conditions.toml", "controllers.toml", "requests.toml", "grid.toml"))
    load_every_variant("quic_reordering", "path.toml", ("controllers.toml", "requests.toml", "lateness.toml", "thresholds.toml"))
    load_every_variant(
        "quic_careful_resume", "path.toml", ("paths.toml", "sizes.toml", "competing.toml", "satellite.toml", "vdsl.toml")
    )
    receive = ("controllers.toml", "requests.toml", "return_paths.toml", "timestamps.toml")
    load_every_variant("quic_receive_timestamps", "path.toml", receive)
    load_every_variant("l4s_thinning", "path.toml", ("competing.toml", "thinning.toml"))
    load_every_variant("accecn_filtering", "path.toml", ("ecn_feedback.toml", "filters.toml"))
