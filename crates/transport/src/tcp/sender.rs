//! The TCP sender: opens the connection, sends what the application writes, and finishes.

mod ack_ratio;
mod ecn;
mod idle;
mod input;
mod output;
mod probe;
mod react;
mod timers;

pub use idle::AfterIdle;
pub(in crate::tcp) use output::announced_mss;

use self::ack_ratio::AckRatio;
use super::clock::TickClock;
use super::config::Config;
use super::rules::Rules;
use crate::cc::{CongestionControl, Controller, Window};
use crate::event::Event;
use crate::pacing::Pacer;
use crate::recovery::CongestionState;
use crate::recovery::delivery_rate::Sampler;
use crate::recovery::prr::Prr;
use crate::recovery::rack::{Rack, TailLossProbe};
use crate::recovery::rto::Timer;
use crate::recovery::rtt::Estimator;
use crate::recovery::scoreboard::Scoreboard;
use crate::recovery::undo::Undo;
use crate::source::{self, Source};
use acklab_base::random::Seed;
use acklab_base::{Duration, FlowId, Instant, Machine};
use acklab_wire::tcp::{Segment, SeqNumber};
use ecn::Marks;

/// Where the connection stands (RFC 9293, §3.3.2, as far as a sender of data sees it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the start.
    Closed,
    /// The SYN is out.
    SynSent,
    /// Data flows.
    Established,
    /// Everything is acknowledged, the FIN included.
    Finished,
}

/// Counts of one sender; octets are payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments with data, retransmissions included.
    pub data_segments: u64,
    /// Octets of those.
    pub data_bytes: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Retransmission timeouts with data outstanding.
    pub timeouts: u64,
    /// Tail loss probes (RFC 8985, §7.3).
    pub tail_loss_probes: u64,
    /// Reductions of the window that were undone.
    pub undone: u64,
    /// ACKs that arrived.
    pub acks: u64,
    /// Octets acknowledged, cumulatively or selectively.
    pub delivered: u64,
    /// Recoveries that ended, fast ones and those after a timeout.
    pub recoveries: u64,
    /// Time spent in those, from the first sign of loss on.
    pub recovery_time: Duration,
    /// Reductions of the window for an echoed mark.
    pub mark_reductions: u64,
    /// Octets that the receiver told were marked, where it tells so much.
    pub marked_bytes: u64,
}

/// One end of a connection: the one that opens it and sends.
#[derive(Debug)]
pub struct Sender {
    config: Config,
    rules: Rules,
    flow: FlowId,
    phase: Phase,
    start: Instant,
    stop: Option<Instant>,
    source: Source,

    /// The sequence number of the first octet of data.
    first: SeqNumber,
    /// The next octet that the peer sends, for the acknowledgment field.
    peer_next: SeqNumber,
    syn_sent_at: Instant,
    syn_due: bool,
    ack_due: bool,
    clock: Option<TickClock>,
    timestamp_to_echo: u32,

    board: Scoreboard,
    /// Highest offset that the peer's window lets through.
    window_end: u64,
    window_shift: u8,
    /// Max(SND.WND): the largest window that the peer has offered (RFC 9293, §3.8.6.2.1).
    largest_window: u64,

    window: Window,
    controller: Controller,
    state: CongestionState,
    duplicates: u32,
    /// The recovery point: recovery, fast or after a timeout, lasts until this is acknowledged.
    recover: u64,
    recovery_began: Instant,
    marks: Marks,
    prr: Prr,
    rack: Rack,
    undo: Undo,
    probe: TailLossProbe,
    tail_probe_due: bool,
    window_probe_due: bool,
    /// Segments to be sent now, whatever the window says.
    forced: u32,
    seen_partial_ack: bool,
    /// Octets acknowledged that do not fill a segment.
    acked_remainder: u64,
    window_limited: bool,
    /// ACK congestion control, if both ends speak it.
    ack_ratio: Option<AckRatio>,
    /// The rate of delivery, if the controller wants it.
    sampler: Option<Sampler>,
    pacer: Pacer,
    /// When data left last.
    last_sent: Option<Instant>,
    /// Something could leave if pacing did not hold it until then.
    paced_until: Option<Instant>,

    rtt: Estimator,
    rto: Timer,
    events: Vec<Event>,
    counters: Counters,
}

impl Sender {
    /// A sender that opens its connection at `start` and sends nothing new from `stop` on. `name` names its random streams.
    #[must_use]
    #[expect(
        clippy::too_many_arguments,
        reason = "a connection is this many things, and there is one place that makes them"
    )]
    pub fn new(
        config: Config,
        controller: Controller,
        flow: FlowId,
        traffic: source::Config,
        start: Instant,
        stop: Option<Instant>,
        seed: Seed,
        name: &str,
    ) -> Self {
        let mss = config.mss.get();
        let stream = |part: &str| seed.stream(&format!("flow/{name}/{part}"));
        let initial = SeqNumber(stream("isn").below(1 << 32) as u32);
        let rules = config.dialect.rules();
        let window = Window { cwnd: u64::from(config.initial_window.0) * mss, ssthresh: u64::MAX, mss };
        Self {
            config,
            rules,
            flow,
            phase: Phase::Closed,
            start,
            stop,
            source: Source::new(traffic, config.send_buffer, stream("source")),
            first: SeqNumber::at(initial, 1),
            peer_next: SeqNumber(0),
            syn_sent_at: Instant::ZERO,
            syn_due: false,
            ack_due: false,
            clock: config.timestamps.map(TickClock::new),
            timestamp_to_echo: 0,
            board: Scoreboard::new(rules.sacked_retransmission)
                .keeping_fates(controller.wants_fates())
                .keeping_stamps(controller.wants_delivery_rate()),
            window_end: 0,
            window_shift: 0,
            largest_window: 0,
            window,
            sampler: controller.wants_delivery_rate().then(Sampler::default),
            controller,
            state: CongestionState::Open,
            duplicates: 0,
            recover: 0,
            recovery_began: Instant::ZERO,
            marks: Marks::new(),
            prr: Prr::new(config.prr_bound, mss, 0),
            rack: Rack::default(),
            undo: Undo::default(),
            probe: TailLossProbe::default(),
            tail_probe_due: false,
            window_probe_due: false,
            forced: 0,
            seen_partial_ack: false,
            acked_remainder: 0,
            window_limited: false,
            ack_ratio: None,
            pacer: Pacer::default(),
            last_sent: None,
            paced_until: None,
            rtt: Estimator::default(),
            rto: Timer::new(config.rto),
            events: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Where the connection stands.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Where congestion control stands.
    #[must_use]
    pub const fn congestion_state(&self) -> CongestionState {
        self.state
    }

    /// Congestion window and threshold.
    #[must_use]
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// Octets believed in the network.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.board.pipe()
    }

    /// What is outstanding.
    #[must_use]
    pub const fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    /// The ACK Ratio in use, if there is one (RFC 5690).
    #[must_use]
    pub fn ack_ratio(&self) -> Option<u64> {
        self.ack_ratio.as_ref().map(AckRatio::in_use)
    }

    /// Round-trip times.
    #[must_use]
    pub const fn rtt(&self) -> &Estimator {
        &self.rtt
    }

    /// Octets that the application has written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.source.written()
    }

    /// Stream offset of `seq`, a sequence number of this sender's data.
    #[must_use]
    pub fn offset_of(&self, seq: SeqNumber) -> u64 {
        seq.offset_near(self.first, self.board.una())
    }

    /// Counts since the connection began.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Has something happened since the events were last drained?
    #[must_use]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// What has happened since this was last asked.
    pub fn drain_events(&mut self) -> impl Iterator<Item = Event> + '_ {
        self.events.drain(..)
    }
}

impl Machine for Sender {
    type Datagram = Segment;

    fn accept(&mut self, now: Instant, segment: Segment) {
        self.input(now, &segment);
    }

    fn wake(&mut self, now: Instant) {
        self.wake_timers(now);
    }

    fn deadline(&self) -> Option<Instant> {
        self.next_deadline()
    }

    fn poll(&mut self, now: Instant) -> Option<Segment> {
        self.next_segment(now)
    }
}
