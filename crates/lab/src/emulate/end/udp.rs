//! One end of a flow over UDP, measured from the datagrams that pass its device, which have the header of test traffic.

use super::super::packet::{Data, RealPacket};
use super::Shown;
use acklab_base::endpoint::counter;
use acklab_base::{Bytes, CounterValue, Datagram, Endpoint, Instant, Machine, Vitals};
use acklab_measure::flow::End;
use acklab_measure::{Observed, Probes, Snapshot};
use acklab_transport::udp::Receiver;
use acklab_wire::udp::UserDatagram;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// One end of a flow over UDP: the sending one counts departures, and the receiving one is measured as in a simulation.
#[derive(Debug)]
pub(super) struct UdpEnd {
    shown: Arc<Shown>,
    datagrams: u64,
    octets: u64,
    /// IP octets of all datagrams.
    ip_octets: u64,
    receiver: Receiver,
}

impl UdpEnd {
    /// An end of a flow whose datagrams carry at most `full` octets.
    pub(super) fn new(full: Bytes, shown: Arc<Shown>) -> Self {
        Self { shown, datagrams: 0, octets: 0, ip_octets: 0, receiver: Receiver::new(full, false) }
    }

    /// A datagram leaves this end. Returns the data that it carries.
    pub(super) fn departs(&mut self, now: Instant, packet: &RealPacket, probes: &mut Probes) -> Option<Data> {
        let datagram = packet.datagram()?;
        let (offset, payload) = (self.receiver.offset(&datagram), datagram.payload);
        self.datagrams += 1;
        self.octets += u64::from(payload);
        self.ip_octets += packet.wire_len().get();
        let vitals = Vitals { written: self.shown.written.load(Ordering::Relaxed), ..Vitals::default() };
        probes.forward.data_departs(now, offset, payload, &vitals);
        probes.forward.data_written(now, &vitals);
        Some(Data { offset, payload })
    }

    /// A datagram of the other end has been delivered to the host of this end.
    pub(super) fn arrives(&mut self, now: Instant, packet: &RealPacket, probes: &mut Probes) {
        let Some(datagram) = packet.datagram() else { return };
        let before = self.receiver.vitals().received;
        // The time at which it entered the network, as in a simulation, and not the whole microseconds that its payload holds.
        self.receiver.accept(now, UserDatagram { sent_at: packet.origin(), ..datagram });
        let vitals = self.receiver.vitals();
        let fresh = vitals.received - before;
        let offset = || self.receiver.offset(&datagram);
        probes.forward.data_arrived(now, Some(packet.origin()), fresh, &vitals, offset);
    }

    /// How long the datagram that arrived last was on its way.
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
            written: self.shown.written.load(Ordering::Relaxed),
            received,
            delivered: received,
            rtt_samples: 0,
            sent_bytes: self.ip_octets,
            counters,
            acknowledgments: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// Datagrams are not acknowledged.
    fn record_decisions(&mut self) {}
}
