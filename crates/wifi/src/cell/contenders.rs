//! Who waits for the medium.

use crate::access::FunctionId;
use acklab_base::Instant;
use acklab_base::random::Stream;

/// EDCAFs in line for the medium, and the chance that keeps them apart.
#[derive(Clone, Debug)]
pub(super) struct Contenders {
    /// How many there are, and since when there have been any.
    waiting: u32,
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

    /// So many have won. They take what lists them out and put it back.
    pub(super) fn win(&mut self, count: usize) {
        self.waiting -= count as u32;
    }

    pub(super) const fn is_any(&self) -> bool {
        self.waiting > 0
    }

    /// Since when there have been any, or were when there last were.
    pub(super) const fn since(&self) -> Instant {
        self.since
    }

    /// A backoff of 0 to `window` slots (10.3.3).
    pub(super) fn draw(&mut self, window: u16) -> u64 {
        self.backoffs.below(u64::from(window) + 1)
    }

    /// Room for winners.
    pub(super) fn take_room(&mut self) -> Vec<FunctionId> {
        std::mem::take(&mut self.winners)
    }

    pub(super) fn give_back(&mut self, winners: Vec<FunctionId>) {
        self.winners = winners;
    }
}
