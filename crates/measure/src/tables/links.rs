//! The links table, with a row for each link direction.

use crate::metric::Better::{Less, More, Neither};
use crate::metric::{Metric, Rows, count, number, text};
use crate::subjects::LinkInfo;
use acklab_base::Instant;
use acklab_path::Counters;
use std::ops::Range;

/// The measurements of one link direction in the window.
pub(super) struct LinkResult<'a> {
    pub(super) info: &'a LinkInfo,
    pub(super) counters: &'a Counters,
    pub(super) window: Range<Instant>,
    /// The mean rate in bits per second. `None` if transmission takes no time.
    pub(super) mean_rate: Option<f64>,
}

impl LinkResult<'_> {
    /// Returns the rate of sending in Mbps.
    fn sending_rate(&self) -> f64 {
        self.counters.bytes_on_wire.get() as f64 * 8.0 / 1e6 / self.window.end.since(self.window.start).as_secs_f64()
    }

    /// Returns a counter of links with capacity on demand.
    fn on_demand(&self, count: u64) -> Option<u64> {
        self.info.is_on_demand.then_some(count)
    }

    fn queueing_delay(&self) -> Option<f64> {
        let Counters { served, waited, .. } = self.counters;
        (*served > 0).then(|| waited.as_millis_f64() / *served as f64)
    }
}

pub(super) struct LinkRows;

impl Rows for LinkRows {
    type Row<'a> = LinkResult<'a>;
}

#[rustfmt::skip]
pub(super) const METRICS: &[Metric<LinkRows>] = &[
    text("link", "the name of the direction: that of the link, with `_forward` or `_reverse`", |link| Some(link.info.name.clone())),
    text("from", "the node at which it begins", |link| Some(link.info.from.clone())),
    text("to", "the node at which it ends", |link| Some(link.info.to.clone())),
    number("mean_qdisc_delay_l2", "ms", Less, "mean over packets that left the queue: from arrival to departure; includes waits for a gate or an assignment, and excludes service and time in the device; packets without wait count as 0", |link| link.queueing_delay()),
    number("mean_qdisc_length_l2", "packets", Less, "packets in the queue, over time, without the one in service", |link| Some(link.counters.queue.mean(&link.window))),
    count("max_qdisc_length_l2", "packets", Neither, "maximum number of packets in the queue", |link| Some(link.counters.queue.max)),
    number("mean_sending_rate_l1", "Mbps", Neither, "serialised bytes, including link overhead / window; a packet on the wire at an end of the window counts by its share inside", |link| Some(link.sending_rate())),
    number("mean_utilization_l1", "", More, "`mean_sending_rate_l1` / mean rate in the window: with capacity on demand that of the carrier without the background, and at most that of the queue's shaper; null if serialisation takes no time", |link| link.mean_rate.map(|rate| link.sending_rate() * 1e6 / rate)),
    count("total_qdisc_drops_l2", "packets", Less, "packets dropped by the queue", |link| Some(link.counters.dropped)),
    count("total_mtu_drops_l3", "packets", Less, "packets larger than the link's MTU, dropped before the queue; they count in no other column", |link| Some(link.counters.excluded)),
    count("total_marked_l2", "packets", Neither, "packets marked Congestion Experienced", |link| Some(link.counters.marked)),
    count("total_filtered_acks_l2", "packets", Neither, "ACKs replaced by a newer one", |link| Some(link.counters.filtered)),
    count("total_wire_losses_l1", "packets", Less, "packets lost after they were sent", |link| Some(link.counters.lost)),
    count("total_wire_duplicates_l1", "packets", Neither, "packets that arrived twice", |link| Some(link.counters.duplicated)),
    count("total_packets_in_l2", "packets", Neither, "packets that arrived at the queue", |link| Some(link.counters.packets_in)),
    count("total_packets_out_l2", "packets", Neither, "packets delivered at the far end", |link| Some(link.counters.packets_out)),
    count("total_bytes_in_l2", "B", Neither, "IP bytes that arrived at the queue", |link| Some(link.counters.bytes_in.get())),
    count("total_bytes_out_l2", "B", Neither, "IP bytes delivered at the far end", |link| Some(link.counters.bytes_out.get())),
    count("total_bytes_dropped_l2", "B", Neither, "IP bytes of dropped packets", |link| Some(link.counters.bytes_dropped.get())),
    count("total_bytes_mtu_dropped_l3", "B", Neither, "IP bytes of these packets", |link| Some(link.counters.bytes_excluded.get())),
    count("total_bytes_marked_l2", "B", Neither, "IP bytes of marked packets", |link| Some(link.counters.bytes_marked.get())),
    count("total_bytes_filtered_l2", "B", Neither, "IP bytes of filtered ACKs", |link| Some(link.counters.bytes_filtered.get())),
    count("total_bytes_lost_l1", "B", Neither, "IP bytes of lost packets", |link| Some(link.counters.bytes_lost.get())),
    count("total_capacity_requests_l2", "", Neither, "with capacity on demand: requests sent", |link| link.on_demand(link.counters.capacity_requests)),
    count("total_bytes_assigned_l1", "B", Neither, "with capacity on demand: bytes of assigned slots, in superframes that ended in the window", |link| link.on_demand(link.counters.bytes_assigned.get())),
    count("total_bytes_unused_l1", "B", Less, "unused part of `total_bytes_assigned_l1`", |link| link.on_demand(link.counters.bytes_unused.get())),
    count("total_bytes_duplicated_l1", "B", Neither, "IP bytes of duplicated packets", |link| Some(link.counters.bytes_duplicated.get())),
];
