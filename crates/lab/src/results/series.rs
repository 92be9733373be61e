//! The tables of series over time.

use crate::assemble::{Plan, World};
use crate::flows::{Flow, Measured};
use crate::packet::Observed;
use crate::probe::Decision;
use crate::scenario::{Scenario, Series};
use crate::table::Table;
use acklab_base::Instant;
use acklab_base::event::AckTime;
use acklab_net::Hosts;

/// The tables of the series that the scenario requests.
pub(super) fn tables<P: Observed, H: Hosts<P> + Measured>(
    world: &World<P, H>,
    plan: &Plan,
    scenario: &Scenario,
) -> Vec<Table> {
    let is_requested = |series: &Series| scenario.measure.series.contains(series);
    let all = [
        (Series::OperatingPoint, operating_points as fn(&World<P, H>, &Plan) -> Table),
        (Series::Throughput, throughput),
        (Series::Queue, queue),
        (Series::Packets, packets),
        (Series::Air, super::cells::air),
        (Series::Events, events),
        (Series::Decisions, decisions),
    ];
    all.into_iter().filter(|(series, _)| is_requested(series)).map(|(_, table)| table(world, plan)).collect()
}

fn operating_points<P: Observed, H: Hosts<P> + Measured>(world: &World<P, H>, plan: &Plan) -> Table {
    let rows =
        || {
            world.hosts.directions().zip(&plan.flows).flat_map(|(probe, plan)| {
                probe.records.operating_points.iter().flatten().map(move |point| (plan, point))
            })
        };
    Table::new("operating_point")
        .text("flow", rows().map(|(plan, _)| plan.flow.name.clone()))
        .number("time", "s", rows().map(|(_, point)| point.at.as_secs_f64()))
        .number("cwnd", "segments", rows().map(|(_, point)| point.cwnd))
        .number("ssthresh", "segments", rows().map(|(_, point)| point.ssthresh))
        .number("in_flight", "segments", rows().map(|(_, point)| point.in_flight))
        .number("srtt", "ms", rows().map(|(_, point)| point.srtt_ms))
}

fn throughput<P: Observed, H: Hosts<P> + Measured>(world: &World<P, H>, plan: &Plan) -> Table {
    let rows = || {
        world.hosts.directions().zip(&plan.flows).flat_map(|(probe, plan)| {
            probe.records.throughput.iter().flatten().map(move |(at, mbps)| (plan, *at, *mbps))
        })
    };
    Table::new("throughput")
        .text("flow", rows().map(|(plan, ..)| plan.flow.name.clone()))
        .number("time", "s", rows().map(|(_, at, _)| at.as_secs_f64()))
        .number("throughput", "Mbps", rows().map(|(.., mbps)| mbps))
}

fn queue<P: Observed, H: Hosts<P> + Measured>(world: &World<P, H>, plan: &Plan) -> Table {
    let mut rows: Vec<(String, Instant, u64)> = Vec::new();
    for (link, plan) in world.links().iter().zip(&plan.links) {
        rows.extend(link.queue_log().iter().map(|(at, length)| (plan.name.clone(), *at, *length)));
    }
    for (cell, plan) in world.cells().iter().zip(&plan.cells) {
        for queue in cell.queues() {
            let name = format!("{}_{}_{}", plan.name, plan.nodes[queue.node], queue.category.name());
            rows.extend(queue.log.iter().map(|(at, length)| (name.clone(), *at, *length)));
        }
    }
    let rows = || rows.iter();
    Table::new("queue")
        .text("link", rows().map(|(name, ..)| name.clone()))
        .number("time", "s", rows().map(|(_, at, _)| at.as_secs_f64()))
        .count("length", "packets", rows().map(|(.., length)| *length))
}

fn packets<P: Observed, H: Hosts<P> + Measured>(world: &World<P, H>, plan: &Plan) -> Table {
    let rows = || {
        world
            .hosts
            .directions()
            .zip(&plan.flows)
            .flat_map(|(probe, plan)| probe.records.packets.iter().flatten().map(move |packet| (plan, packet)))
    };
    Table::new("packets")
        .text("flow", rows().map(|(plan, _)| plan.flow.name.clone()))
        .number("time", "s", rows().map(|(_, packet)| packet.at.as_secs_f64()))
        .text("kind", rows().map(|(_, packet)| packet.kind.name().to_owned()))
        .number("number", "segments", rows().map(|(plan, packet)| packet.offset as f64 / plan.payload as f64))
}

fn events<P: Observed, H: Hosts<P> + Measured>(world: &World<P, H>, plan: &Plan) -> Table {
    let rows =
        || {
            world.hosts.directions().zip(&plan.flows).flat_map(|(probe, plan)| {
                probe.records.events.iter().flatten().map(move |(at, event)| (plan, *at, event))
            })
        };
    Table::new("events")
        .text("flow", rows().map(|(plan, ..)| plan.flow.name.clone()))
        .number("time", "s", rows().map(|(_, at, _)| Instant::as_secs_f64(at)))
        .text("event", rows().map(|(.., event)| event.name().to_owned()))
        .text("detail", rows().map(|(.., event)| event.to_string()))
}

fn decisions<P: Observed, H: Hosts<P> + Measured>(world: &World<P, H>, plan: &Plan) -> Table {
    let mut rows: Vec<(&str, Instant, &Decision, Option<String>)> = Vec::new();
    let directions = world.hosts.flows().iter().flat_map(Flow::directions_with_reasons);
    for ((probe, reasons), plan) in directions.zip(&plan.flows) {
        for (at, decision) in probe.records.decisions.iter().flatten() {
            let reason = match decision.when {
                AckTime::Hold => None,
                AckTime::Now | AckTime::In(_) => reasons.get(decision.reason).cloned(),
            };
            rows.push((&plan.flow.name, *at, decision, reason));
        }
    }
    let delay = |decision: &Decision| match decision.when {
        AckTime::In(delay) => Some(delay.as_millis_f64()),
        AckTime::Now | AckTime::Hold => None,
    };
    Table::new("decisions")
        .text("flow", rows.iter().map(|(flow, ..)| (*flow).to_owned()))
        .number("time", "s", rows.iter().map(|(_, at, ..)| at.as_secs_f64()))
        .text("acknowledge", rows.iter().map(|(_, _, decision, _)| decision.when.name().to_owned()))
        .number("delay", "ms", rows.iter().map(|(_, _, decision, _)| delay(decision)))
        .text("reason", rows.iter().map(|(.., reason)| reason.clone()))
        .count("unacknowledged", "packets", rows.iter().map(|(_, _, decision, _)| decision.unacknowledged))
}
