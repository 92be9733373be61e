"""What the study measures, and the figures and tables of its report."""

from collections.abc import Iterable, Mapping

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.statistics import intervals, mean_interval, ratios
from acklab.studies import Bench, Measure
from acklab.sweeps import SweepResult, load_sweep

from . import drawing
from .runs import (
    DATAGRAMS,
    HACK,
    SCENARIO,
    SCHEMES,
    STOCK,
    UDP,
    Runs,
    cells,
    failures,
    goodput,
    run,
    sent_again,
    sets_of,
    shown,
    timeouts,
    within,
)
from .transfer import Cost, on_answers

COMMAND = "acklab study hack_80211a"
ONE, BOTH = "one client", "both clients"
TRANSFER = "traffic.toml:transfer"

LATE = ("0us", "10.4us", "13.4us", "37us")
CARDS = {10.4: "AR9300 and Intel 5300: 10.4", 13.4: "to 13.4", 37.0: "SoRa: 37"}

SHORTER = {"duration": "35s"}
"""For sweeps: 30 s."""

# What a compressed ACK consists of, which the paper does not say.
CONTENTS = {
    "checksum elided": {},
    "checksum carried": {"wifi.0.hack.checksum": "carried"},
    "checksum elided; timestamps": {"flow.0.timestamps": True, "flow.0.mss": "1448B"},
    "checksum carried; timestamps": {"wifi.0.hack.checksum": "carried", "flow.0.timestamps": True, "flow.0.mss": "1448B"},
}

# What the loss of 2 % may have been of in ns-3.
LOST = {
    "2 % of data": {},
    "2 % of data and of link-layer ACKs": {"wifi.0.reception.channel.control_error_rate": 0.02},
    "2 % of data; timestamps": {"flow.0.timestamps": True, "flow.0.mss": "1448B"},
}

# A number of Tables 2 and 3, the part of `Cost` that it is, and whose.
COSTS = {
    "acks": ("acks", STOCK),
    "ack_octets": ("octets", STOCK),
    "plain": ("acks", HACK),
    "compressed": ("compressed", HACK),
    "compressed_octets": ("compressed_octets", HACK),
    "compressed_mean": ("compressed_mean", HACK),
    "ack_time": ("ack_time", STOCK),
    "access_time": ("access_time", STOCK),
    "answer_time": ("answer_time", STOCK),
    "ack_time_hack": ("ack_time", HACK),
    "rohc_time": ("rohc_time", HACK),
    "access_time_hack": ("access_time", HACK),
    "answer_time_hack": ("answer_time", HACK),
}


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Numbers of claims that no table of one run tells."""
    transfers, drawn = _transfers(bench), _throughput(bench)
    swept = [_late(bench), _settings(bench), _contents(bench), _simulated(bench)]
    costs = {scheme: _costs(bench, own) for scheme, own in transfers.items()}
    found = {
        name: Measure([float(getattr(cost, part)) for cost in costs[scheme]], [transfers[scheme].command])
        for name, (part, scheme) in COSTS.items()
    }
    plain, compressed = costs[STOCK], costs[HACK]
    ratio = [one.octets / one.acks / two.compressed_mean for one, two in zip(plain, compressed, strict=True)]
    with_hack = [own for (_, scheme), own in drawn.items() if scheme == HACK] + [transfers[HACK]]
    failed = sum(failures(result) for own in with_hack for result in own.results)
    failed += sum(int(sweep.table("hack")["total_decompression_failures_l2"].sum()) for sweep in swept)
    beyond = [
        sum(max(0, timeouts(ours) - timeouts(theirs)) for ours, theirs in zip(drawn[clients, HACK].results, drawn[clients, STOCK].results, strict=True))
        for clients in (ONE, BOTH)
    ]  # fmt: skip
    return {
        **found,
        "ratio": Measure(ratio, [transfers[scheme].command for scheme in SCHEMES]),
        "failures": Measure([failed], [COMMAND]),
        "timeouts": Measure([sum(beyond) + sum(_beyond_stock(sweep) for sweep in swept[:2])], [COMMAND]),
    }


def sections(bench: Bench) -> list[Section]:
    """What the report shows after the claims."""
    drawn = _throughput(bench)
    return [
        _figure_9(bench, drawn),
        _table_1(bench, drawn),
        _tables_2_and_3(bench),
        _air(drawn),
        _lateness(bench),
        _causes(bench),
        _cross_check(bench),
    ]


def _throughput(bench: Bench) -> dict[tuple[str, str], Runs]:
    wanted: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for clients in (ONE, BOTH):
        of = f"clients.toml:{clients}"
        wanted[clients, UDP] = (DATAGRAMS, [of])
        wanted |= {(clients, scheme): (SCENARIO, [of, f"schemes.toml:{scheme}"]) for scheme in reversed(SCHEMES)}
    return run(bench, wanted)


def _transfers(bench: Bench) -> dict[str, Runs]:
    return run(bench, {scheme: (SCENARIO, [TRANSFER, f"schemes.toml:{scheme}"]) for scheme in SCHEMES})


def _late(bench: Bench) -> SweepResult:
    bench.sweep(DATAGRAMS, "late_datagrams", {"wifi.0.late_answers": LATE}, set=SHORTER)
    return bench.sweep(SCENARIO, "late", {"wifi.0.late_answers": LATE, "scheme": bench.variants("schemes.toml")}, set=SHORTER)


def _settings(bench: Bench) -> SweepResult:
    return bench.sweep(
        SCENARIO,
        "settings",
        {"setting": bench.variants("settings.toml"), "scheme": bench.variants("schemes.toml")},
        set=SHORTER,
    )


def _contents(bench: Bench) -> SweepResult:
    return bench.sweep(SCENARIO, "contents", {"contents": CONTENTS}, set=sets_of(bench, [TRANSFER, f"schemes.toml:{HACK}"]))


def _simulated(bench: Bench) -> SweepResult:
    sets = sets_of(bench, [f"schemes.toml:{HACK}", "crosscheck.toml:losses with HACK,simulated"])
    return bench.sweep(SCENARIO, "simulated", {"losses": LOST}, set=sets)


def _costs(bench: Bench, own: Runs) -> list[Cost]:
    late = float(bench.source(SCENARIO).load()["wifi"][0]["late_answers"].removesuffix("us"))
    return [Cost.of(result, late) for result in own.results]


def _beyond_stock(sweep: SweepResult) -> int:
    """Timeouts with HACK beyond those of stock, setting by setting and seed by seed."""
    setting = next(iter(sweep.columns.values()))
    counted = sweep.flows.group_by(setting, "seed", "scheme").agg(pl.col("total_rtos_l4").sum().cast(pl.Int64))
    beside = counted.pivot("scheme", index=[setting, "seed"], values="total_rtos_l4")
    return int((beside[HACK] - beside[STOCK]).clip(0).sum())


def _published(bench: Bench, *places: tuple[tuple[str, str], str], scale: float = 1.0) -> dict[tuple[str, str], float]:
    """Published numbers by the place of their star."""
    known = {claim.id: claim.published for claim in bench.study.file.claim}
    return {place: scale * known[claim] for place, claim in places}


def _of_seeds(bench: Bench) -> str:
    return f"mean over {bench.seeds} seeds of 120 s with its interval of 95 %"


def _of_sweeps(bench: Bench) -> str:
    return f"mean over {bench.seeds} seeds of 30 s with its interval of 95 %"


def _figure_9(bench: Bench, drawn: Mapping[tuple[str, str], Runs]) -> Section:
    stars = _published(bench, ((ONE, UDP), "udp"), ((BOTH, UDP), "udp"), ((ONE, HACK), "hack"), ((ONE, STOCK), "stock"))
    rows = []
    for clients in (ONE, BOTH):
        for scheme in (UDP, HACK, STOCK):
            own = drawn[clients, scheme]
            parts = zip(*(result.flows["mean_throughput_l7"] for result in own.results), strict=True)
            each = [mean_interval(values) for values in parts]
            gain = mean_interval(
                [ours / theirs for ours, theirs in zip(own.values(goodput), drawn[clients, STOCK].values(goodput), strict=True)]
            )
            of_stock = "" if scheme == STOCK else shown(gain, 3)
            rows.append([clients, scheme, shown(own.interval(goodput)), ", ".join(shown(one) for one in each), of_stock])
    head = ["", "scheme", "Mbps", "each client", "over stock"]
    return Section(
        "Throughput: Figure 9",
        "UDP meets nobody; TCP/HACK sends hardly an ACK as a frame. The stars are what the text of the paper has; it names no number for both clients "
        "but the gain, 1.322.",
        items=[
            Figure(
                figures.bars(cells(drawn, ("clients", "scheme"), goodput), "clients", "scheme", "Mbps", published=stars, inks=drawing.INKS),
                f"Throughput of all flows together: {_of_seeds(bench)}",
                [COMMAND],
            ),
            Table(head, rows, "The same, and over stock TCP seed by seed", commands=[own.command for own in drawn.values()], numeric_from=2),
        ],
    )  # fmt: skip


def _table_1(bench: Bench, drawn: Mapping[tuple[str, str], Runs]) -> Section:
    once = _published(
        bench,
        ((ONE, HACK), "once_hack"), ((BOTH, HACK), "once_hack_both"), ((ONE, STOCK), "once_stock"), ((BOTH, STOCK), "once_stock_both"), scale=100,
    )  # fmt: skip
    stars = {place: 100 - share for place, share in once.items()} | {(clients, UDP): 1.0 for clients in (ONE, BOTH)}
    return Section(
        "Frames sent again: Table 1",
        "Frames of the sender that needed more than one transmission. The channel loses what UDP loses on SoRa, 1 %; all else is collisions with ACKs of TCP.",
        items=[
            Figure(
                figures.bars(
                    cells(drawn, ("clients", "scheme"), sent_again), "clients", "scheme", "frames sent again [%]", published=stars, inks=drawing.INKS,
                ),
                f"Share of frames sent again: {_of_seeds(bench)}",
                [COMMAND],
            )
        ],
    )  # fmt: skip


def _tables_2_and_3(bench: Bench) -> Section:
    transfers = _transfers(bench)
    costs = {scheme: _costs(bench, own) for scheme, own in transfers.items()}
    known = {claim.metric.removeprefix("study."): claim.published for claim in bench.study.file.claim}
    titles = {
        "acks": "ordinary ACKs", "octets": "their octets", "compressed": "compressed ACKs", "compressed_octets": "their octets",
        "ack_time": "TCP ACKs [ms]", "rohc_time": "ROHC [ms]", "access_time": "acquire channel [ms]", "answer_time": "LL ACK overhead [ms]",
    }  # fmt: skip
    rows = []
    for part, title in titles.items():
        row = [title]
        for scheme in SCHEMES:
            interval = mean_interval([float(getattr(cost, part)) for cost in costs[scheme]])
            name = next((name for name, place in COSTS.items() if place == (part, scheme)), "")
            row += [f"{known[name]:g}" if name else "–", shown(interval, 2 if "time" in part else 0)]
        rows.append(row)
    head = ["", "stock, published", "ours", "HACK, published", "ours"]
    return Section(
        "A transfer of 25 MiB: Tables 2 and 3",
        "Times are counted as the paper's must have been, for its numbers come out so: octets of ACKs at 54 Mbps and of compressed ones at 24, without preambles; DIFS and a "
        "backoff for each transmission; SIFS and lateness for each link-layer ACK waited for. They are costs of ACKs, not time that was saved: "
        "while a client counts its backoff down, so does the sender.",
        items=[
            Table(head, rows, f"Mean over {bench.seeds} seeds", commands=[own.command for own in transfers.values()]),
            _contents_of_acks(bench),
        ],
    )


def _contents_of_acks(bench: Bench) -> Table:
    """Which header would give 4.36 octets and a ratio of 12."""
    swept = load_sweep(bench.folder / "contents")
    acks = swept.table("hack").filter(pl.col("node") == "client")
    rows = []
    for name in CONTENTS:
        of = acks.filter(pl.col("contents") == name)
        flow = swept.flows.filter(pl.col("contents") == name)
        plain = (flow["total_ack_bytes_l3"] / flow["total_acks_sent_l4"]).to_list()
        small = [on_answers(row) / row["total_compressed_acks_l2"] for row in of.to_dicts()]
        ratio = [large / little for large, little in zip(plain, small, strict=True)]
        rows.append([name, f"{mean_interval(plain).mean:.1f}", shown(mean_interval(small)), shown(mean_interval(ratio), 1)])
    head = ["header", "ordinary ACK [B]", "compressed [B]", "ratio"]
    return Table(
        head,
        rows,
        "What a compressed ACK carries, which the paper does not say: it has 52 octets for the ordinary ACK, 4.36 for the compressed one, and 12 for the ratio",
        commands=[f"{swept.command} --out {swept.directory}"],
    )


def _air(drawn: Mapping[tuple[str, str], Runs]) -> Section:
    shares = {f"{scheme}, {clients}": own.uses for (clients, scheme), own in drawn.items()}
    return Section(
        "Where the time goes",
        "Shares of the time on the air. Waiting is booked to whoever sends next; SIFS includes what answers are late.",
        items=[Figure(drawing.air(shares), "Uses of the air, mean over seeds", [COMMAND])],
    )


def _lateness(bench: Bench) -> Section:
    swept, datagrams = load_sweep(bench.folder / "late"), load_sweep(bench.folder / "late_datagrams")
    late, alone = swept.columns["wifi.0.late_answers"], datagrams.columns["wifi.0.late_answers"]
    both = swept.network.select(late, "scheme", "seed", "agg_throughput_l4")
    udp = datagrams.network.select(pl.col(alone).alias(late), pl.lit(UDP).alias("scheme"), "seed", "agg_throughput_l4")
    means = intervals(pl.concat([udp, both.reverse()]), [late, "scheme"], "agg_throughput_l4")
    gains = ratios(both, [late, "scheme"], "agg_throughput_l4", {"scheme": STOCK}).filter(pl.col("scheme") == HACK)
    number = pl.col(late).str.strip_suffix("us").cast(pl.Float64).alias("late")
    head = ["later than SIFS", *(f"{name} [Mbps]" for name in (UDP, HACK, STOCK)), "HACK over stock"]
    rows = []
    for place in LATE:
        row = [place.replace("us", " µs")]
        for name in (UDP, HACK, STOCK):
            cell = means.filter(pl.col(late) == place, pl.col("scheme") == name).row(0, named=True)
            row.append(within(cell, 2))
        rows.append([*row, within(gains.filter(pl.col(late) == place).row(0, named=True), 3)])
    return Section(
        "Late link-layer ACKs",
        "How much of the gain is SoRa's: link-layer ACKs come 37 µs later than SIFS there, 10.4 to 13.4 µs on two cards, not at all in the standard. Stock TCP waits for them "
        "three times for two segments, TCP/HACK twice.",
        items=[
            Figure(
                drawing.late(means.with_columns(number).sort("late"), gains.with_columns(number).sort("late"), CARDS),
                f"One client; {_of_sweeps(bench)}; the gain as geometric mean of the ratio",
                [COMMAND, f"{swept.command} --out {swept.directory}"],
            ),
            Table(head, rows, "The same"),
        ],
    )


def _causes(bench: Bench) -> Section:
    swept, titles = load_sweep(bench.folder / "settings"), bench.variants("settings.toml").chosen
    gains = ratios(swept.network, ["setting", "scheme"], "agg_throughput_l4", {"scheme": STOCK})
    means = intervals(swept.network, ["setting", "scheme"], "agg_throughput_l4")
    sender = swept.table("stations").filter(pl.col("node") == "ap").with_columns(once=100 * pl.col("share_first_try_l2"))
    once = intervals(sender, ["setting", "scheme"], "once")
    rows = []
    for name, variant in titles.items():

        def of(frame: pl.DataFrame, scheme: str, decimals: int, setting: str = name) -> str:
            return within(frame.filter(pl.col("setting") == setting, pl.col("scheme") == scheme).row(0, named=True), decimals)

        numbers: Iterable[str] = [
            of(frame, scheme, decimals) for frame, decimals in ((once, 1), (means, 2)) for scheme in SCHEMES
        ]
        rows.append([variant.title or name, *numbers, of(gains, HACK, 3)])
    published = ["published", "87.5", "97.5", "19.4", "25.0", "1.29"]
    head = ["setting", "once, stock [%]", "once, HACK [%]", "stock [Mbps]", "HACK [Mbps]", "gain"]
    return Section(
        "What could bring stock TCP to the paper's losses",
        "On SoRa 12 to 14 % of the sender's frames needed another transmission under stock TCP. One setting at a time, one client.",
        items=[Table(head, [*rows, published], f"Mean and interval over {bench.seeds} seeds of 30 s", commands=[f"{swept.command} --out {swept.directory}"])],
    )  # fmt: skip


def _cross_check(bench: Bench) -> Section:
    found = {finding.id.rpartition(".")[2]: finding for finding in bench.findings}
    places = {"simulated": "ns-3", "sora": "SoRa", "corrected": "SoRa, corrected"}
    ours, stars, rows = [], {}, []
    for place, title in places.items():
        own = {losses: found[f"{place}_{losses}"] for losses in drawing.LOSSES}
        for losses, finding in own.items():
            ours.append((title, drawing.LOSSES[losses], finding.measured, finding.low, finding.high))
            stars[title, drawing.LOSSES[losses]] = finding.published
        gains = [own["hack"].measured / own[losses].measured for losses in ("all", "stock")]
        rows.append([title, *(f"{gain:.3f}" for gain in (own["hack"].published / own["all"].published, *gains))])
    frame = pl.DataFrame(ours, schema=["where", "scheme", "mean", "low", "high"], orient="row", nan_to_null=True)
    simulated = load_sweep(bench.folder / "simulated")
    means = intervals(simulated.network, ["losses"], "agg_throughput_l4")
    return Section(
        "Cross-check with ns-3",
        "The paper gave ns-3 the losses seen on SoRa, 12 % with stock TCP and 2 % with TCP/HACK, and took SoRa's late link-layer ACKs out of its measurements. "
        "Here it is ns-3's dialect with link-layer ACKs in time, the standard with late ones, and the standard without. Whether the 12 % include what collides in "
        "ns-3 as well is not said: both are shown.",
        items=[
            Figure(
                figures.bars(frame, "where", "scheme", "Mbps", published=stars, inks=drawing.INKS),
                f"One client; stars are published; {_of_sweeps(bench)}",
                [COMMAND],
            ),
            Table(
                ["", "published", "12 % with collisions", "12 % beside them"],
                rows,
                "Throughput of TCP/HACK over that of stock TCP",
            ),
            Table(
                ["lost", "Mbps"],
                [[cell["losses"], within(cell)] for cell in means.to_dicts()],
                "TCP/HACK in ns-3's dialect, for which the paper has 28 Mbps",
                commands=[f"{simulated.command} --out {simulated.directory}"],
            ),
        ],
    )
