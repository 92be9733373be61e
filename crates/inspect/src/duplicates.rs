//! Duplicates in the file: copies that the capture made, for instance with a mirror port, `-i any`
//! over a bridge, or merged taps.
//!
//! A copy follows soon after the first packet. It has the same octets, except those that a hop
//! changes: time to live, checksum, DSCP and link layer. Other packets that look alike are
//! distinguished by the identification of IPv4 or by time (after Ucar, Morato, Magaña, Izal,
//! *Duplicate Detection Methodology for IP Network Traffic Analysis*, IEEE M&N 2013):
//!
//! * The same identification, from a sender whose identifications change with each packet: the same
//!   packet.
//! * Without such identifications (IPv6, RFC 6864 §4.1): data, SYN or FIN that are repeated sooner
//!   than any sender retransmits, or with a timestamp that a retransmission would no longer have
//!   (RFC 7323, §3), are a copy.
//! * Without such identifications: a pure ACK that is repeated immediately is a duplicate ACK (RFC
//!   5681, §2), unless most data of the connection are duplicated.
//!
//! A NIC may have split only one of the copies. Then the part has the same identification as the
//! larger packet, or the one that its segment gets when that packet is split.

mod datagrams;

pub(crate) use datagrams::Datagrams;

use crate::packet::Packet;
use acklab_wire::tcp::{Flags, Segment, SeqNumber};
use std::collections::VecDeque;

/// The number of packets per direction that are searched for copies; *chosen*: at 1 Gbps, some
/// milliseconds of a queue between two mirrored ports.
const MAX_RECENT: usize = 128;
/// The maximum distance of copies with the same identification; *chosen*: the longest queue between
/// two points, and less than the shortest RTO (200 ms of Linux, `TCP_RTO_MIN`). So a sender that
/// keeps the identification of a retransmission (RFC 1122, §3.2.1.5) does not cause copies by
/// timeouts.
const FAR: u64 = 100_000_000;
/// The maximum distance of copies without identification; *chosen*: no timer of a sender is as
/// short (TLP has at least 2 ms, RFC 8985, §7.2), and a retransmission triggered by ACKs takes a
/// round trip.
const NEAR: u64 = 1_000_000;

/// The longest timestamp tick of any stack (Linux before 4.13 with `HZ` of 100). A retransmission
/// after it has another timestamp.
const LONGEST_TICK: u64 = 10_000_000;

/// A packet that may be duplicated.
#[derive(Clone, Copy, Debug)]
struct Recent {
    captured: u64,
    identification: Option<u16>,
    segment: Segment,
    /// `true` if a copy of this pure ACK was found. The next equal ACK is then another ACK.
    has_copy: bool,
}

/// The packets of one end.
#[derive(Clone, Debug, Default)]
struct Sender {
    recent: VecDeque<Recent>,
    /// `true` if the end's identifications change with each packet.
    counts: bool,
    /// The number after the end's data, and the newest number that the end acknowledges.
    end: Option<SeqNumber>,
    ack: Option<SeqNumber>,
}

/// Copies of packets of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Duplicates {
    senders: [Sender; 2],
    /// The number of copies.
    pub(crate) count: u64,
    /// The total time from first packets to their copies, in nanoseconds.
    distance: u64,
    /// The number of packets that consume sequence numbers, and the number of copies of such
    /// packets.
    taking: [u64; 2],
}

impl Duplicates {
    /// Returns `true` if a packet of the end `from` is a copy of an earlier packet. `round_trip` is
    /// the minimum round-trip time, if known.
    #[inline]
    pub(crate) fn is_copy(&mut self, from: usize, packet: &Packet<'_>, round_trip: Option<u64>) -> bool {
        let takes = takes_numbers(packet.segment);
        let is_doubled = 2 * self.taking[1] >= self.taking[0] && self.taking[1] > 0;
        let near = round_trip.map_or(NEAR, |round_trip| NEAR.min(round_trip));
        if let Some(distance) = self.senders[from].copy_of(packet, near, is_doubled) {
            self.count += 1;
            self.distance += distance;
            self.taking[1] += u64::from(takes);
            return true;
        }
        self.taking[0] += u64::from(takes);
        self.senders[from].remember(packet);
        false
    }

    /// Records a copy of a datagram. The copy followed the first datagram after `distance`
    /// nanoseconds.
    #[cold]
    pub(crate) fn datagram(&mut self, distance: u64) {
        self.count += 1;
        self.distance += distance;
    }

    /// Returns the mean time from a packet to its copy in milliseconds, or `None` if there is none.
    pub(crate) fn mean_distance(&self) -> Option<f64> {
        (self.count > 0).then(|| self.distance as f64 / self.count as f64 / 1e6)
    }
}

/// Returns `true` if a segment consumes sequence numbers. A sender retransmits such a segment only
/// for a reason.
fn takes_numbers(segment: &Segment) -> bool {
    segment.payload > 0 || segment.flags.intersects(Flags::SYN | Flags::FIN) && !segment.flags.contains(Flags::RST)
}

impl Sender {
    fn remember(&mut self, packet: &Packet<'_>) {
        let Packet { captured, identification, segment, .. } = *packet;
        if let Some(last) = self.recent.back() {
            self.counts |= last.identification != identification;
        }
        if self.recent.len() == MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Recent { captured, identification, segment: *segment, has_copy: false });
    }

    /// Returns `true` if a segment has newer data or a newer acknowledgment than all others, so it
    /// is not a copy.
    #[inline]
    fn is_further(&mut self, segment: &Segment) -> bool {
        let reaches = |so_far: &mut Option<SeqNumber>, number: SeqNumber| {
            let is_new = so_far.is_none_or(|so_far| number.is_after(so_far));
            *so_far = if is_new { Some(number) } else { *so_far };
            is_new
        };
        let is_further = reaches(&mut self.end, SeqNumber(segment.seq.0.wrapping_add(segment.sequence_len() as u32)));
        segment.flags.contains(Flags::ACK) && reaches(&mut self.ack, segment.ack) || is_further
    }

    /// Returns the time since the packet of which this packet is a copy, in nanoseconds.
    #[inline]
    fn copy_of(&mut self, packet: &Packet<'_>, near: u64, is_doubled: bool) -> Option<u64> {
        if self.is_further(packet.segment) { None } else { self.find(packet, near, is_doubled) }
    }

    #[cold]
    fn find(&mut self, packet: &Packet<'_>, near: u64, is_doubled: bool) -> Option<u64> {
        let is_numbered = self.counts && packet.identification.is_some_and(|identification| identification != 0);
        let takes = takes_numbers(packet.segment);
        let is_stamped = packet.segment.options.timestamps.is_some();
        for recent in self.recent.iter_mut().rev() {
            let distance = packet.captured.abs_diff(recent.captured);
            if distance > FAR {
                return None;
            }
            let is_copy = if is_numbered {
                recent.has_number_of(packet) && recent.has_octets_of(packet)
            } else {
                (distance < near || is_stamped && distance > LONGEST_TICK)
                    && recent.has_octets_of(packet)
                    && (takes || is_doubled && !recent.has_copy)
            };
            if is_copy {
                recent.has_copy = true;
                return Some(distance);
            }
        }
        None
    }
}

impl Recent {
    /// Returns `true` if the packet has the octets of this one, or is a part of it that a NIC has
    /// split off.
    fn has_octets_of(&self, packet: &Packet<'_>) -> bool {
        let (own, other) = (&self.segment, packet.segment);
        if (Segment { ecn: own.ecn, ..*other }) == *own {
            return true;
        }
        let is_of_one = own.ack == other.ack && own.options == other.options;
        is_of_one
            && other.payload > 0
            && (contains(own, other) || own.payload > 0 && contains(other, own) && own.seq == other.seq)
    }

    /// Returns `true` if the identification is that of this packet, or of a part that a NIC has
    /// split off. Parts are numbered and have equal sizes, except for the last.
    fn has_number_of(&self, packet: &Packet<'_>) -> bool {
        let Some((own, other)) = self.identification.zip(packet.identification) else { return false };
        let offset = packet.segment.seq.0.wrapping_sub(self.segment.seq.0);
        match u32::from(other.wrapping_sub(own)) {
            0 => offset == 0,
            number => offset > 0 && offset.is_multiple_of(number) && offset / number >= packet.segment.payload,
        }
    }
}

/// Returns `true` if the data of `whole` contain those of `part`, and more.
fn contains(whole: &Segment, part: &Segment) -> bool {
    let offset = u64::from(part.seq.0.wrapping_sub(whole.seq.0));
    part.payload < whole.payload && offset + u64::from(part.payload) <= whole.payload.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::Between;
    use acklab_wire::tcp::{Options, Timestamps};

    const US: u64 = 1000;
    const MS: u64 = 1000 * US;

    fn data(number: u32, segments: u32) -> Segment {
        let clocks = Timestamps { value: 5, echo: 6 };
        Segment {
            seq: SeqNumber(1000 * number),
            ack: SeqNumber(9),
            flags: Flags::ACK,
            payload: 1000 * segments,
            options: Options { timestamps: Some(clocks), ..Options::default() },
            ..Segment::default()
        }
    }

    fn ack(number: u32) -> Segment {
        Segment { ack: SeqNumber(number), flags: Flags::ACK, ..Segment::default() }
    }

    /// Returns for each packet whether it is a copy. A packet is given by its sending end, time,
    /// segment and identification.
    fn copies(packets: &[(usize, u64, Segment, Option<u16>)]) -> Vec<bool> {
        let mut duplicates = Duplicates::default();
        packets
            .iter()
            .map(|&(from, at, ref segment, identification)| {
                let packet = Packet {
                    at,
                    captured: at,
                    segment,
                    wire: 40,
                    others: Between::default(),
                    time_to_live: 64,
                    identification,
                };
                duplicates.is_copy(from, &packet, Some(50 * MS))
            })
            .collect()
    }

    #[test]
    fn the_same_identification_is_the_same_packet() {
        let found = copies(&[
            (0, 0, data(0, 1), Some(7)),
            (0, 3 * US, data(0, 1), Some(7)),
            (0, MS, data(1, 1), Some(8)),
            // The copy comes from another point, after a queue.
            (0, 20 * MS, data(1, 1), Some(8)),
            // A retransmission within a tick of the clock.
            (0, 21 * MS, data(1, 1), Some(9)),
        ]);
        assert_eq!(found, [false, true, false, true, false]);
        let two = [(1, 0, ack(5), Some(7)), (1, US, ack(5), Some(8)), (1, 2 * US, ack(5), Some(9))];
        assert_eq!(copies(&two), [false; 3], "duplicate ACKs");
    }

    /// Three duplicate ACKs within a tick have the same octets. So have copies of ACKs, but then
    /// the data are duplicated as well.
    #[test]
    fn duplicate_acks_without_identifications_are_no_copies() {
        let three = [(1, 0, ack(5), None), (1, US, ack(5), None), (1, 2 * US, ack(5), None)];
        assert_eq!(copies(&three), [false; 3]);
        let mut twice = vec![(0, 0, data(0, 1), None), (0, US, data(0, 1), None)];
        twice.extend((0..6).map(|n| (1, MS + n * US, ack(5), None)));
        assert_eq!(copies(&twice), [false, true, false, true, false, true, false, true]);
    }

    #[test]
    fn without_identifications_time_distinguishes_copies_from_retransmissions() {
        let plain = |number| Segment { options: Options::default(), ..data(number, 1) };
        let found = copies(&[
            (0, 0, plain(0), Some(0)),
            (0, 3 * US, plain(0), Some(0)),
            (0, MS, plain(1), Some(0)),
            (0, 51 * MS, plain(1), Some(0)),
        ]);
        assert_eq!(found, [false, true, false, false]);
    }

    /// Two points on a path, 25 ms apart. The timestamp of a retransmission is newer.
    #[test]
    fn the_same_timestamp_is_no_retransmission() {
        let newer = Timestamps { value: 30, echo: 6 };
        let again = Segment { options: Options { timestamps: Some(newer), ..Options::default() }, ..data(0, 1) };
        let found = copies(&[(0, 0, data(0, 1), None), (0, 25 * MS, data(0, 1), None), (0, 60 * MS, again, None)]);
        assert_eq!(found, [false, true, false]);
    }

    /// A packet of three segments on the bridge, and its segments on the NIC, which numbers them.
    #[test]
    fn parts_of_a_packet_are_copies_of_it() {
        let found = copies(&[
            (0, 0, data(0, 1), Some(6)),
            (0, MS, data(1, 3), Some(7)),
            (0, MS + US, data(1, 1), Some(7)),
            (0, MS + 2 * US, data(2, 1), Some(8)),
            (0, MS + 3 * US, data(3, 1), Some(9)),
            (0, 60 * MS, data(2, 1), Some(12)),
        ]);
        assert_eq!(found, [false, false, true, true, true, false]);
    }
}
