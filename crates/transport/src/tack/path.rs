//! Whether the path carries packets both ways (RFC 9000, §8.2).
//!
//! The connection knows no addresses. Its driver sees that a peer has moved, and has it challenged.
//! Whoever receives a Challenge returns its value.

use super::connection::Connection;
use crate::cc::Controller;
use acklab_base::Instant;
use acklab_wire::tack::{Frame, Frames};

/// What was asked of the peer, and what it has asked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    /// The value that the peer has yet to return.
    challenge: Option<u64>,
    /// The Challenge is to leave.
    asks: bool,
    /// The peer has returned the value.
    is_validated: bool,
    /// The value that the peer is to get back.
    owed: Option<u64>,
}

impl Path {
    /// The peer asks.
    pub(super) const fn on_challenge(&mut self, value: u64) {
        self.owed = Some(value);
    }

    /// The peer answers. A value that nobody has asked for says nothing.
    pub(super) fn on_response(&mut self, value: u64) {
        if self.challenge == Some(value) {
            self.challenge = None;
            self.is_validated = true;
        }
    }

    /// A Challenge is lost.
    pub(super) const fn on_lost(&mut self) {
        self.asks = self.challenge.is_some();
    }

    /// Returns `true` if a Challenge or a Response is to leave.
    #[inline]
    pub(super) const fn owes(&self) -> bool {
        self.asks || self.owed.is_some()
    }

    /// Appends what is to leave. Returns whether a Challenge is among it, or `None` if nothing is
    /// to leave.
    pub(super) fn take(&mut self, frames: &mut Frames) -> Option<bool> {
        if !self.owes() {
            return None;
        }
        if let Some(value) = self.owed.take() {
            frames.push(Frame::Response(value));
        }
        let value = self.challenge.filter(|_| std::mem::take(&mut self.asks));
        if let Some(value) = value {
            frames.push(Frame::Challenge(value));
        }
        Some(value.is_some())
    }
}

impl Connection {
    /// Asks the peer to return `value`, which nobody can guess, so that
    /// [`take_validation`](Self::take_validation) tells that packets go both ways. Replaces the
    /// value that was asked for before. A lost question is repeated.
    pub fn challenge(&mut self, value: u64) {
        self.path = Path { challenge: Some(value), asks: true, is_validated: false, ..self.path };
        self.output.note_change();
    }

    /// The peer has moved, and the path to it is another one: congestion control, which
    /// `controller` begins anew, round trips and the size of packets follow from what is measured
    /// from now on (RFC 9000, §9.4, §14.3).
    pub fn on_path_change(&mut self, now: Instant, controller: Controller) {
        self.sender.on_path_change(now, controller);
        self.mtu.restart();
        self.output.note_change();
    }

    /// Returns `true` once after the peer has returned the value of the last
    /// [`challenge`](Self::challenge).
    pub fn take_validation(&mut self) -> bool {
        std::mem::take(&mut self.path.is_validated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(path: &mut Path) -> (Option<bool>, Vec<Frame>) {
        let mut frames = Frames::default();
        (path.take(&mut frames), frames.iter().cloned().collect())
    }

    #[test]
    fn the_value_that_was_asked_for_validates() {
        let mut path = Path { challenge: Some(7), asks: true, ..Path::default() };
        assert_eq!(taken(&mut path), (Some(true), vec![Frame::Challenge(7)]));
        assert_eq!((path.owes(), taken(&mut path)), (false, (None, vec![])));
        path.on_response(8);
        assert!(!path.is_validated, "a guess");
        path.on_lost();
        assert_eq!(taken(&mut path), (Some(true), vec![Frame::Challenge(7)]));
        path.on_response(7);
        path.on_lost();
        assert!(path.is_validated && !path.owes(), "nothing is asked any more");
    }

    #[test]
    fn what_the_peer_asks_is_returned() {
        let mut path = Path { challenge: Some(7), asks: true, ..Path::default() };
        path.on_challenge(9);
        assert_eq!(taken(&mut path), (Some(true), vec![Frame::Response(9), Frame::Challenge(7)]));
    }
}
