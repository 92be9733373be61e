//! The list of the built-in policies.
//!
//! A policy is a file with its [`Settings`] and its [`AckPolicy`], and one entry of the list at the
//! end of this file. [`PolicyConfig`], [`Policy`] and all other enumerations of policies are
//! generated from that list.

use super::{AckPolicy, Arrival, Decision, Held, Ledger, Reason, Settings, TcpEvents, Timer, delegate_policy, tack};
use crate::fault::{Fault, above_zero};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

acklab_base::registry! {
    /// An ACK policy and its settings.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "policy", deny_unknown_fields)]
    settings PolicyConfig: Settings;

    /// A policy with its state.
    #[derive(Debug)]
    #[expect(missing_docs, reason = "the variants are those of the settings")]
    strategies pub Policy: Policy;

    custom {
        /// The name of the custom policy in the run.
        #[schemars(length(max = 32), example = &"mine")]
        name: crate::custom::Name,
    } as crate::custom::Custom<dyn AckPolicy + Send>;

    /// Acknowledges every segment immediately.
    "per-packet" => PerPacket(super::per_packet::PerPacket),
    /// Delays ACKs: one after a number of segments, or after a delay (RFC 1122, §4.2.3.2; RFC 5681,
    /// §4.2).
    "delayed" => Delayed(super::delayed::Delayed),
    /// Follows Linux: every segment at the start, then every second full-sized segment, with an
    /// adaptive timer of 40 ms.
    "linux" => Linux(super::linux::Linux),
    /// Acknowledges after the bytes of a number of full-sized segments (Li et al., SIGCOMM 2020,
    /// §4.1: the byte-counting ACK).
    "byte-counting" => ByteCounting(super::byte_counting::ByteCounting),
    /// Delays ACKs after slow start: every segment until the sender's window no longer doubles, and
    /// again after a loss (Allman, CCR 28(5), 1998; RFC 2760, §3.2.3).
    "daass" => Daass(super::daass::Daass),
    /// Follows Chrome's QUIC: every second segment at first, then every tenth, or after a quarter
    /// of the round-trip time.
    "chrome" => Chrome(super::chrome::Chrome),
    /// Follows QUIC without extensions (RFC 9000, §13.2): after a number of segments, in order or
    /// not, and immediately for a new gap.
    "quic" => Quic(super::quic::Quic),
    /// Follows QUIC's receiver after its peer has sent an `ACK_FREQUENCY` frame
    /// (draft-ietf-quic-ack-frequency).
    "ack-frequency" => AckFrequency(super::ack_frequency::AckFrequency),
    /// Follows drafts of QUIC: every packet for an eighth of a round-trip time after a gap,
    /// otherwise after a number of packets.
    "after-gap" => AfterGap(super::after_gap::AfterGap),
    /// Follows TACK's ACK frequency formula (Li et al., SIGCOMM 2020, §4.1): the smaller of
    /// bw/(L·MSS) and β/RTTmin ACKs per second.
    "tack" => Tack(super::tack::Tack),
    /// Follows ACK congestion control (RFC 5690): every R segments; the sender doubles R when ACKs
    /// are lost.
    "ack-congestion-control" => AckCongestionControl(super::congestion_control::AckCongestionControl),
    /// Follows the sender's requests by TARR (draft-ietf-tcpm-ack-rate-request): every R segments,
    /// or immediately.
    "ack-rate-request" => AckRateRequest(super::ack_rate_request::AckRateRequest),
}

impl PolicyConfig {
    /// Checks the constraints that the schema cannot express, which are the bounds of timers. The
    /// schema contains the minimum of each count.
    ///
    /// # Errors
    /// If a timer is out of bounds.
    pub fn check(&self) -> Result<(), Fault> {
        for Timer { key, value, most } in self.timers() {
            above_zero(key, value)?;
            if let Some(most) = most.filter(|most| value > *most) {
                return Err(Fault::expected(key, format!("at most {most}")));
            }
        }
        Ok(())
    }

    /// Returns the maximum delay of an ACK, if its settings limit it.
    #[must_use]
    pub fn longest_delay(&self) -> Option<Duration> {
        each_settings!(self, settings => settings.longest_delay(), else None)
    }

    fn timers(&self) -> Vec<Timer> {
        each_settings!(self, settings => settings.timers(), else Vec::new())
    }
}

delegate_policy!(Policy, each);

impl Policy {
    /// Creates the policy with these settings. Returns `None` if it is custom.
    #[must_use]
    pub fn new(config: PolicyConfig) -> Option<Self> {
        Some(make!(config, settings => settings.policy(), else return None))
    }

    /// Returns the name of a reason in the `acks` table.
    #[must_use]
    pub fn reason_name(&self, reason: Reason) -> &str {
        match reason {
            Reason::Custom(own) => self.reason(own.number() as u8),
            _ => reason.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::assert_schema_names;

    #[test]
    fn the_schema_names_what_is_built_in() {
        let built_in: Vec<PolicyConfig> = PolicyConfig::built_in().collect();
        assert_schema_names::<PolicyConfig>("policy", built_in.iter().map(PolicyConfig::name));
    }

    #[test]
    fn defaults_are_settings_that_may_be_set() {
        for config in PolicyConfig::built_in() {
            for Timer { key, value, most } in config.timers() {
                assert!(!value.is_zero() && most.is_none_or(|most| value <= most), "{}: {key}", config.name());
            }
            assert!(Policy::new(config).is_some());
        }
    }
}
