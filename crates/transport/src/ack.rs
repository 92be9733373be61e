//! When a receiver acknowledges.
//!
//! The [`Ledger`] holds the facts: what has arrived and is not yet acknowledged, and since when. A [`Policy`] is asked for a
//! [`Decision`] after each arrival and always gives its [`Reason`]. One strategy is one file here and one arm of [`Config`] and
//! [`Policy`]; one that is not built in is an [`AckPolicy`] under a name.

mod byte_counting;
mod chrome;
mod config;
mod congestion_control;
mod daass;
mod decision;
mod delayed;
mod delivery;
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

use crate::custom::Custom;
use acklab_base::Instant;
use acklab_base::random::Stream;
use byte_counting::ByteCounting;
use chrome::Chrome;
use congestion_control::CongestionControl;
use daass::Daass;
use delayed::Delayed;
use linux::Linux;
use quic::Quic;
use tack::Tack;

/// The contract of a policy that is not built in.
pub trait AckPolicy {
    /// What to do about `arrival`, which `ledger` and `held` already hold. An instant that has passed means at once. A decision to
    /// acknowledge later does not put off what an earlier one asks for.
    fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision;

    /// An empty ledger that measures what the policy goes by: [round trips](Ledger::with_round_trip), the [delivery
    /// rate](Ledger::with_delivery), or neither. Asked for once.
    fn ledger(&self) -> Ledger {
        Ledger::default()
    }

    /// An ACK has been sent, for whatever reason.
    fn on_ack_sent(&mut self, _now: Instant) {}

    /// The first mark has come since the sender last reduced its window (RFC 3168, §6.1.3).
    fn on_first_mark(&mut self) {}

    /// The sender says that it has reduced its window.
    fn on_window_reduced(&mut self) {}

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
            Config::Custom { .. } => return None,
        })
    }

    /// An empty ledger that measures what the policy, configured so, goes by.
    #[must_use]
    pub fn ledger(&self, config: &Config) -> Ledger {
        match self {
            Self::Custom(policy) => policy.ledger(),
            _ => config.ledger(),
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
            Self::Custom(policy) => match policy.decide(now, arrival, ledger, held) {
                Decision::At(at, reason) => Decision::At(at.max(now), reason),
                decision => decision,
            },
        }
    }

    /// The first mark has come since the sender last reduced its window (RFC 3168, §6.1.3). What must be told at once is not the
    /// policy's to decide.
    pub fn on_first_mark(&mut self) {
        match self {
            Self::Linux(policy) => policy.on_first_mark(),
            Self::Custom(policy) => policy.on_first_mark(),
            _ => {}
        }
    }

    /// The sender says that it has reduced its window.
    pub fn on_window_reduced(&mut self) {
        match self {
            Self::Linux(policy) => policy.on_window_reduced(),
            Self::Custom(policy) => policy.on_window_reduced(),
            _ => {}
        }
    }

    /// An ACK has been sent, for whatever reason.
    pub fn on_ack_sent(&mut self, now: Instant) {
        match self {
            Self::Delayed(policy) => policy.on_ack_sent(),
            Self::Linux(policy) => policy.on_ack_sent(),
            Self::Tack(policy) => policy.on_ack_sent(now),
            Self::Custom(policy) => policy.on_ack_sent(now),
            _ => {}
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

    /// The sender asks for an ACK every `ratio` segments (RFC 5690, §4.2). Other policies pay no heed.
    pub fn on_ack_ratio(&mut self, ratio: u8) {
        if let Self::CongestionControl(policy) = self {
            policy.on_ratio(ratio);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custom::Name;
    use acklab_base::Duration;

    /// Asks for what is past, and tells that it was heard.
    struct Late;

    impl AckPolicy for Late {
        fn decide(&mut self, _now: Instant, _arrival: &Arrival, ledger: &Ledger, _held: Held<'_>) -> Decision {
            Decision::At(ledger.newest, Reason::Custom(3))
        }

        fn ledger(&self) -> Ledger {
            Ledger::default().with_round_trip(Duration::from_secs(10))
        }

        fn reason(&self, own: u8) -> &str {
            if own == 3 { "late" } else { "other" }
        }
    }

    fn late() -> Policy {
        Policy::Custom(Custom::new(Name::from("late").unwrap_or_default(), Box::new(Late)))
    }

    #[test]
    fn a_custom_policy_cannot_ask_for_the_past() {
        let mut policy = late();
        let (now, ledger) = (Instant::from_nanos(5), Ledger::default());
        let held = Held { next: 0, beyond: &[], sack: true };
        assert_eq!(policy.decide(now, &Arrival::InOrder, &ledger, held), Decision::At(now, Reason::Custom(3)));
        assert_eq!(policy.reason_name(Reason::Custom(3)), "late");
        assert_eq!(policy.reason_name(Reason::Timer), "timer");
        assert_eq!(format!("{policy:?}"), "Custom(Custom(\"late\"))");
    }

    #[test]
    fn a_custom_policy_says_what_is_measured() {
        let ledger = late().ledger(&Config::Custom { name: Name::default() });
        assert!(ledger.round_trip.is_some() && ledger.delivery.is_none());
    }
}
