"""Figures and tables of the study.

Three sweeps of the same policies and paths.
"""

from typing import Any

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.studies import Bench
from acklab.sweeps import SweepResult, Variants
from acklab.sweeps.grid import Axes

from .reasons import why
from .runs import BASELINE_OF_QUIC, across, cells_of, tally, without_baseline

SCENARIO = "path.toml"
COMMAND = "acklab study ack_policies"

CONTROLLERS = ["newreno", "cubic", "vegas", "bbr", "bbr3", "copa", "pcc-allegro", "pcc-vivace"]
CONTROLLERS_OF_TRANSFERS = ["newreno", "cubic", "bbr"]
TRANSFERS = "sizes.toml:100 kB,1 MB,10 MB"
SENDERS_ON = "paths.toml:short,geo,vdsl,default"
SENDERS_SEND = "sizes.toml:1 MB,greedy"

CONTROLLERS_OF_QUIC = ["newreno", "cubic"]

# --quick runs one path of each kind, and policies from many to few ACKs.
QUICK_PATHS = "paths.toml:short,geo,vdsl,default,nepal"
QUICK_POLICIES = "policies.toml:per-packet,delayed,L = 16,tack"
QUICK_QUIC = "quic.toml:every 2,every 10,chrome"


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    paths = bench.variants(QUICK_PATHS if bench.quick else "paths.toml")
    policies = bench.variants(QUICK_POLICIES if bench.quick else "policies.toml")
    greedy = bench.sweep(SCENARIO, "greedy", {"flow.0.congestion": CONTROLLERS, "path": paths, "policy": policies})
    cells = cells_of(greedy, ["congestion", "path", "policy"], "mean_throughput_l7")
    return [
        _setting(bench, paths, policies),
        _goodput(greedy, cells),
        why(cells),
        _quic(bench, paths),
        _transfers(bench, paths, policies),
        _senders(bench, policies),
    ]


def _setting(bench: Bench, paths: Variants, policies: Variants) -> Section:
    rows = []
    for name, variant in paths.chosen.items():
        scenario = bench.source(SCENARIO).load(list(variant.set))
        forward, back = (next(link for link in scenario["link"] if link["name"] == "btl")[way] for way in ("forward", "reverse"))
        rate, return_rate = (
            link.get("rate") or link["trace"]["file"].split("_")[1].removesuffix(".trace") for link in (forward, back)
        )
        loss = (forward.get("loss") or {}).get("probability", 0)
        queue = forward["queue"]["limit"].removesuffix("packets")
        k = _mbps(rate) / _mbps(return_rate) * 52 / 1500
        row = [name, rate, return_rate, forward["delay"], f"{100 * loss:g}", queue, f"{k:.2f}"]
        rows.append([*row, "; ".join(text for text in (variant.source, variant.note) if text)])
    head = ["path", "rate", "return", "one-way delay", "loss [%]", "queue [packets]", "k", "source"]
    listed = [[name, variant.title, variant.source] for name, variant in policies.chosen.items()]
    return Section(
        "Paths and policies",
        "k is the normalised bandwidth ratio of RFC 3449, section 2.1: with more than one ACK per k packets, the "
        "return link is full before the forward link is. Data packets are of 1500 bytes, ACKs of 52.",
        items=[
            Table(head, rows, "Paths", text=frozenset({head.index("source")})),
            Table(["policy", "ACK policy", "source"], listed, "Policies", numeric_from=3),
        ],
    )


def _mbps(rate: str) -> float:
    for unit, factor in (("Gbps", 1e3), ("Mbps", 1.0), ("kbps", 1e-3)):
        if rate.endswith(unit):
            return float(rate.removesuffix(unit)) * factor
    raise ValueError(f"found the rate {rate!r}")


def _goodput(result: SweepResult, cells: pl.DataFrame) -> Section:
    seeds = len(result.seeds)
    commands = [COMMAND, result.rerun]
    srtt = cells_of(result, ["congestion", "path", "policy"], "mean_srtt_l4")
    acks = cells_of(result, ["congestion", "path", "policy"], "acks_per_packet")
    of = f"geometric mean and 95 % confidence interval over {seeds} seeds; grey where the interval includes 1"
    known = [cell for cell in without_baseline(cells).to_dicts() if cell["mean"] is not None]
    better = sum(cell["low"] is not None and cell["low"] > 1 for cell in known)
    worse = sum(cell["high"] is not None and cell["high"] < 1 for cell in known)
    chance = 0.025 * len(known)
    return Section(
        "Goodput",
        f"A greedy sender. Of {len(known)} cells {better} gain and {worse} lose relative to an ACK per two segments, at 95 %. If "
        f"there were no difference, about {chance:.0f} of each would be expected at random.",
        items=[
            Figure(
                figures.ratio_map(without_baseline(cells), "path", "policy", "goodput ÷ that of the baseline", "congestion", notes="note", commands="command"),
                f"Goodput over that of an ACK per two segments: {of}. Hover over a cell for further measurements (baseline in "
                "brackets) and the command that repeats its first seed. A click shows the command below the figure.",
                commands,
            ),
            Figure(
                figures.ratio_map(
                    without_baseline(srtt), "path", "policy", "sRTT ÷ that of the baseline", "congestion", less_is_better=True, notes="note"
                ),
                f"Smoothed RTT over that of the baseline: {of}",
                commands,
            ),
            Figure(
                figures.ratio_map(
                    without_baseline(acks), "path", "policy", "ACKs per packet ÷ those of the baseline", "congestion", less_is_better=True, most=10.0,
                    notes="note",
                ),
                f"Load of the return path, as ACKs sent per data packet over those of the baseline: {of}",
                commands,
            ),
            tally(cells, ["congestion"], "Goodput by controller, over all paths and policies but the baseline"),
            tally(cells, ["policy"], "Goodput by policy, over all paths and controllers"),
        ],
    )  # fmt: skip


def _quic(bench: Bench, paths: Variants) -> Section:
    policies = bench.variants(QUICK_QUIC if bench.quick else "quic.toml")
    axes: Axes = {"policy": policies, "flow.0.congestion": CONTROLLERS_OF_QUIC, "path": paths}
    result = bench.sweep(SCENARIO, "quic", axes, set=bench.sets(["endpoint.toml"]))
    by = ["congestion", "path", "policy"]
    goodput = cells_of(result, by, "mean_throughput_l7", BASELINE_OF_QUIC)
    acks = cells_of(result, by, "acks_per_packet", BASELINE_OF_QUIC)
    of = f"geometric mean and 95 % confidence interval over {len(result.seeds)} seeds; grey where the interval includes 1"
    commands = [COMMAND, result.rerun]
    listed = [[name, variant.title, variant.source] for name, variant in policies.chosen.items()]
    return Section(
        "QUIC",
        "ACK policies of QUIC, relative to an ACK per two packets. Rows are named after the stack with this policy: Chrome, Firefox or picoquic. msquic and quinn have the policy of the baseline.",
        items=[
            Table(["policy", "ACK policy", "source"], listed, "Policies of QUIC", numeric_from=3),
            Figure(
                figures.ratio_map(
                    without_baseline(goodput, BASELINE_OF_QUIC), "path", "policy", "goodput ÷ that of the baseline", "congestion", notes="note", commands="command"
                ),
                f"Goodput of a greedy sender over that with an ACK per two packets: {of}",
                commands,
            ),
            Figure(
                figures.ratio_map(
                    without_baseline(acks, BASELINE_OF_QUIC), "path", "policy", "ACKs per packet ÷ those of the baseline", "congestion", less_is_better=True,
                    most=10.0, notes="note",
                ),
                f"Load of the return path: {of}",
                commands,
            ),
            tally(goodput, ["policy"], "Goodput by policy, over all paths and controllers", baseline=BASELINE_OF_QUIC),
        ],
    )  # fmt: skip


def _transfers(bench: Bench, paths: Variants, policies: Variants) -> Section:
    axes: Axes = {
        "flow.0.congestion": CONTROLLERS_OF_TRANSFERS,
        "path": paths,
        "size": bench.variants(TRANSFERS),
        "policy": policies,
    }
    result = bench.sweep(SCENARIO, "transfers", axes)
    cells = cells_of(result, ["congestion", "size", "path", "policy"], "flow_completion_time_l4")
    shown = without_baseline(cells)
    of = f"geometric mean and 95 % confidence interval over {len(result.seeds)} seeds; grey where the interval includes 1; blue is sooner"
    return Section(
        "Time to completion",
        "Transfers of the sizes in the slides of PANRG at IETF 106. In the first round trips, an ACK may wait for segments that cannot "
        "arrive before it is sent. It then delays the sender until the timer of the receiver expires.",
        items=[
            *(
                Figure(
                    figures.ratio_map(
                        part, "path", "policy", "time ÷ that of the baseline", "congestion", less_is_better=True, notes="note", commands="command"
                    ),
                    f"Time to completion of {size} over that of the baseline: {of}",
                    [COMMAND, result.rerun],
                )
                for (size,), part in shown.group_by(["size"], maintain_order=True)
            ),
            tally(cells, ["size", "policy"], "Time to completion by size and policy, over all paths and controllers", less_is_better=True),
        ],
    )  # fmt: skip


def _senders(bench: Bench, policies: Variants) -> Section:
    axes = {
        "sender": bench.variants("senders.toml"),
        "path": bench.variants(SENDERS_ON),
        "size": bench.variants(SENDERS_SEND),
        "policy": policies,
    }
    result = bench.sweep(SCENARIO, "senders", axes)
    shared = ["sender", "size", "path", "policy"]
    goodput = cells_of(result, shared, "mean_throughput_l7").filter(pl.col("size") == "greedy")
    time = cells_of(result, shared, "flow_completion_time_l4").filter(pl.col("size") == "1 MB")
    of = f"geometric mean and 95 % confidence interval over {len(result.seeds)} seeds"
    commands = [COMMAND, result.rerun]
    shown: dict[str, Any] = {"panel": "sender", "wrap": 4, "notes": "note", "commands": "command"}
    return Section(
        "Window growth and pacing of the sender",
        "The same NewReno with different window growth, paced or not. A window that grows per ACK grows slower in proportion "
        "to fewer ACKs. A window that grows per acknowledged byte does not, but sends a burst of that size per ACK unless it is paced.",
        items=[
            Figure(
                figures.ratio_map(without_baseline(time), "path", "policy", "time ÷ that of the baseline", less_is_better=True, **shown),
                f"Time to completion of 1 MB over that of the baseline of the same sender: {of}",
                commands,
            ),
            Figure(
                figures.ratio_map(without_baseline(goodput), "path", "policy", "goodput ÷ that of the baseline", **shown),
                f"Goodput of a greedy sender over that of the baseline of the same sender: {of}",
                commands,
            ),
            across(time, "sender", "Time to completion of 1 MB over that of the baseline: geometric mean over these paths"),
            across(goodput, "sender", "Goodput over that of the baseline: geometric mean over these paths"),
        ],
    )  # fmt: skip
