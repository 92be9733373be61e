//! From a finished window to tables, named as CCperf names its metrics: statistic, quantity, layer.

mod cells;
mod flows;
mod links;
mod network;
mod series;

use crate::build::Plan;
use crate::ends::Pair;
use crate::scenario::Scenario;
use crate::table::Table;
use crate::world::World;
use acklab_base::Instant;
use acklab_path::Counters;
use acklab_transport::ack::Reason;

/// All tables of the window from `from` to `until`. `links` holds what each link direction has counted in it.
pub(crate) fn tables(
    world: &mut World,
    plan: &Plan,
    scenario: &Scenario,
    links: &[Counters],
    from: Instant,
    until: Instant,
) -> Vec<Table> {
    let totals: Vec<_> = world.flows.iter_mut().map(|ends| ends.close(until)).collect();
    let flows: Vec<flows::FlowResult<'_>> = world
        .flows
        .iter()
        .zip(&plan.flows)
        .zip(totals)
        .map(|((ends, plan), totals)| flows::FlowResult::new(&ends.probe, plan, totals, from, until))
        .collect();
    let mut tables = vec![
        flows::table(&flows),
        links::table(world, plan, links, from, until),
        network::table(&flows, links),
        acks(world, &flows),
    ];
    if !world.cells.is_empty() {
        tables.extend([cells::stations(world, plan), cells::airtime(world, plan, from, until)]);
        tables.extend(cells::hack(world, plan));
    }
    tables.extend(series::tables(world, plan, scenario));
    tables
}

/// How many ACKs were sent for which reason.
fn acks(world: &World, flows: &[flows::FlowResult<'_>]) -> Table {
    let rows = || {
        let pairs = world.flows.iter().zip(flows).filter_map(|(ends, flow)| match (&ends.pair, flow.totals.tcp()) {
            (Pair::Tcp(pair), Some(totals)) => Some((pair, flow, totals)),
            _ => None,
        });
        pairs.flat_map(|(pair, flow, totals)| {
            let counts = totals.acks_by_reason.into_iter().enumerate().filter(|(_, count)| *count > 0);
            counts.map(move |(index, count)| (flow, pair.receiver.reason_name(Reason::of_index(index)), count))
        })
    };
    Table::new("acks")
        .text("flow", rows().map(|(flow, ..)| flow.name().to_owned()))
        .text("reason", rows().map(|(_, reason, _)| reason.to_owned()))
        .count("count", "packets", rows().map(|(.., count)| count))
}
