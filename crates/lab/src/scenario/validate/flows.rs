//! Checks flows and their applications.

use super::links;
use super::network::Network;
use super::{above_zero, name, not_too_long, some_of};
use crate::scenario::flow::Arrivals;
use crate::scenario::refuse::{Problem, suggestion};
use crate::scenario::{Flow, Scenario, Stack, Transport};
use acklab_app::{Page, Reading, Traffic, Video};
use acklab_base::{Bytes, Duration, Rate};
use acklab_measure::subjects::back_name;
use acklab_transport::fault::{Complaint, Fault};
use acklab_wire::IpVersion;
use std::collections::BTreeMap;

/// The maximum number of flows.
const MAX_FLOWS: u64 = 10_000;
/// The maximum size of a write: the maximum receive window (RFC 7323, §2.3).
const LARGEST_WRITE: Bytes = Bytes(1 << 30);
/// The maximum size of a transfer. A larger transfer would not end within ten years, the maximum
/// duration of a run.
const LARGEST_TRANSFER: Bytes = Bytes(1 << 60);
/// The maximum number of objects of a page, including the document.
const MAX_OBJECTS: usize = 10_000;

pub(super) fn validate(scenario: &Scenario, network: &Network<'_>) -> Result<(), Problem> {
    let mut total = 0_u64;
    for (index, flow) in scenario.flow.iter().enumerate() {
        let at = |key: &str| format!("flow.{index}.{key}");
        total += u64::from(flow.count) * scenario.ends(flow).len() as u64;
        if total > MAX_FLOWS {
            return Err(Problem::invalid(
                at("count"),
                format!("the scenario has {total} flows up to this one; expected at most {MAX_FLOWS}"),
            ));
        }
        if !flow.name.is_empty() {
            name(&at("name"), &flow.name)?;
        }
        ends(&format!("flow.{index}"), flow, network)?;
        let copies = u64::from(flow.count) * scenario.ends(flow).len() as u64;
        times(&format!("flow.{index}"), flow, copies, scenario.duration)?;
        application(&at("traffic"), &flow.traffic)?;
        deadline(&at("traffic"), flow)?;
        back(&at("back"), flow)?;
        page(&at("page"), flow)?;
        reading(&at("reading"), flow)?;
        transport(&format!("flow.{index}"), flow, scenario.ip_version())?;
        stack(&at("stack"), flow)?;
    }
    names(scenario)
}

/// Checks that the names of flows are unique after expansion. For example, a flow `a` with two
/// copies has a copy `a_1`, and another flow may have the name `a_1`.
fn names(scenario: &Scenario) -> Result<(), Problem> {
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    let mut before = 0;
    for (index, flow) in scenario.flow.iter().enumerate() {
        let copies = flow.count as usize * scenario.ends(flow).len();
        let directions = usize::from(flow.is_both_ways());
        let reverse = (0..directions).flat_map(|_| flow.copy_names(before, copies).map(|name| back_name(&name)));
        for copy in flow.copy_names(before, copies).chain(reverse) {
            if let Some(owner) = owners.get(&copy) {
                let expected = format!("two flows would be called `{copy}`: flow.{owner} and flow.{index}");
                return Err(Problem::invalid(format!("flow.{index}.name"), expected));
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
        return Err(Problem::at(at("to"), "a node other than `from`"));
    }
    if from != flow.from && to != flow.to {
        let message = "expected a single node at one end; both ends name several stations";
        return Err(Problem::invalid(at("to"), message));
    }
    if !network.connects(from, to) {
        let expected = format!("a node that is connected with {}: {}", flow.from, some_of(&network.reachable(from)));
        return Err(Problem::at(at("to"), expected));
    }
    if network.is_timeless(from, to) {
        let message = format!(
            "packets between {} and {} take no time, so the run would never end; expected a rate or a delay on a link between them",
            flow.from, flow.to
        );
        return Err(Problem::invalid(path, message));
    }
    Ok(())
}

fn times(path: &str, flow: &Flow, copies: u64, end: Duration) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    if flow.start >= end {
        return Err(Problem::at(at("start"), format!("a time before the run's end at {end}")));
    }
    not_too_long(&at("spacing"), flow.spacing)?;
    if flow.arrivals == Arrivals::Poisson && flow.spacing.is_zero() {
        return Err(Problem::at(at("spacing"), "a time above zero, the mean time between two arrivals"));
    }
    let last_start = flow.start + flow.spacing.saturating_mul(copies.saturating_sub(1));
    if last_start >= end && flow.arrivals == Arrivals::Even {
        let message = format!("the last of {copies} flows would start at {last_start}, after the run's end at {end}");
        return Err(Problem::invalid(at("spacing"), message));
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

/// Checks the settings of the transport by the transport's rules.
fn transport(path: &str, flow: &Flow, version: IpVersion) -> Result<(), Problem> {
    flow.transport.check_for(flow, version).map_err(|fault| refused(path, fault))?;
    let names = flow.transport.custom_names();
    names.iter().try_for_each(|(key, custom)| name(&format!("{path}.{}", key.path()), custom))
}

/// Checks that the required stack of a flow supports the flow's transport.
fn stack(path: &str, flow: &Flow) -> Result<(), Problem> {
    let abilities = flow.transport.abilities();
    let (is_able, whose, known) = match flow.stack {
        None => return Ok(()),
        Some(Stack::Kernel) => {
            (abilities.is_in_kernel, "the kernel has no", Transport::names_with(|able| able.is_in_kernel))
        }
        Some(Stack::Own) => (
            abilities.has_octets,
            "the own stack of an emulation has no",
            Transport::names_with(|able| able.has_octets),
        ),
    };
    if is_able {
        return Ok(());
    }
    let (known, name) = (known.join(" or "), flow.transport.name());
    let reason = format!("{whose} {name}; expected a flow over {known}");
    Err(Problem::invalid(path, reason))
}

/// Returns the refusal for a fault that a transport found in settings below `path`.
pub(super) fn refused(path: &str, fault: Fault) -> Problem {
    let at = format!("{path}.{}", fault.path);
    match fault.complaint {
        Complaint::Expected(expected) => Problem::at(at, expected),
        Complaint::Misplaced(reason) => Problem::invalid(at, reason),
    }
}

fn application(path: &str, traffic: &Traffic) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    match *traffic {
        Traffic::Greedy {} => Ok(()),
        Traffic::Constant { rate, write } | Traffic::Poisson { rate, write } => {
            links::rate(&at("rate"), rate)?;
            writes(&at("write"), rate, write)
        }
        Traffic::Fixed { size } => self::size(&at("size"), size),
        Traffic::Drawn { .. } => Ok(()),
        Traffic::Video(video) => self::video(path, &video),
    }
}

/// Checks the settings of a video that the schema cannot express.
fn video(path: &str, video: &Video) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    links::rate(&at("rate"), video.rate)?;
    if video.largest_frame() > LARGEST_WRITE.get() as f64 {
        return Err(Problem::at(at("rate"), "a rate at which no frame is larger than 1GiB"));
    }
    video.deadline.map_or(Ok(()), |deadline| above_zero(&at("deadline"), deadline))
}

/// Checks that frames with a deadline are sent over TACK and fit its buffers.
fn deadline(path: &str, flow: &Flow) -> Result<(), Problem> {
    let path = format!("{path}.deadline");
    let Some(video) = flow.traffic.video().filter(|video| video.deadline.is_some()) else { return Ok(()) };
    let Some(room) = flow.transport.largest_message() else {
        let reason = format!(
            "{} has no messages that may be given up; expected a deadline only in a flow over {}",
            flow.transport.name(),
            Transport::names_with(|abilities| abilities.has_messages).join(" or ")
        );
        return Err(Problem::invalid(path, reason));
    };
    if !matches!(flow.reading, Reading::Playback { .. }) {
        let reason = "frames with a deadline are messages, which only a player reads; expected `reading` of the model \"playback\"";
        return Err(Problem::invalid(path, reason));
    }
    if video.largest_frame() > room.get() as f64 {
        let reason =
            format!("a frame of this video may be larger than {room}; expected larger buffers of the transport");
        return Err(Problem::invalid(path, reason));
    }
    Ok(())
}

fn back(path: &str, flow: &Flow) -> Result<(), Problem> {
    let Some(traffic) = &flow.back else { return Ok(()) };
    if !flow.transport.abilities().is_duplex {
        let (name, duplex) = (flow.transport.name(), duplex().join(", "));
        let reason = format!(
            "a flow over {name} carries data in one direction only; expected {duplex}, or a second flow for the reverse direction"
        );
        return Err(Problem::invalid(path, reason));
    }
    if traffic.video().is_some() {
        let reason =
            "no application plays a video of this direction; expected another model, or a second flow with the video";
        return Err(Problem::invalid(path, reason));
    }
    application(path, traffic)
}

/// Returns the names of the transports whose both ends can write.
fn duplex() -> Vec<&'static str> {
    Transport::names_with(|abilities| abilities.is_duplex)
}

/// Checks a page: its transport must support both directions, the flow must have no other data, and
/// the sizes must be valid.
fn page(path: &str, flow: &Flow) -> Result<(), Problem> {
    let Some(page) = &flow.page else { return Ok(()) };
    let at = |key: &str| format!("{path}.{key}");
    if !flow.transport.abilities().is_duplex {
        let (name, duplex) = (flow.transport.name(), duplex().join(", "));
        let reason = format!("a flow over {name} carries no requests; expected a page in a flow over one of {duplex}");
        return Err(Problem::invalid(path, reason));
    }
    let others = [
        ("traffic", flow.traffic != Traffic::Greedy {}),
        ("back", flow.back.is_some()),
        ("reading", !flow.reading.is_at_once()),
        ("stop", flow.stop.is_some()),
    ];
    if let Some((other, _)) = others.iter().find(|(_, is_given)| *is_given) {
        let reason = format!("a page defines what both applications do; expected no `{other}` in this flow");
        return Err(Problem::invalid(path, reason));
    }
    let Page { document, objects, request, think, .. } = page;
    match page.sizes {
        None => size(&at("document"), *document)?,
        Some(_) if *document > Bytes::ZERO => {
            let message = "expected only one of `document` and `sizes`; `document` is given too";
            return Err(Problem::invalid(at("sizes"), message));
        }
        Some(_) => {}
    }
    size(&at("request"), *request)?;
    if objects.len() >= MAX_OBJECTS {
        return Err(Problem::at(at("objects"), format!("fewer than {MAX_OBJECTS} objects")));
    }
    for (index, object) in objects.iter().enumerate() {
        size(&at(&format!("objects.{index}")), *object)?;
    }
    not_too_long(&at("think"), *think)
}

/// Checks the size of a transfer.
fn size(path: &str, size: Bytes) -> Result<(), Problem> {
    match size {
        Bytes::ZERO => Err(Problem::at(path, "a size above zero")),
        size if size > LARGEST_TRANSFER => {
            Err(Problem::at(path, format!("at most {}GiB", LARGEST_TRANSFER.get() >> 30)))
        }
        _ => Ok(()),
    }
}

fn reading(path: &str, flow: &Flow) -> Result<(), Problem> {
    let (rate, read) = match flow.reading {
        Reading::AtOnce {} => return Ok(()),
        Reading::Playback { buffer, .. } => return playback(path, flow, buffer),
        Reading::Constant { rate, read } => (rate, read),
    };
    if !flow.transport.abilities().keeps_order {
        let reason =
            "datagrams are read on arrival; expected `reading` only in a flow over a transport that keeps order";
        return Err(Problem::invalid(path, reason));
    }
    links::rate(&format!("{path}.rate"), rate)?;
    writes(&format!("{path}.read"), rate, read)
}

/// Checks that there is a video to play. Its transport must have a receiver that reports the
/// arrived data.
fn playback(path: &str, flow: &Flow, buffer: Duration) -> Result<(), Problem> {
    if flow.traffic.video().is_none() {
        let reason = "only a video can be played; expected `traffic` of the model \"video\"";
        return Err(Problem::invalid(path, reason));
    }
    not_too_long(&format!("{path}.buffer"), buffer)
}

/// Checks the size of writes or reads at `rate`. The time between two of them must be at least a
/// nanosecond.
fn writes(path: &str, rate: Rate, write: Bytes) -> Result<(), Problem> {
    if write == Bytes::ZERO {
        return Err(Problem::at(path, "a size above zero"));
    }
    if write > LARGEST_WRITE {
        return Err(Problem::at(path, "at most 1GiB"));
    }
    if write.get() * 8 * 1_000_000_000 < rate.bits_per_second() {
        return Err(Problem::at(path, format!("a larger size, which takes at least a nanosecond at {rate}")));
    }
    Ok(())
}
