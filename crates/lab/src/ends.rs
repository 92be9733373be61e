//! Both ends of a flow, whatever its transport, and what is measured of it.

use crate::packet::{Body, Packet, Pool};
use crate::probe::{FlowProbe, Totals};
use acklab_base::{Instant, Machine};
use acklab_transport::event::Event;
use acklab_transport::{tcp, udp};
use acklab_wire::Pdu;
use acklab_wire::tcp::{Flags, Segment};

/// Both ends of one flow.
pub(crate) struct Ends {
    pub(crate) pair: Pair,
    pub(crate) probe: FlowProbe,
    /// What both had counted when the window of measurement opened.
    before: Totals,
}

/// A sender and its receiver.
#[expect(clippy::large_enum_variant, reason = "most flows are TCP's, and a pointer to them would cost each step")]
pub(crate) enum Pair {
    Tcp(TcpPair),
    Udp(UdpPair),
}

pub(crate) struct TcpPair {
    pub(crate) sender: tcp::Sender,
    pub(crate) receiver: tcp::Receiver,
    /// Data beyond this offset is new; below it, it is sent again.
    sent: u64,
}

pub(crate) struct UdpPair {
    pub(crate) sender: udp::Sender,
    pub(crate) receiver: udp::Receiver,
}

impl Pair {
    pub(crate) const fn tcp(sender: tcp::Sender, receiver: tcp::Receiver) -> Self {
        Self::Tcp(TcpPair { sender, receiver, sent: 0 })
    }

    pub(crate) const fn udp(sender: udp::Sender, receiver: udp::Receiver) -> Self {
        Self::Udp(UdpPair { sender, receiver })
    }

    fn totals(&self) -> Totals {
        match self {
            Self::Tcp(TcpPair { sender, receiver, .. }) => Totals::of_tcp(sender, receiver),
            Self::Udp(UdpPair { sender, receiver }) => Totals::of_udp(sender, receiver),
        }
    }
}

impl Ends {
    pub(crate) fn new(pair: Pair, probe: FlowProbe) -> Self {
        Self { before: pair.totals(), pair, probe }
    }

    /// Begin to measure.
    pub(crate) fn open(&mut self, now: Instant) {
        self.before = self.pair.totals();
        let rtt_samples = match &self.pair {
            Pair::Tcp(pair) => pair.sender.rtt().samples(),
            Pair::Udp(_) => 0,
        };
        self.probe.open(now, rtt_samples);
    }

    /// The window ends at `until`.
    pub(crate) fn close(&mut self, until: Instant) -> Totals {
        self.probe.close(until);
        self.pair.totals().since(&self.before)
    }

    pub(crate) fn enter_sender(&mut self, now: Instant, packet: &Body) {
        match (&mut self.pair, &packet.pdu) {
            (Pair::Tcp(pair), Pdu::Tcp(segment)) => pair.enter_sender(now, segment, packet, &mut self.probe),
            (Pair::Udp(pair), Pdu::Udp(datagram)) => pair.sender.accept(now, *datagram),
            // A flow has one transport, and no other's packets.
            _ => {}
        }
    }

    pub(crate) fn enter_receiver(&mut self, now: Instant, packet: &Body) {
        match (&mut self.pair, &packet.pdu) {
            (Pair::Tcp(pair), Pdu::Tcp(segment)) => pair.enter_receiver(now, segment, packet.born, &mut self.probe),
            (Pair::Udp(pair), Pdu::Udp(datagram)) => {
                let before = pair.receiver.counters().bytes;
                pair.receiver.accept(now, *datagram);
                let fresh = pair.receiver.counters().bytes - before;
                self.probe.datagram_arrived(now, datagram, fresh);
            }
            _ => {}
        }
    }

    pub(crate) fn wake_sender(&mut self, now: Instant) {
        match &mut self.pair {
            Pair::Tcp(pair) => {
                pair.sender.wake(now);
                self.probe.application_delay.written(now, pair.sender.written());
                pair.note_events(now, &mut self.probe);
            }
            Pair::Udp(pair) => pair.sender.wake(now),
        }
    }

    pub(crate) fn wake_receiver(&mut self, now: Instant) {
        match &mut self.pair {
            Pair::Tcp(pair) => pair.receiver.wake(now),
            Pair::Udp(pair) => pair.receiver.wake(now),
        }
    }

    pub(crate) fn poll_sender(&mut self, now: Instant, pool: &mut Pool) -> Option<Packet> {
        match &mut self.pair {
            Pair::Tcp(pair) => {
                let segment = pair.poll_sender(now, &mut self.probe)?;
                Some(pool.packet(&segment, now))
            }
            Pair::Udp(pair) => {
                let datagram = pair.sender.poll(now)?;
                self.probe.datagram_departs(now, &datagram);
                Some(pool.packet(&datagram, now))
            }
        }
    }

    /// Has the receiver something to send now?
    pub(crate) const fn owes_now(&self) -> bool {
        match &self.pair {
            Pair::Tcp(pair) => pair.receiver.owes_now(),
            Pair::Udp(_) => false,
        }
    }

    /// What the receiver answers. It is as old as the newest data of which it tells.
    pub(crate) fn poll_receiver(&mut self, now: Instant, pool: &mut Pool) -> Option<Packet> {
        match &mut self.pair {
            Pair::Tcp(pair) => {
                let segment = pair.receiver.poll(now)?;
                Some(pool.packet(&segment, pair.receiver.newest_arrival()))
            }
            Pair::Udp(pair) => {
                let datagram = pair.receiver.poll(now)?;
                Some(pool.packet(&datagram, now))
            }
        }
    }

    pub(crate) fn sender_deadline(&self) -> Option<Instant> {
        match &self.pair {
            Pair::Tcp(pair) => pair.sender.deadline(),
            Pair::Udp(pair) => pair.sender.deadline(),
        }
    }

    pub(crate) fn receiver_deadline(&self) -> Option<Instant> {
        match &self.pair {
            Pair::Tcp(pair) => pair.receiver.deadline(),
            Pair::Udp(pair) => pair.receiver.deadline(),
        }
    }
}

impl TcpPair {
    fn enter_sender(&mut self, now: Instant, segment: &Segment, packet: &Body, probe: &mut FlowProbe) {
        self.sender.accept(now, *segment);
        if segment.flags.contains(Flags::SYN) {
            probe.application_delay.written(now, self.sender.written());
        } else {
            probe.ack_arrived(now, packet.born, packet.wire_len.get(), &self.sender);
        }
        self.note_events(now, probe);
    }

    fn enter_receiver(&mut self, now: Instant, segment: &Segment, born: Instant, probe: &mut FlowProbe) {
        let before = self.receiver.received();
        self.receiver.accept(now, *segment);
        if segment.payload > 0 {
            let fresh = self.receiver.received() - before;
            probe.data_arrived(now, born, segment.seq, fresh, &self.receiver);
        }
    }

    fn poll_sender(&mut self, now: Instant, probe: &mut FlowProbe) -> Option<Segment> {
        let segment = self.sender.poll(now)?;
        if segment.payload > 0 {
            let offset = self.sender.offset_of(segment.seq);
            let end = offset + u64::from(segment.payload);
            probe.departs(now, offset, end <= self.sent, &self.sender);
            self.sent = self.sent.max(end);
        }
        Some(segment)
    }

    fn note_events(&mut self, now: Instant, probe: &mut FlowProbe) {
        if !self.sender.has_events() {
            return;
        }
        for event in self.sender.drain_events() {
            if event == Event::Finished {
                probe.completed = Some(now);
            }
            if let Some(events) = &mut probe.records.events {
                events.push((now, event));
            }
        }
    }
}
