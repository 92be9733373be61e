//! The measurement of one endpoint: passes its packets, arrivals and events to probes and to a log.

use crate::observed::Delivery;
use crate::probe::{FlowProbe, Probes};
use crate::qlog::Log;
use acklab_base::{Bytes, Content, Endpoint, Event, Instant};
use acklab_wire::Pdu;

/// The role of an endpoint in its flow, which determines the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The endpoint sends the data of a flow with data in one direction.
    Sender,
    /// The endpoint receives the data of a flow with data in one direction.
    Receiver,
    /// The endpoint is the end at `from` of a flow with data in both directions. Both directions
    /// are measured.
    AtFrom,
    /// The endpoint is the end at `to` of a flow with data in both directions.
    AtTo,
}

impl Role {
    /// Returns the probe of the data that this end sends.
    fn sent(self, probes: &mut Probes) -> &mut FlowProbe {
        probes.of(u8::from(matches!(self, Self::AtTo)))
    }

    /// Returns the probe of the data that this end receives.
    fn received(self, probes: &mut Probes) -> &mut FlowProbe {
        probes.of(u8::from(matches!(self, Self::AtFrom)))
    }
}

/// Facts about a packet that the endpoint has not accepted yet: see [`EndpointMeter::arriving`].
#[derive(Clone, Copy, Debug)]
pub struct Arriving {
    content: Content,
    /// The number of octets that arrived earlier.
    received: u64,
}

/// The meter of one endpoint.
///
/// # Order of calls
///
/// 1. For each packet that arrives: first [`arriving`](Self::arriving), then the endpoint and its
///    application, then [`arrived`](Self::arrived).
/// 2. After a wake-up of the endpoint and its application, [`woken`](Self::woken).
/// 3. For each packet that the endpoint sends, [`departs`](Self::departs). When it has no more to
///    send, [`rests`](Self::rests).
#[derive(Debug)]
pub struct EndpointMeter {
    role: Role,
    /// IP octets of the packets sent.
    sent_bytes: Bytes,
    log: Option<Box<Log>>,
}

impl EndpointMeter {
    /// Creates the meter of an endpoint with this role.
    #[must_use]
    pub const fn new(role: Role) -> Self {
        Self { role, sent_bytes: Bytes(0), log: None }
    }

    /// Writes the log `log` from now on.
    pub fn keep_log(&mut self, mut log: Log, endpoint: &mut impl Endpoint) {
        log.prepare(endpoint);
        self.log = Some(Box::new(log));
    }

    /// Returns the log that this meter writes.
    pub fn log(&mut self) -> Option<&mut Log> {
        self.log.as_deref_mut()
    }

    /// Returns the IP bytes of the packets sent.
    #[must_use]
    pub const fn sent_bytes(&self) -> u64 {
        self.sent_bytes.get()
    }

    /// Records that `pdu` arrives at the endpoint, which has not accepted it yet.
    #[inline(always)]
    pub fn arriving<E>(&mut self, now: Instant, pdu: &E::Datagram, endpoint: &E) -> Arriving
    where
        E: Endpoint,
        E::Datagram: Pdu,
    {
        if self.log.is_some() {
            self.log_arrival(now, pdu, endpoint);
        }
        let received = if self.role == Role::Sender { 0 } else { endpoint.vitals().received };
        Arriving { content: endpoint.content(pdu), received }
    }

    /// Records that the endpoint has accepted `pdu`, and its application has run.
    #[inline(always)]
    pub fn arrived<E>(
        &mut self,
        now: Instant,
        pdu: &E::Datagram,
        arriving: Arriving,
        delivery: Delivery,
        endpoint: &mut E,
        probes: &mut Probes,
    ) where
        E: Endpoint,
        E::Datagram: Pdu,
    {
        match self.role {
            Role::Sender => {
                let vitals = endpoint.vitals();
                if arriving.content.acknowledges {
                    probes.forward.ack_arrived(now, delivery, &vitals);
                } else {
                    probes.forward.data_written(now, &vitals);
                }
            }
            Role::Receiver => {
                if arriving.content.payload > 0 {
                    let vitals = endpoint.vitals();
                    let fresh = vitals.received - arriving.received;
                    probes.forward.data_arrived(now, delivery.origin, fresh, &vitals, || endpoint.offset(pdu));
                }
            }
            Role::AtFrom | Role::AtTo => self.arrived_both_ways(now, pdu, arriving, delivery, endpoint, probes),
        }
        self.take_events(now, endpoint, probes);
        self.update_log(now, endpoint);
    }

    /// Handles an arriving packet of a flow with data in both directions. The payload belongs to
    /// the direction of the peer's data. The acknowledgment belongs to the direction of this end's
    /// data.
    #[inline(never)]
    fn arrived_both_ways<E: Endpoint>(
        &self,
        now: Instant,
        pdu: &E::Datagram,
        arriving: Arriving,
        delivery: Delivery,
        endpoint: &E,
        probes: &mut Probes,
    ) {
        let vitals = endpoint.vitals();
        if arriving.content.payload > 0 {
            let fresh = vitals.received - arriving.received;
            let received = self.role.received(probes);
            received.data_arrived(now, delivery.origin, fresh, &vitals, || endpoint.offset(pdu));
        }
        let sent = self.role.sent(probes);
        match arriving.content.acknowledges {
            true if endpoint.is_pure_ack(pdu) => sent.ack_arrived(now, delivery, &vitals),
            true => sent.acknowledged(now, &vitals),
            false => sent.data_written(now, &vitals),
        }
    }

    /// Records that the endpoint was woken, and that its application has run. `has_reader` is
    /// `true` if the application does not get all data on arrival, but reads on its own.
    #[inline]
    pub fn woken(&mut self, now: Instant, has_reader: bool, endpoint: &mut impl Endpoint, probes: &mut Probes) {
        match (self.role, has_reader) {
            (Role::Sender, _) => probes.forward.data_written(now, &endpoint.vitals()),
            (Role::Receiver, true) => probes.forward.data_read(now, &endpoint.vitals()),
            (Role::Receiver, false) => {}
            (Role::AtFrom | Role::AtTo, _) => {
                let vitals = endpoint.vitals();
                self.role.received(probes).data_read(now, &vitals);
                self.role.sent(probes).data_written(now, &vitals);
            }
        }
        self.take_events(now, endpoint, probes);
        self.update_log(now, endpoint);
    }

    /// Records that the endpoint sends `pdu` in an IP packet of `wire_len`.
    #[inline(always)]
    pub fn departs<E>(&mut self, now: Instant, pdu: &E::Datagram, wire_len: Bytes, endpoint: &E, probes: &mut Probes)
    where
        E: Endpoint,
        E::Datagram: Pdu,
    {
        self.sent_bytes += wire_len;
        if self.role == Role::Sender {
            let payload = endpoint.content(pdu).payload;
            if payload > 0 {
                probes.forward.data_departs(now, endpoint.offset(pdu), payload, &endpoint.vitals());
            }
        } else if self.role != Role::Receiver {
            self.departs_both_ways(now, pdu, endpoint, probes);
        }
        if self.log.is_some() {
            self.log_departure(now, pdu, endpoint);
        }
    }

    /// Records that the endpoint has nothing more to send for now.
    #[inline(always)]
    pub fn rests(&mut self, now: Instant, endpoint: &mut impl Endpoint, probes: &mut Probes) {
        if self.role != Role::Receiver {
            self.role.sent(probes).limited(now, endpoint.limiting_factor(now));
        }
        // Sending a packet may be an event, such as a tail loss probe.
        self.take_events(now, endpoint, probes);
    }

    #[inline(never)]
    fn departs_both_ways<E: Endpoint>(&self, now: Instant, pdu: &E::Datagram, endpoint: &E, probes: &mut Probes) {
        let payload = endpoint.content(pdu).payload;
        if payload > 0 {
            let sent = self.role.sent(probes);
            sent.data_departs(now, endpoint.offset(pdu), payload, &endpoint.vitals());
        }
    }

    /// Passes the endpoint's events to the probes. Decisions of the ACK policy belong to the
    /// received data, all other events to the sent data.
    #[inline]
    fn take_events(&mut self, now: Instant, endpoint: &mut impl Endpoint, probes: &mut Probes) {
        while let Some(event) = endpoint.take_event() {
            self.record_event(now, event, probes);
        }
    }

    #[inline(never)]
    fn record_event(&mut self, now: Instant, event: Event, probes: &mut Probes) {
        if let Some(log) = &mut self.log {
            log.event(now, event);
        }
        let probe = match event {
            Event::AckDecided { .. } => self.role.received(probes),
            _ => self.role.sent(probes),
        };
        probe.record_event(now, event);
    }

    #[inline(never)]
    fn log_arrival<E>(&mut self, now: Instant, pdu: &E::Datagram, endpoint: &E)
    where
        E: Endpoint,
        E::Datagram: Pdu,
    {
        if let Some(log) = &mut self.log {
            log.received(now, pdu, endpoint);
        }
    }

    #[inline(never)]
    fn log_departure<E>(&mut self, now: Instant, pdu: &E::Datagram, endpoint: &E)
    where
        E: Endpoint,
        E::Datagram: Pdu,
    {
        if let Some(log) = &mut self.log {
            log.sent(now, pdu, endpoint);
        }
    }

    #[inline(always)]
    fn update_log(&mut self, now: Instant, endpoint: &impl Endpoint) {
        if self.log.is_some() {
            self.log_state(now, endpoint);
        }
    }

    #[inline(never)]
    fn log_state(&mut self, now: Instant, endpoint: &impl Endpoint) {
        if let Some(log) = &mut self.log {
            log.update(now, endpoint);
        }
    }
}
