//! The tables of series over time.

use crate::flow::{Flow, Measured};
use crate::observed::Observed;
use crate::observers::World;
use crate::probe::{Decision, FlowProbe};
use crate::series::Series;
use crate::subjects::{FlowInfo, Subjects};
use crate::table::Table;
use acklab_base::Instant;
use acklab_base::event::AckTime;
use acklab_net::Hosts;

/// A measured direction of a flow.
pub(crate) struct Direction<'a> {
    pub(crate) info: &'a FlowInfo,
    pub(crate) probe: &'a FlowProbe,
    /// The names of the reasons for acknowledgments at its receiver, if decisions are recorded.
    pub(crate) reasons: Vec<String>,
}

/// Returns the tables of these series of a network.
pub(super) fn tables<P: Observed, H: Hosts<P> + Measured>(
    world: &World<P, H>,
    subjects: &Subjects,
    series: &[Series],
) -> Vec<Table> {
    let directions: Vec<Direction<'_>> = if series.contains(&Series::Decisions) {
        let directions = world.hosts.flows().iter().flat_map(Flow::directions_with_reasons).zip(&subjects.flows);
        directions.map(|((probe, reasons), info)| Direction { info, probe, reasons }).collect()
    } else {
        let directions = world.hosts.directions().zip(&subjects.flows);
        directions.map(|(probe, info)| Direction { info, probe, reasons: Vec::new() }).collect()
    };
    let table = |series: Series| match series {
        Series::Queue => Some(queue(world, subjects)),
        Series::Air => Some(super::cells::air(world, subjects)),
        of_flows => table_of(of_flows, &directions),
    };
    Series::ALL.into_iter().filter(|one| series.contains(one)).filter_map(table).collect()
}

/// Returns the table of a series of flows. Returns `None` if the series belongs to the network.
pub(crate) fn table_of(series: Series, directions: &[Direction<'_>]) -> Option<Table> {
    match series {
        Series::OperatingPoint => Some(operating_points(directions)),
        Series::Throughput => Some(throughput(directions)),
        Series::Packets => Some(packets(directions)),
        Series::Events => Some(events(directions)),
        Series::Decisions => Some(decisions(directions)),
        Series::Queue | Series::Air => None,
    }
}

fn operating_points(directions: &[Direction<'_>]) -> Table {
    let rows = || {
        directions.iter().flat_map(|Direction { info, probe, .. }| {
            probe.records.operating_points.iter().flatten().map(move |point| (info, point))
        })
    };
    Table::new("operating_point")
        .text("flow", rows().map(|(info, _)| info.name.clone()))
        .number("time", "s", rows().map(|(_, point)| point.at.as_secs_f64()))
        .number("cwnd", "segments", rows().map(|(_, point)| point.cwnd))
        .number("ssthresh", "segments", rows().map(|(_, point)| point.ssthresh))
        .number("in_flight", "segments", rows().map(|(_, point)| point.in_flight))
        .number("srtt", "ms", rows().map(|(_, point)| point.srtt_ms))
}

fn throughput(directions: &[Direction<'_>]) -> Table {
    let rows = || {
        directions.iter().flat_map(|Direction { info, probe, .. }| {
            probe.records.throughput.iter().flatten().map(move |(at, mbps)| (info, *at, *mbps))
        })
    };
    Table::new("throughput")
        .text("flow", rows().map(|(info, ..)| info.name.clone()))
        .number("time", "s", rows().map(|(_, at, _)| at.as_secs_f64()))
        .number("throughput", "Mbps", rows().map(|(.., mbps)| mbps))
}

fn queue<P: Observed, H: Hosts<P>>(world: &World<P, H>, subjects: &Subjects) -> Table {
    let mut rows: Vec<(String, Instant, u64)> = Vec::new();
    for (link, info) in world.links().iter().zip(&subjects.links) {
        rows.extend(link.queue_log().iter().map(|(at, length)| (info.name.clone(), *at, *length)));
    }
    for (cell, info) in world.cells().iter().zip(&subjects.cells) {
        for queue in cell.queues() {
            let name = format!("{}_{}_{}", info.name, info.nodes[queue.node], queue.category.name());
            rows.extend(queue.log.iter().map(|(at, length)| (name.clone(), *at, *length)));
        }
    }
    let rows = || rows.iter();
    Table::new("queue")
        .text("link", rows().map(|(name, ..)| name.clone()))
        .number("time", "s", rows().map(|(_, at, _)| at.as_secs_f64()))
        .count("length", "packets", rows().map(|(.., length)| *length))
}

fn packets(directions: &[Direction<'_>]) -> Table {
    let rows = || {
        directions.iter().flat_map(|Direction { info, probe, .. }| {
            probe.records.packets.iter().flatten().map(move |packet| (info, packet))
        })
    };
    Table::new("packets")
        .text("flow", rows().map(|(info, _)| info.name.clone()))
        .number("time", "s", rows().map(|(_, packet)| packet.at.as_secs_f64()))
        .text("kind", rows().map(|(_, packet)| packet.kind.name().to_owned()))
        .number("number", "segments", rows().map(|(info, packet)| packet.offset as f64 / info.payload as f64))
}

fn events(directions: &[Direction<'_>]) -> Table {
    let rows = || {
        directions.iter().flat_map(|Direction { info, probe, .. }| {
            probe.records.events.iter().flatten().map(move |(at, event)| (info, *at, event))
        })
    };
    Table::new("events")
        .text("flow", rows().map(|(info, ..)| info.name.clone()))
        .number("time", "s", rows().map(|(_, at, _)| Instant::as_secs_f64(at)))
        .text("event", rows().map(|(.., event)| event.name().to_owned()))
        .text("detail", rows().map(|(.., event)| event.to_string()))
}

fn decisions(directions: &[Direction<'_>]) -> Table {
    let mut rows: Vec<(&str, Instant, &Decision, Option<String>)> = Vec::new();
    for Direction { info, probe, reasons } in directions {
        for (at, decision) in probe.records.decisions.iter().flatten() {
            let reason = match decision.when {
                AckTime::Hold => None,
                AckTime::Now | AckTime::In(_) => reasons.get(decision.reason).cloned(),
            };
            rows.push((&info.name, *at, decision, reason));
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
