//! Vitals, counters and events of the receiver.

use super::Receiver;
use crate::tcp::{content_of, report_octets};
use acklab_base::endpoint::counter;
use acklab_base::{Content, CounterValue, Endpoint, Event, Fate, Instant, Port, Vitals};
use acklab_wire::tcp::Segment;
use std::ops::Range;

impl Endpoint for Receiver {
    #[inline]
    fn accept_borrowed(&mut self, now: Instant, segment: &Segment) -> Fate {
        self.input(now, segment)
    }

    #[inline(always)]
    fn poll_into(&mut self, now: Instant, place: &mut Segment) -> bool {
        self.write_next(now, place)
    }

    #[inline]
    fn vitals(&self) -> Vitals {
        Vitals { received: self.received(), read: Some(self.delivered()), ..Vitals::default() }
    }

    #[inline]
    fn content(&self, segment: &Segment) -> Content {
        content_of(segment)
    }

    #[inline]
    fn offset(&self, segment: &Segment) -> u64 {
        self.offset_of(segment.seq)
    }

    fn report_octets(&self, segment: &Segment, to: &mut dyn FnMut(u32, Range<u64>)) {
        report_octets(self, segment, to);
    }

    #[inline]
    fn content_origin(&self, _now: Instant) -> Instant {
        self.newest_arrival()
    }

    #[inline]
    fn may_transmit(&self) -> bool {
        self.owes_now()
    }

    fn report_counters(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        let counts = self.counters();
        for (name, unit, count) in [
            (counter::ARRIVED_PACKETS, "packets", counts.data_segments - counts.duplicates),
            (counter::DUPLICATE_PACKETS, "packets", counts.duplicates),
            (counter::MARKED_PACKETS, "packets", counts.marked),
            (counter::ACKS_SENT, "packets", counts.acks_sent()),
            (counter::DELIVERED_BYTES, "B", self.delivered()),
        ] {
            to(name, unit, CounterValue::Count(count));
        }
    }

    fn record_decisions(&mut self) {
        self.acknowledger.keep_decisions(true);
    }

    #[inline]
    fn take_event(&mut self) -> Option<Event> {
        self.acknowledger.take_decision().map(|decided| decided.event())
    }

    fn port(&mut self) -> Port<'_> {
        Port::Stream(self)
    }

    fn report_ack_reasons(&self, to: &mut dyn FnMut(&str, u64)) {
        self.acknowledger.report_reasons(to);
    }
}
