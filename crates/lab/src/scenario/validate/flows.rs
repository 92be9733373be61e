//! Flows and their applications.

use super::links;
use super::network::Network;
use super::{above_zero, name, not_too_long, some_of};
use crate::scenario::flow::OF_ANY_TRANSPORT;
use crate::scenario::refuse::{Problem, suggestion};
use crate::scenario::{Flow, Scenario, Transport};
use acklab_base::{Bytes, Duration, Rate};
use acklab_transport::tcp::config::RttClock;
use acklab_transport::tcp::ecn;
use acklab_transport::{ack, source};
use acklab_wire::udp;
use std::collections::BTreeMap;

/// So many flows at most.
const MOST_FLOWS: u64 = 10_000;
/// What an IP packet of 65,535 octets can carry beside headers of 40 octets and timestamps of 12.
const LARGEST_MSS: Bytes = Bytes(65_483);
/// RFC 7323, §2.3: a window of 2¹⁶ shifted by 14.
const LARGEST_WINDOW: Bytes = Bytes(1 << 30);
/// More than any machine holds.
const LARGEST_BUFFER: Bytes = Bytes(1 << 40);
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
        match flow.transport {
            Transport::Tcp => connection(&format!("flow.{index}"), flow)?,
            Transport::Udp => datagrams(&format!("flow.{index}"), flow)?,
        }
    }
    names(scenario)
}

/// Names are compared as they are after unrolling: `a` twice over makes `a_1`, which another flow may be called.
fn names(scenario: &Scenario) -> Result<(), Problem> {
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    let mut before = 0;
    for (index, flow) in scenario.flow.iter().enumerate() {
        let copies = flow.count as usize * scenario.ends(flow).len();
        for copy in flow.copy_names(before, copies) {
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

fn connection(path: &str, flow: &Flow) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    let Some(tcp) = flow.tcp() else {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        return Err(Problem::key(&path, "the key `preset` is missing; expected preset = \"linux\", for example"));
    };
    if tcp.mss == Bytes::ZERO || tcp.mss > LARGEST_MSS {
        return Err(Problem::at(at("mss"), format!("a size from 1B to {LARGEST_MSS}")));
    }
    if tcp.initial_window.0 == 0 {
        return Err(Problem::at(at("initial_window"), "at least one segment"));
    }
    for (key, buffer, largest) in
        [("send_buffer", tcp.send_buffer, LARGEST_BUFFER), ("receive_buffer", tcp.receive_buffer, LARGEST_WINDOW)]
    {
        if buffer < tcp.mss {
            return Err(Problem::at(at(key), format!("at least one segment of {}", tcp.mss)));
        }
        if buffer > largest {
            return Err(Problem::at(at(key), format!("at most {}GiB", largest.get() >> 30)));
        }
    }
    for (key, timeout) in [
        ("initial_rto", tcp.rto.initial),
        ("min_rto", tcp.rto.min),
        ("max_rto", tcp.rto.max),
        ("rto_granularity", tcp.rto.granularity),
    ] {
        above_zero(&at(key), timeout)?;
    }
    if tcp.rto.min > tcp.rto.max {
        let (key, expected) = match flow.min_rto {
            Some(_) => ("min_rto", format!("at most the largest timeout, which is {}", tcp.rto.max)),
            None => ("max_rto", format!("at least the smallest timeout, which is {}", tcp.rto.min)),
        };
        return Err(Problem::at(at(key), expected));
    }
    if tcp.timestamps.is_none() {
        if flow.timestamp_tick.is_some() {
            return Err(Problem::says(
                at("timestamp_tick"),
                "there is no tick without timestamps, and they are switched off",
            ));
        }
        if tcp.rtt_clock == RttClock::Timestamps {
            return Err(Problem::at(at("rtt_clock"), "\"send-times\", for timestamps are switched off"));
        }
    }
    if tcp.congestion.counts_marks() && !tcp.ecn.counts() {
        let message = format!(
            "\"{}\" needs to know how much was marked: expected \"dctcp\" or \"accurate\", found \"{}\"",
            tcp.congestion.name(),
            tcp.ecn.name()
        );
        return Err(Problem::says(at("ecn"), message));
    }
    if flow.ecn_option == Some(true) && tcp.ecn != ecn::Config::Accurate {
        let message = format!("only `ecn = \"accurate\"` has an option, and `ecn` is \"{}\"", tcp.ecn.name());
        return Err(Problem::says(at("ecn_option"), message));
    }
    if let Some(tick) = tcp.timestamps {
        above_zero(&at("timestamp_tick"), tick)?;
    }
    if tcp.dsack && !tcp.sack {
        return Err(Problem::says(at("dsack"), "what comes twice is reported by SACK, and SACK is switched off"));
    }
    for (key, custom) in flow.custom_names() {
        name(&at(key), &custom)?;
    }
    acknowledgement(&at("ack"), &tcp.ack)
}

/// UDP has no settings, and nothing that would hold an application back.
fn datagrams(path: &str, flow: &Flow) -> Result<(), Problem> {
    if let Some(key) = flow.tcp_key() {
        let path: Vec<String> = path.split('.').chain([key.as_str()]).map(str::to_owned).collect();
        let keys = OF_ANY_TRANSPORT.join(", ");
        let message = format!("only TCP has such a setting, and this flow is over UDP; expected keys among {keys}");
        return Err(Problem::key(&path, message));
    }
    let Some(write) = flow.traffic.write() else {
        let expected = "an application with a rate of its own, for UDP gives it none, such as \
                        { model = \"constant\", rate = \"200Mbps\", write = \"1472B\" }";
        return Err(Problem::at(format!("{path}.traffic"), expected));
    };
    if !(udp::TEST_HEADER..=udp::LARGEST_PAYLOAD).contains(&write.get()) {
        let expected = format!("a write that fits a datagram: {}B to {}B", udp::TEST_HEADER, udp::LARGEST_PAYLOAD);
        return Err(Problem::at(format!("{path}.traffic.write"), expected));
    }
    Ok(())
}

/// Timers run for some time, and counts are of something. The least of each count stands in the schema.
fn acknowledgement(path: &str, ack: &ack::Config) -> Result<(), Problem> {
    for timer in ack.timers() {
        let at = format!("{path}.{}", timer.key);
        above_zero(&at, timer.value)?;
        if let Some(most) = timer.most.filter(|most| timer.value > *most) {
            return Err(Problem::at(at, format!("at most {most}")));
        }
    }
    Ok(())
}

fn application(path: &str, traffic: &source::Config) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    match *traffic {
        source::Config::Greedy {} => Ok(()),
        source::Config::Constant { rate, write } | source::Config::Poisson { rate, write } => {
            links::rate(&at("rate"), rate)?;
            writes(&at("write"), rate, write)
        }
        source::Config::Fixed { size } if size == Bytes::ZERO => Err(Problem::at(at("size"), "a size above zero")),
        source::Config::Fixed { size } if size > LARGEST_TRANSFER => {
            Err(Problem::at(at("size"), format!("at most {}GiB", LARGEST_TRANSFER.get() >> 30)))
        }
        source::Config::Fixed { .. } => Ok(()),
    }
}

/// Time between writes is counted in whole nanoseconds.
fn writes(path: &str, rate: Rate, write: Bytes) -> Result<(), Problem> {
    if write == Bytes::ZERO {
        return Err(Problem::at(path, "a size above zero"));
    }
    if write > LARGEST_WINDOW {
        return Err(Problem::at(path, "at most 1GiB"));
    }
    if write.get() * 8 * 1_000_000_000 < rate.bits_per_second() {
        return Err(Problem::at(path, format!("writes so large that {rate} takes at most one in a nanosecond")));
    }
    Ok(())
}
