"""Gain of fewer ACKs over stations whose drivers already remove ACKs.

The study has the main result of TACK, and cells with each scheme.
"""

from collections.abc import Mapping

import polars as pl
from polars import selectors

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import mean_interval, mean_rows, ratios
from acklab.studies import Bench, Measure

from . import drawing
from .runs import (
    CELLS,
    COMMAND,
    HEADLINE,
    LINKS,
    PHONES,
    PLAIN,
    SENDERS,
    TACK,
    again,
    arm,
    lead,
    run_cells,
    run_headline,
    summary,
)

PUBLISHED = {"802.11b": 20.0, "802.11g": 26.3, "802.11n": 27.7, "802.11ac": 28.1}
"""Li et al., SIGCOMM 2020, Figures 1 and 10(a): TACK's gain over TCP BBR [%]."""
BASELINE = {"scheme": PLAIN}
PANEL = "controller"
BY = ["cell", "controller", "scheme"]


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Returns TACK's gain over TCP BBR on a station with each thinner, by link."""
    result = run_headline(bench)
    run_cells(bench)
    runs = summary(result, "link", "sender")
    present = set(runs["sender"].unique())
    found = {}
    for link in LINKS:
        for phone in PHONES:
            if arm(SENDERS[0], phone) in present:
                name = f"gain_{phone.lower()}_{link.removeprefix('802.11')}"
                found[name] = Measure.of(lead(runs, link, arm(SENDERS[0], phone)), [result.rerun])
    return found


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    return [_headline(bench), *_cells(bench)]


def _headline(bench: Bench) -> Section:
    result = again(bench, HEADLINE)
    runs = summary(result, "link", "sender")
    commands = [COMMAND, result.rerun]
    present = set(runs["sender"])
    found = {
        phone: {link: lead(runs, link, arm(SENDERS[0], phone)) for link in LINKS}
        for phone in PHONES
        if arm(SENDERS[0], phone) in present
    }
    rows = []
    for (link, sender), own in runs.group_by(["link", "sender"], maintain_order=True):
        means = own.select(selectors.numeric().mean()).row(0, named=True)
        shown = "" if sender == TACK else lead(runs, str(link), str(sender)).text(1, signed=True)
        rows.append(
            [
                link,
                sender,
                mean_interval(own["goodput"]).text(),
                shown,
                f"{means['sent']:.1f}",
                f"{means['arrived']:.1f}",
                f"{means['air']:.1f}",
                f"{means['srtt']:.0f}",
                f"{means['again']:.0f}",
            ]
        )
    head = [
        "link",
        "",
        "goodput [Mbps]",
        "gain of TACK [%]",
        "ACKs [%]",
        "that arrive [%]",
        "air [%]",
        "sRTT [ms]",
        "retransmitted",
    ]
    return Section(
        "TACK's main result",
        "The links of the paper's Figure 10(a) with its round trip of 100 ms. TCP ACKs sent and received are by data packet. The air is that of PPDUs with nothing "
        "but ACKs of TCP.",
        items=[
            Figure(drawing.leads(found, PUBLISHED), f"Goodput gain of TACK over TCP BBR by driver of the station; 95 % confidence intervals over {bench.seeds} seeds", commands),
            Table(head, rows, "Measured values", commands=[result.rerun], numeric_from=2),
        ],
    )  # fmt: skip


def _cells(bench: Bench) -> list[Section]:
    result = again(bench, CELLS)
    runs = summary(result, *BY)
    schemes, cells = (bench.variants(f"{name}.toml").chosen for name in ("schemes", "cells"))
    listed = [[name, scheme.title, scheme.source] for name, scheme in schemes.items()]
    titles = [[name, cell.title] for name, cell in cells.items()]
    found = ratios(runs, BY, "goodput", BASELINE).filter(pl.col("scheme") != PLAIN)
    found = result.with_commands(found, runs, BY)
    caption = f"Total goodput ÷ that of plain stations: geometric mean and 95 % confidence interval over {len(result.seeds)} seeds; grey where the interval includes 1"
    figure = figures.ratio_map(found, "cell", "scheme", "goodput ÷ plain", PANEL, most=1.25, commands="command")
    shown = {"goodput": "±1", "arrived": ".1f", "air": ".2f", "burst": ".1f", "srtt": ".1f", "again": ".0f", "jain": ".3f"}
    rows = mean_rows(runs, BY, shown)
    head = [*BY, "goodput [Mbps]", "ACKs [%]", "air [%]", "burst", "sRTT [ms]", "retransmitted", "Jain"]
    return [
        Section(
            "Cells with thinners, filters and HACK",
            "A wired link with a round trip of 20 ms, and a cell.",
            items=[
                Figure(figure, caption, [COMMAND, result.rerun]),
                Table(["", "ACKs", "source"], listed, "Schemes", numeric_from=3),
                Table(["", ""], titles, "Cells", numeric_from=2),
            ],
        ),
        Section(
            "Cells in numbers",
            "Total goodput; received TCP ACKs by data packet; the share of the air in PPDUs with only TCP ACKs; segments per burst after consecutive ACKs; "
            "smoothed RTT; retransmitted packets; Jain's index.",
            items=[Table(head, rows, "Cells", commands=[COMMAND], numeric_from=3)],
        ),
    ]  # fmt: skip
