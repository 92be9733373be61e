//! Tracks whether applications have more data to send than streams accept. If so, an empty stream
//! is limited by the host, which has not run its applications yet, and not by the applications.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of writers of a connection that have more data than their stream accepts. It includes
/// a writer from the moment its stream is full until all its data are accepted.
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
