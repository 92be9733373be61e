//! Validates that the path carries packets in both directions (RFC 9000, §8.2).
//!
//! The connection processes no addresses. Its driver detects that the address of a peer has
//! changed, and triggers a Challenge. The receiver of a Challenge returns the value of the
//! Challenge.

use super::connection::Connection;
use crate::cc::Controller;
use acklab_base::Instant;
use acklab_wire::tack::{Frame, Frames};

/// The outstanding Challenges of this end and of the peer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    /// The value of the outstanding Challenge.
    challenge: Option<u64>,
    /// `true` if a Challenge is due.
    asks: bool,
    /// `true` if the peer has returned the value.
    is_validated: bool,
    /// The value to return to the peer.
    owed: Option<u64>,
}

impl Path {
    /// Handles a Challenge of the peer.
    pub(super) const fn on_challenge(&mut self, value: u64) {
        self.owed = Some(value);
    }

    /// Handles a Response of the peer. A Response to no outstanding Challenge is ignored.
    pub(super) fn on_response(&mut self, value: u64) {
        if self.challenge == Some(value) {
            self.challenge = None;
            self.is_validated = true;
        }
    }

    /// Schedules the Challenge again because it was lost.
    pub(super) const fn on_lost(&mut self) {
        self.asks = self.challenge.is_some();
    }

    /// Returns `true` if a Challenge or a Response is due.
    #[inline]
    pub(super) const fn owes(&self) -> bool {
        self.asks || self.owed.is_some()
    }

    /// Appends the frames that are due. Returns whether a Challenge is due, or `None` if no frame
    /// is due.
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
    /// Sends a Challenge with `value`, which must be unpredictable. Afterwards,
    /// [`take_validation`](Self::take_validation) reports that packets pass in both directions. The
    /// value replaces the value of an earlier Challenge. A lost Challenge is repeated.
    pub fn challenge(&mut self, value: u64) {
        self.path = Path { challenge: Some(value), asks: true, is_validated: false, ..self.path };
        self.output.note_change();
    }

    /// Resets the state of the path after the address of the peer has changed. Congestion control
    /// starts anew with `controller`. Round-trip times and the packet size depend only on later
    /// measurements (RFC 9000, §9.4, §14.3).
    pub fn on_path_change(&mut self, now: Instant, controller: Controller) {
        self.sender.on_path_change(now, controller);
        self.mtu.restart();
        self.output.note_change();
    }

    /// Returns `true` once, after the peer has returned the value of the last
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
