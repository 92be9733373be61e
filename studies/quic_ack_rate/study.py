"""Minimum ACKs per round trip that a QUIC sender may request.

The minimum is measured by controller, condition, loss and delay.
"""

from collections.abc import Mapping

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import mean_rows, ratio_interval, ratios
from acklab.studies import Bench, Measure, per_seed
from acklab.sweeps import SweepResult

from .runs import BASELINE, BY, COMMAND, EVERY_2, MATRIX, PHASES, RATES, WHERE, again, run_matrix, run_rates, summary


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns goodput with few ACKs relative to an ACK per two packets, on the clean path."""
    result = run_rates(bench)
    run_matrix(bench)
    runs = summary(result, BY)

    def goodput(controller: str, request: str) -> list[float]:
        return per_seed(runs, "goodput", condition="clean", controller=controller, request=request)

    wanted = {"cubic_4": ("CUBIC", "4"), "bbr_4": ("BBR", "4"), "cubic_1": ("CUBIC", "1"), "bbr_phases": ("BBR", PHASES)}
    return {
        name: Measure.of(ratio_interval(goodput(controller, request), goodput(controller, EVERY_2)), [result.rerun])
        for name, (controller, request) in wanted.items()
    }


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    return [*_rates(bench), _matrix(bench)]


def _against(runs: pl.DataFrame, by: list[str], value: str, result: SweepResult) -> pl.DataFrame:
    found = ratios(runs, by, value, BASELINE).filter(pl.col("request") != EVERY_2)
    return result.with_commands(found, runs, by)


def _rates(bench: Bench) -> list[Section]:
    result = again(bench, RATES)
    runs = summary(result, BY)
    over = f"geometric mean and 95 % confidence interval over {len(result.seeds)} seeds, each compared with its own; grey where the interval includes 1"
    listed = [[name, of.title, of.source] for name, of in bench.variants("requests.toml").chosen.items()]
    conditions = [[name, of.title] for name, of in bench.variants("conditions.toml").chosen.items()]
    commands = [COMMAND, result.rerun]
    goodput = figures.ratio_map(
        _against(runs, BY, "goodput", result), "request", "controller", "goodput ÷ an ACK per two", "condition",
        x_title="ACKs per round trip", most=2.0, commands="command",
    )  # fmt: skip
    delay = figures.ratio_map(
        _against(runs, BY, "srtt", result), "request", "controller", "sRTT ÷ an ACK per two", "condition",
        x_title="ACKs per round trip", less_is_better=True, most=2.0, commands="command",
    )  # fmt: skip
    shown = {
        "goodput": "±2",
        "acks": ".1f",
        "per_packet": ".1f",
        "srtt": ".1f",
        "again": ".2f",
        "spurious": ".2f",
        "frames": ".0f",
    }
    rows = mean_rows(runs, BY, shown)
    head = [
        *BY,
        "goodput [Mbps]",
        "ACKs per round trip",
        "÷ data [%]",
        "sRTT [ms]",
        "retransmitted [%]",
        "spurious losses [%]",
        "frames",
    ]
    return [
        Section(
            "ACKs per round trip",
            "20 Mbps, a round trip of 40 ms, a queue of one bandwidth-delay product.",
            items=[
                Figure(goodput, f"Goodput: {over}", commands),
                Figure(delay, f"Smoothed RTT: {over}", commands),
                Table(["", "requested", "source"], listed, "Requests", numeric_from=3),
                Table(["", ""], conditions, "Conditions", numeric_from=2),
            ],
        ),
        Section(
            "Measured values",
            "ACKs per round trip are those sent per smoothed RTT. ACK_FREQUENCY frames are those sent.",
            items=[Table(head, rows, "ACK rates", commands=[COMMAND], numeric_from=3)],
        ),
    ]  # fmt: skip


def _matrix(bench: Bench) -> Section:
    result = again(bench, MATRIX)
    runs = summary(result, WHERE)
    found = _against(runs, WHERE, "goodput", result)
    place = pl.col("grid").str.split_exact(" ms ", 1)
    found = found.with_columns(
        rtt=place.struct.field("field_0") + " ms", loss=place.struct.field("field_1").str.strip_suffix(" %")
    )
    figure = figures.ratio_map(
        found, "loss", "rtt", "goodput ÷ an ACK per two", "controller", x_title="data lost [%]", most=1.5,
        commands="command",
    )  # fmt: skip
    rows = mean_rows(runs, WHERE, {"goodput": "±2"})
    return Section(
        "Loss and delay",
        "The same with other round trips and losses. The queue holds one bandwidth-delay product.",
        items=[
            Figure(figure, f"Goodput with four ACKs per round trip ÷ that with an ACK per two packets: geometric mean and 95 % confidence interval over {len(result.seeds)} seeds; grey where the interval includes 1", [COMMAND, result.rerun]),
            Table([*WHERE, "goodput [Mbps]"], rows, "Measured values", commands=[COMMAND], numeric_from=3),
        ],
    )  # fmt: skip
