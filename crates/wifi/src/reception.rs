//! Whether a receiver decodes a frame.
//!
//! | module | holds |
//! |---|---|
//! | [`config`] | the settings: [`ReceptionConfig`] |
//! | [`error`] | frame error rates by signal-to-noise ratio |
//! | [`place`], [`path_loss`] | positions of nodes, path loss, and noise |
//! | [`capture`] | which frame survives when several overlap |
//! | [`schedule`] | fades and absences |
//!
//! [`Reception`] computes probabilities. The cell draws the random numbers.

pub mod capture;
pub mod config;
pub mod error;
mod link;
pub mod path_loss;
pub mod place;
pub mod schedule;

pub use config::{Channel, ReceptionConfig};
pub use error::ErrorTable;
pub use link::Link;
pub use schedule::Presence;

use crate::phy::{Band, Mode, Standard, Width};
use crate::ppdu::Signal;
use acklab_base::random::Seed;
use acklab_base::{Bytes, Instant};
use capture::{Capture, Overlap};
use config::{Snr, Streams};
use error::ratio;
use schedule::Schedule;

/// The cell whose frames are received.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// The name of the cell, which selects the random stream of positions.
    pub name: &'a str,
    /// The number of stations, without the access point.
    pub stations: usize,
    /// The standard of the nodes.
    pub standard: Standard,
    /// The band.
    pub band: Band,
    /// The width of the channel.
    pub width: Width,
}

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Data and management.
    Data,
    /// RTS, CTS, ACK, Block ACK and its request.
    Control,
}

/// A frame that overlaps with the examined frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interferer {
    /// The sender of the overlapping frame.
    pub from: usize,
    /// `true` if the overlapping frame began before the examined frame.
    pub is_earlier: bool,
}

/// The pairs of nodes that receive each other, and the quality of reception. Node 0 is the access
/// point.
#[derive(Clone, Debug)]
pub struct Reception {
    model: Model,
    schedule: Schedule,
    nodes: usize,
    /// For each receiver and sender, `true` if the receiver senses the sender.
    hears: Vec<bool>,
}

#[derive(Clone, Debug)]
enum Model {
    Perfect,
    Fixed { data: f64, control: f64 },
    Snr(Box<Air>),
}

/// Powers and noise of a cell.
#[derive(Clone, Debug)]
struct Air {
    table: ErrorTable,
    /// Powers in dBm by receiver and sender, without fades.
    powers: Vec<f64>,
    /// Noise in dBm by width, narrowest first.
    noise: [f64; Width::ALL.len()],
    dsss_noise: f64,
    streams: Streams,
    capture: Option<Capture>,
}

impl Reception {
    /// Creates the reception of a cell. The configuration must have no
    /// [`fault`](ReceptionConfig::fault).
    #[must_use]
    pub fn new(config: &ReceptionConfig, cell: Cell<'_>, seed: Seed) -> Self {
        let nodes = cell.stations + 1;
        let mut hears = vec![true; nodes * nodes];
        let model = match &config.channel {
            Channel::Perfect => Model::Perfect,
            Channel::Fixed { frame_error_rate, control_error_rate } => {
                Model::Fixed { data: 1.0 - frame_error_rate, control: 1.0 - control_error_rate }
            }
            Channel::Snr(snr) => {
                let air = Air::new(snr, cell, seed);
                let threshold = snr.carrier_sense.unwrap_or_else(|| carrier_sense_dbm(cell));
                for (hears, power) in hears.iter_mut().zip(&air.powers) {
                    *hears = *power >= threshold;
                }
                Model::Snr(Box::new(air))
            }
        };
        for [one, other] in &config.hidden {
            hears[one * nodes + other] = false;
            hears[other * nodes + one] = false;
        }
        Self { model, schedule: Schedule::new(&config.fades, &config.absences), nodes, hears }
    }

    /// Returns `true` if the node `at` senses transmissions of `of`. Fades do not change the
    /// result.
    #[must_use]
    pub fn hears(&self, at: usize, of: usize) -> bool {
        self.hears[at * self.nodes + of]
    }

    /// Returns the presence of a node.
    #[must_use]
    pub fn presence(&self, now: Instant, node: usize) -> Presence {
        self.schedule.presence(now, node)
    }

    /// Returns the first instant after `now` at which a node leaves or returns.
    #[must_use]
    pub fn next_presence_change(&self, now: Instant) -> Option<Instant> {
        self.schedule.next_presence_change(now)
    }

    /// Returns the signal-to-noise ratio of each stream in dB. Returns `None` if the channel model
    /// has none.
    #[must_use]
    pub fn snr_db(&self, now: Instant, from: usize, to: usize, mode: Mode) -> Option<f64> {
        let Model::Snr(air) = &self.model else { return None };
        Some(self.power_dbm(air, now, from, to) - air.noise_dbm(mode) - air.stream_loss_db(mode))
    }

    /// Returns the levels at which `to` hears `from`. Returns `None` if the channel model has none.
    #[must_use]
    pub fn signal(&self, now: Instant, from: usize, to: usize, mode: Mode) -> Option<Signal> {
        let Model::Snr(air) = &self.model else { return None };
        Some(Signal { power_dbm: self.power_dbm(air, now, from, to), noise_dbm: air.noise_dbm(mode) })
    }

    /// Returns the reception of PPDUs in `mode` that do not overlap with other PPDUs.
    #[must_use]
    pub fn link(&self, now: Instant, from: usize, to: usize, mode: Mode, kind: Kind) -> Link {
        if self.is_broken(now, from, to) {
            return Link::LOST;
        }
        match &self.model {
            Model::Perfect => Link::fixed(1.0),
            Model::Fixed { data, .. } if kind == Kind::Data => Link::fixed(*data),
            Model::Fixed { control, .. } => Link::fixed(*control),
            Model::Snr(air) => {
                let snr_db = self.power_dbm(air, now, from, to) - air.noise_dbm(mode);
                air.link(mode, snr_db)
            }
        }
    }

    /// Returns the reception of a PPDU in `mode` that overlaps with `others`.
    ///
    /// Without capture, the PPDU is lost if its receiver senses any of `others`. With capture, the
    /// powers of all `others` are added, whether or not the receiver senses them.
    #[must_use]
    pub fn link_beside(
        &self,
        now: Instant,
        from: usize,
        to: usize,
        mode: Mode,
        kind: Kind,
        others: &[Interferer],
    ) -> Link {
        if others.is_empty() {
            return self.link(now, from, to, mode, kind);
        }
        if let Model::Snr(air) = &self.model
            && let Some(capture) = air.capture
        {
            let overlap = |other: &Interferer| Overlap {
                power_dbm: self.power_dbm(air, now, other.from, to),
                is_earlier: other.is_earlier,
            };
            // A receiver cannot decode a frame while it transmits.
            let survives = others.iter().all(|other| other.from != to) && !self.is_broken(now, from, to);
            let signal = self.power_dbm(air, now, from, to);
            return match capture.survives(signal, air.noise_dbm(mode), others.iter().map(overlap)) {
                Some(sinr_db) if survives => air.link(mode, sinr_db),
                _ => Link::LOST,
            };
        }
        if others.iter().any(|other| other.from == to || self.hears(to, other.from)) {
            return Link::LOST;
        }
        self.link(now, from, to, mode, kind)
    }

    /// Returns `true` if there are powers, so that nodes at different places sense a collision
    /// differently.
    #[must_use]
    pub const fn has_powers(&self) -> bool {
        matches!(self.model, Model::Snr(_))
    }

    /// Returns `true` if a node detects the preamble of a PPDU in `mode` that begins at the same
    /// time as these other PPDUs. The PPDU must be 4 dB stronger than noise and all other PPDUs
    /// together (ns-3's `ThresholdPreambleDetectionModel`). In a model without powers, all PPDUs
    /// are equally strong, and no preamble is detected.
    #[must_use]
    pub fn detects_preamble(&self, now: Instant, from: usize, at: usize, mode: Mode, others: &[Interferer]) -> bool {
        const THRESHOLD_DB: f64 = 4.0;
        let Model::Snr(air) = &self.model else { return false };
        let interference: f64 = others.iter().map(|other| ratio(self.power_dbm(air, now, other.from, at))).sum();
        let unwanted_dbm = 10.0 * libm::log10(ratio(air.noise_dbm(mode)) + interference);
        self.power_dbm(air, now, from, at) - unwanted_dbm >= THRESHOLD_DB
    }

    /// Returns `true` if the receiver of a frame is absent. Other nodes can still receive the
    /// frame.
    #[must_use]
    pub fn is_absent(&self, now: Instant, node: usize) -> bool {
        self.schedule.presence(now, node) != Presence::Here
    }

    /// Returns the probability that a frame of `octets` is received in a PPDU that does not overlap
    /// with other PPDUs.
    #[must_use]
    pub fn success(&self, now: Instant, from: usize, to: usize, mode: Mode, kind: Kind, octets: Bytes) -> f64 {
        let mut link = self.link(now, from, to, mode, kind);
        link.header() * link.success(octets)
    }

    /// Returns the probability that a frame of `octets` is received at this signal-to-noise ratio
    /// of one stream. Some channel models ignore the ratio.
    #[must_use]
    pub fn success_at(&self, mode: Mode, snr_db: f64, octets: Bytes) -> f64 {
        match &self.model {
            Model::Perfect => 1.0,
            Model::Fixed { data, .. } => *data,
            Model::Snr(air) => {
                let mut link = air.link(mode, snr_db);
                link.header() * link.success(octets)
            }
        }
    }

    fn is_broken(&self, now: Instant, from: usize, to: usize) -> bool {
        [from, to].iter().any(|node| self.schedule.presence(now, *node) != Presence::Here)
    }

    fn power_dbm(&self, air: &Air, now: Instant, from: usize, to: usize) -> f64 {
        let fades = self.schedule.loss_db(now, from) + self.schedule.loss_db(now, to);
        air.powers[to * self.nodes + from] - fades
    }
}

impl Air {
    fn new(config: &Snr, cell: Cell<'_>, seed: Seed) -> Self {
        let frequency = config.frequency.unwrap_or(cell.band.centre_ghz());
        let points = config.place.points(cell.stations, seed, cell.name);
        let mut powers = Vec::with_capacity(points.len() * points.len());
        for to in &points {
            powers.extend(points.iter().enumerate().map(|(from, point)| {
                let sent = if from == 0 { config.access_point_power } else { config.station_power };
                sent - config.path_loss.loss_db(place::distance(*to, *point), frequency * 1e9)
            }));
        }
        let noise = |bandwidth| path_loss::noise_dbm(bandwidth, config.noise_figure);
        Self {
            table: ErrorTable::new(cell.standard),
            powers,
            noise: Width::ALL.map(|width| noise(width.hertz())),
            dsss_noise: noise(error::DSSS_NOISE_BANDWIDTH_HZ),
            streams: config.streams,
            capture: config.capture,
        }
    }

    fn noise_dbm(&self, mode: Mode) -> f64 {
        if mode.format.is_dsss() { self.dsss_noise } else { self.noise[mode.width as usize] }
    }

    fn stream_loss_db(&self, mode: Mode) -> f64 {
        match self.streams {
            Streams::Orthogonal => 0.0,
            Streams::SharedPower => 10.0 * libm::log10(f64::from(mode.streams)),
        }
    }

    /// Returns the reception of PPDUs. The signal fields are sent as one stream.
    fn link(&self, mode: Mode, snr_db: f64) -> Link {
        Link::with_errors(
            self.table.header_success(mode, snr_db),
            self.table.errors_per_octet(mode, snr_db - self.stream_loss_db(mode)),
        )
    }
}

/// Returns the minimum power at which a node must sense the channel busy.
fn carrier_sense_dbm(cell: Cell<'_>) -> f64 {
    cell.standard.generation().carrier_sense_dbm + 10.0 * libm::log10(cell.width.hertz() / Width::Mhz20.hertz())
}
