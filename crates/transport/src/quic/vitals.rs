//! The state that a connection reports to observers: vitals, counters and events.

use super::connection::{Connection, Phase};
use super::handshake::Parameters;
use super::space;
use crate::streams::Outgoing;
use acklab_base::endpoint::counter;
use acklab_base::{
    Content, CounterValue, Endpoint, Event, Fate, Instant, LimitingFactor, Port, Rate, StreamEvent, Vitals,
};
use acklab_wire::quic::{Datagram, Frame};
use std::ops::Range;

impl Endpoint for Connection {
    #[inline]
    fn accept_borrowed(&mut self, now: Instant, datagram: &Datagram) -> Fate {
        self.input(now, datagram)
    }

    #[inline]
    fn poll_into(&mut self, now: Instant, place: &mut Datagram) -> bool {
        self.next_datagram(now, place)
    }

    #[inline]
    fn vitals(&self) -> Vitals {
        let (estimator, window) = (self.sender.rtt(), self.sender.window());
        let outgoing = || self.data.table().iter().map(|stream| &stream.outgoing);
        Vitals {
            window: Some(window.cwnd),
            threshold: window.threshold(),
            in_flight: Some(self.in_flight()),
            written: outgoing().map(Outgoing::written).sum(),
            acknowledged: outgoing().map(Outgoing::una).sum(),
            received: self.data.table().received,
            read: Some(self.data.delivered()),
            ..estimator.vitals()
        }
    }

    #[inline]
    fn content(&self, datagram: &Datagram) -> Content {
        let mut content = Content { payload: 0, acknowledges: false };
        let mut add = |frame: &Frame| match frame {
            Frame::Stream(stream) => content.payload += u32::from(stream.length),
            Frame::Ack(_) => content.acknowledges = true,
            _ => {}
        };
        datagram.packets.iter().for_each(|packet| packet.frames.iter().for_each(&mut add));
        content
    }

    #[inline]
    fn offset(&self, datagram: &Datagram) -> u64 {
        let offset = |frame: &Frame| if let Frame::Stream(stream) = frame { Some(stream.offset) } else { None };
        datagram.frames().find_map(offset).unwrap_or_else(|| self.data.table().main().outgoing.una())
    }

    fn report_octets(&self, datagram: &Datagram, to: &mut dyn FnMut(u32, Range<u64>)) {
        for frame in datagram.frames() {
            if let Frame::Stream(stream) = frame {
                to(u32::try_from(stream.id).unwrap_or(u32::MAX), stream.offset..stream.end());
            }
        }
    }

    fn record_streams(&mut self) {
        self.data.table_mut().events.record();
    }

    fn take_stream_event(&mut self) -> Option<(u32, StreamEvent)> {
        self.data.table_mut().events.take()
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
        let (sent, expiries, arrived) = (self.sender.counters(), self.sender.expiries(), &self.acks.counters);
        let duplicates = self.spaces.iter().map(|space| space.arrived.duplicates).sum();
        for (name, unit, count) in [
            (counter::DATA_PACKETS, "packets", sent.packets),
            (counter::DATA_BYTES, "B", sent.bytes),
            (counter::RETRANSMISSIONS, "packets", sent.retransmissions),
            (counter::TIMEOUTS, "", expiries.timeouts),
            (counter::TAIL_LOSS_PROBES, "", expiries.probes),
            (counter::MARK_REDUCTIONS, "", self.sender.mark_reductions()),
            (counter::MARKED_BYTES, "B", sent.marked * self.config.datagram),
            (counter::ACKS_RECEIVED, "packets", sent.acks),
            (counter::ACKNOWLEDGED_BYTES, "B", self.data.table().acknowledged()),
            (counter::ARRIVED_PACKETS, "packets", arrived.packets),
            (counter::REORDERED_PACKETS, "packets", arrived.reordered),
            (counter::DUPLICATE_PACKETS, "packets", duplicates),
            (counter::MARKED_PACKETS, "packets", arrived.marked),
            (counter::ACKS_SENT, "packets", self.output.acks()),
            (counter::DELIVERED_BYTES, "B", self.data.delivered()),
            ("datagrams", "packets", self.output.datagrams()),
            ("packets_declared_lost", "packets", sent.lost),
            (counter::NEEDLESS_LOSSES, "packets", sent.spurious),
            (counter::PERSISTENT_CONGESTION, "", sent.persistent),
            (counter::BLACK_HOLES, "", self.mtu.black_holes()),
            (counter::ACK_FREQUENCY_SENT, "", self.requester.sent),
            (counter::ACK_FREQUENCY_RECEIVED, "", arrived.requests),
            (counter::IMMEDIATE_ACK_SENT, "", self.output.immediate_acks()),
            (counter::IMMEDIATE_ACK_RECEIVED, "", arrived.demands),
            (super::input::STRANGER, "packets", self.refused.strangers),
            (super::input::UNREADABLE, "packets", self.refused.unreadable),
        ] {
            to(name, unit, CounterValue::Count(count));
        }
        self.sender.recoveries().report(to);
        let rtt_min = self.sender.rtt().min().map(|rtt| rtt.as_nanos() as f64);
        to("rtt_min", "ns", CounterValue::Gauge(rtt_min));
    }

    fn report_ack_reasons(&self, to: &mut dyn FnMut(&str, u64)) {
        self.acks.acknowledger.report_reasons(to);
    }

    #[inline]
    fn take_event(&mut self) -> Option<Event> {
        let decided = self.acks.acknowledger.take_decision().map(|decided| decided.event());
        decided.or_else(|| self.events.take())
    }

    fn record_decisions(&mut self) {
        self.acks.acknowledger.keep_decisions(true);
    }

    fn report_parameters(&self, to: &mut dyn FnMut(&'static str, u64)) {
        Parameters::of(&self.config).report(to);
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
        Some(if self.data.have_due() {
            match (self.sender.has_room(), self.sender.holds_until(now)) {
                (false, _) => LimitingFactor::Window,
                (true, Some(_)) => LimitingFactor::Pacing,
                (true, None) => LimitingFactor::Application,
            }
        } else if self.data.are_blocked() {
            LimitingFactor::ReceiveWindow
        } else if self.data.table().main().outgoing.is_full() {
            LimitingFactor::SendBuffer
        } else {
            LimitingFactor::Application
        })
    }

    fn port(&mut self) -> Port<'_> {
        Port::Stream(self)
    }
}

impl Connection {
    /// Returns the number of application data packets that this end has sent, from their packet
    /// numbers.
    #[must_use]
    pub fn packets_sent(&self) -> u64 {
        self.sender.next_number(space::Id::Application)
    }
}
