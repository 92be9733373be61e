//! Receive timestamps (draft-ietf-quic-receive-ts-03). The receiver reports the arrival time of
//! each packet. From these times, the sender computes the round-trip times that immediate ACKs
//! would have yielded.
//!
//! An end requests timestamps by `max_receive_timestamps_per_ack` and
//! `receive_timestamps_exponent`. Its peer then sends `ACK_RECEIVE_TIMESTAMPS` frames in 1-RTT
//! packets. A frame lists arrival times of packets that arrived since the last such frame, latest
//! first. It lists as many times as were requested and fit into the packet. The other times are
//! never reported (§7.1). Without arrival times, an ordinary ACK frame is sent.
//!
//! The sender uses timestamps twice. First, the receiver's clock measures the delivery time of data
//! ([`Sampler::on_receive_time`](crate::recovery::delivery_rate::Sampler::on_receive_time)).
//! Second, each packet yields a round-trip time. The frame reports the time between the arrival of
//! a packet and the arrival of the packet with the largest number. An immediate ACK of the packet
//! would have arrived earlier by that time.

use super::acks::MAX_MICROSECONDS;
use crate::recovery::packets::Received;
use acklab_base::{Duration, Instant};
use acklab_wire::quic::{Ack, TimestampRange, TransportError};
use acklab_wire::varint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Receive timestamps that an end requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Timestamps {
    /// `max_receive_timestamps_per_ack`: maximum number of timestamps per frame.
    #[schemars(range(min = 1, max = 1024))]
    pub most: u32,
    /// `receive_timestamps_exponent`: the unit of the timestamps is 2 to the power of this number,
    /// in microseconds.
    #[schemars(range(max = 20))]
    pub exponent: u8,
}

impl Default for Timestamps {
    /// The unit is microseconds (§6). The draft specifies no maximum number. 255 was the maximum
    /// per frame when timestamps were part of QUIC (draft-ietf-quic-transport-02, Timestamp
    /// Section).
    fn default() -> Self {
        Self { most: 255, exponent: 0 }
    }
}

impl Timestamps {
    const fn unit(self) -> Duration {
        Duration::from_micros(1 << self.exponent)
    }

    /// Computes results from this frame's timestamps for the newly acknowledged packets. The frame
    /// arrived at `now`. `departures` lists the numbers and departure times of these packets.
    /// `newest` is the in-flight packet among them that was sent last. `delay` is the ACK delay of
    /// the largest number.
    ///
    /// # Errors
    /// If the frame reports an invalid packet number, or more timestamps than requested (§6).
    pub(super) fn read(
        self,
        now: Instant,
        ack: &Ack,
        delay: Duration,
        newest: Option<u64>,
        departures: impl Iterator<Item = (u64, Instant)>,
    ) -> Result<Received, TransportError> {
        let mut times = Vec::new();
        for told in ack.receive_times() {
            times.push(told.ok_or(TransportError::ProtocolViolation)?);
        }
        if times.len() > self.most as usize {
            return Err(TransportError::ProtocolViolation);
        }
        times.sort_unstable();
        let time_of = |number: u64| {
            let place = times.binary_search_by_key(&number, |(number, _)| *number).ok()?;
            Some(self.unit().saturating_mul(times[place].1).min(Duration::from_micros(MAX_MICROSECONDS)))
        };
        let newest_at = newest.and_then(time_of).unwrap_or(Duration::ZERO);
        // An immediate ACK of the largest number would have arrived `delay` earlier. For an earlier
        // packet, the difference between the arrivals at the peer is subtracted too.
        let largest_at = time_of(ack.ranges.largest());
        let round_trips = departures.filter_map(|(number, left_at)| {
            let earlier = largest_at?.saturating_sub(time_of(number)?);
            let round_trip = now.since(left_at).saturating_sub(delay).saturating_sub(earlier);
            (!round_trip.is_zero()).then_some(round_trip)
        });
        Ok(Received { newest_at, least_rtt: round_trips.min() })
    }
}

/// Arrival times that no frame has reported yet.
#[derive(Debug, Default)]
pub(super) struct ReceiveTimes {
    wanted: Option<Timestamps>,
    /// `receive_timestamp_basis` (§6.1), the origin of the reported times.
    basis: Option<Instant>,
    /// Packet numbers in the order of their arrival, with the time since the basis in the unit that
    /// the peer requested.
    unreported: VecDeque<(u64, u64)>,
}

impl ReceiveTimes {
    /// Applies the peer's request for timestamps.
    pub(super) const fn want(&mut self, wanted: Option<Timestamps>) {
        self.wanted = wanted;
    }

    /// Records the first arrival of a packet.
    #[inline]
    pub(super) fn note(&mut self, now: Instant, number: u64) {
        if let Some(wanted) = self.wanted {
            self.keep(now, number, wanted);
        }
    }

    #[inline(never)]
    fn keep(&mut self, now: Instant, number: u64, wanted: Timestamps) {
        // All reported times are at least one unit after the basis, because zero would mean that no
        // basis exists.
        let basis = *self.basis.get_or_insert(now);
        if self.unreported.len() == wanted.most as usize {
            self.unreported.pop_front();
        }
        let units = now.since(basis).as_nanos() / wanted.unit().as_nanos() + 1;
        self.unreported.push_back((number, units));
    }

    /// Returns the timestamp ranges of a frame that acknowledges numbers up to `largest`. The
    /// ranges add at most `room` bytes to an ordinary ACK frame. Returns `None` if the peer
    /// requested no timestamps, if no time is unreported, or if no time fits.
    pub(super) fn take(&mut self, largest: Option<u64>, room: u64) -> Option<Vec<TimestampRange>> {
        self.wanted?;
        let largest = largest?;
        let mut ranges: Vec<TimestampRange> = Vec::new();
        // The longer frame type, and the number of ranges.
        let mut octets = 3 + varint::len(self.unreported.len() as u64);
        let mut before: Option<(u64, u64)> = None;
        for (number, units) in self.unreported.drain(..).rev() {
            let delta = before.map_or(units, |(_, later)| later.saturating_sub(units));
            let continues = before.is_some_and(|(above, _)| number + 1 == above);
            let head = if continues { 0 } else { varint::len(largest.saturating_sub(number)) + 2 };
            octets += head + varint::len(delta);
            if octets > room {
                break;
            }
            match ranges.last_mut().filter(|_| continues) {
                Some(range) => range.deltas.push(delta),
                None => ranges.push(TimestampRange { below: largest.saturating_sub(number), deltas: vec![delta] }),
            }
            before = Some((number, units));
        }
        (!ranges.is_empty()).then_some(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Timestamps = Timestamps { most: 20, exponent: 0 };

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    fn times(wanted: Timestamps, arrivals: &[(u64, u64)]) -> ReceiveTimes {
        let mut times = ReceiveTimes::default();
        times.want(Some(wanted));
        arrivals.iter().for_each(|(number, us)| times.note(at(*us), *number));
        times
    }

    const EARLY: [(u64, u64); 10] =
        [(87, 300), (88, 305), (89, 310), (90, 320), (91, 330), (96, 350), (97, 355), (98, 360), (99, 370), (100, 380)];

    fn range(below: u64, deltas: &[u64]) -> TimestampRange {
        TimestampRange { below, deltas: deltas.to_vec() }
    }

    /// The example of §8, with a basis of 299: the first packet's time is one unit.
    #[test]
    fn the_examples_of_the_draft() {
        let mut told = times(WANTED, &EARLY);
        let early = [range(0, &[81, 10, 10, 5, 5]), range(9, &[20, 10, 10, 5, 5])];
        assert_eq!(told.take(Some(100), 1000).unwrap(), early);
        for (number, us) in [(92, 390), (93, 392), (94, 394), (95, 395)] {
            told.note(at(us), number);
        }
        let first = [range(5, &[96, 1, 2, 2])];
        assert_eq!(told.take(Some(100), 1000).unwrap(), first, "reported times are not repeated");
        assert_eq!(told.take(Some(100), 1000), None);
    }

    #[test]
    fn the_oldest_are_left_out() {
        let few = Timestamps { most: 3, ..WANTED };
        assert_eq!(times(few, &EARLY).take(Some(100), 1000).unwrap(), [range(0, &[81, 10, 10])]);
        // Bytes: 3 for the type, 1 for the count, 3 for the range, 2 and 1 for the two times.
        assert_eq!(times(WANTED, &EARLY).take(Some(100), 10).unwrap(), [range(0, &[81, 10])]);
        assert_eq!(times(WANTED, &EARLY).take(Some(100), 8), None);
        assert_eq!(ReceiveTimes::default().take(Some(100), 1000), None, "not requested");
    }

    #[test]
    fn a_coarse_unit_loses_no_time() {
        let coarse = Timestamps { exponent: 4, ..WANTED };
        let ranges = times(coarse, &EARLY).take(Some(100), 1000).unwrap();
        let sum: u64 = ranges.iter().flat_map(|range| &range.deltas[usize::from(range.below == 0)..]).sum();
        assert_eq!((ranges[0].deltas[0], sum), (80 / 16 + 1, 5), "80 µs are five units, whatever lies between");
    }

    fn read(wanted: Timestamps, timestamps: Vec<TimestampRange>) -> Result<Received, TransportError> {
        let ack = Ack::new((0..3).into(), 0).with_timestamps(Some(timestamps));
        let left = (0..3u64).map(|number| (number, at(1000 * number)));
        wanted.read(at(14_000), &ack, Duration::from_millis(1), Some(2), left)
    }

    /// Three packets are sent at intervals of a millisecond and arrive 5, 6 and 9 ms later. The ACK
    /// is delayed by 1 ms and arrives 2 ms later.
    #[test]
    fn each_packet_has_its_round_trip() {
        let told = read(WANTED, vec![range(0, &[11_000, 4_000, 2_000])]).unwrap();
        assert_eq!(told.newest_at, Duration::from_millis(11));
        assert_eq!(
            told.least_rtt,
            Some(Duration::from_millis(7)),
            "5 ms there and 2 ms back, where the last took 9 and 2"
        );
        let unknown = read(WANTED, vec![range(1, &[7_000])]).unwrap();
        assert_eq!(unknown, Received::default(), "without the time of the largest there is nothing to compare with");
    }

    #[test]
    fn times_beyond_every_clock_overflow_nothing() {
        let coarse = Timestamps { exponent: 20, ..WANTED };
        let told = read(coarse, vec![range(0, &[varint::LARGEST, varint::LARGEST - 1, 0])]).unwrap();
        assert_eq!(
            told,
            Received { newest_at: Duration::from_micros(MAX_MICROSECONDS), least_rtt: Some(Duration::from_millis(11)) }
        );
    }

    #[test]
    fn more_than_was_wanted_and_what_was_never_sent_are_violations() {
        let violation = Err(TransportError::ProtocolViolation);
        assert_eq!(read(Timestamps { most: 2, ..WANTED }, vec![range(0, &[9, 1, 1])]), violation);
        assert_eq!(read(WANTED, vec![range(3, &[9])]), violation);
        assert_eq!(read(WANTED, vec![range(0, &[9, 10])]), violation, "before the basis");
    }
}
