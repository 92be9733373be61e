//! Flow control (RFC 9000, §4): limits on the data that each end sends.
//!
//! An end announces a window again once the application has read a fraction of the window. The
//! fraction depends on the QUIC implementation. In some implementations, the window
//! [grows](tuning).

mod tuning;

pub use tuning::Growth;
pub(super) use tuning::{Tuning, Window};

use crate::fault::Fault;
use acklab_base::{Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The windows that an end announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FlowControl {
    /// Windows of fixed sizes.
    Fixed {
        /// Window of a stream.
        #[schemars(example = "4MiB")]
        stream: Bytes,
        /// Window of the connection.
        #[schemars(example = "6MiB")]
        connection: Bytes,
    },
    /// Windows that grow while they limit the peer.
    Auto {
        /// Initial window of a stream.
        #[schemars(example = "64KiB")]
        stream: Bytes,
        /// Initial window of the connection.
        #[schemars(example = "96KiB")]
        connection: Bytes,
        /// Maximum window of a stream.
        #[schemars(example = "6MiB")]
        largest_stream: Bytes,
        /// Maximum window of the connection.
        #[schemars(example = "15MiB")]
        largest_connection: Bytes,
        /// The implementation whose growth rule applies.
        #[serde(default)]
        growth: Growth,
    },
}

impl FlowControl {
    /// Maximum window, as for TCP (RFC 7323, §2.2).
    pub const LARGEST: u64 = 1 << 30;

    /// Returns the initial windows of a stream and of the connection.
    pub(super) const fn initial(self) -> (u64, u64) {
        let (Self::Fixed { stream, connection } | Self::Auto { stream, connection, .. }) = self;
        (stream.get(), connection.get())
    }

    /// Returns the maximum windows of a stream and of the connection.
    pub(super) const fn largest(self) -> (u64, u64) {
        match self {
            Self::Fixed { .. } => self.initial(),
            Self::Auto { largest_stream, largest_connection, .. } => (largest_stream.get(), largest_connection.get()),
        }
    }

    /// Returns the tuning of the windows of streams and of the connection. A window is announced
    /// `updates` times while a full window is read.
    pub(super) const fn tunings(self, updates: u64) -> (Tuning, Tuning) {
        let (stream, connection) = self.largest();
        let growth = match self {
            Self::Fixed { .. } => None,
            Self::Auto { growth, .. } => Some(growth),
        };
        (Tuning::new(updates, growth, stream), Tuning::new(updates, growth, connection))
    }

    /// Checks that each window has room for `mss` bytes of stream data, and that no window is too
    /// large.
    pub(super) fn check(self, mss: u64) -> Result<(), Fault> {
        let ((stream, connection), (most_stream, most_connection)) = (self.initial(), self.largest());
        for (key, window) in [("stream", stream), ("connection", connection)] {
            if !(mss..=Self::LARGEST).contains(&window) {
                return Err(Fault::expected(key, format!("{mss}B, which a packet carries, to 1GiB")));
            }
        }
        for (key, least, window) in
            [("largest_stream", stream, most_stream), ("largest_connection", connection, most_connection)]
        {
            if !(least..=Self::LARGEST).contains(&window) {
                return Err(Fault::expected(key, format!("{least}B, with which it begins, to 1GiB")));
            }
        }
        Ok(())
    }
}

/// The window of the connection that this end announces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    size: u64,
    tuning: Tuning,
    /// The total number of bytes that the peer may send on all streams.
    offered: u64,
    /// The sum of the highest offsets that have arrived on all streams.
    used: u64,
    /// Total number of bytes that applications have read.
    read: u64,
    is_due: bool,
}

impl Offer {
    pub(super) const fn new(size: u64, tuning: Tuning) -> Self {
        Self { size, tuning, offered: size, used: 0, read: 0, is_due: false }
    }

    /// Returns `true` if the window permits `octets` more bytes.
    pub(super) const fn admits(&self, octets: u64) -> bool {
        self.used + octets <= self.offered
    }

    pub(super) const fn on_used(&mut self, octets: u64) {
        self.used += octets;
    }

    pub(super) fn on_read(&mut self, now: Instant, octets: u64) {
        if octets > 0 {
            self.tuning.begin(now);
            self.read += octets;
            self.is_due |= self.tuning.is_worth_telling(self.released(), self.size);
        }
    }

    /// Returns the bytes read since the window was last announced.
    const fn released(&self) -> u64 {
        self.read + self.size - self.offered
    }

    /// Returns the limit, if it should be announced to the peer.
    pub(super) fn take(&mut self, now: Instant, srtt: Option<Duration>) -> Option<u64> {
        if !std::mem::take(&mut self.is_due) {
            return None;
        }
        let window = Window { size: self.size, read: self.read, released: self.released() };
        self.size = self.tuning.resized(now, srtt, window);
        self.offered = self.read + self.size;
        Some(self.offered)
    }

    pub(super) const fn is_due(&self) -> bool {
        self.is_due
    }

    /// Handles the loss of an announcement. The present limit is announced instead.
    pub(super) const fn on_lost(&mut self) {
        self.is_due = true;
    }
}

/// The number of bytes that the peer permits this end to send on all streams.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Credit {
    limit: u64,
    used: u64,
    /// The last limit that this end has reported as blocking.
    complained: Option<u64>,
}

impl Credit {
    /// Returns the new bytes that may be sent.
    #[inline]
    pub(super) const fn left(&self) -> u64 {
        self.limit - self.used
    }

    pub(super) const fn on_used(&mut self, octets: u64) {
        self.used += octets;
    }

    /// Raises the limit. A smaller limit is ignored (§4.1).
    pub(super) fn on_limit(&mut self, limit: u64) {
        self.limit = self.limit.max(limit);
    }

    /// Returns the limit if it blocks sending and the peer has not yet received a report.
    pub(super) fn complaint(&self) -> Option<u64> {
        (self.left() == 0 && self.complained != Some(self.limit)).then_some(self.limit)
    }

    pub(super) const fn on_complained(&mut self) {
        self.complained = Some(self.limit);
    }

    /// Handles the loss of the report that the limit blocks sending.
    pub(super) const fn on_lost(&mut self) {
        self.complained = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    #[test]
    fn the_window_is_told_once_its_share_is_read() {
        for (updates, share) in [(2, 500), (8, 125)] {
            let mut offer = Offer::new(1000, Tuning::new(updates, None, 1000));
            assert!(offer.admits(1000) && !offer.admits(1001));
            offer.on_used(1000);
            offer.on_read(at(0), share - 1);
            assert_eq!((offer.take(at(0), None), offer.admits(1)), (None, false));
            offer.on_read(at(0), 1);
            assert_eq!(offer.take(at(0), None), Some(1000 + share));
            assert!(offer.admits(share) && !offer.admits(share + 1) && offer.take(at(0), None).is_none());
            offer.on_lost();
            assert_eq!(offer.take(at(0), None), Some(1000 + share));
        }
    }

    #[test]
    fn the_peer_is_told_once_that_its_limit_holds_back_sending() {
        let mut credit = Credit::default();
        credit.on_limit(100);
        assert_eq!(credit.complaint(), None);
        credit.on_used(100);
        assert_eq!(credit.complaint(), Some(100));
        credit.on_complained();
        assert_eq!(credit.complaint(), None);
        credit.on_lost();
        assert_eq!(credit.complaint(), Some(100));
        credit.on_limit(50);
        assert_eq!(credit.left(), 0, "a limit does not fall");
    }
}
