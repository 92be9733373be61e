//! Collects the bytes of a stream that arrive in one batch of datagrams at the beginning of the
//! batch's memory. This memory is in the caches, because the bytes were decrypted there. The reader
//! receives this memory, so the bytes are not copied to memory outside the caches.

use super::Association;
use super::streams::MIN_BLOCK;
use acklab_live::udp::Batch;
use acklab_transport::octets::BLOCK;

/// Contiguous bytes of one stream, from the first missing byte on. They are at the beginning of the
/// memory of the current batch.
///
/// Each byte is moved once, after all preceding bytes in memory. No byte is therefore overwritten
/// before it is moved. Frames arrive in order, and the machine reports each byte once, with the
/// frame that contained it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// `true` while a large batch is being received.
    is_open: bool,
    stream: u32,
    start: u64,
    length: usize,
    /// The destination of the last bytes that were added.
    place: usize,
}

impl Run {
    /// Returns `true` if these bytes of a stream continue the run, and adds them. `next` is the
    /// first missing offset of the stream without the run.
    #[inline]
    pub(super) const fn takes(&mut self, stream: u32, start: u64, next: u64, octets: usize) -> bool {
        if !self.is_open {
            return false;
        }
        if self.length == 0 && start == next {
            (self.stream, self.start) = (stream, start);
        } else if self.length == 0 || stream != self.stream || start != self.start + self.length as u64 {
            return false;
        }
        self.place = self.length;
        self.length += octets;
        true
    }

    /// Returns the destination of the last bytes that were added.
    #[inline]
    pub(super) const fn place(&self) -> usize {
        self.place
    }

    /// Suspends the run. It accepts no bytes until the caller restores the returned run.
    pub(super) const fn suspend(&mut self) -> Self {
        std::mem::replace(self, Self { is_open: false, stream: 0, start: 0, length: 0, place: 0 })
    }
}

impl Association {
    /// Begins a batch. The caller passes its datagrams next.
    pub(crate) fn begin_batch(&mut self, batch: &Batch<'_>) {
        self.run.is_open = batch.length >= MIN_BLOCK;
    }

    /// Ends a batch that has been received completely.
    pub(crate) fn end_batch(&mut self, batch: &mut Batch<'_>) {
        let Run { stream, start, length, .. } = self.run.suspend();
        let Some(stream) = self.streams.get_mut(&stream).filter(|_| length > 0) else { return };
        let whole = length >= MIN_BLOCK && batch.memory.capacity() == BLOCK;
        let kept = match if whole { self.pool.try_take_whole() } else { None } {
            Some(spare) => {
                let mut block = std::mem::replace(batch.memory, spare);
                block.truncate(length);
                stream.arrived.push(block)
            }
            None => stream.arrived.put(start, &batch.memory[..length]),
        };
        if kept.is_err() {
            self.run_out_of_memory();
        }
    }
}
