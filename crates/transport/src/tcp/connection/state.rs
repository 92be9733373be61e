//! The state of the connection (RFC 9293, §3.3.2).
//!
//! The state is derived from both halves: whether this end's FIN was sent and acknowledged, and
//! whether the peer's FIN has arrived.

use super::super::sender::Phase;
use super::Connection;

/// The states of RFC 9293, §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not opened yet, finished in both directions, or ended by a RST.
    Closed,
    /// Waits for a SYN.
    Listen,
    /// The SYN has been sent.
    SynSent,
    /// The peer's SYN has arrived, and the SYN-ACK is not acknowledged yet.
    SynReceived,
    /// Data may be sent in both directions.
    Established,
    /// This end's FIN has been sent.
    FinWait1,
    /// This end's FIN is acknowledged. The peer may still send.
    FinWait2,
    /// The peer's FIN has arrived. This end may still send.
    CloseWait,
    /// Both ends have sent a FIN at the same time, and this end's FIN is not acknowledged.
    Closing,
    /// The peer's FIN arrived first, and this end's FIN has been sent.
    LastAck,
    /// Both FINs are acknowledged. If the last ACK is lost, the peer's FIN arrives again and is
    /// acknowledged again. Connections are not reopened, so this state does not end after two
    /// maximum segment lifetimes.
    TimeWait,
}

impl State {
    /// Returns the state's name in RFC 9293.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED",
            Self::Listen => "LISTEN",
            Self::SynSent => "SYN-SENT",
            Self::SynReceived => "SYN-RECEIVED",
            Self::Established => "ESTABLISHED",
            Self::FinWait1 => "FIN-WAIT-1",
            Self::FinWait2 => "FIN-WAIT-2",
            Self::CloseWait => "CLOSE-WAIT",
            Self::Closing => "CLOSING",
            Self::LastAck => "LAST-ACK",
            Self::TimeWait => "TIME-WAIT",
        }
    }
}

impl Connection {
    /// Returns the state of the connection.
    #[must_use]
    pub fn state(&self) -> State {
        let (has_sent, has_received) = (self.sending.has_sent_fin(), self.receiving.has_all());
        match (self.sending.phase(), has_received) {
            (Phase::Closed | Phase::Aborted, _) => State::Closed,
            (Phase::Listen, _) => State::Listen,
            (Phase::SynSent, _) => State::SynSent,
            (Phase::SynReceived, _) => State::SynReceived,
            (Phase::Established, false) if has_sent => State::FinWait1,
            (Phase::Established, false) => State::Established,
            (Phase::Established, true) if !has_sent => State::CloseWait,
            (Phase::Established, true) if self.is_closed_by_peer => State::LastAck,
            (Phase::Established, true) => State::Closing,
            (Phase::Finished, false) => State::FinWait2,
            (Phase::Finished, true) if self.is_closed_by_peer => State::Closed,
            (Phase::Finished, true) => State::TimeWait,
        }
    }

    /// Returns `true` if both directions have finished: all data and both FINs are sent,
    /// acknowledged and received.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.sending.phase() == Phase::Finished && self.receiving.has_all()
    }
}
