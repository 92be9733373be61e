//! What has happened to the stream of a connection, for a driver that holds its octets.

use super::super::sender::Phase;
use super::Connection;
use acklab_base::{Endpoint as _, Fate, StreamEvent, StreamPort as _};
use acklab_wire::tcp::Segment;
use std::ops::Range;

/// A connection has one stream.
pub(super) const STREAM: u32 = 0;

/// The stream before a segment is processed.
#[derive(Clone, Debug)]
pub(super) struct Before {
    acknowledged: u64,
    is_full: bool,
    is_finished: bool,
    in_order: u64,
    has_all: bool,
    is_aborted: bool,
    /// The octets of the segment that are new.
    missing: Vec<Range<u64>>,
}

impl Connection {
    /// Notes where the stream stands, if its changes are recorded.
    #[inline]
    pub(super) fn watch(&self, segment: &Segment) -> Option<Before> {
        self.stream_events.is_recording().then(|| self.before(segment))
    }

    /// The octets that the peer has, the FIN left out.
    fn acknowledged(&self) -> u64 {
        let sending = self.sending.vitals();
        sending.acknowledged.min(sending.written)
    }

    #[inline(never)]
    fn before(&self, segment: &Segment) -> Before {
        Before {
            acknowledged: self.acknowledged(),
            is_full: self.sending.room() == 0,
            is_finished: self.sending.phase() == Phase::Finished,
            in_order: self.receiving.in_order(),
            has_all: self.receiving.has_all(),
            is_aborted: self.is_aborted(),
            missing: self.receiving.missing_of(segment),
        }
    }

    /// Tells what has changed since.
    pub(super) fn note_changes(&mut self, before: Before, fate: Fate) {
        let mut events = Vec::new();
        if fate == Fate::Taken {
            events.extend(before.missing.into_iter().map(StreamEvent::Arrived));
        }
        if self.receiving.in_order() > before.in_order || (self.receiving.has_all() && !before.has_all) {
            events.push(StreamEvent::Readable);
        }
        let acknowledged = self.acknowledged();
        if acknowledged > before.acknowledged {
            events.push(StreamEvent::Acknowledged(acknowledged));
        }
        if before.is_full && self.sending.room() > 0 {
            events.push(StreamEvent::Writable);
        }
        if self.sending.phase() == Phase::Finished && !before.is_finished {
            events.push(StreamEvent::Finished);
        }
        if self.is_aborted() && !before.is_aborted {
            events.push(StreamEvent::Reset { code: None });
        }
        for event in events {
            self.stream_events.push(STREAM, event);
        }
    }
}
