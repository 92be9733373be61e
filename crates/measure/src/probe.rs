//! Measurements of a flow during the run.
//!
//! A probe receives the state of the two endpoints after each packet and each wake-up. It does not
//! depend on the transport.

mod bursts;
mod delay;
mod limits;
mod throughput;

use crate::observed::Delivery;
use crate::series::Series;
use crate::statistics::{Distribution, Mean, OverTime, nanos, real};

use acklab_base::event::{AckTime, Closing};
use acklab_base::{Duration, Event, Instant, LimitingFactor, Vitals};
use bursts::Bursts;
use delay::ApplicationDelay;
pub(crate) use limits::Limits;
use throughput::Throughput;

/// Gain of the moving average of inter-departure times. It equals the gain of the smoothed RTT in
/// RFC 6298.
const IDT_GAIN: f64 = 1.0 / 8.0;

/// Series over time. Series that are not recorded are `None`.
#[derive(Clone, Debug, Default)]
pub struct Records {
    pub(crate) operating_points: Option<Vec<OperatingPoint>>,
    pub(crate) throughput: Option<Vec<(Instant, f64)>>,
    pub(crate) packets: Option<Vec<PacketRecord>>,
    pub(crate) events: Option<Vec<(Instant, Event)>>,
    pub(crate) decisions: Option<Vec<(Instant, Decision)>>,
    /// `true` if operating points are recorded by [`FlowProbe::sample`], not at each ACK.
    are_sampled: bool,
}

impl Records {
    /// Returns records for the series of one direction that are in `series`.
    #[must_use]
    pub fn of(series: &[Series]) -> Self {
        let is_requested = |one| series.contains(&one);
        Self {
            operating_points: is_requested(Series::OperatingPoint).then(Vec::new),
            throughput: is_requested(Series::Throughput).then(Vec::new),
            packets: is_requested(Series::Packets).then(Vec::new),
            events: is_requested(Series::Events).then(Vec::new),
            decisions: is_requested(Series::Decisions).then(Vec::new),
            are_sampled: false,
        }
    }

    /// Returns the same probe, changed so that operating points are recorded by
    /// [`FlowProbe::sample`], not at each ACK.
    #[must_use]
    pub fn sampled(self) -> Self {
        Self { are_sampled: true, ..self }
    }

    /// Clears the records and continues recording.
    pub(crate) fn clear(&mut self) {
        let Self { operating_points, throughput, packets, events, decisions, are_sampled: _ } = self;
        operating_points.iter_mut().for_each(Vec::clear);
        throughput.iter_mut().for_each(Vec::clear);
        packets.iter_mut().for_each(Vec::clear);
        events.iter_mut().for_each(Vec::clear);
        decisions.iter_mut().for_each(Vec::clear);
    }
}

/// A decision of an ACK policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    pub(crate) when: AckTime,
    /// The index of the reason in the list of the endpoint's reasons for acknowledgments.
    pub(crate) reason: usize,
    pub(crate) unacknowledged: u64,
}

/// The sender's state after an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperatingPoint {
    pub(crate) at: Instant,
    pub(crate) cwnd: Option<f64>,
    pub(crate) ssthresh: Option<f64>,
    pub(crate) in_flight: Option<f64>,
    pub(crate) srtt_ms: Option<f64>,
}

/// A packet at one end of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRecord {
    pub(crate) at: Instant,
    pub(crate) kind: PacketKind,
    pub(crate) offset: u64,
}

/// The event of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKind {
    Sent,
    Retransmitted,
    Received,
    Acked,
}

impl PacketKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Retransmitted => "retransmitted",
            Self::Received => "received",
            Self::Acked => "acked",
        }
    }
}

/// The probes of a flow.
#[derive(Clone, Debug)]
pub struct Probes {
    /// The probe of the forward data.
    pub forward: FlowProbe,
    /// The probe of the reverse data, for a flow with data in both directions.
    pub reverse: Option<Box<FlowProbe>>,
}

impl Probes {
    /// Returns the probes of the measured directions.
    pub fn directions(&self) -> impl Iterator<Item = &FlowProbe> {
        [Some(&self.forward), self.reverse.as_deref()].into_iter().flatten()
    }

    /// Returns the probe of the data that end `end` sends. End 0 is the end at which the flow
    /// begins. Returns `None` if these data are not measured.
    pub fn sent_by(&mut self, end: u8) -> Option<&mut FlowProbe> {
        if end == 0 { Some(&mut self.forward) } else { self.reverse.as_deref_mut() }
    }

    /// Returns the probe of the data that end `end` receives. Returns `None` if these data are not
    /// measured.
    pub fn received_by(&mut self, end: u8) -> Option<&mut FlowProbe> {
        self.sent_by(1 - end)
    }

    /// Returns the probe of the data that end `end` sends. If these data are not measured, returns
    /// the probe of the data that it receives.
    #[inline]
    pub fn of(&mut self, end: u8) -> &mut FlowProbe {
        match (end, &mut self.reverse) {
            (1, Some(reverse)) => reverse,
            _ => &mut self.forward,
        }
    }

    /// Ends the measurement window.
    pub(crate) fn close(&mut self, until: Instant) {
        self.forward.close(until);
        if let Some(reverse) = &mut self.reverse {
            reverse.close(until);
        }
    }
}

/// The measurements of one direction in the measurement window. Congestion window and data in
/// flight are in octets, times in nanoseconds.
#[derive(Clone, Debug)]
pub struct FlowProbe {
    mss: f64,
    pub(crate) cwnd: OverTime,
    pub(crate) in_flight: OverTime,
    pub(crate) srtt: OverTime,
    pub(crate) idt_ewma: OverTime,
    pub(crate) rtt: Mean,
    pub(crate) min_rtt: Option<Duration>,
    /// The number of octets that have arrived, but that the application has not read.
    pub(crate) blocked: OverTime,
    pub(crate) feedback_age: Mean,
    pub(crate) one_way_delay: Mean,
    pub(crate) one_way_delays: Distribution,
    pub(crate) bursts: Bursts,
    pub(crate) application_delay: ApplicationDelay,
    pub(crate) throughput: Throughput,
    pub(crate) limits: Limits,
    pub(crate) acks_delivered: u64,
    pub(crate) ack_bytes: u64,
    /// When the first end completed the handshake.
    pub(crate) established: Option<Instant>,
    /// When all data and their end were acknowledged.
    pub completed: Option<Instant>,
    /// When the receiver's application last received octets.
    pub(crate) last_delivery: Option<Instant>,
    /// When data last arrived at the receiver.
    pub(crate) last_arrival: Option<Instant>,
    /// When all data and their end were acknowledged, in the window or before it.
    pub(crate) finished: Option<Instant>,
    /// When and why the first end closed the connection, with the code of the error.
    pub(crate) closed: Option<(Instant, Closing, u64)>,

    /// The offset up to which the receiver's application has read.
    delivered: u64,
    rtt_samples: u64,
    /// The highest sent offset. Data above it are new, and data below it are retransmissions.
    sent: u64,
    last_departure: Option<Instant>,
    idt: Option<f64>,
    /// `true` if this probe also measures the receiver.
    sees_receiver: bool,
    pub(crate) records: Records,
}

impl FlowProbe {
    /// Creates a probe for packets of `mss` octets of payload. ACKs that arrive within `burst_gap`
    /// of each other belong to one burst.
    #[must_use]
    pub fn new(mss: u64, bin: Duration, burst_gap: Duration, records: Records) -> Self {
        Self {
            mss: mss as f64,
            cwnd: OverTime::default(),
            in_flight: OverTime::default(),
            srtt: OverTime::default(),
            idt_ewma: OverTime::default(),
            rtt: Mean::default(),
            min_rtt: None,
            blocked: OverTime::default(),
            feedback_age: Mean::default(),
            one_way_delay: Mean::default(),
            one_way_delays: Distribution::default(),
            bursts: Bursts::new(burst_gap),
            application_delay: ApplicationDelay::default(),
            throughput: Throughput::new(bin),
            limits: Limits::default(),
            acks_delivered: 0,
            ack_bytes: 0,
            established: None,
            completed: None,
            last_delivery: None,
            last_arrival: None,
            finished: None,
            closed: None,
            delivered: 0,
            rtt_samples: 0,
            sent: 0,
            last_departure: None,
            idt: None,
            sees_receiver: true,
            records,
        }
    }

    /// Returns the same probe for data whose receiver is measured elsewhere. The throughput and the
    /// delays between the applications remain unknown.
    #[must_use]
    pub fn without_receiver(mut self) -> Self {
        self.sees_receiver = false;
        self.application_delay = ApplicationDelay::unknown();
        self
    }

    /// Begins the measurement window. Discards earlier measurements, but keeps the current state.
    /// `rtt_samples` is the number of RTT samples before the window.
    pub fn open(&mut self, now: Instant, rtt_samples: u64) {
        let mut fresh =
            Self::new(self.mss as u64, self.throughput.bin(), self.bursts.gap(), std::mem::take(&mut self.records));
        fresh.cwnd = self.cwnd.reopened(now);
        fresh.in_flight = self.in_flight.reopened(now);
        fresh.srtt = self.srtt.reopened(now);
        fresh.idt_ewma = self.idt_ewma.reopened(now);
        fresh.blocked = self.blocked.reopened(now);
        fresh.limits = self.limits.reopened(now);
        fresh.rtt_samples = rtt_samples;
        fresh.sent = self.sent;
        fresh.established = self.established;
        (fresh.finished, fresh.closed) = (self.finished, self.closed);
        fresh.delivered = self.delivered;
        fresh.application_delay = self.application_delay.reopened(now);
        fresh.throughput.open(now);
        fresh.sees_receiver = self.sees_receiver;
        *self = fresh;
    }

    /// Ends the measurement window.
    pub fn close(&mut self, until: Instant) {
        self.bursts.finish();
        for quantity in [&mut self.cwnd, &mut self.in_flight, &mut self.srtt, &mut self.idt_ewma, &mut self.blocked] {
            quantity.finish(until);
        }
        self.application_delay.finish(until);
        self.limits.finish(until);
        if self.sees_receiver {
            self.throughput.finish(until, &mut self.records.throughput);
        }
    }

    /// Records that the sender sends a packet with `payload` octets of data, beginning at stream
    /// offset `offset`.
    #[inline(always)]
    pub fn data_departs(&mut self, now: Instant, offset: u64, payload: u32, sender: &Vitals) {
        if let Some(in_flight) = sender.in_flight {
            self.in_flight.set(now, real(in_flight));
        }
        self.measure_departure_gap(now);
        let end = offset + u64::from(payload);
        let kind = if end <= self.sent { PacketKind::Retransmitted } else { PacketKind::Sent };
        self.sent = self.sent.max(end);
        self.record_packet(now, kind, offset);
    }

    #[inline]
    fn measure_departure_gap(&mut self, now: Instant) {
        if let Some(last) = self.last_departure {
            let gap = nanos(now.since(last));
            let idt = self.idt.map_or(gap, |idt| idt + IDT_GAIN * (gap - idt));
            self.idt = Some(idt);
            self.idt_ewma.set(now, idt);
        }
        self.last_departure = Some(now);
    }

    /// Returns `true` if this probe also measures the receiver.
    pub(crate) const fn sees_receiver(&self) -> bool {
        self.sees_receiver
    }

    /// Returns when the sender last sent data.
    pub(crate) const fn last_departure(&self) -> Option<Instant> {
        self.last_departure
    }

    /// Records that the sender's application may have written.
    #[inline]
    pub fn data_written(&mut self, now: Instant, sender: &Vitals) {
        self.application_delay.written(now, sender.written);
    }

    /// Records that the sender has received a pure ACK.
    #[inline(always)]
    pub fn ack_arrived(&mut self, now: Instant, delivery: Delivery, sender: &Vitals) {
        self.acks_delivered += 1;
        self.ack_bytes += delivery.wire_len.get();
        if let Some(origin) = delivery.origin {
            self.feedback_age.add(nanos(now.since(origin)));
        }
        self.bursts.arrival(now);
        self.acknowledged(now, sender);
    }

    /// Records that the sender has received an acknowledgment, in a pure ACK or together with data
    /// of the other direction.
    #[inline(always)]
    pub fn acknowledged(&mut self, now: Instant, sender: &Vitals) {
        if let Some(cwnd) = sender.window {
            self.cwnd.set(now, real(cwnd));
        }
        if let Some(in_flight) = sender.in_flight {
            self.in_flight.set(now, real(in_flight));
        }
        if sender.rtt_samples > self.rtt_samples {
            self.rtt_samples = sender.rtt_samples;
            self.rtt.add(nanos(sender.latest_rtt));
            if self.min_rtt.is_none_or(|least| sender.latest_rtt < least) {
                self.min_rtt = Some(sender.latest_rtt);
            }
            if let Some(srtt) = sender.smoothed_rtt {
                let srtt = nanos(srtt);
                self.srtt.set(now, srtt);
                self.throughput.srtt(srtt);
            }
        }
        self.data_written(now, sender);
        if !self.records.are_sampled {
            self.record_operating_point(now, sender);
        }
        self.record_packet(now, PacketKind::Acked, sender.acknowledged);
    }

    /// Samples the state of the sender, whether or not an event has occurred since the last sample.
    pub fn sample(&mut self, now: Instant, sender: &Vitals) {
        if let Some(cwnd) = sender.window {
            self.cwnd.set(now, real(cwnd));
        }
        if let Some(in_flight) = sender.in_flight {
            self.in_flight.set(now, real(in_flight));
        }
        self.record_operating_point(now, sender);
    }

    #[inline]
    fn record_operating_point(&mut self, now: Instant, sender: &Vitals) {
        if let Some(points) = &mut self.records.operating_points {
            let segments = |octets: u64| octets as f64 / self.mss;
            points.push(OperatingPoint {
                at: now,
                cwnd: sender.window.map(segments),
                ssthresh: sender.threshold.map(segments),
                in_flight: sender.in_flight.map(segments),
                srtt_ms: sender.smoothed_rtt.map(|srtt| nanos(srtt) / 1e6),
            });
        }
    }

    /// Records that the sender has no more data to send now. `factor` limits the next bytes. It is
    /// `None` if the sender does not report the cause.
    #[inline]
    pub fn limited(&mut self, now: Instant, factor: Option<LimitingFactor>) {
        if self.completed.is_none() {
            self.limits.set(now, factor);
        }
    }

    /// Records that the receiver has received a data packet with `fresh` new octets. `origin` is
    /// the time of sending, if known. `offset` returns the stream offset of the packet.
    #[inline(always)]
    pub fn data_arrived(
        &mut self,
        now: Instant,
        origin: Option<Instant>,
        fresh: u64,
        receiver: &Vitals,
        offset: impl FnOnce() -> u64,
    ) {
        self.last_arrival = Some(now);
        let delay = origin.map(|origin| now.since(origin).as_nanos());
        if let Some(delay) = delay {
            self.one_way_delays.add(delay);
            self.one_way_delay.add(real(delay));
        }
        self.throughput.arrived(now, fresh, &mut self.records.throughput);
        if receiver.read.is_some() {
            self.data_read(now, receiver);
        } else {
            // Over a transport without order, the application reads data on arrival.
            if let Some(delay) = delay {
                self.application_delay.read(now, real(delay));
            }
            self.last_delivery = Some(now);
        }
        if self.records.packets.is_some() {
            self.record_packet(now, PacketKind::Received, offset());
        }
    }

    /// Records that the receiver's application may have read data.
    #[inline(always)]
    pub fn data_read(&mut self, now: Instant, receiver: &Vitals) {
        if let Some(upto) = receiver.read {
            if upto > self.delivered {
                self.delivered = upto;
                self.last_delivery = Some(now);
            }
            self.application_delay.delivered(now, upto);
            self.set_blocked(now, receiver.received.saturating_sub(upto));
        }
    }

    #[inline]
    fn set_blocked(&mut self, now: Instant, octets: u64) {
        // Without losses, no data are ever blocked.
        if octets > 0 || !self.blocked.is_zero() {
            self.blocked.set(now, real(octets));
        }
    }

    /// Records an event of an endpoint.
    pub fn record_event(&mut self, now: Instant, event: Event) {
        match event {
            Event::Established => _ = self.established.get_or_insert(now),
            Event::Finished => {
                self.completed = Some(now);
                self.limits.finish(now);
                self.finished.get_or_insert(now);
            }
            Event::Closed { reason, code } => _ = self.closed.get_or_insert((now, reason, code)),
            // These events are recorded only in logs.
            Event::PacketLost { .. } | Event::SegmentLost { .. } => return,
            _ => {}
        }
        if let Event::AckDecided { when, reason, unacknowledged } = event {
            let decisions = self.records.decisions.as_mut();
            return decisions.into_iter().for_each(|all| all.push((now, Decision { when, reason, unacknowledged })));
        }
        if let Some(events) = &mut self.records.events {
            events.push((now, event));
        }
    }

    #[inline]
    fn record_packet(&mut self, at: Instant, kind: PacketKind, offset: u64) {
        if let Some(packets) = &mut self.records.packets {
            packets.push(PacketRecord { at, kind, offset });
        }
    }
}
