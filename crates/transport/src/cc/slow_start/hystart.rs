//! The state that the `HyStart`s of Linux and ns-3 share (Ha and Rhee, "Taming the elephants: New
//! TCP slow start", Computer Networks 55(9), 2011).

use super::super::Position;
use acklab_base::{Duration, Instant};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hystart {
    /// The shortest delay of the connection.
    pub(super) delay_min: Option<Duration>,
    pub(super) round_start: Instant,
    pub(super) last_ack: Instant,
    /// The round ends when an octet beyond this is acknowledged.
    pub(super) end: Position,
    /// The shortest delay of the round, among `samples` samples.
    pub(super) round_min: Option<Duration>,
    pub(super) samples: u32,
    /// A sign of congestion was found.
    pub(super) found: bool,
}

impl Hystart {
    /// Begins anew.
    pub(super) const fn reset(&mut self, now: Instant, sent_to: Position) {
        (self.delay_min, self.found) = (None, false);
        self.begin_round(now, sent_to);
    }

    pub(super) const fn begin_round(&mut self, now: Instant, sent_to: Position) {
        (self.round_start, self.last_ack, self.end) = (now, now, sent_to);
        (self.round_min, self.samples) = (None, 0);
    }

    /// Takes a sample of the delay. Returns the shortest so far.
    pub(super) fn shortest(&mut self, delay: Duration) -> Duration {
        let shortest = self.delay_min.map_or(delay, |min| min.min(delay));
        self.delay_min = Some(shortest);
        shortest
    }
}
