//! Byte streams, for transports that number packets.
//!
//! | module | contents |
//! |---|---|
//! | `outgoing` | written, sent, acknowledged and lost bytes, and the window of the peer |
//! | `incoming` | arrived and read bytes, and the window of this end |
//! | `table` | the streams of a connection, and the choice of the next to send |
//! | `port` | the operations of applications |
//! | `watch` | changes of streams, for a driver that stores their bytes |
//! | `side` | the end of the connection that opens a stream |
//!
//! The transport determines how many streams may be opened, and which frames carry their bytes.

mod incoming;
mod outgoing;
mod port;
mod side;
mod table;
mod watch;

pub use outgoing::{Lifetime, ResetCode};
pub use port::{NoStream, StreamOperations};
pub use side::Side;

pub(crate) use incoming::Incoming;
#[cfg(test)]
pub(crate) use incoming::MAX_RANGES;
pub(crate) use outgoing::Outgoing;
pub(crate) use port::Multiplexed;
pub(crate) use table::{Stream, Table};

use std::ops::Range;

/// Protocol violations by the peer on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// The peer sent bytes beyond the window.
    Window,
    /// The peer reported a different end of the stream than before.
    End,
}

/// Bytes of a stream that are sent in one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) id: u32,
    pub(crate) start: u64,
    pub(crate) length: u16,
    /// `true` if the stream ends after these bytes.
    pub(crate) is_end: bool,
    /// `true` if the bytes are retransmitted.
    pub(crate) is_again: bool,
}

impl Piece {
    pub(crate) const fn end(&self) -> u64 {
        self.start + self.length as u64
    }

    /// Returns the range of numbers of this piece. The end of the stream has a number.
    pub(crate) const fn numbers(&self) -> Range<u64> {
        self.start..self.end() + self.is_end as u64
    }
}
