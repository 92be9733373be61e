//! The tables of a run. Their columns have the names of CCperf's metrics: statistic, quantity, layer.

mod cells;
mod flows;
mod links;
mod metric;
mod network;
mod objects;
mod peps;
mod series;

pub use metric::{Better, Description};

use crate::assemble::{Plan, World};
use crate::flows::{Flow, Measured};
use crate::packet::Observed;
use crate::scenario::Scenario;
use crate::socket::End;
use crate::table::Table;
use acklab_base::Instant;
use acklab_net::Hosts;
use acklab_path::Counters;
use flows::{Ends, FlowResult};

/// The descriptions of the columns of the metrics tables, in their order.
#[must_use]
pub fn metrics() -> Vec<Description> {
    let tables = [
        metric::describe("flows", flows::METRICS),
        metric::describe("links", links::METRICS),
        metric::describe("network", network::METRICS),
        metric::describe("objects", objects::METRICS),
        metric::describe("peps", peps::METRICS),
        metric::describe("stations", cells::STATIONS),
        metric::describe("hack", cells::HACK),
    ];
    tables.concat()
}

/// All tables of the window from `from` to `until`. `counters` are those of the link directions.
pub(crate) fn tables<P: Observed, H: Hosts<P> + Measured>(
    world: &mut World<P, H>,
    plan: &Plan,
    scenario: &Scenario,
    counters: &[Counters],
    from: Instant,
    until: Instant,
) -> Vec<Table> {
    let relayed = world.hosts.close_relays(until);
    let ends: Vec<Ends> = world.hosts.flows_mut().iter_mut().flat_map(|flow| ends(flow, until)).collect();
    let flows: Vec<FlowResult<'_>> = world
        .hosts
        .directions()
        .zip(&plan.flows)
        .zip(ends)
        .map(|((probe, plan), ends)| FlowResult::new(probe, plan, ends, &world.taps, from, until))
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
    let objects: Vec<_> = flows.iter().flat_map(objects::ObjectResult::of).collect();
    if !objects.is_empty() {
        tables.push(metric::table("objects", objects::METRICS, &objects));
    }
    if !relayed.is_empty() {
        let rows = plan.relays.iter().zip(&relayed).map(|(place, relayed)| peps::PepResult {
            flow: &plan.flows[place.flow],
            place,
            relayed,
            window: from..until,
        });
        tables.push(metric::table("peps", peps::METRICS, &rows.collect::<Vec<_>>()));
    }
    if !world.cells().is_empty() {
        tables.push(metric::table("stations", cells::STATIONS, &cells::rows(world, plan, from..until)));
        tables.push(cells::airtime(world, plan, from, until));
        let hack = cells::hack_rows(world, plan);
        if !hack.is_empty() {
            tables.push(metric::table("hack", cells::HACK, &hack));
        }
    }
    tables.extend(series::tables(world, plan, scenario));
    tables
}

/// The counters of both ends of a flow up to `until`, once for each measured direction.
fn ends<E: End + ?Sized>(flow: &mut Flow<E>, until: Instant) -> impl Iterator<Item = Ends> + use<E> {
    let [from, to] = flow.close(until);
    let [forward, reverse] = flow.keys;
    let reverse = flow.probes.reverse.as_ref().map(|_| Ends {
        sender: to.clone(),
        receiver: from.clone(),
        keys: [reverse, forward],
    });
    [Some(Ends { sender: from, receiver: to, keys: flow.keys }), reverse].into_iter().flatten()
}

/// The table of ACKs sent, by flow and reason.
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
