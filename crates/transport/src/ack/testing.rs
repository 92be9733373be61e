//! Feeds the same packets on both number lines to a receiver.

use super::{Acknowledger, Packet, Policy, PolicyConfig, Ranges, Reason};
use acklab_base::{Duration, Instant};

/// The number of bytes per packet.
pub(super) const SIZE: u64 = 1000;

/// The number lines on which packets arrive: packet numbers, and offsets of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line {
    Packets,
    Stream,
}

/// A receiver of packets on one of the two number lines.
#[derive(Debug)]
pub(super) struct Endpoint {
    line: Line,
    pub(super) acknowledger: Acknowledger,
    pub(super) ranges: Ranges,
}

impl Endpoint {
    pub(super) fn new(line: Line, config: PolicyConfig) -> Self {
        let policy = Policy::new(config).unwrap_or_else(|| panic!("{} is not built in", config.name()));
        let mut acknowledger = Acknowledger::new(policy);
        if let Some(round_trip) = acknowledger.round_trip() {
            round_trip.on_handshake(Instant::ZERO, Duration::from_millis(40));
        }
        Self { line, acknowledger, ranges: Ranges::default() }
    }

    /// Delivers the packet with this number. Returns the reason of its immediate ACK, if any, and
    /// records the ACK as sent.
    pub(super) fn arrives(&mut self, now: Instant, number: u64) -> Option<Reason> {
        let unit = match self.line {
            Line::Packets => 1,
            Line::Stream => SIZE,
        };
        let (range, before) = (number * unit..(number + 1) * unit, self.ranges.next());
        let arrival = self.ranges.insert(range.clone());
        let packet = match self.line {
            Line::Packets => Packet::numbered(number, SIZE),
            Line::Stream => Packet::of_stream(range, self.ranges.next() - before),
        };
        self.acknowledger.enter(now, packet);
        self.acknowledger.measure_delivery(now);
        self.acknowledger.decide(now, arrival, self.ranges.held(true));
        self.leaves(now)
    }

    /// Advances time to `now`. Returns the reason of the ACK that is sent, if any.
    pub(super) fn wake(&mut self, now: Instant) -> Option<Reason> {
        self.acknowledger.wake(now);
        self.leaves(now)
    }

    fn leaves(&mut self, now: Instant) -> Option<Reason> {
        let reason = self.acknowledger.due()?;
        self.acknowledger.sent(now, reason);
        Some(reason)
    }
}
