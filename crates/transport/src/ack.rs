//! When a receiver acknowledges.
//!
//! The [`Ledger`] holds the facts: what has arrived and is not yet acknowledged, and since when. A [`Policy`] is asked for a
//! [`Decision`] after each arrival and always gives its [`Reason`]. One strategy is one file here and one arm of [`Config`] and
//! [`Policy`].

mod byte_counting;
mod chrome;
mod config;
mod congestion_control;
mod daass;
mod decision;
mod delayed;
mod delivery;
mod filter;
mod growth;
mod held;
mod ledger;
mod linux;
mod per_packet;
mod quic;
mod round_trip;
mod tack;

pub use config::Config;
pub use decision::{Decision, Reason};
pub use delivery::Delivery;
pub use held::Held;
pub use ledger::{Arrival, Ledger, Span, Tally};
pub use round_trip::{Echo, RoundTrip};

use acklab_base::Instant;
use byte_counting::ByteCounting;
use chrome::Chrome;
use congestion_control::CongestionControl;
use daass::Daass;
use delayed::Delayed;
use linux::Linux;
use quic::Quic;
use tack::Tack;

/// A policy at work.
#[derive(Clone, Debug)]
pub enum Policy {
    /// Every segment at once.
    PerPacket,
    /// RFC 1122, RFC 5681.
    Delayed(Delayed),
    /// Linux.
    Linux(Linux),
    /// The byte-counting ACK.
    ByteCounting(ByteCounting),
    /// Delayed ACKs after slow start.
    Daass(Daass),
    /// Chrome's QUIC.
    Chrome(Chrome),
    /// RFC 9000, and draft-ietf-quic-ack-frequency.
    Quic(Quic),
    /// The law of TACK.
    Tack(Tack),
    /// RFC 5690.
    CongestionControl(CongestionControl),
}

impl Policy {
    /// The policy of this configuration.
    #[must_use]
    pub fn new(config: Config) -> Self {
        match config {
            Config::PerPacket {} => Self::PerPacket,
            Config::Delayed { segments, timer, quick } => Self::Delayed(Delayed::new(segments, timer, quick)),
            Config::Linux {} => Self::Linux(Linux::default()),
            Config::ByteCounting { segments, timer } => Self::ByteCounting(ByteCounting::new(segments, timer)),
            Config::Daass { segments, timer } => Self::Daass(Daass::new(Delayed::new(segments, timer, 0))),
            Config::Chrome { packets, after, rtt_divisor, max_ack_delay } => {
                Self::Chrome(Chrome::new(packets, after, rtt_divisor, max_ack_delay))
            }
            Config::Quic { packets, max_ack_delay } => {
                Self::Quic(Quic::new(packets.saturating_sub(1), max_ack_delay, 1))
            }
            Config::AckFrequency { ack_eliciting_threshold, requested_max_ack_delay, reordering_threshold } => {
                Self::Quic(Quic::new(ack_eliciting_threshold, requested_max_ack_delay, reordering_threshold))
            }
            Config::Tack { segments, beta, per_packet_startup, .. } => {
                Self::Tack(Tack::new(segments, beta, per_packet_startup))
            }
            Config::AckCongestionControl { timer } => Self::CongestionControl(CongestionControl::new(timer)),
        }
    }

    /// What to do about `arrival`, which `ledger` and `held` already hold.
    pub fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision {
        match self {
            Self::PerPacket => per_packet::decide(),
            Self::Delayed(policy) => policy.decide(arrival, ledger),
            Self::Linux(policy) => policy.decide(now, arrival, ledger, held),
            Self::ByteCounting(policy) => policy.decide(arrival, ledger),
            Self::Daass(policy) => policy.decide(now, arrival, ledger),
            Self::Chrome(policy) => policy.decide(arrival, ledger, held),
            Self::Quic(policy) => policy.decide(arrival, ledger, held),
            Self::Tack(policy) => policy.decide(now, arrival, ledger, held),
            Self::CongestionControl(policy) => policy.decide(arrival, ledger),
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
    pub fn on_ack_sent(&mut self, now: Instant) {
        match self {
            Self::Delayed(policy) => policy.on_ack_sent(),
            Self::Linux(policy) => policy.on_ack_sent(),
            Self::Tack(policy) => policy.on_ack_sent(now),
            _ => {}
        }
    }

    /// The sender asks for an ACK every `ratio` segments (RFC 5690, §4.2). Other policies pay no heed.
    pub fn on_ack_ratio(&mut self, ratio: u8) {
        if let Self::CongestionControl(policy) = self {
            policy.on_ratio(ratio);
        }
    }
}
