//! One end of a flow over UDP, measured by the datagrams that pass its device. Datagrams of a flow
//! have the header of test traffic. Datagrams of programs are numbered when they are sent.

use super::super::packet::{Data, Note, RealPacket};
use super::Shown;
use acklab_base::endpoint::counter;
use acklab_base::{Bytes, CounterValue, Datagram, Endpoint, Instant, LimitingFactor, Machine, Vitals};
use acklab_measure::flow::End;
use acklab_measure::{Observed, Probes, Snapshot};
use acklab_transport::udp::Receiver;
use acklab_wire::udp::UserDatagram;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// One end of a flow over UDP. The sending end counts sent datagrams. The receiving end is measured
/// as in a simulation.
#[derive(Debug)]
pub(super) struct UdpEnd {
    /// 0 for the end that sent the first datagram, 1 for the other.
    end: u8,
    /// The payload of a full datagram, for an end of programs.
    of_program: Option<u64>,
    shown: Arc<Shown>,
    datagrams: u64,
    octets: u64,
    /// IP bytes of all datagrams.
    ip_octets: u64,
    receiver: Receiver,
}

impl UdpEnd {
    /// Creates an end of a flow whose datagrams carry at most `full` bytes.
    pub(super) fn new(end: u8, full: Bytes, shown: Arc<Shown>) -> Self {
        let receiver = Receiver::new(full, false);
        Self { end, of_program: None, shown, datagrams: 0, octets: 0, ip_octets: 0, receiver }
    }

    /// Creates an end of an exchange between programs.
    pub(super) fn of_program(end: u8, full: Bytes) -> Self {
        Self { of_program: Some(full.get()), ..Self::new(end, full, Arc::default()) }
    }

    /// Returns the datagram in a packet. `number` is the datagram's number, unless the datagram
    /// contains its number.
    fn datagram(&self, packet: &RealPacket, number: u64) -> Option<UserDatagram> {
        if self.of_program.is_none() {
            return packet.datagram();
        }
        packet.ip().is_udp().then(|| UserDatagram {
            ecn: packet.ecn(),
            number,
            sent_at: packet.origin(),
            payload: packet.payload(),
        })
    }

    /// Records that this end sends a datagram. Returns the datagram's data.
    pub(super) fn departs(&mut self, now: Instant, packet: &RealPacket, probes: &mut Probes) -> Option<Data> {
        let datagram = self.datagram(packet, self.datagrams + 1)?;
        let (offset, payload) = (self.receiver.offset(&datagram), datagram.payload);
        self.datagrams += 1;
        self.octets += u64::from(payload);
        self.ip_octets += packet.wire_len().get();
        let vitals = Vitals { written: self.written(), ..Vitals::default() };
        if let Some(probe) = probes.sent_by(self.end) {
            probe.data_departs(now, offset, payload, &vitals);
            probe.data_written(now, &vitals);
            probe.limited(now, Some(LimitingFactor::Application));
        }
        // The number of a program's datagram is passed separately.
        Some(Data { offset: self.of_program.map_or(offset, |_| datagram.number), payload })
    }

    /// Returns the bytes that the application has written. For programs, it returns the sent bytes.
    fn written(&self) -> u64 {
        self.of_program.map_or_else(|| self.shown.written.load(Ordering::Relaxed), |_| self.octets)
    }

    /// Records that a datagram of the other end has been delivered to the host of this end.
    pub(super) fn arrives(&mut self, now: Instant, packet: &RealPacket, note: &Note, probes: &mut Probes) {
        let number = note.data.map_or(1, |data| data.offset);
        let Some(datagram) = self.datagram(packet, number) else { return };
        let before = self.receiver.vitals().received;
        // The time at which the packet entered the network, as in a simulation. The time in the
        // payload has only whole microseconds.
        self.receiver.accept(now, UserDatagram { sent_at: packet.origin(), ..datagram });
        let vitals = self.receiver.vitals();
        let fresh = vitals.received - before;
        let offset = || self.receiver.offset(&datagram);
        if let Some(probe) = probes.received_by(self.end) {
            probe.data_arrived(now, Some(packet.origin()), fresh, &vitals, offset);
        }
    }

    /// Returns the transit time of the last datagram.
    pub(super) const fn transit(&self) -> Option<acklab_base::Duration> {
        self.receiver.transit()
    }
}

impl End for UdpEnd {
    fn snapshot(&self, now: Instant) -> Snapshot {
        let count = |name, unit, value| (name, unit, CounterValue::Count(value));
        let mut counters =
            vec![count(counter::DATA_PACKETS, "packets", self.datagrams), count(counter::DATA_BYTES, "B", self.octets)];
        self.receiver.report_counters(&mut |name, unit, value| counters.push((name, unit, value)));
        self.shown.report_counters(now, &mut |name, unit, value| counters.push((name, unit, value)));
        let received = self.receiver.vitals().received;
        Snapshot {
            written: self.written(),
            received,
            delivered: received,
            rtt_samples: 0,
            sent_bytes: self.ip_octets,
            counters,
            acknowledgments: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// Does nothing: datagrams are not acknowledged.
    fn record_decisions(&mut self) {}
}
