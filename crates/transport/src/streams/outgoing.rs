//! The sending half of a stream.
//!
//! Bytes are numbered by their offset. The end of the stream has the number after the last byte,
//! like the FIN of TCP, and is acknowledged like a byte.

use super::Piece;
use crate::ack::Ranges;
use crate::send_buffer::SendBuffer;
use acklab_base::Instant;
use std::collections::VecDeque;
use std::ops::Range;

/// The limits on the delivery of a stream's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The time at which unacknowledged bytes are abandoned and the stream is reset, if any.
    pub until: Option<Instant>,
    /// `true` if lost bytes are retransmitted.
    pub retransmits: bool,
}

impl Lifetime {
    /// Reliable delivery: no time limit, and lost bytes are retransmitted.
    pub const RELIABLE: Self = Self { until: None, retransmits: true };
}

/// Why a stream was reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetCode {
    /// The application has requested the reset, with this code.
    Application(u32),
    /// The stream's [`Lifetime`] has ended.
    Expired,
}

impl ResetCode {
    /// The code of streams whose lifetime has ended. The codes of applications are larger.
    const EXPIRED: u32 = 0;

    /// Returns the code that a frame carries.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::Expired => Self::EXPIRED,
            Self::Application(code) => code.saturating_add(1),
        }
    }

    /// Returns the reason for a reset that a frame's code stands for.
    #[must_use]
    pub const fn of(code: u32) -> Self {
        match code {
            Self::EXPIRED => Self::Expired,
            code => Self::Application(code - 1),
        }
    }
}

/// The state of a reset by this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reset {
    /// The reset must be sent or retransmitted.
    Due(ResetCode),
    Sent(ResetCode),
    Acknowledged,
}

#[derive(Debug)]
pub(crate) struct Outgoing {
    id: u32,
    buffer: SendBuffer,
    /// The offset after the bytes sent so far.
    next: u64,
    /// `true` if the end of the stream was sent.
    has_sent_end: bool,
    acked: Ranges,
    /// The ranges to be retransmitted, unless they are acknowledged first.
    lost: VecDeque<Range<u64>>,
    /// The peer's window, as an offset.
    limit: u64,
    /// `true` if a request to the peer for a larger window is pending.
    asks_for_window: bool,
    lifetime: Lifetime,
    /// `true` if bytes were lost that are not retransmitted.
    gave_up: bool,
    reset: Option<Reset>,
}

impl Outgoing {
    pub(crate) fn new(id: u32, buffer: u64, limit: u64) -> Self {
        Self {
            id,
            buffer: SendBuffer::new(buffer),
            next: 0,
            has_sent_end: false,
            acked: Ranges::default(),
            lost: VecDeque::new(),
            limit,
            asks_for_window: false,
            lifetime: Lifetime::RELIABLE,
            gave_up: false,
            reset: None,
        }
    }

    /// Returns the number of contiguous bytes acknowledged from the start.
    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.buffer.end().map_or(self.acked.next(), |end| self.acked.next().min(end))
    }

    pub(crate) const fn written(&self) -> u64 {
        self.buffer.written()
    }

    /// Returns the offset of the next byte to send.
    pub(crate) fn next_offset(&self) -> u64 {
        let missing = |range: &Range<u64>| {
            let start = self.acked.held(true).first_missing_from(range.start);
            (start < range.end).then_some(start)
        };
        self.lost.iter().find_map(missing).unwrap_or(self.next)
    }

    /// Returns the number of distinct bytes sent so far.
    pub(crate) const fn sent(&self) -> u64 {
        self.next
    }

    pub(crate) fn room(&self) -> u64 {
        if self.reset.is_some() { 0 } else { self.buffer.room(self.una()) }
    }

    /// Returns `true` if the application waits for space in the send buffer.
    pub(crate) fn is_full(&self) -> bool {
        self.reset.is_none() && self.buffer.is_full(self.una())
    }

    pub(crate) fn write(&mut self, octets: u64) -> u64 {
        if self.reset.is_some() { 0 } else { self.buffer.write(octets, self.una()) }
    }

    pub(crate) fn close(&mut self) {
        self.buffer.close();
    }

    pub(crate) fn truncate(&mut self) {
        self.buffer.truncate(self.next);
    }

    pub(crate) const fn is_closed(&self) -> bool {
        self.buffer.end().is_some() || self.reset.is_some()
    }

    /// Returns `true` if everything is acknowledged, including the end of the stream.
    pub(crate) fn is_finished(&self) -> bool {
        match self.reset {
            Some(reset) => reset == Reset::Acknowledged,
            None => self.buffer.end().is_some_and(|end| self.acked.next() > end),
        }
    }

    /// Permits bytes up to the offset `limit`, the peer's window. A smaller limit than before has
    /// no effect.
    pub(crate) fn on_window(&mut self, limit: u64) {
        self.limit = self.limit.max(limit);
    }

    /// Returns `true` if only the peer's window blocks written bytes.
    pub(crate) fn is_blocked(&self) -> bool {
        self.reset.is_none() && self.lost.is_empty() && self.next >= self.limit && self.buffer.sendable() > self.next
    }

    /// Returns `true` if the stream is blocked and none of its bytes are in flight. If bytes are in
    /// flight, the receiver reports the window after they arrive.
    pub(crate) fn awaits_window(&self) -> bool {
        self.is_blocked() && self.una() >= self.next
    }

    /// Returns the offset below which bytes may be sent.
    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) const fn ask_for_window(&mut self) {
        self.asks_for_window = true;
    }

    /// Returns `true` if a request to the peer for a window is pending, and clears it. There is one
    /// request per limit.
    pub(crate) fn take_question(&mut self) -> bool {
        std::mem::take(&mut self.asks_for_window) && self.is_blocked()
    }

    /// Returns `true` if a request to the peer for a window is pending.
    pub(crate) fn has_question(&self) -> bool {
        self.asks_for_window && self.is_blocked()
    }

    /// Returns `true` if the stream has bytes that may be sent.
    #[inline]
    pub(crate) fn has_due(&self) -> bool {
        self.has_due_within(u64::MAX)
    }

    /// Returns `true` if the stream has bytes that may be sent, of which at most `fresh` are new.
    #[inline]
    pub(crate) fn has_due_within(&self, fresh: u64) -> bool {
        if self.reset.is_some() {
            return false;
        }
        let sendable = self.buffer.sendable();
        !self.lost.is_empty() || (fresh > 0 && sendable.min(self.limit) > self.next) || self.owes_end(self.next)
    }

    /// Returns the number of new bytes that may be sent, at most `fresh`, which the connection
    /// permits.
    pub(crate) fn due_new(&self, fresh: u64) -> u64 {
        if self.reset.is_some() {
            0
        } else {
            self.buffer.sendable().min(self.limit).saturating_sub(self.next).min(fresh)
        }
    }

    /// Returns the number of bytes to be retransmitted, counted up to `enough`.
    pub(crate) fn due_again(&self, enough: u64) -> u64 {
        let mut due = 0;
        for lost in &self.lost {
            due += lost.end - lost.start;
            if due >= enough {
                break;
            }
        }
        due
    }

    /// Returns `true` if only a limit shared with other streams blocks new bytes.
    pub(crate) fn has_new(&self) -> bool {
        self.reset.is_none() && self.buffer.sendable().min(self.limit) > self.next
    }

    /// Returns `true` if bytes must be retransmitted.
    #[inline]
    pub(crate) fn repeats(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Returns `true` if the stream ends at `offset` and its end has not been sent.
    #[inline]
    fn owes_end(&self, offset: u64) -> bool {
        !self.has_sent_end && self.buffer.end() == Some(offset)
    }

    /// Returns the next piece to send, with at most `most` bytes.
    #[inline]
    pub(crate) fn take(&mut self, most: u64) -> Option<Piece> {
        self.take_within(most, u64::MAX)
    }

    /// Returns the next piece to send, with at most `most` bytes, of which at most `fresh` are new.
    #[inline]
    pub(crate) fn take_within(&mut self, most: u64, fresh: u64) -> Option<Piece> {
        if self.reset.is_some() || most == 0 {
            return None;
        }
        if !self.lost.is_empty()
            && let Some(piece) = self.take_lost(most)
        {
            return Some(piece);
        }
        let start = self.next;
        let length = self.buffer.sendable().min(self.limit).saturating_sub(start).min(most).min(fresh);
        let is_end = self.owes_end(start + length);
        if length == 0 && !is_end {
            return None;
        }
        self.next += length;
        self.has_sent_end |= is_end;
        Some(Piece { id: self.id, start, length: length as u16, is_end, is_again: false })
    }

    fn take_lost(&mut self, most: u64) -> Option<Piece> {
        while let Some(range) = self.lost.front_mut() {
            let start = self.acked.held(true).first_missing_from(range.start);
            if start >= range.end {
                self.lost.pop_front();
                continue;
            }
            let missing = self.acked.first_duplicate(start..range.end).map_or(range.end, |held| held.start);
            let last = self.buffer.end();
            let mut end = missing.min(start + most);
            // The end of the stream has a number and needs no space in the packet.
            let is_end = last.is_some_and(|last| missing > last && last <= start + most);
            if is_end {
                end = missing;
            }
            range.start = end;
            if range.is_empty() {
                self.lost.pop_front();
            }
            let length = end - start - u64::from(is_end);
            return Some(Piece { id: self.id, start, length: length as u16, is_end, is_again: true });
        }
        None
    }

    /// Returns the number of acknowledged bytes, in order or not, without the end of the stream.
    #[inline]
    fn acked_octets(&self) -> u64 {
        let is_end_acked = self.buffer.end().is_some_and(|end| self.acked.end() > end);
        self.acked.received() - u64::from(is_end_acked)
    }

    /// Acknowledges a piece. Returns the number of its bytes that are newly acknowledged.
    #[inline]
    pub(crate) fn on_acked(&mut self, piece: &Piece) -> u64 {
        let before = self.acked_octets();
        self.acked.insert(piece.numbers());
        self.reset_if_given_up();
        self.acked_octets() - before
    }

    /// Processes the peer's report that all data have arrived. Returns the number of newly
    /// acknowledged bytes. A stream whose end was not sent is unchanged.
    pub(crate) fn on_all_acked(&mut self) -> u64 {
        let before = self.acked_octets();
        if let Some(end) = self.buffer.end().filter(|_| self.has_sent_end && self.reset.is_none()) {
            self.acked.insert(0..end + 1);
        }
        self.acked_octets() - before
    }

    /// Processes the loss of a piece.
    pub(crate) fn on_lost(&mut self, piece: &Piece) {
        if self.reset.is_some() {
            return;
        }
        if self.lifetime.retransmits {
            self.lost.push_back(piece.numbers());
        } else {
            // These bytes need no retransmission.
            self.acked.insert(piece.numbers());
            self.gave_up = true;
            self.reset_if_given_up();
        }
    }

    /// Resets the stream if bytes were abandoned and no others are outstanding. The reset reports
    /// the missing bytes to the receiver.
    fn reset_if_given_up(&mut self) {
        if self.gave_up && self.is_finished() {
            self.reset.get_or_insert(Reset::Due(ResetCode::Expired));
        }
    }

    /// Schedules the bytes of the oldest outstanding piece for retransmission, as a probe.
    pub(crate) fn repeat(&mut self, piece: &Piece) {
        if self.reset.is_none() && self.lifetime.retransmits {
            self.lost.push_front(piece.numbers());
        }
    }

    pub(crate) const fn set_lifetime(&mut self, lifetime: Lifetime) {
        self.lifetime = lifetime;
    }

    /// Returns when the lifetime ends, if it is limited and the stream is not yet finished or
    /// reset.
    #[inline]
    pub(crate) fn expires_at(&self) -> Option<Instant> {
        self.lifetime.until.filter(|_| self.reset.is_none() && !self.is_finished())
    }

    /// Resets the stream. If the peer has received all data, the stream is unchanged, because there
    /// is nothing to reset (RFC 9000, §3.1).
    pub(crate) fn reset(&mut self, code: ResetCode) {
        if self.reset.is_none() && !self.is_finished() {
            self.reset = Some(Reset::Due(code));
            self.lost.clear();
        }
    }

    /// Returns `true` if the stream was reset.
    pub(crate) const fn is_reset(&self) -> bool {
        self.reset.is_some()
    }

    /// Returns the code of the reset that is due, if any.
    pub(crate) const fn due_reset(&self) -> Option<ResetCode> {
        match self.reset {
            Some(Reset::Due(code)) => Some(code),
            _ => None,
        }
    }

    pub(crate) const fn on_reset_sent(&mut self) {
        if let Some(Reset::Due(code)) = self.reset {
            self.reset = Some(Reset::Sent(code));
        }
    }

    pub(crate) const fn on_reset_acked(&mut self) {
        self.reset = Some(Reset::Acknowledged);
    }

    pub(crate) const fn on_reset_lost(&mut self) {
        if let Some(Reset::Sent(code)) = self.reset {
            self.reset = Some(Reset::Due(code));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(octets: u64, closes: bool) -> Outgoing {
        let mut stream = Outgoing::new(4, 10_000, 5000);
        assert_eq!(stream.write(octets), octets);
        if closes {
            stream.close();
        }
        stream
    }

    fn take_all(stream: &mut Outgoing) -> Vec<(Range<u64>, bool)> {
        std::iter::from_fn(|| stream.take(1000)).map(|piece| (piece.start..piece.end(), piece.is_end)).collect()
    }

    fn piece(start: u64, length: u16, is_end: bool) -> Piece {
        Piece { id: 4, start, length, is_end, is_again: false }
    }

    #[test]
    fn a_stream_ends_with_its_last_octet_or_behind_it() {
        assert_eq!(take_all(&mut stream(1500, true)), [(0..1000, false), (1000..1500, true)]);
        let mut late = stream(1000, false);
        assert_eq!(take_all(&mut late), [(0..1000, false)]);
        late.close();
        assert_eq!(take_all(&mut late), [(1000..1000, true)]);
        late.on_acked(&piece(0, 1000, false));
        assert!(!late.is_finished() && late.una() == 1000);
        late.on_acked(&piece(1000, 0, true));
        assert!(late.is_finished() && late.una() == 1000);
    }

    /// A late STOP_SENDING must not reopen a finished stream.
    #[test]
    fn a_stream_that_was_acknowledged_is_not_reset() {
        let mut finished = stream(1000, true);
        take_all(&mut finished);
        finished.on_acked(&piece(0, 1000, true));
        finished.reset(ResetCode::Application(7));
        assert!(finished.is_finished() && finished.due_reset().is_none());
    }

    #[test]
    fn the_window_holds_back_octets_and_not_the_end() {
        let mut blocked = stream(5500, true);
        assert_eq!(take_all(&mut blocked).len(), 5);
        assert!(blocked.is_blocked() && !blocked.has_due());
        blocked.on_window(5500);
        blocked.on_window(100);
        assert_eq!(take_all(&mut blocked), [(5000..5500, true)]);
        assert!(!blocked.is_blocked());
    }

    #[test]
    fn only_what_is_missing_is_sent_again() {
        let mut stream = stream(3000, true);
        take_all(&mut stream);
        for start in [0, 1000, 2000] {
            stream.on_lost(&piece(start, 1000, start == 2000));
        }
        stream.on_acked(&piece(500, 1000, false));
        assert_eq!(take_all(&mut stream), [(0..500, false), (1500..2000, false), (2000..3000, true)]);
        stream.on_lost(&piece(2000, 1000, true));
        stream.on_acked(&piece(2000, 1000, false));
        assert_eq!(take_all(&mut stream), [(3000..3000, true)], "the end alone");
    }

    #[test]
    fn a_stream_that_does_not_retransmit_ends_with_a_reset_if_anything_was_lost() {
        let mut stream = stream(2000, true);
        stream.set_lifetime(Lifetime { until: None, retransmits: false });
        take_all(&mut stream);
        stream.on_lost(&piece(0, 1000, false));
        assert_eq!((stream.due_reset(), take_all(&mut stream).len()), (None, 0));
        stream.on_lost(&piece(1000, 1000, true));
        assert_eq!(stream.due_reset(), Some(ResetCode::Expired));
        stream.on_reset_sent();
        stream.on_reset_lost();
        stream.on_reset_sent();
        stream.on_reset_acked();
        assert!(stream.is_finished());
    }

    #[test]
    fn the_reset_leaves_too_if_what_was_out_last_has_arrived() {
        let mut stream = stream(2000, true);
        stream.set_lifetime(Lifetime { until: None, retransmits: false });
        take_all(&mut stream);
        stream.on_lost(&piece(0, 1000, false));
        stream.on_acked(&piece(1000, 1000, true));
        assert_eq!(stream.due_reset(), Some(ResetCode::Expired));
        stream.on_reset_sent();
        stream.on_acked(&piece(1000, 1000, true));
        assert_eq!(stream.due_reset(), None, "once");
    }
}
