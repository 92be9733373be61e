//! The receiving half of a stream, and its flow control.
//!
//! The window advances as the application reads. The transport decides when to report it to the
//! peer. TACK reports it in each TACK after an arrival, and in an immediate IACK when the
//! application has read a large volume (Li et al., SIGCOMM 2020, §4.4: the window-driven IACK).
//! Here a "large volume" means, as in TCP, that the window doubles (Linux's `__tcp_cleanup_rbuf`).
//! QUIC reports the window when half of it has been read.

use super::Violation;
use crate::ack::Ranges;
use crate::reading::Reading;
use acklab_wire::sequence::Sequence;
use std::ops::Range;

/// The number of bytes of the buffer per permitted range beyond the first gap. Chosen so that the
/// ranges need a sixteenth of the buffer's memory.
const RANGE_SHARE: u64 = 256;
/// The minimum and maximum number of ranges. Both are chosen: the losses in a flight of a hundred
/// packets, and 256 KiB of memory, as for packet numbers.
const MIN_RANGES: u64 = 64;
pub(crate) const MAX_RANGES: u64 = 1 << 14;

#[derive(Debug)]
pub(crate) struct Incoming {
    arrived: Ranges,
    /// The offset of the end of the stream, once it is known.
    end: Option<u64>,
    reading: Reading,
    /// The maximum number of bytes that the application may leave unread.
    buffer: u64,
    /// The number of bytes that the application has read, if it reads `OnDemand`.
    read: u64,
    /// The window offered to the peer, as an offset.
    offered: u64,
    /// `true` if a report of the window to the peer is pending.
    owes_window: bool,
    /// The code of the peer's reset, if the peer has reset the stream.
    reset: Option<u32>,
}

impl Incoming {
    pub(crate) fn new(reading: Reading, buffer: u64) -> Self {
        Self {
            arrived: Ranges::default(),
            end: None,
            reading,
            buffer,
            read: 0,
            offered: buffer,
            owes_window: false,
            reset: None,
        }
    }

    /// Sets the window of the handshake: the peer may send bytes below `window` before the next
    /// report.
    pub(crate) fn with_window(self, window: u64) -> Self {
        Self { offered: window, ..self }
    }

    /// Checks that the peer may send bytes up to `end`. If `is_end`, the stream ends there.
    pub(crate) fn check(&self, end: u64, is_end: bool) -> Result<(), Violation> {
        if end > self.offered {
            return Err(Violation::Window);
        }
        let highest = self.end.unwrap_or(self.arrived.end());
        let contradicts = match self.end {
            Some(known) => end > known || (is_end && end != known),
            None => is_end && end < highest,
        };
        if contradicts { Err(Violation::End) } else { Ok(()) }
    }

    /// Checks that the peer may reset the stream after `size` bytes.
    pub(crate) fn check_reset(&self, size: u64) -> Result<(), Violation> {
        let highest = self.arrived.end().min(self.end.unwrap_or(u64::MAX));
        let contradicts = self.end.is_some_and(|end| end != size) || size < highest;
        if contradicts { Err(Violation::End) } else { Ok(()) }
    }

    /// Adds arrived bytes. Returns the number of new bytes.
    #[inline]
    pub(crate) fn insert(&mut self, start: u64, end: u64, is_end: bool) -> u64 {
        if is_end {
            self.end = Some(end);
        }
        let before = self.received();
        self.arrived.insert(start..end + u64::from(is_end));
        self.received() - before
    }

    /// Returns the parts of `range` that have not arrived. There is one part, except after
    /// retransmissions.
    #[inline]
    pub(crate) fn missing_in(&self, range: Range<u64>) -> Sequence<Range<u64>> {
        self.arrived.missing_in(range).collect()
    }

    /// Processes a reset: the peer stops sending. `size` is the final size of the stream.
    pub(crate) fn on_reset(&mut self, size: u64, code: u32) {
        self.end = Some(size);
        self.reset.get_or_insert(code);
    }

    /// Returns the code of the peer's reset, if the peer has reset the stream.
    pub(crate) const fn reset_code(&self) -> Option<u32> {
        self.reset
    }

    /// Returns the number of distinct bytes that have arrived.
    #[inline]
    pub(crate) fn received(&self) -> u64 {
        // The end of the stream has a number, but is not a byte.
        let has_end = self.end.is_some_and(|end| self.arrived.end() > end);
        self.arrived.received() - u64::from(has_end)
    }

    /// Returns `true` if bytes from `start` on would begin a new range when the maximum number of
    /// ranges is reached.
    pub(crate) fn is_fragmented(&self, start: u64) -> bool {
        let ranges = self.arrived.beyond().len() as u64;
        start > self.arrived.next() && ranges >= (self.buffer / RANGE_SHARE).clamp(MIN_RANGES, MAX_RANGES)
    }

    /// Returns the number of bytes that have arrived in order.
    #[inline]
    pub(crate) fn in_order(&self) -> u64 {
        self.end.map_or(self.arrived.next(), |end| self.arrived.next().min(end))
    }

    /// Returns the number of bytes passed to the application.
    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        match self.reading {
            Reading::AtOnce => self.in_order(),
            Reading::OnDemand => self.read,
        }
    }

    pub(crate) fn readable(&self) -> u64 {
        self.in_order() - self.delivered()
    }

    /// Returns `true` if the application has read up to the end of the stream.
    pub(crate) fn is_at_end(&self) -> bool {
        self.reset.is_some() || self.end.is_some_and(|end| self.arrived.next() > end && self.delivered() == end)
    }

    /// Returns `true` if everything up to the end of the stream has arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.reset.is_some() || self.end.is_some_and(|end| self.arrived.next() > end)
    }

    /// Reads at most `most` bytes. Returns the number of bytes read.
    pub(crate) fn read(&mut self, most: u64) -> u64 {
        let octets = most.min(self.readable());
        if self.reading == Reading::OnDemand {
            self.read += octets;
        }
        octets
    }

    /// Returns the offset after the highest byte that has arrived, or the size of the stream after
    /// a reset.
    pub(crate) fn highest(&self) -> u64 {
        match self.reset {
            Some(_) => self.end.unwrap_or(0),
            None => self.arrived.end().min(self.end.unwrap_or(u64::MAX)),
        }
    }

    /// Returns the maximum number of bytes that the application may leave unread.
    pub(crate) const fn buffer(&self) -> u64 {
        self.buffer
    }

    /// Sets the maximum number of unread bytes to `buffer`, unless it is already larger.
    pub(crate) fn grow(&mut self, buffer: u64) {
        self.buffer = self.buffer.max(buffer);
    }

    /// Returns the number of bytes by which the window has advanced since its last report. Returns
    /// zero after the end of the stream.
    pub(crate) fn released(&self) -> u64 {
        if self.end.is_some() { 0 } else { self.window().saturating_sub(self.offered) }
    }

    /// Returns the offset up to which the peer may send.
    fn window(&self) -> u64 {
        self.delivered() + self.buffer
    }

    /// Returns `true` if the application has read enough for an immediate report of the window to
    /// the peer.
    pub(crate) fn has_released(&self, mss: u64) -> bool {
        let left = self.offered.saturating_sub(self.in_order());
        let released = self.window().saturating_sub(self.offered);
        self.end.is_none() && released >= left.max(mss.min(self.buffer / 2)).max(1)
    }

    /// Schedules a report of the window at the peer's request.
    pub(crate) const fn require_window_update(&mut self) {
        self.owes_window = true;
    }

    /// Returns the window, if a report is pending.
    pub(crate) fn take_window(&mut self) -> Option<u64> {
        if !std::mem::take(&mut self.owes_window) || self.end.is_some() {
            return None;
        }
        self.offered = self.offered.max(self.window());
        Some(self.offered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_follows_the_reader() {
        let mut stream = Incoming::new(Reading::OnDemand, 1000);
        assert_eq!((stream.check(1001, false), stream.check(1000, false)), (Err(Violation::Window), Ok(())));
        assert_eq!(stream.insert(0, 1000, false), 1000);
        stream.require_window_update();
        assert_eq!((stream.take_window(), stream.take_window()), (Some(1000), None), "shut, and reported once");
        assert_eq!((stream.read(100), stream.has_released(400)), (100, false));
        assert_eq!((stream.read(400), stream.has_released(400)), (400, true));
        stream.require_window_update();
        assert_eq!(stream.take_window(), Some(1500));
        assert!(!stream.has_released(400));
    }

    #[test]
    fn a_stream_ends_once() {
        let mut stream = Incoming::new(Reading::AtOnce, 1000);
        stream.insert(500, 600, false);
        assert_eq!(stream.check(550, true), Err(Violation::End), "more has arrived");
        assert_eq!(stream.insert(600, 600, true), 0);
        assert_eq!((stream.check(601, false), stream.check(500, true)), (Err(Violation::End), Err(Violation::End)));
        assert_eq!(stream.check(600, true), Ok(()));
        assert_eq!((stream.insert(0, 500, false), stream.delivered(), stream.received()), (500, 600, 600));
        assert!(stream.is_at_end() && stream.is_finished());
    }

    #[test]
    fn a_reset_ends_it_short() {
        let mut stream = Incoming::new(Reading::AtOnce, 1000);
        stream.insert(100, 200, false);
        stream.on_reset(700, 9);
        assert!(stream.is_at_end());
        assert_eq!((stream.reset_code(), stream.received(), stream.delivered()), (Some(9), 100, 0));
    }
}
