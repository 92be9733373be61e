//! Round-trip times by the spin bit of QUIC (RFC 9000, §17.4; RFC 9312, §3.8.2).
//!
//! A client inverts the bit of the newest packet that it has, and a server repeats it. So the bit
//! changes once a round trip in each direction, and each change is answered by one of the other
//! end. The numbers of packets are encrypted: a packet that arrives late shows an old bit, and so
//! makes two changes that are none. Ends know the numbers, and do not answer those. A change
//! therefore counts once the other end has answered it. Where only one direction was captured, a
//! change counts at once, unless it follows the last too soon.
//!
//! An end that does not take part should set the bit at random for each packet, or leave it for the
//! whole connection.

/// The header form bit of a long header (RFC 9000, §17.2). The bit after it may be anything (RFC
/// 9287).
const LONG: u8 = 0x80;
/// The spin bit of a short header (RFC 9000, §17.3.1).
const SPIN: u8 = 0x20;
/// A late packet is overtaken by three at most; what is later counts as lost (RFC 9002, §6.1.1).
const OVERTAKEN: u64 = 3;
/// Where only one direction was captured, a change sooner after the last than this share of the
/// least round trip is that of a late packet (RFC 9312, §3.8.2 asks for such a heuristic).
const LEAST_SHARE: u64 = 4;
/// Standard deviations by which the number of changes differs from that of random bits, in an end
/// that takes part.
const DEVIATIONS: f64 = 3.0;
/// Changes that count, of both ends, from which the bit tells round trips.
const LEAST_CHANGES: u64 = 3;

/// A change of the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    at: u64,
    value: bool,
    /// Packets of the end before it.
    packets: u64,
    /// Whether it may have come before: it undoes the work of a late packet, or is in the first
    /// short header, before which others may stand behind long ones (RFC 9000, §12.2).
    is_blurred: bool,
}

/// The spin bit of one end, which begins with zero.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    /// Whether any datagram was captured, with whatever header.
    is_seen: bool,
    value: bool,
    packets: u64,
    /// Changes of whatever cause.
    changes: u64,
    /// A change that the other end has not answered yet.
    open: Option<Change>,
    /// Packets before the last change that was undone.
    undone: Option<u64>,
    /// The last that counts.
    counted: Option<Change>,
    count: u64,
    /// The least time from a change of the other end to the change that answers it.
    least_answer: Option<u64>,
    least_whole: Option<u64>,
}

impl End {
    fn change(&self, at: u64) -> Change {
        let is_late = self.undone.is_some_and(|packets| self.packets - packets <= OVERTAKEN);
        let is_blurred = is_late || self.packets == 0;
        Change { at, value: self.value, packets: self.packets, is_blurred }
    }

    /// `change` counts. It answers `asked` of the other end.
    fn count(&mut self, change: Change, asked: Option<Change>) -> Option<Whole> {
        self.count += 1;
        if let Some(asked) = asked.filter(|asked| !asked.is_blurred && !change.is_blurred) {
            shorten(&mut self.least_answer, change.at.saturating_sub(asked.at));
        }
        let last = self.counted.replace(change)?;
        // Between two changes to the same value is one that was missed.
        if last.is_blurred || change.is_blurred || last.value == change.value {
            return None;
        }
        let nanos = change.at.saturating_sub(last.at);
        shorten(&mut self.least_whole, nanos);
        Some(Whole { nanos, packets: change.packets - last.packets })
    }

    /// Whether its bits may be random: then half of them differ from those before.
    fn may_be_random(&self) -> bool {
        let packets = self.packets as f64;
        (2.0 * self.changes as f64 - packets).abs() < DEVIATIONS * packets.sqrt()
    }
}

fn shorten(least: &mut Option<u64>, nanos: u64) {
    *least = Some(least.map_or(nanos, |least| least.min(nanos)));
}

/// A round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) nanos: u64,
    /// Packets of the end that passed meanwhile.
    pub(crate) packets: u64,
}

/// The spin bits of a connection, by the end: first the client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spins {
    ends: [End; 2],
}

impl Spins {
    /// The end `from` has sent a datagram that begins with this octet. Returns a round trip, and
    /// the end in whose direction it was seen, if the packet shows one.
    #[inline]
    pub(crate) fn packet(&mut self, at: u64, from: usize, first: u8) -> Option<(usize, Whole)> {
        let end = &mut self.ends[from];
        end.is_seen = true;
        if first & LONG != 0 {
            return None;
        }
        let value = first & SPIN != 0;
        let is_change = value != end.value;
        let told = if is_change { self.changed(at, from) } else { None };
        self.ends[from].packets += 1;
        told
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
                |last: Change| end.least_whole.is_some_and(|least| at.saturating_sub(last.at) < least / LEAST_SHARE);
            let counts = !end.counted.is_some_and(is_soon);
            return if counts { end.count(change, None).map(|whole| (from, whole)) } else { None };
        }
        // A client inverts what it sees, a server repeats it. What does neither, undoes a change
        // that was none.
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

    /// The clock of the capture has stepped: no time from before is measured on.
    pub(crate) fn cut(&mut self) {
        for end in &mut self.ends {
            (end.open, end.counted) = (None, None);
        }
    }

    /// Whether both ends spin the bit, as far as can be told.
    pub(crate) fn tell(&self) -> bool {
        self.ends.iter().map(|end| end.count).sum::<u64>() >= LEAST_CHANGES && !self.ends.iter().any(End::may_be_random)
    }

    /// The least time from the point of capture to this end and back.
    pub(crate) const fn least_to(&self, end: usize) -> Option<u64> {
        self.ends[end].least_answer
    }

    /// The least round trip.
    pub(crate) fn least_whole(&self) -> Option<u64> {
        self.ends.iter().filter_map(|end| end.least_whole).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A client and a server that each send a packet a millisecond, with `delays` from them to the
    /// point of capture. One packet in `late` is `by` late. Returns the instants at which packets
    /// pass the point, their ends, and their first octets.
    fn spinning(delays: [u64; 2], late: u64, by: u64) -> Vec<(u64, usize, u8)> {
        const STEP: u64 = MS / 4;
        let mut passed = Vec::new();
        let mut values = [false; 2];
        let mut newest = [0; 2];
        // Those under way: when they arrive, their numbers and values, by the end that has sent
        // them.
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
        // What an end answers has passed before its answer.
        passed.sort_by_key(|&(at, end, _)| (at, delays[end] == 0));
        passed
    }

    fn told(packets: impl IntoIterator<Item = (u64, usize, u8)>) -> (Spins, Vec<Whole>) {
        let mut spins = Spins::default();
        let mut found = Vec::new();
        for (at, end, first) in packets {
            found.extend(spins.packet(at, end, first).map(|(_, whole)| whole));
        }
        (spins, found)
    }

    #[test]
    fn a_change_tells_a_round_trip() {
        let (spins, found) = told(spinning([10 * MS, 40 * MS], u64::MAX, 0));
        assert!(spins.tell() && found.len() > 90);
        assert!(found.iter().all(|whole| *whole == Whole { nanos: 100 * MS, packets: 100 }), "{found:?}");
        // What the client answers has been to the server's side of the point before.
        assert_eq!((spins.least_to(0), spins.least_to(1)), (Some(20 * MS), Some(80 * MS)));
    }

    #[test]
    fn late_packets_are_no_round_trips() {
        for delays in [[0, 50 * MS], [10 * MS, 40 * MS], [50 * MS, 0]] {
            let (spins, found) = told(spinning(delays, 7, 2_500_000));
            assert!(spins.tell() && found.len() > 40, "{delays:?}: {}", found.len());
            // Where the packet with a change is late, the next one has it.
            let is_near = |whole: &Whole| whole.nanos.abs_diff(100 * MS) <= 2 * MS;
            assert!(found.iter().all(is_near), "{delays:?}: {found:?}");
        }
    }

    #[test]
    fn one_direction_is_enough() {
        let (spins, found) =
            told(spinning([10 * MS, 40 * MS], 7, 2_500_000).into_iter().filter(|packet| packet.1 == 0));
        assert!(spins.tell() && found.len() > 40);
    }

    #[test]
    fn random_bits_tell_nothing() {
        let mut state = 1_u64;
        let mut draw = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 58) as u8 & SPIN
        };
        let packets = spinning([0, 50 * MS], u64::MAX, 0);
        let (spins, _) =
            told(packets.into_iter().map(|(at, end, first)| (at, end, if end == 0 { first } else { 0x40 | draw() })));
        assert!(!spins.tell());
    }

    /// RFC 9287: the fixed bit may be zero.
    #[test]
    fn the_fixed_bit_tells_nothing() {
        let packets = spinning([10 * MS, 40 * MS], u64::MAX, 0);
        let greased = packets
            .iter()
            .enumerate()
            .map(|(n, &(at, end, first))| (at, end, if n % 3 == 0 { first & !0x40 } else { first }));
        assert_eq!(told(greased).1, told(packets.iter().copied()).1);
    }
}
