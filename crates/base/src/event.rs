//! Events inside endpoints: one vocabulary for tests, traces, metrics and reports.

use crate::Duration;
use std::fmt;

/// An event inside an endpoint that cannot be read from its segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Established,
    /// The sender detected a loss and entered recovery.
    RecoveryEntered {
        /// The recovery point: the stream offset whose acknowledgment ends recovery.
        until: u64,
    },
    /// The recovery point was acknowledged.
    RecoveryExited,
    /// The retransmission timer expired (RFC 6298, §5.4).
    RetransmissionTimeout {
        /// The number of consecutive expirations.
        backoff: u32,
    },
    /// The sender reduces its congestion window although there is nothing to retransmit (RFC 3168,
    /// §6.1.2; RFC 8985, §7.4).
    WindowReduced {
        /// The stream offset whose acknowledgment ends the reduction.
        until: u64,
    },
    /// The last reduction proved spurious and was undone (RFC 3522, RFC 3708).
    Undone,
    /// The sender sent a tail loss probe (RFC 8985, §7.3).
    TailLossProbe {
        /// `true` if the probe repeats the last segment, because there were no new data.
        is_retransmission: bool,
    },
    /// The sender probed a zero window (RFC 9293, §3.8.6.1).
    WindowProbe,
    /// The SYN timed out.
    SynTimeout,
    /// All data and the FIN have been sent and acknowledged.
    Finished,
    /// The ACK policy decided when to acknowledge an arrival. Recorded only after a call of
    /// [`record_decisions`](crate::Endpoint::record_decisions).
    AckDecided {
        /// When the policy sends the acknowledgment.
        when: AckTime,
        /// The reason, as an index among those of
        /// [`Endpoint::report_ack_reasons`](crate::Endpoint::report_ack_reasons).
        reason: usize,
        /// Data packets that have arrived since the last acknowledgment.
        unacknowledged: u64,
    },
    /// A packet of data was declared lost. Recorded only after a call of
    /// [`record_losses`](crate::Endpoint::record_losses).
    PacketLost {
        /// The packet number.
        number: u64,
    },
    /// A segment of a transport without packet numbers was declared lost. Recorded only after a
    /// call of [`record_losses`](crate::Endpoint::record_losses).
    SegmentLost {
        /// The stream offset of the first octet of the segment.
        offset: u64,
    },
    /// All packets were lost for so long that the path must have changed (RFC 9002, §7.6).
    PersistentCongestion,
    /// The size of datagrams has changed, because the path carries larger or only smaller datagrams
    /// than assumed (RFC 8899).
    DatagramSize {
        /// The maximum size of a datagram from now on.
        octets: u64,
    },
    /// The connection is closed.
    Closed {
        /// The reason.
        reason: Closing,
        /// The error code of the application or of the transport. Zero if there is no error.
        code: u64,
    },
    /// An event that only one transport has.
    Other {
        /// The name of the event.
        name: &'static str,
        /// A value whose meaning depends on the event.
        value: u64,
    },
}

/// When an ACK policy sends an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckTime {
    /// The policy sends the acknowledgment immediately.
    Now,
    /// The policy sends the acknowledgment after this delay, or earlier if a later arrival requires
    /// it.
    In(Duration),
    /// The time is not set: a later arrival or the next data packet triggers the acknowledgment.
    Hold,
}

/// The reason why a connection was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// An application has closed it, with code zero if both ends have sent and received all data.
    Application,
    /// An end has detected a violation of the protocol.
    ProtocolViolation,
    /// The idle timeout has expired.
    IdleTimeout,
    /// The peer has reset the connection, or has no state for it.
    Reset,
}

impl Closing {
    /// Returns the name in the events table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Application => "closed",
            Self::ProtocolViolation => "failed",
            Self::IdleTimeout => "idle-timeout",
            Self::Reset => "reset",
        }
    }
}

impl AckTime {
    /// Returns the name in the decisions table.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::In(_) => "later",
            Self::Hold => "hold",
        }
    }
}

impl Event {
    /// Returns the name in the events table.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Established => "established",
            Self::RecoveryEntered { .. } => "recovery-entered",
            Self::RecoveryExited => "recovery-exited",
            Self::RetransmissionTimeout { .. } => "retransmission-timeout",
            Self::WindowReduced { .. } => "window-reduced",
            Self::Undone => "undone",
            Self::TailLossProbe { .. } => "tail-loss-probe",
            Self::WindowProbe => "window-probe",
            Self::SynTimeout => "syn-timeout",
            Self::Finished => "finished",
            Self::AckDecided { when, .. } => when.name(),
            Self::PacketLost { .. } => "packet-lost",
            Self::SegmentLost { .. } => "segment-lost",
            Self::PersistentCongestion => "persistent-congestion",
            Self::DatagramSize { .. } => "datagram-size",
            Self::Closed { reason, .. } => reason.name(),
            Self::Other { name, .. } => name,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TailLossProbe { is_retransmission } => {
                f.write_str(if *is_retransmission { "the last segment" } else { "new data" })
            }
            Self::RecoveryEntered { until } | Self::WindowReduced { until } => write!(f, "until offset {until}"),
            Self::RetransmissionTimeout { backoff } => write!(f, "backoff {backoff}"),
            Self::AckDecided { unacknowledged, .. } => write!(f, "{unacknowledged} unacknowledged"),
            Self::PacketLost { number } => write!(f, "{number}"),
            Self::SegmentLost { offset } => write!(f, "at offset {offset}"),
            Self::DatagramSize { octets } => write!(f, "{octets} octets"),
            Self::Closed { code: value, .. } | Self::Other { value, .. } => write!(f, "{value}"),
            _ => Ok(()),
        }
    }
}
