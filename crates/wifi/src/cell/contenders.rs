//! Who waits for the medium.

use crate::access::FunctionId;
use acklab_base::Instant;
use acklab_base::random::Stream;

/// EDCAFs in line for the medium, and the chance that keeps them apart.
#[derive(Clone, Debug)]
pub(super) struct Contenders {
    waiting: u32,
    /// When the first of them joined, after there was none.
    since: Instant,
    backoffs: Stream,
    /// Memory that is used again.
    winners: Vec<FunctionId>,
}

impl Contenders {
    pub(super) const fn new(backoffs: Stream) -> Self {
        Self { waiting: 0, since: Instant::ZERO, backoffs, winners: Vec::new() }
    }

    /// One more waits.
    pub(super) fn join(&mut self, now: Instant) {
        if self.waiting == 0 {
            self.since = now;
        }
        self.waiting += 1;
    }

    /// `count` of them have won the medium, alone or together.
    pub(super) fn win(&mut self, count: usize) {
        self.waiting -= count as u32;
    }

    /// Does any EDCAF wait?
    pub(super) const fn is_any(&self) -> bool {
        self.waiting > 0
    }

    /// When the first of them joined, after there was none.
    pub(super) const fn since(&self) -> Instant {
        self.since
    }

    /// A backoff of 0 to `window` slots (10.3.3).
    pub(super) fn draw(&mut self, window: u16) -> u64 {
        self.backoffs.below(u64::from(window) + 1)
    }

    /// An empty list for winners. [`give_back`](Self::give_back) it, and its memory is used again.
    pub(super) fn take_room(&mut self) -> Vec<FunctionId> {
        std::mem::take(&mut self.winners)
    }

    pub(super) fn give_back(&mut self, winners: Vec<FunctionId>) {
        self.winners = winners;
    }
}
