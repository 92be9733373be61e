//! What is measured of a flow while it runs.
//!
//! A probe reads the public state of the two endpoints after each step of theirs; the endpoints know nothing of it.

mod bursts;
mod delay;
mod throughput;
mod totals;

use crate::statistics::{Mean, OverTime};
use acklab_base::{Duration, FlowId, Instant};
use acklab_transport::tcp::{Receiver, Sender};
use acklab_wire::tcp::SeqNumber;
use acklab_wire::udp::UserDatagram;
use bursts::Bursts;
use delay::ApplicationDelay;
use throughput::Throughput;
pub(crate) use totals::{TcpTotals, Totals, UdpTotals};

/// Gain of the moving average of inter-departure times, that of RFC 6298 for round trips.
const IDT_GAIN: f64 = 1.0 / 8.0;

/// What is recorded over time, only for those who ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    pub(crate) operating_points: Option<Vec<OperatingPoint>>,
    pub(crate) throughput: Option<Vec<(Instant, f64)>>,
    pub(crate) packets: Option<Vec<PacketRecord>>,
    pub(crate) events: Option<Vec<(Instant, acklab_transport::event::Event)>>,
}

/// The sender's state after an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperatingPoint {
    pub(crate) at: Instant,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: Option<f64>,
    pub(crate) in_flight: f64,
    pub(crate) srtt_ms: Option<f64>,
}

/// One packet at one end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRecord {
    pub(crate) at: Instant,
    pub(crate) kind: PacketKind,
    pub(crate) offset: u64,
}

/// What happened to it there.
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

/// One flow's measurements in the open window: windows and flights in octets, times in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct FlowProbe {
    mss: f64,
    pub(crate) cwnd: OverTime,
    pub(crate) in_flight: OverTime,
    pub(crate) srtt: OverTime,
    pub(crate) idt_ewma: OverTime,
    pub(crate) rtt: Mean,
    pub(crate) feedback_age: Mean,
    pub(crate) one_way_delay: Mean,
    pub(crate) bursts: Bursts,
    pub(crate) application_delay: ApplicationDelay,
    pub(crate) throughput: Throughput,
    pub(crate) acks_delivered: u64,
    pub(crate) ack_bytes: u64,
    pub(crate) drops: u64,
    pub(crate) ack_drops: u64,
    pub(crate) completed: Option<Instant>,

    rtt_samples: u64,
    last_departure: Option<Instant>,
    idt: Option<f64>,
    pub(crate) records: Records,
}

impl FlowProbe {
    /// `burst_gap`: ACKs that follow each other closer than this belong to one burst.
    pub(crate) fn new(mss: u64, bin: Duration, burst_gap: Duration, records: Records) -> Self {
        Self {
            mss: mss as f64,
            cwnd: OverTime::default(),
            in_flight: OverTime::default(),
            srtt: OverTime::default(),
            idt_ewma: OverTime::default(),
            rtt: Mean::default(),
            feedback_age: Mean::default(),
            one_way_delay: Mean::default(),
            bursts: Bursts::new(burst_gap),
            application_delay: ApplicationDelay::default(),
            throughput: Throughput::new(bin),
            acks_delivered: 0,
            ack_bytes: 0,
            drops: 0,
            ack_drops: 0,
            completed: None,
            rtt_samples: 0,
            last_departure: None,
            idt: None,
            records,
        }
    }

    /// A new window: forget what was measured, keep what is still under way. So many round trips have been measured before.
    pub(crate) fn open(&mut self, now: Instant, rtt_samples: u64) {
        let mut fresh =
            Self::new(self.mss as u64, self.throughput.bin(), self.bursts.gap(), std::mem::take(&mut self.records));
        fresh.cwnd = self.cwnd.reopened(now);
        fresh.in_flight = self.in_flight.reopened(now);
        fresh.srtt = self.srtt.reopened(now);
        fresh.idt_ewma = self.idt_ewma.reopened(now);
        fresh.rtt_samples = rtt_samples;
        fresh.application_delay = self.application_delay.reopened(now);
        fresh.throughput.open(now);
        // Links count what they drop, ahead of time and only inside the window: what is there already belongs to it.
        (fresh.drops, fresh.ack_drops) = (self.drops, self.ack_drops);
        *self = fresh;
    }

    /// The window ends at `until`.
    pub(crate) fn close(&mut self, until: Instant) {
        self.bursts.finish();
        for quantity in [&mut self.cwnd, &mut self.in_flight, &mut self.srtt, &mut self.idt_ewma] {
            quantity.finish(until);
        }
        self.application_delay.finish(until);
        self.throughput.finish(until, &mut self.records.throughput);
    }

    /// A queue on the way has dropped a packet of this direction.
    pub(crate) const fn dropped(&mut self, direction: FlowId) {
        if direction.is_data() {
            self.drops += 1;
        } else {
            self.ack_drops += 1;
        }
    }

    /// A segment at `offset` leaves the sender.
    pub(crate) fn departs(&mut self, now: Instant, offset: u64, is_retransmission: bool, sender: &Sender) {
        self.in_flight.set(now, sender.in_flight() as f64);
        self.spaced(now);
        let kind = if is_retransmission { PacketKind::Retransmitted } else { PacketKind::Sent };
        self.record_packet(now, kind, offset);
    }

    /// A packet with data leaves so long after the one before.
    fn spaced(&mut self, now: Instant) {
        if let Some(last) = self.last_departure {
            let gap = now.since(last).as_nanos() as f64;
            let idt = self.idt.map_or(gap, |idt| idt + IDT_GAIN * (gap - idt));
            self.idt = Some(idt);
            self.idt_ewma.set(now, idt);
        }
        self.last_departure = Some(now);
    }

    /// The sender has taken an ACK of `octets` whose news was born at `born`.
    pub(crate) fn ack_arrived(&mut self, now: Instant, born: Instant, octets: u64, sender: &Sender) {
        self.acks_delivered += 1;
        self.ack_bytes += octets;
        self.feedback_age.add(now.since(born).as_nanos() as f64);
        self.bursts.arrival(now);
        let (cwnd, in_flight) = (sender.window().cwnd as f64, sender.in_flight() as f64);
        self.cwnd.set(now, cwnd);
        self.in_flight.set(now, in_flight);
        let srtt = sender.rtt().srtt().map(|srtt| srtt.as_nanos() as f64);
        if sender.rtt().samples() > self.rtt_samples {
            self.rtt_samples = sender.rtt().samples();
            self.rtt.add(sender.rtt().latest().as_nanos() as f64);
            if let Some(srtt) = srtt {
                self.srtt.set(now, srtt);
                self.throughput.srtt(srtt);
            }
        }
        self.application_delay.written(now, sender.written());
        if let Some(points) = &mut self.records.operating_points {
            let threshold = sender.window().ssthresh;
            let ssthresh = (threshold != u64::MAX).then(|| threshold as f64 / self.mss);
            let (cwnd, in_flight) = (cwnd / self.mss, in_flight / self.mss);
            points.push(OperatingPoint { at: now, cwnd, ssthresh, in_flight, srtt_ms: srtt.map(|nanos| nanos / 1e6) });
        }
        self.record_packet(now, PacketKind::Acked, sender.scoreboard().una());
    }

    /// The receiver has taken the segment `seq` that was sent at `born`; `fresh` octets of it were new.
    pub(crate) fn data_arrived(
        &mut self,
        now: Instant,
        born: Instant,
        seq: SeqNumber,
        fresh: u64,
        receiver: &Receiver,
    ) {
        self.one_way_delay.add(now.since(born).as_nanos() as f64);
        self.throughput.arrived(now, fresh, &mut self.records.throughput);
        self.application_delay.delivered(now, receiver.delivered());
        if self.records.packets.is_some() {
            self.record_packet(now, PacketKind::Received, receiver.offset_of(seq));
        }
    }

    /// A datagram leaves the sender.
    pub(crate) fn datagram_departs(&mut self, now: Instant, datagram: &UserDatagram) {
        self.spaced(now);
        self.record_packet(now, PacketKind::Sent, offset_of(datagram));
    }

    /// The receiver has taken a datagram, of which `fresh` octets were new. A datagram has no order to wait for: what arrives is read at
    /// once.
    pub(crate) fn datagram_arrived(&mut self, now: Instant, datagram: &UserDatagram, fresh: u64) {
        let delay = now.since(datagram.sent_at).as_nanos() as f64;
        self.one_way_delay.add(delay);
        self.throughput.arrived(now, fresh, &mut self.records.throughput);
        self.application_delay.read(now, delay);
        self.record_packet(now, PacketKind::Received, offset_of(datagram));
    }

    fn record_packet(&mut self, at: Instant, kind: PacketKind, offset: u64) {
        if let Some(packets) = &mut self.records.packets {
            packets.push(PacketRecord { at, kind, offset });
        }
    }
}

/// Where a datagram stands in the stream of all that its flow sends.
fn offset_of(datagram: &UserDatagram) -> u64 {
    (datagram.number - 1) * u64::from(datagram.payload)
}
