//! Accounts for the use of the medium to the nanosecond.

use acklab_base::{Duration, Instant};
use std::ops::Range;

/// The use of a time interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// PPDUs with data, including preambles. The time of a PPDU that also carries ACKs is divided
    /// by octets.
    Data,
    /// PPDUs with pure ACKs of the transport.
    TransportAck,
    /// ACK and Block ACK frames.
    LinkAck,
    /// The extension of link ACKs by compressed ACKs of the transport.
    CompressedAck,
    /// RTS, CTS, Block ACK requests and beacons.
    Control,
    /// SIFS, DIFS and AIFS.
    Interframe,
    /// Backoff slots while an EDCAF has something to send, waits for timeouts, and the part of EIFS
    /// beyond AIFS.
    Backoff,
    /// Transmissions lost because another transmission overlapped at the receiver.
    Collision,
    /// Transmissions lost for another reason.
    Lost,
    /// Time during which no EDCAF had anything to send.
    Idle,
}

impl Use {
    /// All, in the order of the tables.
    pub const ALL: [Self; 10] = [
        Self::Data,
        Self::TransportAck,
        Self::LinkAck,
        Self::CompressedAck,
        Self::Control,
        Self::Interframe,
        Self::Backoff,
        Self::Collision,
        Self::Lost,
        Self::Idle,
    ];

    /// Returns its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::TransportAck => "transport_ack",
            Self::LinkAck => "link_ack",
            Self::CompressedAck => "compressed_ack",
            Self::Control => "control",
            Self::Interframe => "interframe_space",
            Self::Backoff => "backoff",
            Self::Collision => "collision",
            Self::Lost => "lost",
            Self::Idle => "idle",
        }
    }
}

/// Time by node and use inside a window. The entries add up to the length of the window.
#[derive(Clone, Debug)]
pub struct Airtime {
    window: Range<Instant>,
    /// All time before this instant has been assigned to a node and a use.
    booked: Instant,
    by_node: Vec<[Duration; Use::ALL.len()]>,
}

impl Airtime {
    pub(crate) fn new(nodes: usize) -> Self {
        let window = Instant::ZERO..Instant::FAR_FUTURE;
        Self { window, booked: Instant::ZERO, by_node: vec![[Duration::ZERO; Use::ALL.len()]; nodes] }
    }

    pub(crate) fn measure(&mut self, window: Range<Instant>) {
        self.window = window;
    }

    /// Returns the instant up to which all time has been assigned to a node and a use.
    pub(crate) const fn booked(&self) -> Instant {
        self.booked
    }

    /// Adds the time from the last booked instant to `until` to the time of `node` for the use
    /// `what`.
    pub(crate) fn book(&mut self, node: usize, what: Use, until: Instant) {
        if until <= self.booked {
            return;
        }
        let (from, to) = (self.booked.max(self.window.start), until.min(self.window.end));
        self.by_node[node][what as usize] += to.since(from);
        self.booked = until;
    }

    /// Returns the time of `node` for the use `what`.
    #[must_use]
    pub fn of(&self, node: usize, what: Use) -> Duration {
        self.by_node[node][what as usize]
    }

    /// Returns the time of all nodes for the use `what`.
    #[must_use]
    pub fn total(&self, what: Use) -> Duration {
        self.by_node.iter().fold(Duration::ZERO, |sum, node| sum + node[what as usize])
    }
}
