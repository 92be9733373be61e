//! The tables of Wi-Fi cells: the counters of each node, the use of airtime, and the PPDUs on the
//! air.

use crate::metric::Better::{Less, More, Neither};
use crate::metric::{Metric, Rows, count, number, text};
use crate::observed::Observed;
use crate::observers::World;
use crate::subjects::{CellInfo, Subjects};
use crate::table::Table;
use acklab_base::Instant;
use acklab_net::Hosts;
use acklab_wifi::airtime::Use;
use acklab_wifi::cell::QueueView;
use acklab_wifi::counters::Counters;
use acklab_wifi::hack;
use std::ops::Range;

/// One node of a cell.
pub(super) struct Row<'a> {
    cell: &'a CellInfo,
    node: usize,
    counters: &'a Counters,
    queues: Vec<QueueView<'a>>,
    /// The length of the measurement window in seconds.
    seconds: f64,
}

impl Row<'_> {
    /// Returns the capacity in Mbps.
    fn capacity(&self) -> Option<f64> {
        self.cell.capacities[self.node].map(|rate| rate / 1e6)
    }

    fn utilization(&self) -> Option<f64> {
        Some(self.counters.delivered_bytes as f64 * 8.0 / 1e6 / self.seconds / self.capacity()?)
    }

    fn mean_length(&self) -> f64 {
        self.queues.iter().map(|queue| queue.mean_length).sum()
    }

    fn max_length(&self) -> u64 {
        self.queues.iter().map(|queue| queue.max_length).max().unwrap_or(0)
    }

    fn mean_delay(&self) -> Option<f64> {
        let Counters { delivered, delay, .. } = self.counters;
        (*delivered > 0).then(|| delay.as_millis_f64() / *delivered as f64)
    }
}

/// Returns the nodes of all cells, the access point of each first.
pub(super) fn rows<'a, P: Observed, H: Hosts<P>>(
    world: &'a World<P, H>,
    subjects: &'a Subjects,
    window: Range<Instant>,
) -> Vec<Row<'a>> {
    let seconds = window.end.since(window.start).as_secs_f64();
    let cells = world.cells().iter().zip(&subjects.cells);
    cells
        .flat_map(|(cell, info)| {
            cell.counters().iter().enumerate().map(move |(node, counters)| Row {
                cell: info,
                node,
                counters,
                queues: cell.queues_of(node).collect(),
                seconds,
            })
        })
        .collect()
}

pub(super) struct StationRows;

impl Rows for StationRows {
    type Row<'a> = Row<'a>;
}

#[rustfmt::skip]
pub(super) const STATIONS: &[Metric<StationRows>] = &[
    text("cell", "the cell's name", |row| Some(row.cell.name.clone())),
    text("node", "the node's name; the access point is the first of its cell", |row| Some(row.cell.nodes[row.node].clone())),
    count("total_ppdus_l2", "packets", Neither, "data PPDUs sent, including retransmissions", |row| Some(row.counters.ppdus)),
    count("total_mpdus_l2", "packets", Neither, "data MPDUs in these PPDUs", |row| Some(row.counters.mpdus)),
    number("mean_mpdus_per_ppdu_l2", "packets", More, "MPDUs / PPDUs", |row| ratio(row.counters.mpdus, row.counters.ppdus)),
    count("total_retries_l2", "packets", Less, "retransmitted MPDUs", |row| Some(row.counters.retries)),
    number("share_first_try_l2", "", More, "MPDUs that arrived at their first transmission / first transmissions", |row| ratio(row.counters.first_successes, row.counters.first_tries)),
    count("total_unanswered_l2", "packets", Less, "data PPDUs without a decodable response frame", |row| Some(row.counters.unanswered)),
    number("share_unanswered_l2", "", Less, "`total_unanswered_l2` / PPDUs", |row| ratio(row.counters.unanswered, row.counters.ppdus)),
    count("total_rts_l2", "packets", Neither, "RTS frames sent", |row| Some(row.counters.rts)),
    count("total_rts_unanswered_l2", "packets", Less, "RTS frames without a CTS", |row| Some(row.counters.rts_unanswered)),
    count("total_block_ack_requests_l2", "packets", Neither, "Block ACK requests sent", |row| Some(row.counters.requests)),
    count("total_collisions_l1", "packets", Less, "PPDUs of the node that were lost because of overlap with other PPDUs", |row| Some(row.counters.collisions)),
    count("total_internal_collisions_l2", "packets", Less, "internal collisions: two EDCAFs of the node won contention at once (10.23.2.4)", |row| Some(row.counters.internal_collisions)),
    count("total_link_acks_l2", "packets", Neither, "ACK and Block ACK frames sent", |row| Some(row.counters.link_acks)),
    number("mean_backoff_l2", "slots", Neither, "mean of the drawn backoffs", |row| ratio(row.counters.backoff_slots, row.counters.backoffs)),
    count("total_packets_out_l2", "packets", Neither, "packets that reached their next node", |row| Some(row.counters.delivered)),
    count("total_bytes_out_l2", "B", Neither, "IP bytes of these packets", |row| Some(row.counters.delivered_bytes)),
    number("capacity_l2", "Mbps", Neither, "IP bytes that the node could deliver as the only sender with full-sized packets of its flows, without errors: from a mean cycle from AIFS to response frame; the maximum over its flows; null if it sends no data", |row| row.capacity()),
    number("mean_utilization_l2", "", More, "`total_bytes_out_l2` as a rate / `capacity_l2`", |row| row.utilization()),
    number("mean_delay_l2", "ms", Less, "mean over packets that reached their next node: from arrival at the queue to the end of the PPDU", |row| row.mean_delay()),
    number("mean_queue_length_l2", "packets", Less, "queued or unacknowledged packets, over time", |row| Some(row.mean_length())),
    count("max_queue_length_l2", "packets", Neither, "maximum of this number", |row| Some(row.max_length())),
    count("total_queue_drops_l2", "packets", Less, "packets dropped by the node's queues", |row| Some(row.counters.dropped)),
    count("total_filtered_acks_l2", "packets", Neither, "ACKs replaced by a newer one", |row| Some(row.counters.filtered)),
    count("total_given_up_l2", "packets", Less, "packets dropped at the retry limit", |row| Some(row.counters.given_up)),
    count("total_expired_l2", "packets", Less, "packets dropped at the end of their lifetime", |row| Some(row.counters.expired)),
];

/// The TCP/HACK counters of one node.
pub(super) struct HackRow<'a> {
    cell: &'a str,
    node: &'a str,
    counters: &'a hack::Counters,
}

/// Returns the nodes of cells with TCP/HACK, the access point of each first.
pub(super) fn hack_rows<'a, P: Observed, H: Hosts<P>>(
    world: &'a World<P, H>,
    subjects: &'a Subjects,
) -> Vec<HackRow<'a>> {
    let cells = world.cells().iter().zip(&subjects.cells);
    cells
        .flat_map(|(cell, info)| {
            let nodes = info.nodes.iter().zip(cell.hack_counters());
            nodes.map(move |(node, counters)| HackRow { cell: &info.name, node, counters })
        })
        .collect()
}

pub(super) struct HackRows;

impl Rows for HackRows {
    type Row<'a> = HackRow<'a>;
}

#[rustfmt::skip]
pub(super) const HACK: &[Metric<HackRows>] = &[
    text("cell", "the cell's name", |row| Some(row.cell.to_owned())),
    text("node", "the node's name; the access point is the first of its cell", |row| Some(row.node.to_owned())),
    count("total_compressed_acks_l2", "packets", Neither, "TCP ACKs compressed, each once", |row| Some(row.counters.compressed)),
    count("total_compressed_bytes_l2", "B", Neither, "bytes of their compressed headers", |row| Some(row.counters.compressed_bytes)),
    number("mean_compressed_ack_l2", "B", Neither, "`total_compressed_bytes_l2` / `total_compressed_acks_l2`", |row| ratio(row.counters.compressed_bytes, row.counters.compressed)),
    count("total_repeated_acks_l2", "packets", Neither, "retransmitted compressed ACKs, whose arrival was not confirmed", |row| Some(row.counters.repeated)),
    count("total_augmented_answers_l2", "packets", Neither, "response frames with compressed ACKs", |row| Some(row.counters.augmented)),
    number("share_within_aifs_l2", "", Neither, "share of these response frames whose extra duration is at most an AIFS", |row| ratio(row.counters.augmented_within_aifs, row.counters.augmented)),
    count("total_plain_acks_l2", "packets", Neither, "TCP ACKs sent uncompressed", |row| Some(row.counters.plain)),
    count("total_plain_ack_bytes_l2", "B", Neither, "IP bytes of these ACKs", |row| Some(row.counters.plain_bytes)),
    count("total_released_acks_l2", "packets", Neither, "ACKs that waited for a response frame and were sent uncompressed instead", |row| Some(row.counters.released)),
    count("total_missed_answers_l2", "packets", Neither, "response frames that were due before their ACKs were ready", |row| Some(row.counters.missed)),
    count("total_cleared_acks_l2", "packets", Neither, "ACKs superseded by a later uncompressed one", |row| Some(row.counters.cleared)),
    count("total_reissued_acks_l2", "packets", Neither, "ACKs removed from the queue and sent in a response frame", |row| Some(row.counters.reissued)),
    count("total_decompressed_acks_l2", "packets", Neither, "ACKs decompressed from the peer's response frames", |row| Some(row.counters.decompressed)),
    count("total_duplicate_acks_l2", "packets", Neither, "compressed ACKs that arrived before", |row| Some(row.counters.duplicates)),
    count("total_decompression_failures_l2", "packets", Neither, "headers that could not be decompressed", |row| Some(row.counters.failures)),
];

/// Returns `None` if `whole` is zero.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the table of airtime, with a row for each node and use. The times of a cell add up to
/// the length of the window.
pub(super) fn airtime<P: Observed, H: Hosts<P>>(
    world: &mut World<P, H>,
    subjects: &Subjects,
    window: &Range<Instant>,
) -> Table {
    let length = window.end.since(window.start);
    let mut rows = Vec::new();
    for (cell, info) in world.links_and_cells().1.iter_mut().zip(&subjects.cells) {
        let airtime = cell.airtime(window.end);
        for (node, name) in info.nodes.iter().enumerate() {
            for what in Use::ALL {
                let time = airtime.of(node, what);
                if !time.is_zero() {
                    rows.push((info.name.clone(), name.clone(), what.name(), time));
                }
            }
        }
    }
    Table::new("airtime")
        .text("cell", rows.iter().map(|(cell, ..)| cell.clone()))
        .text("node", rows.iter().map(|(_, node, ..)| node.clone()))
        .text("use", rows.iter().map(|(.., what, _)| (*what).to_owned()))
        .count("time", "ns", rows.iter().map(|(.., time)| time.as_nanos()))
        .number("share", "", rows.iter().map(|(.., time)| time.as_secs_f64() / length.as_secs_f64()))
}

/// Returns the air timeline: a row for each PPDU that was on the air.
pub(super) fn air<P: Observed, H: Hosts<P>>(world: &World<P, H>, subjects: &Subjects) -> Table {
    let rows = || {
        world.taps.air.iter().zip(&subjects.cells).flat_map(|(air, cell)| air.rows().iter().map(move |row| (cell, row)))
    };
    Table::new("air")
        .text("cell", rows().map(|(cell, _)| cell.name.clone()))
        .number("time", "s", rows().map(|(_, row)| row.at.as_secs_f64()))
        .number("duration", "us", rows().map(|(_, row)| row.duration.as_nanos() as f64 / 1e3))
        .text("node", rows().map(|(cell, row)| cell.nodes[row.from].clone()))
        .text("to", rows().map(|(cell, row)| row.to.map_or_else(String::new, |to| cell.nodes[to].clone())))
        .text("kind", rows().map(|(_, row)| row.kind.to_owned()))
        .text("fate", rows().map(|(_, row)| row.outcome.name().to_owned()))
        .count("mpdus", "packets", rows().map(|(_, row)| row.mpdus))
        .count("octets", "B", rows().map(|(_, row)| row.octets.get()))
        .text("mode", rows().map(|(_, row)| row.mode.to_string()))
}
