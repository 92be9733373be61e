//! Ends a connection (RFC 9000, §10).
//!
//! The client closes the connection once both ends have closed every stream, and all data have
//! arrived. Either end may close earlier with a code of the application. An end must close if its
//! peer violates the protocol. The end that closes repeats its `CONNECTION_CLOSE` in response to
//! packets for three probe timeouts (closing state). Its peer sends no more packets (draining
//! state).

use super::connection::{Connection, Phase};
use super::space;
use crate::recovery::alarm::Alarm;
use crate::streams::Side;
use acklab_base::event::Closing;
use acklab_base::{Event, Instant};
use acklab_wire::quic::{self, Datagram, Frame, TransportError};
use acklab_wire::sequence::Sequence;

/// The code that is sent if an application closes before the handshake is complete:
/// `APPLICATION_ERROR`. The code of the application must not be sent then (RFC 9000, §10.2.3).
const APPLICATION_ERROR: u64 = 0x0c;
/// Duration of the closing and draining states, as a number of probe timeouts (§10.2).
const PERIODS: u64 = 3;

/// The reason why a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// An application closed the connection with this code. Zero: both ends have completed all
    /// streams.
    Application(u64),
    /// The protocol was violated. The value is the code of the transport error.
    Transport(u64),
    /// The idle timeout expired.
    IdleTimeout,
}

impl Ended {
    /// Returns the code, or zero.
    const fn code(self) -> u64 {
        match self {
            Self::Application(code) | Self::Transport(code) => code,
            Self::IdleTimeout => 0,
        }
    }

    const fn reason(self) -> Closing {
        match self {
            Self::Application(_) => Closing::Application,
            Self::Transport(_) => Closing::ProtocolViolation,
            Self::IdleTimeout => Closing::IdleTimeout,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Close {
    /// `true` if a `CONNECTION_CLOSE` is due.
    is_due: bool,
    /// The end of the closing state, in which this end answers packets. Unset in the draining state
    /// and afterwards.
    closing_until: Alarm,
    /// The number of datagrams received since the close. The first, second, fourth and so on are
    /// answered.
    came: u64,
}

impl Close {
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.closing_until.at()
    }

    pub(super) fn wake(&mut self, now: Instant) {
        self.closing_until.expire(now);
    }
}

impl Connection {
    /// Ends the connection immediately, with a code of the application. Zero means that both ends
    /// have completed all streams.
    pub fn abort(&mut self, now: Instant, code: u64) {
        self.end_and_tell(now, Ended::Application(code));
    }

    /// Closes the connection because the peer violated the protocol.
    pub(super) fn fail(&mut self, now: Instant, error: TransportError) {
        self.end_and_tell(now, Ended::Transport(error.code()));
    }

    fn end_and_tell(&mut self, now: Instant, ended: Ended) {
        if matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        let has_peer = matches!(self.phase, Phase::Handshaking | Phase::Established);
        if has_peer {
            let period = self.probe_timeout(space::Id::Application).saturating_mul(PERIODS);
            self.close.closing_until.set(Some(now + period));
            self.close.is_due = true;
        }
        self.end(ended);
    }

    pub(super) fn end(&mut self, ended: Ended) {
        self.phase = Phase::Closed(ended);
        for id in space::Id::ALL {
            self.sender.abandon(id);
        }
        self.events.push(Event::Closed { reason: ended.reason(), code: ended.code() });
        self.output.note_change();
    }

    /// Closes the connection at the client once all streams are complete.
    #[inline]
    pub(super) fn close_if_done(&mut self, now: Instant) {
        if self.side == Side::Client && self.phase == Phase::Established && self.is_done() {
            self.abort(now, 0);
        }
    }

    /// Handles the peer's `CONNECTION_CLOSE`.
    pub(super) fn on_close(&mut self, close: &quic::Close) {
        let ended = match close.frame_type {
            Some(_) => Ended::Transport(close.code),
            None => Ended::Application(close.code),
        };
        // A client that closes without error has received all data, even if its last ACK was lost.
        if ended == Ended::Application(0) && self.data.table().main().outgoing.is_closed() {
            self.finish();
        }
        self.end(ended);
    }

    /// Handles a datagram that arrives after the connection has ended.
    pub(super) fn take_after_end(&mut self, datagram: &Datagram) {
        if datagram.frames().any(|frame| matches!(frame, Frame::Close(_))) {
            self.close.closing_until.set(None);
        }
        if self.close.closing_until.is_set() {
            self.close.came += 1;
            self.close.is_due |= self.close.came.is_power_of_two();
        }
    }

    /// Returns the closing datagram. It has packets of all types that the peer may be able to read
    /// (§10.2.3).
    pub(super) fn close_datagram(&mut self, now: Instant) -> Option<Datagram> {
        let Phase::Closed(ended) = self.phase else { return None };
        if !std::mem::take(&mut self.close.is_due) || self.unvalidated_room() < quic::MIN_INITIAL {
            return None;
        }
        let mut packets = Sequence::default();
        for id in space::Id::ALL {
            if !self.spaces[id].is_usable() {
                continue;
            }
            let (code, frame_type) = match ended {
                Ended::Application(code) if id == space::Id::Application => (code, None),
                Ended::Application(_) => (APPLICATION_ERROR, Some(0)),
                ended => (ended.code(), Some(0)),
            };
            let frame = Frame::Close(quic::Close { code, frame_type, reason: 0 });
            let number = self.sender.pass(id);
            packets.push(self.packet(id, number, frame.into()));
        }
        self.pad_initial(&mut packets, true);
        let octets = packets.iter().map(quic::Packet::wire_len).sum();
        Some(self.datagram(now, packets, octets, false))
    }
}
