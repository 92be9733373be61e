//! Connects an endpoint with the network. Adds the IP header to the endpoint's packets, runs its
//! application, and reports to the probes.

mod application;
mod pattern;
mod relay;

pub(crate) use application::Application;
pub(crate) use pattern::Pattern;
pub(crate) use relay::{Relay, Spliced};

use crate::packet::{Packet, Pool, Route, SpareList};
use acklab_base::{Datagram as _, Endpoint, Instant, Vitals};
use acklab_measure::flow::End;
use acklab_measure::qlog::Log;
use acklab_measure::{Delivery, EndpointMeter, Probes, Role, Snapshot};
use acklab_net::Departure;
use acklab_wire::IpPacket;
use acklab_wire::ipv4::Ipv4Fields;
use acklab_wire::pdu::{EncodeError, Pdu};

/// An endpoint at a port of the network, for any transport.
pub(crate) trait Socket: End {
    /// Accepts a delivered packet.
    fn accept(&mut self, now: Instant, packet: Packet, pool: &mut Pool, probes: &mut Probes);

    /// Handles the expiry of the deadline.
    fn wake(&mut self, now: Instant, probes: &mut Probes);

    /// Returns the next packet to send.
    fn depart(&mut self, now: Instant, pool: &mut Pool, probes: &mut Probes) -> Departure<Packet>;

    /// Accepts a delivered packet. Returns the first packet to send after it.
    fn exchange(&mut self, now: Instant, packet: Packet, pool: &mut Pool, probes: &mut Probes) -> Departure<Packet>;

    /// Encodes `packet`, which the endpoint has just sent, as an IP packet in `octets`. The
    /// packet's streams contain the bytes of `pattern`.
    ///
    /// # Errors
    /// If the content does not fit into an IP packet. `octets` is then empty.
    fn encode(
        &self,
        packet: Packet,
        pattern: Pattern,
        pool: &mut Pool,
        octets: &mut Vec<u8>,
    ) -> Result<(), EncodeError>;

    /// Accepts an IP packet whose content has the origin time `origin`. Returns `false` if the
    /// packet does not belong to this transport, or if its streams contain bytes other than those
    /// of `pattern`.
    fn accept_octets(
        &mut self,
        now: Instant,
        packet: (&IpPacket, Instant),
        pattern: Pattern,
        pool: &mut Pool,
        probes: &mut Probes,
    ) -> bool;

    /// Returns the state of the endpoint.
    fn vitals(&self) -> Vitals;

    /// Writes the log `log` from now on.
    fn keep_log(&mut self, log: Log);

    /// Returns the endpoint's log, if it writes one.
    fn log(&mut self) -> Option<&mut Log>;
}

/// An endpoint with its application and the IP header of its packets.
pub(crate) struct Bound<E> {
    endpoint: E,
    application: Application,
    route: Route,
    meter: EndpointMeter,
    spares: SpareList,
}

impl<E> Bound<E>
where
    E: Endpoint,
    E::Datagram: Pdu + Clone,
{
    pub(crate) fn new(endpoint: E, application: Application, route: Route, role: Role, pool: &mut Pool) -> Self {
        Self { endpoint, application, route, meter: EndpointMeter::new(role), spares: pool.spares::<E::Datagram>() }
    }

    /// Returns the earlier deadline of the endpoint and its application.
    #[inline]
    fn deadline(&self) -> Option<Instant> {
        Instant::earliest(self.application.deadline(), self.endpoint.deadline())
    }

    /// Accepts a delivered packet. Returns the packet for reuse by the next departure, unless it
    /// belongs to another transport.
    #[inline(always)]
    fn take(&mut self, now: Instant, packet: Packet, probes: &mut Probes) -> Option<Packet> {
        let pdu = packet.pdu::<E::Datagram>()?;
        let arriving = self.meter.arriving(now, pdu, &self.endpoint);
        self.endpoint.accept_borrowed(now, pdu);
        self.application.run(now, &mut self.endpoint);
        self.meter.arrived(now, pdu, arriving, Delivery::of(&packet), &mut self.endpoint, probes);
        Some(packet)
    }

    /// Returns the next packet to send, in the memory of `spare` if present.
    #[inline(always)]
    fn give(&mut self, now: Instant, spare: Option<Packet>, pool: &mut Pool, probes: &mut Probes) -> Departure<Packet> {
        let Self { endpoint, meter, route, spares, .. } = self;
        let packet = if endpoint.may_transmit() {
            pool.poll(*spares, spare, now, endpoint, route)
        } else {
            if let Some(spare) = spare {
                pool.take_back(*spares, spare);
            }
            None
        };
        let Some(packet) = packet else {
            meter.rests(now, endpoint, probes);
            return Departure::None(self.deadline());
        };
        if let Some(pdu) = packet.pdu() {
            meter.departs(now, pdu, packet.wire_len(), endpoint, probes);
        }
        if endpoint.may_transmit() {
            return Departure::One(packet);
        }
        meter.rests(now, endpoint, probes);
        Departure::Last(packet, self.deadline())
    }
}

impl<E> Socket for Bound<E>
where
    E: Endpoint + Send,
    E::Datagram: Pdu + Clone,
{
    fn accept(&mut self, now: Instant, packet: Packet, pool: &mut Pool, probes: &mut Probes) {
        if let Some(packet) = self.take(now, packet, probes) {
            pool.take_back(self.spares, packet);
        }
    }

    fn wake(&mut self, now: Instant, probes: &mut Probes) {
        self.application.run(now, &mut self.endpoint);
        self.endpoint.wake(now);
        let has_reader = matches!(self.application, Application::Reader(_));
        self.meter.woken(now, has_reader, &mut self.endpoint, probes);
    }

    fn depart(&mut self, now: Instant, pool: &mut Pool, probes: &mut Probes) -> Departure<Packet> {
        self.give(now, None, pool, probes)
    }

    fn exchange(&mut self, now: Instant, packet: Packet, pool: &mut Pool, probes: &mut Probes) -> Departure<Packet> {
        let spare = self.take(now, packet, probes);
        self.give(now, spare, pool, probes)
    }

    fn encode(
        &self,
        packet: Packet,
        pattern: Pattern,
        pool: &mut Pool,
        octets: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        octets.clear();
        let Some(pdu) = packet.pdu::<E::Datagram>() else { return Ok(()) };
        let mut carried = Vec::with_capacity(pdu.payload() as usize);
        self.endpoint.report_octets(pdu, &mut |stream, range| pattern.append(stream, range, &mut carried));
        let Route { endpoints, dscp, version, .. } = self.route;
        let done = pdu.encode_with(&carried, endpoints, Ipv4Fields { dscp, ..Ipv4Fields::default() }, octets);
        version.convert(octets);
        pool.take_back(self.spares, packet);
        done
    }

    fn accept_octets(
        &mut self,
        now: Instant,
        (packet, origin): (&IpPacket, Instant),
        pattern: Pattern,
        pool: &mut Pool,
        probes: &mut Probes,
    ) -> bool {
        let mut carried = Vec::with_capacity(packet.payload());
        let Some(pdu) = E::Datagram::decode(packet, &mut carried) else { return false };
        let arrived = pool.packet(self.spares, pdu.clone(), &self.route, origin);
        self.accept(now, arrived, pool, probes);
        let (mut rest, mut is_whole) = (carried.as_slice(), true);
        self.endpoint.report_octets(&pdu, &mut |stream, range| {
            let (own, behind) = rest.split_at(rest.len().min((range.end - range.start) as usize));
            is_whole &= own.len() as u64 == range.end - range.start && pattern.is(stream, range.start, own);
            rest = behind;
        });
        is_whole && rest.is_empty()
    }

    fn vitals(&self) -> Vitals {
        self.endpoint.vitals()
    }

    fn keep_log(&mut self, log: Log) {
        self.meter.keep_log(log, &mut self.endpoint);
    }

    fn log(&mut self) -> Option<&mut Log> {
        self.meter.log()
    }
}

impl<E> End for Bound<E>
where
    E: Endpoint + Send,
    E::Datagram: Pdu + Clone,
{
    fn snapshot(&self, now: Instant) -> Snapshot {
        let mut snapshot = Snapshot::of(&self.endpoint, self.meter.sent_bytes());
        snapshot.objects = self.application.objects().to_vec();
        let counters = &mut snapshot.counters;
        self.application.report_counters(now, &mut |name, unit, value| counters.push((name, unit, value)));
        snapshot
    }

    fn record_decisions(&mut self) {
        self.endpoint.record_decisions();
    }
}
