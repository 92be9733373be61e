"""Figure 10: goodput by the number of clients, how ACKs travel, and where the time goes."""

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
    """Returns the gain with ns-3 of 2014 as a whole, by when clients acknowledge."""
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
    head = ["ACKs", "clients", *SCHEMES, "opportunistic over stock", "MORE DATA over stock"]
    return Section(
        "Figure 10 with ns-3 of 2014 as a whole",
        "NewReno without SACK that starts with one segment, a queue that a packet leaves when it is sent, and one for each client, in turn. With an ACK for each segment the gain "
        "of one client is the published one; but then 42 ACKs exceed AIFS on nearly all response frames, of which the paper has 1.5 %. With delayed ACKs it is 1.5 %.",
        items=[
            Figure(
                figures.bars(frame, "clients", "scheme", "gain over stock [%]", published=stars, inks=inks),
                f"Gain in goodput over stock TCP, seed by seed: geometric mean over {SEEDS_2014[DELAYED]} and {SEEDS_2014[EACH]} seeds with its 95 % confidence interval",
                [COMMAND],
            ),
            Table(head, rows, "The same in Mbps", commands=[own.command for runs in old.values() for own in runs.values()], numeric_from=1),
        ],
    )  # fmt: skip


def goodput_section(bench: Bench, drawn: Mapping[tuple[str, str], Runs]) -> Section:
    """Goodput by scheme and number of clients, and the gain over stock TCP."""
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
    head = ["clients", *order, "opportunistic over stock", "MORE DATA over stock"]
    return Section(
        "Goodput by the number of clients: Figure 10 with ns-3 of today",
        "The paper's text has no goodput, only the gain of MORE DATA with one and with ten clients: the stars.",
        items=[
            Figure(
                figures.bars(cells(by_clients, ("clients", "scheme"), goodput), "clients", "scheme", "goodput [Mbps]", inks=drawing.INKS),
                f"Goodput of all flows together: {over(bench)}",
                [COMMAND],
            ),
            Figure(
                figures.bars(frame, "clients", "scheme", "gain over stock [%]", published=stars, inks=drawing.INKS),
                f"Gain in goodput over stock TCP, seed by seed: {over(bench)}",
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
    """How many ACKs travel on Block ACKs, and what remains unanswered."""
    return Section(
        "What travels on response frames",
        "Unanswered are PPDUs of both directions; MPDUs are those of a PPDU of the access point; octets are of a compressed ACK, of which a response frame carries so many; timeouts "
        "of TCP are those of all seeds. An opportunistic client sends as a frame what it wins the medium for before the next data come.",
        items=[
            *(Table(_HEAD, _travels(runs), f"ns-3 of 2014, ACKs: {acks}", numeric_from=2) for acks, runs in old.items()),
            Table(_HEAD, _travels(drawn), f"ns-3 of today, 126 packets a client in one queue: {over(bench)}", numeric_from=2),
            Table(_HEAD, _travels(in_turn), "CUBIC and SACK with the queue rule of 2014, and clients take turns", numeric_from=2),
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
    """Of the ACKs of all clients, those that travelled on Block ACKs [%]."""
    compressed, plain = (total(result, column) for column in ("total_compressed_acks_l2", "total_plain_acks_l2"))
    return 100 * compressed / (compressed + plain)


def air_section(drawn: Mapping[tuple[str, str], Runs]) -> Section:
    """What the time on the air goes into."""
    shares = {f"{scheme}, {OF[count]}": drawn[count, scheme].uses for count in ENDS for scheme in (UDP, *SCHEMES)}
    return Section(
        "Where the time goes",
        "Shares of the time on the air. Waiting is attributed to the next sender.",
        items=[Figure(figures.air_shares(shares), "Uses of the air, mean over seeds", [COMMAND])],
    )
