//! The bytes that an application has written to a stream and that the thread of the endpoint has
//! not taken yet.

use super::{Backlog, Done, Pool, lock};
use crate::error::Lost;
use acklab_transport::octets::BLOCK;
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// Writes of up to this many bytes are appended to the previous block, if the block has room. Small
/// chunks are also appended, because a list entry would take more memory than the copy.
const SMALL: usize = 4 << 10;

/// The reason why nothing can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    Lost(Lost),
    /// The peer has stopped reading, with the code of its application.
    Stopped(u32),
    /// This end has ended or reset the stream.
    Ended,
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Lost(lost) => lost.into(),
            WriteError::Stopped(code) => {
                Self::new(io::ErrorKind::BrokenPipe, format!("the peer reads no more of the stream: code {code}"))
            }
            WriteError::Ended => Self::new(io::ErrorKind::BrokenPipe, "the stream was ended here"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Outlet {
    state: Mutex<State>,
    pool: Arc<Pool>,
    backlog: Arc<Backlog>,
}

#[derive(Debug, Default)]
struct State {
    /// Blocks that the thread has not taken. The last block may have room for more bytes.
    blocks: VecDeque<Bytes>,
    last: Vec<u8>,
    /// The total number of bytes written, and the limit of this number.
    written: u64,
    limit: u64,
    waker: Option<Waker>,
    refuses: Option<WriteError>,
    /// `true` if the thread was notified of the available bytes.
    is_told: bool,
    /// `true` if the writer is known to have more data.
    is_in_backlog: bool,
}

impl State {
    /// Returns how many of `octets` bytes may be written.
    fn room(&self, octets: usize) -> usize {
        usize::try_from(self.limit.saturating_sub(self.written)).unwrap_or(usize::MAX).min(octets)
    }

    /// Seals the last block. No more bytes are appended to it.
    fn seal(&mut self, pool: &Arc<Pool>) {
        if !self.last.is_empty() {
            self.blocks.push_back(pool.share(std::mem::take(&mut self.last)));
        }
    }

    fn told(&mut self, octets: usize) -> Done {
        Done { octets, is_news: !std::mem::replace(&mut self.is_told, true) }
    }
}

impl Outlet {
    /// Creates an outlet that accepts `limit` bytes until the thread raises the limit.
    pub(crate) fn new(limit: u64, pool: Arc<Pool>, backlog: Arc<Backlog>) -> Self {
        Self { state: Mutex::new(State { limit, ..State::default() }), pool, backlog }
    }

    fn note_backlog(&self, state: &mut State, has_more: bool) {
        match (std::mem::replace(&mut state.is_in_backlog, has_more), has_more) {
            (false, true) => self.backlog.add(),
            (true, false) => self.backlog.remove(),
            _ => {}
        }
    }

    /// Records that the stream has no writer any more.
    pub(crate) fn release(&self) {
        self.note_backlog(&mut lock(&self.state), false);
    }

    /// Returns how many of `octets` bytes may be written now. The backlog includes the writer until
    /// all its data are accepted, even if the writer is interrupted.
    fn poll_room<'s>(
        &'s self,
        context: &Context<'_>,
        octets: usize,
    ) -> Poll<Result<(MutexGuard<'s, State>, usize), WriteError>> {
        let mut state = lock(&self.state);
        if let Some(error) = &state.refuses {
            return Poll::Ready(Err(error.clone()));
        }
        let room = state.room(octets);
        self.note_backlog(&mut state, true);
        if room == 0 && octets > 0 {
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok((state, room)))
    }

    /// Accepts as many bytes as the limit permits. A stream has one writer at a time.
    pub(crate) fn poll_write(&self, context: &Context<'_>, octets: &[u8]) -> Poll<Result<Done, WriteError>> {
        let (mut state, room) = std::task::ready!(self.poll_room(context, octets.len()))?;
        let has_more = room < octets.len();
        let octets = &octets[..room];
        state.written += room as u64;
        if room <= SMALL && state.last.len() + room <= state.last.capacity() {
            state.last.extend_from_slice(octets);
        } else {
            state.seal(&self.pool);
            drop(state);
            let mut blocks: VecDeque<Vec<u8>> = octets
                .chunks(BLOCK)
                .map(|octets| {
                    // For a few bytes, a small block is allocated.
                    let mut block = if octets.len() > SMALL { self.pool.take() } else { Vec::with_capacity(SMALL) };
                    block.extend_from_slice(octets);
                    block
                })
                .collect();
            let last = blocks.pop_back().unwrap_or_default();
            let blocks = blocks.into_iter().map(|block| self.pool.share(block));
            state = lock(&self.state);
            state.blocks.extend(blocks);
            state.last = last;
        }
        self.note_backlog(&mut state, has_more);
        Poll::Ready(Ok(state.told(room)))
    }

    /// Splits off the part of `chunk` that the limit permits, without copying it.
    pub(crate) fn poll_chunk(&self, context: &Context<'_>, chunk: &mut Bytes) -> Poll<Result<Done, WriteError>> {
        if chunk.len() <= SMALL {
            return self.poll_write(context, chunk).map_ok(|done| {
                chunk.advance(done.octets);
                done
            });
        }
        let (mut state, room) = std::task::ready!(self.poll_room(context, chunk.len()))?;
        state.written += room as u64;
        state.seal(&self.pool);
        state.blocks.push_back(chunk.split_to(room));
        self.note_backlog(&mut state, !chunk.is_empty());
        Poll::Ready(Ok(state.told(room)))
    }

    /// Passes the written data to `take`, block by block.
    pub(crate) fn take(&self, take: impl FnMut(Bytes)) {
        let blocks = {
            let mut state = lock(&self.state);
            state.is_told = false;
            state.seal(&self.pool);
            std::mem::take(&mut state.blocks)
        };
        blocks.into_iter().for_each(take);
    }

    /// Raises the limit to `limit` bytes in total. Wakes the writer if `wakes`.
    pub(crate) fn allow(&self, limit: u64, wakes: bool) {
        let waker = {
            let mut state = lock(&self.state);
            state.limit = state.limit.max(limit);
            if wakes { state.waker.take() } else { None }
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Refuses all further writes.
    pub(crate) fn refuse(&self, error: WriteError) {
        let waker = {
            let mut state = lock(&self.state);
            state.refuses.get_or_insert(error);
            self.note_backlog(&mut state, false);
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_waits_for_room() {
        let (outlet, context) = (Outlet::new(10, Arc::default(), Arc::default()), Context::from_waker(Waker::noop()));
        let write = |octets: &[u8]| outlet.poll_write(&context, octets);
        assert_eq!(write(&[1; 4]), Poll::Ready(Ok(Done { octets: 4, is_news: true })));
        assert_eq!(write(&[2; 8]), Poll::Ready(Ok(Done { octets: 6, is_news: false })), "the thread knows");
        assert_eq!(write(&[3; 8]), Poll::Pending);
        let mut taken = Vec::new();
        outlet.take(|block| taken.push(block));
        assert_eq!(taken.concat(), [[1; 4].as_slice(), &[2; 6]].concat());
        outlet.allow(12, true);
        outlet.allow(11, true);
        assert_eq!(write(&[3; 8]), Poll::Ready(Ok(Done { octets: 2, is_news: true })), "a limit never falls");
        outlet.refuse(WriteError::Stopped(7));
        outlet.refuse(WriteError::Ended);
        assert_eq!(write(&[3; 8]), Poll::Ready(Err(WriteError::Stopped(7))), "the first reason counts");
    }

    #[test]
    fn a_writer_is_in_the_backlog_until_all_that_it_has_is_taken() {
        let (backlog, context) = (Arc::<Backlog>::default(), Context::from_waker(Waker::noop()));
        let outlets = [(); 2].map(|()| Outlet::new(10, Arc::default(), Arc::clone(&backlog)));
        let write = |place: usize, octets: usize| {
            let _ = outlets[place].poll_write(&context, &vec![0; octets]);
            !backlog.is_empty()
        };
        assert!(!write(0, 8), "all was taken");
        assert!(write(0, 8), "two octets were");
        assert!(write(0, 6), "none was");
        assert!(write(1, 10), "the first still has more");
        outlets[0].allow(16, true);
        assert!(!backlog.is_empty(), "it was woken, and has not run");
        assert!(!write(0, 6));
        for end in [Outlet::release, |outlet: &Outlet| outlet.refuse(WriteError::Ended)] {
            outlets[1].allow(10, false);
            if write(1, 1) {
                end(&outlets[1]);
            }
            assert!(backlog.is_empty());
        }
        assert!(Outlet::new(0, Arc::default(), Arc::clone(&backlog)).poll_write(&context, &[0]).is_pending());
        assert!(backlog.is_empty(), "it was dropped");
    }
}
