"""Late carrier sensing as an explanation of the published results.

One parameter is varied. The results are compared with Table 1 and all of Figure 9.
"""

import polars as pl

from acklab.report import Section, Table
from acklab.statistics import Interval, intervals, ratios
from acklab.studies import Bench
from acklab.sweeps import load_sweep

from .runs import BOTH, COMMAND, HACK, LATE_SENSING, ONE, SCHEMES, STOCK, UDP, of_sweeps, sensed_late_by

KEY = "wifi.0.late_sensing"
PUBLISHED = ["published", "26.5", "25.0", "19.4", "1.29", "1.322", "99", "97 to 98", "86 to 88"]
"""Section 4.2, Figure 9 and Table 1."""


def section(bench: Bench) -> Section:
    """Returns throughput, gains and frames sent once, by delay of carrier sensing."""
    swept, datagrams = load_sweep(bench.folder / "sensing"), load_sweep(bench.folder / "sensing_datagrams")
    late, alone = swept.columns[KEY], datagrams.columns[KEY]
    one = pl.col("clients") == ONE
    goodput = pl.concat([
        datagrams.network.select(pl.col(alone).alias(late), pl.lit(UDP).alias("scheme"), pl.lit(ONE).alias("clients"), "seed", "agg_throughput_l4"),
        swept.network.select(late, "scheme", "clients", "seed", "agg_throughput_l4"),
    ])  # fmt: skip
    sender = pl.col("node") == "ap"
    once = pl.concat([
        datagrams.table("stations").filter(sender).select(pl.col(alone).alias(late), pl.lit(UDP).alias("scheme"), pl.lit(ONE).alias("clients"), "seed", "share_first_try_l2"),
        swept.table("stations").filter(sender).select(late, "scheme", "clients", "seed", "share_first_try_l2"),
    ]).with_columns(pl.col("share_first_try_l2") * 100)  # fmt: skip
    means = {
        column: intervals(frame.filter(one), [late, "scheme"], column)
        for column, frame in (("agg_throughput_l4", goodput), ("share_first_try_l2", once))
    }
    of_gain = ratios(goodput.filter(pl.col("scheme") != UDP), [late, "clients", "scheme"], "agg_throughput_l4", {"scheme": STOCK})
    rows = []
    for place in LATE_SENSING:
        here = pl.col(late) == float(place.removesuffix("us"))
        cells = {
            (column, name): Interval.of_row(frame.filter(here, pl.col("scheme") == name).row(0, named=True))
            for column, frame in means.items()
            for name in (UDP, HACK, STOCK)
        }
        gains = [
            Interval.of_row(of_gain.filter(here, pl.col("scheme") == HACK, pl.col("clients") == clients).row(0, named=True))
            for clients in (ONE, BOTH)
        ]
        rows.append([
            place.replace("us", " µs"),
            *(cells["agg_throughput_l4", name].text() for name in (UDP, HACK, STOCK)),
            *(gain.text(3) for gain in gains),
            *(cells["share_first_try_l2", name].text(1) for name in (UDP, HACK, STOCK)),
        ])  # fmt: skip
    head = [
        "sensing delay",
        *(f"{name} [Mbps]" for name in (UDP, HACK, STOCK)),
        "HACK ÷ stock, one client",
        "both clients",
        *(f"{name}: sent once [%]" for name in (UDP, HACK, STOCK)),
    ]
    return Section(
        "Late carrier sensing",
        "In the model a node senses a PPDU 4 µs after its start. If sensing takes a slot of 9 µs longer, PPDUs of adjacent slots collide as well. With one slot stock TCP has "
        "its published losses and less than its published goodput. TCP/HACK does not contend, so its goodput stays above the published one, and both gains are too "
        "large. So no value of the parameter explains Table 1, all bars of Figure 9 and both gains together, and no claim uses it. If only one side senses late, stock TCP with one client loses nearly "
        "as much as on SoRa. The second client adds few losses in any row.",
        items=[Table(head, [*rows, PUBLISHED], of_sweeps(bench).capitalize(), commands=[COMMAND, swept.rerun]), _by_whom(bench)],
    )  # fmt: skip


def _by_whom(bench: Bench) -> Table:
    """Returns retransmitted frames, goodput and gains, by the nodes with late carrier sensing.

    Runs have one client or both.
    """
    swept = sensed_late_by(bench)
    by = ["sensing", "clients", "scheme"]
    again = (
        swept.table("stations").filter(pl.col("node") == "ap").select(*by, "seed", again=100 * (1 - pl.col("share_first_try_l2")))
    )
    shares = {tuple(row[name] for name in by): Interval.of_row(row) for row in intervals(again, by, "again").to_dicts()}
    goodput = {
        tuple(row[name] for name in by): Interval.of_row(row)
        for row in intervals(swept.network, by, "agg_throughput_l4").to_dicts()
    }
    gains = ratios(swept.network, by, "agg_throughput_l4", {"scheme": STOCK}).filter(pl.col("scheme") == HACK)
    gain = {(row["sensing"], row["clients"]): Interval.of_row(row) for row in gains.to_dicts()}
    rows = [
        [
            variant.title or name,
            *(shares[name, clients, STOCK].text(1) for clients in (ONE, BOTH)),
            shares[name, ONE, HACK].text(1),
            *(goodput[name, ONE, scheme].text() for scheme in SCHEMES),
            *(gain[name, clients].text(3) for clients in (ONE, BOTH)),
        ]
        for name, variant in bench.variants("sensing.toml").chosen.items()
    ]
    head = [
        "nodes with late sensing",
        "stock: retransmitted, one client [%]",
        "both clients [%]",
        "HACK: retransmitted [%]",
        *(f"{scheme} [Mbps]" for scheme in SCHEMES),
        "HACK ÷ stock, one client",
        "both clients",
    ]
    published = ["published", "12 to 13", "14", "2 to 3", "19.4", "25.0", "1.29", "1.322"]
    return Table(head, [*rows, published], f"By node: {of_sweeps(bench)}", commands=[COMMAND, swept.rerun])  # fmt: skip
