"""The study of the limits of TCP/HACK: its settings, and a share of it."""

import polars as pl

from acklab.report import Figure
from acklab.studies import Bench, find
from acklab.sweeps import Variants, load_sweep
from conftest import study_code


def test_every_setting_is_a_scenario():
    runs = study_code("hack_limits").runs
    bench = Bench(find("hack_limits"), find("hack_limits").folder)
    for limit in (*runs.LIMITS, runs.RTT_CLOCKS):
        for variant in bench.variants(f"{limit}.toml").chosen.values():
            for scheme in bench.variants("schemes.toml").chosen.values():
                bench.source(runs.SCENARIO).load([*variant.set, *scheme.set])


def test_a_share_of_the_study(tmp_path, monkeypatch):
    module = study_code("hack_limits")
    some = {"windows": "32 KiB,4 MiB", "clients": "10,50", "batches": "1 ms,4 ms", "rates": "20 Mbps"}
    whole = Bench.variants

    def fewer(bench: Bench, text: str) -> Variants:
        name = text.removesuffix(".toml")
        return whole(bench, f"{text}:{some[name]}" if name in some else text)

    monkeypatch.setattr(Bench, "variants", fewer)
    bench = Bench(find("hack_limits"), tmp_path, quick=True, quiet=True)
    found = module.measures(bench)
    assert set(found) == {claim.measured_by_study for claim in bench.study.file.claim}
    assert all(value > 10 for value in found["thin_gain"].values)
    assert list(found["thin_plain"].values) == [100, 100]
    assert all(value > 3 for value in found["short_gain"].values)
    clocks = module.runs.round_trips(load_sweep(bench.folder / module.runs.RTT_CLOCKS))
    for setting, of in clocks.group_by("setting"):
        stock, hack = (of.filter(pl.col("scheme") == scheme)["srtt"].mean() for scheme in ("stock", "HACK"))
        assert hack > stock + 2, f"{setting}: a retained ACK lengthens the round trip"
    sections = module.sections(bench)
    assert all(item.commands for section in sections for item in section.items)
    assert sum(isinstance(item, Figure) for section in sections for item in section.items) == 4
