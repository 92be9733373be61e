"""Figures and tables of the study.

Compares an ACK per ten packets with an ACK per two.
"""

import polars as pl

from acklab import figures
from acklab.report import Figure, Section, Table
from acklab.studies import Bench
from acklab.sweeps import SweepResult
from acklab.sweeps.grid import Axes

from . import drawing
from .runs import ARM, ASKED, HEAD, POLICIES, STACKS, arms, downloads, gains, relative, rows

SCENARIO = "path.toml"
COMMAND = "acklab study quic_ack_satellite"
CHANNELS = "channels.toml"
SIZES = "sizes.toml"
PATHS = "paths.toml"
WINDOWS = "windows.toml"
QUICLY = "stacks.toml:quicly,slides"
"""Stacks with a varied stream window."""
QUICK_STACKS = "stacks.toml:TCP,NewReno,QUIC"
QUICK_CHANNELS = "channels.toml:pipe,96 kbps,volume"
SHORT_CHANNELS = "channels.toml:pipe,64 kbps + volume,volume"
SHOWN = {"channel": "96 kbps", "stack": "quicly"}
"""Download of the figure of packet numbers."""

OF_TABLE = (
    "Throughput in Mbps and time in s until the terminal's application has the file, with 95 % confidence intervals; the rest are means, each for an ACK per two and per ten packets: "
    "time until the last ACK has reached the server, time of the handshake, smoothed RTT, "
    "ACKs that the terminal sent, their rate on the return channel, their wait for it, retransmitted packets, the server's bytes that are not data (headers from IP on, "
    "the handshake, and TLS in QUIC; over TCP there is no TLS), and bytes over the forward link beyond those of the download, including duplicates. "
    "Behind a proxy, handshake, RTT, headers and retransmitted packets are those of the connection between server and proxy."
)


def sections(bench: Bench) -> list[Section]:
    """Returns the sections of the report."""
    return [
        _settings(bench),
        *_ten_megabytes(bench),
        _slow_start(bench),
        _windows(bench),
        _queues(bench),
        _searched(bench),
        _sizes(bench),
        _packets(bench),
    ]


def _settings(bench: Bench) -> Section:
    tables = []
    for file, caption in (
        (CHANNELS, "Return channels"),
        (STACKS, "Stacks"),
        (POLICIES, "Policies"),
        (ASKED, "Policies of quinn-proto"),
    ):
        listed = [[name, variant.title, variant.source] for name, variant in bench.variants(file).chosen.items()]
        tables.append(Table(["", "", "source"], listed, caption, numeric_from=3))
    return Section("Channels, stacks and policies", items=tables)


def _ten_megabytes(bench: Bench) -> list[Section]:
    stacks = arms(bench, QUICK_STACKS if bench.quick else STACKS)
    channels: Axes = {ARM: stacks, "channel": bench.variants(QUICK_CHANNELS if bench.quick else CHANNELS)}
    paths: Axes = {ARM: stacks, "path": bench.variants(PATHS)}
    over_channels = bench.sweep(SCENARIO, "channels", channels)
    over_paths = bench.sweep(SCENARIO, "paths", paths)
    # The first stack with an ACK per two packets.
    reference = next(iter(stacks))
    return [*_channels(over_channels), _all(reference, over_channels, over_paths), _paths(bench, over_paths)]


def _all(reference: str, over_channels: SweepResult, over_paths: SweepResult) -> Section:
    """Returns a figure of every stack and policy over every path.

    Values are relative to one stack and policy.
    """
    cells = [
        relative(downloads(over_channels, ["channel"]), "channel", "throughput", reference, over_channels).rename({"channel": "path"}),
        relative(downloads(over_paths, ["path"]), "path", "throughput", reference, over_paths),
    ]  # fmt: skip
    # The channels already include the satellite path, under another name.
    together = pl.concat([cells[0], cells[1].filter(pl.col("path") != "satellite")])
    seeds = len(over_channels.seeds)
    return Section(
        "Stacks and policies over all paths",
        f"Throughput until the application has the file, relative to {reference} on the same path.",
        items=[
            Figure(
                figures.ratio_map(together, "path", ARM, f"throughput ÷ {reference}", wrap=1, most=2.0, commands="command"),
                f"10 MB, every stack with both policies: geometric mean and 95 % confidence interval over {seeds} seeds; grey where the interval includes 1",
                [COMMAND, over_channels.rerun, over_paths.rerun],
            )
        ],
    )


def _channels(result: SweepResult) -> list[Section]:
    found = downloads(result, ["channel"])
    again = [COMMAND, result.rerun]
    of = f"geometric mean and 95 % confidence interval over {len(result.seeds)} seeds; grey where the interval includes 1"
    cells = gains(found, ["channel", "stack"], "throughput", result)
    acks = gains(found, ["channel", "stack"], "acks", result)
    tables = [
        Table(["channel", *HEAD], rows(part.drop("stack"), ["channel"]), str(stack))
        for (stack,), part in found.group_by(["stack"], maintain_order=True)
    ]
    return [
        Section(
            "Downloads of 10 MB",
            "The ratio of the slides, 5 ÷ 4 Mbps, for each return channel and stack, until the terminal's application has the file.",
            items=[
                Figure(
                    figures.ratio_map(cells, "channel", "stack", "throughput, every 10 ÷ every 2", wrap=1, most=1.5, commands="command"),
                    f"Throughput of 10 MB with an ACK per ten packets ÷ that with an ACK per two: {of}",
                    again,
                ),
                Figure(
                    figures.ratio_map(
                        acks, "channel", "stack", "ACKs, every 10 ÷ every 2", wrap=1, less_is_better=True, most=8.0, commands="command"
                    ),
                    f"ACKs over the satellite: {of}",
                    again,
                ),
            ],
        ),
        Section("Measured values", OF_TABLE, items=tables),
    ]  # fmt: skip


def _queues(bench: Bench) -> Section:
    axes: Axes = {
        ARM: arms(bench, QUICK_STACKS if bench.quick else STACKS),
        "queue": bench.variants("queues.toml"),
    }
    result = bench.sweep(SCENARIO, "queues", axes)
    found = downloads(result, ["queue"])
    return Section(
        "The queue at the gateway",
        "Over the pipe the return channel has no effect. An ACK per ten packets causes a burst of ten packets, which may overflow a short queue. " + OF_TABLE,
        items=[Table(["stack", "queue [packets]", *HEAD], rows(found, ["stack", "queue"]), "10 MB over the pipe", numeric_from=2)],
    )  # fmt: skip


def _windows(bench: Bench) -> Section:
    axes: Axes = {
        ARM: arms(bench, QUICLY),
        "window": bench.variants(WINDOWS),
        "channel": bench.variants(QUICK_CHANNELS if bench.quick else CHANNELS),
    }
    result = bench.sweep(SCENARIO, "windows", axes)
    found = downloads(result, ["window", "channel"])
    table = rows(found, ["stack", "window", "channel"])
    return Section(
        "The stream window",
        "quicly had a stream window of 1 MiB, and updated it after each half. The bandwidth-delay product is 0.67 MB. "
        + OF_TABLE,
        items=[Table(["stack", "window", "channel", *HEAD], table, "10 MB as quicly", numeric_from=3)],
    )


def _searched(bench: Bench) -> Section:
    axes: Axes = {
        ARM: arms(bench, QUICLY),
        "queue": bench.variants("fitted_queues.toml"),
        "channel": bench.variants(f"{CHANNELS}:128 kbps"),
    }
    found = downloads(bench.sweep(SCENARIO, "searched", axes), ["queue"])
    return Section(
        "Searched",
        "With 128 kbit/s for ACKs, the queue at the gateway was fitted to all numbers of the slides. " + OF_TABLE,
        items=[
            Table(
                ["stack", "queue [packets]", *HEAD],
                rows(found, ["stack", "queue"]),
                "10 MB as quicly, 128 kbps for ACKs",
                numeric_from=2,
            )
        ],
    )


def _sizes(bench: Bench) -> Section:
    axes: Axes = {
        ARM: arms(bench, QUICK_STACKS if bench.quick else STACKS),
        "size": bench.variants(SIZES),
        "channel": bench.variants(QUICK_CHANNELS if bench.quick else SHORT_CHANNELS),
    }
    result = bench.sweep(SCENARIO, "sizes", axes)
    found = downloads(result, ["size", "channel"])
    parts = found.group_by(["size"], maintain_order=True)
    return Section(
        "Short downloads",
        "The slides have captures of 100 kB and 1 MB as well, without numbers. " + OF_TABLE,
        items=[
            Table(["stack", "channel", *HEAD], rows(part.drop("size"), ["stack", "channel"]), str(size), numeric_from=2)
            for (size,), part in parts
        ],
    )


def _paths(bench: Bench, result: SweepResult) -> Section:
    found = downloads(result, ["path"])
    titles = [[name, path.title, path.source] for name, path in bench.variants(PATHS).chosen.items()]
    return Section(
        "Other asymmetric paths",
        "The slides have measurements of VDSL as well, for comparison. " + OF_TABLE,
        items=[
            Table(["", "", "source"], titles, "Paths", numeric_from=3),
            Table(["stack", "path", *HEAD], rows(found, ["stack", "path"]), "10 MB", numeric_from=2),
        ],
    )


def _slow_start(bench: Bench) -> Section:
    table, commands = [], []
    for arm, sets in arms(bench, QUICK_STACKS if bench.quick else STACKS).items():
        result = bench.run(SCENARIO, set=[*sets, *bench.sets(["channels.toml:pipe"])], series=["operating_point"])
        point = result.table("operating_point")
        ends = point.filter(pl.col("ssthresh").is_not_null())
        stack, policy = arm.split(": ")
        if ends.is_empty():
            continue
        done = result.flows["delivery_time_l7"][0]
        left = ends.row(0, named=True)
        table.append(
            [
                stack,
                policy,
                f"{left['time']:.2f}",
                f"{float(point['cwnd'].to_numpy().max()):.0f}",
                f"{left['ssthresh']:.0f}",
                f"{done:.2f}",
            ]
        )
        commands.append(result.provenance.command)
    return Section(
        "Slow start",
        "Over the pipe, in the first seed: end of the first slow start, maximum window and resulting threshold in packets, and time until the application has the file. "
        "BBR has no slow start, and the controllers of quinn do not report it.",
        items=[Table(["stack", "policy", "ends [s]", "largest window", "threshold", "file after [s]"], table, "10 MB", commands=commands, numeric_from=2)],
    )  # fmt: skip


def _packets(bench: Bench) -> Section:
    shown, commands = {}, []
    for arm, sets in arms(bench, f"{STACKS}:{SHOWN['stack']}").items():
        changes = [*sets, *bench.sets([f"{CHANNELS}:{SHOWN['channel']}"])]
        result = bench.run(SCENARIO, set=changes, series=["packets"])
        shown[arm] = result
        commands.append(result.provenance.command)
    return Section(
        "Packet by packet",
        "As on the slides: the number of each packet over time, at both ends.",
        items=[Figure(drawing.packet_numbers(shown), f"10 MB by QUIC, {SHOWN['channel']} for ACKs", commands)],
    )
