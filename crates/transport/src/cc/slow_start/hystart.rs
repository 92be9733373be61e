//! The state shared by the `HyStart` of Linux and of ns-3 (Ha and Rhee, "Taming the elephants: New
//! TCP slow start", Computer Networks 55(9), 2011).

use super::super::Position;
use acklab_base::{Duration, Instant};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hystart {
    /// The minimum delay of the connection.
    pub(super) delay_min: Option<Duration>,
    pub(super) round_start: Instant,
    pub(super) last_ack: Instant,
    /// The round ends when a byte beyond this is acknowledged.
    pub(super) end: Position,
    /// The minimum delay of the round, among `samples` samples.
    pub(super) round_min: Option<Duration>,
    pub(super) samples: u32,
    /// `true` if a sign of congestion was found.
    pub(super) found: bool,
}

impl Hystart {
    /// Restarts the detection.
    pub(super) const fn reset(&mut self, now: Instant, sent_to: Position) {
        (self.delay_min, self.found) = (None, false);
        self.begin_round(now, sent_to);
    }

    pub(super) const fn begin_round(&mut self, now: Instant, sent_to: Position) {
        (self.round_start, self.last_ack, self.end) = (now, now, sent_to);
        (self.round_min, self.samples) = (None, 0);
    }

    /// Adds a sample of the delay. Returns the minimum so far.
    pub(super) fn shortest(&mut self, delay: Duration) -> Duration {
        let shortest = self.delay_min.map_or(delay, |min| min.min(delay));
        self.delay_min = Some(shortest);
        shortest
    }
}
