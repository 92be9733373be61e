//! An application reads and writes.

use super::Association;
use crate::error::Lost;
use acklab_base::{Instant, StreamEvent};
use acklab_transport::octets::{Arrived, Written};
use acklab_transport::streams::{Lifetime, ResetCode, StreamOperations};
use std::ops::Range;
use std::task::{Context, Poll, Waker};

/// The unsent octets at which a stream takes no more, so that what is written does not grow old in buffers, nor leave the caches (as `TCP_NOTSENT_LOWAT` of Linux).
const MOST_UNSENT: u64 = 512 << 10;

/// The octets of a stream, and who waits for it.
#[derive(Debug, Default)]
pub(super) struct Stream {
    written: Written,
    arrived: Arrived,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// The peer has reset it.
    is_reset: bool,
    /// The peer has everything.
    is_finished: bool,
    /// Neither half is used by the application any more.
    is_released: [bool; 2],
}

/// Why nothing can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    Reset(Option<u32>),
    Lost(Lost),
    Unknown,
}

/// Why nothing can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    Lost(Lost),
    Unknown,
}

impl Stream {
    pub(super) fn copy(&self, range: Range<u64>, to: &mut Vec<u8>) -> bool {
        self.written.copy(range, to)
    }

    pub(super) fn wake_all(&mut self) {
        self.reader.take().into_iter().chain(self.writer.take()).for_each(Waker::wake);
    }

    pub(super) fn on_event<'d>(&mut self, event: StreamEvent, octets_of: impl Fn(&Range<u64>) -> Option<&'d [u8]>) {
        let waker = match event {
            StreamEvent::Arrived(range) => {
                if let Some(octets) = octets_of(&range) {
                    self.arrived.put(range.start, octets);
                }
                None
            }
            StreamEvent::Readable => self.reader.take(),
            StreamEvent::Writable => self.writer.take(),
            StreamEvent::Acknowledged(below) => {
                self.written.free(below);
                None
            }
            StreamEvent::Finished => {
                self.is_finished = true;
                self.writer.take()
            }
            StreamEvent::Reset { .. } => {
                self.is_reset = true;
                self.reader.take()
            }
            StreamEvent::Opened => None,
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Association {
    /// Opens a stream. Returns `None` if the peer lets no more be opened for now.
    pub(crate) fn open_stream(&mut self) -> Option<u32> {
        let id = self.machine.open_stream().ok()?;
        self.streams.insert(id, Stream::default());
        Some(id)
    }

    /// The next stream that the peer has opened.
    pub(crate) fn accept_stream(&mut self) -> Option<u32> {
        self.opened.pop_front()
    }

    pub(crate) fn limit_stream(&mut self, id: u32, until: Instant) {
        _ = self.machine.limit_stream(id, Lifetime { until: Some(until), retransmits: true });
    }

    pub(crate) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        id: u32,
        octets: &[u8],
    ) -> Poll<Result<usize, WriteError>> {
        if let Some(lost) = &self.lost {
            return Poll::Ready(Err(WriteError::Lost(lost.clone())));
        }
        let Some(stream) = self.streams.get_mut(&id) else { return Poll::Ready(Err(WriteError::Unknown)) };
        let room = MOST_UNSENT.saturating_sub(self.machine.unsent_of(id));
        let taken = self.machine.write_to(id, room.min(octets.len() as u64)).unwrap_or(0) as usize;
        stream.written.append(&octets[..taken]);
        if taken > 0 || octets.is_empty() {
            return Poll::Ready(Ok(taken));
        }
        stream.writer = Some(context.waker().clone());
        self.writers.insert(id);
        Poll::Pending
    }

    /// Wakes who waits to write to a stream of which little is left that has not been sent.
    pub(super) fn wake_writers(&mut self) {
        let Self { writers, streams, machine, .. } = self;
        writers.retain(|id| {
            let is_full = machine.room_of(*id) == 0 || machine.unsent_of(*id) > MOST_UNSENT / 2;
            if !is_full && let Some(writer) = streams.get_mut(id).and_then(|stream| stream.writer.take()) {
                writer.wake();
            }
            is_full
        });
    }

    pub(crate) fn poll_read(
        &mut self,
        now: Instant,
        context: &mut Context<'_>,
        id: u32,
        most: usize,
        to: impl FnMut(&[u8]),
    ) -> Poll<Result<usize, ReadError>> {
        let Some(stream) = self.streams.get_mut(&id) else { return Poll::Ready(Err(ReadError::Unknown)) };
        let count = self.machine.read_from(now, id, most as u64).unwrap_or(0);
        if count > 0 {
            stream.arrived.give(count, to);
            return Poll::Ready(Ok(count as usize));
        }
        if stream.is_reset {
            let code = match self.machine.reset_of(id) {
                Some(ResetCode::Application(code)) => Some(code),
                _ => None,
            };
            return Poll::Ready(Err(ReadError::Reset(code)));
        }
        if self.machine.is_stream_at_end(id) || most == 0 {
            return Poll::Ready(Ok(0));
        }
        if let Some(lost) = &self.lost {
            return Poll::Ready(Err(ReadError::Lost(lost.clone())));
        }
        stream.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// Ends this end's half of a stream.
    pub(crate) fn finish_stream(&mut self, id: u32) {
        _ = self.machine.close_stream(id);
    }

    /// Returns `Ready` once the peer has everything that was written to a stream that is ended.
    pub(crate) fn poll_finished(&mut self, context: &mut Context<'_>, id: u32) -> Poll<Result<(), WriteError>> {
        let Some(stream) = self.streams.get_mut(&id) else { return Poll::Ready(Ok(())) };
        if stream.is_finished {
            return Poll::Ready(Ok(()));
        }
        if let Some(lost) = &self.lost {
            return Poll::Ready(Err(WriteError::Lost(lost.clone())));
        }
        stream.writer = Some(context.waker().clone());
        Poll::Pending
    }

    pub(crate) fn reset_stream(&mut self, id: u32, code: u32) {
        _ = self.machine.reset_stream(id, code);
    }

    /// The application has no use any more for a half of a stream: `half` is 0 for what it sends, 1 for what it receives.
    pub(crate) fn release_stream(&mut self, now: Instant, id: u32, half: usize) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.is_released[half] = true;
            self.left.insert(id);
        }
        self.sweep_streams(now);
    }

    /// Reads and drops what arrives on streams that nobody reads any more, and removes those that are over.
    pub(super) fn sweep_streams(&mut self, now: Instant) {
        let Self { left, streams, machine, .. } = self;
        left.retain(|id| {
            let Some(stream) = streams.get_mut(id) else { return false };
            if stream.is_released[1] {
                let count = machine.read_from(now, *id, u64::MAX).unwrap_or(0);
                stream.arrived.drop(count);
            }
            let is_over = stream.is_released == [true; 2] && machine.discard_stream(*id);
            if is_over {
                streams.remove(id);
            }
            !is_over
        });
    }
}
