//! The table of link directions.

use crate::build::Plan;
use crate::table::Table;
use crate::world::World;
use acklab_base::Instant;
use acklab_path::Counters;

/// One row a link direction.
pub(super) fn table(world: &World, plan: &Plan, links: &[Counters], from: Instant, until: Instant) -> Table {
    let window = from..until;
    let seconds = until.since(from).as_secs_f64();
    let sending_rate = |counters: &Counters| counters.bytes_on_wire.get() as f64 * 8.0 / 1e6 / seconds;
    let number = |of: &dyn Fn(&Counters) -> Option<f64>| links.iter().map(of).collect::<Vec<_>>();
    let count = |of: fn(&Counters) -> u64| links.iter().map(of).collect::<Vec<_>>();
    let utilization = links
        .iter()
        .zip(&world.links)
        .map(|(counters, link)| link.mean_rate(until).map(|rate| sending_rate(counters) * 1e6 / rate));
    Table::new("links")
        .text("link", plan.links.iter().map(|link| link.name.clone()))
        .text("from", plan.links.iter().map(|link| link.from.clone()))
        .text("to", plan.links.iter().map(|link| link.to.clone()))
        .number(
            "mean_qdisc_delay_l2",
            "ms",
            number(&|counters| (counters.served > 0).then(|| counters.waited.as_millis_f64() / counters.served as f64)),
        )
        .number("mean_qdisc_length_l2", "packets", number(&|counters| Some(counters.queue.mean(&window))))
        .count("max_qdisc_length_l2", "packets", count(|counters| counters.queue.max))
        .number("mean_sending_rate_l1", "Mbps", number(&|counters| Some(sending_rate(counters))))
        .number("mean_utilization_l1", "", utilization)
        .count("total_qdisc_drops_l2", "packets", count(|counters| counters.dropped))
        .count("total_marked_l2", "packets", count(|counters| counters.marked))
        .count("total_filtered_acks_l2", "packets", count(|counters| counters.filtered))
        .count("total_wire_losses_l1", "packets", count(|counters| counters.lost))
        .count("total_wire_duplicates_l1", "packets", count(|counters| counters.duplicated))
        .count("total_packets_in_l2", "packets", count(|counters| counters.packets_in))
        .count("total_packets_out_l2", "packets", count(|counters| counters.packets_out))
        .count("total_bytes_in_l2", "B", count(|counters| counters.bytes_in.get()))
        .count("total_bytes_out_l2", "B", count(|counters| counters.bytes_out.get()))
        .count("total_bytes_dropped_l2", "B", count(|counters| counters.bytes_dropped.get()))
        .count("total_bytes_marked_l2", "B", count(|counters| counters.bytes_marked.get()))
        .count("total_bytes_filtered_l2", "B", count(|counters| counters.bytes_filtered.get()))
        .count("total_bytes_lost_l1", "B", count(|counters| counters.bytes_lost.get()))
        .count("total_bytes_duplicated_l1", "B", count(|counters| counters.bytes_duplicated.get()))
}
