"""Measures and report sections of the study."""

from collections.abc import Mapping

from acklab.report import Figure, Section, Table
from acklab.studies import Bench, Measure, closed_form

from . import drawing, model_settings
from .rates import ALL, A, N, Rate, named
from .runs import AT_150, HACK, IN_ALL, STOCK, WAITING, Measured, Pair, analytic, measured, ordered, run

COMMAND = "acklab study hack_capacity"


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns numbers of claims.

    The numbers are gains of the model and of the simulation, and the difference of both.
    """
    run(bench)
    found, curves = measured(bench), _curves(bench)
    below, at_150, at_600 = model_settings.gains(_cells(bench), ())
    batch, free = found.free[AT_150][HACK], [found.commands["free"]]
    simulated = {
        "figure_12": found.figure_12[WAITING][AT_150],
        "figure_12_in_all": found.figure_12[IN_ALL][AT_150],
        "figure_12_ns3": found.changes[bench.variants("cells.toml").chosen["ns3"].title],
    }
    return {
        "mean_below_100": Measure([below], [COMMAND]),
        "at_150": Measure([at_150], [COMMAND]),
        "at_600": Measure([at_600], [COMMAND]),
        "at_54": Measure([drawing.gain(curves[named(A, 54)])], [COMMAND]),
        "batch": Measure([batch.frames], [batch.command]),
        "apart_stock": Measure([max(abs(_apart(bench, found, rate, STOCK)) for rate in found.free)], free),
        "apart_hack": Measure([max(abs(_apart(bench, found, rate, HACK)) for rate in found.free)], free),
        "collisions": Measure([sum(pair[of].collisions for pair in found.free.values() for of in (STOCK, HACK))], free),
        **{name: Measure.of(pair.gain, [pair[STOCK].command, pair[HACK].command]) for name, pair in simulated.items()},
        "below_stock": Measure(_below(curves, found, STOCK), [found.commands["figure_12"]]),
        "below_hack": Measure(_below(curves, found, HACK), [found.commands["figure_12"]]),
    }


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    found, curves = measured(bench), _curves(bench)
    return [
        _figure_1(bench, curves, found),
        _time(curves),
        _figure_12(bench, curves, found),
        _steps(curves, found),
        _model_settings(bench),
    ]


def _curves(bench: Bench) -> drawing.Curves:
    """Returns the model at all rates."""
    cells = {rate: analytic(bench, rate) for rate in ALL}
    return {rate: {STOCK: closed_form.stock(cell), HACK: closed_form.hack(cell)} for rate, cell in cells.items()}


def _cells(bench: Bench) -> dict[int, closed_form.Cell]:
    """Returns the model's cells of 802.11n by rate."""
    return {rate.mbps: analytic(bench, rate) for rate in ALL if rate.standard == N}


def _apart(bench: Bench, found: Measured, rate: Rate, protocol: str) -> float:
    """Returns the difference of the simulation without collisions from the model.

    Both have the same access rules. The difference is in per cent of the model.
    """
    own = ordered(bench, rate) if protocol == STOCK else closed_form.hack(analytic(bench, rate))
    return 100 * (found.free[rate][protocol].interval.mean / own.goodput - 1)


def _below(curves: drawing.Curves, found: Measured, protocol: str) -> list[float]:
    """Returns the share of rates of Figure 12 with the simulation below the model, per seed [%]."""
    cells = {rate: pair[protocol].goodput for rate, pair in found.figure_12[WAITING].items()}
    seeds = zip(*([goodput < curves[rate][protocol].goodput for goodput in of] for rate, of in cells.items()), strict=True)
    return [100 * sum(seed) / len(seed) for seed in seeds]


def _figure_1(bench: Bench, curves: drawing.Curves, found: Measured) -> Section:
    rows = [
        [
            rate.name.replace(" ", "\u00a0"),
            str(curves[rate][STOCK].frames),
            f"{closed_form.datagrams(analytic(bench, rate)).goodput:.1f}",
            *(text for of in (STOCK, HACK) for text in (f"{curves[rate][of].goodput:.2f}", pair[of].interval.text())),
            f"{drawing.gain(curves[rate]):.1f}",
            pair.gain.text(1),
        ]
        for rate, pair in found.free.items()
    ]
    head = ["rate", "frames", "UDP", "stock", "simulated", "HACK", "simulated", "gain [%]", "simulated"]
    commands = [COMMAND, found.commands["free"]]
    return Section(
        "Figure 1: cost of ACKs",
        "Lines are the model, and dots the simulation of the same cell without collisions. With TCP/HACK only the access point contends. In "
        "the stock cell, station and access point draw from separate slots, with the idle time of the model. "
        f"Means over {bench.seeds} seeds with 95 % confidence intervals, which are smaller than the dots.",
        items=[
            Figure(drawing.figure_1(curves, found), "Goodput against the rate of the PHY", commands),
            Figure(drawing.gains(curves, found, bench.findings), "Gain of TCP/HACK over stock TCP; stars are published values", commands),
            Table(head, rows, "Goodput in Mbps, model and simulation; frames are MPDUs per PPDU of data; UDP is from the model, with packets of the same size", commands=commands),
        ],
    )  # fmt: skip


def _time(curves: drawing.Curves) -> Section:
    chosen = [named(A, 6), named(A, 54), *(named(N, mbps) for mbps in (15, 150, 600))]
    return Section(
        "Use of the time",
        "Times of the model. TCP/HACK saves the accesses for ACKs, their PPDUs and the response frames to these. It adds longer response frames to data.",
        items=[Figure(drawing.spent(curves, chosen), "Time for the same payload, relative to stock TCP", [COMMAND])],
    )  # fmt: skip


def _figure_12(bench: Bench, curves: drawing.Curves, found: Measured) -> Section:
    rows = [
        [
            str(rate.mbps),
            *(text for name in (STOCK, HACK) for text in (f"{curves[rate][name].goodput:.1f}", pair[name].interval.text(1))),
            f"{drawing.gain(curves[rate]):.1f}",
            pair.gain.text(1),
            found.figure_12[IN_ALL][rate].gain.text(1),
        ]
        for rate, pair in found.figure_12[WAITING].items()
    ]
    head = [
        "rate",
        "stock: model",
        "simulated",
        "HACK: model",
        "simulated",
        "gain: model [%]",
        f"simulated, {WAITING}",
        f"simulated, {IN_ALL}",
    ]
    commands = [COMMAND, found.commands["figure_12"]]
    return Section(
        "Figure 12: downloads with collisions and losses",
        "A file of 100 MB over the cell of `wifi_parity`, including slow start. Station and access point contend as equals. The paper's queue of 126 "
        "packets has two readings: without packets on the air, as ns-3 counted when the paper was written, and with them, as ns-3 3.37 does. "
        f"Means over {bench.seeds} seeds with 95 % confidence intervals.",
        items=[
            Figure(drawing.figure_12(curves, found, bench.findings), "Lines: the model of Figure 1; stars are published values", commands),
            Table(head, rows, "Goodput in Mbps, with 126 packets waiting", commands=commands),
        ],
    )  # fmt: skip


def _steps(curves: drawing.Curves, found: Measured) -> Section:
    of = curves[AT_150]
    rows = [
        [
            "model",
            *(f"{of[name].goodput:.1f}" for name in (STOCK, HACK)),
            f"{drawing.gain(of):.1f}",
            "",
            f"{of[STOCK].frames} / {of[HACK].frames}",
            "",
        ]
    ]
    rows += [_step(title, pair) for title, pair in found.steps.items()]
    queues = [
        [
            f"{rate.mbps} Mbps, {limit} packets",
            *(pair[name].interval.text(1) for name in (STOCK, HACK)),
            pair.gain.text(1),
            " / ".join(f"{pair[name].frames:.1f}" for name in (STOCK, HACK)),
            f"{100 * pair[HACK].plain:.1f}",
        ]
        for rate, pairs in found.queues.items()
        for limit, pair in pairs.items()
    ]
    changed = [_step(title, pair) for title, pair in found.changes.items()]
    head = ["cell", "stock [Mbps]", "HACK [Mbps]", "gain [%]", "unanswered [%]", "frames", "timeouts"]
    return Section(
        "From the model's gain to the simulated one",
        "At 150 Mbps: two effects that the model omits, collisions and queue overflow (126 packets waiting), each by itself and both. Pairs are stock / TCP/HACK: PPDUs with data or plain ACKs and "
        "no response frame, MPDUs per PPDU of the access point, TCP timeouts in all seeds.",
        items=[
            Table(head, rows, "From the cell without collisions to Figure 12", commands=[found.commands[name] for name in ("free", "collisions", "changes", "figure_12")]),
            Table(head, changed, "Figure 12 with one change", commands=[found.commands[name] for name in ("figure_12", "changes")]),
            Figure(
                drawing.queues(curves, found),
                "Gain by length of the access point's queue, without slow start; dashed: model. An aggregate has 42 packets",
                [COMMAND, found.commands["queues"]],
            ),
            Table(
                ["cell", "stock [Mbps]", "HACK [Mbps]", "gain [%]", "frames", "plain ACKs of HACK [%]"],
                queues,
                "By the length of the queue",
                commands=[found.commands["queues"]],
            ),
        ],
    )  # fmt: skip


def _step(title: str, pair: Pair) -> list[str]:
    both = (pair[STOCK], pair[HACK])
    return [
        title,
        *(one.interval.text(1) for one in both),
        pair.gain.text(1),
        " / ".join(f"{100 * one.unanswered:.1f}" for one in both),
        " / ".join(f"{one.frames:.1f}" for one in both),
        " / ".join(str(one.timeouts) for one in both),
    ]


def _model_settings(bench: Bench) -> Section:
    cells = _cells(bench)
    rows = [
        [
            "; ".join(choice.title for choice in choices) or "as above",
            *(f"{gain:.2f}" for gain in model_settings.gains(cells, choices)),
        ]
        for choices in model_settings.alone()
    ]
    everything = [model_settings.gains(cells, choices) for choices in model_settings.combinations()]
    fitting = sum(tuple(round(gain) for gain in gains) == model_settings.PRINTED for gains in everything)
    return Section(
        "Settings that the paper omits",
        "The parameters of the analytic curves are not published. The table has each choice by itself, in the model. Nothing is fitted. "
        f"Of all {len(everything)} combinations, {fitting} round to all three published gains, 8, 7 and 20 %.",
        items=[
            Table(["choice", "mean below 100 Mbps", "150 Mbps", "600 Mbps"], rows, "Gain of TCP/HACK [%]", commands=[COMMAND])
        ],
    )
