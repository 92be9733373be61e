//! The EDCAFs that wait for the medium.

use crate::access::EdcafId;
use acklab_base::Instant;
use acklab_base::random::Stream;

/// EDCAFs that wait for the medium, and the random stream of their backoffs.
#[derive(Clone, Debug)]
pub(super) struct Contenders {
    waiting: u32,
    /// The instant at which the first of the waiting EDCAFs began to wait.
    since: Instant,
    backoffs: Stream,
    /// Reused memory.
    winners: Vec<EdcafId>,
}

impl Contenders {
    pub(super) const fn new(backoffs: Stream) -> Self {
        Self { waiting: 0, since: Instant::ZERO, backoffs, winners: Vec::new() }
    }

    /// Adds a waiting EDCAF.
    pub(super) fn join(&mut self, now: Instant) {
        if self.waiting == 0 {
            self.since = now;
        }
        self.waiting += 1;
    }

    /// Removes `count` EDCAFs that have won the medium, alone or together.
    pub(super) fn win(&mut self, count: usize) {
        self.waiting -= count as u32;
    }

    /// Returns `true` if an EDCAF waits.
    pub(super) const fn is_any(&self) -> bool {
        self.waiting > 0
    }

    /// Returns when the first of the waiting EDCAFs began to wait.
    pub(super) const fn since(&self) -> Instant {
        self.since
    }

    /// Returns a random backoff from 0 to `slots` − 1 slots (10.3.3).
    pub(super) fn draw(&mut self, slots: u64) -> u64 {
        self.backoffs.below(slots)
    }

    /// Returns an empty list for winners. [`put_back`](Self::put_back) accepts it for reuse of its
    /// memory.
    pub(super) fn take_winners(&mut self) -> Vec<EdcafId> {
        std::mem::take(&mut self.winners)
    }

    pub(super) fn put_back(&mut self, winners: Vec<EdcafId>) {
        self.winners = winners;
    }
}
