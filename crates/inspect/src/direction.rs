//! One direction of a connection: the data that one end sends, and the acknowledgments that return.
//!
//! | part | state |
//! |---|---|
//! | `delivery` | the data in sequence: passed data, missing data, and data that the receiver has |
//! | `sequence` | the sequence space, as places that do not wrap |
//! | `segment_size` | the payload of a full-sized segment |
//! | `scoreboard` | data that are not acknowledged |
//! | `window` | the receive window |
//! | `volume` | how much data has passed, and when |
//! | `acks` | how many ACKs have passed |
//! | `hops` | the end at the point of capture, by times to live |
//! | `records` | packets as stored in traces and figures |

mod acks;
mod delivery;
mod fin;
mod hops;
mod records;
mod scoreboard;
mod segment_size;
mod sequence;
mod volume;
mod window;

pub(crate) use acks::Acks;
pub(crate) use delivery::Delivery;
pub(crate) use records::{Ack, Carries, Data, Passing};
pub(crate) use scoreboard::Segments;
pub(crate) use volume::Volume;

use crate::batches::{Batches, Snapshot};
use crate::controller::Reactions;
use crate::echoes::Echoes;
use crate::finding::Finding;
use crate::identification::Identifications;
use crate::limits::Limits;
use crate::load::Load;
use crate::overview::Overview;
use crate::packet::{Acknowledged, Packet};
use crate::quantiles::Quantiles;
use crate::round_trip::{Echo, RoundTrip};
use crate::trace::{HeldBlock, Trace};
use crate::writes::{Pause, Writes, datagram_ends_write, ends_write, is_control, is_full};
use acklab_wire::tcp::{Flags, Segment, SeqNumber};
use delivery::{Placed, Sample};
use fin::Fin;
use hops::Hops;
use sequence::START;

/// One direction.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    pub(crate) delivery: Delivery,
    pub(crate) volume: Volume,
    pub(crate) acks: Acks,
    /// `true` if the next data or the next ACK are the first since a step of the capture's clock.
    is_cut: [bool; 2],
    pub(crate) round_trip: RoundTrip,
    pub(crate) limits: Limits,
    writes: Writes,
    pub(crate) reactions: Reactions,
    pub(crate) load: Load,
    pub(crate) identifications: Identifications,
    pub(crate) echoes: Echoes,
    fin: Fin,
    pub(crate) hops: Hops,
    pub(crate) trace: Trace,
    pub(crate) overview: Overview,
    pub(crate) has_timestamps: bool,
    pub(crate) has_sack: bool,
    pub(crate) batches: Batches,
}

impl Direction {
    /// Returns a direction of which at most `windows` windows of packets are kept.
    pub(crate) fn new(windows: usize) -> Self {
        Self {
            delivery: Delivery::default(),
            volume: Volume::default(),
            acks: Acks::default(),
            is_cut: [false; 2],
            round_trip: RoundTrip::default(),
            limits: Limits::default(),
            writes: Writes::default(),
            reactions: Reactions::default(),
            load: Load::default(),
            identifications: Identifications::default(),
            echoes: Echoes::default(),
            fin: Fin::default(),
            hops: Hops::default(),
            trace: Trace::new(windows),
            overview: Overview::default(),
            has_timestamps: false,
            has_sack: false,
            batches: Batches::default(),
        }
    }

    /// Returns the payload of a full-sized segment.
    pub(crate) fn mss(&self) -> u32 {
        self.delivery.mss()
    }

    /// Returns the number of octets that have arrived: by ACKs, or without ACKs those that passed
    /// for the first time. For QUIC, returns the octets that have passed.
    pub(crate) const fn carried(&self) -> u64 {
        if self.has_acks() { self.delivery.delivered() } else { self.delivery.fresh() }
    }

    /// Returns `true` if ACKs of this direction were captured.
    pub(crate) const fn has_acks(&self) -> bool {
        self.acks.are_seen()
    }

    /// Returns the share of the acknowledged octets that are acknowledged by packets with data, not
    /// by pure ACKs.
    pub(crate) fn ridden(&self) -> f64 {
        self.acks.ridden(self.delivery.acknowledged())
    }

    /// Returns the share of the acknowledged octets that are acknowledged in order, without losses
    /// or reordering.
    pub(crate) fn ordered(&self) -> f64 {
        self.acks.ordered(self.delivery.acknowledged())
    }

    /// Returns when the last data are known to have arrived.
    fn until(&self) -> u64 {
        self.volume.last.max(self.acks.last_advance)
    }

    /// Returns the goodput in bits per microsecond, from the first data until the last are known to
    /// have arrived.
    pub(crate) fn goodput(&self) -> Finding<f64> {
        let nanos = self.volume.first.map_or(0, |first| self.until().saturating_sub(first));
        if nanos == 0 {
            return Finding::not_known(format!(
                "packets with data: found {} at one instant, expected some time between them",
                self.volume.packets
            ));
        }
        let how = if self.has_acks() { "acknowledged" } else { "passed for the first time, no ACK was captured" };
        let carried = self.carried();
        Finding::known(carried as f64 * 8e3 / nanos as f64, format!("{carried} octets {how}"))
    }

    /// Reads the MSS and the window scale from the SYN of the receiver.
    pub(crate) fn offer(&mut self, syn: &Segment, sender_scales: bool) {
        self.delivery.offer(syn, sender_scales);
        self.has_sack = syn.options.sack_permitted;
    }

    /// Excludes intervals across a step of the capture's clock from all measures of time.
    pub(crate) fn cut(&mut self) {
        self.delivery.cut();
        self.fin.cut();
        self.round_trip.cut();
        self.limits.cut();
        self.reactions.cut();
        self.is_cut = [true; 2];
    }

    /// Returns the place from which a segment continues the sender's write, if the write was not
    /// blocked.
    pub(crate) fn continued_by(&self, segment: &Segment) -> Option<u64> {
        self.delivery.continued_by(segment).filter(|_| self.writes.has_more())
    }

    /// Processes a segment of the sender.
    #[inline]
    pub(crate) fn send(&mut self, packet: &Packet<'_>) -> Carries {
        let Packet { at, segment, wire, .. } = *packet;
        let clocks = segment.options.timestamps;
        if segment.flags.contains(Flags::FIN) && segment.payload == 0 {
            self.fin.pass(SeqNumber(segment.seq.0.wrapping_add(1)), at);
        }
        let Some(placed) = self.delivery.place(packet, self.has_acks()) else {
            let has_data = segment.payload > 0;
            self.round_trip.echo(at, clocks, if has_data { Echo::Repeated } else { Echo::Ack });
            return if has_data { Carries::OUT_OF_SEQUENCE } else { Carries::NO_DATA };
        };
        let Placed { start, end, is_new, segments, more, missing, .. } = placed;
        self.pass(at);
        self.hops.data(packet.time_to_live);
        self.has_timestamps |= clocks.is_some();
        let lull = self.volume.lull(at);
        let echo = match is_new {
            true if self.writes.has_more() => Echo::Released,
            true => Echo::Written(lull),
            false => Echo::Repeated,
        };
        if let Some(nanos) = self.round_trip.echo(at, clocks, echo) {
            self.load.took(at, 1, nanos);
        }
        self.volume.packet(at, segments, segment.payload.into(), wire);
        self.volume.segments += more;
        self.volume.marked += u64::from(segment.ecn == acklab_base::Ecn::Ce);
        let ends_write = is_new && ends_write(segment.payload, self.mss(), segment.flags.contains(Flags::PSH));
        if is_new {
            self.writes.send(end, ends_write, self.delivery.flight() > 0);
            if !is_full(segment.payload, self.mss()) {
                self.reactions.shorten();
            }
        }
        let (highest, _) = self.delivery.edges();
        let passing = self.delivery.pass(placed, self.round_trip.minimum());
        if passing == Passing::Retransmitted {
            self.reactions.retransmit(highest);
        }
        self.keep(Data { at, start, length: segment.payload, passing, ends_write, is_cut: false });
        if self.batches.ends_with(self.volume.packets) {
            self.snapshot(at);
        }
        Carries { segments: segments as u32, missing }
    }

    #[inline]
    fn keep(&mut self, data: Data) {
        self.overview.data(&data);
        let is_cut = std::mem::take(&mut self.is_cut[0]);
        self.trace.data(Data { is_cut, ..data });
    }

    /// Processes a segment of the receiver, which carries `carries` in the other direction.
    #[inline]
    pub(crate) fn answer(&mut self, packet: &Packet<'_>, carries: Carries) {
        let covers = self.acknowledge(packet);
        if !packet.segment.flags.contains(Flags::RST) {
            self.identifications.segment(packet, carries, covers);
        }
    }

    /// Returns the segments that an ACK is the first to acknowledge. Returns `None` if the receiver
    /// sends ACKs because of losses or reordering.
    #[inline]
    fn acknowledge(&mut self, packet: &Packet<'_>) -> Option<u32> {
        let Packet { at, segment, wire, .. } = *packet;
        self.round_trip.stamp(at, segment.options.timestamps, segment.payload > 0);
        if !segment.flags.contains(Flags::ACK) || segment.flags.intersects(Flags::SYN | Flags::RST) {
            return None;
        }
        // In a capture that begins in mid-connection, an ACK before any data cannot be placed.
        let ack = self.delivery.place_of_ack(segment)?;
        self.pass(at);
        self.hops.ack(packet.time_to_live);
        if let Some(nanos) = self.fin.acknowledge(segment.ack, at) {
            self.round_trip.handshake_ahead(nanos);
        }
        let is_pure = segment.is_pure_ack();
        self.acks.packet(is_pure, wire);
        let covered = self.delivery.acknowledge(at, ack, segment);
        let further = ack.saturating_sub(covered.before);
        if let Some(Sample { nanos, is_lone }) = covered.reported {
            self.round_trip.ahead(nanos, is_lone);
        }
        if let Some(Sample { nanos, is_lone }) = covered.sample {
            self.round_trip.ahead(nanos, is_lone);
            self.reactions.took(nanos);
            if !is_lone {
                self.load.took(at, 0, nanos);
            }
        }
        for (start, end) in self.delivery.blocks(ack, segment) {
            self.trace.block(HeldBlock { at, start, end });
        }
        let (highest, acknowledged) = self.delivery.edges();
        let pause = if further > 0 { self.writes.acknowledge(ack) } else { Pause::None };
        if further > 0 {
            self.acks.advance(at, further, is_pure);
            self.load.carry(at, further);
        } else if ack < covered.before {
            self.echoes.overtaken();
        } else if is_pure && highest > acknowledged {
            self.acks.duplicates += 1;
        }
        if pause == Pause::Certain {
            self.reactions.limit();
        }
        self.reactions.acknowledge(at, acknowledged, highest, self.delivery.mss().into());
        // Data segments of the receiver repeat the last ACK, and report nothing new.
        if is_pure || further > 0 || !segment.options.sack.is_empty() {
            let window = self.delivery.window.scaled().map(|window| window.min(u32::MAX.into()) as u32);
            self.overview.ack(at, acknowledged, window);
            self.trace_ack(Ack {
                at,
                ack,
                delivered: self.delivery.delivered(),
                value: segment.options.timestamps.map(|clocks| clocks.value),
                covers: if covered.is_whole { further.min(u32::MAX.into()) as u32 } else { 0 },
                octets: wire.min(u16::MAX.into()) as u16,
                window,
                is_pure,
                pause,
            });
        }
        let is_in_order = covered.is_whole && !covered.segments.is_disturbed && (further > 0 || !is_pure);
        if is_in_order {
            self.echoes.ack(covered.segments);
            self.acks.in_order(further);
        }
        is_in_order.then_some(covered.segments.count)
    }

    #[inline]
    fn trace_ack(&mut self, ack: Ack) {
        let is_first = std::mem::take(&mut self.is_cut[1]);
        self.trace.ack(Ack { pause: if is_first { Pause::Step } else { ack.pause }, ..ack });
    }

    /// Processes a datagram with `length` octets at `at`, in a packet of `wire` octets. `start`
    /// octets were sent before it. Its contents are encrypted, so neither losses nor
    /// acknowledgments are known.
    pub(crate) fn count_datagram(&mut self, at: u64, start: u64, length: u32, wire: u64) {
        self.delivery.datagram(length);
        if !self.writes.has_more() {
            self.round_trip.pause(at.saturating_sub(self.volume.last));
        }
        self.volume.packet(at, 1, length.into(), wire);
        if self.batches.ends_with(self.volume.packets) {
            self.snapshot(at);
        }
        let ends_write = datagram_ends_write(length, self.mss());
        let (_, acknowledged) = self.delivery.edges();
        if !is_control(length) {
            self.writes.send(START + start + u64::from(length), ends_write, START + start > acknowledged);
        }
        self.keep(Data { at, start: START + start, length, passing: Passing::New, ends_write, is_cut: false });
    }

    /// Processes a packet in an end's log, of `wire` octets with `length` octets of data of any
    /// streams.
    pub(crate) fn log_data(&mut self, at: u64, length: u64, wire: u64) {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let start = self.delivery.log_data(length);
        self.count_datagram(at, start, length, wire);
    }

    /// Processes an acknowledgment in an end's log.
    pub(crate) fn log_ack(&mut self, at: u64, acknowledged: &Acknowledged) {
        let Acknowledged { octets, flight, size, is_pure } = *acknowledged;
        self.acks.packet(is_pure, size);
        self.acks.advance(at, octets, true);
        let ack = self.delivery.log_ack(octets);
        let (highest, _) = self.delivery.edges();
        self.reactions.acknowledge(at, highest.saturating_sub(flight), highest, self.delivery.mss().into());
        let pause = self.writes.acknowledge(ack);
        self.overview.ack(at, ack, None);
        self.trace_ack(Ack {
            at,
            ack,
            delivered: self.delivery.delivered(),
            value: None,
            covers: octets.min(u32::MAX.into()) as u32,
            octets: size.min(u16::MAX.into()) as u16,
            window: None,
            is_pure,
            pause,
        });
    }

    /// Processes a packet that an end's log declares lost. Its data are retransmitted.
    pub(crate) fn log_loss(&mut self) {
        self.delivery.losses.counts.repeated += 1;
        let (highest, _) = self.delivery.edges();
        self.reactions.retransmit(highest);
    }

    #[cold]
    fn snapshot(&mut self, at: u64) {
        let snapshot = self.so_far(at);
        self.batches.push(snapshot);
    }

    /// Returns the interval of the ratio of two sums.
    pub(crate) fn interval(&self, parts: impl Fn(&Snapshot) -> (f64, f64)) -> Option<[f64; 2]> {
        self.batches.interval(self.ends()?, parts)
    }

    /// Returns the interval of one count's share in another.
    pub(crate) fn share_interval(&self, parts: impl Fn(&Snapshot) -> (f64, f64)) -> Option<[f64; 2]> {
        self.batches.share_interval(self.ends()?, parts)
    }

    fn ends(&self) -> Option<[Snapshot; 2]> {
        Some([Snapshot { at: self.volume.first?, ..Snapshot::default() }, self.so_far(self.until())])
    }

    /// Returns the counts up to `at`.
    fn so_far(&self, at: u64) -> Snapshot {
        let of = |times: &Quantiles| (times.sum(), times.count());
        let RoundTrip { ahead, behind, whole, .. } = &self.round_trip;
        Snapshot {
            at,
            segments: self.volume.segments,
            acks: self.acks.pure,
            losses: self.delivery.losses.counts,
            carried: self.carried(),
            times: [of(ahead), of(behind), of(whole)],
        }
    }

    /// Accounts for the time until `at`.
    #[inline]
    fn pass(&mut self, at: u64) {
        if self.volume.first.is_some() {
            let Delivery { window, .. } = &self.delivery;
            if self.limits.until(at, self.delivery.flight(), window.bytes(), self.mss().into()) {
                self.reactions.limit();
            }
        }
    }
}
