//! The TCP sender: opens the connection, sends the data that the application writes, and closes the
//! connection.
//!
//! The first table lists the parts of the state, which change together. The second table lists the
//! methods by the events that trigger them.
//!
//! | state | contents |
//! |---|---|
//! | [`SendBuffer`] | the bytes that the application has written |
//! | `send_memory` | the memory of those bytes in Linux |
//! | `push` | the ends of writes |
//! | `records` | the ends of records |
//! | `hold` | data held until the application writes more |
//! | `connection` | phase, sequence numbers, clock; builds segments |
//! | `peer_window` | the peer's receive window |
//! | [`Scoreboard`] | outstanding segments |
//! | `congestion` | window, controller, state of congestion control |
//! | `loss` | duplicate ACKs, RACK, tail loss probe |
//! | `transmission` | delays of transmissions other than by windows, and forced transmissions |
//! | `timing` | round-trip times and the retransmission timer |
//! | `user_timeout` | the time after which the connection is aborted |
//! | `validation` | whether the sender uses the whole window, which permits the window to grow |
//! | `chronograph` | the times for which each condition limited the sender |
//! | `ecn` | echoed marks and CWR |
//! | `ack_request` | requests for ACKs: `ack_ratio` (RFC 5690), `ack_rate` (TARR) |
//!
//! | method | triggered by |
//! |---|---|
//! | `input` | an ACK. `detect` finds losses; `react` drives congestion control, with a file per state: `fast_recovery`, `loss_recovery` (after a timeout), `cwr`; `in_order` is the fast path without gaps; `inform` reports to the controller |
//! | `passive` | the peer's SYN, at the listening end |
//! | `timers` | the expiry of a timer |
//! | `output` | room in the windows; `probe` and `idle` if no ACKs or no data arrive; `device` if
//! the host refuses packets |

mod ack_rate;
mod ack_ratio;
mod ack_request;
mod chronograph;
mod congestion;
mod connection;
mod cwr;
mod detect;
mod device;
mod displacement;
mod dsack;
mod ecn;
mod endpoint;
mod fast_recovery;
mod hold;
mod idle;
mod in_order;
mod inform;
mod input;
mod loss;
mod loss_recovery;
mod output;
mod passive;
mod peer_window;
mod plain;
mod port;
mod probe;
mod push;
mod react;
mod records;
mod sample;
mod send_memory;
mod summary;
mod timers;
mod timing;
mod transmission;
mod user_timeout;
mod validation;

pub(in crate::tcp) use ack_request::Offer;
pub use chronograph::LimitedTimes;
pub use connection::Phase;
pub(in crate::tcp) use connection::announced_mss;
pub use ecn::ReportedMarks;
pub use hold::SendFlags;
pub use idle::AfterIdle;
pub use send_memory::SendBufferLimit;

use self::ack_request::AckRequest;
use super::config::TcpConfig;
use super::rules::Rules;
use crate::cc::{CongestionControl, Controller, Window};
use crate::recovery::CongestionState;
use crate::recovery::rtt::Estimator;
use crate::recovery::scoreboard::Scoreboard;
use crate::send_buffer::SendBuffer;
use acklab_base::random::Seed;
use acklab_base::{Duration, Event, Fate, Instant, Machine};
use acklab_wire::tcp::{Segment, SeqNumber};
use chronograph::Chronograph;
use congestion::Congestion;
use connection::Connection;
use ecn::Marks;
use hold::Hold;
use loss::LossDetection;
use peer_window::PeerWindow;
use push::Pushes;
use records::Records;
use send_memory::SendMemory;
use std::collections::VecDeque;
use timing::Timing;
use transmission::Transmission;
use user_timeout::UserTimeout;
use validation::Usage;

/// The counters of one sender. Bytes are bytes of payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data segments, including retransmissions.
    pub data_segments: u64,
    /// Bytes of data segments, including retransmissions.
    pub data_bytes: u64,
    /// Retransmitted segments, including those that carry only a FIN.
    pub retransmissions: u64,
    /// Retransmitted segments with data.
    pub data_retransmissions: u64,
    /// Retransmission timeouts while data were outstanding.
    pub timeouts: u64,
    /// Tail loss probes (RFC 8985, §7.3).
    pub tail_loss_probes: u64,
    /// Reductions of the window that were undone.
    pub undone: u64,
    /// ACKs that arrived.
    pub acks: u64,
    /// Distinct bytes that were acknowledged, cumulatively or by SACK, without the FIN.
    pub acknowledged: u64,
    /// Bytes that congestion control counts as delivered. Without SACK, duplicate ACKs are included
    /// by the rule [`PlainDelivery`](super::rules::PlainDelivery).
    pub delivered: u64,
    /// Recoveries that ended, after a fast retransmit or a timeout.
    pub recoveries: u64,
    /// Total duration of these recoveries, from the first indication of loss.
    pub recovery_time: Duration,
    /// Reductions of the window for an echoed mark.
    pub mark_reductions: u64,
    /// Bytes that the receiver reported with a CE mark, if its echo counts bytes.
    pub marked_bytes: u64,
}

/// The end of a connection that opens the connection and sends data.
#[derive(Debug)]
pub struct Sender {
    config: TcpConfig,
    rules: Rules,
    buffer: SendBuffer,
    /// The memory of the send buffer, if memory limits the buffer. Set once the connection is
    /// established.
    memory: Option<SendMemory>,
    pushes: Pushes,
    records: Records,
    hold: Hold,
    connection: Connection,
    peer_window: PeerWindow,
    board: Scoreboard,
    congestion: Congestion,
    loss: LossDetection,
    marks: Marks,
    transmission: Transmission,
    /// The use of the congestion window, if
    /// [`WindowValidation::LastWindow`](super::rules::WindowValidation) requires this record.
    usage: Usage,
    chronograph: Chronograph,
    timing: Timing,
    user_timeout: UserTimeout,
    /// ACK congestion control or TARR, if both ends support it.
    ack_request: Option<AckRequest>,
    events: VecDeque<Event>,
    records_losses: bool,
    counters: Counters,
    /// `true` if the fast path is disabled.
    #[cfg(test)]
    takes_long_way: bool,
}

impl Sender {
    /// Creates a sender, which the application opens later. `name` identifies its random streams.
    #[must_use]
    pub fn new(config: TcpConfig, controller: Controller, seed: Seed, name: &str) -> Self {
        let initial = seed.stream(&format!("flow/{name}/isn")).below(1 << 32) as u32;
        let sender = Self::numbered(config, controller, SeqNumber(initial), Phase::Closed);
        Self { peer_window: sender.peer_window.of_silent_peer(), ..sender }
    }

    /// Creates a sender with this initial sequence number. By `phase`, it opens the connection or
    /// listens.
    fn numbered(config: TcpConfig, controller: Controller, initial: SeqNumber, phase: Phase) -> Self {
        let rules = config.dialect.rules();
        Self {
            config,
            rules,
            buffer: SendBuffer::new(config.send_buffer.get()),
            memory: None,
            pushes: Pushes::default(),
            records: Records::default(),
            hold: Hold::default(),
            connection: Connection::new(&config, initial, phase),
            peer_window: PeerWindow::new(rules.window_update),
            board: Scoreboard::new(rules.sacked_retransmission)
                .keeping_outcomes(controller.wants_outcomes())
                .keeping_stamps(controller.wants_delivery_rate()),
            congestion: Congestion::new(&config, controller),
            loss: LossDetection::default(),
            marks: Marks::new(&rules),
            transmission: Transmission::default(),
            usage: Usage::default(),
            chronograph: Chronograph::default(),
            timing: Timing::new(config.rto, rules.backoff_end),
            user_timeout: UserTimeout::default(),
            ack_request: None,
            events: VecDeque::new(),
            records_losses: false,
            counters: Counters::default(),
            #[cfg(test)]
            takes_long_way: false,
        }
    }

    /// Returns the phase of the connection.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.connection.phase
    }

    /// Returns the state of congestion control.
    #[must_use]
    pub const fn congestion_state(&self) -> CongestionState {
        self.congestion.state
    }

    /// Returns the congestion window and the slow-start threshold.
    #[must_use]
    pub const fn window(&self) -> &Window {
        &self.congestion.control.window
    }

    /// Returns the estimated bytes in the network (pipe).
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.board.pipe()
    }

    /// Returns the outstanding segments.
    #[must_use]
    pub const fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    /// Returns the number of segments per ACK that the sender has requested, if both ends support
    /// RFC 5690 or TARR.
    #[must_use]
    pub fn ack_ratio(&self) -> Option<u64> {
        self.ack_request.as_ref().map(AckRequest::in_use)
    }

    /// Returns the estimator of round-trip times.
    #[must_use]
    pub const fn rtt(&self) -> &Estimator {
        &self.timing.rtt
    }

    /// Returns the number of bytes that the application has written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.buffer.written()
    }

    /// Returns the stream offset of `seq`, a sequence number of this sender's data.
    #[must_use]
    pub fn offset_of(&self, seq: SeqNumber) -> u64 {
        self.connection.offset_near(seq, self.board.una())
    }

    /// Returns the degree of reordering, in segments (Linux's `tcpi_reordering`).
    #[must_use]
    pub const fn reordering(&self) -> u32 {
        self.loss.reordering.degree()
    }

    /// Returns the counters of the connection.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Drains the events.
    pub fn drain_events(&mut self) -> impl Iterator<Item = Event> + '_ {
        self.events.drain(..)
    }

    /// Removes and returns the oldest event.
    #[inline]
    pub(super) fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}

impl Machine for Sender {
    type Datagram = Segment;
    type Outcome = Fate;

    fn accept(&mut self, now: Instant, segment: Segment) -> Fate {
        self.input(now, &segment)
    }

    fn wake(&mut self, now: Instant) {
        self.wake_timers(now);
    }

    fn deadline(&self) -> Option<Instant> {
        self.next_deadline()
    }

    fn poll(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = Segment::default();
        self.write_next(now, &mut segment).then_some(segment)
    }
}
