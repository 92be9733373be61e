//! The state that a connection reports to observers: vitals, counters and events.

use super::connection::{Connection, Phase};
use acklab_base::endpoint::counter;
use acklab_base::{
    Content, CounterValue, Endpoint, Event, Fate, Instant, LimitingFactor, Port, Rate, StreamEvent, Vitals,
};
use acklab_wire::tack::{Frame, Packet};
use std::ops::Range;

impl Endpoint for Connection {
    #[inline]
    fn accept_borrowed(&mut self, now: Instant, packet: &Packet) -> Fate {
        self.input(now, packet)
    }

    #[inline]
    fn vitals(&self) -> Vitals {
        let (estimator, window) = (self.sender.round_trips().estimator(), self.sender.window());
        let main = self.streams.table.main();
        Vitals {
            window: Some(window.cwnd),
            threshold: window.threshold(),
            in_flight: Some(self.sender.in_flight()),
            written: self.streams.written(),
            acknowledged: main.outgoing.una(),
            received: self.streams.table.received,
            read: (!self.streams.has_messages()).then(|| self.streams.table.delivered()),
            ..estimator.vitals()
        }
    }

    #[inline]
    fn content(&self, packet: &Packet) -> Content {
        let payload = packet.frames.payload();
        Content { payload, acknowledges: payload == 0 && packet.acknowledges() }
    }

    #[inline]
    fn offset(&self, packet: &Packet) -> u64 {
        let offset = |frame: &Frame| if let Frame::Stream(stream) = frame { Some(stream.offset) } else { None };
        packet.frames.iter().find_map(offset).unwrap_or_else(|| self.streams.table.main().outgoing.una())
    }

    fn report_octets(&self, packet: &Packet, to: &mut dyn FnMut(u32, Range<u64>)) {
        for frame in packet.frames.iter() {
            if let Frame::Stream(stream) = frame {
                to(stream.id, stream.offset..stream.end());
            }
        }
    }

    fn record_streams(&mut self) {
        self.streams.table.events.record();
    }

    fn take_stream_event(&mut self) -> Option<(u32, StreamEvent)> {
        self.streams.table.events.take()
    }

    #[inline]
    fn content_origin(&self, _now: Instant) -> Instant {
        self.output.told()
    }

    #[inline]
    fn may_transmit(&self) -> bool {
        !self.output.is_idle()
    }

    fn report_counters(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        let (sent, expiries) = (self.sender.counters(), self.sender.expiries());
        let arrived = &self.receiver.counters;
        let late = self.receiver.loss().counters();
        for (name, unit, count) in [
            (counter::DATA_PACKETS, "packets", sent.packets),
            (counter::DATA_BYTES, "B", sent.bytes),
            (counter::RETRANSMISSIONS, "packets", sent.retransmissions),
            (counter::TIMEOUTS, "", expiries.timeouts),
            (counter::TAIL_LOSS_PROBES, "", expiries.probes),
            (counter::ACKS_RECEIVED, "packets", sent.acks),
            (counter::ACKNOWLEDGED_BYTES, "B", self.streams.table.acknowledged()),
            (counter::ARRIVED_PACKETS, "packets", arrived.packets),
            (counter::MARKED_PACKETS, "packets", arrived.ecn.ce.into()),
            (counter::MARKED_BYTES, "B", sent.marked * self.settings.mss()),
            (counter::MARK_REDUCTIONS, "", self.sender.mark_reductions()),
            (counter::ACKS_SENT, "packets", self.output.acks()),
            (counter::DELIVERED_BYTES, "B", self.streams.table.delivered()),
            ("tacks", "packets", arrived.tacks),
            ("loss_iacks", "", arrived.loss_iacks),
            ("packets_declared_lost", "packets", late.lost),
            (counter::NEEDLESS_LOSSES, "packets", late.late),
            (counter::BLACK_HOLES, "", sent.black_holes),
        ] {
            to(name, unit, CounterValue::Count(count));
        }
        self.sender.recoveries().report(to);
        for (name, count) in self.refusals.iter() {
            to(name, "", CounterValue::Count(count));
        }
        let rtt_min = self.sender.rtt_min().map(|rtt| rtt.as_nanos() as f64);
        to("rtt_min", "ns", CounterValue::Gauge(rtt_min));
        to("ack_loss", "", CounterValue::Gauge(Some(self.sender.ack_loss())));
    }

    fn report_ack_reasons(&self, to: &mut dyn FnMut(&str, u64)) {
        self.receiver.acknowledger.report_reasons(to);
    }

    #[inline]
    fn take_event(&mut self) -> Option<Event> {
        let decided = self.receiver.acknowledger.take_decision().map(|decided| decided.event());
        decided.or_else(|| self.events.take())
    }

    fn record_decisions(&mut self) {
        self.receiver.acknowledger.keep_decisions(true);
    }

    fn record_losses(&mut self) {
        self.events.record_losses();
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.sender.pacing_rate()
    }

    #[inline]
    fn limiting_factor(&self, now: Instant) -> Option<LimitingFactor> {
        if self.phase != Phase::Established {
            return None;
        }
        let main = &self.streams.table.main().outgoing;
        Some(if self.streams.have_due() {
            match (self.sender.has_room(), self.sender.holds_until(now)) {
                (false, _) => LimitingFactor::Window,
                (true, Some(_)) => LimitingFactor::Pacing,
                (true, None) => LimitingFactor::Application,
            }
        } else if self.streams.are_blocked() {
            LimitingFactor::ReceiveWindow
        } else if main.is_full() {
            LimitingFactor::SendBuffer
        } else {
            LimitingFactor::Application
        })
    }

    fn port(&mut self) -> Port<'_> {
        Port::Stream(self)
    }
}
