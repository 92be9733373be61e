"""NewReno by interval and quota of the gate, which releases packets in bursts."""

from acklab import figures
from acklab.report import Figure, Section
from acklab.studies import Bench

from .runs import COMMAND, interval_by_quota


def section(bench: Bench) -> Section:
    """Returns heat maps of NewReno by interval and quota."""
    result = interval_by_quota(bench)
    preset, _, quota, own = result.columns.values()
    interval = result.titled(own)
    flows = result.flows.rename({own: interval})
    drops = result.query("select * from links where link = 'btl_forward' order by point").rename({own: interval})
    command = [COMMAND, result.rerun]
    over = f"mean and 95 % confidence interval over {len(result.seeds)} seeds"
    return Section(
        "Interval and quota",
        "Interval between openings of the gate, and ACKs per opening, for each stack with its defaults.",
        items=[
            Figure(
                figures.heat_map(flows, interval, quota, "mean_throughput_l4", "throughput [Mbps]", preset),
                f"Throughput: {over}",
                command,
            ),
            Figure(
                figures.heat_map(flows, interval, quota, "mean_srtt_l4", "sRTT [ms]", preset, log=True),
                f"Smoothed RTT: {over}",
                command,
            ),
            Figure(
                figures.heat_map(drops, interval, quota, "total_qdisc_drops_l2", "drops [packets]", preset),
                f"Drops at the bottleneck: {over}",
                command,
            ),
            Figure(
                figures.profiles(flows, interval, quota, "mean_throughput_l4", "throughput [Mbps]", interval, preset),
                "Throughput by interval, a line for each quota, with 95 % confidence intervals",
                command,
            ),
        ],
    )
