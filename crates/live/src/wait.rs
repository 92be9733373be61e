//! The time that a runnable thread or processor waited in an interval.

use acklab_base::Instant;

/// The longest wait in an interval: of a thread for a processor, or of a virtual processor for one
/// of its host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// The beginning of the interval.
    pub began: Instant,
    /// Its end.
    pub ended: Instant,
    /// The waiting time, as a share of the interval.
    pub share: f64,
}
