//! Decides when a receiver acknowledges, for every transport.
//!
//! An [`Acknowledger`] stores the facts in its [`Ledger`]: the unacknowledged data, and their
//! arrival times. After each arrival it requests a [`Decision`] from a policy, and runs the timer.
//! Every decision to acknowledge has a [`Reason`]. Data have positions on an abstract number line:
//! stream offsets in TCP, packet numbers in QUIC and TACK. [`Ranges`] is the set of positions that
//! have arrived.
//!
//! Each policy is one file in this directory and one entry in `registry.rs`. A custom policy
//! implements [`AckPolicy`] and has a name.

pub mod ack_frequency;
pub mod ack_rate_request;
mod acknowledger;
pub mod after_gap;
pub mod byte_counting;
pub mod chrome;
pub mod congestion_control;
pub mod daass;
mod decision;
pub mod delayed;
mod delivery;
mod growth;
mod held;
mod ledger;
pub mod linux;
pub mod per_packet;
pub mod quic;
mod ranges;
mod registry;
mod round_trip;
mod settings;
pub mod tack;
mod tcp;
#[cfg(test)]
mod testing;

pub use acknowledger::Acknowledger;
pub use decision::{Decided, Decision, OwnReason, Reason};
pub use delivery::Delivery;
pub use held::Held;
pub use ledger::{Arrival, Ledger, Packet, Span, Tally};
pub use ranges::Ranges;
pub use registry::{Policy, PolicyConfig};
pub use round_trip::{Echo, RoundTrip};
pub use settings::{Settings, Timer};
pub use tcp::{Room, TcpEvents};

use acklab_base::random::Stream;
use acklab_base::{Duration, Instant};

/// The window of the minimum round-trip time for receivers that never discard a sample.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);

acklab_base::contract! {
    /// The interface of a policy, which decides only when an ACK is sent.
    pub trait AckPolicy, delegated by delegate_policy {
        /// Decides about `arrival`, which `ledger` and `held` already include. An instant in the
        /// past means an immediate ACK. A decision to acknowledge later does not postpone an ACK
        /// that is already scheduled.
        @inline fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision;

        /// Returns an empty ledger that measures what the policy uses:
        /// [round trips](Ledger::with_round_trip), the [delivery rate](Ledger::with_delivery), or
        /// neither. Called once per connection.
        fn ledger(&self) -> Ledger {
            Ledger::default()
        }

        /// Returns `true` if the policy decides by time. A due ACK may then report all packets that
        /// a host processes together. A policy that counts packets decides after each packet.
        fn goes_by_time(&self) -> bool {
            false
        }

        /// Records that an ACK has been sent, for any reason.
        fn on_ack_sent(&mut self, _now: Instant) {}

        /// Sets the parameters of TACK's ACK frequency formula that the sender requests.
        fn on_frequency(&mut self, _law: tack::Law) {}

        /// Returns this policy as a receiver of TCP's events, or `None` if it ignores them.
        fn tcp_events(&mut self) -> Option<&mut dyn TcpEvents> {
            None
        }

        /// Returns the name, in the `acks` table, of the policy's custom reason [`Reason::Custom`]
        /// with this number.
        fn reason(&self, _own: u8) -> &str {
            "custom"
        }
    }
}

/// The context in which a custom policy is constructed.
#[derive(Clone, Debug)]
pub struct Start {
    /// Payload of a full-sized segment, in bytes.
    pub mss: u64,
    /// The random stream of the policy.
    pub random: Stream,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custom::{Custom, Name};

    /// A policy that requests an ACK at an instant in the past, with a custom reason.
    struct Late;

    impl AckPolicy for Late {
        fn decide(&mut self, _now: Instant, _arrival: &Arrival, ledger: &Ledger, _held: Held<'_>) -> Decision {
            Decision::At(ledger.newest, Reason::Custom(OwnReason::N3))
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
        let policy = late();
        assert_eq!(policy.reason_name(Reason::Custom(OwnReason::N3)), "late");
        assert_eq!(policy.reason_name(Reason::Timer), "timer");
        assert_eq!(format!("{policy:?}"), "Custom(Custom(\"late\"))");
        let mut acknowledger = Acknowledger::new(policy);
        let now = Instant::from_nanos(5);
        acknowledger.decide(now, Arrival::InOrder, Held { next: 0, beyond: &[], sack: true, newer: 0 });
        // The requested instant is the arrival time of the newest data, or zero without data.
        assert_eq!(acknowledger.deadline(), Some(now));
    }

    #[test]
    fn a_custom_policy_says_what_is_measured() {
        let ledger = late().ledger();
        assert!(ledger.round_trip.is_some() && ledger.delivery.is_none());
    }
}
