//! When a receiver acknowledges.
//!
//! The [`Ledger`] holds the facts: what has arrived and is not yet acknowledged, and since when. A [`Policy`] is asked for a
//! [`Decision`] after each arrival and always gives its [`Reason`]. One strategy is one file here and one arm of [`Config`] and
//! [`Policy`]; one that is not built in is an [`AckPolicy`] under a name.

mod delayed;
mod ledger;
mod linux;
mod per_packet;

pub use ledger::{Arrival, Ledger};

use crate::custom::{Custom, Name};
use acklab_base::random::Stream;
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
    /// One of your own, which the run is given.
    Custom {
        /// What it is called there.
        #[schemars(length(max = 32), example = &"mine")]
        name: Name,
    },
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
    pub fn name(&self) -> &str {
        match self {
            Self::PerPacket {} => "per-packet",
            Self::Delayed { .. } => "delayed",
            Self::Linux {} => "linux",
            Self::Custom { name } => name,
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
    /// Acknowledge with what follows.
    Hold,
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
    /// The peer has finished.
    Fin,
    /// Part of the handshake.
    Handshake,
    /// A custom policy's own reason of this number, counted from 0; its name is [that policy's](AckPolicy::reason).
    Custom(u8),
}

impl Reason {
    /// A custom policy has at most so many reasons of its own; those beyond count as the last.
    pub const MOST_CUSTOM: usize = 16;
    /// So many reasons there are in all.
    pub const COUNT: usize = Self::ALL.len() + Self::MOST_CUSTOM;

    /// All reasons but those of custom policies, in the order of their index.
    pub const ALL: [Self; 10] = [
        Self::EverySegment,
        Self::SegmentCount,
        Self::Timer,
        Self::QuickAck,
        Self::OutOfOrder,
        Self::FillsGap,
        Self::Duplicate,
        Self::CompressedSack,
        Self::Fin,
        Self::Handshake,
    ];

    /// The reason of this index.
    #[must_use]
    pub fn of_index(index: usize) -> Self {
        Self::ALL.get(index).copied().unwrap_or(Self::Custom(index.saturating_sub(Self::ALL.len()) as u8))
    }

    /// Its place among counts by reason: first those that everyone may have, then a policy's own.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::Custom(own) => Self::ALL.len() + usize::from(own).min(Self::MOST_CUSTOM - 1),
            known => Self::ALL.iter().position(|reason| *reason == known).unwrap_or_default(),
        }
    }

    /// Its name, as it stands in the `acks` table. A custom policy's own reasons have [better ones](Policy::reason_name).
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
            Self::Fin => "fin",
            Self::Handshake => "handshake",
            Self::Custom(_) => "custom",
        }
    }
}

/// The contract of a policy that is not built in.
pub trait AckPolicy {
    /// What to do about `arrival`, which `ledger` already holds. An instant that has passed means at once. A decision to acknowledge
    /// later does not put off what an earlier one asks for.
    fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger) -> Decision;

    /// An ACK has been sent, for whatever reason.
    fn on_ack_sent(&mut self, _now: Instant) {}

    /// What its own reason [`Reason::Custom`] of this number is called in the `acks` table.
    fn reason(&self, _own: u8) -> &str {
        "custom"
    }
}

/// What a policy that is not built in is given at its birth.
#[derive(Clone, Debug)]
pub struct Start {
    /// Payload of a full-sized segment, in octets.
    pub mss: u64,
    /// Its own chance.
    pub random: Stream,
}

/// A policy at work.
#[derive(Debug)]
pub enum Policy {
    /// Every segment at once.
    PerPacket,
    /// RFC 1122, RFC 5681.
    Delayed(Delayed),
    /// Linux.
    Linux(Linux),
    /// One that is not built in.
    Custom(Custom<dyn AckPolicy + Send>),
}

impl Policy {
    /// The policy of this configuration, if it is built in.
    #[must_use]
    pub fn new(config: Config) -> Option<Self> {
        Some(match config {
            Config::PerPacket {} => Self::PerPacket,
            Config::Delayed { segments, timer, quick } => Self::Delayed(Delayed::new(segments, timer, quick)),
            Config::Linux {} => Self::Linux(Linux::default()),
            Config::Custom { .. } => return None,
        })
    }

    /// What to do about `arrival`, which `ledger` already holds.
    pub fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger) -> Decision {
        match self {
            Self::PerPacket => per_packet::decide(),
            Self::Delayed(policy) => policy.decide(arrival, ledger),
            Self::Linux(policy) => policy.decide(now, arrival, ledger),
            Self::Custom(policy) => match policy.decide(now, arrival, ledger) {
                Decision::At(at, reason) => Decision::At(at.max(now), reason),
                decision => decision,
            },
        }
    }

    /// An ACK has been sent, for whatever reason.
    pub fn on_ack_sent(&mut self, now: Instant) {
        match self {
            Self::PerPacket => {}
            Self::Delayed(policy) => policy.on_ack_sent(),
            Self::Linux(policy) => policy.on_ack_sent(),
            Self::Custom(policy) => policy.on_ack_sent(now),
        }
    }

    /// The name of a reason that it has given, as it stands in the `acks` table.
    #[must_use]
    pub fn reason_name(&self, reason: Reason) -> &str {
        match (self, reason) {
            (Self::Custom(policy), Reason::Custom(own)) => policy.reason(own),
            _ => reason.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_index() {
        for index in 0..Reason::COUNT {
            assert_eq!(Reason::of_index(index).index(), index);
        }
        assert_eq!(Reason::Custom(200).index(), Reason::COUNT - 1, "the last counts for those beyond");
    }

    /// Asks for what is past, and tells that it was heard.
    struct Late;

    impl AckPolicy for Late {
        fn decide(&mut self, _now: Instant, _arrival: &Arrival, ledger: &Ledger) -> Decision {
            Decision::At(ledger.newest, Reason::Custom(3))
        }

        fn reason(&self, own: u8) -> &str {
            if own == 3 { "late" } else { "other" }
        }
    }

    #[test]
    fn a_custom_policy_cannot_ask_for_the_past() {
        let mut policy = Policy::Custom(Custom::new(Name::from("late").unwrap_or_default(), Box::new(Late)));
        let (now, ledger) = (Instant::from_nanos(5), Ledger::default());
        assert_eq!(policy.decide(now, &Arrival::InOrder, &ledger), Decision::At(now, Reason::Custom(3)));
        assert_eq!(policy.reason_name(Reason::Custom(3)), "late");
        assert_eq!(policy.reason_name(Reason::Timer), "timer");
        assert_eq!(format!("{policy:?}"), "Custom(Custom(\"late\"))");
    }
}
