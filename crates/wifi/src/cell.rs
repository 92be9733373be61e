//! A cell as a machine: one access point, its stations, and the medium between them.
//!
//! All stations and their counters lie side by side. The cell computes who wins the next contention and goes straight there: a frame
//! exchange costs three wake-ups, where it begins, where its PPDU ends and where its answer ends.
//!
//! | module | holds the verbs |
//! |---|---|
//! | `queue` | a packet joins, a packet is taken |
//! | `line_up` | a function that had nothing to send gets in line |
//! | `contend` | a function draws a backoff, wins, fails |
//! | `assemble` | a PPDU is put together |
//! | `transmit` | it goes on the air, others overlap with it |
//! | `receive` | it ends, and is answered or not |
//! | `distribution` | a packet enters the cell, and goes by the queue that leads to where it leaves |
//! | `arrivals` | a packet is at the end of a hop, and leaves the cell or goes on |
//! | `settle` | the answer ends, or does not come |
//! | `hack` | ACKs wait for an answer, go with it, and arrive with it |
//! | `beacon` | the access point makes itself known |
//! | `presence` | nodes leave and come back |
//! | `observe` | what is measured and logged |

mod arrivals;
mod assemble;
mod beacon;
mod contend;
mod distribution;
mod hack;
mod line_up;
mod observe;
mod presence;
mod queue;
mod receive;
mod rules;
mod settle;
mod transmit;

use crate::access::{Category, Contention, FunctionId, LaneId, Parameters, Window};
use crate::airtime::Airtime;
use crate::config::{Config, Queues};
use crate::counters::Counters;
use crate::hack::End;
use crate::originator::Originator;
use crate::packet::Packet;
use crate::ppdu::Ppdu;
use crate::rate::RateControl;
use crate::reception::{Other, Reception};
use crate::recipient::Recipient;
use crate::{phy, rate, reception};
use acklab_base::random::{Seed, Stream};
use acklab_base::{Bytes, FlowKey, Instant, Machine};
use acklab_path::counters::QueueLength;
use acklab_path::queue::Buffer;
pub use observe::QueueView;

use arrivals::Arrivals;
use beacon::Beacons;
use distribution::Distribution;
use hack::HoldLimits;
use queue::Ready;
use rules::Rules;
use std::fmt;
use std::ops::Range;
use transmit::Exchange;

/// The access point's node.
pub const ACCESS_POINT: usize = 0;

/// A frame queue for one peer and category: mac80211's txq, and both ends of its Block ACK agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TxqId(u32);

/// What one node sends to another in one category.
#[derive(Clone, Debug)]
struct Txq<D> {
    from: usize,
    to: usize,
    function: FunctionId,
    buffer: Buffer<D>,
    originator: Originator<D>,
    recipient: Recipient<D>,
    rate: RateControl,
    /// Failures in a row of what is sent next.
    attempt: u32,
    /// It stands in its function's line.
    is_ready: bool,
    /// Its sender is away, or its receiver is and has said so.
    rests: bool,
    /// Packets that wait or are unacknowledged, and their octets.
    held: Held,
    /// With TCP/HACK, and if its peer sends it data in turn.
    hack: Option<Box<End<D>>>,
    /// What the peer sends to this node in the same category, whose answers carry ACKs of this one.
    reverse: Option<TxqId>,
}

/// Packets and octets that wait or are unacknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    packets: u64,
    bytes: Bytes,
}

/// The access function of one node and category.
#[derive(Clone, Debug)]
struct Function {
    node: usize,
    category: Category,
    parameters: Parameters,
    lane: LaneId,
    window: Window,
    status: Status,
    ready: Ready,
    txqs: Vec<TxqId>,
    config: acklab_path::queue::Config,
    queues: Queues,
    held: Held,
    length: QueueLength,
    lengths: Option<Vec<(Instant, u64)>>,
    /// Failures in a row of frames without and behind RTS (10.3.4.4: SSRC and SLRC, with QoS QSRC and QLRC of the category).
    short_retries: u8,
    long_retries: u8,
}

/// What a function is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Nothing to send. Its backoff ends at this count of its lane, or has ended.
    Idle(u64),
    /// In line for the medium.
    Waiting,
    /// Its frame exchange is under way.
    Sending,
}

/// An access point and its stations.
#[derive(Clone, Debug)]
pub struct Cell<D> {
    rules: Rules,
    config: Config,
    seed: Seed,
    functions: Vec<Function>,
    txqs: Vec<Txq<D>>,
    distribution: Distribution,
    contention: Contention,
    exchanges: Vec<Exchange>,
    beacons: Option<Beacons>,
    reception: Reception,
    /// What else was in the air beside an exchange's frame, by the frame's number.
    overlaps: Vec<(u64, Other)>,
    /// Frames that have gone on the air.
    frames: u64,
    /// When something happens next, unless a packet joins.
    next: Option<Instant>,
    /// When a node next leaves or comes back.
    presence_changes: Option<Instant>,
    /// Does everybody hear everybody, so that one view of the medium is that of all?
    has_one_view: bool,
    backoffs: Stream,
    errors: Stream,
    arrivals: Arrivals<D>,
    /// Functions that wait for the medium, and since when there have been any.
    waiting: u32,
    waiting_since: Instant,
    airtime: Airtime,
    counters: Vec<Counters>,
    measured: Range<Instant>,
    turned_away: Vec<FlowKey>,
    hold_limits: HoldLimits,
    hack_counters: Vec<crate::hack::Counters>,
    log: Option<Vec<Ppdu<D>>>,
    /// Memory that is used again.
    winners: Vec<FunctionId>,
}

/// Why there can be no such cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The rate control of a node.
    Rate {
        /// Its node.
        node: String,
        /// What is wrong.
        source: rate::Refusal,
    },
    /// A basic rate is no rate of the standard.
    BasicRate,
    /// What is said of reception.
    Reception(reception::config::Fault),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { node, source } => write!(f, "{node}: {source}"),
            Self::BasicRate => write!(f, "a basic rate is no rate of the standard"),
            Self::Reception(fault) => write!(f, "reception.{}: expected {}", fault.path, fault.expected),
        }
    }
}

impl std::error::Error for Error {}

impl<D: Packet> Cell<D> {
    /// A cell that carries no flows yet.
    ///
    /// # Errors
    /// If a mode is none of the standard.
    pub fn new(config: &Config, seed: Seed) -> Result<Self, Error> {
        let nodes = 1 + config.station_names().len();
        let rules = Rules::new(config).ok_or(Error::BasicRate)?;
        if let Some(fault) = config.reception.fault(nodes - 1) {
            return Err(Error::Reception(fault));
        }
        let described = reception::Cell {
            name: &config.name,
            stations: nodes - 1,
            standard: config.standard,
            band: config.band(),
            width: config.width(),
        };
        let reception = Reception::new(&config.reception, described, seed);
        let has_one_view = (0..nodes).all(|at| (0..nodes).all(|of| at == of || reception.hears(at, of)));
        let views = if has_one_view { 1 } else { nodes };
        let contention = Contention::new(rules.timing.slot, config.standard.has_qos(), views);
        let stream = |part: &str| seed.stream(&format!("wifi/{}/{part}", config.name));
        let mut cell = Self {
            contention,
            functions: Vec::new(),
            txqs: Vec::new(),
            distribution: Distribution::default(),
            exchanges: Vec::new(),
            beacons: config.beacon_interval.map(Beacons::new),
            overlaps: Vec::new(),
            frames: 0,
            next: None,
            presence_changes: (!config.reception.absences.is_empty()).then_some(Instant::ZERO),
            reception,
            has_one_view,
            backoffs: stream("backoff"),
            errors: stream("errors"),
            arrivals: Arrivals::default(),
            waiting: 0,
            waiting_since: Instant::ZERO,
            airtime: Airtime::new(nodes),
            counters: vec![Counters::default(); nodes],
            measured: Instant::ZERO..Instant::FAR_FUTURE,
            turned_away: Vec::new(),
            hold_limits: HoldLimits::default(),
            hack_counters: config.hack.map_or_else(Vec::new, |_| vec![crate::hack::Counters::default(); nodes]),
            log: None,
            winners: Vec::new(),
            rules,
            config: config.clone(),
            seed,
        };
        // So that a wrong mode is refused whether a flow uses it or not.
        for node in 0..nodes {
            cell.rate_control(node, 0)?;
        }
        cell.look_ahead();
        Ok(cell)
    }

    /// What happens next has changed.
    fn look_ahead(&mut self) {
        let ends = self.exchanges.iter().map(|exchange| exchange.ends.min(exchange.arrived.next)).min();
        let beacon = self.beacons.as_ref().map(Beacons::due);
        let held = self.hold_limits.next();
        self.next = [ends, self.contention.due(), beacon, self.presence_changes, held].into_iter().flatten().min();
    }

    /// Has a packet arrived that is to be polled?
    #[must_use]
    pub fn has_delivered(&self) -> bool {
        self.arrivals.has_delivered()
    }

    /// The fastest rate at which `node` sends data, in bits per second.
    #[must_use]
    pub fn nominal_rate(&self, node: usize) -> Option<u64> {
        let fastest = self.capabilities().modes().last().copied();
        let of_node = self.txqs.iter().filter(|txq| txq.from == node);
        of_node.filter_map(|txq| txq.rate.only_mode().or(fastest)).map(phy::Mode::data_rate).max()
    }

    fn txq(&mut self, from: usize, to: usize, category: Category) -> Result<TxqId, Error> {
        if let Some(id) = self.distribution.queue(from, to, category) {
            return Ok(id);
        }
        let function = self.function(from, category);
        let of_function = &self.functions[function.0 as usize];
        let id = TxqId(self.txqs.len() as u32);
        let txq = Txq {
            from,
            to,
            function,
            buffer: Buffer::new(of_function.config.without_limit()).uncounted(),
            originator: Originator::default(),
            recipient: Recipient::new(self.rules.window),
            rate: self.rate_control(from, to)?,
            attempt: 0,
            is_ready: false,
            rests: false,
            held: Held::default(),
            hack: None,
            reverse: None,
        };
        self.txqs.push(txq);
        self.functions[function.0 as usize].txqs.push(id);
        self.distribution.add_queue(from, to, category, id);
        self.pair_for_hack(id);
        Ok(id)
    }

    fn function(&mut self, node: usize, category: Category) -> FunctionId {
        let found = self.functions.iter().position(|function| function.node == node && function.category == category);
        if let Some(index) = found {
            return FunctionId(index as u32);
        }
        let own = self.rules.own(&self.config, node);
        let parameters = Parameters::of(self.config.standard, category)
            .with(self.config.access.of(category))
            .with(own.access.of(category));
        let view = self.view_of(node);
        let lane = self.contention.lane(view, &parameters, self.rules.timing.aifs(parameters.aifsn));
        self.functions.push(Function {
            node,
            category,
            parameters,
            lane,
            window: Window::new(&parameters),
            status: Status::Idle(0),
            ready: Ready::new(own.queues),
            txqs: Vec::new(),
            config: own.queue,
            queues: own.queues,
            held: Held::default(),
            length: QueueLength::default(),
            lengths: None,
            short_retries: 0,
            long_retries: 0,
        });
        FunctionId(self.functions.len() as u32 - 1)
    }

    fn rate_control(&self, from: usize, to: usize) -> Result<RateControl, Error> {
        let own = self.rules.own(&self.config, from);
        let mut stream = self.seed.stream(&format!("wifi/{}/rate/{from}/{to}", self.config.name));
        let refused = |source| Error::Rate { node: own.name.to_owned(), source };
        let success = |mode, snr_db, octets| self.reception.success_at(mode, snr_db, octets);
        RateControl::new(own.rate, self.capabilities(), self.typical_exchange(), success, &mut stream).map_err(refused)
    }

    fn capabilities(&self) -> rate::Capabilities {
        rate::Capabilities {
            standard: self.config.standard,
            width: self.config.width(),
            guard: self.config.guard_interval(),
            streams: self.config.streams,
            is_short_preamble: self.config.short_preamble,
        }
    }

    /// By which the ideal rate control compares modes: full frames, best effort, nobody else in line.
    fn typical_exchange(&self) -> rate::Exchange {
        const ETHERNET: Bytes = Bytes(1500);
        let frame = crate::frame::mpdu(ETHERNET, self.rules.has_qos);
        let parameters = Parameters::of(self.config.standard, Category::BestEffort);
        let mean_backoff = self.rules.timing.slot * u64::from(parameters.cw_min) / 2;
        let answer = if self.rules.max_aggregate.is_some() { rules::Answer::BlockAck } else { rules::Answer::Ack };
        rate::Exchange {
            frame,
            most: self.rules.max_aggregate.unwrap_or(frame),
            longest: self.rules.max_time,
            overhead: self.rules.timing.aifs(parameters.aifsn)
                + mean_backoff
                + self.rules.answer_space
                + self.rules.answer_time(answer, self.rules.control.lowest()),
        }
    }

    /// The view of the medium that a node has.
    const fn view_of(&self, node: usize) -> usize {
        if self.has_one_view { 0 } else { node }
    }
}

impl<D: Packet> Machine for Cell<D> {
    /// A packet, with the node at which it enters or leaves the cell.
    type Datagram = (usize, D);

    fn accept(&mut self, now: Instant, (node, packet): (usize, D)) {
        self.enter(now, node, packet);
    }

    fn wake(&mut self, now: Instant) {
        while let Some(index) = self.exchanges.iter().position(|exchange| exchange.ends <= now) {
            self.step(now, index);
        }
        while let Some(index) = self.exchanges.iter().position(|exchange| exchange.arrived.next <= now) {
            self.mpdu_ends(now, index);
        }
        self.presence_changes(now);
        self.held_too_long(now);
        self.beacon_falls_due(now);
        if self.contention.due().is_some_and(|due| due <= now) {
            self.contend(now);
        }
        self.look_ahead();
    }

    fn deadline(&self) -> Option<Instant> {
        self.next
    }

    fn poll(&mut self, _now: Instant) -> Option<(usize, D)> {
        self.arrivals.take()
    }
}

/// A frame's sequence number as it is sent: 12 bits (9.2.4.4.2).
const fn on_the_air(sequence: u64) -> u16 {
    (sequence % 4096) as u16
}

/// A PPDU with its signal extension.
fn airtime(rules: &Rules, mode: phy::Mode, octets: Bytes) -> acklab_base::Duration {
    rules.timing.duration(mode, octets)
}
