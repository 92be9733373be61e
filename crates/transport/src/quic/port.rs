//! The ports by which applications write and read.
//!
//! The [`StreamPort`] is the interface of stream 0. Other streams have
//! [the same operations](StreamOperations).

use super::connection::{Connection, Phase};
use super::streams::Control;
use crate::streams::{Multiplexed, NoStream, ResetCode, Side, StreamOperations, Table};
use acklab_base::{Instant, StreamPort, StreamsPort};

impl Multiplexed for Connection {
    type Own = Control;

    #[inline]
    fn table(&self) -> &Table<Control> {
        self.data.table()
    }

    #[inline]
    fn table_mut(&mut self) -> &mut Table<Control> {
        self.data.table_mut()
    }

    #[inline]
    fn note_change(&mut self) {
        self.output.note_change();
    }

    fn open_next(&mut self) -> Option<u32> {
        if self.phase == Phase::Established { self.data.open() } else { None }
    }

    fn read_stream(&mut self, now: Instant, stream: u32, most: u64) -> Option<u64> {
        let octets = self.data.read(now, stream, most)?;
        self.note_change();
        self.close_if_done(now);
        Some(octets)
    }
}

impl Connection {
    /// Requests that the peer stop sending on a stream that the application no longer reads (RFC
    /// 9000, §3.5).
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn stop_stream(&mut self, stream: u32, code: u32) -> Result<(), NoStream> {
        if !self.data.stop(stream, ResetCode::Application(code)) {
            return Err(NoStream);
        }
        self.note_change();
        Ok(())
    }
}

impl StreamPort for Connection {
    /// Opens the connection at the client. The server waits for a client.
    fn open(&mut self, now: Instant) {
        self.open_connection(now);
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.phase == Phase::Established
    }

    #[inline]
    fn room(&self) -> u64 {
        self.room_of(0)
    }

    #[inline]
    fn write(&mut self, _now: Instant, octets: u64) -> u64 {
        self.write_to(0, octets).unwrap_or(0)
    }

    fn close(&mut self, _now: Instant) {
        _ = self.close_stream(0);
    }

    fn truncate(&mut self, now: Instant) {
        self.data.table_mut().main_mut().outgoing.truncate();
        self.note_change();
        self.note_finished(now);
    }

    fn readable(&self) -> u64 {
        self.readable_of(0)
    }

    fn read(&mut self, now: Instant, most: u64) -> u64 {
        self.read_from(now, 0, most).unwrap_or(0)
    }

    fn is_at_end(&self) -> bool {
        self.is_stream_at_end(0)
    }

    fn streams(&mut self) -> Option<&mut dyn StreamsPort> {
        Some(self)
    }
}

/// Returns the ID of the client's stream with this number (RFC 9000, §2.1).
const fn id_of(number: u32) -> u32 {
    4 * number
}

impl StreamsPort for Connection {
    fn open(&mut self) -> bool {
        self.side == Side::Client && self.open_stream().is_ok()
    }

    fn write(&mut self, number: u32, octets: u64) -> u64 {
        self.write_to(id_of(number), octets).unwrap_or(0)
    }

    fn close(&mut self, number: u32) {
        _ = self.close_stream(id_of(number));
    }

    fn read(&mut self, now: Instant, number: u32, most: u64) -> u64 {
        self.read_from(now, id_of(number), most).unwrap_or(0)
    }
}
