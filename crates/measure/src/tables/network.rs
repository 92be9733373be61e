//! The network table, with one row: sums and means over flows, and fairness.

use super::flows::FlowResult;
use crate::metric::Better::{Less, More, Neither};
use crate::metric::{Metric, Rows, count, number};
use crate::statistics::{Mean, jain};
use acklab_base::endpoint::counter;
use acklab_path::Counters;

/// All flows, and the counters of all link directions.
pub(super) struct Whole<'a> {
    pub(super) flows: &'a [FlowResult<'a>],
    pub(super) links: &'a [Counters],
}

impl Whole<'_> {
    fn throughputs(&self) -> Vec<f64> {
        self.flows.iter().map(|flow| flow.throughput().unwrap_or(0.0)).collect()
    }

    fn mean(&self, of: fn(&FlowResult<'_>) -> Option<f64>) -> Option<f64> {
        let mut series = Mean::default();
        self.flows.iter().filter_map(of).for_each(|value| series.add(value));
        series.mean()
    }

    /// Returns the sum over the flows that have a value.
    fn sum(&self, of: fn(&FlowResult<'_>) -> Option<u64>) -> Option<u64> {
        Some(self.flows.iter().filter_map(of).sum())
    }

    /// Returns the sum over the flows that have a value. Returns `None` if no flow has one.
    fn sum_of_any(&self, of: fn(&FlowResult<'_>) -> Option<u64>) -> Option<u64> {
        self.flows.iter().filter_map(of).reduce(|sum, count| sum + count)
    }

    fn sum_of_links(&self, of: fn(&Counters) -> u64) -> Option<u64> {
        Some(self.links.iter().map(of).sum())
    }
}

pub(super) struct WholeRows;

impl Rows for WholeRows {
    type Row<'a> = Whole<'a>;
}

#[rustfmt::skip]
pub(super) const METRICS: &[Metric<WholeRows>] = &[
    count("flows", "", Neither, "the number of flows", |all| Some(all.flows.len() as u64)),
    number("agg_throughput_l4", "Mbps", More, "sum over flows of `mean_throughput_l4`", |all| Some(all.throughputs().iter().sum::<f64>())),
    number("agg_in_flight_l4", "segments", Neither, "sum over flows of `mean_in_flight_l4`", |all| Some(all.flows.iter().filter_map(|flow| flow.in_flight()).sum::<f64>())),
    number("mean_throughput_l4", "Mbps", More, "mean over flows", |all| all.mean(|flow| flow.throughput())),
    number("mean_srtt_l4", "ms", Less, "mean over flows", |all| all.mean(|flow| flow.srtt())),
    number("jain_throughput_l4", "", More, "Jain's index of the flows' throughputs: (Σx)² / (n Σx²)", |all| jain(&all.throughputs())),
    count("agg_data_packets_l4", "packets", Neither, "sum over flows of `total_data_packets_l4`", |all| all.sum(|flow| flow.sent())),
    count("agg_acks_sent_l4", "packets", Neither, "sum over flows of `total_acks_sent_l4`", |all| all.sum(|flow| flow.acks_sent())),
    count("agg_acks_delivered_l4", "packets", Neither, "sum over flows of `total_acks_delivered_l4`", |all| all.sum(|flow| Some(flow.probe.acks_delivered))),
    count("agg_retransmissions_l4", "packets", Less, "sum over flows of `total_retransmissions_l4`", |all| all.sum(|flow| flow.sender_count(counter::RETRANSMISSIONS))),
    count("agg_rtos_l4", "", Neither, "sum over flows of `total_rtos_l4`", |all| all.sum(|flow| flow.sender_count(counter::TIMEOUTS))),
    count("agg_lost_l4", "packets", Less, "sum of `total_lost_l4` over flows whose transport does not repair losses; null without such flows", |all| all.sum_of_any(|flow| flow.lost())),
    count("agg_marked_l2", "packets", Neither, "sum over link directions of `total_marked_l2`", |all| all.sum_of_links(|counters| counters.marked)),
    count("agg_qdisc_drops_l2", "packets", Less, "sum over link directions of `total_qdisc_drops_l2`", |all| all.sum_of_links(|counters| counters.dropped)),
];
