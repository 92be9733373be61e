//! Closing a connection.
//!
//! Each direction of a stream ends by itself, so that a connection may stand half closed. Once both ends have closed every stream, sent
//! all of it and received all of it, the opener says that the connection is over; either may say so before, with a code. Whoever speaks to
//! a closed connection is told again.

use super::connection::{Connection, Phase};
use super::streams::Side;
use acklab_base::Event;
use acklab_wire::tack::Frame;

/// Both ends have said all.
const DONE: u32 = 0;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Close {
    /// A Close is to leave.
    is_due: bool,
}

impl Connection {
    /// Ends the connection at once, with a code that says why; zero means that both ends have said all.
    pub fn abort(&mut self, code: u32) {
        if !matches!(self.phase, Phase::Closed { .. }) {
            self.close.is_due = self.phase == Phase::Established;
            self.end(code);
            self.output.stir();
        }
    }

    fn end(&mut self, code: u32) {
        self.phase = Phase::Closed { code };
        let outstanding = self.sender.board.abandon();
        drop(outstanding);
        self.events.push_back(Event::Other { name: "closed", value: code.into() });
    }

    /// The opener says that all is done.
    #[inline]
    pub(super) fn close_if_done(&mut self) {
        let is_done = self.is_finished && self.side == Side::Opener && self.phase == Phase::Established;
        if is_done && self.streams.all_received() {
            self.abort(DONE);
        }
    }

    /// The peer says that the connection is over.
    pub(super) fn on_close(&mut self, code: u32) {
        if !matches!(self.phase, Phase::Closed { .. }) {
            self.end(code);
        }
    }

    /// The peer speaks to a connection that is over.
    pub(super) const fn answer_after_end(&mut self) {
        self.close.is_due = true;
    }

    pub(super) fn close_frame(&mut self) -> Option<Frame> {
        let Phase::Closed { code } = self.phase else { return None };
        std::mem::take(&mut self.close.is_due).then_some(Frame::Close { code })
    }
}
