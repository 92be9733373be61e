//! The port of the end that sends.

use super::send_memory::SendMemory;
use super::{Phase, Sender};
use acklab_base::{Instant, StreamPort};

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
        self.memory.map_or(room, |memory| room.min(memory.room(self.held(), self.congestion.window.mss)))
    }

    #[inline]
    fn write(&mut self, _now: Instant, octets: u64) -> u64 {
        if self.memory.as_ref().is_some_and(SendMemory::has_waiting_writer) {
            return 0;
        }
        let room = self.room();
        if octets >= room
            && let Some(memory) = &mut self.memory
        {
            memory.note_full();
        }
        let written = self.buffer.write(octets.min(room), self.board.una());
        if written > 0 {
            self.note_write();
        }
        written
    }

    fn close(&mut self, _now: Instant) {
        self.buffer.close();
    }

    fn truncate(&mut self, _now: Instant) {
        self.buffer.truncate(self.board.nxt());
    }
}
