"""Experiment #55, and the same path with other stacks."""

from acklab import figures
from acklab.figures.packets import around_first_retransmission
from acklab.report import Figure, Section, compare
from acklab.studies import Bench

from .runs import EXPERIMENT, GATED, WITHOUT_GATE

SERIES = ("operating_point", "throughput", "packets")

RETURN_PATH = (
    "total_data_packets_l4",
    "total_acks_sent_l4",
    "total_acks_delivered_l4",
    "total_ack_bytes_l3",
    "mean_data_per_ack_l4",
    "mean_ack_burst_l4",
    "max_ack_burst_l4",
    "mean_feedback_age_l4",
    "mean_return_utilization_l1",
)


def section(bench: Bench) -> Section:
    """Returns the figures of CCperf's page."""
    result = bench.run(EXPERIMENT, series=SERIES)
    command = [result.provenance.command]
    window = around_first_retransmission(result, seconds=0.25)
    packets = "Packet number over time around the first retransmission: a burst of data follows each opening of the gate"
    return Section(
        "Experiment #55",
        items=[
            Figure(figures.operating_point(result), "Operating point over time; dashed lines are the optimum", command),
            Figure(
                figures.in_flight_plane(result),
                "Mean operating point by data in flight; the star is the optimum, where the bottleneck is busy and its queue empty",
                command,
            ),
            Figure(figures.distribution(result), "Distribution of throughput and smoothed RTT", command),
            Figure(figures.mean_plane(result), "Mean operating point; up and to the left is better", command),
            Figure(figures.packet_numbers(result, window=window), packets if window else "Packet number over time", command),
        ],
    )


def stacks_section(bench: Bench) -> Section:
    """Returns the tables of CCperf's page, for the experiment and for other stacks."""
    results = {
        "#55": bench.run(EXPERIMENT),
        "no gate": bench.run(WITHOUT_GATE),
        "ns3, ACK every 2": bench.run(GATED),
        "linux": bench.run(GATED, set={"flow.0.preset": "linux"}),
        "rfc": bench.run(GATED, set={"flow.0.preset": "rfc"}),
    }
    flows = results["#55"].flows.columns
    return Section(
        "The same path, other stacks",
        "The first column is the experiment, and the second has no gate. The others have the gate and another stack. "
        "Values are those of the first seed. The best value of each row is bold.",
        items=[
            compare(results, "flows", caption="Flow metrics", only=[name for name in flows if _is_flow_metric(name)]),
            compare(results, "links", "btl_forward", caption="Bottleneck"),
            compare(results, "flows", caption="Return path", only=RETURN_PATH),
        ],
    )


def _is_flow_metric(name: str) -> bool:
    return name.startswith(("cov_", "flow_completion", "mean_", "total_")) and name not in RETURN_PATH
