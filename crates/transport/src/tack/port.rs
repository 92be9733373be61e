//! The ports by which applications write and read.
//!
//! The [`StreamPort`] is the interface of stream 0. Other streams have
//! [the same operations](StreamOperations). A message of the [`MessagePort`] is a stream with a
//! lifetime. The stream is removed once it has ended.

use super::connection::{Connection, Phase};
use super::streams::Message;
use crate::ack::Reason;
use crate::streams::{Lifetime, Multiplexed, NoStream, StreamOperations, Table};
use acklab_base::{Arrival, Instant, MessagePort, StreamPort};

impl Multiplexed for Connection {
    type Own = Message;

    #[inline]
    fn table(&self) -> &Table<Message> {
        &self.streams.table
    }

    #[inline]
    fn table_mut(&mut self) -> &mut Table<Message> {
        &mut self.streams.table
    }

    #[inline]
    fn note_change(&mut self) {
        self.output.note_change();
    }

    fn open_next(&mut self) -> Option<u32> {
        if self.phase == Phase::Established { self.streams.open() } else { None }
    }

    fn read_stream(&mut self, now: Instant, stream: u32, most: u64) -> Option<u64> {
        let mss = self.settings.mss();
        let incoming = &mut self.streams.table.get_mut(stream)?.incoming;
        let octets = incoming.read(most);
        if incoming.has_released(mss) && self.phase == Phase::Established {
            incoming.require_window_update();
            self.receiver.acknowledger.demand(now, Reason::WindowUpdate);
        }
        self.close_if_done();
        self.note_change();
        Some(octets)
    }
}

impl Connection {
    /// Sets how long this end retransmits the data of a stream. In the unreliable mode, each
    /// message is a stream with a lifetime. A frame of video is an example of a message.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn limit_stream(&mut self, stream: u32, lifetime: Lifetime) -> Result<(), NoStream> {
        self.streams.table.get_mut(stream).ok_or(NoStream)?.outgoing.set_lifetime(lifetime);
        self.note_change();
        Ok(())
    }
}

impl Connection {
    /// Raises the limits of the peer: `streams` is the maximum number of open streams, and
    /// `receive_buffer` the receive window of each in bytes. A limit never decreases. A connection
    /// may start with small limits until its peer is known.
    pub fn raise_limits(&mut self, now: Instant, streams: u32, receive_buffer: u64) {
        self.streams.raise(streams, receive_buffer);
        if self.phase == Phase::Established {
            self.receiver.acknowledger.demand(now, Reason::WindowUpdate);
        }
        self.note_change();
    }

    /// Requests that the peer stop sending on a stream that is no longer read (RFC 9000, §3.5).
    /// `code` is the application's reason. Data that still arrive must be read, because unread data
    /// fill the window.
    pub fn stop_stream(&mut self, stream: u32, code: u32) {
        self.streams.stop(stream, code);
        self.note_change();
    }

    /// Removes a stream that was reset, or whose data are all read and acknowledged. Returns
    /// `false` and keeps the stream if it has outstanding data.
    pub fn discard_stream(&mut self, stream: u32) -> bool {
        self.note_change();
        self.streams.discard(stream)
    }
}

impl StreamPort for Connection {
    /// Opens the connection at the client. The server waits for a client.
    fn open(&mut self, _now: Instant) {
        self.open_connection();
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

    fn truncate(&mut self, _now: Instant) {
        self.streams.table.main_mut().outgoing.truncate();
        self.note_change();
        self.note_finished();
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

    fn messages(&mut self) -> Option<&mut dyn MessagePort> {
        Some(self)
    }
}

impl MessagePort for Connection {
    fn send(&mut self, _now: Instant, octets: u64, until: Instant) -> bool {
        if self.phase != Phase::Established {
            return false;
        }
        let Some(message) = self.streams.open_message() else { return false };
        message.set_lifetime(Lifetime { until: Some(until), retransmits: true });
        let taken = message.write(octets);
        debug_assert_eq!(taken, octets, "a message fits the send buffer");
        message.close();
        self.note_change();
        true
    }

    fn receive(&mut self, _now: Instant) -> Option<Arrival> {
        // The end of a message may permit the peer to open another stream.
        self.note_change();
        self.streams.take_arrival()
    }
}
