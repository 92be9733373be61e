//! What endpoints tell of themselves: one vocabulary for tests, traces, metrics and reports.

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
    /// The window is reduced for a mark that was echoed, until this stream offset is acknowledged.
    WindowReduced {
        /// What had been sent by then.
        until: u64,
    },
    /// Everything that was outstanding when recovery began has been acknowledged.
    RecoveryExited,
    /// The retransmission timer expired (RFC 6298, §5.4).
    RetransmissionTimeout {
        /// How often in a row.
        backoff: u32,
    },
    /// The SYN was not answered in time.
    SynTimeout,
    /// Everything has been sent and acknowledged, the FIN included.
    Finished,
}

impl Event {
    /// Its name, as it stands in the events table.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Established => "established",
            Self::RecoveryEntered { .. } => "recovery-entered",
            Self::WindowReduced { .. } => "window-reduced",
            Self::RecoveryExited => "recovery-exited",
            Self::RetransmissionTimeout { .. } => "retransmission-timeout",
            Self::SynTimeout => "syn-timeout",
            Self::Finished => "finished",
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RecoveryEntered { until } | Self::WindowReduced { until } => write!(f, "until offset {until}"),
            Self::RetransmissionTimeout { backoff } => write!(f, "backoff {backoff}"),
            _ => Ok(()),
        }
    }
}
