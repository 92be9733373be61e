"""A share of each study runs, and its theory holds.

A share takes seconds: it has one seed, or fewer settings.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from acklab.report import Figure, Section, Table
from acklab.studies import Bench, Measure, find
from acklab.sweeps import load_sweep
from conftest import load_every_variant, one_seed, study_code


@dataclass(frozen=True)
class Ran:
    """A share of a study that has run: its numbers, and the sections of its report."""

    module: Any
    bench: Bench
    measures: Mapping[str, Measure]
    """The numbers by name; none if the study measures none."""
    sections: Sequence[Section]

    @cached_property
    def means(self) -> dict[str, float]:
        """Returns the means of the numbers over the seeds."""
        return {name: found.interval.mean for name, found in self.measures.items()}

    @property
    def figures(self) -> list[Figure]:
        """Returns the figures of all sections."""
        return [item for section in self.sections for item in section.items if isinstance(item, Figure)]

    @property
    def tables(self) -> list[Table]:
        """Returns the tables of all sections."""
        return [item for section in self.sections for item in section.items if isinstance(item, Table)]

    def values(self, name: str) -> list[float]:
        """Returns a number of each run."""
        return list(self.measures[name].values)

    def swept(self, name: str) -> pl.DataFrame:
        """Returns the summary of a sweep of the share."""
        summary: pl.DataFrame = self.module.summary(load_sweep(self.bench.folder / name))
        return summary


@dataclass(frozen=True)
class Share:
    """What makes a share of a study, and its theory."""

    theory: Callable[[Ran], None]
    is_one_seed: bool
    settings: Mapping[str, Any]
    """Names in the study's modules with new values, or with functions of the present values."""


SHARES: dict[str, Share] = {}


def share_of(study: str, *, is_one_seed: bool = False, **settings: Any) -> Callable[[Callable[[Ran], None]], None]:
    """Registers a function that asserts the theory of a study."""

    def register(theory: Callable[[Ran], None]) -> None:
        SHARES[study] = Share(theory, is_one_seed, settings)

    return register


def modules_of(module: Any) -> list[Any]:
    """Returns the module of a study, and those of its folder that it imports."""
    return [module, *(part for part in vars(module).values() if isinstance(part, ModuleType) and "study_" in part.__name__)]


def mean(runs: pl.DataFrame, column: str, **of: str) -> Any:
    """Returns the mean of a column over the runs with these values."""
    own = runs.filter(*(pl.col(name) == value for name, value in of.items()))
    assert len(own) > 0, of
    return own[column].mean()


@share_of("tack_buffer", BETAS=(2, 4), CONTROLLERS=("bbr-tack",))
def _(ran: Ran) -> None:
    for beta in (2, 4):
        # An ACK waits for its share of the window, or for its share of the round trip.
        assert ran.values(f"count_{beta}")[0] == pytest.approx(beta / (beta - 1), rel=0.02)
        assert ran.values(f"time_{beta}")[0] == pytest.approx((beta + 1) / beta, rel=0.02)
    assert ran.figures


@share_of("tack_controllers", is_one_seed=True)
def _(ran: Ran) -> None:
    for controller in ("vegas", "copa"):
        # One seed: the overshoot of slow start is random, and both controllers take long to recover
        # from it.
        assert ran.means[f"{controller}_tack"] > 0.75
        assert ran.means[f"{controller}_law"] < 0.1
    table = ran.sections[1].items[1]
    assert isinstance(table, Table)
    assert len(table.rows) == 10


@share_of("tack_estimators")
def _(ran: Ran) -> None:
    assert min(ran.values("iacks_spare")) > 5, "without IACKs a loss is reported at most a quarter of RTTmin later"
    assert all(value == pytest.approx(22, abs=3) for value in ran.values("bias_mean"))
    assert len(ran.figures) == 4


@share_of("tack_friendliness", QUICK_QUEUES="queues.toml:1 bdp")
def _(ran: Ran) -> None:
    ours, theirs = ran.values("cubic_tack"), ran.values("cubic_standard")
    assert min(theirs) > 60, "over a queue of 1 bdp BBR takes more than CUBIC"
    assert ran.values("cubic_difference") == [one - other for one, other in zip(ours, theirs, strict=True)]
    assert len(ran.sections) == 1
    assert len(ran.tables[0].rows) == 8


@share_of("tack_miracast", is_one_seed=True, QUICK_LOADS="loads.toml:1", CLAIMED="loads.toml:1")
def _(ran: Ran) -> None:
    for stream in ("rtp", "cubic", "bbr", "tack"):
        assert ran.values(f"macroblocking_{stream}") == [0.0], "one neighbour leaves room for the video"
    # The tuned memory of 20 TACK intervals is less than two frames long, so that a slow frame can
    # delay the next ones by more than 100 ms: a run of frames in seven seconds at most.
    assert max(ran.values("macroblocking_messages")) < 200
    assert max(ran.values("rebuffering_tack")) < 2
    _, causes = ran.sections
    (table,) = causes.items
    assert isinstance(table, Table)
    assert len(table.rows) == len(ran.bench.variants("alternatives.toml").chosen) + 3
    assert [row[1] for row in ran.tables[0].rows][:3] == ["RTP over UDP", "TCP CUBIC", "TCP BBR"]


@share_of("tack_reordering", SETTLING=("0", "0.25", "1"))
def _(ran: Ran) -> None:
    assert max(ran.values("needless_quarter")) == 0, "5 ms are less than a quarter of 40 ms"
    assert min(ran.values("needless_quarter_20")) > 80, "20 ms are more"
    assert max(ran.values("needless_adaptive_20")) < 1
    assert min(ran.values("wait_quarter")) > 0
    assert ran.figures


@share_of("tack_wan", is_one_seed=True, LINKS={"case 1": "802.11g"}, CAUSES={"protection": ("case 1",)})
def _(ran: Ran) -> None:
    # β/RTTmin for 120 s, and few other ACKs.
    assert ran.means["acks_tack_1"] == pytest.approx(24_000, rel=0.08)
    assert ran.means["gain_1"] > 8
    runs = ran.module.runs
    senders = runs.by_case(runs.again(ran.bench, "cases"))["sender"].unique().sort().to_list()
    assert senders == ["TACK", "TCP BBR", "TCP BBR Linux", "TCP BBR RFC 5681", "TCP CUBIC"]
    by_cause = runs.by_cause(ran.module.run_causes(ran.bench))
    assert by_cause.select(pl.col("cause", "case").unique()).rows() == [("protection", "case 1")]
    table = next(item for item in ran.sections[1].items if isinstance(item, Table))
    chosen = ran.bench.variants("alternatives.toml").chosen
    assert [row[1] for row in table.rows] == [chosen[cause].title for cause in ("as chosen", "protection") for _ in range(2)]


@share_of(
    "tack_wlan",
    is_one_seed=True,
    THINNED=(2, 8),
    CAUSES={"as chosen": ("802.11g",), "5 others": ("802.11g",)},
    UPLINKS=lambda uplinks: {"802.11g": uplinks["802.11g"]},
)
def _(ran: Ran) -> None:
    for link in ("b", "g", "n", "ac"):
        assert ran.means[f"gain_{link}"] > 8, link
    assert ran.means["share_tack_g"] == pytest.approx(1.9, abs=0.3)
    assert ran.means["actual_tack"] > ran.means["actual_l2"]
    assert ran.means["client_gain_g"] > ran.means["gain_g"], "ACKs at 12 Mbps cost more"
    links, thinned, client, causes = ran.sections
    tables = [next(item for item in section.items if isinstance(item, Table)) for section in (links, thinned, client, causes)]
    assert [len(table.rows) for table in tables] == [12, 10, 5, 6]


@share_of("quic_daass", QUICK=lambda quick: {**quick, "size": "sizes.toml:1 MB"})
def _(ran: Ran) -> None:
    assert len(ran.figures) == 2
    (table,) = (item for item in ran.sections[-1].items if isinstance(item, Table))
    times = {(stack, policy): float(time.split()[0]) for _, stack, policy, time, *_ in table.rows}
    # With DAASS, a window that grows per ACK saves round trips of 630 ms. A window that grows per
    # acknowledged byte saves none.
    assert times["TCP per ACK", "DAASS 2"] < times["TCP per ACK", "every 2"] - 0.6
    assert times["QUIC", "DAASS 2"] == pytest.approx(times["QUIC", "every 2"], rel=0.05)


@share_of("quic_parity", QUICK_PATHS="paths.toml:thin")
def _(ran: Ran) -> None:
    titles = [section.title for section in ran.sections]
    assert titles == ["Ratio to the other implementation", "Eleven paths", "Controllers of quinn"]
    assert [table.caption for table in ran.tables] == ["newreno", "cubic", "Ratios"]
    # An ACK of quinn-proto has about 62 bytes, and ours no more: the return link of 250 kbps
    # carries them all.
    for row in ran.tables[0].rows:
        assert float(row[-1].split(" · ")[0]) < 90, row


@share_of("quic_ack_wifi", QUICK=lambda quick: {**quick, "stations": "stations.toml:1"})
def _(ran: Ran) -> None:
    assert len(ran.figures) == 3
    tables = [item for item in ran.sections[-1].items if isinstance(item, Table)]
    assert [table.caption for table in tables] == ["802.11n, TCP", "802.11n, QUIC"]
    for table in tables:
        every_2, every_10 = table.rows
        # Without losses, there are half as many ACKs as packets, or a tenth. Their frames take less
        # airtime.
        assert float(every_2[3]) == pytest.approx(0.5, abs=0.02)
        assert float(every_10[3]) == pytest.approx(0.1, abs=0.02)
        assert float(every_10[5]) < float(every_2[5])


@share_of("thinner_stations", is_one_seed=True)
def _(ran: Ran) -> None:
    # Without aggregation, a driver that thins ACKs saves as much as TACK.
    assert ran.means["gain_plain_g"] > 8
    assert ran.means["gain_scsc_g"] < 5
    runs = ran.module.summary(ran.module.again(ran.bench, "cells"), *ran.module.BY)
    assert mean(runs, "air", scheme="SCSC") < 0.6 * mean(runs, "air", scheme="plain")
    goodputs = [mean(runs, "goodput", scheme=scheme) for scheme in ("HACK", "SCSC", "plain")]
    assert goodputs[0] > goodputs[1] > goodputs[2]


@share_of("quic_ack_rate", is_one_seed=True)
def _(ran: Ran) -> None:
    runs = ran.module.summary(ran.module.again(ran.bench, "rates"), ran.module.BY)
    for requested in (1, 4):
        acks = mean(runs, "acks", condition="clean", controller="BBR", request=str(requested))
        assert acks == pytest.approx(requested, rel=0.1), requested
    assert mean(runs, "acks", condition="clean", controller="BBR", request="phase") < 5
    assert ran.means["cubic_4"] == pytest.approx(1, abs=0.1)
    # The rule `phase` changes its requests, so it sends more frames.
    frames = [mean(runs, "frames", controller="BBR", request=request) for request in ("phase", "4")]
    assert frames[0] > frames[1]


@share_of("quic_reordering", is_one_seed=True)
def _(ran: Ran) -> None:
    assert ran.means["fixed_2"] < 0.9 < ran.means["adaptive_2"]
    # An eighth of a round trip is 5 ms, beyond which the time threshold declares packets lost.
    assert ran.means["adaptive_10"] < 0.5 < ran.means["both_10"]
    runs = ran.swept(ran.module.SWEEP)
    of = {"controller": "CUBIC", "late": "10"}
    assert mean(runs, "needless", threshold="3", **of) > 0.5
    assert mean(runs, "needless", threshold="adaptive 2 RTT", **of) < 0.1


@share_of("l4s_thinning", is_one_seed=True)
def _(ran: Ran) -> None:
    assert ran.means["law"] == pytest.approx(1, abs=0.4)
    assert ran.means["queue"] < 2
    assert 0.4 < ran.means["coupling"] < 2.5


@share_of("accecn_filtering", is_one_seed=True)
def _(ran: Ran) -> None:
    assert ran.means["option"] == 0
    assert ran.means["classic"] > 30
    assert ran.means["knows"] > 30


@share_of("quic_careful_resume", is_one_seed=True)
def _(ran: Ran) -> None:
    # Two round trips of slow start at least are left out of eight.
    assert ran.means["satellite_same"] < 0.75
    assert max(ran.means["satellite_4"], ran.means["satellite_16"]) < 0
    runs = ran.swept(ran.module.SATELLITE)
    times = {saved: mean(runs, "time", saved=saved) for saved in ("nothing", "other path")}
    assert times["nothing"] == times["other path"], "an unconfirmed round trip permits no jump"
    # More than two bandwidth-delay products do not fit path and queue.
    assert mean(runs, "lost", saved="16 BDP") > 100 > mean(runs, "lost", saved="nothing")
    beside = ran.swept(ran.module.COMPETING).filter(pl.col("competing") == "beside BBR")
    assert mean(beside, "lost", saved="4 BDP") > mean(beside, "lost", saved="nothing")


@share_of("quic_receive_timestamps", is_one_seed=True)
def _(ran: Ran) -> None:
    assert ran.means["copa_4"] > 1.15
    assert ran.means["cubic_4"] == pytest.approx(1, abs=0.02)
    # Packets that are late by 20 ms, with intervals of 40 ms and more: at most a third.
    assert 10 < ran.means["bursts_without"] < 34
    assert max(ran.means["bursts_with"], ran.means["jitter_with"], ran.means["clean_without"]) < 2
    runs = ran.swept(ran.module.SWEEP)
    of = {"controller": "BBR", "request": "every 2"}
    added = mean(runs, "octets", timestamps="with", **of) - mean(runs, "octets", timestamps="without", **of)
    # The type adds three bytes. The count of ranges follows, and a range with its position, its
    # count and two times. The first is a time of seconds in µs.
    assert added == pytest.approx(3 + 1 + 1 + 1 + 4 + 2, abs=0.5)


@pytest.mark.parametrize("study", SHARES)
def test_the_theory_of_a_study_holds_for_a_share_of_it(study, monkeypatch, tmp_path):
    share, module = SHARES[study], study_code(study)
    for name, value in share.settings.items():
        owners = [owner for owner in modules_of(module) if hasattr(owner, name)]
        assert owners, name
        for owner in owners:
            monkeypatch.setattr(owner, name, value(getattr(owner, name)) if callable(value) else value)
    bench = one_seed(study, tmp_path) if share.is_one_seed else Bench(find(study), tmp_path, quick=True, quiet=True)
    measures = module.measures(bench) if hasattr(module, "measures") else {}
    ran = Ran(module, bench, measures, list(module.sections(bench)))
    share.theory(ran)
    assert all(isinstance(section, Section) and section.items for section in ran.sections)
    assert ran.figures or ran.tables
    assert all(figure.commands for figure in ran.figures)
    if not share.settings:
        claimed = {claim.measured_by_study for claim in bench.study.file.claim} - {None}
        assert claimed <= set(ran.measures), "a quick run has all claims"


VARIANTS: list[tuple[Any, ...]] = [
    ("tack_wan", "path.toml", ("senders.toml", "cases.toml", "alternatives.toml")),
    ("tack_wlan", "cell.toml", ("senders.toml", "rtts.toml", "lossy_link.toml")),
    ("quic_daass", "path.toml", ("stacks.toml",), ("paths.toml", "sizes.toml", "policies.toml")),
    ("quic_parity", "path.toml", ("paths.toml",), ("endpoints.toml",), ("controllers.toml",)),
    ("quic_ack_wifi", "cell.toml", ("stacks.toml",), ("cells.toml", "stations.toml", "policies.toml")),
    ("ack_relief", "cell.toml", ("cells.toml", "schemes.toml", "wan.toml")),
    ("thinner_stations", "cell.toml", ("cells.toml", "controllers.toml", "schemes.toml")),
    ("quic_ack_rate", "path.toml", ("conditions.toml", "controllers.toml", "requests.toml", "grid.toml")),
    ("quic_reordering", "path.toml", ("controllers.toml", "requests.toml", "lateness.toml", "thresholds.toml")),
    ("quic_careful_resume", "path.toml", ("paths.toml", "sizes.toml", "competing.toml", "satellite.toml", "vdsl.toml")),
    ("quic_receive_timestamps", "path.toml", ("controllers.toml", "requests.toml", "return_paths.toml", "timestamps.toml")),
    ("l4s_thinning", "path.toml", ("competing.toml", "thinning.toml")),
    ("accecn_filtering", "path.toml", ("ecn_feedback.toml", "filters.toml")),
]
"""Studies, a scenario of each, and layers of files of variants."""


@pytest.mark.parametrize(("study", "scenario", "layers"), [(study, file, layers) for study, file, *layers in VARIANTS])
def test_every_variant_of_a_study_is_a_scenario(study, scenario, layers):
    load_every_variant(study, scenario, *layers)


def test_every_cause_of_tack_wlan_is_a_scenario():
    bench = Bench(find("tack_wlan"), find("tack_wlan").folder)
    for name, on in study_code("tack_wlan").runs.CAUSES.items():
        scenario = "busy_cell.toml" if name.endswith("others") else "cell.toml"
        for link in on:
            bench.source(scenario).load(bench.sets([f"../tack_ideal/links.toml:{link}", f"alternatives.toml:{name}"]))
