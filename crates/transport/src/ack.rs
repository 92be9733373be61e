//! When a receiver acknowledges.
//!
//! The [`Ledger`] holds the facts: what has arrived and is not yet acknowledged, and since when. A [`Policy`] is asked for a
//! [`Decision`] after each arrival and always gives its [`Reason`]. One strategy is one file here and one arm of [`Config`] and
//! [`Policy`].

mod delayed;
mod ledger;
mod linux;
mod per_packet;

pub use ledger::{Arrival, Ledger};

use acklab_base::{Duration, Instant};
use delayed::Delayed;
use linux::Linux;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An ACK policy and its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Config {
    /// Every segment at once.
    PerPacket {},
    /// Delayed ACKs: every so many segments, or after a while (RFC 1122, §4.2.3.2; RFC 5681, §4.2).
    Delayed {
        /// Acknowledge at the latest with this many segments unacknowledged.
        #[serde(default = "two")]
        #[schemars(range(min = 1))]
        segments: u32,
        /// Acknowledge at the latest after this time, at most 500 ms in RFC 5681.
        #[serde(default = "two_hundred_milliseconds")]
        timer: Duration,
        /// Acknowledge this many segments at the start of the connection one by one.
        #[serde(default)]
        quick: u32,
    },
    /// As Linux does: every segment at the start, then every second full-sized one, with an adaptive timer of 40 ms.
    Linux {},
}

const fn two() -> u32 {
    2
}

const fn two_hundred_milliseconds() -> Duration {
    Duration::from_millis(200)
}

impl Config {
    /// The name of the policy, as scenarios spell it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::PerPacket {} => "per-packet",
            Self::Delayed { .. } => "delayed",
            Self::Linux {} => "linux",
        }
    }
}

/// What a policy says after an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Acknowledge at once.
    Now(Reason),
    /// Acknowledge at this instant, if nothing has made it happen before.
    At(Instant, Reason),
}

/// Why an ACK was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The policy acknowledges every segment.
    EverySegment,
    /// As many segments were unacknowledged as the policy allows.
    SegmentCount,
    /// The delayed-ACK timer ran out.
    Timer,
    /// Quick ACKs while the sender is still growing its window.
    QuickAck,
    /// A segment came out of order (RFC 5681, §4.2).
    OutOfOrder,
    /// A segment filled all or part of a gap (RFC 5681, §4.2).
    FillsGap,
    /// A segment carried nothing new.
    Duplicate,
    /// SACKs for several out-of-order segments were sent as one.
    CompressedSack,
    /// The first marked segment after others, or with DCTCP the first after marked ones (RFC 8257, §3.2; RFC 9768, §3.2.2.5.1).
    MarkChange,
    /// As many marks were not yet told as may be (RFC 9768, §3.2.2.5.1).
    MarkCount,
    /// The peer has finished.
    Fin,
    /// Part of the handshake.
    Handshake,
}

impl Reason {
    /// All reasons, in the order of their index.
    pub const ALL: [Self; 12] = [
        Self::EverySegment,
        Self::SegmentCount,
        Self::Timer,
        Self::QuickAck,
        Self::OutOfOrder,
        Self::FillsGap,
        Self::Duplicate,
        Self::CompressedSack,
        Self::MarkChange,
        Self::MarkCount,
        Self::Fin,
        Self::Handshake,
    ];

    /// Its name, as it stands in the `acks` table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EverySegment => "every-segment",
            Self::SegmentCount => "segment-count",
            Self::Timer => "timer",
            Self::QuickAck => "quick-ack",
            Self::OutOfOrder => "out-of-order",
            Self::FillsGap => "fills-gap",
            Self::Duplicate => "duplicate",
            Self::CompressedSack => "compressed-sack",
            Self::MarkChange => "mark-change",
            Self::MarkCount => "mark-count",
            Self::Fin => "fin",
            Self::Handshake => "handshake",
        }
    }
}

/// A policy at work.
#[derive(Clone, Debug)]
pub enum Policy {
    /// Every segment at once.
    PerPacket,
    /// RFC 1122, RFC 5681.
    Delayed(Delayed),
    /// Linux.
    Linux(Linux),
}

impl Policy {
    /// The policy of this configuration.
    #[must_use]
    pub fn new(config: Config) -> Self {
        match config {
            Config::PerPacket {} => Self::PerPacket,
            Config::Delayed { segments, timer, quick } => Self::Delayed(Delayed::new(segments, timer, quick)),
            Config::Linux {} => Self::Linux(Linux::default()),
        }
    }

    /// What to do about `arrival`, which `ledger` already holds.
    pub fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger) -> Decision {
        match self {
            Self::PerPacket => per_packet::decide(),
            Self::Delayed(policy) => policy.decide(arrival, ledger),
            Self::Linux(policy) => policy.decide(now, arrival, ledger),
        }
    }

    /// The first mark has come since the sender last reduced its window (RFC 3168, §6.1.3). What must be told at once is not the
    /// policy's to decide.
    pub fn on_first_mark(&mut self) {
        if let Self::Linux(policy) = self {
            policy.on_first_mark();
        }
    }

    /// The sender says that it has reduced its window.
    pub fn on_window_reduced(&mut self) {
        if let Self::Linux(policy) = self {
            policy.on_window_reduced();
        }
    }

    /// An ACK has been sent, for whatever reason.
    pub fn on_ack_sent(&mut self) {
        match self {
            Self::PerPacket => {}
            Self::Delayed(policy) => policy.on_ack_sent(),
            Self::Linux(policy) => policy.on_ack_sent(),
        }
    }
}
