//! The time for which something that could run waited for a processor in an interval.

use acklab_base::Instant;

/// The waiting of the one that waited longest in an interval: a thread for a processor, or a
/// virtual processor for one of its host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// The beginning of the interval.
    pub began: Instant,
    /// Its end.
    pub ended: Instant,
    /// The share of the interval that it waited.
    pub share: f64,
}
