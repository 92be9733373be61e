//! The table of proxies, with a row for each flow that a proxy splits.

use crate::metric::Better::{Less, More, Neither};
use crate::metric::{Metric, Rows, count, number, text};
use crate::relay::Relayed;
use crate::subjects::{FlowInfo, PepInfo};
use acklab_base::endpoint::counter;
use acklab_base::{Duration, Instant};
use std::ops::Range;

/// The measurements of a proxy on one flow in the window.
pub(super) struct PepResult<'a> {
    pub(super) info: &'a PepInfo,
    pub(super) flow: &'a FlowInfo,
    pub(super) relayed: &'a Relayed,
    pub(super) window: Range<Instant>,
}

impl PepResult<'_> {
    /// Returns the time for which the flow was active in the window: until the receiver has all
    /// data, as far as the proxy can observe it.
    fn active(&self) -> Duration {
        let begin = self.window.start.max(self.flow.start);
        self.relayed.leaving_probe.completed.unwrap_or(self.window.end).min(self.window.end).since(begin)
    }

    /// Returns the rate in Mbps.
    fn rate(&self, octets: u64) -> Option<f64> {
        let seconds = self.active().as_secs_f64();
        (seconds > 0.0).then(|| octets as f64 * 8.0 / 1e6 / seconds)
    }
}

pub(super) struct PepRows;

impl Rows for PepRows {
    type Row<'a> = PepResult<'a>;
}

#[rustfmt::skip]
pub(super) const METRICS: &[Metric<PepRows>] = &[
    text("pep", "the node of the proxy", |pep| Some(pep.info.node.clone())),
    text("flow", "the flow that it splits", |pep| Some(pep.flow.name.clone())),
    text("cca", "the congestion controller of the connection behind it", |pep| Some(pep.info.controller.clone())),
    number("mean_throughput_l4", "Mbps", More, "bytes that arrived at the proxy / active time of the flow", |pep| pep.rate(pep.relayed.arriving.received)),
    number("mean_sending_rate_l4", "Mbps", Neither, "bytes sent behind the proxy, including retransmissions / active time of the flow", |pep| pep.rate(pep.relayed.leaving.count(counter::DATA_BYTES)?)),
    number("mean_one_way_delay_l4", "ms", Less, "mean over data packets that arrive at the proxy: from departure at the sender", |pep| ms(pep.relayed.arriving_probe.one_way_delay.mean())),
    number("mean_srtt_l4", "ms", Less, "SRTT behind the proxy, over time", |pep| ms(pep.relayed.leaving_probe.srtt.mean())),
    number("mean_cwnd_l4", "segments", Neither, "congestion window behind the proxy, over time", |pep| Some(pep.relayed.leaving_probe.cwnd.mean()? / pep.flow.payload as f64)),
    number("mean_held_l4", "B", Less, "bytes that arrived at the proxy and are not acknowledged behind it, over time", |pep| pep.relayed.held.mean()),
    count("max_held_l4", "B", Less, "maximum of these bytes", |pep| Some(pep.relayed.most_held)),
    count("total_retransmissions_l4", "packets", Less, "packets retransmitted behind the proxy", |pep| pep.relayed.leaving.count(counter::RETRANSMISSIONS)),
    count("total_rtos_l4", "", Less, "retransmission timeouts behind the proxy", |pep| pep.relayed.leaving.count(counter::TIMEOUTS)),
    count("total_data_packets_l4", "packets", Neither, "data packets sent behind the proxy", |pep| pep.relayed.leaving.count(counter::DATA_PACKETS)),
    count("total_acks_sent_l4", "packets", Neither, "acknowledgments that the proxy sent", |pep| pep.relayed.arriving.count(counter::ACKS_SENT)),
    count("total_acks_delivered_l4", "packets", Neither, "acknowledgments that reached the proxy", |pep| Some(pep.relayed.leaving_probe.acks_delivered)),
    count("total_ack_bytes_l3", "B", Less, "IP bytes of these acknowledgments", |pep| Some(pep.relayed.leaving_probe.ack_bytes)),
];

fn ms(nanos: Option<f64>) -> Option<f64> {
    nanos.map(|nanos| nanos / 1e6)
}
