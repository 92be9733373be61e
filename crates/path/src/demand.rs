//! Capacity on demand: the return channel of a satellite terminal, as in DVB-RCS2 (ETSI EN 301
//! 545-2), and the upstream of a cable modem, as in DOCSIS (CableLabs, MULPI). The requests, grants
//! and MAPs of DOCSIS are the requests, assignments and superframes of this model.
//!
//! Time is divided into superframes of slots. At the beginning of a superframe, the terminal
//! requests capacity for the waiting octets. The network control centre assigns slots, and the
//! terminal receives the assignment a round trip later. Sizes are in octets with link overhead.
//!
//! | module | contents |
//! |---|---|
//! | `slots` | the slots of a carrier and their times |
//! | `assignment` | requests on their way, and the slots that the control centre assigns |
//! | `request` | the requests of the terminal |
//!
//! [`Terminal`] combines them. It handles sizes only; the [link](crate::link) has the packets.

mod assignment;
mod request;
mod slots;
#[cfg(test)]
mod tests;

use crate::counters::Tally;
use acklab_base::{Bytes, Duration, Instant, Rate};
use assignment::Assignment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slots::Slots;

/// The standard that defines the encoding of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standard {
    /// DVB-RCS2: an eight-bit number and one of four scaling factors.
    #[default]
    DvbRcs2,
    /// DOCSIS: the octets in the queue, as a multiple of four in a field of sixteen bits.
    Docsis,
}

impl Standard {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The capacity of a terminal: constant, requested by rate, and requested by volume. At least one
/// of these three kinds is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DemandConfig {
    /// The standard that defines the encoding of requests.
    #[serde(default, skip_serializing_if = "Standard::is_default")]
    pub standard: Standard,
    /// Duration of a superframe. The terminal requests capacity at its beginning only.
    #[schemars(example = "45ms")]
    pub superframe: Duration,
    /// The time from a request until the terminal can use the assignment: to the control centre and
    /// back, including scheduling.
    #[schemars(example = "560ms")]
    pub assignment: Duration,
    /// Octets that a slot carries. A packet may span several slots, and a slot may hold parts of
    /// several packets.
    #[schemars(example = "123B")]
    pub slot: Bytes,
    /// Constant rate assignment (CRA): capacity without requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "64kbps")]
    pub constant: Option<Rate>,
    /// The maximum rate that the terminal may request in addition (rate-based dynamic capacity,
    /// RBDC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "2Mbps")]
    pub rate_based: Option<Rate>,
    /// The maximum volume of outstanding requests: requested and not yet assigned (volume-based
    /// dynamic capacity, VBDC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "384kB")]
    pub volume_based: Option<Bytes>,
    /// The number of superframes for which a requested rate is assigned unless a newer request
    /// replaces it.
    #[serde(default = "default_persistence")]
    #[schemars(range(min = 1), example = 5)]
    pub persistence: u32,
    /// The capacity that other terminals use. The rest of the carrier is available for requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1Mbps")]
    pub background: Option<Rate>,
}

/// Returns `DynamicRatePersistence` of the satellite module of ns-3 (sns3,
/// `satellite-lower-layer-service.cc`).
const fn default_persistence() -> u32 {
    5
}

impl DemandConfig {
    /// Returns the number of slots in a superframe on a carrier of `rate`.
    #[must_use]
    pub fn slots_at(&self, rate: Rate) -> u64 {
        Slots::in_superframe(self, rate)
    }

    /// Returns the capacity that is neither assigned constantly nor used by other terminals, in
    /// bits per second. Returns `None` if constant assignments and other terminals need more than
    /// the `rate` of the carrier.
    #[must_use]
    pub fn capacity_on_request(&self, rate: Rate) -> Option<u64> {
        let mut taken = [self.constant, self.background].into_iter().flatten().map(Rate::bits_per_second);
        taken.try_fold(Slots::new(self, rate).bits_per_second(), u64::checked_sub)
    }
}

/// A terminal: its assigned slots and its requests.
#[derive(Clone, Debug)]
pub(crate) struct Terminal {
    config: DemandConfig,
    slots: Slots,
    assignment: Assignment,
    /// The current superframe, counted from 0 at the start of the run.
    superframe: u64,
    /// The number of slots assigned in the current superframe. They are its first slots.
    assigned: u64,
    /// The index of the first assigned slot that has not begun.
    next: u64,
    /// Octets sent in the current superframe.
    sent: u64,
    /// Octets that have joined the queue since the superframe began.
    joined: u64,
}

/// The next event of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A superframe begins.
    Superframe,
    /// A slot of the terminal begins.
    Slot,
}

impl Terminal {
    pub(crate) fn new(config: DemandConfig, rate: Rate) -> Self {
        let slots = Slots::new(&config, rate);
        let mut assignment = Assignment::new(&config, slots);
        let assigned = assignment.slots_in(0);
        Self { config, slots, assignment, superframe: 0, assigned, next: 0, sent: 0, joined: 0 }
    }

    /// Returns the rate of the carrier without the capacity of other terminals, in bits per second.
    pub(crate) fn greatest_rate(&self) -> f64 {
        let background = self.config.background.map_or(0, Rate::bits_per_second);
        self.slots.bits_per_second().saturating_sub(background) as f64
    }

    /// Returns the number of octets that may wait for grants outside of the queue's discipline. In
    /// DOCSIS, these are the octets that the carrier grants until a request takes effect. A
    /// terminal of DVB-RCS2 takes packets from its queue when a slot begins.
    pub(crate) const fn max_committed(&self) -> u64 {
        match self.config.standard {
            Standard::DvbRcs2 => 0,
            Standard::Docsis => self.slots.octets * self.slots.count * (self.assignment.latency() + 1),
        }
    }

    /// Returns the number of octets that a slot carries.
    pub(crate) const fn slot_size(&self) -> u64 {
        self.slots.octets
    }

    /// Returns the next event and its instant.
    pub(crate) fn next_event(&self) -> (Instant, Event) {
        if self.next < self.assigned {
            (self.slots.start(self.superframe, self.next), Event::Slot)
        } else {
            (self.slots.start(self.superframe + 1, 0), Event::Superframe)
        }
    }

    /// Records that `octets` have joined the queue.
    pub(crate) fn joins(&mut self, octets: u64) {
        self.joined += octets;
    }

    /// Returns the end of the slot that is the next event.
    pub(crate) fn slot_end(&self) -> Instant {
        self.slots.start(self.superframe, self.next + 1)
    }

    /// Uses the slot that is the next event for `octets`.
    pub(crate) fn use_slot(&mut self, octets: u64) {
        self.sent += octets;
        self.next += 1;
    }

    /// Begins the next superframe, with `waiting` octets in the queue: ends the previous
    /// superframe, sends a request if more capacity is needed, and receives the assigned slots.
    pub(crate) fn begin_superframe(&mut self, waiting: u64, tally: &mut Tally) {
        self.end_superframe(tally);
        self.enter(self.superframe + 1);
        let request = request::capacity(&self.config, &self.assignment, waiting, self.joined);
        self.joined = 0;
        if let Some(request) = request {
            tally.requests_capacity(self.slots.start(self.superframe, 0));
            self.assignment.request(self.superframe, request);
        }
        self.assigned = self.assignment.slots_in(self.superframe);
    }

    fn enter(&mut self, superframe: u64) {
        (self.superframe, self.next, self.sent) = (superframe, 0, 0);
    }

    fn end_superframe(&self, tally: &mut Tally) {
        let assigned = self.assigned * self.slots.octets;
        tally.ends_superframe(self.slots.start(self.superframe + 1, 0), Bytes(assigned), Bytes(assigned - self.sent));
    }

    /// Advances the idle time until `now`. Slots assigned in it are unused.
    pub(crate) fn pass_idle(&mut self, now: Instant, tally: &mut Tally) {
        let last = self.slots.superframe_at(now);
        while self.superframe < last {
            if self.joined == 0 && self.assignment.is_constant_after(self.superframe) {
                self.end_superframe(tally);
                self.skip_to(last, tally);
            } else {
                self.begin_superframe(0, tally);
            }
        }
        self.next = self.assigned.min(self.next.max(self.slots.begun_by(self.superframe, now)));
    }

    /// Skips to superframe `last`. In the skipped superframes, only constant capacity is assigned,
    /// and it is not used.
    fn skip_to(&mut self, last: u64, tally: &mut Tally) {
        let counted = self.slots.superframes_in(&tally.window);
        // A superframe ends when the next one begins.
        let (first, end) = (counted.start.max(self.superframe + 2), counted.end.min(last + 1));
        if first < end {
            let unused = Bytes(self.assignment.constant_slots(first - 1..end - 1) * self.slots.octets);
            tally.ends_superframe(self.slots.start(first, 0), unused, unused);
        }
        self.enter(last);
        self.assigned = self.assignment.slots_in(last);
    }
}
