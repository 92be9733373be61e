//! Changes of streams that a driver is told of, if it asks.

use super::table::Table;
use super::{Incoming, Outgoing, Piece, ResetCode};
use acklab_base::StreamEvent;

impl<T> Table<T> {
    /// The peer has opened a stream.
    pub(crate) fn on_opened(&mut self, id: u32) {
        self.events.push(id, StreamEvent::Opened);
    }

    /// Octets of a stream have arrived that were [checked](Incoming::check). Returns how many of them are new.
    #[inline]
    pub(crate) fn on_arrived(&mut self, id: u32, start: u64, end: u64, is_end: bool) -> u64 {
        let is_recording = self.events.is_recording();
        let Some(stream) = self.get_mut(id) else { return 0 };
        let (missing, before) = match is_recording {
            true => (stream.incoming.missing_in(start..end), progress(&stream.incoming)),
            false => (Vec::new(), (0, false)),
        };
        let fresh = stream.incoming.insert(start, end, is_end);
        if is_recording {
            let moves = progress(&stream.incoming) != before;
            for range in missing {
                self.events.push(id, StreamEvent::Arrived(range));
            }
            if moves {
                self.events.push(id, StreamEvent::Readable);
            }
        }
        self.received += fresh;
        fresh
    }

    /// A piece of a stream is acknowledged. Returns how many of its octets were not known to have arrived.
    #[inline]
    pub(crate) fn on_acked(&mut self, piece: &Piece) -> u64 {
        self.acknowledge(piece.id, |outgoing| outgoing.on_acked(piece))
    }

    /// The peer says that it has all that this end has to send.
    pub(crate) fn on_all_acked(&mut self) {
        let ids: Vec<u32> = self.iter().map(super::Stream::id).collect();
        for id in ids {
            self.acknowledge(id, Outgoing::on_all_acked);
        }
    }

    #[inline]
    fn acknowledge(&mut self, id: u32, acknowledge: impl FnOnce(&mut Outgoing) -> u64) -> u64 {
        let is_recording = self.events.is_recording();
        let Some(stream) = self.get_mut(id) else { return 0 };
        let before = is_recording.then(|| state(&stream.outgoing));
        let fresh = acknowledge(&mut stream.outgoing);
        if let Some((una, room, was_finished)) = before {
            let (una_now, room_now, is_finished) = state(&stream.outgoing);
            if una_now > una {
                self.events.push(id, StreamEvent::Acknowledged(una_now));
            }
            if room == 0 && room_now > 0 {
                self.events.push(id, StreamEvent::Writable);
            }
            if is_finished && !was_finished {
                self.events.push(id, StreamEvent::Finished);
            }
        }
        fresh
    }

    /// The peer sends no more of a stream than `size` octets, and not all of them.
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

/// What may be read, and whether all has arrived.
fn progress(incoming: &Incoming) -> (u64, bool) {
    (incoming.in_order(), incoming.is_finished())
}

/// What is acknowledged, what may be written, and whether all is acknowledged.
fn state(outgoing: &Outgoing) -> (u64, u64, bool) {
    (outgoing.una(), outgoing.room(), outgoing.is_finished())
}
