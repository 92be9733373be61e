//! Round-trip times by the spin bit of QUIC (RFC 9000, §17.4; RFC 9312, §3.8.2).
//!
//! A client inverts the bit of the newest packet that it has received, and a server repeats it. So
//! the bit changes once per round trip in each direction, and the other end responds to each change
//! with one. Packet numbers are encrypted: to the observer, a late packet with an old bit causes
//! two apparent changes. The ends decrypt the numbers, and do not respond to these. So a change
//! counts when the other end has responded to it. If only one direction was captured, a change
//! counts immediately, unless it follows the last one too soon.
//!
//! An end that does not participate should set the bit at random for each packet, or for the whole
//! connection.

/// The header form bit of a long header (RFC 9000, §17.2). The next bit may have any value (RFC
/// 9287).
const LONG: u8 = 0x80;
/// The spin bit of a short header (RFC 9000, §17.3.1).
const SPIN: u8 = 0x20;
/// The maximum number of packets that overtake a late packet. Later packets count as lost (RFC
/// 9002, §6.1.1).
const OVERTAKEN: u64 = 3;
/// If only one direction was captured, a change is that of a late packet if it follows the last one
/// within this share of the minimum round trip (RFC 9312, §3.8.2 recommends such a heuristic).
const MIN_SHARE: u64 = 4;
/// The number of standard deviations by which the changes of an end that participates differ from
/// those of random bits.
const DEVIATIONS: f64 = 3.0;
/// The minimum number of counted changes, of both ends together, for round trips by the bit.
const MIN_CHANGES: u64 = 3;

/// A change of the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    at: u64,
    value: bool,
    /// The number of packets of the end before it.
    packets: u64,
    /// `true` if the actual change may have been earlier. The change reverts that of a late packet,
    /// or is in the first short header, and long headers may have hidden earlier ones (RFC 9000,
    /// §12.2).
    is_blurred: bool,
}

/// The spin bit of one end, which begins with zero.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    /// `true` if a datagram with any header was captured.
    is_seen: bool,
    value: bool,
    packets: u64,
    /// Changes of any cause.
    changes: u64,
    /// A change to which the other end has not yet responded.
    open: Option<Change>,
    /// Packets before the last reverted change.
    undone: Option<u64>,
    /// The last change that counts.
    counted: Option<Change>,
    count: u64,
    /// The minimum time from a change of the other end to the change in response.
    min_answer: Option<u64>,
    min_whole: Option<u64>,
}

impl End {
    fn change(&self, at: u64) -> Change {
        let is_late = self.undone.is_some_and(|packets| self.packets - packets <= OVERTAKEN);
        let is_blurred = is_late || self.packets == 0;
        Change { at, value: self.value, packets: self.packets, is_blurred }
    }

    /// Counts `change`, which responds to `asked` of the other end.
    fn count(&mut self, change: Change, requested: Option<Change>) -> Option<Whole> {
        self.count += 1;
        if let Some(requested) = requested.filter(|requested| !requested.is_blurred && !change.is_blurred) {
            shorten(&mut self.min_answer, change.at.saturating_sub(requested.at));
        }
        let last = self.counted.replace(change)?;
        // Between two changes to the same value, a change was missed.
        if last.is_blurred || change.is_blurred || last.value == change.value {
            return None;
        }
        let nanos = change.at.saturating_sub(last.at);
        shorten(&mut self.min_whole, nanos);
        Some(Whole { nanos, packets: change.packets - last.packets })
    }

    /// Returns `true` if its bits may be random: then half of them differ from the previous bit.
    fn may_be_random(&self) -> bool {
        let packets = self.packets as f64;
        (2.0 * self.changes as f64 - packets).abs() < DEVIATIONS * packets.sqrt()
    }
}

fn shorten(minimum: &mut Option<u64>, nanos: u64) {
    *minimum = Some(minimum.map_or(nanos, |minimum| minimum.min(nanos)));
}

/// A round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) nanos: u64,
    /// The packets of the end that passed during it.
    pub(crate) packets: u64,
}

/// The spin bits of a connection by end, the client first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spins {
    ends: [End; 2],
}

impl Spins {
    /// Processes a datagram of the end `from` that begins with this octet. If the packet shows a
    /// round trip, returns it and the end in whose direction it was measured.
    #[inline]
    pub(crate) fn packet(&mut self, at: u64, from: usize, first: u8) -> Option<(usize, Whole)> {
        let end = &mut self.ends[from];
        end.is_seen = true;
        if first & LONG != 0 {
            return None;
        }
        let value = first & SPIN != 0;
        let is_change = value != end.value;
        let round_trip = if is_change { self.changed(at, from) } else { None };
        self.ends[from].packets += 1;
        round_trip
    }

    #[cold]
    fn changed(&mut self, at: u64, from: usize) -> Option<(usize, Whole)> {
        let [one, other] = &mut self.ends;
        let (end, other) = if from == 0 { (one, other) } else { (other, one) };
        end.changes += 1;
        end.value = !end.value;
        let change = end.change(at);
        if !other.is_seen {
            let is_soon =
                |last: Change| end.min_whole.is_some_and(|minimum| at.saturating_sub(last.at) < minimum / MIN_SHARE);
            let counts = !end.counted.is_some_and(is_soon);
            return if counts { end.count(change, None).map(|whole| (from, whole)) } else { None };
        }
        // A client inverts the bit that it receives, and a server repeats it. A change that does
        // neither reverts an apparent change.
        if end.value == (other.value ^ (from == 0)) {
            end.open = Some(change);
            let answered = other.open.take()?;
            other.count(answered, end.counted).map(|whole| (1 - from, whole))
        } else {
            end.open = None;
            end.undone = Some(end.packets);
            None
        }
    }

    /// Records a step of the capture's clock. Measurements do not continue across it.
    pub(crate) fn cut(&mut self) {
        for end in &mut self.ends {
            (end.open, end.counted) = (None, None);
        }
    }

    /// Returns `true` if both ends spin the bit, as far as this can be determined.
    pub(crate) fn are_used(&self) -> bool {
        self.ends.iter().map(|end| end.count).sum::<u64>() >= MIN_CHANGES && !self.ends.iter().any(End::may_be_random)
    }

    /// Returns the minimum time from the point of capture to this end and back.
    pub(crate) const fn min_to(&self, end: usize) -> Option<u64> {
        self.ends[end].min_answer
    }

    /// Returns the minimum round trip.
    pub(crate) fn min_whole(&self) -> Option<u64> {
        self.ends.iter().filter_map(|end| end.min_whole).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Returns the packets of a client and a server that each send one per millisecond, with
    /// `delays` from them to the point of capture. One packet in `late` is late by `by`. Returns
    /// the times at which packets pass the point, their ends, and their first octets.
    fn spinning(delays: [u64; 2], late: u64, by: u64) -> Vec<(u64, usize, u8)> {
        const STEP: u64 = MS / 4;
        let mut passed = Vec::new();
        let mut values = [false; 2];
        let mut newest = [0; 2];
        // Packets in flight, by the end that has sent them: their times of arrival, numbers and
        // values.
        let mut under_way: [Vec<(u64, u64, bool)>; 2] = Default::default();
        for now in (0..5000 * MS).step_by(STEP as usize) {
            for end in 0..2 {
                under_way[1 - end].retain(|&(arrives, number, value)| {
                    if arrives <= now && number >= newest[end] {
                        newest[end] = number;
                        values[end] = value ^ (end == 0);
                    }
                    arrives > now
                });
                if now % MS == 0 {
                    let number = now / MS;
                    let delay = if (number + 3 * end as u64) % late == late - 1 { by } else { 0 };
                    under_way[end].push((now + delays[0] + delays[1] + delay, number, values[end]));
                    let first = 0x40 | if values[end] { SPIN } else { 0 };
                    passed.push((now + delays[end] + delay, end, first));
                }
            }
        }
        // The packet to which an end responds has passed before the response.
        passed.sort_by_key(|&(at, end, _)| (at, delays[end] == 0));
        passed
    }

    fn spins_of(packets: impl IntoIterator<Item = (u64, usize, u8)>) -> (Spins, Vec<Whole>) {
        let mut spins = Spins::default();
        let mut found = Vec::new();
        for (at, end, first) in packets {
            found.extend(spins.packet(at, end, first).map(|(_, whole)| whole));
        }
        (spins, found)
    }

    #[test]
    fn a_change_shows_a_round_trip() {
        let (spins, found) = spins_of(spinning([10 * MS, 40 * MS], u64::MAX, 0));
        assert!(spins.are_used() && found.len() > 90);
        assert!(found.iter().all(|whole| *whole == Whole { nanos: 100 * MS, packets: 100 }), "{found:?}");
        // The packet to which the client responds has already been on the server's side of the
        // point.
        assert_eq!((spins.min_to(0), spins.min_to(1)), (Some(20 * MS), Some(80 * MS)));
    }

    #[test]
    fn late_packets_are_no_round_trips() {
        for delays in [[0, 50 * MS], [10 * MS, 40 * MS], [50 * MS, 0]] {
            let (spins, found) = spins_of(spinning(delays, 7, 2_500_000));
            assert!(spins.are_used() && found.len() > 40, "{delays:?}: {}", found.len());
            // If the packet with a change is late, the next packet shows the change.
            let is_near = |whole: &Whole| whole.nanos.abs_diff(100 * MS) <= 2 * MS;
            assert!(found.iter().all(is_near), "{delays:?}: {found:?}");
        }
    }

    #[test]
    fn one_direction_is_enough() {
        let (spins, found) =
            spins_of(spinning([10 * MS, 40 * MS], 7, 2_500_000).into_iter().filter(|packet| packet.1 == 0));
        assert!(spins.are_used() && found.len() > 40);
    }

    #[test]
    fn random_bits_are_inconclusive() {
        let mut state = 1_u64;
        let mut draw = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 58) as u8 & SPIN
        };
        let packets = spinning([0, 50 * MS], u64::MAX, 0);
        let (spins, _) = spins_of(
            packets.into_iter().map(|(at, end, first)| (at, end, if end == 0 { first } else { 0x40 | draw() })),
        );
        assert!(!spins.are_used());
    }

    /// The fixed bit may be zero (RFC 9287).
    #[test]
    fn the_fixed_bit_is_not_used() {
        let packets = spinning([10 * MS, 40 * MS], u64::MAX, 0);
        let greased = packets
            .iter()
            .enumerate()
            .map(|(n, &(at, end, first))| (at, end, if n % 3 == 0 { first & !0x40 } else { first }));
        assert_eq!(spins_of(greased).1, spins_of(packets.iter().copied()).1);
    }
}
