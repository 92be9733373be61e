"""Sensitivity of CCperf's published numbers to each of five settings that its page omits."""

from acklab.metrics import written
from acklab.report import Section, Table
from acklab.statistics import event_rate, mean_interval
from acklab.studies import Bench
from acklab.studies.metric import Metric
from acklab.verdict import REPRODUCED

from .runs import COMMAND, EXPERIMENT

FILE = "unspecified.toml"


def section(bench: Bench) -> Section:
    """Returns all claims of the experiment, judged with one setting reverted at a time."""
    claims = [claim for claim in bench.study.file.claim if claim.scenario == EXPERIMENT]
    settings = bench.variants(FILE).chosen
    runs = bench.runs({name: (EXPERIMENT, [f"{FILE}:{name}"]) for name in settings})
    rows = []
    for name, own in runs.items():
        found = {}
        for claim in claims:
            metric = Metric.parse(claim.metric)
            values = own.values(metric.of)
            found[claim.id] = event_rate(values) if metric.counts_events else mean_interval(values)
        reproduced = sum(claim.verdict(found[claim.id]) == REPRODUCED for claim in claims)
        shown = (found[column] for column in ("mean_throughput_l4", "mean_srtt_l4", "total_retransmissions_l4", "total_rtos_l4"))
        rows.append(
            [
                name,
                settings[name].title or settings[name].source,
                f"{reproduced} of {len(claims)}",
                *(one.text() for one in shown),
            ]
        )
    published = {claim.id: claim.published for claim in claims}
    rows.append([
        "published", "", "", *(written(published[column]) for column in ("mean_throughput_l4", "mean_srtt_l4", "total_retransmissions_l4", "total_rtos_l4")),
    ])  # fmt: skip
    head = [
        "setting",
        "setting",
        "numbers reproduced",
        "throughput [Mbps]",
        "smoothed RTT [ms]",
        "retransmissions",
        "timeouts",
    ]
    return Section(
        "Settings that the page does not specify",
        "Each row reverts one of the five settings, and judges all numbers of the page by the tolerances of the claims.",
        items=[
            Table(
                head,
                rows,
                f"Numbers of CCperf's page that are reproduced, over {bench.seeds} seeds",
                commands=[COMMAND],
                numeric_from=2,
            )
        ],
    )
