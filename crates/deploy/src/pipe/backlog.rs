//! Tracks whether applications have more to send than streams have room for. If they do, an empty
//! stream is caused by the host, which has not run them yet, and not by the applications.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the writers of a connection that have more data than was accepted. A writer counts from
/// the moment it finds no room until all its data are accepted.
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
