//! Reports changes of streams to a driver that requests them.

use super::table::{Stream, Table};
use super::{Outgoing, Piece, ResetCode};
use acklab_base::{StreamEvent, StreamState};

impl<T> Table<T> {
    /// Records that the peer has opened a stream.
    pub(crate) fn on_opened(&mut self, id: u32) {
        self.events.push(id, StreamEvent::Opened);
    }

    /// Adds arrived bytes of a stream that were [checked](super::Incoming::check). Returns the
    /// number of new bytes.
    #[inline]
    pub(crate) fn on_arrived(&mut self, id: u32, start: u64, end: u64, is_end: bool) -> u64 {
        let is_recording = self.events.is_recording();
        let Some(stream) = self.get_mut(id) else { return 0 };
        let before = is_recording.then(|| (stream.incoming.missing_in(start..end), state(stream)));
        let fresh = stream.incoming.insert(start, end, is_end);
        if let Some((missing, before)) = before {
            let after = state(stream);
            for range in missing {
                self.events.push(id, StreamEvent::Arrived(range));
            }
            self.events.push_changes(id, &before, &after);
        }
        self.received += fresh;
        fresh
    }

    /// Acknowledges a piece of a stream.
    #[inline]
    pub(crate) fn on_acked(&mut self, piece: &Piece) {
        self.acknowledge(piece.id, |outgoing| outgoing.on_acked(piece));
    }

    /// Processes the peer's report that all data of this end have arrived.
    pub(crate) fn on_all_acked(&mut self) {
        let ids: Vec<u32> = self.iter().map(Stream::id).collect();
        for id in ids {
            self.acknowledge(id, Outgoing::on_all_acked);
        }
    }

    #[inline]
    fn acknowledge(&mut self, id: u32, acknowledge: impl FnOnce(&mut Outgoing) -> u64) {
        let is_recording = self.events.is_recording();
        let Some(stream) = self.get_mut(id) else { return };
        let before = is_recording.then(|| state(stream));
        let fresh = acknowledge(&mut stream.outgoing);
        if let Some(before) = before {
            let after = state(stream);
            self.events.push_changes(id, &before, &after);
        }
        self.acknowledged += fresh;
    }

    /// Processes a reset of a stream: the peer stops sending. `size` is the final size of the
    /// stream.
    pub(crate) fn on_reset(&mut self, id: u32, size: u64, code: u32) {
        let Some(stream) = self.get_mut(id) else { return };
        let is_first = stream.incoming.reset_code().is_none();
        stream.incoming.on_reset(size, code);
        if is_first {
            let code = match ResetCode::of(code) {
                ResetCode::Application(code) => Some(code),
                ResetCode::Expired => None,
            };
            self.events.push(id, StreamEvent::Reset { code });
        }
    }
}

fn state<T>(stream: &Stream<T>) -> StreamState {
    let Stream { incoming, outgoing, .. } = stream;
    StreamState {
        in_order: incoming.in_order(),
        has_all: incoming.is_finished(),
        acknowledged: outgoing.una(),
        is_full: outgoing.room() == 0,
        is_finished: outgoing.is_finished(),
    }
}
