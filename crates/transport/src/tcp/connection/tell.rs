//! Vitals, counters and events of a connection: those of data sent from its sending half, those of data received from its receiving half.

use super::{Connection, Way};
use acklab_base::{Content, Endpoint, Event, Instant, Port, Reading, Vitals};
use acklab_wire::tcp::Segment;

impl Endpoint for Connection {
    #[inline]
    fn accept_borrowed(&mut self, now: Instant, segment: &Segment) {
        self.input(now, segment);
    }

    #[inline]
    fn vitals(&self) -> Vitals {
        let receiving = self.receiving.vitals();
        Vitals { received: receiving.received, read: receiving.read, ..self.sending.vitals() }
    }

    #[inline]
    fn content(&self, segment: &Segment) -> Content {
        self.sending.content(segment)
    }

    #[inline]
    fn offset(&self, segment: &Segment) -> u64 {
        match self.last {
            Way::In => self.receiving.offset(segment),
            Way::Out | Way::OutAck => self.sending.offset(segment),
        }
    }

    #[inline]
    fn told(&self, now: Instant) -> Instant {
        match self.last {
            Way::OutAck => self.receiving.told(now),
            Way::In | Way::Out => self.sending.told(now),
        }
    }

    fn tell(&self, to: &mut dyn FnMut(&'static str, &'static str, Reading)) {
        self.sending.tell(to);
        self.receiving.tell(to);
    }

    fn tell_acknowledgments(&self, to: &mut dyn FnMut(&str, u64)) {
        self.receiving.tell_acknowledgments(to);
    }

    #[inline]
    fn take_event(&mut self) -> Option<Event> {
        self.sending.take_event().or_else(|| self.receiving.take_event())
    }

    fn tell_decisions(&mut self) {
        self.receiving.tell_decisions();
    }

    fn port(&mut self) -> Port<'_> {
        Port::Stream(self)
    }
}
