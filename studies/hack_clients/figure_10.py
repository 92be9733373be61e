"""Figure 10: goodput by number of clients, transport of ACKs, and uses of the airtime."""

from collections.abc import Mapping

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.result import Result
from acklab.studies import Bench, Runs
from acklab.studies.runs import cells, goodput, timeouts

from . import drawing
from .runs import (
    CLIENTS,
    COMMAND,
    DELAYED,
    EACH,
    ENDS,
    MORE_DATA,
    OF,
    SCHEMES,
    SEEDS_2014,
    STOCK,
    UDP,
    gain,
    over,
    published,
    ratio,
    total,
    within_aifs,
)


def of_2014_section(bench: Bench, old: Mapping[str, Mapping[tuple[str, str], Runs]]) -> Section:
    """Returns the gain with ns-3 of 2014 as a whole, by ACK policy of clients."""
    gains = [
        (f"{OF[count]}", f"{scheme}, {acks}", gain(runs, count, scheme))
        for acks, runs in old.items()
        for count in CLIENTS
        for scheme in SCHEMES[1:]
    ]
    frame = pl.DataFrame(
        [(count, name, *(100 * (number - 1) for number in (one.mean, one.low, one.high))) for count, name, one in gains],
        schema=["clients", "scheme", "mean", "low", "high"],
        orient="row",
    )
    stars = {(OF[count], f"{MORE_DATA}, {DELAYED}"): 100 * (number - 1) for count, number in published(bench).items()}
    inks = {f"{scheme}, {acks}": drawing.INKS_2014[scheme][acks] for acks in old for scheme in SCHEMES[1:]}
    rows = [
        [
            acks,
            count,
            *(runs[count, scheme].interval(goodput).text(1) for scheme in SCHEMES),
            *(gain(runs, count, scheme).text(3) for scheme in SCHEMES[1:]),
        ]
        for acks, runs in old.items()
        for count in CLIENTS
    ]
    head = ["ACKs", "clients", *SCHEMES, "opportunistic ÷ stock", "MORE DATA ÷ stock"]
    return Section(
        "Figure 10 with ns-3 of 2014 as a whole",
        "NewReno without SACK and an initial window of one segment; queues that packets leave when they are sent, one per client, with round-robin service. With an ACK per segment the gain "
        "with one client is the published one, but then 42 ACKs exceed AIFS on nearly all response frames. The paper has 1.5 % of these, as here with delayed ACKs.",
        items=[
            Figure(
                figures.bars(frame, "clients", "scheme", "gain over stock [%]", published=stars, inks=inks),
                f"Goodput gain over stock TCP, seed by seed: geometric mean over {SEEDS_2014[DELAYED]} and {SEEDS_2014[EACH]} seeds with its 95 % confidence interval",
                [COMMAND],
            ),
            Table(head, rows, "The same in Mbps", commands=[own.command for runs in old.values() for own in runs.values()], numeric_from=1),
        ],
    )  # fmt: skip


def goodput_section(bench: Bench, drawn: Mapping[tuple[str, str], Runs]) -> Section:
    """Returns goodput by scheme and number of clients, and the gain over stock TCP."""
    order = (UDP, *SCHEMES)
    by_clients = {(OF[count], scheme): drawn[count, scheme] for count in CLIENTS for scheme in order}
    gains = [(OF[count], scheme, gain(drawn, count, scheme)) for count in CLIENTS for scheme in SCHEMES[1:]]
    frame = pl.DataFrame(
        [(count, scheme, *(100 * (number - 1) for number in (one.mean, one.low, one.high))) for count, scheme, one in gains],
        schema=["clients", "scheme", "mean", "low", "high"],
        orient="row",
    )
    stars = {(OF[count], MORE_DATA): 100 * (number - 1) for count, number in published(bench).items()}
    rows = []
    for count in CLIENTS:
        row = [count, *(drawn[count, scheme].interval(goodput).text(1) for scheme in order)]
        rows.append([*row, *(gain(drawn, count, scheme).text(3) for scheme in SCHEMES[1:])])
    head = ["clients", *order, "opportunistic ÷ stock", "MORE DATA ÷ stock"]
    return Section(
        "Goodput by number of clients: Figure 10 with ns-3 of today",
        "Stars are the published gains of MORE DATA with one and ten clients. The text of the paper has no goodput.",
        items=[
            Figure(
                figures.bars(cells(by_clients, ("clients", "scheme"), goodput), "clients", "scheme", "goodput [Mbps]", inks=drawing.INKS),
                f"Total goodput: {over(bench)}",
                [COMMAND],
            ),
            Figure(
                figures.bars(frame, "clients", "scheme", "gain over stock [%]", published=stars, inks=drawing.INKS),
                f"Goodput gain over stock TCP, seed by seed: {over(bench)}",
                [COMMAND],
            ),
            Table(head, rows, "The same in Mbps", commands=[own.command for own in drawn.values()]),
        ],
    )  # fmt: skip


def carried_section(
    bench: Bench,
    drawn: Mapping[tuple[str, str], Runs],
    old: Mapping[str, Mapping[tuple[str, str], Runs]],
    in_turn: Mapping[tuple[str, str], Runs],
) -> Section:
    """Returns the numbers of ACKs on Block ACKs, and of unanswered PPDUs."""
    return Section(
        "ACKs on response frames",
        "Unanswered are PPDUs of both directions. MPDUs are per PPDU of the access point. Bytes are per compressed ACK, and ACKs per response frame. Timeouts "
        "of TCP are those of all seeds. An opportunistic client sends an ACK as a frame if it wins the medium before the next data arrive.",
        items=[
            *(Table(_HEAD, _travels(runs), f"ns-3 of 2014, ACKs: {acks}", numeric_from=2) for acks, runs in old.items()),
            Table(_HEAD, _travels(drawn), f"ns-3 of today, 126 packets per client in one queue: {over(bench)}", numeric_from=2),
            Table(_HEAD, _travels(in_turn), "CUBIC and SACK with the queue rule of 2014 and round-robin service", numeric_from=2),
        ],
    )


_HEAD = (
    "clients",
    "scheme",
    "unanswered [%]",
    "MPDUs",
    "ACKs compressed [%]",
    "octets",
    "a response frame",
    "within AIFS [%]",
    "timeouts",
)


def _travels(drawn: Mapping[tuple[str, str], Runs]) -> list[list[str]]:
    rows = []
    for (count, scheme), own in drawn.items():
        if scheme == UDP:
            continue
        row = [count, scheme, own.interval(_unanswered).text(1), own.interval(_mpdus).text(1)]
        if scheme == STOCK:
            row += ["–"] * 4
        else:
            row += [own.interval(share_compressed).text(1), own.interval(_octets).text()]
            row += [own.interval(_acks_of_answer).text(1), own.interval(lambda result: 100 * within_aifs(result)).text(1)]
        rows.append([*row, str(sum(own.values(timeouts)))])
    return rows


def _unanswered(result: Result) -> float:
    return 100 * float(result.stations["total_unanswered_l2"].sum()) / float(result.stations["total_ppdus_l2"].sum())


def _mpdus(result: Result) -> float:
    return float(result.stations["mean_mpdus_per_ppdu_l2"][0])


def _octets(result: Result) -> float:
    return ratio(total(result, "total_compressed_bytes_l2"), total(result, "total_compressed_acks_l2"))


def _acks_of_answer(result: Result) -> float:
    return ratio(total(result, "total_compressed_acks_l2"), total(result, "total_augmented_answers_l2"))


def share_compressed(result: Result) -> float:
    """Returns the share of ACKs on Block ACKs, all clients together [%]."""
    compressed, plain = (total(result, column) for column in ("total_compressed_acks_l2", "total_plain_acks_l2"))
    return 100 * compressed / (compressed + plain)


def air_section(drawn: Mapping[tuple[str, str], Runs]) -> Section:
    """Returns the uses of the airtime."""
    shares = {f"{scheme}, {OF[count]}": drawn[count, scheme].uses for count in ENDS for scheme in (UDP, *SCHEMES)}
    return Section(
        "Use of the time",
        "Shares of the time on the air. Waiting is attributed to the next sender.",
        items=[Figure(figures.air_shares(shares), "Uses of the air, mean over seeds", [COMMAND])],
    )
