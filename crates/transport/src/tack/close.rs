//! Closes a connection.
//!
//! Each direction of a stream ends separately, so a connection may be half closed. The client
//! closes the connection once both ends have closed every stream, and all data have arrived. Either
//! end may close the connection earlier, with a code. An end repeats its Close until the peer
//! answers with a Close, at most ten times. An end that is closed answers packets with a Close, ten
//! times in total. The connection also ends if the peer acknowledges packets that were never sent,
//! or at the [idle timeout](super::idle).

use super::connection::{Connection, Phase};
use crate::recovery::alarm::Alarm;
use crate::streams::Side;
use acklab_base::event::Closing;
use acklab_base::{Event, Instant};
use acklab_wire::tack::{Frame, Packet};

/// Code: both ends have completed all streams.
const DONE: u32 = 0;
/// Code: the peer has violated the protocol (RFC 9000, §20.1: PROTOCOL_VIOLATION). Codes of
/// applications are below 2³¹.
pub(super) const PROTOCOL_VIOLATION: u32 = 1 << 31 | 0x0a;
/// Maximum number of Close frames that an end sends, first and in response to packets. A peer that
/// has not answered so many is unreachable.
const MAX_CLOSES: u32 = 10;
/// Maximum number of times that the interval between two Close frames doubles.
const MAX_DOUBLINGS: u32 = 6;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Close {
    /// `true` if a Close is due.
    is_due: bool,
    /// `true` if this end closed first and waits for an answer.
    asks: bool,
    is_answered: bool,
    sent: u32,
    repeats: Alarm,
    reason: Option<Closing>,
}

impl Close {
    /// Returns when the Close is due again.
    #[inline]
    pub(super) fn repeats_at(&self) -> Option<Instant> {
        self.repeats.at()
    }
}

impl Connection {
    /// Returns the reason why the connection has ended, or `None` if it is open.
    #[must_use]
    pub const fn closing(&self) -> Option<Closing> {
        self.close.reason
    }

    /// Ends the connection immediately and sends `code` to the peer. Code zero means that both ends
    /// have completed all streams.
    pub fn abort(&mut self, code: u32) {
        self.close_for(Closing::Application, code);
    }

    /// Ends the connection immediately without a Close, because the peer is unreachable.
    pub fn abandon(&mut self, reason: Closing) {
        if !matches!(self.phase, Phase::Closed { .. }) {
            self.end(reason, DONE);
        }
    }

    /// Ends the connection and sends a Close to the peer.
    pub(super) fn close_for(&mut self, reason: Closing, code: u32) {
        if !matches!(self.phase, Phase::Closed { .. }) {
            let has_peer = self.phase == Phase::Established;
            (self.close.is_due, self.close.asks) = (has_peer, has_peer);
            self.end(reason, code);
            self.output.note_change();
        }
    }

    /// Ends the connection without a Close.
    pub(super) fn end(&mut self, reason: Closing, code: u32) {
        self.phase = Phase::Closed { code };
        self.close.reason = Some(reason);
        self.sender.abandon();
        self.events.push(Event::Closed { reason, code: code.into() });
    }

    /// Closes the connection at the client once all streams are complete.
    #[inline]
    pub(super) fn close_if_done(&mut self) {
        let is_done = self.is_finished && self.side == Side::Client && self.phase == Phase::Established;
        if is_done && self.streams.table.all_received() {
            self.abort(DONE);
        }
    }

    /// Handles the peer's Close.
    pub(super) fn on_close(&mut self, code: u32) {
        if !matches!(self.phase, Phase::Closed { .. }) {
            // Zero may also be a code of the application. Then it does not imply that all data have
            // arrived.
            if code == DONE && self.streams.table.main().outgoing.is_closed() {
                // The Close arrived before the TACK that acknowledges everything.
                self.streams.table.on_all_acked();
                self.finish_if_all_sent();
            }
            self.end(Closing::Application, code);
            self.close.is_due = true;
        }
    }

    /// Handles a packet that arrives after the connection has ended.
    pub(super) fn take_after_end(&mut self, packet: &Packet) {
        let closes = packet.frames.iter().any(|frame| matches!(frame, Frame::Close { .. }));
        if !closes {
            self.close.is_due |= self.close.sent < MAX_CLOSES;
        } else if self.close.asks {
            self.close.is_answered = true;
            self.close.repeats.set(None);
        } else {
            // The limit ends the exchange if two ends answer each other after a forged Close.
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
