"""The gain with one client per seed. It has two modes, which a mean does not describe."""

from collections.abc import Sequence

import numpy as np

from acklab.report import Figure, Section, Table
from acklab.studies import Bench, Runs
from acklab.studies.runs import timeouts

from . import drawing
from .figure_10 import share_compressed
from .runs import COMMAND, MORE_DATA, STOCK, gains, one_client

QUANTILES = (0, 10, 25, 50, 75, 90, 100)


def section(bench: Bench) -> Section:
    """Returns the distribution of the gain over many seeds, and the cause of its modes."""
    drawn = one_client(bench)
    rows, spread, commands = [], {}, [COMMAND]
    for name, runs in drawn.items():
        gained = [100 * (ratio - 1) for ratio in gains(runs)]
        spread[name] = (gained, [100 - share for share in runs[MORE_DATA].values(share_compressed)])
        rows.append([name, str(len(gained)), *_quantiles(gained), *(_timeouts(runs[scheme]) for scheme in (STOCK, MORE_DATA))])
        commands += [runs[scheme].command for scheme in (STOCK, MORE_DATA)]
    head = ["queue", "seeds", *(f"{quantile} %" for quantile in QUANTILES), "timeouts, stock", "timeouts, MORE DATA"]
    return Section(
        "One client, seed by seed",
        "The cell has one client and no errors, so seeds differ only in backoffs. MORE DATA can be set only if the window exceeds three batches after a loss. "
        "This decides between the upper and the lower mode.",
        items=[
            Figure(
                drawing.seeds(spread),
                "Left: cumulative distribution of the gain over seeds. Right: the gain of each seed against its share of ACKs sent as ordinary frames",
                commands,
            ),
            Table(head, rows, "Quantiles over seeds of the gain of MORE DATA over stock TCP [%], and timeouts of TCP in all seeds", commands=commands),
        ],
    )  # fmt: skip


def _quantiles(values: Sequence[float]) -> list[str]:
    return [f"{value:+.1f}" for value in np.percentile(values, QUANTILES)]


def _timeouts(runs: Runs) -> str:
    return str(sum(runs.values(timeouts)))
