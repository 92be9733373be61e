//! What endpoints tell as it happens: one vocabulary for tests, traces, metrics and reports.

use crate::Duration;
use std::fmt;

/// Something that happened inside an endpoint and that no segment shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is done.
    Established,
    /// Loss was detected; recovery lasts until this stream offset is acknowledged.
    RecoveryEntered {
        /// The recovery point.
        until: u64,
    },
    /// Everything that was outstanding when recovery began has been acknowledged.
    RecoveryExited,
    /// The retransmission timer expired (RFC 6298, §5.4).
    RetransmissionTimeout {
        /// How often in a row.
        backoff: u32,
    },
    /// The window is being reduced without anything to repair, until this stream offset is acknowledged (RFC 3168, §6.1.2; RFC 8985,
    /// §7.4).
    WindowReduced {
        /// Where that ends.
        until: u64,
    },
    /// The last reduction was for nothing and is undone (RFC 3522, RFC 3708).
    Undone,
    /// The tail of the flight was probed (RFC 8985, §7.3).
    TailLossProbe {
        /// With the last segment, for want of new data.
        is_retransmission: bool,
    },
    /// A window that is shut was probed (RFC 9293, §3.8.6.1).
    WindowProbe,
    /// The SYN was not answered in time.
    SynTimeout,
    /// Everything has been sent and acknowledged, the FIN included.
    Finished,
    /// The ACK policy has decided about an arrival, for those who have [asked](crate::Endpoint::tell_decisions) to be told.
    AckDecided {
        /// What it decided.
        when: AckTime,
        /// Why: the place of the reason among those of [`Endpoint::tell_acknowledgments`](crate::Endpoint::tell_acknowledgments).
        reason: usize,
        /// Packets with data that had arrived since the last acknowledgment.
        unacknowledged: u64,
    },
    /// Something that only one transport knows.
    Other {
        /// What.
        name: &'static str,
        /// A number that says more.
        value: u64,
    },
}

/// When an ACK policy wants an acknowledgment sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckTime {
    /// At once.
    Now,
    /// After so long, unless something makes it happen before.
    In(Duration),
    /// With what follows.
    Hold,
}

impl AckTime {
    /// Its name, as it stands in the table of decisions.
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
    /// Its name, as it stands in the events table.
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
            Self::Other { value, .. } => write!(f, "{value}"),
            _ => Ok(()),
        }
    }
}
