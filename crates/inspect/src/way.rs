//! One direction of a connection: the data that one end sends, and the acknowledgments that return.

use crate::batches::{Batches, Snapshot};
use crate::controller::Reactions;
use crate::limits::Limits;
use crate::losses::Losses;
use crate::qlog::Acknowledged;
use crate::quantiles::Quantiles;
use crate::round_trip::RoundTrip;
use crate::trace::Trace;
use acklab_wire::tcp::{Flags, SackBlock, Segment, SeqNumber, Timestamps};
use std::collections::VecDeque;

/// Segments that are followed until they are acknowledged.
const MOST_OUTSTANDING: usize = 1 << 17;
/// Where the number line begins, so that what comes from before the first packet has a place on it.
const START: u64 = 1 << 32;
/// A jump on the number line that no window allows (RFC 7323, §2.3): the capture has a hole, or the numbers are another connection's.
const LARGEST_WINDOW: u64 = 1 << 30;

/// Data that passed the point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) at: u64,
    pub(crate) start: u64,
    pub(crate) length: u32,
    /// Whether the octets passed for the first time.
    pub(crate) is_new: bool,
}

/// An acknowledgment that passed the point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub(crate) at: u64,
    pub(crate) ack: u64,
    /// Octets that the receiver holds, in order or not.
    pub(crate) delivered: u64,
    /// Its timestamp.
    pub(crate) value: Option<u32>,
    /// The octets that it acknowledges in order, if nothing was missing before it; zero otherwise.
    pub(crate) covers: u32,
    /// Of its packet.
    pub(crate) octets: u16,
    pub(crate) is_pure: bool,
}

/// Data that are not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    end: u64,
    at: u64,
    retransmissions: u32,
    /// The timestamp of the first retransmission.
    value: Option<u32>,
    is_sacked: bool,
}

/// Numbers of IPv4 packets of one sender, if it counts them for each connection (RFC 6864 leaves that open; Linux does so for TCP, from a random
/// number on). Captures of simulations count from zero at the point of capture, and so cannot tell that a packet is missing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Identifications {
    last: Option<u16>,
    is_of_capture: bool,
    pub(crate) steps: u64,
    /// Steps that no counter makes: none, back, or far ahead.
    pub(crate) irregular: u64,
    /// Numbers that were skipped.
    pub(crate) skipped: u64,
}

/// A step that a counter of one connection does not make between two of its packets.
const LONG_STEP: u16 = 512;

impl Identifications {
    #[inline]
    fn packet(&mut self, identification: u16) {
        let Some(last) = self.last.replace(identification) else { return };
        self.is_of_capture |= self.steps == 0 && (last, identification) == (0, 1);
        self.steps += 1;
        match identification.wrapping_sub(last) {
            0 | LONG_STEP.. => self.irregular += 1,
            step => self.skipped += u64::from(step - 1),
        }
    }

    /// The share of packets that were sent and did not pass, or `None` if the sender does not count its packets.
    pub(crate) fn missing(&self) -> Option<f64> {
        // One step in fifty may be irregular, where packets overtook each other.
        let is_counter = !self.is_of_capture && self.steps >= 50 && self.irregular * 50 <= self.steps;
        is_counter.then(|| self.skipped as f64 / (self.skipped + self.steps) as f64)
    }
}

/// One direction.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    origin: Option<SeqNumber>,
    highest: u64,
    acknowledged: u64,
    sacked: u64,
    outstanding: VecDeque<Sent>,
    /// For blocks of the last ACKs: start and end.
    blocks: [(u64, u64); 4],
    /// The largest payload, and that of the MSS option of the receiver.
    pub(crate) largest: u32,
    offered: Option<u16>,
    /// The window scale of the receiver (RFC 7323, §2).
    scale: Option<u8>,
    window: Option<u64>,
    pub(crate) round_trip: RoundTrip,
    pub(crate) losses: Losses,
    pub(crate) limits: Limits,
    pub(crate) reactions: Reactions,
    pub(crate) identifications: Identifications,
    pub(crate) data: Trace<Data>,
    pub(crate) acks: Trace<Ack>,
    pub(crate) data_segments: u64,
    pub(crate) data_packets: u64,
    pub(crate) data_octets: u64,
    pub(crate) wire_octets: u64,
    pub(crate) pure_acks: u64,
    pub(crate) ack_octets: u64,
    pub(crate) duplicate_acks: u64,
    pub(crate) first_data: Option<u64>,
    pub(crate) last_data: u64,
    pub(crate) marked: u64,
    pub(crate) has_timestamps: bool,
    pub(crate) has_sack: bool,
    pub(crate) batches: Batches,
}

impl Way {
    /// A direction of which at most `runs` runs of packets are kept.
    pub(crate) fn new(runs: usize) -> Self {
        Self {
            origin: None,
            highest: START,
            acknowledged: START,
            sacked: 0,
            outstanding: VecDeque::new(),
            blocks: [(0, 0); 4],
            largest: 0,
            offered: None,
            scale: None,
            window: None,
            round_trip: RoundTrip::default(),
            losses: Losses::default(),
            limits: Limits::default(),
            reactions: Reactions::default(),
            identifications: Identifications::default(),
            data: Trace::new(runs),
            acks: Trace::new(runs),
            data_segments: 0,
            data_packets: 0,
            data_octets: 0,
            wire_octets: 0,
            pure_acks: 0,
            ack_octets: 0,
            duplicate_acks: 0,
            first_data: None,
            last_data: 0,
            marked: 0,
            has_timestamps: false,
            has_sack: false,
            batches: Batches::default(),
        }
    }

    /// The payload of a full-sized segment: that of the largest, unless captured before it was cut to the size of the path.
    pub(crate) fn mss(&self) -> u32 {
        self.offered.map_or(self.largest, |offered| self.largest.min(u32::from(offered))).max(1)
    }

    /// Octets that the receiver holds.
    pub(crate) const fn delivered(&self) -> u64 {
        self.acknowledged - START + self.sacked
    }

    /// The SYN of the receiver tells how large segments may be and how its window is scaled.
    pub(crate) fn offer(&mut self, syn: &Segment, sender_scales: bool) {
        self.offered = syn.options.mss;
        self.scale = syn.options.window_scale.filter(|_| sender_scales).map(|scale| scale.min(14));
        self.has_sack = syn.options.sack_permitted;
    }

    /// The sender's SYN sets where its numbers begin. Returns whether it came for the first time.
    pub(crate) fn begin(&mut self, syn: &Segment) -> bool {
        let first = SeqNumber(syn.seq.0.wrapping_add(1));
        self.origin.replace(first) != Some(first)
    }

    /// `segment` with data passed at `at`, in a packet of `wire` octets.
    #[inline]
    pub(crate) fn send(&mut self, at: u64, segment: &Segment, wire: u64) {
        self.round_trip.echo(at, segment.options.timestamps);
        if segment.payload == 0 {
            return;
        }
        let clocks = segment.options.timestamps;
        self.has_timestamps |= clocks.is_some();
        let length = u64::from(segment.payload);
        let origin = *self.origin.get_or_insert(segment.seq);
        let near = self.highest - START;
        let start = segment.seq.offset_near(origin, near).saturating_add(START);
        if start.abs_diff(self.highest) > LARGEST_WINDOW {
            self.restart(segment.seq);
            return self.send(at, segment, wire);
        }
        let end = start + length;
        if length <= 1 && end <= self.acknowledged {
            return; // a keep-alive (RFC 9293, §3.8.4)
        }
        self.pass(at);
        self.largest = self.largest.max(segment.payload);
        let segments = length.div_ceil(u64::from(self.mss()));
        self.data_packets += 1;
        self.data_segments += segments;
        self.data_octets += length;
        self.wire_octets += wire + (segments - 1) * (wire - length);
        self.marked += u64::from(segment.ecn == acklab_base::Ecn::Ce);
        self.first_data.get_or_insert(at);
        self.last_data = at;
        if self.batches.ends_with(self.data_packets) {
            self.snapshot(at);
        }
        let is_new = start >= self.highest;
        if is_new {
            self.extend(at, start, end, clocks);
        } else {
            self.repeat(at, start, end, clocks, segments);
        }
        self.data.push(Data { at, start, length: segment.payload, is_new });
    }

    /// New data from `start` to `end`.
    #[inline]
    fn extend(&mut self, at: u64, start: u64, end: u64, clocks: Option<Timestamps>) {
        if start > self.highest {
            self.losses.skip(self.highest, start, at, clocks);
        }
        self.highest = end;
        self.follow(Sent { start, end, at, retransmissions: 0, value: None, is_sacked: false });
    }

    fn follow(&mut self, sent: Sent) {
        if self.outstanding.len() == MOST_OUTSTANDING
            && let Some(oldest) = self.outstanding.pop_front()
        {
            self.sacked -= if oldest.is_sacked { oldest.end - oldest.start } else { 0 };
        }
        self.outstanding.push_back(sent);
    }

    /// Data of which a part, or something behind it, has passed before.
    #[cold]
    fn repeat(&mut self, at: u64, start: u64, end: u64, clocks: Option<Timestamps>, segments: u64) {
        let (ahead, _) = self.round_trip.least();
        if self.losses.fills(start, end, at, clocks, ahead, segments) {
            let place = self.outstanding.partition_point(|sent| sent.start < start);
            if self.outstanding.len() < MOST_OUTSTANDING {
                // Neither it nor its ACK tells a round trip: the ACK may be one of what came after it.
                let value = clocks.map(|clocks| clocks.value);
                self.outstanding.insert(place, Sent { start, end, at, retransmissions: 1, value, is_sacked: false });
            }
            self.reactions.retransmit(self.highest);
            return;
        }
        self.losses.counts.repeated += segments;
        self.reactions.retransmit(self.highest);
        if end <= self.acknowledged {
            self.losses.counts.needless += segments;
        }
        let first = self.outstanding.partition_point(|sent| sent.end <= start);
        for sent in self.outstanding.iter_mut().skip(first).take_while(|sent| sent.start < end) {
            sent.retransmissions += 1;
            if sent.value.is_none() {
                sent.value = clocks.map(|clocks| clocks.value);
            }
        }
        if end > self.highest {
            let start = self.highest;
            self.highest = end;
            self.follow(Sent { start, end, at, retransmissions: 1, value: None, is_sacked: false });
        }
    }

    /// `segment` of the receiver passed at `at`, in a packet of `wire` octets.
    #[inline]
    pub(crate) fn answer(&mut self, at: u64, segment: &Segment, wire: u64, identification: Option<u16>) {
        if let Some(identification) = identification {
            self.identifications.packet(identification);
        }
        self.round_trip.stamp(at, segment.options.timestamps);
        if !segment.flags.contains(Flags::ACK) || segment.flags.contains(Flags::SYN) {
            return;
        }
        let Some(origin) = self.origin else {
            // The ACK of a capture that begins in the midst of a connection, before any data.
            return;
        };
        let near = self.acknowledged.max(self.highest.saturating_sub(LARGEST_WINDOW)) - START;
        let ack = segment.ack.offset_near(origin, near).saturating_add(START);
        if ack > self.highest + LARGEST_WINDOW {
            return;
        }
        self.pass(at);
        self.window = Some(u64::from(segment.window) << self.scale.unwrap_or(0));
        let is_pure = segment.is_pure_ack();
        if is_pure {
            self.pure_acks += 1;
            self.ack_octets += wire;
        }
        let before = self.acknowledged;
        let was_whole = self.sacked == 0 && segment.options.sack.is_empty();
        if !segment.options.sack.is_empty() {
            self.sack(at, ack, origin, segment.options.sack.as_slice());
        }
        let echo = segment.options.timestamps.map(|clocks| clocks.echo);
        if ack > self.acknowledged {
            self.advance(at, ack, echo);
        } else if is_pure && ack == self.acknowledged && self.highest > self.acknowledged {
            self.duplicate_acks += 1;
        }
        self.reactions.acknowledge(self.acknowledged, self.highest);
        let covers = if was_whole { (self.acknowledged - before).min(u32::MAX.into()) as u32 } else { 0 };
        let value = segment.options.timestamps.map(|clocks| clocks.value);
        let octets = wire.min(u16::MAX.into()) as u16;
        self.acks.push(Ack { at, ack, delivered: self.delivered(), value, covers, octets, is_pure });
    }

    /// Everything before `ack` has arrived. `echo` is the timestamp that the ACK echoes.
    #[inline]
    fn advance(&mut self, at: u64, ack: u64, echo: Option<u32>) {
        let mut newest = None;
        while let Some(sent) = self.outstanding.front_mut() {
            if sent.end > ack {
                if sent.start < ack {
                    self.sacked -= if sent.is_sacked { ack - sent.start } else { 0 };
                    sent.start = ack;
                }
                break;
            }
            if sent.is_sacked {
                self.sacked -= sent.end - sent.start;
            }
            if sent.retransmissions > 0 {
                let is_older = |value: u32| echo.is_some_and(|echo| value.wrapping_sub(echo).cast_signed() > 0);
                self.losses.counts.needless += u64::from(!sent.is_sacked && sent.value.is_some_and(is_older));
            }
            newest = Some(*sent);
            self.outstanding.pop_front();
        }
        // Karn's rule: what was retransmitted tells nothing (RFC 6298, §3). Nor do data that the receiver has had for longer.
        if let Some(sent) = newest.filter(|sent| sent.end == ack && sent.retransmissions == 0 && !sent.is_sacked) {
            self.round_trip.ahead(at.saturating_sub(sent.at));
        }
        self.acknowledged = ack;
        self.highest = self.highest.max(ack);
        self.losses.acknowledge(ack);
    }

    /// The receiver holds these blocks.
    #[cold]
    fn sack(&mut self, at: u64, ack: u64, origin: SeqNumber, blocks: &[SackBlock]) {
        let near = self.highest - START;
        let spans = blocks.iter().map(|block| {
            let place = |number: SeqNumber| number.offset_near(origin, near).saturating_add(START);
            (place(block.start), place(block.end))
        });
        let mut seen = [(0, 0); 4];
        for (number, (start, end)) in spans.enumerate().take(4) {
            seen[number] = (start, end);
            if end <= start || end > self.highest {
                continue;
            }
            // RFC 2883, §4: the first block reports a duplicate if it lies below the ACK or within the second.
            let is_within_second = number == 0
                && blocks.get(1).is_some_and(|second| {
                    let second = second.start.offset_near(origin, near).saturating_add(START)
                        ..second.end.offset_near(origin, near).saturating_add(START);
                    second.contains(&start) && end <= second.end
                });
            if number == 0 && (end <= ack || is_within_second) {
                if self.blocks[0] != (start, end) {
                    self.losses.counts.duplicate += (end - start).div_ceil(u64::from(self.mss()));
                }
                continue;
            }
            self.mark(at, start, end, number == 0);
        }
        self.blocks = seen;
    }

    /// Marks what the receiver holds from `start` to `end`.
    fn mark(&mut self, at: u64, start: u64, end: u64, is_newest: bool) {
        // The part of a block that an ACK before has reported is marked.
        let known = self.blocks.iter().find(|block| block.0 == start && block.1 <= end).map_or(start, |block| block.1);
        let first = self.outstanding.partition_point(|sent| sent.start < known);
        let mut newest = None;
        for sent in self.outstanding.iter_mut().skip(first).take_while(|sent| sent.end <= end) {
            if !sent.is_sacked {
                sent.is_sacked = true;
                self.sacked += sent.end - sent.start;
                newest = Some(*sent);
            }
        }
        if let Some(sent) = newest.filter(|sent| is_newest && sent.retransmissions == 0) {
            self.round_trip.ahead(at.saturating_sub(sent.at));
        }
    }

    /// A datagram with `length` octets, of which `start` went before, passed at `at` in a packet of `wire` octets. What it carries is encrypted, so
    /// that neither losses nor acknowledgments are known.
    pub(crate) fn count_datagram(&mut self, at: u64, start: u64, length: u32, wire: u64) {
        self.largest = self.largest.max(length);
        self.data_packets += 1;
        self.data_segments += 1;
        self.data_octets += u64::from(length);
        self.wire_octets += wire;
        self.first_data.get_or_insert(at);
        self.last_data = at;
        if self.batches.ends_with(self.data_packets) {
            self.snapshot(at);
        }
        self.data.push(Data { at, start: START + start, length, is_new: true });
    }

    /// The log of an end has a packet of `wire` octets with `length` octets of data, of whatever streams.
    pub(crate) fn log_data(&mut self, at: u64, length: u64, wire: u64) {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.origin.get_or_insert(SeqNumber(0));
        let start = self.highest - START;
        self.highest += u64::from(length);
        self.count_datagram(at, start, length, wire);
    }

    /// The log of an end has an acknowledgment.
    pub(crate) fn log_ack(&mut self, at: u64, acknowledged: &Acknowledged) {
        let Acknowledged { octets, flight, size, is_pure } = *acknowledged;
        if is_pure {
            self.pure_acks += 1;
            self.ack_octets += size;
        }
        self.acknowledged += octets;
        self.reactions.acknowledge(self.highest.saturating_sub(flight), self.highest);
        let covers = octets.min(u32::MAX.into()) as u32;
        let octets = size.min(u16::MAX.into()) as u16;
        let (ack, delivered) = (self.acknowledged, self.delivered());
        self.acks.push(Ack { at, ack, delivered, value: None, covers, octets, is_pure });
    }

    /// The log of an end has declared a packet lost, whose data are sent again.
    pub(crate) fn log_loss(&mut self) {
        self.losses.counts.repeated += 1;
        self.reactions.retransmit(self.highest);
    }

    #[cold]
    fn snapshot(&mut self, at: u64) {
        let snapshot = self.so_far(at);
        self.batches.push(snapshot);
    }

    /// The interval of the ratio of two sums.
    pub(crate) fn interval(&self, parts: impl Fn(&Snapshot) -> (f64, f64)) -> Option<[f64; 2]> {
        let first = Snapshot { at: self.first_data?, ..Snapshot::default() };
        self.batches.interval([first, self.so_far(self.last_data)], parts)
    }

    /// What was counted up to `at`.
    fn so_far(&self, at: u64) -> Snapshot {
        let of = |times: &Quantiles| (times.sum(), times.count());
        let RoundTrip { ahead, behind, whole, .. } = &self.round_trip;
        Snapshot {
            at,
            segments: self.data_segments,
            acks: self.pure_acks,
            lost: self.losses.counts.lost(),
            // Nothing of QUIC is known to have arrived but what has passed.
            carried: if self.origin.is_some() { self.delivered() } else { self.data_octets },
            times: [of(ahead), of(behind), of(whole)],
        }
    }

    /// The time until `at` has passed.
    #[inline]
    fn pass(&mut self, at: u64) {
        if self.first_data.is_some() {
            let flight = self.highest.saturating_sub(self.acknowledged);
            self.limits.until(at, flight, self.window, self.mss().into());
        }
    }

    /// The numbers begin anew.
    #[cold]
    fn restart(&mut self, origin: SeqNumber) {
        self.origin = Some(origin);
        self.outstanding.clear();
        self.highest = START;
        self.acknowledged = START;
        self.sacked = 0;
        self.losses.acknowledge(u64::MAX);
    }
}
