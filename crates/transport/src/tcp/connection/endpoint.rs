//! Vitals, counters and events of a connection. The sending half reports sent data, and the
//! receiving half received data.

use super::{Connection, Way};
use crate::tcp::report_octets;
use acklab_base::{
    Content, CounterValue, Endpoint, Event, Fate, Instant, LimitingFactor, Port, Rate, StreamEvent, Vitals,
};
use acklab_wire::tcp::Segment;
use std::ops::Range;

impl Endpoint for Connection {
    #[inline]
    fn accept_borrowed(&mut self, now: Instant, segment: &Segment) -> Fate {
        self.input(now, segment)
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
    fn is_pure_ack(&self, segment: &Segment) -> bool {
        acklab_wire::Pdu::is_pure_ack(segment)
    }

    #[inline]
    fn offset(&self, segment: &Segment) -> u64 {
        match self.last {
            Way::In => self.receiving.offset(segment),
            Way::Out | Way::OutAck => self.sending.offset(segment),
        }
    }

    fn report_octets(&self, segment: &Segment, to: &mut dyn FnMut(u32, Range<u64>)) {
        report_octets(self, segment, to);
    }

    fn record_streams(&mut self) {
        self.stream_events.record();
    }

    fn take_stream_event(&mut self) -> Option<(u32, StreamEvent)> {
        self.stream_events.take()
    }

    #[inline]
    fn content_origin(&self, now: Instant) -> Instant {
        match self.last {
            Way::OutAck => self.receiving.content_origin(now),
            Way::In | Way::Out => self.sending.content_origin(now),
        }
    }

    fn report_counters(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        self.sending.report_counters(to);
        self.receiving.report_counters(to);
    }

    fn report_ack_reasons(&self, to: &mut dyn FnMut(&str, u64)) {
        self.receiving.report_ack_reasons(to);
    }

    #[inline]
    fn take_event(&mut self) -> Option<Event> {
        self.sending.take_event().or_else(|| self.receiving.take_event())
    }

    fn record_decisions(&mut self) {
        self.receiving.record_decisions();
    }

    fn record_losses(&mut self) {
        self.sending.record_losses();
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Endpoint::pacing_rate(&self.sending)
    }

    #[inline]
    fn limiting_factor(&self, now: Instant) -> Option<LimitingFactor> {
        self.sending.limiting_factor(now)
    }

    fn port(&mut self) -> Port<'_> {
        Port::Stream(self)
    }
}
