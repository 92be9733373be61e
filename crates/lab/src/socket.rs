//! The connection of an endpoint with the network: it adds the IP header to what the endpoint sends, runs the application, and informs
//! the probes.

mod application;
mod relay;
mod snapshot;

pub(crate) use application::Application;
pub(crate) use relay::{Relay, Relayed, Spliced};
pub(crate) use snapshot::Snapshot;

use crate::packet::{Observed, Packet, Pool, Route, SpareList};
use crate::probe::{FlowProbe, Probes};
use crate::qlog::Log;
use acklab_base::{Datagram as _, Endpoint, Event, Instant};
use acklab_net::Departure;
use acklab_wire::pdu::Pdu;

/// The role of an endpoint in its flow, which decides what is measured at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It sends the data of a flow with data in one direction.
    Sender,
    /// It receives the data of a flow with data in one direction.
    Receiver,
    /// It is the end at `from` of a flow with data in both directions, which are both measured.
    AtFrom,
    /// It is the end at `to` of such a flow.
    AtTo,
}

impl Role {
    /// The probe of the data that this end sends.
    fn sent(self, probes: &mut Probes) -> &mut FlowProbe {
        match (self, &mut probes.reverse) {
            (Self::AtTo, Some(reverse)) => reverse,
            _ => &mut probes.forward,
        }
    }

    /// The probe of the data that this end receives.
    fn received(self, probes: &mut Probes) -> &mut FlowProbe {
        match (self, &mut probes.reverse) {
            (Self::AtFrom, Some(reverse)) => reverse,
            _ => &mut probes.forward,
        }
    }
}

/// One end of a flow, as its measurement sees it.
pub(crate) trait End: Send {
    /// The counters at `now`.
    fn snapshot(&self, now: Instant) -> Snapshot;

    /// Records the decisions of the ACK policy from now on.
    fn record_decisions(&mut self);
}

/// An endpoint at a port of the network, whatever its transport.
pub(crate) trait Socket: End {
    /// A packet arrives.
    fn accept(&mut self, now: Instant, packet: Packet, pool: &mut Pool, probes: &mut Probes);

    /// The deadline has come.
    fn wake(&mut self, now: Instant, probes: &mut Probes);

    /// The next departure.
    fn depart(&mut self, now: Instant, pool: &mut Pool, probes: &mut Probes) -> Departure<Packet>;

    /// Writes `log` from now on.
    fn keep_log(&mut self, log: Log);

    /// The log that it writes.
    fn log(&mut self) -> Option<&mut Log>;
}

/// An endpoint with its application and the IP header of its packets.
pub(crate) struct Bound<E> {
    endpoint: E,
    application: Application,
    route: Route,
    role: Role,
    spares: SpareList,
    /// IP octets of the packets sent.
    sent_bytes: u64,
    log: Option<Box<Log>>,
}

impl<E> Bound<E>
where
    E: Endpoint,
    E::Datagram: Pdu,
{
    pub(crate) fn new(endpoint: E, application: Application, route: Route, role: Role, pool: &mut Pool) -> Self {
        Self { endpoint, application, route, role, spares: pool.spares::<E::Datagram>(), sent_bytes: 0, log: None }
    }

    /// The earlier deadline of the endpoint and its application.
    #[inline]
    fn deadline(&self) -> Option<Instant> {
        Instant::earliest(self.application.deadline(), self.endpoint.deadline())
    }

    /// Accepts a packet of a flow with data in both directions: its payload belongs to the direction of the peer's data, its
    /// acknowledgment to the direction of this end's data.
    #[inline(never)]
    fn accept_both_ways(&mut self, now: Instant, packet: &Packet, pdu: &E::Datagram, probes: &mut Probes)
    where
        E::Datagram: Clone,
    {
        let content = self.endpoint.content(pdu);
        let before = self.endpoint.vitals().received;
        self.endpoint.accept_borrowed(now, pdu);
        self.application.run(now, &mut self.endpoint);
        let vitals = self.endpoint.vitals();
        if content.payload > 0 {
            let fresh = vitals.received - before;
            let received = self.role.received(probes);
            received.data_arrived(now, packet.origin(), fresh, &vitals, || self.endpoint.offset(pdu));
        }
        let sent = self.role.sent(probes);
        match content.acknowledges {
            true if self.endpoint.is_pure_ack(pdu) => sent.ack_arrived(now, packet, &vitals),
            true => sent.acknowledged(now, &vitals),
            false => sent.data_written(now, &vitals),
        }
        self.note_events(now, probes);
    }

    #[inline(never)]
    fn log_arrival(&mut self, now: Instant, pdu: &E::Datagram) {
        if let Some(log) = &mut self.log {
            log.received(now, pdu, &self.endpoint);
        }
    }

    #[inline(never)]
    fn log_departure(&mut self, now: Instant, pdu: &E::Datagram) {
        if let Some(log) = &mut self.log {
            log.sent(now, pdu, &self.endpoint);
        }
    }

    #[inline(never)]
    fn log_state(&mut self, now: Instant) {
        if let Some(log) = &mut self.log {
            log.update(now, &self.endpoint);
        }
    }

    /// Informs the probe of a data packet that leaves one end of a flow with data in both directions.
    #[inline(never)]
    fn note_departure(&self, now: Instant, pdu: &E::Datagram, probes: &mut Probes) {
        let payload = self.endpoint.content(pdu).payload;
        if payload > 0 {
            let sent = self.role.sent(probes);
            sent.data_departs(now, self.endpoint.offset(pdu), payload, &self.endpoint.vitals());
        }
    }

    /// Informs the probes after a wake-up, in which the application may have written and read.
    fn note_wake(&mut self, now: Instant, probes: &mut Probes) {
        let vitals = self.endpoint.vitals();
        self.role.received(probes).data_read(now, &vitals);
        let sent = self.role.sent(probes);
        sent.data_written(now, &vitals);
    }

    /// Passes the events of the endpoint to the probes: decisions of the ACK policy concern the received data, all others the sent data.
    #[inline]
    fn note_events(&mut self, now: Instant, probes: &mut Probes) {
        while let Some(event) = self.endpoint.take_event() {
            self.note_event(now, event, probes);
        }
    }

    #[inline(never)]
    fn note_event(&mut self, now: Instant, event: Event, probes: &mut Probes) {
        if let Some(log) = &mut self.log {
            log.event(now, event);
        }
        let probe = match event {
            Event::AckDecided { .. } => self.role.received(probes),
            _ => self.role.sent(probes),
        };
        probe.record_event(now, event);
    }
}

impl<E> Socket for Bound<E>
where
    E: Endpoint + Send,
    E::Datagram: Pdu + Clone,
{
    fn accept(&mut self, now: Instant, packet: Packet, pool: &mut Pool, probes: &mut Probes) {
        let Some(pdu) = packet.pdu::<E::Datagram>() else { return };
        if self.log.is_some() {
            self.log_arrival(now, pdu);
        }
        let content = self.endpoint.content(pdu);
        match self.role {
            Role::Sender => {
                let probe = &mut probes.forward;
                self.endpoint.accept_borrowed(now, pdu);
                self.application.run(now, &mut self.endpoint);
                let vitals = self.endpoint.vitals();
                if content.acknowledges {
                    probe.ack_arrived(now, &packet, &vitals);
                } else {
                    probe.data_written(now, &vitals);
                }
                self.note_events(now, probes);
            }
            Role::Receiver => {
                let probe = &mut probes.forward;
                let before = self.endpoint.vitals().received;
                self.endpoint.accept_borrowed(now, pdu);
                self.application.run(now, &mut self.endpoint);
                if content.payload > 0 {
                    let vitals = self.endpoint.vitals();
                    let fresh = vitals.received - before;
                    probe.data_arrived(now, packet.origin(), fresh, &vitals, || self.endpoint.offset(pdu));
                }
                self.note_events(now, probes);
            }
            Role::AtFrom | Role::AtTo => self.accept_both_ways(now, &packet, pdu, probes),
        }
        pool.take_back(self.spares, packet);
        if self.log.is_some() {
            self.log_state(now);
        }
    }

    fn wake(&mut self, now: Instant, probes: &mut Probes) {
        self.application.run(now, &mut self.endpoint);
        self.endpoint.wake(now);
        let probe = &mut probes.forward;
        match (self.role, &self.application) {
            (Role::Sender, _) => probe.data_written(now, &self.endpoint.vitals()),
            (Role::Receiver, Application::Reader(_)) => probe.data_read(now, &self.endpoint.vitals()),
            (Role::Receiver, _) => {}
            (Role::AtFrom | Role::AtTo, _) => self.note_wake(now, probes),
        }
        self.note_events(now, probes);
        if self.log.is_some() {
            self.log_state(now);
        }
    }

    fn depart(&mut self, now: Instant, pool: &mut Pool, probes: &mut Probes) -> Departure<Packet> {
        let polled = if self.endpoint.may_transmit() { self.endpoint.poll(now) } else { None };
        // The segment is borrowed, because it is large and moving it would copy it.
        let Some(pdu) = &polled else { return Departure::None(self.deadline()) };
        if self.role == Role::Sender {
            let payload = self.endpoint.content(pdu).payload;
            if payload > 0 {
                let probe = &mut probes.forward;
                probe.data_departs(now, self.endpoint.offset(pdu), payload, &self.endpoint.vitals());
            }
        } else if self.role != Role::Receiver {
            self.note_departure(now, pdu, probes);
        }
        if self.log.is_some() {
            self.log_departure(now, pdu);
        }
        let packet = pool.packet(self.spares, pdu, &self.route, self.endpoint.content_origin(now));
        self.sent_bytes += packet.wire_len().get();
        if self.endpoint.may_transmit() { Departure::One(packet) } else { Departure::Last(packet, self.deadline()) }
    }

    fn keep_log(&mut self, mut log: Log) {
        log.prepare(&mut self.endpoint);
        self.log = Some(Box::new(log));
    }

    fn log(&mut self) -> Option<&mut Log> {
        self.log.as_deref_mut()
    }
}

impl<E> End for Bound<E>
where
    E: Endpoint + Send,
    E::Datagram: Pdu + Clone,
{
    fn snapshot(&self, now: Instant) -> Snapshot {
        Snapshot { sent_bytes: self.sent_bytes, ..Snapshot::of(&self.endpoint, &self.application, now) }
    }

    fn record_decisions(&mut self) {
        self.endpoint.record_decisions();
    }
}
