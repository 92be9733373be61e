//! Events of the streams of a connection, for a driver that stores their bytes. A connection has
//! one stream per direction.

use crate::connection::Connection;
use acklab_base::{StreamEvent, StreamPort as _, StreamState};
use std::ops::Range;

/// The ID of the stream of either direction.
pub(crate) const STREAM: u32 = 0;

impl Connection {
    /// Returns the state of the streams.
    pub(crate) fn stream_state(&self) -> StreamState {
        let in_order = self.incoming.octets.next();
        StreamState {
            in_order,
            has_all: self.incoming.end == Some(in_order),
            acknowledged: self.sender.acknowledged().next(),
            is_full: self.room() == 0,
            is_finished: self.outgoing.is_acknowledged,
        }
    }

    /// Records bytes of the peer's stream that have arrived.
    pub(crate) fn note_arrival(&mut self, range: Range<u64>) {
        if self.stream_events.is_recording() {
            for missing in self.incoming.octets.missing_in(range) {
                self.stream_events.push(STREAM, StreamEvent::Arrived(missing));
            }
        }
    }
}
