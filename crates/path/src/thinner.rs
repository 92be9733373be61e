//! Thinners: boxes that hold pure ACKs, so that one ACK replaces several, as drivers of Wi-Fi
//! stations do.
//!
//! An ACK filter removes ACKs that wait for a link anyway. A thinner delays them: it holds the
//! newest ACK of each flow until enough ACKs have arrived or a timer has expired.
//!
//! Each rule is one file here, with its settings and its `Rule`, and one entry in `registry.rs`.

pub mod dhd;
pub mod every;
mod registry;
pub mod scsc;
pub mod unisoc;

use registry::FlowRule;
pub use registry::ThinnerConfig;

use acklab_base::{AckHeader, Bytes, Datagram, Duration, FlowKey, FlowTable, Instant, Machine, Opening};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The decision on an acknowledging segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The segment passes immediately and replaces the held ACK.
    Passes,
    /// The segment passes immediately, and the held ACK remains held.
    Overtakes,
    /// The segment is held and replaces the held ACK. `until` is the time at which it leaves, or
    /// `None` if this time does not change.
    IsHeld { until: Option<Instant> },
    /// The segment is removed, and the held ACK remains held.
    IsRemoved,
}

acklab_base::contract! {
    /// The rule of a thinner, with the state of one flow.
    pub(crate) trait Rule, delegated by delegate_rule {
        /// Records that the connection is opened in this direction.
        fn opens(&mut self, _options: Opening) {}

        /// Decides on an acknowledging segment. `holds` is `true` if an ACK of the flow is held.
        fn decide(&mut self, now: Instant, segment: AckHeader, holds: bool) -> Fate;

        /// Records that the held ACK leaves because its timer has expired.
        fn releases(&mut self, _now: Instant) {}
    }
}

/// The settings of a rule.
pub(crate) trait Settings: Copy {
    /// The [`Rule`] that these settings configure.
    type Rule;

    /// Returns the rule of a flow without packets.
    fn rule(self) -> Self::Rule;

    /// Returns the maximum number of flows with a held ACK. ACKs of further flows pass. `None`
    /// means no limit.
    fn max_held(self) -> Option<usize> {
        None
    }

    /// Checks the settings. The error is the name of an invalid setting, and its expected value.
    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        Ok(())
    }
}

/// A thinner: holds at most one ACK of each flow, and passes all other packets.
#[derive(Clone, Debug)]
pub struct Thinner<D> {
    config: ThinnerConfig,
    flows: FlowTable<Flow<D>>,
    held: usize,
    /// The times at which held ACKs leave, with their flows. An entry is out of date if its instant
    /// differs from the instant stored in the flow.
    due: BinaryHeap<Reverse<(Instant, FlowKey)>>,
    leaving: VecDeque<D>,
    removed: Removed,
}

#[derive(Clone, Debug)]
struct Flow<D> {
    rule: FlowRule,
    held: Option<D>,
    due: Option<Instant>,
    seen: Instant,
}

/// ACKs that a thinner has removed in favour of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The number of removed ACKs.
    pub packets: u64,
    /// The octets of the removed ACKs.
    pub bytes: Bytes,
}

/// The time without packets after which a flow is dropped from the table, if there are many. It
/// exceeds the maximum retransmission timeout (RFC 6298, §2.5).
const SILENT: Duration = Duration::from_secs(60);

impl<D: Datagram> Thinner<D> {
    /// Returns a thinner with these settings.
    #[must_use]
    pub fn new(config: ThinnerConfig) -> Self {
        Self {
            config,
            flows: FlowTable::new(),
            held: 0,
            due: BinaryHeap::new(),
            leaving: VecDeque::new(),
            removed: Removed::default(),
        }
    }

    /// Passes `packet`, if any, and the packets that leave at `now` to `sink`. Returns the ACKs
    /// removed since the last call.
    pub fn pass(&mut self, now: Instant, packet: Option<D>, sink: impl FnMut(D)) -> Removed {
        match packet {
            Some(packet) => self.accept(now, packet),
            None => self.wake(now),
        }
        std::iter::from_fn(|| self.poll(now)).for_each(sink);
        std::mem::take(&mut self.removed)
    }

    fn remove(&mut self, packet: Option<D>) {
        if let Some(packet) = packet {
            self.removed.packets += 1;
            self.removed.bytes += packet.wire_len();
        }
    }

    fn thin(&mut self, now: Instant, packet: D, segment: AckHeader) {
        self.flows.forget(|flow| flow.held.is_some() || now.since(flow.seen) < SILENT);
        let key = packet.flow();
        let config = self.config;
        let has_room = config.max_held().is_none_or(|maximum| self.held < maximum);
        let flow = self.flows.entry(key, || Flow::new(config, now));
        flow.seen = now;
        let holds = flow.held.is_some();
        match flow.rule.decide(now, segment, holds) {
            Fate::IsHeld { until } if holds || has_room => {
                if let Some(until) = until {
                    flow.due = Some(until);
                    self.due.push(Reverse((until, key)));
                }
                let older = flow.held.replace(packet);
                self.held += usize::from(!holds);
                self.remove(older);
            }
            Fate::Passes | Fate::IsHeld { .. } => {
                flow.due = None;
                let older = flow.held.take();
                self.held -= usize::from(holds);
                self.remove(older);
                self.leaving.push_back(packet);
            }
            Fate::Overtakes => self.leaving.push_back(packet),
            Fate::IsRemoved => self.remove(Some(packet)),
        }
    }
}

impl<D> Flow<D> {
    fn new(config: ThinnerConfig, now: Instant) -> Self {
        Self { rule: config.rule(), held: None, due: None, seen: now }
    }
}

impl<D: Datagram> Machine for Thinner<D> {
    type Datagram = D;
    type Outcome = ();

    fn accept(&mut self, now: Instant, packet: D) {
        if let Some(segment) = packet.ack_header() {
            return self.thin(now, packet, segment);
        }
        if let Some(options) = packet.opening() {
            let config = self.config;
            let flow = self.flows.entry(packet.flow(), || Flow::new(config, now));
            // A new connection may reuse the ports of an earlier one.
            flow.rule = config.rule();
            flow.rule.opens(options);
        }
        self.leaving.push_back(packet);
    }

    fn wake(&mut self, now: Instant) {
        while let Some(Reverse((at, key))) = self.due.peek().copied()
            && at <= now
        {
            self.due.pop();
            let Some(flow) = self.flows.get_mut(key).filter(|flow| flow.due == Some(at)) else { continue };
            flow.due = None;
            flow.rule.releases(now);
            if let Some(packet) = flow.held.take() {
                self.held -= 1;
                self.leaving.push_back(packet);
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    fn poll(&mut self, _now: Instant) -> Option<D> {
        self.leaving.pop_front()
    }
}

/// Rejects a time of zero.
fn above_zero(name: &'static str, time: Duration) -> Result<(), (&'static str, &'static str)> {
    if time.is_zero() { Err((name, "a duration above zero")) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
