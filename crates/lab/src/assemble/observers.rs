//! The observers of a run: captures of packets and of the air, and the probes of flows.

use super::{FlowPlan, PathFacts, direction_name};
use crate::RunOptions;
use crate::error::Error;
use crate::packet::Route;
use crate::scenario::Scenario;
use acklab_base::{Duration, PortId};
use acklab_measure::air::AirMonitor;
use acklab_measure::capture::{AirCapture, Capture};
use acklab_measure::observers::{CapturePoint, Observers};
use acklab_measure::qlog::{self, Log, TraceInfo, VantagePoint};
use acklab_measure::{FlowInfo, FlowProbe, Observed, Records, Series};
use acklab_wire::ipv4::Extent;
use acklab_wire::{Endpoints, address_of_node};
use std::net::IpAddr;

/// The bin of throughput if the path has no propagation delay from which to derive the bin.
const DEFAULT_BIN: Duration = Duration::from_millis(100);

/// Returns the probe of one direction of a flow.
pub(crate) fn probe(scenario: &Scenario, plan: &FlowPlan) -> FlowProbe {
    new_probe(&plan.info, plan.segment_time, scenario.measure.bin, Records::of(&scenario.measure.series))
}

/// Returns the probe of one direction of a connection of programs.
pub(crate) fn probe_of_program(scenario: &Scenario, path: &PathFacts) -> FlowProbe {
    new_probe(&path.info, path.segment_time, scenario.measure.bin, Records::of(&scenario.measure.series))
}

/// Returns the probe of an end at a proxy. It records no time series.
pub(super) fn probe_at_proxy(plan: &FlowPlan) -> FlowProbe {
    new_probe(&plan.info, plan.segment_time, None, Records::default())
}

fn new_probe(info: &FlowInfo, segment_time: f64, bin: Option<Duration>, records: Records) -> FlowProbe {
    let base_rtt = info.base_rtt.unwrap_or_default();
    let default_bin = if base_rtt.is_zero() { DEFAULT_BIN } else { base_rtt * 2 };
    let burst_gap = Duration::from_secs_f64(segment_time / 2.0);
    FlowProbe::new(info.payload, bin.unwrap_or(default_bin), burst_gap, records)
}

/// Returns the log of one end of a flow: the end at `from` (0) or at `to` (1). Packets of both ends
/// take `routes`.
pub(super) fn log(
    scenario: &Scenario,
    options: &qlog::Options,
    plan: &FlowPlan,
    end: usize,
    routes: [Route; 2],
) -> Log {
    let (flow, labels) = (&plan.flow, &plan.info.labels);
    let parts = [
        ("preset", &labels.preset),
        ("congestion control", &labels.controller),
        ("recovery", &labels.recovery),
        ("ACK policy", &labels.ack_policy),
    ];
    let parts = parts.into_iter().filter_map(|(what, name)| Some(format!(", {what} {}", name.as_ref()?)));
    let description = format!("flow {}: {}{}", flow.name, labels.protocol, parts.collect::<String>());
    let (node, route) = ([&flow.from, &flow.to][end], routes[end]);
    let Endpoints { source, destination } = route.endpoints;
    // In a page load, the end at `to` opens the connection.
    let opens = (end == 0) != flow.page.is_some();
    let info = TraceInfo {
        title: if scenario.title.is_empty() { &flow.name } else { &scenario.title },
        description: &description,
        protocol: &labels.protocol,
        node,
        vantage_point: if opens { VantagePoint::Client } else { VantagePoint::Server },
        directions: 1 + usize::from(flow.is_both_ways()),
    };
    Log::new(options, &flow.name, &info, [source.into(), destination.into()])
}

/// Returns the observers of the network.
pub(super) fn observers<P: Observed>(
    scenario: &Scenario,
    options: &RunOptions,
    ports_of: impl Fn(&str) -> Vec<PortId>,
) -> Result<Observers<P>, Error> {
    let mut observers = Observers::new(air_monitors(scenario, options)?);
    let Some(folder) = &options.captures else { return Ok(observers) };
    let names = hosts(scenario);
    let of_packets = scenario.capture.iter().filter(|capture| cell_at(scenario, &capture.point).is_none());
    for capture in of_packets {
        let path = folder.join(&capture.file);
        let title = (!scenario.title.is_empty()).then_some(scenario.title.as_str());
        let mut file =
            Capture::create_for(P::link_type(scenario.ip_version()), &path, &capture.point, title, Extent::Headers)?;
        file.name_hosts(&names)?;
        observers.add(file, capture_points(scenario, &capture.point, &ports_of));
    }
    Ok(observers)
}

/// Returns the addresses of all nodes, with their names.
fn hosts(scenario: &Scenario) -> Vec<(IpAddr, String)> {
    let address = |node| scenario.ip_version().address(address_of_node(node));
    (0..).map(address).zip(scenario.node_names()).collect()
}

/// Returns the index of the cell with the name `point`.
fn cell_at(scenario: &Scenario, point: &str) -> Option<usize> {
    scenario.wifi.iter().position(|cell| cell.name == point)
}

/// Returns the monitors of the cells' air.
fn air_monitors<P: Observed>(scenario: &Scenario, options: &RunOptions) -> Result<Vec<AirMonitor<P>>, Error> {
    let mut monitors: Vec<AirMonitor<P>> = scenario.wifi.iter().map(|_| AirMonitor::default()).collect();
    if scenario.measure.series.contains(&Series::Air) {
        monitors.iter_mut().for_each(AirMonitor::keep_rows);
    }
    let Some(folder) = &options.captures else { return Ok(monitors) };
    for capture in &scenario.capture {
        if let Some(index) = cell_at(scenario, &capture.point) {
            let (cell, path) = (&scenario.wifi[index], folder.join(&capture.file));
            let title = (!scenario.title.is_empty()).then_some(scenario.title.as_str());
            let access_point = acklab_wifi::cell::ACCESS_POINT as u32;
            let mut file = AirCapture::create(&path, &cell.name, access_point, cell.band(), title, Extent::Headers)?;
            file.name_hosts(&hosts(scenario))?;
            monitors[index].add(file);
        }
    }
    Ok(monitors)
}

/// Returns the points of the network that `point` names. It is the name of a direction, that name
/// with `.out`, or the name of a node. `ports_of` returns the ports of a node.
fn capture_points(scenario: &Scenario, point: &str, ports_of: impl Fn(&str) -> Vec<PortId>) -> Vec<CapturePoint> {
    for direction in 0..2 * scenario.link.len() {
        let name = direction_name(scenario, direction);
        if point == name {
            return vec![CapturePoint::LinkEntry(direction)];
        }
        if point.strip_suffix(".out") == Some(&name) {
            return vec![CapturePoint::LinkExit(direction)];
        }
    }
    ports_of(point).into_iter().map(CapturePoint::Port).collect()
}
