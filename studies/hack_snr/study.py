"""Measures and report sections of the study."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, geometric_mean

from acklab.report import Figure, Section, Table
from acklab.statistics import Interval, mean_interval, rare_events, ratio_interval
from acklab.studies import Bench, Measure

from . import drawing
from .places import RATES, distance, lossless
from .runs import (
    AS_WRITTEN,
    HACK,
    LOSSY,
    SCENARIO,
    SOME_RATES,
    STOCK,
    WAITING,
    Best,
    Downloads,
    Measured,
    envelope,
    improvement,
    kept,
    measured,
    of_many_seeds,
    run,
)

COMMAND = "acklab study hack_snr"
FAST = 90
"""Rate above which the improvement increases to about 14 % in the paper [Mbps]."""


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns numbers of claims that are in no table of a single run."""
    found = {name: measured(result) for name, result in run(bench).items()}
    everywhere = [runs for own in found.values() for runs in own[HACK].values()]
    waited = {scheme: _timeouts(envelope(found[AS_WRITTEN][scheme])) for scheme in (STOCK, HACK)}
    return {
        **_improvements(found[AS_WRITTEN], measured(of_many_seeds(bench, AS_WRITTEN)), ""),
        **_improvements(found[WAITING], measured(of_many_seeds(bench, WAITING)), f"_{WAITING}"),
        "failures": Measure.of(rare_events([count for runs in everywhere for count in runs.failures]), [COMMAND]),
        "timeouts": Measure.of(rare_events(waited[HACK], waited[STOCK]), [COMMAND]),
    }


def _improvements(found: Measured, many: Measured, suffix: str) -> dict[str, Measure]:
    pairs = _pairs(found)
    fast = [pair for pair in pairs if RATES[pair[1].place.mcs] > FAST]
    at_rate = {rate: (old, new) for rate, old, new in _lossless(many)}
    slow, ninety = (_ratios(*at_rate[rate]) for rate in (RATES[0], FAST))
    return {
        f"improvement{suffix}": Measure.of(_mean_improvement(pairs), [COMMAND]),
        f"above_90{suffix}": Measure.of(_mean_improvement(fast), [COMMAND]),
        f"at_150{suffix}": Measure.of(improvement(*at_rate[RATES[-1]]), _commands(many, RATES[-1])),
        f"rises{suffix}": Measure.of(ratio_interval(slow, ninety).gain, _commands(many, RATES[0])),
    }


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    swept = kept(bench)
    found = {name: measured(result) for name, result in swept.items()}
    pairs, waiting = (_pairs(found[name]) for name in (AS_WRITTEN, WAITING))
    (claim,) = (claim for claim in bench.study.file.claim if claim.id == "improvement")
    again = [COMMAND, *(result.rerun for result in swept.values())]
    of = f"with 95 % confidence intervals over {bench.seeds} seeds"
    by_rate = {
        "as in the scenario": _lossless(found[AS_WRITTEN]),
        "126 packets waiting in addition to those on the air": _lossless(found[WAITING]),
    }
    return [
        Section(
            "The envelope over rates",
            "Best mean goodput of 100 MB over the eight rates at each signal-to-noise ratio, as with an ideal rate control. A rate is "
            "run from the ratio with few delivered frames to the ratio without losses to noise. Above that its goodput is constant.",
            items=[
                Figure(
                    drawing.envelopes(found[AS_WRITTEN], pairs, waiting, claim.published),
                    f"Goodput, and HACK's improvement below, {of}. Numbers on the right are rates of the PHY in Mbps",
                    again,
                ),
                _along(bench, pairs, waiting),
            ],
        ),
        Section(
            "Rate by rate, without losses to noise",
            "The limit of 4 ms shortens the aggregates of slow rates: 4 packets at 15 Mbps, 38 at 120. From 135 Mbps on the limit is 65,535 bytes, 42 packets.",
            items=[Figure(drawing.by_rate(by_rate), f"HACK's improvement by rate {of}", again), _by_rate(found[AS_WRITTEN]), _by_setting(bench, found)],
        ),
        Section(
            "Delivery of ACKs with frame losses",
            "Repeated are ACKs that were sent on a further response frame, because the delivery of the last one was not confirmed. Duplicates are those of them that the "
            "access point had already received. Response frames are more robust than data, and none is lost to noise. So a second table has a channel that "
            "loses a tenth of all frames, including response frames.",
            items=[
                _acks(found[AS_WRITTEN], "Sums over seeds and all places, including those that no rate control would choose"),
                _acks(found[LOSSY], "Sums over seeds with a tenth of all frames lost, including response frames"),
            ],
        ),
    ]  # fmt: skip


def _pairs(found: Measured) -> list[tuple[Best, Best]]:
    return list(zip(envelope(found[STOCK]), envelope(found[HACK]), strict=True))


def _ratios(stock: Downloads, hack: Downloads) -> list[float]:
    """Returns the goodput of HACK relative to stock, seed by seed."""
    return [mine / base for mine, base in zip(hack.goodput, stock.goodput, strict=True)]


def _mean_improvement(pairs: Sequence[tuple[Best, Best]]) -> Interval:
    """Returns the gain over all signal-to-noise ratios [%], as geometric mean per seed."""
    means = [geometric_mean(seed) for seed in zip(*(_ratios(old.runs, new.runs) for old, new in pairs), strict=True)]
    return ratio_interval(means, [1.0] * len(means)).gain


def _timeouts(best: Sequence[Best]) -> list[int]:
    """Returns values of each download at the places of an envelope.

    A place may represent several signal-to-noise ratios.
    """
    places = {one.place: one.runs for one in best}
    return [count for runs in places.values() for count in runs.timeouts]


def _lossless(found: Measured) -> list[tuple[int, Downloads, Downloads]]:
    """Returns the runs without losses to noise by rate: stock and HACK."""
    tried = [(rate, lossless(mcs)) for mcs, rate in enumerate(RATES)]
    return [(rate, found[STOCK][place], found[HACK][place]) for rate, place in tried if place in found[HACK]]


def _commands(found: Measured, rate: int) -> list[str]:
    return [runs.command for own, *both in _lossless(found) if own == rate for runs in both]


def _along(bench: Bench, pairs: drawing.Pairs, waiting: drawing.Pairs) -> Table:
    channel = bench.source(SCENARIO).load([])["wifi"][0]["reception"]["channel"]
    rows = []
    for (old, new), other in zip(pairs, waiting, strict=True):
        rates = [RATES[one.place.mcs] for one in (old, new)]
        rows.append(
            [
                str(new.snr),
                f"{distance(channel, new.snr):.1f}",
                f"{rates[0]}" if rates[0] == rates[1] else f"{rates[0]}, {rates[1]}",
                mean_interval(old.runs.goodput).text(),
                mean_interval(new.runs.goodput).text(),
                improvement(old.runs, new.runs).text(signed=True),
                improvement(*(one.runs for one in other)).text(signed=True),
                ", ".join(f"{fmean(one.runs.timeouts):g}" for one in (old, new)),
            ]
        )
    head = [
        "SNR [dB]",
        "distance [m]",
        "best rate",
        "stock [Mbps]",
        "HACK [Mbps]",
        "improvement [%]",
        "126 waiting [%]",
        "timeouts",
    ]
    return Table(
        head,
        rows,
        "Along the envelope. Pairs are stock, HACK. Timeouts are those of TCP per download, with the scenario as it is",
        commands=[COMMAND],
    )


def _by_rate(found: Measured) -> Table:
    rows = []
    for rate, old, new in _lossless(found):
        gain = improvement(old, new).text(signed=True)
        unanswered, again = (
            _both(old, new, by) for by in (lambda runs: 100 * runs.unanswered, lambda runs: fmean(runs.retransmissions))
        )
        frames = _both(old, new, lambda runs: runs.frames)
        rows.append(
            [
                str(rate),
                frames,
                mean_interval(old.goodput).text(),
                mean_interval(new.goodput).text(),
                gain,
                unanswered,
                again,
                _plain(new),
            ]
        )
    head = [
        "rate", "packets per PPDU", "stock [Mbps]", "HACK [Mbps]", "improvement [%]", "unanswered [%]", "retransmitted", "plain ACKs [%]",
    ]  # fmt: skip
    return Table(
        head,
        rows,
        "Without losses to noise. Pairs are stock, HACK. Retransmitted by TCP per download. Plain ACKs are those of HACK that contended for the medium",
        commands=[COMMAND],
    )


def _by_setting(bench: Bench, found: Mapping[str, Measured]) -> Table:
    variants = bench.variants("settings.toml").chosen
    rows = []
    for name, own in found.items():
        title = variants[name].title if name in variants else "as in the scenario"
        at_rate = {rate: (old, new) for rate, old, new in _lossless(own)}
        gains = [improvement(*at_rate[rate]).text(signed=True) for rate in SOME_RATES]
        rows.append(
            [title, *gains, *(mean_interval(runs.goodput).text() for runs in at_rate[RATES[-1]]), _plain(at_rate[RATES[-1]][1])]
        )
    head = [
        "setting",
        *(f"{rate} Mbps [%]" for rate in SOME_RATES),
        "stock at 150 [Mbps]",
        "HACK at 150",
        "plain ACKs at 150 [%]",
    ]
    return Table(head, rows, "Improvement by HACK with other readings of omitted settings, one at a time", commands=[COMMAND])


def _both(stock: Downloads, hack: Downloads, of: Callable[[Downloads], float]) -> str:
    return ", ".join(f"{of(runs):.1f}" for runs in (stock, hack))


def _plain(runs: Downloads) -> str:
    plain, compressed = (runs.acks[f"total_{kind}_acks_l2"] for kind in ("plain", "compressed"))
    return f"{100 * plain / (plain + compressed):.2f}" if plain + compressed else "–"


def _acks(found: Measured, caption: str) -> Table:
    rows = []
    for mcs in sorted({place.mcs for place in found[HACK]}):
        own = [runs for place, runs in found[HACK].items() if place.mcs == mcs]
        sums = [sum(runs.acks[name] for runs in own) for name, _ in _COLUMNS]
        rows.append([str(RATES[mcs]), str(len(own)), *(f"{count:g}" if count < 1e6 else f"{count:.0f}" for count in sums)])
    return Table(["rate", "places", *(title for _, title in _COLUMNS)], rows, caption, commands=[COMMAND])


_COLUMNS = (
    ("total_compressed_acks_l2", "compressed"),
    ("total_plain_acks_l2", "plain"),
    ("total_repeated_acks_l2", "repeated"),
    ("total_decompressed_acks_l2", "decompressed"),
    ("total_duplicate_acks_l2", "duplicates"),
    ("total_released_acks_l2", "held too long"),
    ("total_cleared_acks_l2", "cleared"),
    ("total_decompression_failures_l2", "CRC failures"),
)
