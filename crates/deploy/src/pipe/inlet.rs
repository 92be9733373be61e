//! What has arrived on a stream in order, until its application reads it.

use super::{Done, Pool, lock};
use crate::error::Lost;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Of a receive buffer, the share that is read before the thread has to look whether the window moves. It is told half of the window at a time.
const SHARE: u64 = 8;

/// Why nothing can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// The peer has reset the stream, with this code of its application, or because its lifetime is over.
    Reset(Option<u32>),
    Lost(Lost),
}

#[derive(Debug)]
pub(crate) struct Inlet {
    state: Mutex<State>,
    /// Octets that the application has read.
    read: AtomicU64,
    /// Octets after which the thread has to be told of it.
    step: u64,
    pool: Arc<Pool>,
}

#[derive(Debug, Default)]
struct State {
    blocks: VecDeque<Vec<u8>>,
    /// Octets of the first block that were read.
    place: usize,
    waker: Option<Waker>,
    /// Nothing follows what is there.
    end: Option<Result<(), ReadError>>,
    /// What of `read` the thread was told.
    told: u64,
    was_told_end: bool,
}

impl Inlet {
    pub(crate) fn new(receive_buffer: u64, pool: Arc<Pool>) -> Self {
        Self { state: Mutex::default(), read: AtomicU64::new(0), step: receive_buffer / SHARE, pool }
    }

    /// Gives at most `most` octets to `to`; none at the end. A stream has one reader at a time.
    pub(crate) fn poll_read(
        &self,
        context: &Context<'_>,
        most: usize,
        mut to: impl FnMut(&[u8]),
    ) -> Poll<Result<Done, ReadError>> {
        let mut count = 0;
        let mut state = lock(&self.state);
        while count < most
            && let Some(block) = state.blocks.pop_front()
        {
            // What is copied is nobody else's.
            let place = std::mem::take(&mut state.place);
            drop(state);
            let octets = &block[place..block.len().min(place + most - count)];
            to(octets);
            count += octets.len();
            let end = place + octets.len();
            if end < block.len() {
                state = lock(&self.state);
                state.blocks.push_front(block);
                state.place = end;
            } else {
                self.pool.give(block);
                state = lock(&self.state);
            }
        }
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
        // The end lets the peer open another stream.
        let is_end =
            state.end.is_some() && state.blocks.is_empty() && !std::mem::replace(&mut state.was_told_end, true);
        let is_news = is_end || read - state.told > self.step;
        if is_news {
            state.told = read;
        }
        Poll::Ready(Ok(Done { octets: count, is_news }))
    }

    /// Octets that the application has read.
    pub(crate) fn read(&self) -> u64 {
        self.read.load(Ordering::Acquire)
    }

    /// These octets follow, and then the end if there is one. Wakes the reader.
    pub(crate) fn put(&self, blocks: impl Iterator<Item = Vec<u8>>, end: Option<Result<(), ReadError>>) {
        let waker = {
            let mut state = lock(&self.state);
            state.blocks.extend(blocks);
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

    #[test]
    fn a_reader_gets_octets_in_order_and_then_the_end() {
        let (inlet, context) = (Inlet::new(80, Arc::default()), Context::from_waker(Waker::noop()));
        let mut all = Vec::new();
        let mut read = |most| inlet.poll_read(&context, most, |octets| all.extend_from_slice(octets));
        assert_eq!(read(5), Poll::Pending);
        inlet.put([vec![1; 6], vec![2; 6]].into_iter(), None);
        assert_eq!(read(4), Poll::Ready(Ok(Done { octets: 4, is_news: false })));
        assert_eq!(read(7), Poll::Ready(Ok(Done { octets: 7, is_news: true })), "more than an eighth of the buffer");
        assert_eq!(inlet.read(), 11);
        inlet.put(std::iter::empty(), Some(Ok(())));
        inlet.put(std::iter::empty(), Some(Err(ReadError::Reset(None))));
        assert_eq!(read(7), Poll::Ready(Ok(Done { octets: 1, is_news: true })), "the end");
        assert_eq!(read(7), Poll::Ready(Ok(Done { octets: 0, is_news: false })));
        assert_eq!(all, [[1; 6], [2; 6]].concat());
    }
}
