//! What becomes of a frame at its receiver.
//!
//! | module | holds |
//! |---|---|
//! | [`config`] | how it is described: [`Config`] |
//! | [`error`] | how often a frame fails at a signal-to-noise ratio |
//! | [`place`], [`path_loss`] | where nodes are, what is left of a signal there, and the noise beside it |
//! | [`capture`] | which frame survives when several are in the air |
//! | [`schedule`] | fades and absences |
//!
//! [`Reception`] answers questions and draws nothing: chance is the cell's.

pub mod capture;
pub mod config;
pub mod error;
pub mod path_loss;
pub mod place;
pub mod schedule;

pub use config::{Channel, Config};
pub use error::ErrorTable;
pub use schedule::Presence;

use crate::phy::{Band, Format, Mode, Standard, Width};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Instant};
use capture::{Capture, Overlap};
use config::{Snr, Streams};
use schedule::Schedule;

/// The cell whose frames are received.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// Its name, by which random places are drawn.
    pub name: &'a str,
    /// How many stations it has beside its access point.
    pub stations: usize,
    /// What they speak.
    pub standard: Standard,
    /// Where in the spectrum.
    pub band: Band,
    /// The width of its channel.
    pub width: Width,
}

/// What kind of frame it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Data and management.
    Data,
    /// RTS, CTS, ACK, Block ACK and its request.
    Control,
}

/// A frame that is in the air beside the one in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    /// Who sends it.
    pub from: usize,
    /// Had it begun when the frame in question began?
    pub is_earlier: bool,
}

/// Who hears whom, and how well. Nodes count from 0, the access point.
#[derive(Clone, Debug)]
pub struct Reception {
    model: Model,
    schedule: Schedule,
    nodes: usize,
    /// By hearer and sender.
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
    /// In dBm by receiver and sender, without fades.
    powers: Vec<f64>,
    /// In dBm by width, narrowest first.
    noise: [f64; 4],
    dsss_noise: f64,
    streams: Streams,
    capture: Option<Capture>,
}

impl Reception {
    /// Reception in a cell. The configuration has no [`fault`](Config::fault).
    #[must_use]
    pub fn new(config: &Config, cell: Cell<'_>, seed: Seed) -> Self {
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

    /// Does a node hear another send, well enough to leave the channel to it? Fades change nothing here.
    #[must_use]
    pub fn hears(&self, at: usize, of: usize) -> bool {
        self.hears[at * self.nodes + of]
    }

    /// Is a node there?
    #[must_use]
    pub fn presence(&self, now: Instant, node: usize) -> Presence {
        self.schedule.presence(now, node)
    }

    /// The first instant after `now` at which some node leaves or comes back.
    #[must_use]
    pub fn next_presence_change(&self, now: Instant) -> Option<Instant> {
        self.schedule.next_presence_change(now)
    }

    /// The ratio of signal to noise of each stream, in dB; nothing, if the channel knows none.
    #[must_use]
    pub fn snr_db(&self, now: Instant, from: usize, to: usize, mode: Mode) -> Option<f64> {
        let Model::Snr(air) = &self.model else { return None };
        Some(self.power_dbm(air, now, from, to) - air.noise_dbm(mode) - air.stream_loss_db(mode))
    }

    /// How PPDUs in `mode` arrive that meet no other in the air.
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

    /// How a PPDU in `mode` arrives that meets `others` in the air.
    ///
    /// Without capture it is lost if its receiver hears any of them. With capture all count, heard or not, by their power.
    #[must_use]
    pub fn link_beside(&self, now: Instant, from: usize, to: usize, mode: Mode, kind: Kind, others: &[Other]) -> Link {
        if others.is_empty() {
            return self.link(now, from, to, mode, kind);
        }
        if let Model::Snr(air) = &self.model
            && let Some(capture) = air.capture
        {
            let overlap = |other: &Other| Overlap {
                power_dbm: self.power_dbm(air, now, other.from, to),
                is_earlier: other.is_earlier,
            };
            // A receiver cannot follow a frame while it sends one itself.
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

    /// The probability that a frame of so many octets arrives in a PPDU of its own that meets no other.
    #[must_use]
    pub fn success(&self, now: Instant, from: usize, to: usize, mode: Mode, kind: Kind, octets: Bytes) -> f64 {
        let mut link = self.link(now, from, to, mode, kind);
        link.header() * link.success(octets)
    }

    /// The probability that a frame of so many octets arrives at this ratio of signal to noise of one stream; where the channel knows
    /// none, whatever it is.
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
        let frequency = config.frequency.unwrap_or(match cell.band {
            Band::Ghz2 => 2.437,
            Band::Ghz5 => 5.18,
        });
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
            noise: [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160].map(|width| noise(width.hertz())),
            dsss_noise: noise(error::DSSS_NOISE_BANDWIDTH_HZ),
            streams: config.streams,
            capture: config.capture,
        }
    }

    fn noise_dbm(&self, mode: Mode) -> f64 {
        match mode.format {
            Format::Dsss | Format::ShortDsss => self.dsss_noise,
            _ => self.noise[mode.width as usize],
        }
    }

    fn stream_loss_db(&self, mode: Mode) -> f64 {
        match self.streams {
            Streams::Orthogonal => 0.0,
            Streams::SharedPower => 10.0 * libm::log10(f64::from(mode.streams)),
        }
    }

    /// The signal fields are sent as one stream.
    fn link(&self, mode: Mode, snr_db: f64) -> Link {
        Link {
            header: self.table.header_success(mode, snr_db),
            errors_per_octet: self.table.errors_per_octet(mode, snr_db - self.stream_loss_db(mode)),
            ..Link::fixed(1.0)
        }
    }
}

/// The least power at which a node must find the channel busy.
fn carrier_sense_dbm(cell: Cell<'_>) -> f64 {
    match cell.standard {
        // 16.3.8.5, the most sensitive of its cases.
        Standard::B => -76.0,
        // 17.3.10.6, 19.3.19.5.4, 21.3.18.5.3.
        _ => -82.0 + 10.0 * libm::log10(cell.width.hertz() / Width::Mhz20.hertz()),
    }
}

/// How PPDUs of one mode arrive from one node at another, at one time: ready to be asked for each frame in them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    header: f64,
    whatever_its_length: f64,
    errors_per_octet: f64,
    /// The last question and its answer: most frames of an aggregate are as long as the one before.
    last: (u64, f64),
}

impl Link {
    /// Nothing arrives.
    pub const LOST: Self = Self { header: 0.0, ..Self::fixed(0.0) };

    const fn fixed(success: f64) -> Self {
        Self { header: 1.0, whatever_its_length: success, errors_per_octet: 0.0, last: (0, success) }
    }

    /// The probability that the signal fields are read. If they are not, all of the PPDU is lost.
    #[must_use]
    pub const fn header(&self) -> f64 {
        self.header
    }

    /// The probability that a frame of so many octets in it arrives, given that the signal fields are read.
    pub fn success(&mut self, octets: Bytes) -> f64 {
        if octets.0 != self.last.0 {
            let success = self.whatever_its_length * libm::exp(-self.errors_per_octet * octets.0 as f64);
            self.last = (octets.0, success);
        }
        self.last.1
    }
}
