//! Reports changes of a connection's stream to a driver that stores its bytes.

use super::super::sender::Phase;
use super::Connection;
use acklab_base::{Endpoint as _, Fate, StreamEvent, StreamPort as _, StreamState};
use acklab_wire::tcp::Segment;
use std::ops::Range;

/// The number of the connection's only stream.
pub(in crate::tcp) const STREAM: u32 = 0;

/// The state of the stream before a segment is processed.
#[derive(Clone, Debug)]
pub(super) struct Before {
    state: StreamState,
    is_aborted: bool,
    /// The new bytes in the segment.
    missing: Vec<Range<u64>>,
}

impl Connection {
    /// Records the state of the stream, if changes of the stream are reported.
    #[inline]
    pub(super) fn watch(&self, segment: &Segment) -> Option<Before> {
        self.stream_events.is_recording().then(|| self.before(segment))
    }

    #[inline(never)]
    fn before(&self, segment: &Segment) -> Before {
        Before {
            state: self.stream_state(),
            is_aborted: self.is_aborted(),
            missing: self.receiving.missing_of(segment),
        }
    }

    fn stream_state(&self) -> StreamState {
        let sending = self.sending.vitals();
        StreamState {
            in_order: self.receiving.in_order(),
            has_all: self.receiving.has_all(),
            // The FIN is not a stream byte.
            acknowledged: sending.acknowledged,
            is_full: self.sending.room() == 0,
            is_finished: self.sending.phase() == Phase::Finished,
        }
    }

    /// Reports the changes since the state `before`.
    pub(super) fn note_changes(&mut self, before: Before, fate: Fate) {
        if fate == Fate::Taken {
            for range in before.missing {
                self.stream_events.push(STREAM, StreamEvent::Arrived(range));
            }
        }
        let after = self.stream_state();
        self.stream_events.push_changes(STREAM, &before.state, &after);
        if self.is_aborted() && !before.is_aborted {
            self.stream_events.push(STREAM, StreamEvent::Reset { code: None });
        }
    }
}
