"""The study of TCP/HACK with several clients: its settings, and a share of it."""

from acklab import figures
from acklab.report import Figure
from acklab.studies import Bench, find
from acklab.studies import runs as of_runs
from conftest import study_code

STUDY = study_code("hack_clients")
runs, figure_10 = STUDY.runs, STUDY.figure_10


def test_a_queue_is_for_all_clients_or_for_each():
    assert runs.limit(126, "10", apart=False) == "wifi.0.ap.queue.limit=1260packets"
    assert runs.limit(126, "10", apart=True) == "wifi.0.ap.queue.limit=126packets"


def test_settings_with_a_queue_of_their_own_exist():
    settings = Bench(find("hack_clients"), find("hack_clients").folder).variants("settings.toml").chosen
    assert {*runs.QUEUES, *runs.AMONG_QUEUES} <= {*settings}


def test_a_share_of_the_study(tmp_path):
    bench = Bench(find("hack_clients"), tmp_path, quick=True, quiet=True)
    schemes = (runs.STOCK, runs.MORE_DATA)
    done = bench.runs({("1", name): (runs.SCENARIO, ["round_robin.toml:1", f"schemes.toml:{name}"]) for name in schemes})
    stock, hack = (done["1", name] for name in schemes)
    assert 1.1 < runs.gain(done, "1", runs.MORE_DATA).mean < 1.17
    assert all(figure_10.share_compressed(result) > 99 for result in hack.results)
    assert all(of_runs.failures(result) == 0 for result in hack.results)
    assert hack.interval(figure_10._unanswered).mean < 1 < stock.interval(figure_10._unanswered).mean
    drawn = figures.bars(of_runs.cells(done, ("clients", "scheme"), of_runs.goodput), "clients", "scheme", "Mbps")
    assert Figure(drawn, "").to_dict()["kind"] == "figure"
    assert STUDY.stock_settings._closed_form(bench).rows[0] == ["stock", "124.2", "1.074"]


def test_acks_of_each_segment_of_a_batch_exceed_aifs(tmp_path):
    bench = Bench(find("hack_clients"), tmp_path, quick=True, quiet=True)
    wanted = {acks: (runs.SCENARIO, ["ns3_2014.toml:1", f"acks.toml:{acks}", "schemes.toml:MORE DATA"]) for acks in runs.ACKS}
    within = {acks: own.interval(runs.within_aifs).mean for acks, own in bench.runs(wanted).items()}
    # 42 ACKs of three bytes take 126 bytes, and 21 take 63. At 24 Mbps, an AIFS of 43 µs has room
    # for 121.
    assert within[runs.DELAYED] > 0.95
    assert within[runs.EACH] < 0.05


def test_every_setting_is_a_scenario():
    bench = Bench(find("hack_clients"), find("hack_clients").folder)
    more_data = list(bench.variants("schemes.toml").chosen["MORE DATA"].set)
    for file in (
        "schemes.toml",
        "clients.toml",
        "round_robin.toml",
        "ns3_2014.toml",
        "acks.toml",
        "settings.toml",
        "options.toml",
    ):
        for variant in bench.variants(file).chosen.values():
            bench.source(runs.SCENARIO).load([*more_data, *variant.set])
    for variant in bench.variants("udp_rates.toml").chosen.values():
        bench.source(runs.DATAGRAMS).load(list(variant.set))
