//! One direction of a connection: the data that one end sends, and the acknowledgments that return.
//!
//! | part | state |
//! |---|---|
//! | `hops` | which end is at the point of capture, by times to live |
//! | `sequence` | the sequence space: what has passed, and what is acknowledged |
//! | `segment_size` | the payload of a full-sized segment |
//! | `scoreboard` | data that are not acknowledged |
//! | `window` | the receive window |

mod hops;
mod scoreboard;
mod segment_size;
mod sequence;
mod window;

pub(crate) use scoreboard::Segments;

use crate::batches::{Batches, Snapshot};
use crate::controller::Reactions;
use crate::echoes::Echoes;
use crate::finding::Finding;
use crate::identification::Identifications;
use crate::limits::Limits;
use crate::load::Load;
use crate::losses::{Filled, Losses, Mark};
use crate::overview::Overview;
use crate::packet::Packet;
use crate::qlog::Acknowledged;
use crate::quantiles::Quantiles;
use crate::round_trip::{Echo, RoundTrip};
use crate::trace::{Held, Trace};
use crate::writes::{Pause, Writes, datagram_ends_write, ends_write, is_control, is_full};
use acklab_wire::tcp::{Flags, Segment, SeqNumber};
use hops::Hops;
use scoreboard::{Scoreboard, Sent};
use segment_size::SegmentSize;
use sequence::{Place, START, SequenceSpace};
use window::ReceiveWindow;

/// Segments behind the last within which a sender goes on, while packets are held back.
const MAX_BURST: u64 = 64;

/// Data that passed the point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) at: u64,
    pub(crate) start: u64,
    pub(crate) length: u32,
    pub(crate) passing: Passing,
    /// Whether it may end what the application has written.
    pub(crate) ends_write: bool,
    /// Whether it is the first since a step of the capture's clock.
    pub(crate) is_cut: bool,
}

/// How data passed the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    /// In sequence.
    New,
    /// Out of sequence in the file only.
    Misfiled,
    /// Retransmitted.
    Retransmitted,
    /// Overtaken by later data.
    Reordered,
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
    /// The receive window, if its scale is known.
    pub(crate) window: Option<u32>,
    pub(crate) is_pure: bool,
    /// Whether the application paused between the data of the ACK before and those that it acknowledges.
    pub(crate) pause: Pause,
}

/// What a packet of the sender carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carries {
    /// Its segments; one without data.
    pub(crate) segments: u32,
    /// Segments that are missing before it, if it is not out of sequence.
    pub(crate) missing: Option<u32>,
}

/// One direction.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    space: SequenceSpace,
    board: Scoreboard,
    size: SegmentSize,
    window: ReceiveWindow,
    /// The place from which data have passed since the last step of the capture's clock.
    timed_from: u64,
    /// Whether the next data and the next ACK are the first since a step.
    is_cut: [bool; 2],
    pub(crate) round_trip: RoundTrip,
    pub(crate) losses: Losses,
    pub(crate) limits: Limits,
    writes: Writes,
    pub(crate) reactions: Reactions,
    pub(crate) load: Load,
    pub(crate) identifications: Identifications,
    pub(crate) echoes: Echoes,
    pub(crate) hops: Hops,
    pub(crate) trace: Trace,
    pub(crate) overview: Overview,
    pub(crate) data_segments: u64,
    pub(crate) data_packets: u64,
    pub(crate) data_octets: u64,
    /// Octets that passed for the first time.
    fresh_octets: u64,
    pub(crate) wire_octets: u64,
    pub(crate) pure_acks: u64,
    pub(crate) ack_octets: u64,
    pub(crate) duplicate_acks: u64,
    /// Packets of the receiver that acknowledge something, with data or without.
    all_acks: u64,
    /// Octets that packets with data acknowledge first.
    ridden_octets: u64,
    /// Octets that were acknowledged in order, without losses or reordering.
    ordered_octets: u64,
    pub(crate) first_data: Option<u64>,
    pub(crate) last_data: u64,
    /// When an ACK for further data passed last.
    last_advance: u64,
    pub(crate) marked: u64,
    pub(crate) has_timestamps: bool,
    pub(crate) has_sack: bool,
    pub(crate) batches: Batches,
}

impl Way {
    /// A direction of which at most `windows` windows of packets are kept.
    pub(crate) fn new(windows: usize) -> Self {
        Self {
            space: SequenceSpace::default(),
            board: Scoreboard::default(),
            size: SegmentSize::default(),
            window: ReceiveWindow::default(),
            timed_from: 0,
            is_cut: [false; 2],
            round_trip: RoundTrip::default(),
            losses: Losses::default(),
            limits: Limits::default(),
            writes: Writes::default(),
            reactions: Reactions::default(),
            load: Load::default(),
            identifications: Identifications::default(),
            echoes: Echoes::default(),
            hops: Hops::default(),
            trace: Trace::new(windows),
            overview: Overview::default(),
            data_segments: 0,
            data_packets: 0,
            data_octets: 0,
            fresh_octets: 0,
            wire_octets: 0,
            pure_acks: 0,
            ack_octets: 0,
            duplicate_acks: 0,
            all_acks: 0,
            ridden_octets: 0,
            ordered_octets: 0,
            first_data: None,
            last_data: 0,
            last_advance: 0,
            marked: 0,
            has_timestamps: false,
            has_sack: false,
            batches: Batches::default(),
        }
    }

    /// The payload of a full-sized segment.
    pub(crate) fn mss(&self) -> u32 {
        self.size.mss()
    }

    /// Octets that the receiver holds, by its ACKs.
    const fn delivered(&self) -> u64 {
        self.space.acknowledged - START + self.board.sacked()
    }

    /// Octets that have arrived: by ACKs, or if there are none those that have passed for the first time. Nothing of QUIC is known to have arrived but what
    /// has passed.
    pub(crate) const fn carried(&self) -> u64 {
        if self.has_acks() { self.delivered() } else { self.fresh_octets }
    }

    /// Returns `true` if ACKs of this direction were captured.
    pub(crate) const fn has_acks(&self) -> bool {
        self.all_acks > 0
    }

    /// The share of the acknowledged octets that packets with data acknowledge, instead of pure ACKs.
    pub(crate) fn ridden(&self) -> f64 {
        self.ridden_octets as f64 / (self.space.acknowledged - START).max(1) as f64
    }

    /// The share of the acknowledged octets that were acknowledged in order, without losses or reordering.
    pub(crate) fn ordered(&self) -> f64 {
        self.ordered_octets as f64 / (self.space.acknowledged - START).max(1) as f64
    }

    /// Octets that the receiver has acknowledged and that are not in the capture. One may be a FIN, or a probe of a closed window.
    pub(crate) fn uncaptured(&self) -> u64 {
        let behind = self.space.acknowledged.saturating_sub(self.space.highest);
        self.losses.uncaptured() + if behind > 1 { behind } else { 0 }
    }

    /// When the last data are known to have arrived.
    fn until(&self) -> u64 {
        self.last_data.max(self.last_advance)
    }

    /// Bits that have arrived, per microsecond from the first data until the last are known to have arrived.
    pub(crate) fn goodput(&self) -> Finding<f64> {
        let nanos = self.first_data.map_or(0, |first| self.until().saturating_sub(first));
        if nanos == 0 {
            return Finding::not_known(format!(
                "{} at one instant, expected some time between them",
                packets(self.data_packets)
            ));
        }
        let how = if self.has_acks() { "acknowledged" } else { "passed for the first time, no ACK was captured" };
        let carried = self.carried();
        Finding::known(carried as f64 * 8e3 / nanos as f64, format!("{carried} octets {how}"))
    }

    /// The SYN of the receiver has the size of segments and the scale of its window.
    pub(crate) fn offer(&mut self, syn: &Segment, sender_scales: bool) {
        self.size.offer(syn.options.mss);
        self.window.offer(syn.options.window_scale.filter(|_| sender_scales));
        self.has_sack = syn.options.sack_permitted;
    }

    /// The sender's SYN sets where its numbers begin. Returns whether it came for the first time.
    pub(crate) fn begin(&mut self, syn: &Segment) -> bool {
        let first = SeqNumber(syn.seq.0.wrapping_add(1));
        if self.space.begins_with(first) {
            return false;
        }
        self.restart();
        self.space.begin(first);
        true
    }

    /// Leaves out of all measures of time what spans a step of the capture's clock.
    pub(crate) fn cut(&mut self) {
        self.timed_from = self.space.highest;
        self.round_trip.cut();
        self.limits.cut();
        self.reactions.cut();
        self.is_cut = [true; 2];
    }

    /// The place up to which a segment of the receiver acknowledges data that are outstanding.
    pub(crate) fn answered_by(&self, segment: &Segment) -> Option<u64> {
        let is_ack = segment.flags.contains(Flags::ACK) && !segment.flags.intersects(Flags::SYN | Flags::RST);
        let place = self.space.place_of_ack(segment.ack).filter(|_| is_ack)?;
        (self.space.acknowledged < place && place <= self.space.highest).then_some(place)
    }

    /// Returns `true` if data of a segment of the sender have passed.
    pub(crate) fn repeats(&self, segment: &Segment) -> bool {
        segment.payload > 0 && self.space.place_of(segment.seq).is_some_and(|place| place < self.space.highest)
    }

    /// The place from which a segment of the sender goes on with a write, which nothing has kept it from.
    pub(crate) fn continued_by(&self, segment: &Segment) -> Option<u64> {
        let mss = u64::from(self.mss());
        let has_room = self.window.bytes().is_none_or(|window| self.space.flight() + mss <= window);
        let goes_on = |place: &u64| (self.space.highest..self.space.highest + MAX_BURST * mss).contains(place);
        let place = self.space.place_of(segment.seq).filter(goes_on)?;
        (segment.payload > 0 && has_room && self.writes.has_more()).then_some(place)
    }

    /// A segment of the sender has passed.
    #[inline]
    pub(crate) fn send(&mut self, packet: &Packet<'_>) -> Carries {
        let Packet { at, segment, wire, .. } = *packet;
        let clocks = segment.options.timestamps;
        if segment.flags.contains(Flags::FIN) {
            self.space.finish(segment.seq, segment.payload);
        }
        if segment.payload == 0 {
            self.round_trip.echo(at, clocks, Echo::Ack);
            return Carries { segments: 1, missing: Some(0) };
        }
        let is_first = !self.space.is_known();
        let is_syn = segment.flags.contains(Flags::SYN);
        let place = if is_syn {
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
            Place::Stray => {
                self.round_trip.echo(at, clocks, Echo::Repeated);
                return Carries { segments: 1, missing: None };
            }
        };
        let mark = Mark::of(packet);
        if is_first {
            self.losses.begin(start, mark);
        }
        let length = u64::from(segment.payload);
        let end = start + length;
        // The first byte of a larger segment may have probed the window (as in Wireshark, `packet-tcp.c`).
        let start = if length > 1 && start + 1 == self.space.highest { start + 1 } else { start };
        if length == 1 && self.is_probe(start) {
            self.round_trip.echo(at, clocks, Echo::Repeated);
            return Carries { segments: 1, missing: None };
        }
        self.pass(at);
        self.hops.data(packet.time_to_live);
        self.has_timestamps |= clocks.is_some();
        let (segments, more) = self.size.packet(segment.payload);
        self.data_packets += 1;
        self.data_segments += segments + more;
        self.data_octets += length;
        self.wire_octets += wire + (segments - 1) * wire.saturating_sub(length);
        self.marked += u64::from(segment.ecn == acklab_base::Ecn::Ce);
        let is_new = start >= self.space.highest;
        let missing = start.checked_sub(self.space.highest).map(|octets| self.size.segments_of(octets) as u32);
        let lull = self.first_data.map(|_| at.saturating_sub(self.last_data));
        let echo = match is_new {
            true if self.writes.has_more() => Echo::Released,
            true => Echo::Written(lull),
            false => Echo::Repeated,
        };
        if let Some(nanos) = self.round_trip.echo(at, clocks, echo) {
            self.load.took(at, 1, nanos);
        }
        self.first_data.get_or_insert(at);
        self.last_data = at;
        let ends_write = is_new && ends_write(segment.payload, self.mss(), segment.flags.contains(Flags::PSH));
        let passing = if is_new {
            self.writes.send(end, ends_write, self.space.highest > self.space.acknowledged);
            if !is_full(segment.payload, self.mss()) {
                self.reactions.shorten();
            }
            self.extend(start, end, mark, segments);
            Passing::New
        } else {
            self.repeat(start, end, mark, segments)
        };
        self.keep(Data { at, start, length: segment.payload, passing, ends_write, is_cut: false });
        if self.batches.ends_with(self.data_packets) {
            self.snapshot(at);
        }
        Carries { segments: segments as u32, missing }
    }

    /// Returns `true` if the single byte at `start` is a keep-alive (RFC 9293, §3.8.4) or the probe of a closed window (§3.8.6.1), which is none of the data
    /// until it is acknowledged.
    #[cold]
    fn is_probe(&mut self, start: u64) -> bool {
        let is_acknowledged = start < self.space.acknowledged;
        // Without ACKs, one byte before the next is taken for a keep-alive.
        let is_before = !self.has_acks() && start + 1 == self.space.highest;
        is_acknowledged || is_before || self.window.is_probed(start, self.space.highest)
    }

    /// New data from `start` to `end`.
    #[inline]
    fn extend(&mut self, start: u64, end: u64, mark: Mark, segments: u64) {
        self.losses.advance(mark);
        if start > self.space.highest {
            self.losses.skip(self.space.highest, start, mark, self.space.acknowledged);
        }
        self.space.highest = end;
        self.fresh_octets += end - start;
        if end > self.space.acknowledged {
            self.board.follow(Sent { start, end, at: mark.at, stamp: mark.value, ..Sent::default() });
        } else {
            self.losses.counts.misfiled += segments;
        }
    }

    /// Data of which a part, or something behind it, has passed before.
    #[cold]
    fn repeat(&mut self, start: u64, end: u64, mark: Mark, segments: u64) -> Passing {
        let highest = self.space.highest;
        let filled = self.losses.fills(start, end, mark, self.round_trip.least(), segments);
        if let Some(filled) = filled {
            self.fresh_octets += end.min(highest) - start;
            if end > self.space.acknowledged {
                // Neither it nor its ACK tells a round trip: the ACK may be one of what came after it.
                self.board.insert(Sent {
                    start,
                    end,
                    at: mark.at,
                    retransmissions: 1,
                    value: mark.value,
                    ..Sent::default()
                });
            }
            if filled == Filled::Retransmitted {
                self.reactions.retransmit(highest);
            }
        } else {
            self.losses.counts.repeated += segments;
            self.reactions.retransmit(highest);
            if end <= self.space.acknowledged {
                self.losses.counts.needless += segments;
            }
            self.board.retransmit(start, end, mark.value);
        }
        if end > highest {
            self.space.highest = end;
            self.fresh_octets += end - highest;
            self.board.follow(Sent { start: highest, end, at: mark.at, retransmissions: 1, ..Sent::default() });
        }
        match filled {
            Some(Filled::Misfiled) => Passing::Misfiled,
            Some(Filled::Reordered) => Passing::Reordered,
            Some(Filled::Retransmitted) | None => Passing::Retransmitted,
        }
    }

    #[inline]
    fn keep(&mut self, data: Data) {
        self.overview.data(&data);
        let is_cut = std::mem::take(&mut self.is_cut[0]);
        self.trace.data(Data { is_cut, ..data });
    }

    /// A segment of the receiver has passed, which carries `carries` in the other direction.
    #[inline]
    pub(crate) fn answer(&mut self, packet: &Packet<'_>, carries: Carries) {
        let covers = self.acknowledge(packet);
        if !packet.segment.flags.contains(Flags::RST) {
            self.identifications.segment(packet, carries, covers);
        }
    }

    /// Returns the segments that an ACK covers first, or `None` if losses or reordering make the receiver send others.
    #[inline]
    fn acknowledge(&mut self, packet: &Packet<'_>) -> Option<u32> {
        let Packet { at, segment, wire, .. } = *packet;
        self.round_trip.stamp(at, segment.options.timestamps, segment.payload > 0);
        if !segment.flags.contains(Flags::ACK) || segment.flags.intersects(Flags::SYN | Flags::RST) {
            return None;
        }
        // The ACK of a capture that begins in the midst of a connection, before any data, has no place.
        let ack = self.space.place_of_ack(segment.ack)?;
        self.pass(at);
        self.hops.ack(packet.time_to_live);
        self.window.open(segment.window);
        self.all_acks += 1;
        let is_pure = segment.is_pure_ack();
        if is_pure {
            self.pure_acks += 1;
            self.ack_octets += wire;
        }
        let before = self.space.acknowledged;
        let was_whole = self.board.sacked() == 0 && segment.options.sack.is_empty();
        if !segment.options.sack.is_empty() {
            self.sack(at, ack, segment);
        }
        let pause = if ack > before { self.writes.acknowledge(ack) } else { Pause::None };
        let is_behind_highest = ack <= self.space.highest;
        let mut segments = Segments::default();
        if ack > before {
            segments = self.advance(at, ack, segment.options.timestamps.map(|clocks| clocks.echo));
            self.ridden_octets += if is_pure { 0 } else { ack - before };
        } else if ack < before {
            self.echoes.overtaken();
        } else if is_pure && self.space.highest > before {
            self.duplicate_acks += 1;
        }
        if pause == Pause::Certain {
            self.reactions.limit();
        }
        let mss = self.mss().into();
        self.reactions.acknowledge(at, self.space.acknowledged, self.space.highest, mss);
        let covers = if was_whole { (self.space.acknowledged - before).min(u32::MAX.into()) as u32 } else { 0 };
        let value = segment.options.timestamps.map(|clocks| clocks.value);
        let octets = wire.min(u16::MAX.into()) as u16;
        // Data of the receiver repeat the last ACK, and show nothing new.
        if is_pure || ack > before || !segment.options.sack.is_empty() {
            let window = self.window.scaled().map(|window| window.min(u32::MAX.into()) as u32);
            self.overview.ack(at, self.space.acknowledged, window);
            let pause = if self.is_first_ack() { Pause::Step } else { pause };
            self.trace.ack(Ack { at, ack, delivered: self.delivered(), value, covers, octets, window, is_pure, pause });
        }
        let is_in_order = was_whole && is_behind_highest && !segments.is_disturbed && (ack > before || !is_pure);
        if is_in_order {
            self.echoes.ack(segments);
            self.ordered_octets += ack.saturating_sub(before);
        }
        is_in_order.then_some(segments.count)
    }

    /// Everything before `ack` has arrived. `echo` is the timestamp that the ACK echoes.
    #[inline]
    fn advance(&mut self, at: u64, ack: u64, echo: Option<u32>) -> Segments {
        let covered = self.board.acknowledge(ack, echo, self.size.mss());
        self.losses.counts.needless += covered.needless;
        // Karn's rule: what was retransmitted tells nothing (RFC 6298, §3). Nor do data that the receiver has had for longer.
        let first_time = |sent: &Sent| sent.end == ack && sent.retransmissions == 0 && !sent.is_sacked;
        if let Some(sent) = covered.newest.filter(first_time).filter(|sent| sent.start >= self.timed_from) {
            let covers = ack - self.space.acknowledged;
            let is_lone = ack >= self.space.highest && covers < 2 * u64::from(self.mss());
            let nanos = at.saturating_sub(sent.at);
            self.round_trip.ahead(nanos, is_lone);
            self.reactions.took(nanos);
            if !is_lone {
                self.load.took(at, 0, nanos);
            }
        }
        self.load.carry(at, ack - self.space.acknowledged);
        self.space.acknowledged = ack;
        self.last_advance = at;
        if ack == self.space.highest + 1 && self.window.has_probed(self.space.highest) {
            // The receiver took the byte of a probe.
            self.space.highest = ack;
        }
        self.losses.acknowledge(ack, at);
        covered.segments
    }

    /// The blocks of an ACK for everything before `ack`.
    #[cold]
    fn sack(&mut self, at: u64, ack: u64, segment: &Segment) {
        let reported = self.board.sack(&self.space, ack, segment.options.sack.as_slice());
        self.losses.counts.duplicate += self.size.segments_of(reported.duplicate);
        for block in segment.options.sack.as_slice() {
            let [start, end] = [block.start, block.end].map(|number| self.space.place_in_block(number));
            if ack < start && start < end && end <= self.space.highest {
                self.trace.held(Held { at, start, end });
            }
        }
        if let Some(sent) = reported.newest.filter(|sent| sent.retransmissions == 0 && sent.start >= self.timed_from) {
            self.round_trip.ahead(at.saturating_sub(sent.at), false);
        }
    }

    /// A datagram with `length` octets, of which `start` went before, passed at `at` in a packet of `wire` octets. What it carries is encrypted, so
    /// that neither losses nor acknowledgments are known.
    pub(crate) fn count_datagram(&mut self, at: u64, start: u64, length: u32, wire: u64) {
        self.size.whole(length);
        self.data_packets += 1;
        self.data_segments += 1;
        self.data_octets += u64::from(length);
        self.fresh_octets += u64::from(length);
        self.wire_octets += wire;
        if !self.writes.has_more() {
            self.round_trip.pause(at.saturating_sub(self.last_data));
        }
        self.first_data.get_or_insert(at);
        self.last_data = at;
        if self.batches.ends_with(self.data_packets) {
            self.snapshot(at);
        }
        let ends_write = datagram_ends_write(length, self.mss());
        if !is_control(length) {
            self.writes.send(START + start + u64::from(length), ends_write, START + start > self.space.acknowledged);
        }
        self.keep(Data { at, start: START + start, length, passing: Passing::New, ends_write, is_cut: false });
    }

    /// The log of an end has a packet of `wire` octets with `length` octets of data, of whatever streams.
    pub(crate) fn log_data(&mut self, at: u64, length: u64, wire: u64) {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let start = self.space.highest - START;
        self.space.highest += u64::from(length);
        self.count_datagram(at, start, length, wire);
    }

    /// The log of an end has an acknowledgment.
    pub(crate) fn log_ack(&mut self, at: u64, acknowledged: &Acknowledged) {
        let Acknowledged { octets, flight, size, is_pure } = *acknowledged;
        if is_pure {
            self.pure_acks += 1;
            self.ack_octets += size;
        }
        self.all_acks += 1;
        self.space.acknowledged += octets;
        self.last_advance = at;
        let highest = self.space.highest;
        let mss = self.mss().into();
        self.reactions.acknowledge(at, highest.saturating_sub(flight), highest, mss);
        let covers = octets.min(u32::MAX.into()) as u32;
        let octets = size.min(u16::MAX.into()) as u16;
        let (ack, delivered) = (self.space.acknowledged, self.delivered());
        let pause = self.writes.acknowledge(ack);
        self.overview.ack(at, ack, None);
        let pause = if self.is_first_ack() { Pause::Step } else { pause };
        self.trace.ack(Ack { at, ack, delivered, value: None, covers, octets, window: None, is_pure, pause });
    }

    /// The log of an end has declared a packet lost, whose data are sent again.
    pub(crate) fn log_loss(&mut self) {
        self.losses.counts.repeated += 1;
        self.reactions.retransmit(self.space.highest);
    }

    /// Returns `true` for the first ACK since a step of the capture's clock.
    #[inline]
    fn is_first_ack(&mut self) -> bool {
        std::mem::take(&mut self.is_cut[1])
    }

    #[cold]
    fn snapshot(&mut self, at: u64) {
        let snapshot = self.so_far(at);
        self.batches.push(snapshot);
    }

    /// The interval of the ratio of two sums.
    pub(crate) fn interval(&self, parts: impl Fn(&Snapshot) -> (f64, f64)) -> Option<[f64; 2]> {
        self.batches.interval(self.ends()?, parts)
    }

    /// The interval of the share that one count is of another.
    pub(crate) fn share_interval(&self, parts: impl Fn(&Snapshot) -> (f64, f64)) -> Option<[f64; 2]> {
        self.batches.share_interval(self.ends()?, parts)
    }

    fn ends(&self) -> Option<[Snapshot; 2]> {
        Some([Snapshot { at: self.first_data?, ..Snapshot::default() }, self.so_far(self.until())])
    }

    /// What was counted up to `at`.
    fn so_far(&self, at: u64) -> Snapshot {
        let of = |times: &Quantiles| (times.sum(), times.count());
        let RoundTrip { ahead, behind, whole, .. } = &self.round_trip;
        Snapshot {
            at,
            segments: self.data_segments,
            acks: self.pure_acks,
            losses: self.losses.counts,
            carried: self.carried(),
            times: [of(ahead), of(behind), of(whole)],
        }
    }

    /// The time until `at` has passed.
    #[inline]
    fn pass(&mut self, at: u64) {
        if self.first_data.is_some() {
            let is_full = self.limits.until(at, self.space.flight(), self.window.bytes(), self.mss().into());
            if is_full {
                self.reactions.limit();
            }
        }
    }

    /// The numbers begin anew.
    #[cold]
    fn restart(&mut self) {
        self.timed_from = 0;
        self.board = Scoreboard::default();
        self.window.forget_probe();
        self.losses.restart();
    }
}

fn packets(count: u64) -> String {
    format!("{count} packet{} with data", if count == 1 { "" } else { "s" })
}
