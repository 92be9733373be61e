//! The operations of applications on the streams of a connection, by stream id.

use super::ResetCode;
use super::table::Table;
use acklab_base::Instant;

/// The error of an operation on an unknown stream, or of opening a stream that the peer does not
/// permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoStream;

/// A connection with streams: the methods that operations on streams require.
pub(crate) trait Multiplexed {
    /// The transport's state of each stream.
    type Own;

    fn table(&self) -> &Table<Self::Own>;

    fn table_mut(&mut self) -> &mut Table<Self::Own>;

    /// Records that a stream has changed, so that a packet may have to be sent.
    fn note_change(&mut self);

    /// Opens the next stream of this end, if the peer permits it and the connection is open.
    fn open_next(&mut self) -> Option<u32>;

    /// Reads at most `most` bytes of a stream. Reports the window to the peer if it has advanced
    /// enough.
    fn read_stream(&mut self, now: Instant, stream: u32, most: u64) -> Option<u64>;
}

/// Operations on streams (RFC 9000, §2.4), by stream id. The
/// [`StreamPort`](acklab_base::StreamPort) of a connection operates on stream 0.
pub trait StreamOperations {
    /// Opens a bidirectional stream. Returns its id.
    ///
    /// # Errors
    /// If the peer permits no more streams, or the connection is not open.
    fn open_stream(&mut self) -> Result<u32, NoStream>;

    /// Returns the ids of all streams.
    fn stream_ids(&self) -> Vec<u32>;

    /// Returns the number of bytes that may be written to a stream now.
    fn room_of(&self, stream: u32) -> u64;

    /// Returns the number of bytes that were written to a stream and have not been sent.
    fn unsent_of(&self, stream: u32) -> u64;

    /// Writes `octets` bytes to a stream. Returns the number of accepted bytes.
    ///
    /// # Errors
    /// If there is no such stream.
    fn write_to(&mut self, stream: u32, octets: u64) -> Result<u64, NoStream>;

    /// Ends the sending half of a stream after the written bytes. The receiving half is unchanged.
    ///
    /// # Errors
    /// If there is no such stream.
    fn close_stream(&mut self, stream: u32) -> Result<(), NoStream>;

    /// Stops sending on a stream, including retransmissions (RFC 9000, §3.1).
    ///
    /// # Errors
    /// If there is no such stream.
    fn reset_stream(&mut self, stream: u32, code: u32) -> Result<(), NoStream>;

    /// Reads at most `most` bytes of a stream. Returns the number of bytes read.
    ///
    /// # Errors
    /// If there is no such stream.
    fn read_from(&mut self, now: Instant, stream: u32, most: u64) -> Result<u64, NoStream>;

    /// Returns the number of bytes of a stream that may be read now.
    fn readable_of(&self, stream: u32) -> u64;

    /// Returns the number of bytes of a stream that have arrived, in order or not.
    fn received_of(&self, stream: u32) -> u64;

    /// Returns the number of bytes of a stream that its application has read, in order.
    fn delivered_of(&self, stream: u32) -> u64;

    /// Returns `true` if the application has read the stream up to its end.
    fn is_stream_at_end(&self, stream: u32) -> bool;

    /// Returns `true` if everything up to the end of the stream has arrived.
    fn has_all_of(&self, stream: u32) -> bool;

    /// Returns the code of the peer's reset of a stream, or `None` without a reset.
    fn reset_of(&self, stream: u32) -> Option<ResetCode>;
}

impl<C: Multiplexed> StreamOperations for C {
    fn open_stream(&mut self) -> Result<u32, NoStream> {
        self.open_next().ok_or(NoStream)
    }

    fn stream_ids(&self) -> Vec<u32> {
        self.table().iter().map(super::Stream::id).collect()
    }

    #[inline]
    fn room_of(&self, stream: u32) -> u64 {
        self.table().get(stream).map_or(0, |stream| stream.outgoing.room())
    }

    #[inline]
    fn unsent_of(&self, stream: u32) -> u64 {
        self.table().get(stream).map_or(0, |stream| stream.outgoing.written() - stream.outgoing.sent())
    }

    fn write_to(&mut self, stream: u32, octets: u64) -> Result<u64, NoStream> {
        let taken = self.table_mut().get_mut(stream).ok_or(NoStream)?.outgoing.write(octets);
        if taken > 0 {
            self.note_change();
        }
        Ok(taken)
    }

    fn close_stream(&mut self, stream: u32) -> Result<(), NoStream> {
        self.table_mut().get_mut(stream).ok_or(NoStream)?.outgoing.close();
        self.note_change();
        Ok(())
    }

    fn reset_stream(&mut self, stream: u32, code: u32) -> Result<(), NoStream> {
        self.table_mut().get_mut(stream).ok_or(NoStream)?.outgoing.reset(ResetCode::Application(code));
        self.note_change();
        Ok(())
    }

    fn read_from(&mut self, now: Instant, stream: u32, most: u64) -> Result<u64, NoStream> {
        self.read_stream(now, stream, most).ok_or(NoStream)
    }

    fn readable_of(&self, stream: u32) -> u64 {
        self.table().get(stream).map_or(0, |stream| stream.incoming.readable())
    }

    fn received_of(&self, stream: u32) -> u64 {
        self.table().get(stream).map_or(0, |stream| stream.incoming.received())
    }

    fn delivered_of(&self, stream: u32) -> u64 {
        self.table().get(stream).map_or(0, |stream| stream.incoming.delivered())
    }

    fn is_stream_at_end(&self, stream: u32) -> bool {
        self.table().get(stream).is_some_and(|stream| stream.incoming.is_at_end())
    }

    fn has_all_of(&self, stream: u32) -> bool {
        self.table().get(stream).is_some_and(|stream| stream.incoming.is_finished())
    }

    fn reset_of(&self, stream: u32) -> Option<ResetCode> {
        self.table().get(stream)?.incoming.reset_code().map(ResetCode::of)
    }
}
