//! One end of a connection of the kernel's TCP. It is measured by the packets that pass its device.
//! For a flow of the scenario, it is also measured by `TCP_INFO`.

use super::super::packet::{Data, Note, RealPacket};
use super::Shown;
use acklab_base::endpoint::counter;
use acklab_base::{AckHeader, CounterValue, Datagram, Duration, Ecn, Event, Instant, LimitingFactor, Vitals};
use acklab_live::TcpInfo;
use acklab_measure::flow::End;
use acklab_measure::{Delivery, Observed, Probes, Snapshot};
use acklab_transport::ack::Ranges;
use acklab_transport::recovery::rtt;
use acklab_wire::tcp::{Flags, Segment, SeqNumber};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The minimum time between two readings of `TCP_INFO`. Each reading costs a third of the time of a
/// packet.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(1);

/// The data that an end sends.
#[derive(Debug, Default)]
struct Sent {
    /// The sequence number of the first byte of data.
    initial: Option<SeqNumber>,
    /// The highest sent stream offset, plus one.
    next: u64,
    /// The offset of the FIN.
    fin: Option<u64>,
    is_finished: bool,
    packets: u64,
    octets: u64,
    /// IP bytes of all packets.
    ip_octets: u64,
    retransmissions: u64,
    /// The ranges that the peer has acknowledged, by cumulative ACKs or SACK blocks.
    acknowledged: Ranges,
    acks_received: u64,
    /// Segments without a cumulative acknowledgment: the end offset and the time of transmission.
    /// The time is `None` if the segment was retransmitted.
    flight: VecDeque<(u64, Option<Instant>)>,
}

/// The data that an end receives.
#[derive(Debug, Default)]
struct Received {
    ranges: Ranges,
    acks_sent: u64,
    marked: u64,
    /// The arrival time of the last data.
    newest: Option<Instant>,
    /// `true` if the peer's FIN has arrived, and this end has not closed yet.
    closes: bool,
}

/// One end of a flow over TCP.
#[derive(Debug)]
pub(super) struct TcpEnd {
    /// 0 for the end that opens the connection, 1 for the other.
    end: u8,
    shown: Arc<Shown>,
    sent: Sent,
    received: Received,
    vitals: Vitals,
    sampled: Option<Instant>,
    is_established: bool,
    /// Timeouts of the handshake. The kernel includes them in its count of timeouts.
    handshake_timeouts: Option<u32>,
    /// For a connection of programs: the facts that its packets reveal. They replace `TCP_INFO`.
    of_program: Option<Box<Seen>>,
}

/// The facts that the packets of a connection reveal.
#[derive(Debug, Default)]
struct Seen {
    rtt: rtt::Estimator,
    /// The shift of the windows that the peer advertises (RFC 7323, §2).
    peer_scale: u8,
    /// The right edge of the peer's window, as an offset.
    allowed: u64,
    /// The largest payload of a sent segment.
    largest: u64,
}

impl TcpEnd {
    pub(super) fn new(end: u8, shown: Arc<Shown>) -> Self {
        Self {
            end,
            shown,
            sent: Sent::default(),
            received: Received::default(),
            vitals: Vitals { read: Some(0), ..Vitals::default() },
            sampled: None,
            is_established: false,
            handshake_timeouts: None,
            of_program: None,
        }
    }

    /// Creates an end of a connection between programs.
    pub(super) fn of_program(end: u8) -> Self {
        Self { of_program: Some(Box::default()), ..Self::new(end, Arc::default()) }
    }

    fn info(&self) -> Option<TcpInfo> {
        self.shown.socket.get()?.info().ok()
    }

    pub(super) const fn vitals(&self) -> &Vitals {
        &self.vitals
    }

    /// Records that this end sends a packet. Returns the packet's data, and the origin time of its
    /// content.
    pub(super) fn departs(
        &mut self,
        now: Instant,
        packet: &RealPacket,
        probes: &mut Probes,
    ) -> (Option<Data>, Instant) {
        let Some(segment) = packet.segment() else { return (None, now) };
        self.sent.ip_octets += packet.wire_len().get();
        let flags = segment.flags;
        if flags.contains(Flags::SYN) {
            self.sent.initial = Some(SeqNumber(segment.seq.0.wrapping_add(1)));
            // As in a simulation, the number of ACKs includes the SYN-ACK.
            self.received.acks_sent += u64::from(flags.contains(Flags::ACK));
            return (None, now);
        }
        self.note_read(now, probes);
        let Some(initial) = self.sent.initial else { return (None, now) };
        let offset = segment.seq.offset_near(initial, self.sent.next);
        let end = offset + u64::from(segment.payload);
        if flags.contains(Flags::FIN) {
            self.sent.fin = Some(end);
        }
        if segment.payload == 0 {
            let is_ack = flags.contains(Flags::ACK) && !flags.intersects(Flags::FIN | Flags::RST);
            self.received.acks_sent += u64::from(is_ack && self.received.newest.is_some());
            return (None, self.received.newest.unwrap_or(now));
        }
        if let Some(seen) = &mut self.of_program {
            seen.largest = seen.largest.max(segment.payload.into());
        }
        self.sent.packets += 1;
        self.sent.octets += u64::from(segment.payload);
        if end <= self.sent.next {
            self.sent.retransmissions += 1;
            let first = self.sent.flight.partition_point(|(until, _)| *until <= offset);
            let again = self.sent.flight.iter_mut().skip(first).take_while(|(until, _)| *until <= end);
            again.for_each(|(_, at)| *at = None);
        } else {
            self.sent.flight.push_back((end, Some(now)));
            self.sent.next = end;
        }
        self.refresh();
        let (vitals, factor) = (self.vitals, self.factor_of_program());
        if let Some(probe) = probes.sent_by(self.end) {
            probe.data_departs(now, offset, segment.payload, &vitals);
            probe.data_written(now, &vitals);
            factor.into_iter().for_each(|factor| probe.limited(now, Some(factor)));
        }
        (Some(Data { offset, payload: segment.payload }), now)
    }

    /// Records that a packet of the other end was delivered to the host of this end and processed
    /// there.
    pub(super) fn arrives(&mut self, now: Instant, packet: &RealPacket, note: &Note, probes: &mut Probes) {
        if let Some(Data { offset, payload }) = note.data {
            self.shown.read_on_arrival();
            let before = self.received.ranges.received();
            let _ = self.received.ranges.insert(offset..offset + u64::from(payload));
            self.received.newest = Some(now);
            self.received.marked += u64::from(packet.ecn() == Ecn::Ce);
            self.vitals.received = self.received.ranges.received();
            self.vitals.read = Some(self.delivered());
            let (vitals, fresh) = (self.vitals, self.vitals.received - before);
            if let Some(probe) = probes.received_by(self.end) {
                probe.data_arrived(now, Some(packet.origin()), fresh, &vitals, || offset);
            }
        }
        let segment = packet.segment();
        let flags = segment.as_ref().map_or_else(Flags::default, |segment| segment.flags);
        self.see_scale(segment.as_ref());
        self.see_handshake(now, flags, probes);
        if let Some(header) = packet.ack_header() {
            self.acknowledged(now, packet, &header, probes);
        }
        self.received.closes |= flags.contains(Flags::FIN);
        if self.received.closes {
            self.received.closes = !self.shown.close_with_peer();
        }
    }

    /// Reads the window scale from the SYN of a program's peer.
    fn see_scale(&mut self, segment: Option<&Segment>) {
        let Some(seen) = &mut self.of_program else { return };
        if let Some(segment) = segment.filter(|segment| segment.flags.contains(Flags::SYN)) {
            seen.peer_scale = segment.options.window_scale.unwrap_or_default();
        }
    }

    /// Records the end of the handshake: the ACK of this end's SYN or SYN-ACK.
    fn see_handshake(&mut self, now: Instant, flags: Flags, probes: &mut Probes) {
        let answers = self.sent.initial.is_some() && flags.contains(Flags::ACK) && !flags.contains(Flags::RST);
        if answers && !std::mem::replace(&mut self.is_established, true) {
            // As in a simulation, an end that sends no data records the event for the data that it
            // receives.
            probes.of(self.end).record_event(now, Event::Established);
        }
    }

    /// Returns the limiting factor of a program's connection, as far as its packets reveal it. If
    /// no data are outstanding, the factor is the application. If the peer's window is full, the
    /// factor is the peer. From outside, an application that always keeps some data outstanding
    /// cannot be identified as the limit.
    fn factor_of_program(&self) -> Option<LimitingFactor> {
        let seen = self.of_program.as_ref()?;
        Some(if self.sent.next == self.vitals.acknowledged {
            LimitingFactor::Application
        } else if self.sent.next + seen.largest > seen.allowed {
            LimitingFactor::ReceiveWindow
        } else {
            LimitingFactor::Window
        })
    }

    fn acknowledged(&mut self, now: Instant, packet: &RealPacket, header: &AckHeader, probes: &mut Probes) {
        let Some(initial) = self.sent.initial else { return };
        let sent = &mut self.sent;
        let offset = |number: u32| SeqNumber(number).offset_near(initial, sent.next);
        let is_fin_acknowledged = sent.fin.is_some_and(|fin| offset(header.ack) > fin);
        let upto = offset(header.ack).min(sent.next);
        if sent.next == 0 {
            return;
        }
        let blocks = header.sack.as_slice().iter().map(|(left, right)| offset(*left)..offset(*right).min(sent.next));
        for range in blocks.filter(|range| range.start < range.end) {
            let _ = sent.acknowledged.insert(range);
        }
        let _ = sent.acknowledged.insert(0..upto);
        self.vitals.acknowledged = sent.acknowledged.next();
        let newly = sent.flight.partition_point(|(until, _)| *until <= upto);
        if let Some((_, Some(at))) = sent.flight.drain(..newly).next() {
            self.vitals.rtt_samples += 1;
            self.vitals.latest_rtt = now.since(at);
            if let Some(seen) = &mut self.of_program {
                seen.rtt.sample(self.vitals.latest_rtt);
            }
        }
        self.sent.acks_received += u64::from(header.is_pure);
        if let Some(seen) = &mut self.of_program {
            seen.allowed = seen.allowed.max(upto + (u64::from(header.window) << seen.peer_scale));
        }
        self.sample(now);
        let (vitals, factor) = (self.vitals, self.factor_of_program());
        let finishes = is_fin_acknowledged && !self.sent.is_finished;
        self.sent.is_finished |= finishes;
        if let Some(probe) = probes.sent_by(self.end) {
            match header.is_pure {
                true => probe.ack_arrived(now, Delivery::of(packet), &vitals),
                false => probe.acknowledged(now, &vitals),
            }
            factor.into_iter().for_each(|factor| probe.limited(now, Some(factor)));
            if finishes {
                probe.record_event(now, Event::Finished);
            }
        }
    }

    fn refresh(&mut self) {
        self.vitals.written = self.written();
    }

    /// Returns the bytes that the application has written. For programs, it returns the sent bytes.
    fn written(&self) -> u64 {
        self.of_program.as_ref().map_or_else(|| self.shown.written.load(Ordering::Relaxed), |_| self.sent.next)
    }

    /// Returns the bytes that the application has read.
    fn delivered(&self) -> u64 {
        let in_order = self.received.ranges.next();
        self.shown.reader.as_ref().map_or(in_order, |_| self.shown.read.load(Ordering::Relaxed).min(in_order))
    }

    /// Records the reads since the last packet, for an application that reads late. Most of these
    /// reads cause an ACK.
    fn note_read(&mut self, now: Instant, probes: &mut Probes) {
        if self.shown.reader.is_some()
            && let Some(probe) = probes.received_by(self.end)
        {
            self.vitals.read = Some(self.delivered());
            probe.data_read(now, &self.vitals);
        }
    }

    /// Reads `TCP_INFO`, unless the last reading is recent. For a program, uses the facts from its
    /// packets.
    fn sample(&mut self, now: Instant) {
        self.refresh();
        if let Some(seen) = &self.of_program {
            self.vitals.smoothed_rtt = seen.rtt.srtt();
            self.vitals.in_flight = Some(self.sent.next - self.sent.acknowledged.received());
            return;
        }
        if self.sampled.is_some_and(|last| now.since(last) < SAMPLE_INTERVAL) {
            return;
        }
        let Some(info) = self.info() else { return };
        self.sampled = Some(now);
        if self.is_established {
            self.handshake_timeouts.get_or_insert(info.total_rto());
        }
        let octets = |segments: u32| u64::from(segments) * u64::from(info.snd_mss());
        self.vitals.window = Some(octets(info.snd_cwnd()));
        // TCP_INFINITE_SSTHRESH.
        self.vitals.threshold = Some(info.snd_ssthresh()).filter(|threshold| *threshold < 0x7fff_ffff).map(octets);
        // tcp_packets_in_flight.
        let in_flight = (info.unacked() + info.retrans()).saturating_sub(info.sacked() + info.lost());
        self.vitals.in_flight = Some(octets(in_flight));
        self.vitals.smoothed_rtt = (info.rtt_us() > 0).then(|| Duration::from_micros(info.rtt_us().into()));
    }
}

impl End for TcpEnd {
    fn snapshot(&self, now: Instant) -> Snapshot {
        let count = |name, unit, value| (name, unit, CounterValue::Count(value));
        let (sent, received) = (&self.sent, &self.received);
        let mut counters = vec![
            count(counter::DATA_PACKETS, "packets", sent.packets),
            count(counter::DATA_BYTES, "B", sent.octets),
            count(counter::RETRANSMISSIONS, "packets", sent.retransmissions),
            count(counter::ACKNOWLEDGED_BYTES, "B", sent.acknowledged.received()),
            count(counter::ACKS_RECEIVED, "packets", sent.acks_received),
            count(counter::ACKS_SENT, "packets", received.acks_sent),
            count(counter::MARKED_PACKETS, "packets", received.marked),
            count(counter::DELIVERED_BYTES, "B", self.delivered()),
        ];
        if self.of_program.is_none() {
            // Without a socket, the counters are zero, so that every snapshot has the same
            // counters.
            let info = self.info();
            let read = |of: fn(&TcpInfo) -> u64| info.as_ref().map_or(0, of);
            // Until the handshake has completed, all timeouts are timeouts of the handshake.
            let timeouts = info.as_ref().map_or(0, TcpInfo::total_rto);
            let of_data = timeouts - self.handshake_timeouts.unwrap_or(timeouts);
            counters.extend([
                count(counter::TIMEOUTS, "", of_data.into()),
                count(counter::BUSY_TIME, "ns", read(|info| info.busy_time_us() * 1000)),
                count(counter::RECEIVE_WINDOW_TIME, "ns", read(|info| info.rwnd_limited_us() * 1000)),
                count(counter::SEND_BUFFER_TIME, "ns", read(|info| info.sndbuf_limited_us() * 1000)),
            ]);
        }
        self.shown.report_counters(now, &mut |name, unit, value| counters.push((name, unit, value)));
        Snapshot {
            written: self.written(),
            received: received.ranges.received(),
            delivered: self.delivered(),
            rtt_samples: self.vitals.rtt_samples,
            sent_bytes: sent.ip_octets,
            counters,
            acknowledgments: vec![(None, received.acks_sent)],
            objects: Vec::new(),
        }
    }

    /// Does nothing: a kernel does not report its decisions.
    fn record_decisions(&mut self) {}
}
