//! Events of an endpoint's streams, for a driver that stores octets.
//!
//! Endpoints count octets. A driver stores the octets themselves, by their offsets: written octets
//! until they are acknowledged, and arrived ones until they are read.

use std::collections::VecDeque;
use std::ops::Range;

/// The outcome of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The datagram was accepted. [`StreamEvent::Arrived`] names its new octets.
    Taken,
    /// A part of the datagram waits for earlier data and cannot be read yet. A driver stores the
    /// octets until the earlier data arrive.
    Waits,
    /// The datagram contains nothing new.
    Duplicate,
    /// The datagram has no effect. Contains the name of the reason.
    Refused(&'static str),
}

impl Fate {
    /// Returns the outcome of a datagram of several packets, from the outcomes of two of them.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Waits, _) | (_, Self::Waits) => Self::Waits,
            (Self::Taken, _) | (_, Self::Taken) => Self::Taken,
            (Self::Duplicate, _) | (_, Self::Duplicate) => Self::Duplicate,
            (refused, Self::Refused(_)) => refused,
        }
    }
}

/// An event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEvent {
    /// The peer has opened the stream.
    Opened,
    /// These octets have arrived for the first time, in the datagram that was just accepted or in
    /// one that [waited](Fate::Waits).
    Arrived(Range<u64>),
    /// More octets can be read than before, or the stream has ended.
    Readable,
    /// The stream has room again, after a write had filled the buffer.
    Writable,
    /// The peer has all octets below this offset, so they are not retransmitted.
    Acknowledged(u64),
    /// The peer has all octets and the end of the stream.
    Finished,
    /// The peer has stopped reading, so the stream is reset with this error code of the peer's
    /// application (RFC 9000, §3.5).
    Stopped {
        /// The code.
        code: u32,
    },
    /// The peer ends the stream early. `code` is the error code of the peer's application, or
    /// `None` if the lifetime of a message is over.
    Reset {
        /// The code.
        code: Option<u32>,
    },
}

/// The state of a stream at one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamState {
    /// Octets that have arrived in order.
    pub in_order: u64,
    /// `true` if all octets and the end have arrived.
    pub has_all: bool,
    /// Octets that the peer has acknowledged in order: the octets before the first unacknowledged
    /// one.
    pub acknowledged: u64,
    /// `true` if the buffer has no room for a write.
    pub is_full: bool,
    /// `true` if the peer has acknowledged all octets and the end.
    pub is_finished: bool,
}

/// The events of an endpoint that a driver has not removed yet. Events are stored only while
/// recording is enabled.
#[derive(Debug, Default)]
pub struct StreamEvents {
    is_recording: bool,
    waiting: VecDeque<(u32, StreamEvent)>,
}

impl StreamEvents {
    /// Enables recording.
    pub const fn record(&mut self) {
        self.is_recording = true;
    }

    /// Returns `true` if recording is enabled.
    #[inline]
    #[must_use]
    pub const fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// Stores an event of a stream, if recording is enabled.
    #[inline]
    pub fn push(&mut self, stream: u32, event: StreamEvent) {
        if self.is_recording {
            self.waiting.push_back((stream, event));
        }
    }

    /// Stores the changes of a stream between two states.
    pub fn push_changes(&mut self, stream: u32, before: &StreamState, after: &StreamState) {
        if (after.in_order, after.has_all) != (before.in_order, before.has_all) {
            self.push(stream, StreamEvent::Readable);
        }
        if after.acknowledged > before.acknowledged {
            self.push(stream, StreamEvent::Acknowledged(after.acknowledged));
        }
        if before.is_full && !after.is_full {
            self.push(stream, StreamEvent::Writable);
        }
        if after.is_finished && !before.is_finished {
            self.push(stream, StreamEvent::Finished);
        }
    }

    /// Removes the oldest event and returns it with the ID of its stream.
    pub fn take(&mut self) -> Option<(u32, StreamEvent)> {
        self.waiting.pop_front()
    }
}
