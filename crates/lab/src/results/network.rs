//! The table of the whole network, one row: sums over flows, means over flows, and fairness.

use super::flows::FlowResult;
use crate::probe::TcpTotals;
use crate::statistics::{Mean, jain};
use crate::table::Table;
use acklab_path::Counters;

/// One row.
pub(super) fn table(flows: &[FlowResult<'_>], links: &[Counters]) -> Table {
    let throughputs: Vec<f64> = flows.iter().map(|flow| flow.throughput().unwrap_or(0.0)).collect();
    let mean = |of: fn(&FlowResult<'_>) -> Option<f64>| {
        let mut series = Mean::default();
        flows.iter().filter_map(of).for_each(|value| series.add(value));
        series.mean()
    };
    let sum = |of: fn(&FlowResult<'_>) -> u64| flows.iter().map(of).sum::<u64>();
    let tcp_sum = |of: fn(&TcpTotals) -> u64| flows.iter().filter_map(|flow| flow.totals.tcp()).map(of).sum::<u64>();
    let udp = || flows.iter().filter_map(|flow| flow.totals.udp());
    Table::new("network")
        .count("flows", "", [flows.len() as u64])
        .number("agg_throughput_l4", "Mbps", [throughputs.iter().sum::<f64>()])
        .number("agg_in_flight_l4", "segments", [flows.iter().filter_map(|flow| flow.in_flight()).sum::<f64>()])
        .number("mean_throughput_l4", "Mbps", [mean(|flow| flow.throughput())])
        .number("mean_srtt_l4", "ms", [mean(|flow| flow.srtt())])
        .number("jain_throughput_l4", "", [jain(&throughputs)])
        .count("agg_data_packets_l4", "packets", [sum(|flow| flow.totals.sent)])
        .count("agg_acks_sent_l4", "packets", [tcp_sum(|totals| totals.acks_sent)])
        .count("agg_acks_delivered_l4", "packets", [sum(|flow| flow.probe.acks_delivered)])
        .count("agg_retransmissions_l4", "packets", [tcp_sum(|totals| totals.sender.retransmissions)])
        .count("agg_rtos_l4", "", [tcp_sum(|totals| totals.sender.timeouts)])
        .count(
            "agg_lost_l4",
            "packets",
            [udp().next().map(|_| udp().map(|totals| totals.receiver.lost()).sum::<u64>())],
        )
        .count("agg_marked_l2", "packets", [links.iter().map(|counters| counters.marked).sum::<u64>()])
        .count("agg_qdisc_drops_l2", "packets", [links.iter().map(|counters| counters.dropped).sum::<u64>()])
}
