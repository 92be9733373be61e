//! The policies and their settings, as scenarios spell them.

use super::Ledger;
use crate::custom::Name;
use crate::fault::{Fault, above_zero};
use acklab_base::Duration;
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
    /// Every so many full-sized segments' worth of octets (Li et al., SIGCOMM 2020, §4.1: the byte-counting ACK).
    ByteCounting {
        /// Acknowledge with so many full-sized segments' worth of octets unacknowledged: L.
        #[serde(default = "two")]
        #[schemars(range(min = 1))]
        segments: u32,
        /// Acknowledge at the latest after this time. Without it, what does not fill the count waits for what follows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timer: Option<Duration>,
    },
    /// Delayed ACKs after slow start: every segment until the sender's window no longer doubles, and again after a loss (Allman, CCR
    /// 28(5), 1998; RFC 2760, §3.2.3).
    Daass {
        /// After slow start, acknowledge at the latest with this many segments unacknowledged.
        #[serde(default = "two")]
        #[schemars(range(min = 1))]
        segments: u32,
        /// After slow start, acknowledge at the latest after this time.
        #[serde(default = "two_hundred_milliseconds")]
        timer: Duration,
    },
    /// As Chrome's QUIC does: every second segment at first, then every tenth or after a quarter of the round trip.
    Chrome {
        /// Later on, acknowledge at the latest with this many segments unacknowledged.
        #[serde(default = "ten")]
        #[schemars(range(min = 1))]
        packets: u32,
        /// So many segments at the start of the connection are acknowledged by twos.
        #[serde(default = "hundred")]
        after: u32,
        /// Later on, acknowledge at the latest after the shortest round trip divided by this.
        #[serde(default = "four")]
        #[schemars(range(min = 1))]
        rtt_divisor: u32,
        /// Acknowledge at the latest after this time.
        #[serde(default = "twenty_five_milliseconds")]
        max_ack_delay: Duration,
    },
    /// As QUIC does without extensions (RFC 9000, §13.2): every so many segments in order or not, and at once for a new gap.
    Quic {
        /// Acknowledge at the latest with this many segments unacknowledged.
        #[serde(default = "two")]
        #[schemars(range(min = 1))]
        packets: u32,
        /// Acknowledge at the latest after this time.
        #[serde(default = "twenty_five_milliseconds")]
        max_ack_delay: Duration,
    },
    /// As QUIC's receiver does when its peer has sent an `ACK_FREQUENCY` frame (draft-ietf-quic-ack-frequency).
    AckFrequency {
        /// Acknowledge with more than this many segments unacknowledged.
        #[serde(default = "one")]
        ack_eliciting_threshold: u32,
        /// Acknowledge at the latest after this time.
        #[serde(default = "twenty_five_milliseconds")]
        requested_max_ack_delay: Duration,
        /// Report a gap at once when it lies back by this many segments; 0 for never.
        #[serde(default = "one")]
        reordering_threshold: u32,
    },
    /// The law of TACK (Li et al., SIGCOMM 2020, §4.1): bw/(L·MSS) or β/RTTmin ACKs a second, whichever is less.
    Tack {
        /// Full-sized segments an ACK, where byte counting governs: L.
        #[serde(default = "two")]
        #[schemars(range(min = 1))]
        segments: u32,
        /// ACKs in the shortest round trip, where time governs: β.
        #[serde(default = "four")]
        #[schemars(range(min = 2))]
        beta: u32,
        /// The bandwidth is the largest delivery rate of so many round trips: θ, 5 to 10 in the paper.
        #[serde(default = "ten")]
        #[schemars(range(min = 1))]
        bandwidth_window: u32,
        /// The shortest round trip is that of so much time: τ, at most 10 s in the paper.
        #[serde(default = "ten_seconds")]
        rtt_window: Duration,
        /// Acknowledge every segment until the sender's window no longer doubles (Li et al., ToN 2021, §VI-D).
        #[serde(default)]
        per_packet_startup: bool,
    },
    /// ACK congestion control (RFC 5690): every R segments, where the sender doubles R when ACKs are lost.
    AckCongestionControl {
        /// Acknowledge at the latest after this time, at most 500 ms.
        #[serde(default = "two_hundred_milliseconds")]
        timer: Duration,
    },
    /// One of your own, which the run is given.
    Custom {
        /// What it is called there.
        #[schemars(length(max = 32), example = &"mine")]
        name: Name,
    },
}

/// RFC 5690, §4.6.
const LONGEST_DELAYED_ACK: Duration = Duration::from_millis(500);
/// The shortest round trip of the receivers that keep it for ever.
const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);

const fn one() -> u32 {
    1
}

const fn two() -> u32 {
    2
}

const fn four() -> u32 {
    4
}

const fn ten() -> u32 {
    10
}

const fn hundred() -> u32 {
    100
}

const fn ten_seconds() -> Duration {
    Duration::from_secs(10)
}

const fn twenty_five_milliseconds() -> Duration {
    Duration::from_millis(25)
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
            Self::ByteCounting { .. } => "byte-counting",
            Self::Daass { .. } => "daass",
            Self::Chrome { .. } => "chrome",
            Self::Quic { .. } => "quic",
            Self::AckFrequency { .. } => "ack-frequency",
            Self::Tack { .. } => "tack",
            Self::AckCongestionControl { .. } => "ack-congestion-control",
            Self::Custom { name } => name,
        }
    }

    /// Checks what the schema cannot say: timers run for some time. The least of each count stands in the schema.
    ///
    /// # Errors
    /// If a timer does not.
    pub fn check(&self) -> Result<(), Fault> {
        match *self {
            Self::PerPacket {} | Self::Linux {} | Self::Custom { .. } => Ok(()),
            Self::Delayed { timer, .. } | Self::Daass { timer, .. } => above_zero("timer", timer),
            Self::ByteCounting { timer, .. } => timer.map_or(Ok(()), |timer| above_zero("timer", timer)),
            Self::Chrome { max_ack_delay, .. } | Self::Quic { max_ack_delay, .. } => {
                above_zero("max_ack_delay", max_ack_delay)
            }
            Self::AckFrequency { requested_max_ack_delay, .. } => {
                above_zero("requested_max_ack_delay", requested_max_ack_delay)
            }
            Self::Tack { rtt_window, .. } => above_zero("rtt_window", rtt_window),
            Self::AckCongestionControl { timer } => {
                above_zero("timer", timer)?;
                if timer > LONGEST_DELAYED_ACK {
                    return Err(Fault::expected("timer", format!("at most {LONGEST_DELAYED_ACK}")));
                }
                Ok(())
            }
        }
    }

    /// An empty ledger that measures what a built-in policy goes by, and nothing else.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        let ledger = Ledger::default();
        match *self {
            Self::Linux {} | Self::Daass { .. } | Self::Chrome { .. } => ledger.with_round_trip(FOR_EVER),
            Self::Tack { beta, bandwidth_window, rtt_window, .. } => {
                ledger.with_round_trip(rtt_window).with_delivery(beta, bandwidth_window)
            }
            _ => ledger,
        }
    }
}
