//! An endpoint where it joins the network: what it sends gets a header, and what it does is measured.

use crate::packet::{Packet, Pool, Route, Shelf};
use crate::probe::{FlowProbe, Probes};
use acklab_app::{Reader, Writer};
use acklab_base::{CounterValue, Datagram, Endpoint, Event, Instant};
use acklab_net::Departure;
use acklab_wire::pdu::Pdu;

/// Which end of a flow an endpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The one whose data are measured.
    Sender,
    /// The one that takes them.
    Receiver,
    /// Of a flow with data both ways, which is measured both ways: the one that opens it.
    Opener,
    /// And the one that is opened.
    Answerer,
}

impl End {
    /// What is measured of the data that this end sends.
    fn sends(self, probes: &mut Probes) -> &mut FlowProbe {
        match (self, &mut probes.back) {
            (Self::Answerer, Some(back)) => back,
            _ => &mut probes.there,
        }
    }

    /// And of those that it takes.
    fn takes(self, probes: &mut Probes) -> &mut FlowProbe {
        match (self, &mut probes.back) {
            (Self::Opener, Some(back)) => back,
            _ => &mut probes.there,
        }
    }
}

/// What an application does at one end.
#[derive(Debug)]
pub(crate) enum Application {
    /// It writes.
    Writer(Writer),
    /// It reads at a pace of its own, and may write as well.
    Reader(Box<(Reader, Option<Writer>)>),
    /// Whatever arrives is read at once.
    None,
}

impl Application {
    #[inline]
    fn run(&mut self, now: Instant, endpoint: &mut impl Endpoint) {
        match self {
            Self::Writer(writer) => writer.run(now, endpoint.port()),
            Self::Reader(both) => {
                let (reader, writer) = &mut **both;
                reader.run(now, endpoint.port());
                if let Some(writer) = writer {
                    writer.run(now, endpoint.port());
                }
            }
            Self::None => {}
        }
    }

    #[inline]
    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Writer(writer) => writer.deadline(),
            Self::Reader(both) => {
                let (reader, writer) = &**both;
                Instant::earliest(reader.deadline(), writer.as_ref().and_then(Writer::deadline))
            }
            Self::None => None,
        }
    }
}

/// An endpoint whose transport is not known here.
pub(crate) trait Socket: Send {
    /// A packet has come.
    fn accept(&mut self, now: Instant, packet: Packet, pool: &mut Pool, probes: &mut Probes);

    /// Its deadline has come.
    fn wake(&mut self, now: Instant, probes: &mut Probes);

    /// What leaves it next.
    fn depart(&mut self, now: Instant, pool: &mut Pool, probes: &mut Probes) -> Departure<Packet>;

    /// What it has counted.
    fn tally(&self) -> Tally;

    /// From now on, keep the decisions of its ACK policy.
    fn keep_decisions(&mut self);
}

/// What an endpoint has counted since it began.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) written: u64,
    pub(crate) received: u64,
    pub(crate) delivered: u64,
    pub(crate) rtt_samples: u64,
    pub(crate) readings: Vec<(&'static str, &'static str, CounterValue)>,
    /// Acknowledgments sent, by reason.
    pub(crate) acknowledgments: Vec<(String, u64)>,
}

impl Tally {
    /// What has been counted since `before`, which is of the same endpoint. Gauges are as they are now.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let mut since = self.clone();
        since.written -= before.written;
        since.received -= before.received;
        since.delivered -= before.delivered;
        since.rtt_samples -= before.rtt_samples;
        for ((.., now), (.., before)) in since.readings.iter_mut().zip(&before.readings) {
            if let (CounterValue::Count(now), CounterValue::Count(before)) = (now, before) {
                *now -= before;
            }
        }
        for ((_, now), (_, before)) in since.acknowledgments.iter_mut().zip(&before.acknowledgments) {
            *now -= before;
        }
        since
    }

    /// The counter of this name, if the endpoint has it.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        self.readings.iter().find_map(|(known, _, reading)| match reading {
            CounterValue::Count(count) if *known == name => Some(*count),
            _ => None,
        })
    }

    /// The value of the gauge of this name, if the endpoint has it and it has a value.
    pub(crate) fn gauge(&self, name: &str) -> Option<f64> {
        self.readings.iter().find_map(|(known, _, reading)| match reading {
            CounterValue::Gauge(value) if *known == name => *value,
            _ => None,
        })
    }
}

/// An endpoint, its application and the header of what it sends.
pub(crate) struct Bound<E> {
    endpoint: E,
    application: Application,
    route: Route,
    end: End,
    shelf: Shelf,
}

impl<E> Bound<E>
where
    E: Endpoint,
    E::Datagram: Pdu,
{
    pub(crate) fn new(endpoint: E, application: Application, route: Route, end: End, pool: &mut Pool) -> Self {
        Self { endpoint, application, route, end, shelf: pool.shelf::<E::Datagram>() }
    }

    /// The earlier of what the endpoint and its application wait for.
    #[inline]
    fn deadline(&self) -> Option<Instant> {
        Instant::earliest(self.application.deadline(), self.endpoint.deadline())
    }

    /// A packet has come of which each part belongs to a direction of its own: data to that of the peer, an acknowledgment to that of
    /// this end.
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
            let taken = self.end.takes(probes);
            taken.data_arrived(now, packet.born(), fresh, &vitals, || self.endpoint.offset(pdu));
        }
        let sent = self.end.sends(probes);
        match content.acknowledges {
            true if self.endpoint.is_pure_ack(pdu) => sent.ack_arrived(now, packet, &vitals),
            true => sent.acknowledged(now, &vitals),
            false => sent.wrote(now, &vitals),
        }
        self.note_events(now, probes);
    }

    /// A packet with data leaves one end of a flow that has them both ways.
    #[inline(never)]
    fn note_departure(&self, now: Instant, pdu: &E::Datagram, probes: &mut Probes) {
        let payload = self.endpoint.content(pdu).payload;
        if payload > 0 {
            let sent = self.end.sends(probes);
            sent.data_departs(now, self.endpoint.offset(pdu), payload, &self.endpoint.vitals());
        }
    }

    /// This end has been woken, and its application may have written and read.
    fn note_wake(&mut self, now: Instant, probes: &mut Probes) {
        let vitals = self.endpoint.vitals();
        self.end.takes(probes).read(now, &vitals);
        let sent = self.end.sends(probes);
        sent.wrote(now, &vitals);
        self.note_events(now, probes);
    }

    /// What an ACK policy decides concerns the data that this end takes, all else those that it sends.
    #[inline]
    fn note_events(&mut self, now: Instant, probes: &mut Probes) {
        while let Some(event) = self.endpoint.take_event() {
            self.note_event(now, event, probes);
        }
    }

    #[inline(never)]
    fn note_event(&self, now: Instant, event: Event, probes: &mut Probes) {
        let probe = match event {
            Event::AckDecided { .. } => self.end.takes(probes),
            _ => self.end.sends(probes),
        };
        probe.happened(now, event);
    }
}

impl<E> Socket for Bound<E>
where
    E: Endpoint + Send,
    E::Datagram: Pdu + Clone,
{
    fn accept(&mut self, now: Instant, packet: Packet, pool: &mut Pool, probes: &mut Probes) {
        let Some(pdu) = packet.pdu::<E::Datagram>() else { return };
        let content = self.endpoint.content(pdu);
        match self.end {
            End::Sender => {
                let probe = &mut probes.there;
                self.endpoint.accept_borrowed(now, pdu);
                self.application.run(now, &mut self.endpoint);
                let vitals = self.endpoint.vitals();
                if content.acknowledges {
                    probe.ack_arrived(now, &packet, &vitals);
                } else {
                    probe.wrote(now, &vitals);
                }
                self.note_events(now, probes);
            }
            End::Receiver => {
                let probe = &mut probes.there;
                let before = self.endpoint.vitals().received;
                self.endpoint.accept_borrowed(now, pdu);
                self.application.run(now, &mut self.endpoint);
                if content.payload > 0 {
                    let vitals = self.endpoint.vitals();
                    let fresh = vitals.received - before;
                    probe.data_arrived(now, packet.born(), fresh, &vitals, || self.endpoint.offset(pdu));
                }
                self.note_events(now, probes);
            }
            End::Opener | End::Answerer => self.accept_both_ways(now, &packet, pdu, probes),
        }
        pool.take_back(self.shelf, packet);
    }

    fn wake(&mut self, now: Instant, probes: &mut Probes) {
        self.application.run(now, &mut self.endpoint);
        self.endpoint.wake(now);
        let probe = &mut probes.there;
        match (self.end, &self.application) {
            (End::Sender, _) => probe.wrote(now, &self.endpoint.vitals()),
            (End::Receiver, Application::Reader(_)) => probe.read(now, &self.endpoint.vitals()),
            (End::Receiver, _) => {}
            (End::Opener | End::Answerer, _) => return self.note_wake(now, probes),
        }
        self.note_events(now, probes);
    }

    fn depart(&mut self, now: Instant, pool: &mut Pool, probes: &mut Probes) -> Departure<Packet> {
        let polled = if self.endpoint.may_transmit() { self.endpoint.poll(now) } else { None };
        // Borrowed: a segment is large, and moving it out would copy it.
        let Some(pdu) = &polled else { return Departure::None(self.deadline()) };
        if self.end == End::Sender {
            let payload = self.endpoint.content(pdu).payload;
            if payload > 0 {
                let probe = &mut probes.there;
                probe.data_departs(now, self.endpoint.offset(pdu), payload, &self.endpoint.vitals());
            }
        } else if self.end != End::Receiver {
            self.note_departure(now, pdu, probes);
        }
        let packet = pool.packet(self.shelf, pdu, &self.route, self.endpoint.content_origin(now));
        if self.endpoint.may_transmit() { Departure::One(packet) } else { Departure::Last(packet, self.deadline()) }
    }

    fn tally(&self) -> Tally {
        let vitals = self.endpoint.vitals();
        let mut tally = Tally {
            written: vitals.written,
            received: vitals.received,
            delivered: vitals.read.unwrap_or(vitals.received),
            rtt_samples: vitals.rtt_samples,
            ..Tally::default()
        };
        self.endpoint.report_counters(&mut |name, unit, reading| tally.readings.push((name, unit, reading)));
        self.endpoint.report_ack_reasons(&mut |reason, count| tally.acknowledgments.push((reason.to_owned(), count)));
        tally
    }

    fn keep_decisions(&mut self) {
        self.endpoint.record_decisions();
    }
}
