//! Creation of a cell, and of its queues and EDCAFs when a flow first needs them.

use super::backlog::{Backlog, Edcaf, Occupancy, Status, Txq};
use super::beacon::Beacons;
use super::by_id::TxqId;
use super::contenders::Contenders;
use super::distribution::Distribution;
use super::exchange::Response;
use super::measurement::Measurement;
use super::medium::Medium;
use super::queue::Ready;
use super::rules::Rules;
use super::thin::Thinners;
use super::timers::Timers;
use super::{Arrivals, Cell, Error};
use crate::access::{Category, EdcafId, Parameters, Window};
use crate::config::CellConfig;
use crate::originator::Originator;
use crate::packet::Packet;
use crate::rate::{self, RateControl};
use crate::reception::{self, Reception};
use crate::recipient::Recipient;
use acklab_base::random::Seed;
use acklab_base::{Bytes, Instant};
use acklab_path::counters::QueueLength;
use acklab_path::queue::Buffer;

impl<D: Packet> Cell<D> {
    /// Returns a cell that carries no flows yet.
    ///
    /// # Errors
    /// If the standard does not define a configured mode, or if the configuration of reception is
    /// faulty.
    pub fn new(config: &CellConfig, seed: Seed) -> Result<Self, Error> {
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
            medium: Medium::new(
                (0..nodes).map(|node| rules.node_settings(config, node).cca).collect(),
                &rules,
                reception,
                stream("errors"),
            ),
            distribution: Distribution::default(),
            thinners: Thinners::new(config, &rules, nodes),
            arrivals: Arrivals::default(),
            timers: Timers::new(config.beacon_interval.map(Beacons::new), presence),
            measurement: Measurement::new(nodes, config.hack.is_some()),
            rules,
            config: config.clone(),
            seed,
        };
        // An impossible mode is an error even if no flow uses it.
        for node in 0..nodes {
            cell.rate_control(node, 0)?;
        }
        cell.update_deadline();
        Ok(cell)
    }

    /// Returns the queue from one node to another in a category, and creates it if necessary.
    pub(super) fn txq(&mut self, from: usize, to: usize, category: Category) -> Result<TxqId, Error> {
        if let Some(id) = self.distribution.queue(from, to, category) {
            return Ok(id);
        }
        let edcaf_id = self.edcaf(from, category);
        let edcaf = &self.backlog.edcafs[edcaf_id];
        let draws = self.seed.stream(&format!("wifi/{}/queue/{from}/{to}/{category:?}", self.config.name));
        let id = self.backlog.txqs.push(Txq {
            from,
            to,
            edcaf: edcaf_id,
            buffer: Buffer::new(edcaf.config.without_limit(), draws).uncounted(),
            originator: Originator::default(),
            recipient: Recipient::new(self.rules.window),
            rate: self.rate_control(from, to)?,
            attempt: 0,
            short_retries: 0,
            long_retries: 0,
            is_ready: false,
            is_paused: false,
            occupancy: Occupancy::default(),
            hack: None,
            reverse: None,
        });
        self.distribution.add_queue(from, to, category, id);
        self.pair_for_hack(id);
        Ok(id)
    }

    /// Returns the EDCAF of a node and category, and creates it if necessary.
    fn edcaf(&mut self, node: usize, category: Category) -> EdcafId {
        let is_it = |id: &EdcafId| {
            let edcaf = &self.backlog.edcafs[*id];
            edcaf.node == node && edcaf.category == category
        };
        if let Some(id) = self.backlog.edcafs.ids().find(is_it) {
            return id;
        }
        let settings = self.rules.node_settings(&self.config, node);
        let defaults = if self.rules.has_qos {
            self.config.edca.parameters(category, node == super::ACCESS_POINT)
        } else {
            Parameters::dcf(self.config.standard)
        };
        let parameters = defaults.with(self.config.access.of(category)).with(settings.access.of(category));
        let view = self.medium.view_of(node);
        let aifs = self.rules.timing.aifs(parameters.aifsn);
        let lane = self.medium.contention.lane(view, &parameters, aifs, settings.cca);
        self.backlog.edcafs.push(Edcaf {
            node,
            category,
            parameters,
            lane,
            window: Window::new(&parameters),
            status: Status::Idle(0),
            ready: Ready::new(settings.queues),
            config: settings.queue,
            queues: settings.queues,
            counts: self.config.queue_counts,
            occupancy: Occupancy::default(),
            length: QueueLength::default(),
            lengths: None,
            short_retries: 0,
            long_retries: 0,
        })
    }

    fn rate_control(&self, from: usize, to: usize) -> Result<RateControl, Error> {
        let settings = self.rules.node_settings(&self.config, from);
        let mut stream = self.seed.stream(&format!("wifi/{}/rate/{from}/{to}", self.config.name));
        let refused = |source| Error::Rate { node: settings.name.to_owned(), source };
        let success = |mode, snr_db, octets| self.medium.reception.success_at(mode, snr_db, octets);
        RateControl::new(settings.rate, self.capabilities(), self.typical_exchange(), success, &mut stream)
            .map_err(refused)
    }

    pub(super) fn capabilities(&self) -> rate::Capabilities {
        rate::Capabilities {
            standard: self.config.standard,
            width: self.config.width(),
            guard: self.config.guard_interval(),
            streams: self.config.streams,
            is_short_preamble: self.config.short_preamble,
        }
    }

    /// Returns the exchange for which the ideal rate control compares modes: full frames of best
    /// effort without contention.
    fn typical_exchange(&self) -> rate::Exchange {
        const ETHERNET: Bytes = Bytes(1500);
        let frame = self.rules.mpdu(ETHERNET);
        let parameters = Parameters::of(self.config.standard, Category::BestEffort);
        let mean_backoff = self.rules.timing.slot * u64::from(parameters.cw_min) / 2;
        let response = if self.rules.max_aggregate.is_some() { Response::BlockAck } else { Response::Ack };
        rate::Exchange {
            frame,
            maximum: self.rules.max_aggregate.unwrap_or(frame),
            longest: self.rules.max_time,
            overhead: self.rules.timing.aifs(parameters.aifsn)
                + mean_backoff
                + self.rules.response_space
                + self.rules.response_time(response, self.rules.control.lowest()),
        }
    }
}
