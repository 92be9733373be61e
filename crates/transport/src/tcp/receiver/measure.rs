//! Measurements of the receiver, which the policy or autotuning uses.

use super::{Agreed, Receiver};
use crate::ack::{Echo, RoundTrip};
use acklab_base::{Duration, Instant};
use acklab_wire::tcp::Segment;

/// Linux's `tcp_rtt_tsopt_us`: the maximum age of an echo in milliseconds. An older echo is not a
/// timestamp of this end.
const OLDEST_ECHO: u32 = i32::MAX as u32 / 1000;

impl Receiver {
    /// Returns the estimates of round-trip times: the estimates of the policy's ledger or, without
    /// these, the estimates of autotuning.
    fn round_trip(&mut self) -> Option<&mut RoundTrip> {
        let own = self.autotuning.as_mut().and_then(|autotuning| autotuning.round_trip());
        self.acknowledger.round_trip().or(own)
    }

    /// Returns `true` if neither the policy nor autotuning uses measurements.
    pub(super) const fn measures_nothing(&self) -> bool {
        self.autotuning.is_none() && self.acknowledger.ledger().round_trip.is_none()
    }

    /// Records a round-trip sample on the first arrival after this end's SYN.
    pub(super) fn measure_handshake(&mut self, now: Instant) {
        if let Some(sent_at) = self.syn_sent_at.take()
            && let Some(round_trip) = self.round_trip()
        {
            round_trip.on_handshake(now, now.since(sent_at).max(Duration::from_micros(1)));
        }
    }

    /// Measures the data segment `segment`, which is already in the ledger and in the stream.
    /// `before` is the previous rcv.nxt.
    pub(super) fn measure(&mut self, now: Instant, segment: &Segment, agreed: Agreed, before: u64) {
        if self.round_trip().is_none() {
            return;
        }
        let has_unread = self.delivered() < before;
        let is_full = u64::from(segment.payload) >= self.acknowledger.ledger().full_size;
        let timestamps = segment.options.timestamps.filter(|_| is_full && agreed.has_timestamps);
        let echo = timestamps.zip(self.clock.as_mut()).and_then(|(timestamps, clock)| {
            let ticks = clock.read(now).wrapping_sub(timestamps.echo);
            let age = clock.tick() * u64::from(ticks.max(1));
            (ticks < OLDEST_ECHO).then_some(Echo { value: timestamps.echo, age, has_unread })
        });
        let next = self.stream.next();
        let window = self.window.left(next);
        if let Some(round_trip) = self.round_trip() {
            round_trip.on_data(now, next, window, echo);
        }
        // The delivery rate is measured over round-trip times.
        self.acknowledger.measure_delivery(now);
    }
}
