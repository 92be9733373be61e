//! Closing a connection.
//!
//! Each direction of a stream ends by itself, so that a connection may stand half closed. Once both
//! ends have closed every stream, sent all of it and received all of it, the client says that the
//! connection is over; either may say so before, with a code. A Close is repeated until it is
//! answered by another, or for the tenth time. Whoever speaks to a closed connection is told again,
//! ten times in all. A peer that acknowledges what was never sent ends the connection as well, and
//! so does [silence](super::idle).

use super::connection::{Connection, Phase};
use crate::recovery::alarm::Alarm;
use crate::streams::Side;
use acklab_base::event::Closing;
use acklab_base::{Event, Instant};
use acklab_wire::tack::{Frame, Packet};

/// Both ends have said all.
const DONE: u32 = 0;
/// The peer has broken the protocol (RFC 9000, §20.1: PROTOCOL_VIOLATION). Codes of applications
/// lie below 2³¹.
pub(super) const PROTOCOL_VIOLATION: u32 = 1 << 31 | 0x0a;
/// The largest number of Close frames, unanswered or in response to others: a peer that has
/// answered none of them is gone.
const MAX_CLOSES: u32 = 10;
/// The largest number of times that the interval between two of them doubles.
const MAX_DOUBLINGS: u32 = 6;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Close {
    /// A Close is to leave.
    is_due: bool,
    /// This end was the first to say it, and waits for an answer.
    asks: bool,
    is_answered: bool,
    sent: u32,
    repeats: Alarm,
    reason: Option<Closing>,
}

impl Close {
    /// When a Close leaves again.
    #[inline]
    pub(super) fn repeats_at(&self) -> Option<Instant> {
        self.repeats.at()
    }
}

impl Connection {
    /// Why the connection is over. `None` as long as it is not.
    #[must_use]
    pub const fn closing(&self) -> Option<Closing> {
        self.close.reason
    }

    /// Ends the connection at once, with a code that says why; zero means that both ends have said
    /// all.
    pub fn abort(&mut self, code: u32) {
        self.close_for(Closing::Application, code);
    }

    /// Ends the connection at once and tells nobody, because there is nobody to be told.
    pub fn abandon(&mut self, reason: Closing) {
        if !matches!(self.phase, Phase::Closed { .. }) {
            self.end(reason, DONE);
        }
    }

    /// Ends the connection and tells the peer.
    pub(super) fn close_for(&mut self, reason: Closing, code: u32) {
        if !matches!(self.phase, Phase::Closed { .. }) {
            let has_peer = self.phase == Phase::Established;
            (self.close.is_due, self.close.asks) = (has_peer, has_peer);
            self.end(reason, code);
            self.output.note_change();
        }
    }

    /// Ends the connection without a word.
    pub(super) fn end(&mut self, reason: Closing, code: u32) {
        self.phase = Phase::Closed { code };
        self.close.reason = Some(reason);
        self.sender.abandon();
        self.events.push(Event::Closed { reason, code: code.into() });
    }

    /// The client says that all is done.
    #[inline]
    pub(super) fn close_if_done(&mut self) {
        let is_done = self.is_finished && self.side == Side::Client && self.phase == Phase::Established;
        if is_done && self.streams.table.all_received() {
            self.abort(DONE);
        }
    }

    /// The peer says that the connection is over.
    pub(super) fn on_close(&mut self, code: u32) {
        if !matches!(self.phase, Phase::Closed { .. }) {
            // An application may give zero as its code as well, and then says nothing of what has
            // arrived.
            if code == DONE && self.streams.table.main().outgoing.is_closed() {
                // It came before the TACK that says so.
                self.streams.table.on_all_acked();
                self.finish_if_all_sent();
            }
            self.end(Closing::Application, code);
            self.close.is_due = true;
        }
    }

    /// A packet has come to a connection that is over.
    pub(super) fn take_after_end(&mut self, packet: &Packet) {
        let closes = packet.frames.iter().any(|frame| matches!(frame, Frame::Close { .. }));
        if !closes {
            self.close.is_due |= self.close.sent < MAX_CLOSES;
        } else if self.close.asks {
            self.close.is_answered = true;
            self.close.repeats.set(None);
        } else {
            // Two ends that both believe to answer, after a forged Close, would answer each other
            // without end.
            self.close.is_due |= self.close.sent < MAX_CLOSES;
        }
    }

    pub(super) fn wake_close(&mut self, now: Instant) {
        self.close.is_due |= self.close.repeats.expire(now);
    }

    pub(super) fn close_frame(&mut self, now: Instant) -> Option<Frame> {
        let Phase::Closed { code } = self.phase else { return None };
        if !std::mem::take(&mut self.close.is_due) {
            return None;
        }
        let close = &mut self.close;
        close.sent += 1;
        if close.asks && !close.is_answered && close.sent < MAX_CLOSES {
            let factor = 1 << (close.sent - 1).min(MAX_DOUBLINGS);
            close.repeats.set(Some(now + self.sender.probe_timeout().saturating_mul(factor)));
        }
        Some(Frame::Close { code })
    }
}
