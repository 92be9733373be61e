//! Flows and their applications.

use super::links;
use super::network::Network;
use super::{name, not_too_long, some_of};
use crate::scenario::flow::back_name;
use crate::scenario::refuse::{Problem, suggestion};
use crate::scenario::{Flow, Scenario, Transport};
use acklab_app::{Reading, Traffic};
use acklab_base::{Bytes, Duration, Rate};
use acklab_transport::fault::Complaint;
use std::collections::BTreeMap;

/// So many flows at most.
const MOST_FLOWS: u64 = 10_000;
/// As large as a receive window can be (RFC 7323, §2.3), and more than an application writes at once.
const LARGEST_WRITE: Bytes = Bytes(1 << 30);
/// Larger transfers do not end within the ten years that a run may last.
const LARGEST_TRANSFER: Bytes = Bytes(1 << 60);

pub(super) fn validate(scenario: &Scenario, network: &Network<'_>) -> Result<(), Problem> {
    let mut total = 0_u64;
    for (index, flow) in scenario.flow.iter().enumerate() {
        let at = |key: &str| format!("flow.{index}.{key}");
        total += u64::from(flow.count) * scenario.ends(flow).len() as u64;
        if total > MOST_FLOWS {
            return Err(Problem::says(
                at("count"),
                format!("with this there are {total} flows; expected at most {MOST_FLOWS}"),
            ));
        }
        if !flow.name.is_empty() {
            name(&at("name"), &flow.name)?;
        }
        ends(&format!("flow.{index}"), flow, network)?;
        let copies = u64::from(flow.count) * scenario.ends(flow).len() as u64;
        times(&format!("flow.{index}"), flow, copies, scenario.duration)?;
        application(&at("traffic"), &flow.traffic)?;
        back(&at("back"), flow)?;
        reading(&at("reading"), flow)?;
        transport(&format!("flow.{index}"), flow)?;
    }
    names(scenario)
}

/// Names are compared as they are after unrolling: `a` twice over makes `a_1`, which another flow may be called.
fn names(scenario: &Scenario) -> Result<(), Problem> {
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    let mut before = 0;
    for (index, flow) in scenario.flow.iter().enumerate() {
        let copies = flow.count as usize * scenario.ends(flow).len();
        let ways_back = flow.back.iter().flat_map(|_| flow.copy_names(before, copies).map(|name| back_name(&name)));
        for copy in flow.copy_names(before, copies).chain(ways_back) {
            if let Some(owner) = owners.get(&copy) {
                let expected = format!("two flows would be called `{copy}`: flow.{owner} and flow.{index}");
                return Err(Problem::says(format!("flow.{index}.name"), expected));
            }
            owners.insert(copy, index);
        }
        before += copies;
    }
    Ok(())
}

fn ends(path: &str, flow: &Flow, network: &Network<'_>) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    let (from, to) = (network.node(&flow.from), network.node(&flow.to));
    for (key, name, node) in [("from", &flow.from, from), ("to", &flow.to, to)] {
        if !network.has(node) {
            let nodes = network.nodes();
            let expected = format!(
                "a node that a link or a cell names: {}{}",
                some_of(&nodes),
                suggestion(name, nodes.iter().copied())
            );
            return Err(Problem::at(at(key), expected));
        }
    }
    if flow.from == flow.to {
        return Err(Problem::at(at("to"), "another node than `from`"));
    }
    if from != flow.from && to != flow.to {
        let message = "expected a single node at one end; both ends stand for several stations";
        return Err(Problem::says(at("to"), message));
    }
    if !network.connects(from, to) {
        let expected = format!("a node that is connected with {}: {}", flow.from, some_of(&network.reachable(from)));
        return Err(Problem::at(at("to"), expected));
    }
    if network.is_timeless(from, to) {
        let message = format!(
            "between {} and {} nothing takes any time, so the run would never end; expected a rate or a delay on a link between them",
            flow.from, flow.to
        );
        return Err(Problem::says(path, message));
    }
    Ok(())
}

fn times(path: &str, flow: &Flow, copies: u64, end: Duration) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    if flow.start >= end {
        return Err(Problem::at(at("start"), format!("a time before the run's end at {end}")));
    }
    not_too_long(&at("spacing"), flow.spacing)?;
    let last_start = flow.start + flow.spacing.saturating_mul(copies.saturating_sub(1));
    if last_start >= end {
        let message = format!("the last of {copies} flows would start at {last_start}, after the run's end at {end}");
        return Err(Problem::says(at("spacing"), message));
    }
    match flow.stop {
        Some(stop) if stop <= flow.start => {
            Err(Problem::at(at("stop"), format!("a time after `start`, which is {}", flow.start)))
        }
        Some(stop) if stop <= last_start => {
            Err(Problem::at(at("stop"), format!("a time after the start of the last flow at {last_start}")))
        }
        Some(stop) => not_too_long(&at("stop"), stop),
        None => Ok(()),
    }
}

/// Each transport knows what makes no sense among its settings.
fn transport(path: &str, flow: &Flow) -> Result<(), Problem> {
    match &flow.transport {
        Transport::Tcp(settings) => settings.check().map_err(|fault| fault.within("transport")),
        Transport::Udp(settings) => settings.check(flow.traffic.write()),
        Transport::Tack(settings) => settings.check().map_err(|fault| fault.within("transport")),
        Transport::Custom(_) => Ok(()),
    }
    .map_err(|fault| {
        let at = format!("{path}.{}", fault.path);
        match fault.complaint {
            Complaint::Expected(expected) => Problem::at(at, expected),
            Complaint::Misplaced(reason) => Problem::says(at, reason),
        }
    })?;
    flow.custom_names().try_for_each(|(key, custom)| name(&format!("{path}.{}", key.path()), &custom))
}

fn application(path: &str, traffic: &Traffic) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    match *traffic {
        Traffic::Greedy {} => Ok(()),
        Traffic::Constant { rate, write } | Traffic::Poisson { rate, write } => {
            links::rate(&at("rate"), rate)?;
            writes(&at("write"), rate, write)
        }
        Traffic::Fixed { size } if size == Bytes::ZERO => Err(Problem::at(at("size"), "a size above zero")),
        Traffic::Fixed { size } if size > LARGEST_TRANSFER => {
            Err(Problem::at(at("size"), format!("at most {}GiB", LARGEST_TRANSFER.get() >> 30)))
        }
        Traffic::Fixed { .. } => Ok(()),
    }
}

fn back(path: &str, flow: &Flow) -> Result<(), Problem> {
    let Some(traffic) = &flow.back else { return Ok(()) };
    if !matches!(flow.transport, Transport::Tcp(_) | Transport::Tack(_)) {
        let name = flow.transport.name();
        let reason = format!(
            "only over TCP and TACK can both ends write; {name} carries data one way: expected another flow for the way back"
        );
        return Err(Problem::says(path, reason));
    }
    application(path, traffic)
}

fn reading(path: &str, flow: &Flow) -> Result<(), Problem> {
    let Reading::Constant { rate, read } = flow.reading else { return Ok(()) };
    if matches!(flow.transport, Transport::Udp(_)) {
        let reason =
            "datagrams are read as they arrive; expected `reading` of a flow over a transport that keeps order";
        return Err(Problem::says(path, reason));
    }
    links::rate(&format!("{path}.rate"), rate)?;
    writes(&format!("{path}.read"), rate, read)
}

/// Time between writes, or reads, is counted in whole nanoseconds.
fn writes(path: &str, rate: Rate, write: Bytes) -> Result<(), Problem> {
    if write == Bytes::ZERO {
        return Err(Problem::at(path, "a size above zero"));
    }
    if write > LARGEST_WRITE {
        return Err(Problem::at(path, "at most 1GiB"));
    }
    if write.get() * 8 * 1_000_000_000 < rate.bits_per_second() {
        return Err(Problem::at(path, format!("a size so large that {rate} takes at most one in a nanosecond")));
    }
    Ok(())
}
