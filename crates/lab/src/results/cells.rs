//! The tables of Wi-Fi cells: what each node did, and where the time on the air went.

use crate::build::{CellPlan, Plan};
use crate::table::Table;
use crate::world::World;
use acklab_base::Instant;
use acklab_wifi::airtime::Use;
use acklab_wifi::cell::QueueView;
use acklab_wifi::counters::Counters;
use acklab_wifi::hack;

/// One row a node of each cell, the access point first.
pub(super) fn stations(world: &World, plan: &Plan) -> Table {
    let rows: Vec<Row<'_>> = world
        .cells
        .iter()
        .zip(&plan.cells)
        .flat_map(|(cell, plan)| {
            cell.counters().iter().enumerate().map(move |(node, counters)| Row {
                cell: plan,
                node,
                counters,
                queues: cell.queues_of(node).collect(),
            })
        })
        .collect();
    let count = |of: fn(&Counters) -> u64| rows.iter().map(|row| of(row.counters)).collect::<Vec<_>>();
    let share = |part: fn(&Counters) -> u64, whole: fn(&Counters) -> u64| {
        rows.iter().map(|row| ratio(part(row.counters), whole(row.counters))).collect::<Vec<_>>()
    };
    Table::new("stations")
        .text("cell", rows.iter().map(|row| row.cell.name.clone()))
        .text("node", rows.iter().map(|row| row.cell.nodes[row.node].clone()))
        .count("total_ppdus_l2", "packets", count(|counters| counters.ppdus))
        .count("total_mpdus_l2", "packets", count(|counters| counters.mpdus))
        .number("mean_mpdus_per_ppdu_l2", "packets", share(|counters| counters.mpdus, |counters| counters.ppdus))
        .count("total_retries_l2", "packets", count(|counters| counters.retries))
        .number("share_first_try_l2", "", share(|counters| counters.first_successes, |counters| counters.first_tries))
        .count("total_unanswered_l2", "packets", count(|counters| counters.unanswered))
        .number("share_unanswered_l2", "", share(|counters| counters.unanswered, |counters| counters.ppdus))
        .count("total_rts_l2", "packets", count(|counters| counters.rts))
        .count("total_rts_unanswered_l2", "packets", count(|counters| counters.rts_unanswered))
        .count("total_block_ack_requests_l2", "packets", count(|counters| counters.requests))
        .count("total_collisions_l1", "packets", count(|counters| counters.collisions))
        .count("total_internal_collisions_l2", "packets", count(|counters| counters.internal_collisions))
        .count("total_link_acks_l2", "packets", count(|counters| counters.link_acks))
        .number("mean_backoff_l2", "slots", share(|counters| counters.backoff_slots, |counters| counters.backoffs))
        .count("total_packets_out_l2", "packets", count(|counters| counters.delivered))
        .count("total_bytes_out_l2", "B", count(|counters| counters.delivered_bytes))
        .number(
            "mean_delay_l2",
            "ms",
            rows.iter().map(|row| {
                let counters = row.counters;
                (counters.delivered > 0).then(|| counters.delay.as_millis_f64() / counters.delivered as f64)
            }),
        )
        .number("mean_queue_length_l2", "packets", rows.iter().map(Row::mean_length))
        .count("max_queue_length_l2", "packets", rows.iter().map(Row::max_length))
        .count("total_queue_drops_l2", "packets", count(|counters| counters.dropped))
        .count("total_filtered_acks_l2", "packets", count(|counters| counters.filtered))
        .count("total_given_up_l2", "packets", count(|counters| counters.given_up))
        .count("total_expired_l2", "packets", count(|counters| counters.expired))
}

/// One row a node of each cell with TCP/HACK, the access point first. None if there is no such cell.
pub(super) fn hack(world: &World, plan: &Plan) -> Option<Table> {
    let rows: Vec<(&str, &str, &hack::Counters)> = world
        .cells
        .iter()
        .zip(&plan.cells)
        .flat_map(|(cell, plan)| {
            let nodes = plan.nodes.iter().zip(cell.hack_counters());
            nodes.map(move |(node, counters)| (plan.name.as_str(), node.as_str(), counters))
        })
        .collect();
    let count = |of: fn(&hack::Counters) -> u64| rows.iter().map(|(.., counters)| of(counters)).collect::<Vec<_>>();
    let share = |part: fn(&hack::Counters) -> u64, whole: fn(&hack::Counters) -> u64| {
        rows.iter().map(|(.., counters)| ratio(part(counters), whole(counters))).collect::<Vec<_>>()
    };
    let table = Table::new("hack")
        .text("cell", rows.iter().map(|(cell, ..)| (*cell).to_owned()))
        .text("node", rows.iter().map(|(_, node, _)| (*node).to_owned()))
        .count("total_compressed_acks_l2", "packets", count(|counters| counters.compressed))
        .count("total_compressed_bytes_l2", "B", count(|counters| counters.compressed_bytes))
        .number(
            "mean_compressed_ack_l2",
            "B",
            share(|counters| counters.compressed_bytes, |counters| counters.compressed),
        )
        .count("total_repeated_acks_l2", "packets", count(|counters| counters.repeated))
        .count("total_augmented_answers_l2", "packets", count(|counters| counters.answers))
        .number("share_within_aifs_l2", "", share(|counters| counters.answers_within_aifs, |counters| counters.answers))
        .count("total_plain_acks_l2", "packets", count(|counters| counters.plain))
        .count("total_plain_ack_bytes_l2", "B", count(|counters| counters.plain_bytes))
        .count("total_released_acks_l2", "packets", count(|counters| counters.released))
        .count("total_missed_answers_l2", "packets", count(|counters| counters.missed))
        .count("total_cleared_acks_l2", "packets", count(|counters| counters.cleared))
        .count("total_reissued_acks_l2", "packets", count(|counters| counters.reissued))
        .count("total_decompressed_acks_l2", "packets", count(|counters| counters.decompressed))
        .count("total_duplicate_acks_l2", "packets", count(|counters| counters.duplicates))
        .count("total_decompression_failures_l2", "packets", count(|counters| counters.failures));
    (!rows.is_empty()).then_some(table)
}

/// None of nothing.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

struct Row<'a> {
    cell: &'a CellPlan,
    node: usize,
    counters: &'a Counters,
    queues: Vec<QueueView<'a>>,
}

impl Row<'_> {
    fn mean_length(&self) -> f64 {
        self.queues.iter().map(|queue| queue.mean_length).sum()
    }

    fn max_length(&self) -> u64 {
        self.queues.iter().map(|queue| queue.max_length).max().unwrap_or(0)
    }
}

/// One row a node and use of the air. The times of a cell add up to the window's length.
pub(super) fn airtime(world: &mut World, plan: &Plan, from: Instant, until: Instant) -> Table {
    let window = until.since(from);
    let mut rows = Vec::new();
    for (cell, plan) in world.cells.iter_mut().zip(&plan.cells) {
        let airtime = cell.airtime(until);
        for (node, name) in plan.nodes.iter().enumerate() {
            for what in Use::ALL {
                let time = airtime.of(node, what);
                if !time.is_zero() {
                    rows.push((plan.name.clone(), name.clone(), what.name(), time));
                }
            }
        }
    }
    Table::new("airtime")
        .text("cell", rows.iter().map(|(cell, ..)| cell.clone()))
        .text("node", rows.iter().map(|(_, node, ..)| node.clone()))
        .text("use", rows.iter().map(|(.., what, _)| (*what).to_owned()))
        .count("time", "ns", rows.iter().map(|(.., time)| time.as_nanos()))
        .number("share", "", rows.iter().map(|(.., time)| time.as_secs_f64() / window.as_secs_f64()))
}

/// Each PPDU that was on the air: the air timeline.
pub(super) fn air(world: &World, plan: &Plan) -> Table {
    let rows =
        || world.air.iter().zip(&plan.cells).flat_map(|(air, cell)| air.rows().iter().map(move |row| (cell, row)));
    Table::new("air")
        .text("cell", rows().map(|(cell, _)| cell.name.clone()))
        .number("time", "s", rows().map(|(_, row)| row.at.as_secs_f64()))
        .number("duration", "us", rows().map(|(_, row)| row.duration.as_nanos() as f64 / 1e3))
        .text("node", rows().map(|(cell, row)| cell.nodes[row.from].clone()))
        .text("to", rows().map(|(cell, row)| row.to.map_or_else(String::new, |to| cell.nodes[to].clone())))
        .text("kind", rows().map(|(_, row)| row.kind.to_owned()))
        .text("fate", rows().map(|(_, row)| row.fate.name().to_owned()))
        .count("mpdus", "packets", rows().map(|(_, row)| row.mpdus))
        .count("octets", "B", rows().map(|(_, row)| row.octets.get()))
        .text("mode", rows().map(|(_, row)| row.mode.to_string()))
}
