//! Connects streams with the applications that read and write them.

use super::Association;
use crate::error::Lost;
use crate::pipe::{Backlog, Inlet, Outlet, Pool, ReadError, WriteError};
use acklab_base::{Endpoint, Instant, StreamEvent};
use acklab_transport::octets::{Arrived, BLOCK, Written};
use acklab_transport::streams::{Lifetime, ResetCode, StreamOperations};
use acklab_transport::tack::Connection;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The limit of a stream's unsent bytes, unless the stream sends more in a millisecond. Above the
/// limit, the stream accepts no more data. Otherwise written data would grow old in buffers and
/// leave the caches (as with `TCP_NOTSENT_LOWAT` of Linux). Linux sockets send segments up to a
/// millisecond ahead (`sk_pacing_shift` 10). A woken writer has the time in which half of the limit
/// is sent.
const MAX_UNSENT: u64 = 512 << 10;
const MILLISECONDS: u64 = 1000;
/// The size in bytes below which a packet is not part of a bulk transfer.
const SMALL: usize = 1000;
/// A block with fewer bytes is copied before it is queued for a reader.
pub(super) const MIN_BLOCK: usize = BLOCK / 4;
/// The code that reports to the peer that a stream has no reader.
const NO_READER: u32 = 0;

/// The application's handles of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub(crate) id: u32,
    pub(crate) outlet: Arc<Outlet>,
    pub(crate) inlet: Arc<Inlet>,
}

/// The data of a stream.
#[derive(Debug)]
pub(super) struct Stream {
    outlet: Arc<Outlet>,
    inlet: Arc<Inlet>,
    written: Written<Bytes>,
    pub(super) arrived: Arrived,
    /// The number of bytes that the application has read, as reported to the transport.
    read: u64,
    /// `true` if the stream has changed and its reader has not been notified.
    is_changed: bool,
    /// The result of delivery, and the task that waits for it. `Ok` if the peer has received all
    /// data, otherwise the reason why it will not.
    finished: Option<Result<(), WriteError>>,
    finish_waker: Option<Waker>,
    /// `true` if the application has released the half of the stream: sending, then receiving.
    is_released: [bool; 2],
}

impl Stream {
    fn new(limit: u64, receive_buffer: u64, pool: &Arc<Pool>, backlog: &Arc<Backlog>) -> Self {
        Self {
            outlet: Arc::new(Outlet::new(limit, Arc::clone(pool), Arc::clone(backlog))),
            inlet: Arc::new(Inlet::new(receive_buffer)),
            written: Written::default(),
            arrived: Arrived::default(),
            read: 0,
            is_changed: false,
            finished: None,
            finish_waker: None,
            is_released: [false; 2],
        }
    }

    fn ends(&self, id: u32) -> Ends {
        Ends { id, outlet: Arc::clone(&self.outlet), inlet: Arc::clone(&self.inlet) }
    }

    pub(super) fn copy(&mut self, range: Range<u64>, to: &mut Vec<u8>) -> bool {
        self.written.copy(range, to)
    }

    /// Reports to the transport how many bytes the application has read.
    fn count_reading(&mut self, now: Instant, id: u32, machine: &mut Connection) {
        let read = self.inlet.read();
        if read > self.read && !self.is_released[1] {
            machine.read_from(now, id, read - self.read).unwrap_or(0);
            self.read = read;
        }
    }

    /// Records the end of the connection.
    pub(super) fn lose(&mut self, lost: &Lost) {
        self.refuse(WriteError::Lost(lost.clone()));
        self.inlet.put(std::iter::empty(), Some(Err(ReadError::Lost(lost.clone()))));
    }

    /// Records that some data will not reach the peer.
    fn refuse(&mut self, error: WriteError) {
        self.outlet.refuse(error.clone());
        self.finish(Err(error));
    }

    fn finish(&mut self, finished: Result<(), WriteError>) {
        self.finished.get_or_insert(finished);
        self.finish_waker.take().into_iter().for_each(Waker::wake);
    }
}

/// Returns the maximum number of bytes that the application may have written to a stream in total.
fn limit(machine: &Connection, id: u32, written: u64) -> u64 {
    written + machine.room_of(id).min(most_unsent(machine).saturating_sub(machine.unsent_of(id)))
}

fn most_unsent(machine: &Connection) -> u64 {
    machine.pacing_rate().map_or(MAX_UNSENT, |rate| (rate.bits_per_second() / 8 / MILLISECONDS).max(MAX_UNSENT))
}

impl Association {
    fn add_stream(&mut self, id: u32) -> &mut Stream {
        let limit = limit(&self.machine, id, 0);
        let stream = Stream::new(limit, self.receive_buffer, &self.pool, &self.backlog);
        self.streams.entry(id).or_insert(stream)
    }

    #[cfg(test)]
    pub(crate) fn has_streams(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Opens a stream. Returns `None` if the peer permits no more streams for now.
    pub(crate) fn open_stream(&mut self) -> Option<Ends> {
        let id = self.machine.open_stream().ok()?;
        Some(self.add_stream(id).ends(id))
    }

    /// Returns the next stream that the peer has opened.
    pub(crate) fn accept_stream(&mut self) -> Option<Ends> {
        let id = self.opened.pop_front()?;
        self.streams.get(&id).map(|stream| stream.ends(id))
    }

    pub(crate) fn limit_stream(&mut self, id: u32, until: Instant) {
        _ = self.machine.limit_stream(id, Lifetime { until: Some(until), retransmits: true });
    }

    /// Handles an event of a stream.
    #[inline]
    pub(super) fn on_stream_event(&mut self, id: u32, event: &StreamEvent) {
        if *event == StreamEvent::Opened {
            self.add_stream(id);
            self.opened.push_back(id);
            return self.wakers.opened.drain(..).for_each(Waker::wake);
        }
        let Some(stream) = self.streams.get_mut(&id) else { return };
        match event {
            StreamEvent::Readable | StreamEvent::Reset { .. } => {
                if !std::mem::replace(&mut stream.is_changed, true) {
                    self.changed.push(id);
                }
            }
            StreamEvent::Acknowledged(below) => stream.written.free(*below),
            StreamEvent::Finished => {
                stream.finish(Ok(()));
            }
            StreamEvent::Stopped { code } => stream.refuse(WriteError::Stopped(*code)),
            // Writers are notified together. Arrived bytes are handled with their packet.
            StreamEvent::Writable | StreamEvent::Opened | StreamEvent::Arrived(_) => {}
        }
    }

    /// Records bytes of a stream. They begin at the offset `start` and are at `place` in `memory`.
    #[inline]
    pub(super) fn arrive(&mut self, id: u32, start: u64, memory: &mut [u8], place: Range<usize>) {
        if self.has_no_memory {
            return;
        }
        // Bytes without a reader are dropped.
        let Some(stream) = self.streams.get_mut(&id).filter(|stream| !stream.is_released[1]) else { return };
        if self.run.takes(id, start, stream.arrived.next(), place.len()) {
            return memory.copy_within(place, self.run.place());
        }
        if place.len() > SMALL {
            stream.arrived.offer(|| self.pool.try_take());
        }
        if stream.arrived.put(start, &memory[place]).is_err() {
            self.run_out_of_memory();
        }
    }

    /// Records that the host has no memory for the peer's data, and therefore [ends](Self::look)
    /// the connection. Arrived data are freed immediately, so that the process can use their memory
    /// until then.
    #[cold]
    pub(super) fn run_out_of_memory(&mut self) {
        self.has_no_memory = true;
        self.streams.values_mut().for_each(|stream| stream.arrived = Arrived::default());
    }

    /// Returns `true` if readers must be notified.
    pub(crate) fn has_untold(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Passes data that arrived in order to readers.
    pub(crate) fn notify_readers(&mut self, now: Instant) {
        // The machine has already counted the dropped data.
        if self.has_no_memory {
            return self.changed.clear();
        }
        for id in self.changed.drain(..) {
            let Some(stream) = self.streams.get_mut(&id) else { continue };
            stream.is_changed = false;
            let end = match self.machine.reset_of(id) {
                Some(ResetCode::Application(code)) => Some(Err(ReadError::Reset(Some(code)))),
                Some(ResetCode::Expired) => Some(Err(ReadError::Reset(None))),
                None => self.machine.has_all_of(id).then_some(Ok(())),
            };
            let blocks = &mut self.blocks;
            stream.arrived.take_blocks(|block| {
                // Data that are queued for a slow reader must not use more memory than necessary.
                let is_small = block.capacity() == BLOCK && block.len() < MIN_BLOCK;
                let octets = self.pool.share(block);
                blocks.push(if is_small { Bytes::copy_from_slice(&octets) } else { octets });
            });
            stream.inlet.put(blocks.drain(..), end);
            stream.count_reading(now, id, &mut self.machine);
        }
    }

    /// Records that the application has written to a stream or read from it.
    pub(crate) fn serve_stream(&mut self, now: Instant, id: u32) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let (machine, written) = (&mut self.machine, &mut stream.written);
        let mut has_written = false;
        stream.outlet.take(|block| {
            // The stream had room for the data, unless it was reset.
            has_written = true;
            if machine.write_to(id, block.len() as u64) == Ok(block.len() as u64) {
                written.push(block);
            }
        });
        if has_written {
            self.writers.insert(id);
        }
        stream.count_reading(now, id, &mut self.machine);
    }

    /// Allows writers more data on streams that have sent data. Wakes the writers once half of the
    /// unsent limit is free.
    pub(super) fn allow_writers(&mut self) {
        let Self { writers, streams, machine, .. } = self;
        writers.retain(|id| {
            let Some(stream) = streams.get_mut(id) else { return false };
            let written = stream.written.end();
            let limit = limit(machine, *id, written);
            let is_full = machine.room_of(*id) == 0 || machine.unsent_of(*id) > most_unsent(machine) / 2;
            stream.outlet.allow(limit, !is_full);
            is_full
        });
    }

    /// Ends the sending half of a stream.
    pub(crate) fn finish_stream(&mut self, now: Instant, id: u32) {
        self.serve_stream(now, id);
        if let Some(stream) = self.streams.get(&id) {
            stream.outlet.refuse(WriteError::Ended);
        }
        _ = self.machine.close_stream(id);
    }

    /// Returns `Ready` once the peer has received all data of an ended stream.
    pub(crate) fn poll_finished(&mut self, context: &Context<'_>, id: u32) -> Poll<Result<(), WriteError>> {
        let Some(stream) = self.streams.get_mut(&id) else { return Poll::Ready(Ok(())) };
        if let Some(finished) = &stream.finished {
            return Poll::Ready(finished.clone());
        }
        stream.finish_waker = Some(context.waker().clone());
        Poll::Pending
    }

    pub(crate) fn reset_stream(&mut self, id: u32, code: u32) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.refuse(WriteError::Ended);
        }
        _ = self.machine.reset_stream(id, code);
    }

    /// Records that a stream has no reader any more, with the code `code`.
    pub(crate) fn stop_stream(&mut self, id: u32, code: u32) {
        self.machine.stop_stream(id, code);
    }

    /// Records that the application no longer uses one half of a stream. `half` is 0 for the
    /// sending half and 1 for the receiving half.
    pub(crate) fn release_stream(&mut self, now: Instant, id: u32, half: usize) {
        self.serve_stream(now, id);
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.is_released[half] = true;
            self.left.insert(id);
            if half == 1 {
                stream.arrived = Arrived::default();
                self.machine.stop_stream(id, NO_READER);
            } else {
                stream.outlet.release();
            }
        }
        self.sweep_streams(now);
    }

    /// Grants the peer credit for streams without a reader, and removes streams that have ended.
    pub(super) fn sweep_streams(&mut self, now: Instant) {
        let Self { left, streams, machine, .. } = self;
        left.retain(|id| {
            let Some(stream) = streams.get_mut(id) else { return false };
            if stream.is_released[1] {
                machine.read_from(now, *id, u64::MAX).unwrap_or(0);
            }
            let is_over = stream.is_released == [true; 2] && machine.discard_stream(*id);
            if is_over {
                streams.remove(id);
            }
            !is_over
        });
    }
}
