//! The TCP receiver: reassembles the stream, consults the ACK policy, and acknowledges.

mod autotuning;
mod ecn;
mod endpoint;
mod full_size;
mod in_order;
mod input;
mod measure;
mod output;
mod piggyback;
mod port;
mod sack;
mod unread;
mod window;

use super::clock::TickClock;
use super::config::TcpConfig;
use super::len_of;
use super::sender::{Offer, announced_mss};
use crate::ack::{Acknowledger, Policy, Ranges, Reason, TcpEvents};
use acklab_base::random::Seed;
use acklab_base::{Ecn, Fate, Instant, Machine};
use acklab_wire::tcp::{Segment, SeqNumber, Timestamps};
use autotuning::Autotuning;
pub use autotuning::ReceiveWindow;
use ecn::Echo;
use std::ops::Range;
use window::Window;

/// The counters of one receiver. Bytes are bytes of payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Data segments that arrived.
    pub data_segments: u64,
    /// Data segments without new data.
    pub duplicates: u64,
    /// Data segments that arrived with a CE mark.
    pub marked: u64,
    /// ACKs sent, by the [index](Reason::index) of their reason.
    pub acks: [u64; Reason::COUNT],
}

impl Default for Counters {
    fn default() -> Self {
        Self { data_segments: 0, duplicates: 0, marked: 0, acks: [0; Reason::COUNT] }
    }
}

impl Counters {
    /// Returns the number of ACKs without data that were sent, for all reasons.
    #[must_use]
    pub fn acks_sent(&self) -> u64 {
        self.acks.iter().sum::<u64>() - self.acks[Reason::Piggyback.index()]
    }
}

/// The end of a connection that accepts the connection and acknowledges data.
#[derive(Debug)]
pub struct Receiver {
    config: TcpConfig,
    /// This end's initial sequence number.
    initial: SeqNumber,
    /// The window scale that this end offers (RFC 7323, §2.3).
    window_shift: u8,
    window: Window,
    /// The receive buffer, if it grows; `None` if the whole buffer is always offered.
    autotuning: Option<Autotuning>,
    clock: Option<TickClock>,
    agreed: Option<Agreed>,
    timestamp_to_echo: u32,
    /// Last.ACK.sent (RFC 7323, §4.3).
    last_ack_sent: u64,
    fin: Option<u64>,
    /// `true` if the application of this end may still send, so that a data segment could carry an
    /// ACK.
    may_send: bool,
    echo: Echo,
    /// The codepoint with which the newest SYN arrived.
    syn: Ecn,
    stream: Ranges,
    /// Bytes that arrived twice. The next ACK reports them (RFC 2883).
    duplicate: Option<Range<u64>>,
    acknowledger: Acknowledger,
    /// The size of the last segment, without its timestamps, if it was not full-sized
    /// (`icsk_ack.last_seg_size`).
    last_short: u64,
    /// An ACK that was built before the newest segment was processed. It is sent first.
    split: Option<Segment>,
    syn_ack_due: bool,
    /// Number of expiries of the SYN-ACK's timer.
    syn_ack_timeouts: u32,
    /// The departure time of the SYN-ACK, if it was sent once and nothing has arrived since. At the
    /// opening end, the departure time of the SYN.
    syn_sent_at: Option<Instant>,
    counters: Counters,
    /// `true` if the fast path is disabled.
    #[cfg(test)]
    takes_long_way: bool,
}

/// The features that the peer's first SYN has negotiated.
#[derive(Clone, Copy, Debug)]
struct Agreed {
    first: SeqNumber,
    has_sack: bool,
    has_timestamps: bool,
    has_scaling: bool,
    /// The kinds of ACK requests that the sender may send.
    requests: Offer,
}

/// The features that both ends of a connection use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Selective acknowledgment.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// Window scale.
    pub window_scaling: bool,
    /// Explicit congestion notification.
    pub ecn: super::ecn::EcnConfig,
}

impl Receiver {
    /// Creates a listening receiver. `name` identifies its random streams.
    #[must_use]
    pub fn new(config: TcpConfig, policy: Policy, seed: Seed, name: &str) -> Self {
        let initial = seed.stream(&format!("flow/{name}/receiver-isn")).below(1 << 32) as u32;
        Self::numbered(config, policy, SeqNumber(initial))
    }

    /// Creates a receiver whose end of the connection has this initial sequence number.
    pub(super) fn numbered(config: TcpConfig, policy: Policy, initial: SeqNumber) -> Self {
        let buffer = config.receive_buffer.get();
        let acknowledger = Acknowledger::new(policy);
        let is_measured = acknowledger.ledger().round_trip.is_some();
        let shift = (0..14).find(|shift| buffer >> shift <= u64::from(u16::MAX)).unwrap_or(14);
        Self {
            config,
            initial,
            window_shift: shift,
            window: Window::new(buffer, config.mss.get(), config.dialect.rules().beyond_window),
            autotuning: config.is_autotuned().then(|| Autotuning::new(config.kernel, buffer, is_measured)),
            clock: config.timestamps.map(TickClock::new),
            agreed: None,
            timestamp_to_echo: 0,
            last_ack_sent: 0,
            fin: None,
            may_send: false,
            echo: Echo::new(super::ecn::EcnConfig::Off, false, &config.dialect.rules()),
            syn: Ecn::NotEct,
            stream: Ranges::default(),
            duplicate: None,
            acknowledger,
            last_short: 0,
            split: None,
            syn_ack_due: false,
            syn_ack_timeouts: 0,
            syn_sent_at: None,
            counters: Counters::default(),
            #[cfg(test)]
            takes_long_way: false,
        }
    }

    /// Returns the number of distinct stream bytes that have arrived, in order or not. The FIN,
    /// which has the last sequence number, is not included.
    #[must_use]
    pub fn received(&self) -> u64 {
        let is_fin_received = self.fin.is_some_and(|fin| self.stream.end() > fin);
        self.stream.received() - u64::from(is_fin_received)
    }

    /// Returns the features that both ends use, once the peer's SYN has arrived.
    #[must_use]
    pub fn agreement(&self) -> Option<Agreement> {
        self.agreed.map(|Agreed { has_sack, has_timestamps, has_scaling, .. }| Agreement {
            sack: has_sack,
            timestamps: has_timestamps,
            window_scaling: has_scaling,
            ecn: self.echo.agreed(),
        })
    }

    /// Returns the counters of the connection.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        Counters { acks: *self.acknowledger.counts(), ..self.counters }
    }

    /// Returns the arrival time of the newest data that the last ACK reported.
    #[must_use]
    pub const fn newest_arrival(&self) -> Instant {
        self.acknowledger.newest_reported()
    }

    /// Returns the arrival time of the last data, or `None` if no data have arrived.
    #[must_use]
    pub fn last_arrival(&self) -> Option<Instant> {
        let ledger = self.acknowledger.ledger();
        (ledger.total.octets > 0).then_some(ledger.newest)
    }

    /// Returns the payload of a full-sized segment of the peer: the MSS that this end has
    /// announced, minus timestamps.
    #[must_use]
    pub fn announced_payload(&self) -> u64 {
        u64::from(announced_mss(&self.config)) - self.len_of_timestamps()
    }

    /// Returns the size of the timestamps in each segment, in bytes.
    fn len_of_timestamps(&self) -> u64 {
        let has_timestamps = self.agreed.is_some_and(|agreed| agreed.has_timestamps);
        len_of(has_timestamps.then_some(Timestamps { value: 0, echo: 0 }))
    }

    /// Returns `true` if an ACK must be sent now.
    #[must_use]
    pub const fn owes_now(&self) -> bool {
        self.acknowledger.due().is_some() || self.split.is_some() || self.syn_ack_due
    }

    /// Reports an event that only TCP has to the policy.
    fn tell_policy<T>(&mut self, event: impl FnOnce(&mut dyn TcpEvents) -> T) -> Option<T> {
        self.acknowledger.tcp_events().map(event)
    }

    /// Returns the stream offset of `seq`, a sequence number of the peer's data.
    #[must_use]
    pub fn offset_of(&self, seq: SeqNumber) -> u64 {
        self.agreed.map_or(0, |agreed| seq.offset_near(agreed.first, self.stream.next()))
    }
}

impl Machine for Receiver {
    type Datagram = Segment;
    type Outcome = Fate;

    fn accept(&mut self, now: Instant, segment: Segment) -> Fate {
        self.input(now, &segment)
    }

    fn wake(&mut self, now: Instant) {
        self.acknowledger.wake(now);
    }

    fn deadline(&self) -> Option<Instant> {
        self.acknowledger.deadline()
    }

    fn poll(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = Segment::default();
        self.write_next(now, &mut segment).then_some(segment)
    }
}
