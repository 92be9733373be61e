//! Tracks whether applications have more to send than streams have room for. If so, an empty stream
//! is the fault of the host, which has not yet run them, and not of the applications.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the writers of a connection that have more than was taken, from when one finds no room
/// until all that it has is taken.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    writers: AtomicUsize,
}

impl Backlog {
    pub(crate) fn is_empty(&self) -> bool {
        self.writers.load(Ordering::Relaxed) == 0
    }

    pub(super) fn add(&self) {
        self.writers.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove(&self) {
        self.writers.fetch_sub(1, Ordering::Relaxed);
    }
}
