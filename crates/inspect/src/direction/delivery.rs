//! The data of a direction in sequence: data that have passed the point, missing data, and data
//! that the receiver has.

use super::records::Passing;
use super::scoreboard::{Scoreboard, Segments, Sent};
use super::segment_size::SegmentSize;
use super::sequence::{Place, START, SequenceSpace};
use super::window::ReceiveWindow;
use crate::losses::{Filled, Losses, Mark};
use crate::packet::Packet;
use acklab_wire::tcp::{Flags, Segment, SeqNumber};

/// The number of segments after the last one within which a sender counts as continuing, while
/// packets are held.
const MAX_BURST: u64 = 64;

/// The data of a direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delivery {
    space: SequenceSpace,
    board: Scoreboard,
    size: SegmentSize,
    pub(super) window: ReceiveWindow,
    pub(crate) losses: Losses,
    /// Octets that passed for the first time.
    fresh: u64,
    /// The place from which data have passed since the last step of the capture's clock.
    timed_from: u64,
}

/// The place of data that arrived at the point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) start: u64,
    pub(super) end: u64,
    /// `true` if they are after all others.
    pub(super) is_new: bool,
    pub(super) segments: u64,
    /// The number of further segments that earlier packets are now known to have contained.
    pub(super) more: u64,
    /// Segments that are missing before them, if they are after all others.
    pub(super) missing: Option<u32>,
    mark: Mark,
}

/// A round trip from the point to the receiver and back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) nanos: u64,
    /// `true` if nothing else was outstanding, and fewer than two segments were acknowledged.
    pub(super) is_lone: bool,
}

/// The effect of an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Covered {
    /// The octets that the receiver had before.
    pub(super) before: u64,
    /// `true` if all octets before have arrived in order, and the ACK reports nothing else.
    pub(super) is_whole: bool,
    pub(super) segments: Segments,
    pub(super) sample: Option<Sample>,
    /// A round trip of data out of order.
    pub(super) reported: Option<Sample>,
}

impl Delivery {
    /// Returns the payload of a full-sized segment.
    #[inline]
    pub(crate) fn mss(&self) -> u32 {
        self.size.mss()
    }

    /// Returns the number of octets that the receiver has in order.
    pub(super) const fn acknowledged(&self) -> u64 {
        self.space.acknowledged - START
    }

    /// Returns the number of octets that the receiver has, in order or not, by its ACKs.
    pub(super) const fn delivered(&self) -> u64 {
        self.acknowledged() + self.board.sacked()
    }

    /// Returns the number of octets that passed for the first time.
    pub(super) const fn fresh(&self) -> u64 {
        self.fresh
    }

    /// Returns the place after the last octet that has passed, and the place before which the
    /// receiver has all octets.
    pub(super) const fn edges(&self) -> (u64, u64) {
        (self.space.highest, self.space.acknowledged)
    }

    /// Returns the number of octets that have passed and are not acknowledged.
    #[inline]
    pub(super) const fn flight(&self) -> u64 {
        self.space.flight()
    }

    /// Returns the number of octets that are acknowledged but missing in the capture. One may be a
    /// FIN, or a probe of a closed window.
    pub(crate) fn uncaptured(&self) -> u64 {
        let behind = self.space.acknowledged.saturating_sub(self.space.highest);
        self.losses.uncaptured() + if behind > 1 { behind } else { 0 }
    }

    /// Reads the MSS and the window scale from the SYN of the receiver.
    pub(super) fn offer(&mut self, syn: &Segment, sender_scales: bool) {
        self.size.offer(syn.options.mss);
        self.window.offer(syn.options.window_scale.filter(|_| sender_scales));
    }

    /// Sets the start of the numbers by the sender's SYN. Returns `true` if the SYN is new.
    pub(crate) fn begin(&mut self, syn: &Segment) -> bool {
        let first = SeqNumber(syn.seq.0.wrapping_add(1));
        if self.space.begins_with(first) {
            return false;
        }
        self.restart();
        self.space.begin(first);
        true
    }

    /// Excludes intervals across a step of the capture's clock from round trips.
    pub(super) fn cut(&mut self) {
        self.timed_from = self.space.highest;
    }

    /// Handles numbers that begin again at another place.
    #[cold]
    fn restart(&mut self) {
        self.timed_from = 0;
        self.board = Scoreboard::default();
        self.window.forget_probe();
        self.losses.restart();
    }

    /// Returns the place up to which a segment of the receiver acknowledges outstanding data.
    pub(crate) fn answered_by(&self, segment: &Segment) -> Option<u64> {
        let is_ack = segment.flags.contains(Flags::ACK) && !segment.flags.intersects(Flags::SYN | Flags::RST);
        let place = self.place_of_ack(segment).filter(|_| is_ack)?;
        (self.space.acknowledged < place && place <= self.space.highest).then_some(place)
    }

    /// Returns `true` if a segment of the sender contains data that have passed.
    pub(crate) fn repeats(&self, segment: &Segment) -> bool {
        segment.payload > 0 && self.space.place_of(segment.seq).is_some_and(|place| place < self.space.highest)
    }

    /// Returns the place from which a segment of the sender continues after the last one, if the
    /// window permitted it.
    pub(super) fn continued_by(&self, segment: &Segment) -> Option<u64> {
        let mss = u64::from(self.mss());
        let has_room = self.window.bytes().is_none_or(|window| self.flight() + mss <= window);
        let goes_on = |place: &u64| (self.space.highest..self.space.highest + MAX_BURST * mss).contains(place);
        self.space.place_of(segment.seq).filter(goes_on).filter(|_| segment.payload > 0 && has_room)
    }

    /// Returns the place of the data of a segment. Returns `None` if it has no data, or if the data
    /// are a probe or may belong to another connection. `has_acks` means that ACKs of the direction
    /// are captured.
    #[inline]
    pub(super) fn place(&mut self, packet: &Packet<'_>, has_acks: bool) -> Option<Placed> {
        let segment = packet.segment;
        if segment.flags.contains(Flags::FIN) {
            self.space.finish(segment.seq, segment.payload);
        }
        if segment.payload == 0 {
            return None;
        }
        let is_first = !self.space.is_known();
        let place = if segment.flags.contains(Flags::SYN) {
            self.space.place_of_syn_data(segment.seq, segment.payload)
        } else {
            self.space.place_of_data(segment.seq, segment.payload)
        };
        let start = match place {
            Place::At(start) => start,
            Place::Anew => {
                self.restart();
                START
            }
            Place::Stray => return None,
        };
        let mark = Mark::of(packet);
        if is_first {
            self.losses.begin(start, mark);
        }
        let end = start + u64::from(segment.payload);
        // The first byte of a larger segment may have probed the window (as in Wireshark,
        // `packet-tcp.c`).
        let start = if segment.payload > 1 && start + 1 == self.space.highest { start + 1 } else { start };
        if segment.payload == 1 && self.is_probe(start, has_acks) {
            return None;
        }
        let (segments, more) = self.size.packet(segment.payload);
        let missing = start.checked_sub(self.space.highest).map(|octets| self.size.segments_of(octets) as u32);
        Some(Placed { start, end, is_new: start >= self.space.highest, segments, more, missing, mark })
    }

    /// Returns `true` if the single byte at `start` is a keep-alive (RFC 9293, §3.8.4) or the probe
    /// of a closed window (§3.8.6.1), neither of which is part of the data until it is
    /// acknowledged.
    #[cold]
    fn is_probe(&mut self, start: u64, has_acks: bool) -> bool {
        let is_acknowledged = start < self.space.acknowledged;
        // Without ACKs, one byte before the next is assumed to be a keep-alive.
        let is_before = !has_acks && start + 1 == self.space.highest;
        is_acknowledged || is_before || self.window.is_probed(start, self.space.highest)
    }

    /// Records that placed data pass the point. `sides` are the minimum times to the receiver and
    /// back, and to the sender.
    #[inline]
    pub(super) fn pass(&mut self, placed: Placed, sides: (Option<u64>, Option<u64>)) -> Passing {
        if placed.is_new {
            self.extend(placed);
            Passing::New
        } else {
            self.repeat(placed, sides)
        }
    }

    /// Records data after all others.
    #[inline]
    fn extend(&mut self, Placed { start, end, segments, mark, .. }: Placed) {
        self.losses.advance(mark);
        if start > self.space.highest {
            self.losses.skip(self.space.highest, start, mark, self.space.acknowledged);
        }
        self.space.highest = end;
        self.fresh += end - start;
        if end > self.space.acknowledged {
            self.board.follow(Sent { start, end, at: mark.at, stamp: mark.value, ..Sent::default() });
        } else {
            self.losses.counts.misfiled += segments;
        }
    }

    /// Records data if a part of them, or later data, have passed before.
    #[cold]
    fn repeat(&mut self, placed: Placed, sides: (Option<u64>, Option<u64>)) -> Passing {
        let Placed { start, end, segments, mark, .. } = placed;
        let highest = self.space.highest;
        let again = Sent { end, at: mark.at, retransmissions: 1, ..Sent::default() };
        let passing = match self.losses.fills(start, end, mark, sides, segments) {
            Some(filled) => {
                self.fresh += end.min(highest) - start;
                if end > self.space.acknowledged {
                    // Neither these data nor their ACK gives a round-trip time, because the ACK may
                    // belong to later data.
                    self.board.insert(Sent { start, value: mark.value, ..again });
                }
                match filled {
                    Filled::Misfiled => Passing::Misfiled,
                    Filled::Reordered => Passing::Reordered,
                    Filled::Retransmitted => Passing::Retransmitted,
                }
            }
            None => {
                self.losses.counts.repeated += segments;
                self.losses.counts.needless += if end <= self.space.acknowledged { segments } else { 0 };
                self.board.retransmit(start, end, mark.value);
                Passing::Retransmitted
            }
        };
        if end > highest {
            self.space.highest = end;
            self.fresh += end - highest;
            self.board.follow(Sent { start: highest, ..again });
        }
        passing
    }

    /// Returns the place that a segment of the receiver acknowledges. Returns `None` if no data
    /// have passed or no window reaches it.
    #[inline]
    pub(super) fn place_of_ack(&self, segment: &Segment) -> Option<u64> {
        self.space.place_of_ack(segment.ack)
    }

    /// Processes a segment of the receiver that acknowledges everything before `ack`.
    #[inline]
    pub(super) fn acknowledge(&mut self, at: u64, ack: u64, segment: &Segment) -> Covered {
        self.window.open(segment.window);
        let has_blocks = !segment.options.sack.is_empty();
        let mut covered = Covered {
            before: self.space.acknowledged,
            is_whole: self.board.sacked() == 0 && !has_blocks && ack <= self.space.highest,
            segments: Segments::default(),
            sample: None,
            reported: if has_blocks { self.sack(at, ack, segment) } else { None },
        };
        if ack > covered.before {
            let echo = segment.options.timestamps.map(|clocks| clocks.echo);
            (covered.segments, covered.sample) = self.advance(at, ack, echo);
        }
        covered
    }

    /// Records that all octets before `ack` have arrived. `echo` is the timestamp that the ACK
    /// echoes.
    #[inline]
    fn advance(&mut self, at: u64, ack: u64, echo: Option<u32>) -> (Segments, Option<Sample>) {
        let covered = self.board.acknowledge(ack, echo, self.size.mss());
        self.losses.counts.needless += covered.needless;
        // Karn's rule: retransmitted data give no round trip (RFC 6298, §3). Nor do data that the
        // receiver has had for longer.
        let first_time = |sent: &Sent| {
            sent.end == ack && sent.retransmissions == 0 && !sent.is_sacked && sent.start >= self.timed_from
        };
        let sample = covered.newest.filter(first_time).map(|sent| Sample {
            nanos: at.saturating_sub(sent.at),
            is_lone: ack >= self.space.highest && ack - self.space.acknowledged < 2 * u64::from(self.mss()),
        });
        self.space.acknowledged = ack;
        if ack == self.space.highest + 1 && self.window.has_probed(self.space.highest) {
            // The receiver accepted the byte of a probe.
            self.space.highest = ack;
        }
        self.losses.acknowledge(ack, at);
        (covered.segments, sample)
    }

    /// Processes the blocks of an ACK for everything before `ack`.
    #[cold]
    fn sack(&mut self, at: u64, ack: u64, segment: &Segment) -> Option<Sample> {
        let reported = self.board.sack(&self.space, ack, segment.options.sack.as_slice());
        self.losses.counts.duplicate += self.size.segments_of(reported.duplicate);
        let newest = reported.newest.filter(|sent| sent.retransmissions == 0 && sent.start >= self.timed_from);
        newest.map(|sent| Sample { nanos: at.saturating_sub(sent.at), is_lone: false })
    }

    /// Returns the blocks of an ACK for everything before `ack` that are within the data that have
    /// passed.
    pub(super) fn blocks(&self, ack: u64, segment: &Segment) -> impl Iterator<Item = (u64, u64)> {
        let places = segment.options.sack.as_slice().iter();
        places
            .map(|block| (self.space.place_in_block(block.start), self.space.place_in_block(block.end)))
            .filter(move |&(start, end)| ack < start && start < end && end <= self.space.highest)
    }

    /// Records a datagram with `length` octets that is not split.
    pub(super) fn datagram(&mut self, length: u32) {
        self.size.whole(length);
        self.fresh += u64::from(length);
    }

    /// Records `length` further octets of data in an end's log. Returns the earlier number of
    /// octets.
    pub(super) fn log_data(&mut self, length: u32) -> u64 {
        let start = self.space.highest - START;
        self.space.highest += u64::from(length);
        start
    }

    /// Records this number of further acknowledged octets in an end's log. Returns the place.
    pub(super) fn log_ack(&mut self, octets: u64) -> u64 {
        self.space.acknowledged += octets;
        self.space.acknowledged
    }
}
