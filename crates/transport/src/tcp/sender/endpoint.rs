//! Vitals, counters and events of the sender.

use super::{Phase, Sender};
use crate::limit::Limit;
use crate::tcp::{content_of, report_octets};
use acklab_base::endpoint::counter;
use acklab_base::{
    Content, CounterValue, Endpoint, Event, Fate, Instant, LimitingFactor, Port, Rate, StreamPort, Vitals,
};
use acklab_wire::tcp::Segment;
use std::ops::Range;

impl Endpoint for Sender {
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
        let (window, rtt) = (self.window(), self.rtt());
        Vitals {
            window: Some(window.cwnd),
            threshold: window.threshold(),
            in_flight: Some(self.in_flight()),
            written: self.written(),
            // The FIN has the sequence number after the last byte.
            acknowledged: self.board.una().min(self.buffer.sendable()),
            received: 0,
            read: Some(0),
            ..rtt.vitals()
        }
    }

    #[inline]
    fn content(&self, segment: &Segment) -> Content {
        content_of(segment)
    }

    #[inline]
    fn offset(&self, segment: &Segment) -> u64 {
        self.offset_of(segment.seq)
    }

    #[inline]
    fn may_transmit(&self) -> bool {
        !self.transmission.is_spent
    }

    fn report_octets(&self, segment: &Segment, to: &mut dyn FnMut(u32, Range<u64>)) {
        report_octets(self, segment, to);
    }

    fn report_counters(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        let counts = self.counters();
        for (name, unit, count) in [
            (counter::DATA_PACKETS, "packets", counts.data_segments),
            (counter::DATA_BYTES, "B", counts.data_bytes),
            (counter::RETRANSMISSIONS, "packets", counts.data_retransmissions),
            (counter::TIMEOUTS, "", counts.timeouts),
            (counter::TAIL_LOSS_PROBES, "", counts.tail_loss_probes),
            (counter::UNDONE_REDUCTIONS, "", counts.undone),
            (counter::ACKS_RECEIVED, "packets", counts.acks),
            (counter::ACKNOWLEDGED_BYTES, "B", counts.acknowledged),
            (counter::RECOVERIES, "", counts.recoveries),
            (counter::RECOVERY_TIME, "ns", counts.recovery_time.as_nanos()),
            (counter::MARK_REDUCTIONS, "", counts.mark_reductions),
            (counter::MARKED_BYTES, "B", counts.marked_bytes),
        ] {
            to(name, unit, CounterValue::Count(count));
        }
    }

    fn record_losses(&mut self) {
        self.records_losses = true;
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Sender::pacing_rate(self)
    }

    /// Returns the limit that ended the last attempt to send.
    #[inline]
    fn limiting_factor(&self, _now: Instant) -> Option<LimitingFactor> {
        if self.connection.phase != Phase::Established {
            return None;
        }
        Some(if self.transmission.paced_until.is_set() {
            LimitingFactor::Pacing
        } else if !self.has_unsent() && !self.board.has_lost_unsent() {
            let is_full = self.buffer.end().is_none() && self.room() == 0;
            if is_full { LimitingFactor::SendBuffer } else { LimitingFactor::Application }
        } else if self.transmission.limited_by_peer {
            LimitingFactor::ReceiveWindow
        } else if self.transmission.limit == Limit::Window {
            LimitingFactor::Window
        } else {
            // A partial segment is held until the application writes more data.
            LimitingFactor::Application
        })
    }

    fn port(&mut self) -> Port<'_> {
        Port::Stream(self)
    }

    #[inline]
    fn take_event(&mut self) -> Option<Event> {
        self.next_event()
    }
}
