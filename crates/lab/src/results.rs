//! From a finished window to tables, named as CCperf names its metrics: statistic, quantity, layer.

mod cells;
mod flows;
mod links;
mod metric;
mod network;
mod series;

pub use metric::{Better, Description};

use crate::build::{Plan, World};
use crate::scenario::Scenario;
use crate::table::Table;
use acklab_base::Instant;
use acklab_path::Counters;
use flows::FlowResult;

/// What the columns of the tables of metrics are, in their order.
#[must_use]
pub fn metrics() -> Vec<Description> {
    let tables = [
        metric::describe("flows", flows::METRICS),
        metric::describe("links", links::METRICS),
        metric::describe("network", network::METRICS),
        metric::describe("stations", cells::STATIONS),
        metric::describe("hack", cells::HACK),
    ];
    tables.concat()
}

/// All tables of the window from `from` to `until`. `counters` holds what each link direction has counted in it.
pub(crate) fn tables(
    world: &mut World,
    plan: &Plan,
    scenario: &Scenario,
    counters: &[Counters],
    from: Instant,
    until: Instant,
) -> Vec<Table> {
    let tallies: Vec<_> = world.hosts.all.iter_mut().map(|flow| flow.close(until)).collect();
    let flows: Vec<FlowResult<'_>> = world
        .hosts
        .all
        .iter()
        .zip(&plan.flows)
        .zip(tallies)
        .map(|((flow, plan), tallies)| FlowResult::new(flow, plan, tallies, &world.taps, from, until))
        .collect();
    let links: Vec<links::LinkResult<'_>> = world
        .links()
        .iter()
        .zip(&plan.links)
        .zip(counters)
        .map(|((link, plan), counters)| links::LinkResult {
            plan,
            counters,
            window: from..until,
            mean_rate: link.mean_rate(until),
        })
        .collect();
    let whole = network::Whole { flows: &flows, links: counters };
    let mut tables = vec![
        metric::table("flows", flows::METRICS, &flows),
        metric::table("links", links::METRICS, &links),
        metric::table("network", network::METRICS, &[whole]),
        acknowledgments(&flows),
    ];
    if !world.cells().is_empty() {
        tables.push(metric::table("stations", cells::STATIONS, &cells::rows(world, plan)));
        tables.push(cells::airtime(world, plan, from, until));
        let hack = cells::hack_rows(world, plan);
        if !hack.is_empty() {
            tables.push(metric::table("hack", cells::HACK, &hack));
        }
    }
    tables.extend(series::tables(world, plan, scenario));
    tables
}

/// How many ACKs were sent for which reason.
fn acknowledgments(flows: &[FlowResult<'_>]) -> Table {
    let rows = || {
        flows.iter().flat_map(|flow| {
            let counts = flow.receiver.acknowledgments.iter().filter(|(_, count)| *count > 0);
            counts.map(move |(reason, count)| (flow, reason, *count))
        })
    };
    Table::new("acks")
        .text("flow", rows().map(|(flow, ..)| flow.name().to_owned()))
        .text("reason", rows().map(|(_, reason, _)| reason.clone()))
        .count("count", "packets", rows().map(|(.., count)| count))
}
