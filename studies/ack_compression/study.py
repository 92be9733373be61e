"""Figures and tables of the study, and the sweep that CCperf's page only hints at."""

from acklab import figures
from acklab.figures.packets import around_first_retransmission
from acklab.report import Figure, Section, compare
from acklab.studies import Bench
from acklab.sweeps.grid import Axes

EXPERIMENT = "experiment_55.toml"
SERIES = ("operating_point", "throughput", "packets")

GRID: Axes = {
    "flow.0.preset": ["linux", "ns3", "rfc"],
    "flow.0.congestion": ["newreno"],
    "link.btl.reverse.gate.quota": [1, 10, 50, 100],
    "link.btl.reverse.gate.interval": ["1ms", "2ms", "5ms", "10ms", "20ms", "50ms"],
}

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


def sections(bench: Bench) -> list[Section]:
    """What the report shows after the claims."""
    return [_experiment(bench), _tables(bench), _sweep(bench)]


def _experiment(bench: Bench) -> Section:
    result = bench.run(EXPERIMENT, series=SERIES)
    command = [result.provenance.command]
    window = around_first_retransmission(result, seconds=0.25)
    packets = "Packet number over time around the first retransmission: each opening of the gate is answered by a burst of data"
    return Section(
        "Experiment #55",
        items=[
            Figure(figures.operating_point(result), "Operating point over time; dashed lines are the optimum", command),
            Figure(
                figures.in_flight_plane(result),
                "In flight against the mean operating point; the star is the optimum, where the bottleneck is just busy",
                command,
            ),
            Figure(figures.distribution(result), "Distribution of throughput and smoothed RTT", command),
            Figure(figures.mean_plane(result), "Mean operating point; up and to the left is better", command),
            Figure(figures.packet_numbers(result, window=window), packets if window else "Packet number over time", command),
        ],
    )


def _tables(bench: Bench) -> Section:
    results = {
        "#55": bench.run(EXPERIMENT),
        "no gate": bench.run("without_gate.toml"),
        "ns3, ACK every 2": bench.run("interval_by_quota.toml"),
        "linux": bench.run("interval_by_quota.toml", set={"flow.0.preset": "linux"}),
        "rfc": bench.run("interval_by_quota.toml", set={"flow.0.preset": "rfc"}),
    }
    flows = results["#55"].flows.columns
    return Section(
        "The same path, other stacks",
        "The first column is the experiment; the second takes the gate away; the others keep the gate and change the stack. "
        "Runs are those of the first seed; the best value of each row is set in bold.",
        items=[
            compare(results, "flows", caption="Flow metrics", only=[name for name in flows if _is_flow_metric(name)]),
            compare(results, "links", "btl_forward", caption="Bottleneck"),
            compare(results, "flows", caption="Return path", only=RETURN_PATH),
        ],
    )


def _is_flow_metric(name: str) -> bool:
    return name.startswith(("cov_", "flow_completion", "mean_", "total_")) and name not in RETURN_PATH


def _sweep(bench: Bench) -> Section:
    result = bench.sweep("interval_by_quota.toml", "interval_by_quota", GRID, vary={"flow.0.start": "0ms..100ms"})
    preset, _, quota, interval = result.columns.values()
    flows = result.flows
    drops = result.query("select * from links where link = 'btl_forward' order by point")
    command = [
        "acklab study ack_compression",
        "acklab sweep studies/ack_compression/interval_by_quota.toml --vary flow.0.start=0ms..100ms --seeds "
        f"{len(result.seeds)} " + " ".join(f"--grid {key}={','.join(values)}" for key, values in result.grid.values.items()),
    ]
    over = f"mean and interval of 95 % over {len(result.seeds)} seeds"
    return Section(
        "Interval and quota",
        "How often the gate opens, and how many ACKs it then lets through, for each stack as it comes.",
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
                figures.profiles(flows, interval, quota, "mean_throughput_l4", "throughput [Mbps]", "interval", preset),
                "Throughput along the interval, a line for each quota, with intervals of 95 %",
                command,
            ),
        ],
    )
