//! Checks links and their parts.

use super::{above_zero, name, not_too_long};
use crate::scenario::Link;
use crate::scenario::refuse::Problem;
use acklab_base::units::Limit;
use acklab_base::{Bytes, Duration, Rate};
use acklab_path::server::ScheduleError;
use acklab_path::{demand, jitter, link, queue, server, spacer, thinner};
use std::collections::BTreeSet;

/// The maximum rate of a link: 10 Tbps.
pub(super) const FASTEST: Rate = Rate::from_mbps(10_000_000);
/// The maximum link-layer overhead. It is larger than the overhead of any link layer.
const MAX_OVERHEAD: Bytes = Bytes(65_535);
/// The minimum MTU: the size that every internet module must forward without further fragmentation
/// (RFC 791, §3.2).
const MIN_MTU: Bytes = Bytes(68);
/// The minimum and maximum duration of a superframe, and the maximum time to an assignment.
/// Requests are stored for that time, one per superframe.
const SUPERFRAMES: [Duration; 2] = [Duration::from_millis(1), Duration::from_secs(10)];
const SLOWEST_ASSIGNMENT: Duration = Duration::from_secs(10);
/// The maximum number of superframes for which a requested rate is valid. In EN 301 790, the
/// maximum timeout is 15.
const LONGEST_PERSISTENCE: u32 = 255;
/// The maximum volume that may be pending. It is larger than any queue.
const LARGEST_VOLUME: Bytes = Bytes(1 << 40);

pub(super) fn validate(links: &[Link]) -> Result<(), Problem> {
    let mut names = BTreeSet::new();
    for (index, link) in links.iter().enumerate() {
        let at = |key: &str| format!("link.{index}.{key}");
        name(&at("name"), &link.name)?;
        name(&at("from"), &link.from)?;
        name(&at("to"), &link.to)?;
        if !names.insert(link.name.as_str()) {
            return Err(Problem::at(at("name"), "a unique name; another link has this one"));
        }
        if link.from == link.to {
            return Err(Problem::at(at("to"), "a node other than `from`"));
        }
        direction(&at("forward"), &link.forward)?;
        direction(&at("reverse"), &link.reverse)?;
    }
    // A node must not have the name of a link direction, because the name of a capture point would
    // then be ambiguous.
    for (index, link) in links.iter().enumerate() {
        for (key, node) in [("from", &link.from), ("to", &link.to)] {
            let direction = node.strip_suffix("_forward").or_else(|| node.strip_suffix("_reverse"));
            if let Some(other) = direction.filter(|name| names.contains(name)) {
                let expected = format!("another name; a direction of the link `{other}` has this one");
                return Err(Problem::at(format!("link.{index}.{key}"), expected));
            }
        }
    }
    Ok(())
}

fn direction(path: &str, config: &link::LinkConfig) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    let speeds =
        [("rate", config.rate.is_some()), ("steps", config.steps.is_some()), ("trace", config.trace.is_some())];
    let mut given = speeds.iter().filter(|(_, is_given)| *is_given).map(|(key, _)| *key);
    if let (Some(first), Some(second)) = (given.next(), given.next()) {
        let message = format!("expected only one of `rate`, `steps` and `trace`; `{first}` is given too");
        return Err(Problem::invalid(at(second), message));
    }
    if let Some(speed) = config.rate {
        rate(&at("rate"), speed)?;
    }
    if let Some(steps) = &config.steps {
        schedule(&at("steps"), steps)?;
    }
    if config.trace.as_ref().is_some_and(|trace| trace.file.trim().is_empty() || trace.file.contains('\0')) {
        return Err(Problem::at(at("trace.file"), "the name of a file, relative to the scenario"));
    }
    mtu(path, config)?;
    not_too_long(&at("delay"), config.delay)?;
    if config.overhead > MAX_OVERHEAD {
        return Err(Problem::at(at("overhead"), format!("at most {MAX_OVERHEAD}")));
    }
    limit(&at("queue"), &config.queue)?;
    thinner(&at("thinner"), config.thinner.as_ref())?;
    if let Some(spacer) = &config.spacer {
        spacer.check().map_err(|(key, expected)| Problem::at(format!("{path}.spacer.{key}"), expected))?;
        if let spacer::SpacerConfig::Rate { rate: speed } = spacer {
            rate(&at("spacer.rate"), *speed)?;
        }
    }
    if let Some(gate) = config.gate {
        above_zero(&at("gate.interval"), gate.interval)?;
    }
    if let Some(demand) = &config.demand {
        on_demand(path, config, demand)?;
    }
    if let Some(jitter) = config.jitter {
        match jitter {
            jitter::JitterConfig::Uniform { spread } => above_zero(&at("jitter.spread"), spread)?,
            jitter::JitterConfig::Exponential { mean } => above_zero(&at("jitter.mean"), mean)?,
            jitter::JitterConfig::Normal { mean, deviation } => {
                not_too_long(&at("jitter.mean"), mean)?;
                above_zero(&at("jitter.deviation"), deviation)?;
            }
        }
    }
    if let Some(reorder) = config.reorder {
        above_zero(&at("reorder.by"), reorder.by)?;
    }
    Ok(())
}

/// Checks capacity on demand. It replaces the gate (which releases packets in bursts) and the
/// server. `rate` is then the rate of the carrier.
fn on_demand(path: &str, config: &link::LinkConfig, demand: &demand::DemandConfig) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.demand.{key}");
    let others = [
        ("steps", config.steps.is_some()),
        ("trace", config.trace.is_some()),
        ("gate", config.gate.is_some()),
        ("device_queue", config.device_queue > 0),
    ];
    if let Some((other, _)) = others.iter().find(|(_, is_given)| *is_given) {
        let message = format!("packets leave in assigned slots; expected no `{other}` in a direction with `demand`");
        return Err(Problem::invalid(format!("{path}.{other}"), message));
    }
    let Some(carrier) = config.rate else {
        let message = "slots need the rate of the carrier; expected `rate` in a direction with `demand`";
        return Err(Problem::invalid(format!("{path}.demand"), message));
    };
    let [shortest, longest] = SUPERFRAMES;
    if !(shortest..=longest).contains(&demand.superframe) {
        return Err(Problem::at(at("superframe"), format!("a duration from {shortest} to {longest}")));
    }
    if demand.assignment > SLOWEST_ASSIGNMENT {
        return Err(Problem::at(at("assignment"), format!("at most {SLOWEST_ASSIGNMENT}")));
    }
    if demand.slot == Bytes::ZERO || demand.slots_at(carrier) == 0 {
        let expected = format!("from 1B to what a carrier of {carrier} sends in a superframe of {}", demand.superframe);
        return Err(Problem::at(at("slot"), expected));
    }
    if demand.persistence > LONGEST_PERSISTENCE {
        return Err(Problem::at(at("persistence"), format!("at most {LONGEST_PERSISTENCE}")));
    }
    for (key, part) in
        [("constant", demand.constant), ("rate_based", demand.rate_based), ("background", demand.background)]
    {
        part.map_or(Ok(()), |part| rate(&at(key), part))?;
    }
    let is_requested = demand.rate_based.is_some() || demand.volume_based.is_some();
    if !is_requested && demand.constant.is_none() {
        let message = "nothing would ever be assigned; expected `constant`, `rate_based` or `volume_based`";
        return Err(Problem::invalid(format!("{path}.demand"), message));
    }
    if demand.volume_based.is_some_and(|volume| volume == Bytes::ZERO || volume > LARGEST_VOLUME) {
        return Err(Problem::at(at("volume_based"), format!("a size from 1B to {LARGEST_VOLUME}")));
    }
    match demand.capacity_on_request(carrier) {
        None => {
            let message = "`constant` and `background` together need more slots than the carrier has; expected less";
            Err(Problem::invalid(format!("{path}.demand"), message))
        }
        Some(0) if is_requested => {
            let message = "`constant` and `background` leave nothing to request; expected less";
            Err(Problem::invalid(format!("{path}.demand"), message))
        }
        Some(_) => Ok(()),
    }
}

/// Refuses a queue with a shaper if `owner`, which contains the queue, decides when packets leave.
pub(super) fn unshaped(path: &str, queue: &queue::QueueConfig, owner: &str) -> Result<(), Problem> {
    if queue.shaper().is_none() {
        return Ok(());
    }
    let message =
        format!("{owner} decides when packets leave; expected no `rate`, or this queue on a link with a `rate`");
    Err(Problem::invalid(format!("{path}.rate"), message))
}

/// Checks the settings of a thinner, which removes ACKs from a queue.
pub(super) fn thinner(path: &str, thinner: Option<&thinner::ThinnerConfig>) -> Result<(), Problem> {
    thinner.map_or(Ok(()), |thinner| {
        thinner.check().map_err(|(key, expected)| Problem::at(format!("{path}.{key}"), expected))
    })
}

/// Checks that the limit and the times of a queue are above zero.
pub(super) fn limit(path: &str, queue: &queue::QueueConfig) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    for (key, time) in queue.times() {
        above_zero(&at(key), time)?;
    }
    queue.check().map_err(|(key, expected)| Problem::at(at(key), expected))?;
    if let Some(limit) = queue.limit() {
        let (Limit::Packets(size) | Limit::Bytes(Bytes(size))) = limit;
        if size == 0 {
            return Err(Problem::at(at("limit"), "a limit above zero; without a `limit`, the queue is unlimited"));
        }
    }
    Ok(())
}

pub(super) fn rate(path: &str, rate: Rate) -> Result<(), Problem> {
    if rate > FASTEST { Err(Problem::at(path, "at most 10000Gbps")) } else { Ok(()) }
}

fn schedule(path: &str, steps: &[server::RateStep]) -> Result<(), Problem> {
    for (index, step) in steps.iter().enumerate() {
        rate(&format!("{path}.{index}.rate"), step.rate)?;
        not_too_long(&format!("{path}.{index}.at"), step.at)?;
    }
    let times: Vec<Duration> = steps.iter().map(|step| step.at).collect();
    let checked = server::Schedule::new(steps).map(|_| ());
    in_order(path, checked, &times, "{ at = \"0s\", rate = \"8Mbps\" }", "rate")
}

/// Checks the maximum packet size of a link.
fn mtu(path: &str, config: &link::LinkConfig) -> Result<(), Problem> {
    let at = |key: &str| format!("{path}.{key}");
    let least = |path: String, mtu: Bytes| {
        if mtu < MIN_MTU { Err(Problem::at(path, format!("at least {MIN_MTU}"))) } else { Ok(()) }
    };
    if let Some(mtu) = config.mtu {
        least(at("mtu"), mtu)?;
    }
    let Some(steps) = &config.mtu_steps else { return Ok(()) };
    if config.mtu.is_some() {
        return Err(Problem::invalid(
            at("mtu_steps"),
            "expected only one of `mtu` and `mtu_steps`; `mtu` is given too",
        ));
    }
    let path = at("mtu_steps");
    for (index, step) in steps.iter().enumerate() {
        least(format!("{path}.{index}.mtu"), step.mtu)?;
        not_too_long(&format!("{path}.{index}.at"), step.at)?;
    }
    let times: Vec<Duration> = steps.iter().map(|step| step.at).collect();
    in_order(&path, acklab_path::mtu::check(steps), &times, "{ at = \"0s\", mtu = \"1500B\" }", "MTU")
}

/// Refuses steps at `times` if `checked` reports that they are out of order. `example` is a step
/// that sets `what`.
fn in_order(
    path: &str,
    checked: Result<(), ScheduleError>,
    times: &[Duration],
    example: &str,
    what: &str,
) -> Result<(), Problem> {
    match checked {
        Ok(()) => Ok(()),
        Err(ScheduleError::NothingAtStart) if times.is_empty() => {
            Err(Problem::at(path, format!("at least one step, such as {example}")))
        }
        Err(ScheduleError::NothingAtStart) => {
            Err(Problem::at(format!("{path}.0.at"), format!("\"0s\": the first step sets the {what} at the start")))
        }
        Err(ScheduleError::OutOfOrder(index)) => Err(Problem::at(
            format!("{path}.{index}.at"),
            format!("a time after the step before it, which is at {}", times[index - 1]),
        )),
    }
}
