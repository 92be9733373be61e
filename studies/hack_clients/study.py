"""What the study measures, and the sections of its report."""

from collections.abc import Mapping

from acklab.report import Section
from acklab.studies import Bench, Measure
from acklab.studies.runs import failures, timeouts

from . import access_point_queue, figure_10, one_client, open_options, stock_settings, timers
from .runs import (
    CLIENTS,
    COMMAND,
    ENDS,
    LINES,
    MORE_DATA,
    OPPORTUNISTIC,
    STOCK,
    beyond_stock,
    by_clients,
    options,
    queues,
    settings,
    timer,
    turns,
    within_aifs,
    within_aifs_of_many,
)


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Numbers of claims that no table of one run tells."""
    drawn = by_clients(bench)
    by_setting = [settings(bench, count) for count in ENDS]
    by_queue = [queues(bench, count, place) for count, place in LINES]
    by_timer = [timer(bench, count) for count in ENDS]
    by_option = [options(bench, count) for count in ENDS]
    with_hack = [own for (_, scheme), own in (drawn | turns(bench)).items() if scheme in {OPPORTUNISTIC, MORE_DATA}]
    failed = sum(failures(result) for own in with_hack for result in own.results)
    failed += sum(
        int(sweep.table("hack")["total_decompression_failures_l2"].sum())
        for sweep in (*by_setting, *by_queue, *by_timer, *by_option)
    )
    beyond = [
        max(0, sum(drawn[count, MORE_DATA].values(timeouts)) - sum(drawn[count, STOCK].values(timeouts))) for count in CLIENTS
    ]
    elsewhere = [
        *(beyond_stock(sweep, "setting") for sweep in by_setting),
        *(beyond_stock(sweep, "packets") for sweep in by_queue),
    ]
    many = within_aifs_of_many(bench)
    fitting = {f"within_aifs_{count}": Measure(runs.values(within_aifs), [runs.command]) for count, runs in many.items()}
    return {
        **fitting,
        "failures": Measure([failed], [COMMAND]),
        "timeouts": Measure([sum(beyond)], [COMMAND]),
        "timeouts_in_settings": Measure([sum(elsewhere)], [COMMAND]),
    }


def sections(bench: Bench) -> list[Section]:
    """What the report shows after the claims."""
    drawn = by_clients(bench)
    return [
        figure_10.goodput_section(bench, drawn),
        figure_10.carried_section(bench, drawn, turns(bench)),
        figure_10.air_section(drawn),
        one_client.section(bench),
        access_point_queue.section(bench),
        stock_settings.section(bench),
        timers.section(bench, drawn),
        open_options.section(bench),
    ]
