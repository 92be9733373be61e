"""Figures and tables of the study: three sweeps of the same policies and paths, and what is to be learnt from them."""

import math
from typing import Any

import polars as pl

from acklab import figures
from acklab.figures.ratio import is_decided
from acklab.metrics import written
from acklab.report import Figure, Section, Table
from acklab.statistics import ratios
from acklab.studies import Bench
from acklab.sweeps import SweepResult, Variants

SCENARIO = "path.toml"
BASELINE = {"policy": "delayed"}
COMMAND = "acklab study ack_policies"

CONTROLLERS = ["newreno", "bbr", "bbr3"]
CONTROLLERS_OF_TRANSFERS = ["newreno", "bbr", "bbr3"]
SIZES = {
    # Long enough for the slowest path to finish.
    "100 kB": {"flow.0.traffic": {"model": "fixed", "size": "100kB"}, "duration": "300s"},
    "1 MB": {"flow.0.traffic": {"model": "fixed", "size": "1MB"}, "duration": "900s"},
    "10 MB": {"flow.0.traffic": {"model": "fixed", "size": "10MB"}, "duration": "9000s"},
}
SENDERS_ON = "paths.toml:short,geo,vdsl,default"

# With --quick: one path of each kind, and policies from often to seldom.
QUICK_PATHS = "paths.toml:short,geo,vdsl,default,nepal"
QUICK_POLICIES = "policies.toml:per-packet,delayed,L = 16,tack"

EVIDENCE = (
    "mean_throughput_l7",
    "acks_per_packet",
    "mean_srtt_l4",
    "mean_cwnd_l4",
    "mean_ack_burst_l4",
    "mean_return_utilization_l1",
    "total_ack_drops_l2",
    "retransmitted",
    "total_rtos_l4",
    "waited",
)
"""What a cell is judged by: the mean over seeds of each, beside that of the baseline."""

FULL = 0.9
"""A return link that is busy for so much of the time counts as full."""
WORTH_A_WORD = 0.01
"""Smaller gains and losses are left out where reasons are given."""


def sections(bench: Bench) -> list[Section]:
    """What the report shows after the claims."""
    paths = bench.variants(QUICK_PATHS if bench.quick else "paths.toml")
    policies = bench.variants(QUICK_POLICIES if bench.quick else "policies.toml")
    greedy = bench.sweep(SCENARIO, "greedy", {"flow.0.congestion": CONTROLLERS, "path": paths, "policy": policies})
    cells = _cells(greedy, ["congestion", "path", "policy"], "mean_throughput_l7")
    return [
        _setting(bench, paths, policies),
        _goodput(greedy, cells),
        _why(cells),
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
        "k is the normalised bandwidth ratio of RFC 3449, section 2.1: if the receiver acknowledges more often than every k packets, the "
        "return link is full before the forward link is. Data packets are of 1500 octets, ACKs of 52.",
        items=[Table(head, rows, "Paths"), Table(["policy", "an ACK", "source"], listed, "Policies", numeric_from=3)],
    )


def _mbps(rate: str) -> float:
    for unit, factor in (("Gbps", 1e3), ("Mbps", 1.0), ("kbps", 1e-3)):
        if rate.endswith(unit):
            return float(rate.removesuffix(unit)) * factor
    raise ValueError(f"found the rate {rate!r}")


def _shown(cells: pl.DataFrame) -> pl.DataFrame:
    """Cells without those of the baseline, which are 1."""
    return cells.filter(*(pl.col(name) != held for name, held in BASELINE.items()))


def _cells(result: SweepResult, by: list[str], value: str) -> pl.DataFrame:
    """The ratio of each cell to its baseline, with its interval, what else was measured there, and the command that repeats it."""
    timer = result.table("acks").filter(pl.col("reason") == "timer").select("point", "flow", timer="count")
    flows = result.flows.join(timer, on=["point", "flow"], how="left", maintain_order="left").with_columns(
        waited=100 * pl.col("timer").fill_null(0) / pl.col("total_acks_sent_l4"),
        acks_per_packet=pl.col("total_acks_sent_l4") / pl.col("total_data_packets_l4"),
        retransmitted=100 * pl.col("total_retransmissions_l4") / pl.col("total_data_packets_l4"),
        # A transfer that the end of the run cut short has no time of completion.
        flow_completion_time_l4=pl.when(
            ~pl.col("traffic_model").str.starts_with("Fixed")
            | (pl.col("total_delivered_bytes_l7") >= pl.col("traffic_model").str.extract(r"bytes=(\d+)").cast(pl.Int64))
        ).then(pl.col("flow_completion_time_l4")),
    )
    means = flows.group_by(by, maintain_order=True).agg(
        pl.col("point").first(), pl.col(*EVIDENCE, "flow_completion_time_l4").cast(pl.Float64).mean()
    )
    below = means.filter(*(pl.col(name) == held for name, held in BASELINE.items()))
    others = [name for name in by if name not in BASELINE]
    measured = [*EVIDENCE, "flow_completion_time_l4"]
    below = below.select(*others, *(pl.col(name).alias(f"{name}_below") for name in measured))
    cells = (
        ratios(flows, by, value, BASELINE).join(means, on=by, maintain_order="left").join(below, on=others, maintain_order="left")
    )
    notes = [_note(cell) for cell in cells.to_dicts()]
    commands = [result.commands[point] for point in cells["point"]]
    return cells.with_columns(note=pl.Series(notes, dtype=pl.String), command=pl.Series(commands, dtype=pl.String))


def _note(cell: dict[str, Any]) -> str:
    """What a reader sees on pointing at a cell; the baseline in brackets."""

    def pair(name: str, unit: str = "", scale: float = 1) -> str:
        own, below = cell[name], cell[f"{name}_below"]
        shown = (written(None if value is None else round(scale * value, 4)) for value in (own, below))
        return "{} ({}){}".format(*shown, unit)

    lines = [
        f"goodput {pair('mean_throughput_l7', ' Mbps')} · {pair('acks_per_packet')} ACKs a packet",
        f"sRTT {pair('mean_srtt_l4', ' ms')} · window {pair('mean_cwnd_l4', ' segments')}",
        f"retransmitted {pair('retransmitted', ' %')} · timeouts {pair('total_rtos_l4')}",
        f"ACKs sent by the timer {pair('waited', ' %')}",
        f"return link busy {pair('mean_return_utilization_l1', ' %', 100)} · ACKs dropped {pair('total_ack_drops_l2')}",
    ]
    if cell["flow_completion_time_l4"] is not None:
        lines.insert(0, f"completed after {pair('flow_completion_time_l4', ' s')}")
    return "<br>".join(lines)


def _goodput(result: SweepResult, cells: pl.DataFrame) -> Section:
    seeds = len(result.seeds)
    commands = [COMMAND, f"{result.command} --out {result.directory}"]
    srtt = _cells(result, ["congestion", "path", "policy"], "mean_srtt_l4")
    acks = _cells(result, ["congestion", "path", "policy"], "acks_per_packet")
    of = f"geometric mean and interval of 95 % over {seeds} seeds; grey where the interval includes 1"
    known = [cell for cell in cells.to_dicts() if cell["policy"] != BASELINE["policy"] and cell["mean"] is not None]
    better = sum(cell["low"] is not None and cell["low"] > 1 for cell in known)
    worse = sum(cell["high"] is not None and cell["high"] < 1 for cell in known)
    chance = 0.025 * len(known)
    return Section(
        "Goodput",
        f"A greedy sender. Of {len(known)} cells {better} gain and {worse} lose against an ACK for every second segment, at 95 %; where "
        f"nothing differed, chance alone would give about {chance:.0f} of each.",
        items=[
            Figure(
                figures.ratio_map(_shown(cells), "path", "policy", "goodput ÷ that of the baseline", "congestion", notes="note", commands="command"),
                f"Goodput over that of an ACK for every second segment: {of}. Pointing at a cell shows what else was measured (the baseline in "
                "brackets) and the command that repeats its first seed; a click writes the command below the figure.",
                commands,
            ),
            Figure(
                figures.ratio_map(
                    _shown(srtt), "path", "policy", "sRTT ÷ that of the baseline", "congestion", less_is_better=True, notes="note", commands="command"
                ),
                f"Smoothed RTT over that of the baseline: {of}",
                commands,
            ),
            Figure(
                figures.ratio_map(
                    _shown(acks), "path", "policy", "ACKs a packet ÷ those of the baseline", "congestion", less_is_better=True, most=10.0,
                    notes="note", commands="command",
                ),
                f"Load of the return path, as ACKs sent a data packet over those of the baseline: {of}",
                commands,
            ),
        ],
    )  # fmt: skip


def _why(cells: pl.DataFrame) -> Section:
    decided = [cell for cell in cells.to_dicts() if cell["policy"] != BASELINE["policy"] and is_decided(cell)]
    gains = [cell for cell in decided if cell["mean"] > 1 + WORTH_A_WORD]
    harms = [cell for cell in decided if cell["mean"] < 1 - WORTH_A_WORD]
    reasons: dict[str, list[int]] = {}
    for index, group in enumerate((gains, harms)):
        for cell in group:
            for reason, _ in _reasons(cell) or [("none of these", "")]:
                reasons.setdefault(reason, [0, 0])[index] += 1
    counted = [[reason, *(str(number) for number in numbers)] for reason, numbers in reasons.items()]
    return Section(
        "Where it gains, where it hurts, and why",
        "The largest of both, at most two for a path and a controller. What is given as the reason is what was measured to differ from the "
        f"baseline in the same runs: a return link busy for {FULL:.0%} of the time or more on one side; at least one timeout a run more or "
        "fewer; a tenth of a percent of segments, and a fifth, more or fewer sent again, with the ACKs' bursts beside it; a tenth of the ACKs "
        "more or fewer sent by the receiver's timer, since a window smaller than what it counts up to cannot fill the count; else a mean "
        f"window or an sRTT that differs by a twentieth. Cells that differ from 1 by less than {WORTH_A_WORD:.0%} are left out.",
        items=[
            _ranking(sorted(gains, key=lambda cell: -cell["mean"]), "Largest gains in goodput"),
            _ranking(sorted(harms, key=lambda cell: cell["mean"]), "Largest losses of goodput"),
            Table(["what differs", "cells that gain", "cells that lose"], counted, "What goes with gains and losses; a cell may count twice"),
        ],
    )  # fmt: skip


def _ranking(cells: list[dict[str, Any]], caption: str, limit: int = 12, each: int = 2) -> Table:
    seen: dict[tuple[str, str], int] = {}
    chosen = []
    for cell in cells:
        key = (cell["path"], cell["congestion"])
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= each:
            chosen.append(cell)
    chosen = chosen[:limit]
    rows = []
    for cell in chosen:
        why = "; ".join(text for _, text in _reasons(cell)) or "nothing of the above differs"
        ratio = f"{cell['mean']:.2f} ({cell['low']:.2f} … {cell['high']:.2f})"
        rows.append([cell["path"], cell["congestion"], cell["policy"], ratio, why])
    head = ["path", "controller", "policy", "goodput ÷ baseline", "what differs, the baseline in brackets"]
    return Table(head, rows, caption, commands=[cell["command"] for cell in chosen], numeric_from=5)


def _reasons(cell: dict[str, Any]) -> list[tuple[str, str]]:
    """What was measured to differ between a cell and its baseline: a name for it, and the numbers."""

    def numbers(name: str) -> tuple[float, float]:
        own, below = cell[name], cell[f"{name}_below"]
        return (math.nan if own is None else own), (math.nan if below is None else below)

    found = []
    busy, busy_below = numbers("mean_return_utilization_l1")
    drops, drops_below = numbers("total_ack_drops_l2")
    if (busy >= FULL) != (busy_below >= FULL):
        text = f"return link busy {busy:.0%} ({busy_below:.0%}), {drops:.0f} ({drops_below:.0f}) ACKs dropped"
        found.append(("return link full on one side", text))
    timeouts, timeouts_below = numbers("total_rtos_l4")
    if abs(timeouts - timeouts_below) >= 1:
        name = "more timeouts" if timeouts > timeouts_below else "fewer timeouts"
        found.append((name, f"timeouts {timeouts:.1f} ({timeouts_below:.1f})"))
    again, again_below = numbers("retransmitted")
    if abs(again - again_below) >= max(0.1, 0.2 * min(again, again_below)):
        burst, burst_below = numbers("mean_ack_burst_l4")
        name = "more sent again" if again > again_below else "less sent again"
        per, per_below = (1 / value if value else math.nan for value in numbers("acks_per_packet"))
        text = f"sent again {again:.2f} % ({again_below:.2f} %), {per:.1f} ({per_below:.1f}) segments an ACK"
        bursts = f", ACKs in bursts of {burst:.1f} ({burst_below:.1f})" if abs(burst - burst_below) >= 0.1 else ""
        found.append((name, text + bursts))
    waited, waited_below = numbers("waited")
    if abs(waited - waited_below) >= 10:
        name = "the receiver's timer, more often" if waited > waited_below else "the receiver's timer, less often"
        window = numbers("mean_cwnd_l4")[0]
        found.append(
            (name, f"{waited:.0f} % ({waited_below:.0f} %) of ACKs sent by the timer, mean window {window:.0f} segments")
        )
    if found:
        return found
    window, window_below = numbers("mean_cwnd_l4")
    if abs(window / window_below - 1) >= 0.05:
        name = "larger window, without more loss" if window > window_below else "smaller window, without more loss"
        found.append((name, f"mean window {window:.0f} ({window_below:.0f}) segments"))
    srtt, srtt_below = numbers("mean_srtt_l4")
    if abs(srtt / srtt_below - 1) >= 0.05:
        name = "longer round trips" if srtt > srtt_below else "shorter round trips"
        found.append((name, f"sRTT {srtt:.1f} ({srtt_below:.1f}) ms"))
    return found


def _transfers(bench: Bench, paths: Variants, policies: Variants) -> Section:
    axes = {"flow.0.congestion": CONTROLLERS_OF_TRANSFERS, "path": paths, "size": SIZES, "policy": policies}
    result = bench.sweep(SCENARIO, "transfers", axes)
    cells = _cells(result, ["congestion", "size", "path", "policy"], "flow_completion_time_l4")
    cells = cells.with_columns(panel=pl.col("congestion") + ", " + pl.col("size"))
    return Section(
        "Time to completion",
        "Transfers as long as those of the slides of PANRG at IETF 106. In the first round trips an ACK that waits for segments which cannot "
        "come before it is answered holds up the sender until the timer of the receiver.",
        items=[
            Figure(
                figures.ratio_map(
                    _shown(cells), "path", "policy", "time ÷ that of the baseline", "panel", wrap=min(3, 1 + len(SIZES) // 2), less_is_better=True,
                    notes="note", commands="command",
                ),
                f"Time to completion over that of the baseline: geometric mean and interval of 95 % over {len(result.seeds)} seeds; grey where "
                "the interval includes 1; blue is sooner",
                [COMMAND, f"{result.command} --out {result.directory}"],
            ),
            _latest(cells),
        ],
    )  # fmt: skip


def _latest(cells: pl.DataFrame) -> Table:
    """For each size, the policies from the one that costs most time: over all paths and controllers."""
    rows = []
    for (size, policy), group in cells.filter(pl.col("policy") != BASELINE["policy"]).group_by(
        ["size", "policy"], maintain_order=True
    ):
        logs = group["mean"].log()
        worst = group.sort("mean", descending=True, nulls_last=True).row(0, named=True)
        later = sum(cell["low"] is not None and cell["low"] > 1 for cell in group.to_dicts())
        sooner = sum(cell["high"] is not None and cell["high"] < 1 for cell in group.to_dicts())
        mean = logs.mean()
        assert isinstance(mean, float)
        where = f"{worst['path']}, {worst['congestion']}: {worst['mean']:.2f}"
        rows.append([str(size), str(policy), f"{math.exp(mean):.2f}", str(later), str(sooner), where])
    head = ["size", "policy", "mean ratio", "later", "sooner", "worst"]
    return Table(
        head,
        rows,
        "Completion over all paths and controllers: geometric mean of the ratios, cells decided, and the worst",
        numeric_from=2,
    )


def _senders(bench: Bench, policies: Variants) -> Section:
    sizes = {name: sets for name, sets in SIZES.items() if name == "1 MB"}
    axes = {
        "sender": bench.variants("senders.toml"),
        "path": bench.variants(SENDERS_ON),
        "size": {**sizes, "greedy": {}},
        "policy": policies,
    }
    result = bench.sweep(SCENARIO, "senders", axes)
    shared = ["sender", "size", "path", "policy"]
    goodput = _cells(result, shared, "mean_throughput_l7").filter(pl.col("size") == "greedy")
    time = _cells(result, shared, "flow_completion_time_l4").filter(pl.col("size") == "1 MB")
    of = f"geometric mean and interval of 95 % over {len(result.seeds)} seeds"
    commands = [COMMAND, f"{result.command} --out {result.directory}"]
    shown = {"panel": "sender", "wrap": 4, "notes": "note", "commands": "command"}
    return Section(
        "The clock of the sender",
        "The same NewReno, but for what its window grows by and whether it is paced. A window that grows by the ACK grows as much slower as "
        "there are fewer ACKs; one that grows by what an ACK covers does not, but answers each ACK with a burst of that size unless it is paced.",
        items=[
            Figure(
                figures.ratio_map(_shown(time), "path", "policy", "time ÷ that of the baseline", less_is_better=True, **shown),
                f"Time to completion of 1 MB over that of the baseline of the same sender: {of}",
                commands,
            ),
            Figure(
                figures.ratio_map(_shown(goodput), "path", "policy", "goodput ÷ that of the baseline", **shown),
                f"Goodput of a greedy sender over that of the baseline of the same sender: {of}",
                commands,
            ),
        ],
    )  # fmt: skip
