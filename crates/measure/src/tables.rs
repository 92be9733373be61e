//! The tables of the measurements. The names of columns follow CCperf's metrics: statistic,
//! quantity, layer.

mod cells;
mod completions;
mod ending;
pub(crate) mod flows;
mod limits;
mod links;
mod network;
mod objects;
mod peps;
pub(crate) mod series;

use crate::flow::{End, Flow, Measured};
use crate::metric::{self, Description};
use crate::observed::Observed;
use crate::observers::World;
use crate::series::Series;
use crate::subjects::Subjects;
use crate::table::Table;
use acklab_base::{FlowKey, Instant};
use acklab_net::Hosts;
use acklab_path::Counters;
use flows::{Drops, Ends, FlowResult, Path};
use limits::Hops;
use std::ops::Range;

/// Returns the descriptions of the columns of the metrics tables, in their order.
#[must_use]
pub fn metrics() -> Vec<Description> {
    let tables = [
        metric::describe("flows", flows::METRICS),
        metric::describe("links", links::METRICS),
        metric::describe("network", network::METRICS),
        metric::describe("completions", completions::METRICS),
        metric::describe("objects", objects::METRICS),
        metric::describe("peps", peps::METRICS),
        metric::describe("stations", cells::STATIONS),
        metric::describe("hack", cells::HACK),
    ];
    tables.concat()
}

/// Returns the tables of a network in a measurement window that ends now. Also returns the number
/// of packets that the network's links and cells have delivered.
///
/// `subjects` are the flows, links and cells in their order in the network. `series` are the
/// recorded series to return.
pub fn tables<P: Observed, H: Hosts<P> + Measured>(
    world: &mut World<P, H>,
    subjects: &Subjects,
    series: &[Series],
    window: Range<Instant>,
) -> (Vec<Table>, u64) {
    let until = window.end;
    let counters: Vec<Counters> = world.links_and_cells().0.iter_mut().map(|link| link.counters(until)).collect();
    world.flush_taps();
    let through_cells = world.cells().iter().flat_map(acklab_wifi::Cell::counters).map(|counters| counters.delivered);
    let hops = counters.iter().map(|counters| counters.packets_out).chain(through_cells).sum();
    let relayed = world.hosts.close_relays(until);
    let ends: Vec<([FlowKey; 2], Ends)> =
        world.hosts.flows_mut().iter_mut().flat_map(|flow| close(flow, until)).collect();
    let used = Hops::of(world, subjects, &counters, &window);
    let flows: Vec<FlowResult<'_>> = world
        .hosts
        .directions()
        .zip(&subjects.flows)
        .zip(ends)
        .map(|((probe, info), (keys, ends))| {
            let [data, acks] = keys.map(|key| world.taps.drops(key));
            let [hop, own_hop, return_hop] =
                [info.bottleneck, info.own_bottleneck, info.return_bottleneck].map(|bottleneck| used.at(bottleneck));
            let path = Path { drops: Drops { data, acks }, hop, own_hop, return_hop };
            FlowResult::new(probe, info, ends, Some(path), window.clone())
        })
        .collect();
    let links: Vec<links::LinkResult<'_>> = world
        .links()
        .iter()
        .zip(&subjects.links)
        .zip(&counters)
        .map(|((link, info), counters)| links::LinkResult {
            info,
            counters,
            window: window.clone(),
            mean_rate: link.mean_rate(&window),
        })
        .collect();
    let whole = network::Whole { flows: &flows, links: &counters };
    let mut tables = vec![
        metric::table("flows", flows::METRICS, &flows),
        metric::table("links", links::METRICS, &links),
        metric::table("network", network::METRICS, &[whole]),
        acknowledgments(&flows),
    ];
    let completions = completions::rows(&flows);
    if !completions.is_empty() {
        tables.push(metric::table("completions", completions::METRICS, &completions));
    }
    let objects: Vec<_> = flows.iter().flat_map(objects::ObjectResult::of).collect();
    if !objects.is_empty() {
        tables.push(metric::table("objects", objects::METRICS, &objects));
    }
    if !relayed.is_empty() {
        let rows = subjects.peps.iter().zip(&relayed).map(|(info, relayed)| peps::PepResult {
            flow: &subjects.flows[info.flow],
            info,
            relayed,
            window: window.clone(),
        });
        tables.push(metric::table("peps", peps::METRICS, &rows.collect::<Vec<_>>()));
    }
    if !world.cells().is_empty() {
        tables.push(metric::table("stations", cells::STATIONS, &cells::rows(world, subjects, window.clone())));
        tables.push(cells::airtime(world, subjects, &window));
        let hack = cells::hack_rows(world, subjects);
        if !hack.is_empty() {
            tables.push(metric::table("hack", cells::HACK, &hack));
        }
    }
    tables.extend(series::tables(world, subjects, series));
    (tables, hops)
}

/// Returns the counters of both ends of a flow up to `until`, for each measured direction. Adds the
/// flow keys of the direction's data and acknowledgments.
fn close<E: End + ?Sized>(flow: &mut Flow<E>, until: Instant) -> impl Iterator<Item = ([FlowKey; 2], Ends)> + use<E> {
    let [from, to] = flow.close(until);
    let [forward, reverse] = flow.keys;
    let back = flow.probes.reverse.as_ref().map(|_| {
        let ends = Ends { sender: Some(to.clone()), receiver: Some(from.clone()) };
        ([reverse, forward], ends)
    });
    [Some((flow.keys, Ends { sender: Some(from), receiver: Some(to) })), back].into_iter().flatten()
}

/// Returns the table of ACKs sent, by flow and reason.
pub(crate) fn acknowledgments(flows: &[FlowResult<'_>]) -> Table {
    let rows = || {
        flows.iter().flat_map(|flow| {
            let counts = flow.receiver().into_iter().flat_map(|receiver| &receiver.acknowledgments);
            counts.filter(|(_, count)| *count > 0).map(move |(reason, count)| (flow, reason, *count))
        })
    };
    Table::new("acks")
        .text("flow", rows().map(|(flow, ..)| flow.name().to_owned()))
        .text("reason", rows().map(|(_, reason, _)| reason.clone()))
        .count("count", "packets", rows().map(|(.., count)| count))
}
