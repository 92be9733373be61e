//! Where applications write and read.
//!
//! The [`StreamPort`] is that of stream 0. More streams have the same verbs, with their ids. A message of the [`MessagePort`] is a stream
//! with a lifetime, which is removed once it is over.

use super::connection::{Connection, Phase};
use super::streams::{Lifetime, ResetCode};
use crate::ack::Reason;
use acklab_base::{Arrival, Instant, MessagePort, StreamPort};

/// A stream is not known, or the peer does not let another be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoStream;

impl Connection {
    /// Opens a stream. Returns its id.
    ///
    /// # Errors
    /// If the peer lets no more be opened, or the connection is not open.
    pub fn open_stream(&mut self) -> Result<u32, NoStream> {
        if self.phase != Phase::Established {
            return Err(NoStream);
        }
        self.streams.open().ok_or(NoStream)
    }

    /// The ids of all streams.
    pub fn stream_ids(&self) -> impl Iterator<Item = u32> {
        self.streams.iter().map(super::streams::Stream::id)
    }

    /// Writes so many octets to a stream. Returns how many were taken.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn write_to(&mut self, stream: u32, octets: u64) -> Result<u64, NoStream> {
        self.output.stir();
        Ok(self.streams.get_mut(stream).ok_or(NoStream)?.outgoing.write(octets))
    }

    /// No more will be written to a stream; its other half is left as it is.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn close_stream(&mut self, stream: u32) -> Result<(), NoStream> {
        self.output.stir();
        self.streams.get_mut(stream).ok_or(NoStream)?.outgoing.close();
        Ok(())
    }

    /// No more of a stream is sent, not even again.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn reset_stream(&mut self, stream: u32, code: u32) -> Result<(), NoStream> {
        self.output.stir();
        self.streams.get_mut(stream).ok_or(NoStream)?.outgoing.reset(ResetCode::Application(code));
        Ok(())
    }

    /// How long this end cares for what it sends on a stream: the unreliable mode is a stream for each message, such as a frame of
    /// video, with a lifetime.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn limit_stream(&mut self, stream: u32, lifetime: Lifetime) -> Result<(), NoStream> {
        self.output.stir();
        self.streams.get_mut(stream).ok_or(NoStream)?.outgoing.set_lifetime(lifetime);
        Ok(())
    }

    /// Reads at most so many octets of a stream. Returns how many were read.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn read_from(&mut self, now: Instant, stream: u32, most: u64) -> Result<u64, NoStream> {
        let mss = self.settings.mss();
        let incoming = &mut self.streams.get_mut(stream).ok_or(NoStream)?.incoming;
        let octets = incoming.read(most);
        if incoming.has_released(mss) && self.phase == Phase::Established {
            incoming.owe_window();
            self.receiver.acknowledger.demand(now, Reason::WindowUpdate);
        }
        self.close_if_done();
        self.output.stir();
        Ok(octets)
    }

    /// Octets of a stream that may be read now.
    #[must_use]
    pub fn readable_of(&self, stream: u32) -> u64 {
        self.streams.get(stream).map_or(0, |stream| stream.incoming.readable())
    }

    /// Octets of a stream that have arrived, in order or not.
    #[must_use]
    pub fn received_of(&self, stream: u32) -> u64 {
        self.streams.get(stream).map_or(0, |stream| stream.incoming.received())
    }

    /// Octets of a stream that its application has been given, in order.
    #[must_use]
    pub fn delivered_of(&self, stream: u32) -> u64 {
        self.streams.get(stream).map_or(0, |stream| stream.incoming.delivered())
    }

    /// Has everything been read of a stream that will ever come?
    #[must_use]
    pub fn is_stream_at_end(&self, stream: u32) -> bool {
        self.streams.get(stream).is_some_and(|stream| stream.incoming.is_at_end())
    }

    /// Why the peer has reset a stream, if it has.
    #[must_use]
    pub fn reset_of(&self, stream: u32) -> Option<ResetCode> {
        self.streams.get(stream)?.incoming.reset_code().map(ResetCode::of)
    }
}

impl StreamPort for Connection {
    /// The end that listens waits for its peer.
    fn open(&mut self, _now: Instant) {
        self.open_connection();
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.phase == Phase::Established
    }

    #[inline]
    fn room(&self) -> u64 {
        self.streams.main().outgoing.room()
    }

    #[inline]
    fn write(&mut self, _now: Instant, octets: u64) -> u64 {
        let taken = self.streams.main_mut().outgoing.write(octets);
        if taken > 0 {
            self.output.stir();
        }
        taken
    }

    fn close(&mut self, _now: Instant) {
        self.streams.main_mut().outgoing.close();
        self.output.stir();
    }

    fn truncate(&mut self, _now: Instant) {
        self.streams.main_mut().outgoing.truncate();
        self.output.stir();
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
        self.output.stir();
        true
    }

    fn receive(&mut self, _now: Instant) -> Option<Arrival> {
        self.streams.take_arrival()
    }
}
