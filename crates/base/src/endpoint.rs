//! The contract between a transport endpoint and the code that drives and measures it.

use crate::{Duration, Event, Fate, Instant, LimitingFactor, Machine, Port, Rate, StreamEvent};
use std::ops::Range;

/// One end of a connection: a [`Machine`] that exchanges protocol data units with its peer, has a
/// [`Port`] for an application, and reports its state, counters and events.
///
/// Probes, tables, series and captures use only this contract, and do not depend on a transport.
pub trait Endpoint: Machine<Outcome = Fate> {
    /// Accepts a datagram like [`accept`](Machine::accept), but by reference. An endpoint whose
    /// datagrams are large overrides this method to copy only the fields that it needs.
    fn accept_borrowed(&mut self, now: Instant, datagram: &Self::Datagram) -> Fate
    where
        Self::Datagram: Clone,
    {
        self.accept(now, datagram.clone())
    }

    /// Writes the next datagram to send, as [`poll`](Machine::poll) would return it, into `place`,
    /// whose content is no longer needed. Returns `false` if there is no datagram to send now. This
    /// avoids moves of large datagrams.
    #[inline]
    fn poll_into(&mut self, now: Instant, place: &mut Self::Datagram) -> bool {
        match self.poll(now) {
            Some(datagram) => {
                *place = datagram;
                true
            }
            None => false,
        }
    }

    /// Returns the current state. This method is called after each datagram, so it should cost no
    /// more than copying a few fields.
    fn vitals(&self) -> Vitals;

    /// Returns the content of `datagram`, which the endpoint has just sent or accepted.
    fn content(&self, datagram: &Self::Datagram) -> Content;

    /// Returns `true` if `datagram` acknowledges data and carries none.
    fn is_pure_ack(&self, datagram: &Self::Datagram) -> bool {
        let Content { payload, acknowledges } = self.content(datagram);
        acknowledges && payload == 0
    }

    /// Returns the stream offset of the first payload octet in `datagram`. If the transport has no
    /// stream, returns the number of payload octets sent in this direction before this octet.
    fn offset(&self, datagram: &Self::Datagram) -> u64;

    /// Returns the time that the last transmitted datagram represents: for data the time of
    /// transmission, for an acknowledgment the arrival of the newest data that it reports.
    fn content_origin(&self, now: Instant) -> Instant {
        now
    }

    /// Returns `false` only if [`poll`](Machine::poll) would certainly return `None`. The caller
    /// can then skip the call.
    fn may_transmit(&self) -> bool {
        true
    }

    /// Calls `to` with the name, unit and value of each counter and gauge, always in the same
    /// order. Equal names have the same meaning in all transports (see [`counter`]).
    fn report_counters(&self, to: &mut dyn FnMut(&'static str, &'static str, CounterValue));

    /// Calls `to` with each reason for sending acknowledgments and their number, always in the same
    /// order.
    fn report_ack_reasons(&self, _to: &mut dyn FnMut(&str, u64)) {}

    /// Removes the oldest pending event and returns it.
    fn take_event(&mut self) -> Option<Event> {
        None
    }

    /// Calls `to` with the ID and the range of octets of each stream that `datagram` carries. The
    /// endpoint has just sent or accepted `datagram`.
    fn report_octets(&self, _datagram: &Self::Datagram, _to: &mut dyn FnMut(u32, Range<u64>)) {}

    /// Records events of streams from now on, for a driver that stores their octets.
    fn record_streams(&mut self) {}

    /// Removes the oldest event of a stream and returns it with the ID of the stream.
    fn take_stream_event(&mut self) -> Option<(u32, StreamEvent)> {
        None
    }

    /// Records each decision of the ACK policy among the [events](Self::take_event) from now on.
    fn record_decisions(&mut self) {}

    /// Records each packet of data that is declared lost among the [events](Self::take_event) from
    /// now on.
    fn record_losses(&mut self) {}

    /// Returns the pacing rate. Returns `None` without pacing.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Returns the factor that limited the sender when the endpoint was last
    /// [polled](Machine::poll) and had nothing to send. Returns `None` if the endpoint does not
    /// report it.
    fn limiting_factor(&self, _now: Instant) -> Option<LimitingFactor> {
        None
    }

    /// Calls `to` with the name and the value of each transport parameter that this endpoint
    /// announces (RFC 9000, §18.2), always in the same order. Values are in octets, in milliseconds
    /// or without unit.
    fn report_parameters(&self, _to: &mut dyn FnMut(&'static str, u64)) {}

    /// Returns the port of the application.
    fn port(&mut self) -> Port<'_>;
}

/// The state of an endpoint. Sizes are in octets; a quantity that the transport does not have is
/// `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vitals {
    /// Congestion window.
    pub window: Option<u64>,
    /// Slow-start threshold, once it is set.
    pub threshold: Option<u64>,
    /// Estimate of the octets in flight.
    pub in_flight: Option<u64>,
    /// Number of RTT samples taken.
    pub rtt_samples: u64,
    /// The latest RTT sample.
    pub latest_rtt: Duration,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Option<Duration>,
    /// Octets that the application has written.
    pub written: u64,
    /// Octets that the peer has acknowledged cumulatively.
    pub acknowledged: u64,
    /// Octets that have arrived, in order or out of order. Duplicates are not counted.
    pub received: u64,
    /// Octets that the application has read, in order. `None` if the transport does not deliver
    /// data in order: the application then reads data on arrival.
    pub read: Option<u64>,
}

/// The content of a datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Octets of application data.
    pub payload: u32,
    /// `true` if the datagram acknowledges data, or had room for an acknowledgment.
    pub acknowledges: bool,
}

/// The value of a counter or a gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CounterValue {
    /// A count since the connection began, which never decreases.
    Count(u64),
    /// A value that may increase and decrease, if there is one.
    Gauge(Option<f64>),
}

/// Names of the counters and gauges that several transports share, or that are columns of the flows
/// table.
pub mod counter {
    /// Data packets sent, including retransmissions.
    pub const DATA_PACKETS: &str = "data_packets";
    /// Octets of application data in the data packets sent.
    pub const DATA_BYTES: &str = "data_bytes";
    /// Retransmitted packets.
    pub const RETRANSMISSIONS: &str = "retransmissions";
    /// Expirations of the retransmission timer with data outstanding.
    pub const TIMEOUTS: &str = "timeouts";
    /// Tail loss probes sent.
    pub const TAIL_LOSS_PROBES: &str = "tail_loss_probes";
    /// Reductions of the congestion window that were undone.
    pub const UNDONE_REDUCTIONS: &str = "undone_reductions";
    /// Packets that were declared lost and later acknowledged.
    pub const NEEDLESS_LOSSES: &str = "packets_lost_needlessly";
    /// Times that persistent congestion was established (RFC 9002, §7.6).
    pub const PERSISTENT_CONGESTION: &str = "persistent_congestion";
    /// Times that the path no longer carried the current size of datagrams (RFC 8899, §4.3).
    pub const BLACK_HOLES: &str = "black_holes";
    /// `ACK_FREQUENCY` frames sent (draft-ietf-quic-ack-frequency, §4).
    pub const ACK_FREQUENCY_SENT: &str = "ack_frequency_sent";
    /// `ACK_FREQUENCY` frames received.
    pub const ACK_FREQUENCY_RECEIVED: &str = "ack_frequency_received";
    /// `IMMEDIATE_ACK` frames sent (draft-ietf-quic-ack-frequency, §5).
    pub const IMMEDIATE_ACK_SENT: &str = "immediate_ack_sent";
    /// `IMMEDIATE_ACK` frames received.
    pub const IMMEDIATE_ACK_RECEIVED: &str = "immediate_ack_received";
    /// Octets acknowledged, cumulatively or selectively.
    pub const ACKNOWLEDGED_BYTES: &str = "acknowledged_bytes";
    /// Recovery episodes that ended.
    pub const RECOVERIES: &str = "recoveries";
    /// Time spent in the recovery episodes that ended.
    pub const RECOVERY_TIME: &str = "recovery_time";
    /// Reductions of the congestion window in response to ECN marks.
    pub const MARK_REDUCTIONS: &str = "mark_reductions";
    /// Octets that the receiver reported as marked.
    pub const MARKED_BYTES: &str = "marked_bytes";
    /// Data packets that arrived marked.
    pub const MARKED_PACKETS: &str = "marked_packets";
    /// Acknowledging packets received.
    pub const ACKS_RECEIVED: &str = "acks_received";
    /// Packets sent that acknowledge and carry no data.
    pub const ACKS_SENT: &str = "acks_sent";
    /// ACK frames sent, with or without data. Only for a transport that does not report
    /// [reasons](super::Endpoint::report_ack_reasons).
    pub const ACK_FRAMES_SENT: &str = "ack_frames_sent";
    /// Time during which some data were unsent or unacknowledged (`tcpi_busy_time` of Linux), in
    /// nanoseconds.
    pub const BUSY_TIME: &str = "busy_time";
    /// The part of [`BUSY_TIME`] in which only the peer's window limited the sender
    /// (`tcpi_rwnd_limited`).
    pub const RECEIVE_WINDOW_TIME: &str = "receive_window_time";
    /// The part of [`BUSY_TIME`] in which only the send buffer limited the sender
    /// (`tcpi_sndbuf_limited`).
    pub const SEND_BUFFER_TIME: &str = "send_buffer_time";
    /// Octets delivered to the application.
    pub const DELIVERED_BYTES: &str = "delivered_bytes";
    /// Packets that were missing when a packet sent later arrived. Packets that arrived afterwards
    /// are included. Only for a transport that does not repair losses.
    pub const PASSED_OVER_PACKETS: &str = "passed_over_packets";
    /// Data packets with at least one new octet.
    pub const ARRIVED_PACKETS: &str = "arrived_packets";
    /// Packets that arrived after a packet that was sent later.
    pub const REORDERED_PACKETS: &str = "reordered_packets";
    /// Packets that arrived more than once: the arrivals after the first.
    pub const DUPLICATE_PACKETS: &str = "duplicate_packets";
    /// The interarrival jitter (RFC 3550, §6.4.1), in nanoseconds.
    pub const JITTER: &str = "jitter";
}
