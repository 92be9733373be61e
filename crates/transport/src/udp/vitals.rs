//! Vitals and counters of both ends, for observers.

use super::{Receiver, Sender};
use acklab_base::endpoint::counter;
use acklab_base::{Bytes, Content, CounterValue, Endpoint, Instant, LimitingFactor, Port, Vitals};
use acklab_wire::udp::UserDatagram;

/// Returns the offset of a datagram among all bytes of its flow, as if all datagrams were
/// full-sized. A datagram does not contain the lengths of the previous datagrams.
fn offset_of(datagram: &UserDatagram, full: Bytes) -> u64 {
    (datagram.number - 1) * full.get().max(u64::from(datagram.payload))
}

const fn content_of(datagram: &UserDatagram) -> Content {
    Content { payload: datagram.payload, acknowledges: false }
}

impl Endpoint for Sender {
    #[inline]
    fn vitals(&self) -> Vitals {
        Vitals { written: self.written(), ..Vitals::default() }
    }

    #[inline]
    fn content(&self, datagram: &UserDatagram) -> Content {
        content_of(datagram)
    }

    #[inline]
    fn offset(&self, datagram: &UserDatagram) -> u64 {
        offset_of(datagram, self.full())
    }

    /// Only the application decides when a datagram is sent.
    fn limiting_factor(&self, _now: Instant) -> Option<LimitingFactor> {
        Some(LimitingFactor::Application)
    }

    fn port(&mut self) -> Port<'_> {
        Port::Datagram(self)
    }

    fn report_counters(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        to(counter::DATA_PACKETS, "packets", CounterValue::Count(self.counters().datagrams));
        to(counter::DATA_BYTES, "B", CounterValue::Count(self.counters().bytes));
    }
}

impl Endpoint for Receiver {
    #[inline]
    fn vitals(&self) -> Vitals {
        Vitals { received: self.counters().bytes, ..Vitals::default() }
    }

    #[inline]
    fn content(&self, datagram: &UserDatagram) -> Content {
        content_of(datagram)
    }

    #[inline]
    fn offset(&self, datagram: &UserDatagram) -> u64 {
        offset_of(datagram, self.full())
    }

    fn port(&mut self) -> Port<'_> {
        if self.is_read() { Port::Datagram(self) } else { Port::None }
    }

    /// The receiver sends no response.
    #[inline]
    fn may_transmit(&self) -> bool {
        false
    }

    fn report_counters(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        let counts = self.counters();
        for (name, unit, count) in [
            (counter::ARRIVED_PACKETS, "packets", counts.datagrams),
            (counter::DELIVERED_BYTES, "B", counts.bytes),
            (counter::PASSED_OVER_PACKETS, "packets", counts.passed_over),
            (counter::REORDERED_PACKETS, "packets", counts.reordered),
            (counter::DUPLICATE_PACKETS, "packets", counts.duplicates),
        ] {
            to(name, unit, CounterValue::Count(count));
        }
        to(counter::JITTER, "ns", CounterValue::Gauge(self.jitter()));
    }
}
