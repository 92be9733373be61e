//! The application that writes into the connection: when it opens it, what it writes, when it closes.

use crate::source::{self, Source};
use acklab_base::random::Stream;
use acklab_base::{Bytes, Instant};

/// What the application is going to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What it writes.
    pub traffic: source::Config,
    /// When it opens the connection.
    pub start: Instant,
    /// From when on it writes nothing new, if it stops before it is done.
    pub stop: Option<Instant>,
}

/// The application at work.
#[derive(Debug)]
pub(super) struct Application {
    source: Source,
    start: Instant,
    stop: Option<Instant>,
}

impl Application {
    pub(super) fn new(plan: &Plan, send_buffer: Bytes, stream: Stream) -> Self {
        Self { source: Source::new(plan.traffic, send_buffer, stream), start: plan.start, stop: plan.stop }
    }

    /// When it opens the connection.
    pub(super) const fn start(&self) -> Instant {
        self.start
    }

    /// When it stops, if it is going to.
    pub(super) const fn stop(&self) -> Option<Instant> {
        self.stop
    }

    /// Closes the stream behind `sent` once the time to stop has come, unless the stream ends before that anyway.
    pub(super) fn stop_if_due(&mut self, now: Instant, sent: u64) {
        if self.stop.is_some_and(|stop| now >= stop) {
            self.stop = None;
            if self.source.end().is_none_or(|end| sent < end) {
                self.source.close(sent);
            }
        }
    }

    /// The connection is open.
    pub(super) fn begin(&mut self, now: Instant) {
        self.source.begin(now);
        self.source.advance(now, 0);
    }

    /// Writes what is due, with everything below `una` acknowledged.
    #[inline]
    pub(super) fn advance(&mut self, now: Instant, una: u64) {
        self.source.advance(now, una);
    }

    /// When it next writes by itself.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.source.deadline()
    }

    /// Octets that it has written.
    pub(super) fn written(&self) -> u64 {
        self.source.written()
    }

    /// Octets that may be sent.
    #[inline]
    pub(super) fn sendable(&self) -> u64 {
        self.source.sendable()
    }

    /// Octets that may be sent and were not, if all below `nxt` was; the FIN counts as one.
    #[inline]
    pub(super) fn unsent(&self, nxt: u64) -> u64 {
        let sendable = self.source.sendable();
        let with_fin = self.source.end().map_or(0, |end| u64::from(sendable == end));
        (sendable + with_fin).saturating_sub(nxt)
    }

    /// The octet behind the last one, which the FIN takes, if that is known.
    #[inline]
    pub(super) fn end(&self) -> Option<u64> {
        self.source.end()
    }
}
