//! What has happened to the streams of a connection, for a driver that holds their octets. A connection has one stream each way.

use crate::connection::Connection;
use acklab_base::{StreamEvent, StreamPort as _};
use std::ops::Range;

/// The stream of either direction.
pub(crate) const STREAM: u32 = 0;

/// The streams before a datagram is processed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    acknowledged: u64,
    is_full: bool,
    is_acknowledged: bool,
    in_order: (u64, bool),
}

impl Connection {
    /// Notes where the streams stand, if their changes are recorded.
    pub(crate) fn watch(&self) -> Option<Before> {
        self.stream_events.is_recording().then(|| Before {
            acknowledged: self.sender.acknowledged().next(),
            is_full: self.room() == 0,
            is_acknowledged: self.outgoing.is_acknowledged,
            in_order: self.in_order(),
        })
    }

    /// What may be read, and whether that is all.
    fn in_order(&self) -> (u64, bool) {
        let next = self.incoming.octets.next();
        (next, self.incoming.end == Some(next))
    }

    /// Octets of the peer's stream have arrived.
    pub(crate) fn note_arrival(&mut self, range: Range<u64>) {
        if self.stream_events.is_recording() {
            for missing in self.incoming.octets.missing_in(range) {
                self.stream_events.push(STREAM, StreamEvent::Arrived(missing));
            }
        }
    }

    /// Tells what has changed since.
    pub(crate) fn note_changes(&mut self, before: Before) {
        if self.in_order() != before.in_order {
            self.stream_events.push(STREAM, StreamEvent::Readable);
        }
        let acknowledged = self.sender.acknowledged().next();
        if acknowledged > before.acknowledged {
            self.stream_events.push(STREAM, StreamEvent::Acknowledged(acknowledged));
        }
        if before.is_full && self.room() > 0 {
            self.stream_events.push(STREAM, StreamEvent::Writable);
        }
        if self.outgoing.is_acknowledged && !before.is_acknowledged {
            self.stream_events.push(STREAM, StreamEvent::Finished);
        }
    }
}
