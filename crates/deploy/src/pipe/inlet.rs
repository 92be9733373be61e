//! The bytes that have arrived on a stream in order and that its application has not read yet.

use super::{Done, lock};
use crate::error::Lost;
use bytes::Bytes;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// The divisor of the receive buffer that yields the bytes after whose reading the thread must
/// check the window. The thread is notified per half a window.
const SHARE: u64 = 8;

/// A block with fewer bytes is copied to the block before it. Chosen: ten times the memory of a
/// list entry.
const SMALL: usize = 1024;
/// The size in bytes of a block that contains such copies. Chosen: one page.
const TAIL: usize = 4096;

/// The reason why nothing can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// The peer has reset the stream. The code is the code of the peer's application, or `None` if
    /// the lifetime of a message has expired.
    Reset(Option<u32>),
    Lost(Lost),
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Lost(lost) => lost.into(),
            ReadError::Reset(code) => {
                let reason = code.map_or("it has expired".to_owned(), |code| format!("code {code}"));
                Self::new(io::ErrorKind::ConnectionReset, format!("the peer has reset the stream: {reason}"))
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Inlet {
    state: Mutex<State>,
    /// The number of bytes that the application has read.
    read: AtomicU64,
    /// The number of bytes after which the thread must be notified.
    step: u64,
}

#[derive(Debug, Default)]
struct State {
    blocks: VecDeque<Bytes>,
    /// The small blocks after the large ones, in one piece.
    tail: Vec<u8>,
    waker: Option<Waker>,
    /// The end of the stream, once it is known.
    end: Option<Result<(), ReadError>>,
    /// The value of `read` that was last reported to the thread.
    told: u64,
    was_told_end: bool,
}

impl State {
    fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.tail.is_empty()
    }

    /// Appends a block. A small block after others is copied, because a list entry takes more
    /// memory than the block's bytes. Otherwise a peer that sends single bytes could use many times
    /// the memory of a slow reader's window.
    fn push(&mut self, block: Bytes) {
        if self.is_empty() || block.len() >= SMALL {
            self.seal();
            return self.blocks.push_back(block);
        }
        if self.tail.len() + block.len() > TAIL {
            self.seal();
        }
        self.tail.extend_from_slice(&block);
    }

    fn seal(&mut self) {
        if !self.tail.is_empty() {
            self.blocks.push_back(std::mem::take(&mut self.tail).into());
        }
    }

    /// Returns the next bytes, at most `most`.
    fn pop(&mut self, most: usize) -> Option<Bytes> {
        if self.blocks.is_empty() {
            self.seal();
        }
        let first = self.blocks.front_mut()?;
        if first.len() > most { Some(first.split_to(most)) } else { self.blocks.pop_front() }
    }
}

impl Inlet {
    pub(crate) fn new(receive_buffer: u64) -> Self {
        Self { state: Mutex::default(), read: AtomicU64::new(0), step: receive_buffer / SHARE }
    }

    /// Moves at most `most` bytes to `to`, or none at the end of the stream. A stream has one
    /// reader at a time.
    pub(crate) fn poll_read(
        &self,
        context: &Context<'_>,
        most: usize,
        mut to: impl FnMut(&[u8]),
    ) -> Poll<Result<Done, ReadError>> {
        let (mut count, mut state) = (0, lock(&self.state));
        while count < most
            && let Some(octets) = state.pop(most - count)
        {
            // No other reference to the copied bytes exists.
            drop(state);
            to(&octets);
            count += octets.len();
            drop(octets);
            state = lock(&self.state);
        }
        self.count(state, context, most, count)
    }

    /// Returns at most `most` contiguous bytes, or none at the end of the stream.
    pub(crate) fn poll_chunk(&self, context: &Context<'_>, most: usize) -> Poll<Result<(Bytes, Done), ReadError>> {
        let mut state = lock(&self.state);
        let chunk = if most > 0 { state.pop(most) } else { None }.unwrap_or_default();
        self.count(state, context, most, chunk.len()).map_ok(|done| (chunk, done))
    }

    /// Records that `count` of `most` requested bytes were available.
    fn count(
        &self,
        mut state: MutexGuard<'_, State>,
        context: &Context<'_>,
        most: usize,
        count: usize,
    ) -> Poll<Result<Done, ReadError>> {
        if count == 0 && most > 0 {
            match &state.end {
                Some(Ok(())) => {}
                Some(Err(error)) => return Poll::Ready(Err(error.clone())),
                None => {
                    state.waker = Some(context.waker().clone());
                    return Poll::Pending;
                }
            }
        }
        let read = self.read.load(Ordering::Relaxed) + count as u64;
        self.read.store(read, Ordering::Release);
        // When a stream ends, the peer may open another stream.
        let is_end = state.end.is_some() && state.is_empty() && !std::mem::replace(&mut state.was_told_end, true);
        let is_news = is_end || read - state.told > self.step;
        if is_news {
            state.told = read;
        }
        Poll::Ready(Ok(Done { octets: count, is_news }))
    }

    /// Returns the number of bytes that the application has read.
    pub(crate) fn read(&self) -> u64 {
        self.read.load(Ordering::Acquire)
    }

    /// Appends blocks, and then the end, if given. Wakes the reader.
    pub(crate) fn put(&self, blocks: impl Iterator<Item = Bytes>, end: Option<Result<(), ReadError>>) {
        let waker = {
            let mut state = lock(&self.state);
            blocks.for_each(|block| state.push(block));
            if state.end.is_none() {
                state.end = end;
            }
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks<const N: usize>(blocks: [&'static [u8]; N]) -> impl Iterator<Item = Bytes> {
        blocks.into_iter().map(Bytes::from_static)
    }

    #[test]
    fn a_reader_gets_octets_in_order_and_then_the_end() {
        let (inlet, context) = (Inlet::new(80), Context::from_waker(Waker::noop()));
        let mut all = Vec::new();
        let mut read = |most| inlet.poll_read(&context, most, |octets| all.extend_from_slice(octets));
        assert_eq!(read(5), Poll::Pending);
        inlet.put(blocks([&[1; 6], &[2; 3], &[2; 3]]), None);
        assert_eq!(read(4), Poll::Ready(Ok(Done { octets: 4, is_news: false })));
        assert_eq!(read(7), Poll::Ready(Ok(Done { octets: 7, is_news: true })), "more than an eighth of the buffer");
        assert_eq!(inlet.read(), 11);
        inlet.put(std::iter::empty(), Some(Ok(())));
        inlet.put(std::iter::empty(), Some(Err(ReadError::Reset(None))));
        assert_eq!(read(7), Poll::Ready(Ok(Done { octets: 1, is_news: true })), "the end");
        assert_eq!(read(7), Poll::Ready(Ok(Done { octets: 0, is_news: false })));
        assert_eq!(all, [[1; 6], [2; 6]].concat());
    }

    #[test]
    fn chunks_are_the_blocks_themselves_and_count_as_read() {
        const LONG: usize = SMALL + 3;
        let (inlet, context) = (Inlet::new(8 * LONG as u64), Context::from_waker(Waker::noop()));
        let chunk = |most| match inlet.poll_chunk(&context, most) {
            Poll::Ready(Ok((chunk, done))) => Some((chunk, done.is_news)),
            _ => None,
        };
        assert_eq!(chunk(SMALL), None);
        let block = Bytes::from(vec![1; LONG]);
        let place = block.as_ptr();
        inlet.put([block, Bytes::from(vec![2; SMALL])].into_iter(), None);
        assert_eq!(chunk(0), Some((Bytes::new(), false)), "nothing was asked for");
        let (first, is_news) = chunk(SMALL).unwrap();
        assert_eq!((first.as_ptr(), first.len(), is_news), (place, SMALL, false));
        assert_eq!(chunk(SMALL), Some((Bytes::from_static(&[1; 3]), false)), "not across the border of a block");
        assert_eq!((chunk(SMALL), inlet.read()), (Some((Bytes::from(vec![2; SMALL]), true)), (LONG + SMALL) as u64));
        inlet.put(std::iter::empty(), Some(Ok(())));
        assert_eq!([chunk(9), chunk(9)], [true, false].map(|is_news| Some((Bytes::new(), is_news))), "the end");
        assert_eq!(&first[..], [1; SMALL], "a chunk stays valid while it is held");
    }

    /// A peer sends single bytes that the application does not read. They take at most two bytes of
    /// memory each.
    #[test]
    fn small_blocks_that_wait_are_in_one_piece() {
        let (inlet, context) = (Inlet::new(1 << 20), Context::from_waker(Waker::noop()));
        for number in 0..100_000u32 {
            inlet.put(std::iter::once(Bytes::copy_from_slice(&[number as u8])), None);
        }
        let (blocks, tail) = {
            let state = lock(&inlet.state);
            (state.blocks.len(), state.tail.capacity())
        };
        assert!(blocks <= 2 + 100_000 / TAIL && tail <= 2 * TAIL, "{blocks} blocks, {tail} octets");
        let mut read = Vec::new();
        _ = inlet.poll_read(&context, usize::MAX, |octets| read.extend_from_slice(octets));
        assert!(
            read.len() == 100_000 && read.iter().zip(0..).all(|(octet, number): (&u8, u32)| *octet == number as u8)
        );
    }
}
