//! The contract of a transport endpoint, as far as those who drive and measure it need to know.

use crate::{Duration, Event, Instant, Machine, Port};

/// One end of a connection: a [`Machine`] that turns protocol data units and time into protocol data units, with a [`Port`]
/// for an application, and with something to tell of itself.
///
/// Probes, tables, series and captures know this contract and no transport by name.
pub trait Endpoint: Machine {
    /// As [`accept`](Machine::accept), of a datagram that stays with the caller. An endpoint whose datagrams are large takes what it needs
    /// of this one and spares the copy.
    fn accept_borrowed(&mut self, now: Instant, datagram: &Self::Datagram)
    where
        Self::Datagram: Clone,
    {
        self.accept(now, datagram.clone());
    }

    /// Its state now. Asked after each datagram, so it should cost no more than reading a few fields.
    fn vitals(&self) -> Vitals;

    /// What `datagram`, which it has just sent or taken, holds.
    fn content(&self, datagram: &Self::Datagram) -> Content;

    /// The offset in the stream, or among all octets of its direction, of the first octet that `datagram` carries.
    fn offset(&self, datagram: &Self::Datagram) -> u64;

    /// When what the datagram that left last tells came into being. Data are as old as their transmission; an acknowledgment is as old
    /// as the arrival of the newest data that it reports.
    fn told(&self, now: Instant) -> Instant {
        now
    }

    /// Has it a datagram to send at once? `true` is always right; a reliable `false` spares a [`poll`](Machine::poll).
    fn has_due(&self) -> bool {
        true
    }

    /// Tells each of its counters and gauges: name, unit, value. Names are the same for the same meaning in every transport (see
    /// [`counter`]), and the order does not change.
    fn tell(&self, to: &mut dyn FnMut(&'static str, &'static str, Reading));

    /// Tells how many acknowledgments it has sent for each reason; a reason's place does not change.
    fn tell_acknowledgments(&self, _to: &mut dyn FnMut(&str, u64)) {}

    /// The next event that it has not told yet, oldest first.
    fn take_event(&mut self) -> Option<Event> {
        None
    }

    /// From now on, tell the decisions of its ACK policy among the [events](Self::take_event).
    fn tell_decisions(&mut self) {}

    /// Where an application writes and reads.
    fn port(&mut self) -> Port<'_>;
}

/// What an endpoint tells of its state. Sizes in octets; a quantity that the transport does not know is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vitals {
    /// Congestion window.
    pub window: Option<u64>,
    /// Slow-start threshold, once there is one.
    pub threshold: Option<u64>,
    /// Believed in flight.
    pub in_flight: Option<u64>,
    /// Round trips that it has measured.
    pub rtt_samples: u64,
    /// The last of them.
    pub latest_rtt: Duration,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Option<Duration>,
    /// Octets that its application has written.
    pub written: u64,
    /// Octets of those that the peer has acknowledged, up to the first that it has not.
    pub acknowledged: u64,
    /// Octets that have arrived, in order or not, each counted once.
    pub received: u64,
    /// Octets that its application has read, in order. Absent if the transport keeps no order, so that what arrives is read at once.
    pub read: Option<u64>,
}

/// What a datagram holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Octets of application data.
    pub payload: u32,
    /// Does it acknowledge data, or could it have?
    pub acknowledges: bool,
}

/// The value of a counter or a gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// A count since the connection began, which never falls.
    Count(u64),
    /// A value that may rise and fall, if there is one.
    Gauge(Option<f64>),
}

/// Names of counters and gauges that several transports have, or that a column of the table of flows shows.
pub mod counter {
    /// Packets with data that were sent, retransmissions included.
    pub const DATA_PACKETS: &str = "data_packets";
    /// Octets of application data in those.
    pub const DATA_BYTES: &str = "data_bytes";
    /// Packets that carried data again.
    pub const RETRANSMISSIONS: &str = "retransmissions";
    /// Expirations of the retransmission timer with data outstanding.
    pub const TIMEOUTS: &str = "timeouts";
    /// Probes of the tail of a flight.
    pub const TAIL_LOSS_PROBES: &str = "tail_loss_probes";
    /// Reductions of the window that were undone.
    pub const UNDONE_REDUCTIONS: &str = "undone_reductions";
    /// Octets acknowledged, cumulatively or selectively.
    pub const ACKNOWLEDGED_BYTES: &str = "acknowledged_bytes";
    /// Recoveries that ended.
    pub const RECOVERIES: &str = "recoveries";
    /// Time spent in those.
    pub const RECOVERY_TIME: &str = "recovery_time";
    /// Reductions of the window for marks.
    pub const MARK_REDUCTIONS: &str = "mark_reductions";
    /// Octets that the receiver reported as marked.
    pub const MARKED_BYTES: &str = "marked_bytes";
    /// Packets with data that arrived marked.
    pub const MARKED_PACKETS: &str = "marked_packets";
    /// Packets that arrived and acknowledge.
    pub const ACKS_RECEIVED: &str = "acks_received";
    /// Packets sent that acknowledge and carry no data.
    pub const ACKS_SENT: &str = "acks_sent";
    /// Octets handed to the application.
    pub const DELIVERED_BYTES: &str = "delivered_bytes";
    /// Packets that a later one has passed over, whether or not they arrived after it, where the transport does not repair losses.
    pub const PASSED_OVER_PACKETS: &str = "passed_over_packets";
    /// Packets with data of which something was new.
    pub const ARRIVED_PACKETS: &str = "arrived_packets";
    /// Packets that arrived after one that had left later.
    pub const REORDERED_PACKETS: &str = "reordered_packets";
    /// Packets that had arrived before.
    pub const DUPLICATE_PACKETS: &str = "duplicate_packets";
    /// The jitter of arrivals (RFC 3550, §6.4.1), in nanoseconds.
    pub const JITTER: &str = "jitter";
}
