"""Measures and report sections of the study."""

from collections.abc import Mapping

from acklab.report import Section
from acklab.statistics import Interval, rare_events
from acklab.studies import Bench, Measure, Runs
from acklab.studies.runs import failures, failures_of, timeouts

from . import access_point_queue, figure_10, one_client, open_options, stock_settings, timers
from .runs import (
    ACKS,
    CLIENTS,
    COMMAND,
    DELAYED,
    EACH,
    ENDS,
    LINES,
    MORE_DATA,
    OPPORTUNISTIC,
    STOCK,
    by_clients,
    of_2014,
    options,
    queues,
    settings,
    timeouts_of,
    timer,
    turns,
    within_aifs,
    within_aifs_of_many,
)


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns numbers of claims that are in no table of a single run."""
    drawn, old = by_clients(bench), {acks: of_2014(bench, acks) for acks in ACKS}
    by_setting = [settings(bench, count) for count in ENDS]
    by_queue = [queues(bench, count, place) for count, place in LINES]
    by_timer = [timer(bench, count) for count in ENDS]
    by_option = [options(bench, count) for count in ENDS]
    with_hack = [
        own
        for runs in (drawn, *old.values(), turns(bench))
        for (_, scheme), own in runs.items()
        if scheme in {OPPORTUNISTIC, MORE_DATA}
    ]
    failed = [failures(result) for own in with_hack for result in own.results]
    failed += [count for sweep in (*by_setting, *by_queue, *by_timer, *by_option) for count in failures_of(sweep)]
    swept = [*((sweep, "setting") for sweep in by_setting), *((sweep, "packets") for sweep in by_queue)]
    elsewhere = {
        scheme: [count for sweep, axis in swept for count in timeouts_of(sweep, axis, scheme)] for scheme in (MORE_DATA, STOCK)
    }
    waited = {"": old[DELAYED], "_each": old[EACH], "_today": drawn}
    beyond_aifs = {
        **{f"beyond_aifs_{count}": old[DELAYED][count, MORE_DATA] for count in ENDS},
        **{f"beyond_aifs_{count}_each": old[EACH][count, MORE_DATA] for count in ENDS},
        **{f"beyond_aifs_{count}_today": runs for count, runs in within_aifs_of_many(bench).items()},
    }
    return {
        **{
            name: Measure([100 * (1 - share) for share in runs.values(within_aifs)], [runs.command])
            for name, runs in beyond_aifs.items()
        },
        "failures": Measure.of(rare_events(failed), [COMMAND]),
        **{f"timeouts{suffix}": Measure.of(_beyond_stock(runs), [COMMAND]) for suffix, runs in waited.items()},
        "timeouts_in_settings": Measure.of(rare_events(elsewhere[MORE_DATA], elsewhere[STOCK]), [COMMAND]),
    }


def _beyond_stock(runs: Mapping[tuple[str, str], Runs]) -> Interval:
    """Returns TCP timeouts per run with MORE DATA minus those of stock TCP, for all clients."""
    ours, theirs = (
        [count for clients in CLIENTS for count in runs[clients, scheme].values(timeouts)] for scheme in (MORE_DATA, STOCK)
    )
    return rare_events(ours, theirs)


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    drawn, old = by_clients(bench), {acks: of_2014(bench, acks) for acks in ACKS}
    return [
        figure_10.of_2014_section(bench, old),
        figure_10.goodput_section(bench, drawn),
        figure_10.carried_section(bench, drawn, old, turns(bench)),
        figure_10.air_section(drawn),
        one_client.section(bench),
        access_point_queue.section(bench),
        stock_settings.section(bench),
        timers.section(bench, drawn),
        open_options.section(bench),
    ]
