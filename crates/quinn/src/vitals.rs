//! The observable state of the connection: vitals, counters, events.

use crate::connection::Connection;
use crate::datagram::Datagram;
use crate::time::duration;
use crate::watch::STREAM;
use acklab_base::endpoint::counter;
use acklab_base::{
    Content, CounterValue, Endpoint, Event, Fate, Instant, LimitingFactor, Machine, Port, StreamEvent, Vitals,
};
use acklab_wire::quic::Frame;
use std::ops::Range;

impl Machine for Connection {
    type Datagram = Datagram;
    type Outcome = Fate;

    fn accept(&mut self, now: Instant, datagram: Datagram) -> Fate {
        self.input(now, &datagram)
    }

    fn wake(&mut self, now: Instant) {
        self.is_idle = false;
        self.expire(now);
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn poll(&mut self, now: Instant) -> Option<Datagram> {
        self.output(now)
    }
}

impl Endpoint for Connection {
    fn accept_borrowed(&mut self, now: Instant, datagram: &Datagram) -> Fate {
        self.input(now, datagram)
    }

    fn vitals(&self) -> Vitals {
        let connection = self.connection.as_ref().map(|(_, connection)| connection);
        let (rtt_samples, latest_rtt) = self.sender.rtt_samples();
        let metrics = connection.map(|connection| connection.congestion_state().metrics());
        let (window, threshold) = match self.sender.congestion() {
            Some(congestion) => (Some(congestion.window().cwnd), congestion.window().threshold()),
            None => (
                metrics.as_ref().map(|metrics| metrics.congestion_window),
                metrics.as_ref().and_then(|metrics| metrics.ssthresh).filter(|threshold| *threshold != u64::MAX),
            ),
        };
        Vitals {
            window,
            threshold,
            in_flight: Some(self.sender.in_flight()),
            rtt_samples,
            latest_rtt,
            smoothed_rtt: connection.filter(|_| rtt_samples > 0).map(|connection| duration(connection.rtt())),
            written: self.outgoing.buffer.written(),
            acknowledged: self.sender.acknowledged().next(),
            received: self.incoming.octets.received(),
            read: Some(self.incoming.read),
        }
    }

    fn content(&self, datagram: &Datagram) -> Content {
        let payload = datagram.payload;
        Content { payload, acknowledges: payload == 0 && datagram.acknowledges }
    }

    fn offset(&self, datagram: &Datagram) -> u64 {
        datagram.offset.unwrap_or_else(|| self.sender.acknowledged().next())
    }

    fn report_octets(&self, datagram: &Datagram, to: &mut dyn FnMut(u32, Range<u64>)) {
        for frame in datagram.packets().iter().flat_map(|packet| packet.frames.iter()) {
            if let Frame::Stream(stream) = frame {
                to(STREAM, stream.offset..stream.end());
            }
        }
    }

    fn record_streams(&mut self) {
        self.stream_events.record();
    }

    fn take_stream_event(&mut self) -> Option<(u32, StreamEvent)> {
        self.stream_events.take()
    }

    fn content_origin(&self, now: Instant) -> Instant {
        if self.last_carried_data { now } else { self.newest_arrival }
    }

    fn may_transmit(&self) -> bool {
        !self.is_idle
    }

    fn report_counters(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue)) {
        let (sent, count) = (self.sender.counters(), &self.counters);
        let stats = self.connection.as_ref().map(|(_, connection)| connection.stats()).unwrap_or_default();
        for (name, unit, value) in [
            (counter::DATA_PACKETS, "packets", sent.data_packets),
            (counter::DATA_BYTES, "B", sent.data_bytes),
            (counter::RETRANSMISSIONS, "packets", sent.retransmissions),
            (counter::ACKNOWLEDGED_BYTES, "B", self.sender.acknowledged().received()),
            (counter::ACKS_RECEIVED, "packets", count.acks_received),
            (counter::ACKS_SENT, "packets", count.acks_sent),
            (counter::ARRIVED_PACKETS, "packets", count.arrived_packets),
            (counter::MARKED_PACKETS, "packets", count.marked_packets),
            (counter::DELIVERED_BYTES, "B", self.incoming.read),
            ("packets", "packets", count.packets),
            (counter::ACK_FRAMES_SENT, "", count.ack_frames_sent),
            ("ack_frames_received", "", count.ack_frames_received),
            ("udp_bytes", "B", count.udp_bytes),
            ("overhead_bytes", "B", count.overhead_bytes),
            ("handshake_bytes", "B", count.handshake_bytes),
            ("packets_declared_lost", "packets", sent.lost),
            (counter::NEEDLESS_LOSSES, "packets", sent.lost_needlessly),
            ("ack_frames_with_marks", "", sent.marks),
            (counter::ACK_FREQUENCY_SENT, "", stats.frame_tx.ack_frequency),
            (counter::ACK_FREQUENCY_RECEIVED, "", stats.frame_rx.ack_frequency),
            (counter::IMMEDIATE_ACK_SENT, "", stats.frame_tx.immediate_ack),
            (counter::IMMEDIATE_ACK_RECEIVED, "", stats.frame_rx.immediate_ack),
            (counter::BLACK_HOLES, "", stats.path.black_holes_detected),
        ] {
            to(name, unit, CounterValue::Count(value));
        }
        if let Some(congestion) = self.sender.congestion() {
            congestion.counters.report(to);
        }
    }

    fn take_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Reports the parameters that the settings determine. quinn-proto determines the others.
    fn report_parameters(&self, to: &mut dyn FnMut(&'static str, u64)) {
        let settings = &self.settings;
        to("max_idle_timeout", settings.idle_timeout.as_nanos() / 1_000_000);
        to("initial_max_data", settings.connection_window.get());
        to("initial_max_stream_data_bidi_local", settings.stream_window.get());
        to("initial_max_stream_data_bidi_remote", settings.stream_window.get());
        to("initial_max_stream_data_uni", settings.stream_window.get());
    }

    fn record_losses(&mut self) {
        self.sender.record_losses();
    }

    /// quinn-proto does not distinguish its pacing from the peer's window, so both are `None`.
    fn limiting_factor(&self, now: Instant) -> Option<LimitingFactor> {
        if !self.is_open {
            return None;
        }
        let Vitals { window, in_flight, .. } = self.vitals();
        if !self.has_data() {
            let is_full = self.outgoing.buffer.is_full(self.sender.acknowledged().next());
            return Some(if is_full { LimitingFactor::SendBuffer } else { LimitingFactor::Application });
        }
        if window.zip(in_flight).is_some_and(|(window, in_flight)| window < in_flight + self.settings.datagram()) {
            return Some(LimitingFactor::Window);
        }
        self.sender.holds_until(now).map(|_| LimitingFactor::Pacing)
    }

    fn port(&mut self) -> Port<'_> {
        Port::Stream(self)
    }
}
