//! The port of the sending end.

use super::send_memory::SendMemory;
use super::{Phase, SendFlags, Sender};
use acklab_base::{Instant, StreamPort};

impl Sender {
    /// Writes `octets` bytes with `flags` (RFC 9293, §3.9.1.2; Linux's `tcp_sendmsg_locked`).
    /// Returns the number of accepted bytes, as [`write`](StreamPort::write) does. If not all bytes
    /// are accepted, the flags have no effect, because the application writes the rest later.
    pub(in crate::tcp) fn send(&mut self, now: Instant, octets: u64, flags: SendFlags) -> u64 {
        if self.memory.as_ref().is_some_and(SendMemory::has_waiting_writer) {
            return 0;
        }
        let room = self.room();
        if octets >= room
            && let Some(memory) = &mut self.memory
        {
            memory.note_full();
        }
        let written = octets.min(room);
        if written > 0 {
            self.buffer.append(written);
            self.transmission.is_spent = false;
            self.note_busy(now);
            let is_whole = written == octets;
            let more = flags.more && is_whole;
            self.note_write(more);
            self.hold.note_write(more);
            if flags.ends_record && is_whole {
                self.records.end_at(self.buffer.written());
            }
        }
        written
    }
}

impl StreamPort for Sender {
    fn open(&mut self, now: Instant) {
        if self.connection.phase == Phase::Closed {
            self.connection.open(now);
        }
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.connection.phase == Phase::Established
    }

    #[inline]
    fn room(&self) -> u64 {
        let room = self.buffer.room(self.board.una());
        self.memory.as_ref().map_or(room, |memory| room.min(self.room_in(memory)))
    }

    #[inline]
    fn write(&mut self, now: Instant, octets: u64) -> u64 {
        self.send(now, octets, SendFlags::default())
    }

    fn close(&mut self, now: Instant) {
        self.transmission.is_spent = false;
        self.buffer.close();
        self.note_busy(now);
    }

    fn truncate(&mut self, _now: Instant) {
        self.transmission.is_spent = false;
        self.buffer.truncate(self.board.nxt());
    }
}
