"""What the study measures, and the figures and tables of its report."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.result import Result
from acklab.scenario import overrides
from acklab.statistics import Interval, intervals, mean_interval, ratios
from acklab.studies import Bench, Measure
from acklab.sweeps import SweepResult, Variants, load_sweep

from ..hack_80211a.drawing import air
from ..hack_80211a.runs import STOCK, UDP, Runs, cells, failures, goodput, run, sets_of, shown, timeouts, within
from ..hack_capacity.model import hack, stock
from ..wifi_capacity.model import Mbps, cycle, of_scenario
from . import drawing

COMMAND = "acklab study hack_clients"
SCENARIO, DATAGRAMS = "../wifi_parity/download.toml", "../wifi_parity/datagrams.toml"
CLIENTS = ("1", "2", "4", "10")
OPPORTUNISTIC, MORE_DATA, TIMER = "opportunistic", "MORE DATA", "timer"
SCHEMES = (STOCK, OPPORTUNISTIC, MORE_DATA)
OF = {"1": "1 client", "2": "2 clients", "4": "4 clients", "10": "10 clients"}

# The counts of clients that gains were published for.
ENDS = ("1", "10")
LIMITS = ("1ms", "3ms", "10ms", "30ms", "100ms", "300ms")

# Packets of the access point's queue for each client, and the settings in which they are not the paper's 126.
PACKETS = (63, 84, 126, 168, 252)
QUEUES = {
    "half the queue": 63,
    "half the queue and linux": 63,
    "a batch more": 168,
    "in turn and a batch more": 168,
    "in turn and every segment": 168,
}
AMONG_QUEUES = ("half the queue", "a batch more", "in turn and a batch more")
"""Settings that are among the lengths of the queue as well."""
SHARED, TURNS = "one queue", "clients in turn"
LINES = (("1", SHARED), ("10", SHARED), ("10", TURNS))

# Ten clients cost more, and have ten flows to average over.
DURATIONS = {"1": {"duration": "12s"}, "10": {"duration": "9s"}}


def measures(bench: Bench) -> Mapping[str, Measure]:
    """Numbers of claims that no table of one run tells."""
    drawn = _figure_10(bench)
    settings = [_settings(bench, count) for count in ENDS]
    queues = [_queues(bench, count, place) for count, place in LINES]
    timers = [_timer(bench, count) for count in ENDS]
    options = [_options(bench, count) for count in ENDS]
    with_hack = [own for (_, scheme), own in (drawn | _turns(bench)).items() if scheme in {OPPORTUNISTIC, MORE_DATA}]
    failed = sum(failures(result) for own in with_hack for result in own.results)
    failed += sum(
        int(sweep.table("hack")["total_decompression_failures_l2"].sum()) for sweep in (*settings, *queues, *timers, *options)
    )
    beyond = [
        max(0, sum(drawn[count, MORE_DATA].values(timeouts)) - sum(drawn[count, STOCK].values(timeouts))) for count in CLIENTS
    ]
    elsewhere = [*(_beyond_stock(sweep, "setting") for sweep in settings), *(_beyond_stock(sweep, "packets") for sweep in queues)]
    fitting = {
        f"within_aifs_{count}": Measure(drawn[count, MORE_DATA].values(_within_aifs), [drawn[count, MORE_DATA].command])
        for count in ENDS
    }
    return {
        **fitting,
        "failures": Measure([failed], [COMMAND]),
        "timeouts": Measure([sum(beyond)], [COMMAND]),
        "timeouts_in_settings": Measure([sum(elsewhere)], [COMMAND]),
    }


def sections(bench: Bench) -> list[Section]:
    """What the report shows after the claims."""
    drawn = _figure_10(bench)
    return [
        _goodput(bench, drawn),
        _carried(bench, drawn),
        _air(drawn),
        _of_which_queue(bench),
        _of_which_stock(bench),
        _timers(bench, drawn),
        _left_open(bench),
    ]


def _figure_10(bench: Bench) -> dict[tuple[str, str], Runs]:
    wanted: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for count in CLIENTS:
        of = f"clients.toml:{count}"
        wanted[count, UDP] = (DATAGRAMS, [of, f"offers.toml:{count}"])
        wanted |= {(count, scheme): (SCENARIO, [of, f"schemes.toml:{scheme}"]) for scheme in SCHEMES}
    return run(bench, wanted)


def _turns(bench: Bench) -> dict[tuple[str, str], Runs]:
    wanted = {
        (count, scheme): (SCENARIO, [f"turns.toml:{count}", f"schemes.toml:{scheme}"]) for count in ENDS for scheme in SCHEMES
    }
    return run(bench, wanted)


def _settings(bench: Bench, count: str) -> SweepResult:
    """Each setting with stock TCP and MORE DATA."""
    laid = {}
    for name, variant in bench.variants("settings.toml").chosen.items():
        apart = "wifi.0.ap.queues=per-station" in variant.set
        laid[name] = [*sets_of(bench, [f"clients.toml:{count}"]), *variant.set, _limit(QUEUES.get(name, 126), count, apart)]
    return bench.sweep(SCENARIO, f"settings_{count}", {"setting": laid, "scheme": _ends(bench)}, set=DURATIONS[count])


def _queues(bench: Bench, count: str, place: str) -> SweepResult:
    """Each length of the access point's queue with stock TCP and MORE DATA."""
    apart = place == TURNS
    laid = {str(packets): [_limit(packets, count, apart)] for packets in PACKETS}
    sets = [*sets_of(bench, [f"clients.toml:{count}"]), f"wifi.0.ap.queues={'per-station' if apart else 'shared'}"]
    grid = {"packets": laid, "scheme": _ends(bench)}
    return bench.sweep(SCENARIO, _folder(count, place), grid, set=[*sets, *overrides(DURATIONS[count])])


def _folder(count: str, place: str) -> str:
    return f"queues_{count}_{'apart' if place == TURNS else 'shared'}"


def _limit(packets: int, count: str, apart: bool) -> str:
    return f"wifi.0.ap.queue.limit={packets * (1 if apart else int(count))}packets"


def _ends(bench: Bench) -> Variants:
    return bench.variants(f"schemes.toml:{STOCK},{MORE_DATA}")


def _timer(bench: Bench, count: str) -> SweepResult:
    sets = [*sets_of(bench, [f"clients.toml:{count}"]), "wifi.0.hack.variant=timer"]
    return bench.sweep(SCENARIO, f"timer_{count}", {"wifi.0.hack.hold_limit": LIMITS}, set=sets)


def _options(bench: Bench, count: str) -> SweepResult:
    sets = sets_of(bench, [f"clients.toml:{count}", f"schemes.toml:{MORE_DATA}"])
    return bench.sweep(SCENARIO, f"options_{count}", {"option": bench.variants("options.toml")}, set=sets)


def _total(result: Result, column: str) -> float:
    return float(result.table("hack")[column].sum())


def _within_aifs(result: Result) -> float:
    """Of answers with compressed ACKs, those of all clients together."""
    own = result.table("hack").filter(pl.col("total_augmented_answers_l2") > 0)
    answers = own["total_augmented_answers_l2"]
    return _ratio(float((own["share_within_aifs_l2"] * answers).sum()), float(answers.sum()))


def _beyond_stock(sweep: SweepResult, axis: str) -> int:
    """Timeouts with MORE DATA beyond those of stock, setting by setting, all seeds together."""
    network = sweep.network.filter(~pl.col(axis).is_in(AMONG_QUEUES))
    counted = network.group_by(axis, "scheme").agg(pl.col("agg_rtos_l4").sum().cast(pl.Int64))
    beside = counted.pivot("scheme", index=axis, values="agg_rtos_l4")
    return int((beside[MORE_DATA] - beside[STOCK]).clip(0).sum())


def _gain(drawn: Mapping[tuple[str, str], Runs], count: str, scheme: str) -> Interval:
    ours, theirs = (drawn[count, name].values(goodput) for name in (scheme, STOCK))
    return mean_interval([own / other for own, other in zip(ours, theirs, strict=True)])


def _published(bench: Bench) -> dict[str, float]:
    """Gains by the number of clients."""
    known = {claim.id: claim.published for claim in bench.study.file.claim}
    return {count: known[f"gain_{count}"] for count in ENDS}


def _over(bench: Bench) -> str:
    return f"mean over {bench.seeds} seeds with its interval of 95 %"


def _goodput(bench: Bench, drawn: Mapping[tuple[str, str], Runs]) -> Section:
    order = (UDP, *SCHEMES)
    by_clients = {(OF[count], scheme): drawn[count, scheme] for count in CLIENTS for scheme in order}
    gains = [(OF[count], scheme, _gain(drawn, count, scheme)) for count in CLIENTS for scheme in SCHEMES[1:]]
    frame = pl.DataFrame(
        [(count, scheme, *(100 * (number - 1) for number in (one.mean, one.low, one.high))) for count, scheme, one in gains],
        schema=["clients", "scheme", "mean", "low", "high"],
        orient="row",
    )
    stars = {(OF[count], MORE_DATA): 100 * (number - 1) for count, number in _published(bench).items()}
    rows = []
    for count in CLIENTS:
        row = [count, *(shown(drawn[count, scheme].interval(goodput), 1) for scheme in order)]
        rows.append([*row, *(shown(_gain(drawn, count, scheme), 3) for scheme in SCHEMES[1:])])
    head = ["clients", *order, "opportunistic over stock", "MORE DATA over stock"]
    return Section(
        "Goodput by the number of clients: Figure 10",
        "The paper's text has no goodput, only the gain of MORE DATA with one and with ten clients: the stars.",
        items=[
            Figure(
                figures.bars(cells(by_clients, ("clients", "scheme"), goodput), "clients", "scheme", "Mbps", inks=drawing.INKS),
                f"Goodput of all flows together: {_over(bench)}",
                [COMMAND],
            ),
            Figure(
                figures.bars(frame, "clients", "scheme", "gain over stock [%]", published=stars, inks=drawing.INKS),
                f"By how much goodput is above that of stock TCP, seed by seed: {_over(bench)}",
                [COMMAND],
            ),
            Table(head, rows, "The same in Mbps", commands=[own.command for own in drawn.values()]),
        ],
    )  # fmt: skip


def _carried(bench: Bench, drawn: Mapping[tuple[str, str], Runs]) -> Section:
    return Section(
        "What travels on answers",
        "Unanswered are PPDUs of both directions; MPDUs are those of a PPDU of the access point; octets are of a compressed ACK, of which an answer carries so many; timeouts "
        "of TCP are those of all seeds. An opportunistic client sends as a frame what it wins the medium for before the next data come.",
        items=[
            Table(_HEAD, _travels(drawn), f"126 packets a client, in one queue: {_over(bench)}", numeric_from=2),
            Table(_HEAD, _travels(_turns(bench)), "168 packets a client, who take turns", numeric_from=2),
        ],
    )


_HEAD = (
    "clients",
    "scheme",
    "unanswered [%]",
    "MPDUs",
    "ACKs compressed [%]",
    "octets",
    "an answer",
    "within AIFS [%]",
    "timeouts",
)


def _travels(drawn: Mapping[tuple[str, str], Runs]) -> list[list[str]]:
    rows = []
    for (count, scheme), own in drawn.items():
        if scheme == UDP:
            continue
        row = [count, scheme, shown(own.interval(_unanswered), 1), shown(own.interval(_mpdus), 1)]
        if scheme == STOCK:
            row += ["–"] * 4
        else:
            row += [shown(own.interval(_share_compressed), 1), shown(own.interval(_octets), 2)]
            row += [shown(own.interval(_acks_of_answer), 1), shown(own.interval(lambda result: 100 * _within_aifs(result)), 1)]
        rows.append([*row, str(sum(own.values(timeouts)))])
    return rows


def _unanswered(result: Result) -> float:
    return 100 * float(result.stations["total_unanswered_l2"].sum() / result.stations["total_ppdus_l2"].sum())


def _mpdus(result: Result) -> float:
    return float(result.stations["mean_mpdus_per_ppdu_l2"][0])


def _octets(result: Result) -> float:
    return _ratio(_total(result, "total_compressed_bytes_l2"), _total(result, "total_compressed_acks_l2"))


def _acks_of_answer(result: Result) -> float:
    return _ratio(_total(result, "total_compressed_acks_l2"), _total(result, "total_augmented_answers_l2"))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _share_compressed(result: Result) -> float:
    compressed, plain = (_total(result, column) for column in ("total_compressed_acks_l2", "total_plain_acks_l2"))
    return 100 * compressed / (compressed + plain)


def _air(drawn: Mapping[tuple[str, str], Runs]) -> Section:
    shares = {f"{scheme}, {OF[count]}": drawn[count, scheme].uses for count in ENDS for scheme in (UDP, *SCHEMES)}
    return Section(
        "Where the time goes",
        "Shares of the time on the air. Waiting is booked to whoever sends next.",
        items=[Figure(air(shares), "Uses of the air, mean over seeds", [COMMAND])],
    )


def _timers(bench: Bench, drawn: Mapping[tuple[str, str], Runs]) -> Section:
    parts, commands = [], [COMMAND]
    for count in ENDS:
        swept = load_sweep(bench.folder / f"timer_{count}")
        limit = swept.columns["wifi.0.hack.hold_limit"]
        part = swept.network.select(pl.col(limit).alias("limit"), "seed", "agg_throughput_l4", "agg_rtos_l4")
        theirs = pl.DataFrame(
            {"seed": list(swept.seeds), "stock": drawn[count, STOCK].values(goodput)},
            schema_overrides={"seed": part.schema["seed"]},
        )
        parts.append(
            part.join(theirs, on="seed").with_columns(
                gain=pl.col("agg_throughput_l4") / pl.col("stock"), clients=pl.lit(OF[count])
            )
        )
        commands.append(f"{swept.command} --out {swept.directory}")
    frame = pl.concat(parts)
    means = intervals(frame, ["limit", "clients"], "gain")
    waited = frame.group_by("limit", "clients", maintain_order=True).agg(pl.col("agg_rtos_l4").sum())
    rows = []
    for limit in LIMITS:
        row = [limit.replace("ms", " ms")]
        for count in ENDS:
            (cell,) = means.filter(pl.col("limit") == limit, pl.col("clients") == OF[count]).to_dicts()
            (late,) = waited.filter(pl.col("limit") == limit, pl.col("clients") == OF[count]).to_dicts()
            row += [within(cell, 3), str(late["agg_rtos_l4"])]
        rows.append(row)
    head = ["held for", *(text for count in ENDS for text in (OF[count], "timeouts, all seeds"))]
    lines = {OF[count]: {scheme: _gain(drawn, count, scheme).mean for scheme in (OPPORTUNISTIC, MORE_DATA)} for count in ENDS}
    return Section(
        "An explicit timer",
        "The naive design of section 3.2: an ACK is held for the next data, however long, and goes as a frame when the timer runs out. The paper says that no delay is good, and shows no "
        "number.",
        items=[
            Figure(drawing.timer(means, lines), f"Goodput over that of stock TCP by how long ACKs are held: {_over(bench)}; dashed: MORE DATA, dotted: opportunistic", commands),
            Table(head, rows, "The same, and timeouts of TCP"),
        ],
    )  # fmt: skip


def _of_which_queue(bench: Bench) -> Section:
    parts, commands = [], [COMMAND]
    for count, place in LINES:
        swept = load_sweep(bench.folder / _folder(count, place))
        commands.append(f"{swept.command} --out {swept.directory}")
        hack = swept.table("hack").group_by("packets", "scheme", "seed", maintain_order=True)
        share = hack.agg(
            share=100
            * pl.col("total_compressed_acks_l2").sum()
            / (pl.col("total_compressed_acks_l2") + pl.col("total_plain_acks_l2")).sum()
        )
        network = swept.network.select("packets", "scheme", "seed", "agg_throughput_l4")
        parts.append(
            network.join(share, on=["packets", "scheme", "seed"], how="left").with_columns(line=pl.lit(_line(count, place)))
        )
    frame = pl.concat(parts)
    gains = ratios(frame, ["line", "packets", "scheme"], "agg_throughput_l4", {"scheme": STOCK}).filter(
        pl.col("scheme") == MORE_DATA
    )
    means = intervals(frame, ["line", "packets", "scheme"], "agg_throughput_l4")
    shares = intervals(frame.filter(pl.col("scheme") == MORE_DATA), ["line", "packets"], "share")
    rows = []
    for gain, share in zip(gains.to_dicts(), shares.to_dicts(), strict=True):
        own = means.filter(pl.col("line") == gain["line"], pl.col("packets") == gain["packets"]).to_dicts()
        rows.append([gain["line"], gain["packets"], *(within(cell, 1) for cell in own), within(share, 1), within(gain, 3)])
    head = ["", "packets a client", STOCK, MORE_DATA, "ACKs compressed [%]", "gain"]
    return Section(
        "Of which queue",
        "The queue of the cell includes what is on the air. While a batch of 42 packets is on its way, the ACKs of the batch before wait for its answer; for that answer to find more "
        "data behind it a third batch must be there. When a loss has made the window smaller than that, the last batch says that nothing follows, and its ACKs go as frames.",
        items=[
            Figure(drawing.gains(gains, "packets", _published(bench), OF), f"Goodput of MORE DATA over that of stock by the length of the queue: geometric {_over(bench)}; dashed: published", commands),
            Table(head, rows, f"In Mbps: {_over(bench)}", numeric_from=2),
        ],
    )  # fmt: skip


def _line(count: str, place: str) -> str:
    return OF[count] if count == "1" else f"{OF[count]}, {place}"


def _of(frame: pl.DataFrame, setting: str, scheme: str) -> pl.DataFrame:
    return frame.filter(pl.col("setting") == setting, pl.col("scheme") == scheme)


def _of_which_stock(bench: Bench) -> Section:
    titles, published = bench.variants("settings.toml").chosen, _published(bench)
    found: dict[str, pl.DataFrame] = {}
    rows: list[list[str]] = [[variant.title] for variant in titles.values()]
    commands = [COMMAND]
    for count in ENDS:
        swept = load_sweep(bench.folder / f"settings_{count}")
        commands.append(f"{swept.command} --out {swept.directory}")
        means = intervals(swept.network, ["setting", "scheme"], "agg_throughput_l4")
        gains = ratios(swept.network, ["setting", "scheme"], "agg_throughput_l4", {"scheme": STOCK}).filter(
            pl.col("scheme") == MORE_DATA
        )
        found[count] = gains
        for row, name in zip(rows, titles, strict=True):
            own = {cell["scheme"]: cell for cell in means.filter(pl.col("setting") == name).to_dicts()}
            (gain,) = gains.filter(pl.col("setting") == name).to_dicts()
            row += [within(own[STOCK], 1), within(own[MORE_DATA], 1), within(gain, 3)]
            if count == "10":
                row.append(
                    " / ".join(str(_of(swept.network, name, scheme)["agg_rtos_l4"].sum()) for scheme in (STOCK, MORE_DATA))
                )
    head = [
        "setting",
        *(text for count in ENDS for text in (f"{OF[count]}: stock", "HACK", f"gain ({published[count]:g})")),
        "timeouts",
    ]
    return Section(
        "Of which stock TCP the published gains are",
        "What the paper does not say of its TCP and its MAC, one setting at a time, with stock TCP and with MORE DATA. Timeouts are those of ten flows with either, all "
        "seeds together; one flow has none.",
        items=[
            Figure(drawing.settings(found, titles, published, OF), f"Goodput of MORE DATA over that of stock: geometric {_over(bench)}; the stars and lines are published", commands),
            Table(head, rows, f"In Mbps: {_over(bench)}, of 8 s with one client and 5 s with ten"),
            _closed_form(bench),
        ],
    )  # fmt: skip


def _closed_form(bench: Bench) -> Table:
    """What is left where nothing collides and each PPDU has 42 frames, and where stock ACKs are no aggregates."""
    cell = of_scenario(bench.source(SCENARIO).load())
    own = stock(cell)
    alone = cycle(replace(cell, payload=0, aggregate=0))
    data = sum(one.total for one in own.data) + sum(one.frames for one in own.data) // 2 * alone.total
    one_by_one: Mbps = sum(one.octets for one in own.data) * 8 * 1000 / data
    best = hack(cell, compressed=3).goodput
    rows = [
        ["stock", own.goodput],
        ["stock, each ACK in a frame of its own", one_by_one],
        ["compressed ACKs of 3 octets on Block ACKs", best],
    ]
    return Table(
        ["closed form", "Mbps", "TCP/HACK over it"],
        [[name, f"{mbps:.1f}", f"{best / mbps:.3f}"] for name, mbps in rows],
        "Nothing collides, and each PPDU has 42 segments: what the same cell comes to in the model of hack_capacity",
    )


def _left_open(bench: Bench) -> Section:
    titles = bench.variants("options.toml").chosen
    rows: list[list[str]] = [[variant.title] for variant in titles.values()]
    commands = []
    for count in ENDS:
        swept = load_sweep(bench.folder / f"options_{count}")
        commands.append(f"{swept.command} --out {swept.directory}")
        means = intervals(swept.network, ["option"], "agg_throughput_l4")
        for row, cell in zip(rows, _in_order(means, "option", list(titles)), strict=True):
            row.append(within(cell, 1))
    head = ["option", *(f"{OF[count]} [Mbps]" for count in ENDS)]
    return Section(
        "What the paper leaves open of TCP/HACK",
        "One option at a time.",
        items=[Table(head, rows, f"Goodput: {_over(bench)}", commands=commands)],
    )


def _in_order(frame: pl.DataFrame, column: str, names: Sequence[str]) -> list[dict[str, float | None]]:
    known = {cell[column]: cell for cell in frame.to_dicts()}
    return [known[name] for name in names]
