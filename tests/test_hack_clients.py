"""The study of TCP/HACK with several clients: its settings, and a share of it."""

import pytest

from acklab.report import Figure
from acklab.studies import Bench, find
from acklab.studies.runner import load_module
from conftest import BUILT

STUDY = load_module(find("hack_clients"))


def test_a_queue_is_for_all_clients_or_for_each():
    assert STUDY._limit(126, "10", apart=False) == "wifi.0.ap.queue.limit=1260packets"
    assert STUDY._limit(126, "10", apart=True) == "wifi.0.ap.queue.limit=126packets"


def test_settings_with_a_queue_of_their_own_exist():
    settings = Bench(find("hack_clients"), find("hack_clients").folder).variants("settings.toml").chosen
    assert {*STUDY.QUEUES, *STUDY.AMONG_QUEUES} <= {*settings}


@pytest.mark.skipif(not BUILT, reason="needs the compiled core")
def test_a_share_of_the_study(tmp_path):
    bench = Bench(find("hack_clients"), tmp_path, quick=True, quiet=True)
    schemes = (STUDY.STOCK, STUDY.MORE_DATA)
    done = STUDY.run(bench, {("1", name): (STUDY.SCENARIO, ["turns.toml:1", f"schemes.toml:{name}"]) for name in schemes})
    stock, hack = (done["1", name] for name in schemes)
    assert 1.1 < STUDY._gain(done, "1", STUDY.MORE_DATA).mean < 1.17
    assert all(STUDY._share_compressed(result) > 99 for result in hack.results)
    assert all(STUDY.failures(result) == 0 for result in hack.results)
    assert hack.interval(STUDY._unanswered).mean < 1 < stock.interval(STUDY._unanswered).mean
    drawn = STUDY.figures.bars(STUDY.cells(done, ("clients", "scheme"), STUDY.goodput), "clients", "scheme", "Mbps")
    assert Figure(drawn, "").to_dict()["kind"] == "figure"
    assert STUDY._closed_form(bench).rows[0] == ["stock", "124.2", "1.074"]


@pytest.mark.skipif(not BUILT, reason="needs the compiled core")
def test_every_setting_is_a_scenario():
    bench = Bench(find("hack_clients"), find("hack_clients").folder)
    more_data = list(bench.variants("schemes.toml").chosen["MORE DATA"].set)
    for file in ("schemes.toml", "clients.toml", "turns.toml", "settings.toml", "options.toml"):
        for variant in bench.variants(file).chosen.values():
            bench.source(STUDY.SCENARIO).load([*more_data, *variant.set])
    for variant in bench.variants("offers.toml").chosen.values():
        bench.source(STUDY.DATAGRAMS).load(list(variant.set))
