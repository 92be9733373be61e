//! A performance enhancing proxy between two connections of a flow (RFC 3135, §2.4). It reads from
//! one connection and writes the data to the next.

use super::{Application, Bound, Socket};
use crate::packet::{Packet, Pool, Route};
use crate::scenario::Handshake;
use acklab_base::{Datagram, Endpoint, FlowKey, Instant, Port, Vitals};
use acklab_measure::flow::End;
use acklab_measure::relay::Relayed;
use acklab_measure::statistics::OverTime;
use acklab_measure::{FlowProbe, Probes, Role, Snapshot};
use acklab_net::Departure;
use acklab_wire::pdu::Pdu;

/// The two ends at a proxy, independent of their transport.
pub(crate) trait Relay: Send {
    /// Accepts a packet of either connection.
    fn accept(&mut self, now: Instant, packet: Packet, pool: &mut Pool);

    /// Handles the expiry of the deadline of either end.
    fn wake(&mut self, now: Instant);

    /// Returns the next packet that either end sends.
    fn depart(&mut self, now: Instant, pool: &mut Pool) -> Departure<Packet>;

    /// Begins the measurement window.
    fn open(&mut self, now: Instant);

    /// Ends the measurement window.
    fn close(&mut self, until: Instant) -> Relayed;
}

/// The two ends at a proxy.
pub(crate) struct Spliced<R, S> {
    handshake: Handshake,
    arriving: Bound<R>,
    leaving: Bound<S>,
    /// The flow key of the packets with data that arrive at the proxy.
    arriving_key: FlowKey,
    /// The SYN that is unanswered until the connection behind the proxy is open.
    syn: Option<Packet>,
    /// `true` if the proxy has forwarded the end of the stream.
    is_closed: bool,
    probes: [Probes; 2],
    before: [Snapshot; 2],
    held: OverTime,
    most_held: u64,
}

impl<R, S> Spliced<R, S>
where
    R: Endpoint + Send,
    S: Endpoint + Send,
    R::Datagram: Pdu + Clone,
    S::Datagram: Pdu + Clone,
{
    /// Creates a proxy between `arriving` and `leaving`. Their packets have these routes. `probe`
    /// is a probe that has not started.
    pub(crate) fn new(
        handshake: Handshake,
        (arriving, leaving): (R, S),
        routes: [Route; 2],
        arriving_key: FlowKey,
        probe: &FlowProbe,
        pool: &mut Pool,
    ) -> Self {
        let [back, on] = routes;
        let arriving = Bound::new(arriving, Application::None, back, Role::Receiver, pool);
        let leaving = Bound::new(leaving, Application::None, on, Role::Sender, pool);
        let before = [arriving.snapshot(Instant::ZERO), leaving.snapshot(Instant::ZERO)];
        let probes = || Probes { forward: probe.clone(), reverse: None };
        Self {
            handshake,
            arriving,
            leaving,
            arriving_key,
            syn: None,
            is_closed: false,
            probes: [probes(), probes()],
            before,
            held: OverTime::default(),
            most_held: 0,
        }
    }

    fn is_open_before(&mut self) -> bool {
        matches!(self.arriving.endpoint.port(), Port::Stream(port) if port.is_open())
    }

    fn is_open_behind(&mut self) -> bool {
        matches!(self.leaving.endpoint.port(), Port::Stream(port) if port.is_open())
    }

    /// Opens the connection behind the proxy when the connection before it opens. Then forwards the
    /// available data, and finally the end of the stream.
    fn transfer(&mut self, now: Instant) {
        if let (Port::Stream(from), Port::Stream(to)) = (self.arriving.endpoint.port(), self.leaving.endpoint.port()) {
            if from.is_open() || self.syn.is_some() {
                to.open(now);
            }
            if to.is_open() && !self.is_closed {
                let most = from.readable().min(to.room());
                if most > 0 {
                    let read = from.read(now, most);
                    to.write(now, read);
                }
                if from.is_at_end() {
                    to.close(now);
                    self.is_closed = true;
                }
            }
        }
        self.note_held(now);
    }

    fn note_held(&mut self, now: Instant) {
        let behind = self.leaving.endpoint.vitals();
        let held = self.arriving.endpoint.vitals().received - behind.acknowledged;
        self.held.set(now, held as f64);
        self.most_held = self.most_held.max(held);
        // For the proxy, bytes are delivered when the receiver behind it has acknowledged them.
        let [_, Probes { forward: probe, .. }] = &mut self.probes;
        probe.data_written(now, &behind);
        probe.data_read(now, &Vitals { read: Some(behind.acknowledged), ..behind });
    }
}

impl<R, S> Relay for Spliced<R, S>
where
    R: Endpoint + Send,
    S: Endpoint + Send,
    R::Datagram: Pdu + Clone,
    S::Datagram: Pdu + Clone,
{
    fn accept(&mut self, now: Instant, packet: Packet, pool: &mut Pool) {
        if packet.flow() != self.arriving_key {
            self.leaving.accept(now, packet, pool, &mut self.probes[1]);
            if self.is_open_behind()
                && let Some(syn) = self.syn.take()
            {
                self.arriving.accept(now, syn, pool, &mut self.probes[0]);
            }
        } else if self.handshake == Handshake::EndToEnd && !self.is_open_before() && !self.is_open_behind() {
            // Until its SYN is answered, the peer sends only SYNs.
            self.syn = Some(packet);
        } else {
            self.arriving.accept(now, packet, pool, &mut self.probes[0]);
        }
        self.transfer(now);
    }

    fn wake(&mut self, now: Instant) {
        let [before, behind] = &mut self.probes;
        self.arriving.wake(now, before);
        self.leaving.wake(now, behind);
        self.transfer(now);
    }

    fn depart(&mut self, now: Instant, pool: &mut Pool) -> Departure<Packet> {
        let [before, behind] = &mut self.probes;
        let deadline = match self.arriving.depart(now, pool, before) {
            // The other end may also have packets to send.
            Departure::One(packet) | Departure::Last(packet, _) => return Departure::One(packet),
            Departure::None(deadline) => deadline,
        };
        match self.leaving.depart(now, pool, behind) {
            Departure::One(packet) => Departure::One(packet),
            Departure::Last(packet, other) => Departure::Last(packet, Instant::earliest(deadline, other)),
            Departure::None(other) => Departure::None(Instant::earliest(deadline, other)),
        }
    }

    fn open(&mut self, now: Instant) {
        self.before = [self.arriving.snapshot(now), self.leaving.snapshot(now)];
        for (probes, before) in self.probes.iter_mut().zip(&self.before) {
            probes.forward.open(now, before.rtt_samples);
        }
        self.held = self.held.reopened(now);
        self.most_held = 0;
    }

    fn close(&mut self, until: Instant) -> Relayed {
        self.probes.iter_mut().for_each(|probes| probes.forward.close(until));
        self.held.finish(until);
        let [before, behind] = &self.probes;
        Relayed {
            arriving: self.arriving.snapshot(until).since(&self.before[0]),
            leaving: self.leaving.snapshot(until).since(&self.before[1]),
            arriving_probe: before.forward.clone(),
            leaving_probe: behind.forward.clone(),
            held: self.held,
            most_held: self.most_held,
        }
    }
}
