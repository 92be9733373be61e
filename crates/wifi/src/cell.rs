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
//!
//! | module | holds the state |
//! |---|---|
//! | `rules` | what a configuration comes to, which does not change |
//! | `backlog` | what waits at each node, and the access functions by which it is sent |
//! | `contenders` | who waits for the medium |
//! | `medium` | what is on the air, who senses it, and what reaches whom |
//! | `timers` | what happens by itself when its time comes |
//! | `measurement` | what is counted and kept, on which nothing depends |

mod arrivals;
mod assemble;
mod backlog;
mod beacon;
mod by_id;
mod contend;
mod contenders;
mod distribution;
mod hack;
mod line_up;
mod measurement;
mod medium;
mod observe;
mod presence;
mod queue;
mod receive;
mod rules;
mod settle;
mod timers;
mod transmit;

use crate::access::{Category, FunctionId, Parameters, Window};
use crate::config::Config;
use crate::originator::Originator;
use crate::packet::Packet;
use crate::rate::RateControl;
use crate::reception::Reception;
use crate::recipient::Recipient;
use crate::{phy, rate, reception};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Instant, Machine};
use acklab_path::counters::QueueLength;
use acklab_path::queue::Buffer;
pub use observe::QueueView;

use arrivals::Arrivals;
use backlog::{Backlog, Edcaf, Held, Status, Txq, TxqId};
use beacon::Beacons;
use contenders::Contenders;
use distribution::Distribution;
use measurement::Measurement;
use medium::Medium;
use queue::Ready;
use rules::Rules;
use std::fmt;
use timers::Timers;

/// The access point's node.
pub const ACCESS_POINT: usize = 0;

/// An access point and its stations.
#[derive(Clone, Debug)]
pub struct Cell<D> {
    config: Config,
    seed: Seed,
    rules: Rules,
    backlog: Backlog<D>,
    contenders: Contenders,
    medium: Medium,
    distribution: Distribution,
    arrivals: Arrivals<D>,
    timers: Timers,
    measurement: Measurement<D>,
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
        let stream = |part: &str| seed.stream(&format!("wifi/{}/{part}", config.name));
        let presence = (!config.reception.absences.is_empty()).then_some(Instant::ZERO);
        let mut cell = Self {
            backlog: Backlog::default(),
            contenders: Contenders::new(stream("backoff")),
            medium: Medium::new(nodes, &rules, reception, stream("errors")),
            distribution: Distribution::default(),
            arrivals: Arrivals::default(),
            timers: Timers::new(config.beacon_interval.map(Beacons::new), presence),
            measurement: Measurement::new(nodes, config.hack.is_some()),
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
        self.timers.look_ahead(self.medium.due());
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
        let of_node = self.backlog.txqs.iter().filter(|txq| txq.from == node);
        of_node.filter_map(|txq| txq.rate.only_mode().or(fastest)).map(phy::Mode::data_rate).max()
    }

    fn txq(&mut self, from: usize, to: usize, category: Category) -> Result<TxqId, Error> {
        if let Some(id) = self.distribution.queue(from, to, category) {
            return Ok(id);
        }
        let function = self.function(from, category);
        let of_function = &self.backlog.edcafs[function];
        let id = self.backlog.txqs.push(Txq {
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
        });
        self.distribution.add_queue(from, to, category, id);
        self.pair_for_hack(id);
        Ok(id)
    }

    fn function(&mut self, node: usize, category: Category) -> FunctionId {
        let is_it = |id: &FunctionId| {
            let edcaf = &self.backlog.edcafs[*id];
            edcaf.node == node && edcaf.category == category
        };
        if let Some(id) = self.backlog.edcafs.ids().find(is_it) {
            return id;
        }
        let own = self.rules.own(&self.config, node);
        let parameters = Parameters::of(self.config.standard, category)
            .with(self.config.access.of(category))
            .with(own.access.of(category));
        let view = self.medium.view_of(node);
        let lane = self.medium.contention.lane(view, &parameters, self.rules.timing.aifs(parameters.aifsn));
        self.backlog.edcafs.push(Edcaf {
            node,
            category,
            parameters,
            lane,
            window: Window::new(&parameters),
            status: Status::Idle(0),
            ready: Ready::new(own.queues),
            config: own.queue,
            queues: own.queues,
            held: Held::default(),
            length: QueueLength::default(),
            lengths: None,
            short_retries: 0,
            long_retries: 0,
        })
    }

    fn rate_control(&self, from: usize, to: usize) -> Result<RateControl, Error> {
        let own = self.rules.own(&self.config, from);
        let mut stream = self.seed.stream(&format!("wifi/{}/rate/{from}/{to}", self.config.name));
        let refused = |source| Error::Rate { node: own.name.to_owned(), source };
        let success = |mode, snr_db, octets| self.medium.reception.success_at(mode, snr_db, octets);
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
}

impl<D: Packet> Machine for Cell<D> {
    /// A packet, with the node at which it enters or leaves the cell.
    type Datagram = (usize, D);

    fn accept(&mut self, now: Instant, (node, packet): (usize, D)) {
        self.enter(now, node, packet);
    }

    fn wake(&mut self, now: Instant) {
        while let Some(index) = self.medium.exchanges.iter().position(|exchange| exchange.ends <= now) {
            self.step(now, index);
        }
        while let Some(index) = self.medium.exchanges.iter().position(|exchange| exchange.arrived.next <= now) {
            self.mpdu_ends(now, index);
        }
        self.presence_changes(now);
        self.held_too_long(now);
        self.beacon_falls_due(now);
        if self.medium.contention.due().is_some_and(|due| due <= now) {
            self.contend(now);
        }
        self.look_ahead();
    }

    fn deadline(&self) -> Option<Instant> {
        self.timers.next()
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
