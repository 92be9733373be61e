//! What a configuration comes to.

use crate::config::{Access, AfterMissed, Config, Dialect, Protection, Queues, Retries};
use crate::frame;
use crate::phy::{Band, ControlRates, Mode, Timing};
use crate::rate;
use acklab_base::{Bytes, Duration};
use acklab_path::queue;

/// The rules that all nodes of a cell obey.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) dialect: Dialect,
    pub(super) timing: Timing,
    pub(super) control: ControlRates,
    /// In which mode the medium is reserved ahead of each OFDM frame.
    pub(super) protection: Option<(Protection, Mode)>,
    pub(super) has_qos: bool,
    /// Is even a single frame sent within an A-MPDU (10.12.8: VHT and HE)?
    pub(super) always_delimits: bool,
    pub(super) rts_threshold: Option<Bytes>,
    pub(super) retries: Retries,
    pub(super) lifetime: Option<Duration>,
    /// Octets of an A-MPDU; none if frames are sent one by one.
    pub(super) max_aggregate: Option<Bytes>,
    pub(super) max_frames: u64,
    pub(super) max_time: Duration,
    pub(super) a_msdu: Bytes,
    pub(super) window: u16,
    pub(super) after_missed: AfterMissed,
    /// From the end of a frame to the beginning of its answer: SIFS, or more.
    pub(super) answer_space: Duration,
}

/// What one node has of its own.
pub(super) struct Own<'a> {
    pub(super) name: &'a str,
    pub(super) queue: queue::Config,
    pub(super) queues: Queues,
    pub(super) access: &'a Access,
    pub(super) rate: rate::Config,
}

/// How a PPDU is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    None,
    Cts,
    Ack,
    BlockAck,
}

impl Rules {
    /// Nothing, if a basic rate is none of the standard.
    pub(super) fn new(config: &Config) -> Option<Self> {
        let standard = config.standard;
        let control = ControlRates::new(standard, config.short_preamble, config.basic_rates.as_deref())?;
        // The highest basic rate of HR/DSSS (10.6.9), when none is given: 2 Mbps.
        let dsss = ControlRates::new(crate::phy::Standard::B, config.short_preamble, None)?;
        let protection = (config.protection != Protection::None && config.band() == Band::Ghz2)
            .then(|| (config.protection, dsss.response_to(Mode::dsss(3, config.short_preamble))));
        let is_short_slot = !config.long_slot && config.protection == Protection::None;
        let timing = Timing::new(standard, config.band(), is_short_slot);
        Some(Self {
            dialect: config.dialect,
            answer_space: timing.sifs + config.late_answers,
            timing,
            control,
            protection,
            has_qos: standard.has_qos(),
            always_delimits: matches!(standard, crate::phy::Standard::Ac | crate::phy::Standard::Ax),
            rts_threshold: config.rts_threshold,
            retries: config.retries,
            lifetime: config.lifetime,
            max_aggregate: config.max_aggregate(),
            max_frames: u64::from(config.aggregation.max_frames.unwrap_or(u16::MAX).min(config.aggregation.window)),
            max_time: config.aggregation.max_time,
            a_msdu: if standard.has_qos() { config.aggregation.a_msdu } else { Bytes::ZERO },
            window: config.aggregation.window,
            after_missed: config.aggregation.after_missed,
        })
    }

    pub(super) fn own<'a>(&self, config: &'a Config, node: usize) -> Own<'a> {
        let mut before = 0;
        for station in &config.station {
            before += usize::from(station.count);
            if (1..=before).contains(&node) {
                return Own {
                    name: &station.name,
                    queue: station.queue,
                    queues: Queues::PerStation,
                    access: &station.access,
                    rate: station.rate.unwrap_or(config.rate),
                };
            }
        }
        let ap = &config.ap;
        Own {
            name: &ap.name,
            queue: ap.queue,
            queues: ap.queues,
            access: &ap.access,
            rate: ap.rate.unwrap_or(config.rate),
        }
    }

    /// Octets of an answer.
    pub(super) const fn answer_octets(&self, answer: Answer) -> Bytes {
        match answer {
            Answer::None => Bytes::ZERO,
            Answer::Cts | Answer::Ack => frame::ACK,
            Answer::BlockAck => frame::block_ack(self.window),
        }
    }

    /// How long an answer takes in this mode.
    pub(super) fn answer_time(&self, answer: Answer, mode: Mode) -> Duration {
        self.timing.duration(mode, self.answer_octets(answer))
    }

    /// Do answers come later than after SIFS?
    pub(super) fn answers_late(&self) -> bool {
        self.answer_space > self.timing.sifs
    }

    /// What those who sensed a frame but could not read it wait beyond AIFS: EIFS, if they detected its preamble (10.3.2.3.7).
    pub(super) fn unread_extra(&self, is_undetected: bool) -> Duration {
        if is_undetected {
            return Duration::ZERO;
        }
        self.timing.eifs_extra(self.control.lowest(), frame::ACK)
    }

    /// After which time without the beginning of an answer in this mode there will be none.
    pub(super) fn response_timeout(&self, mode: Mode) -> Duration {
        self.timing.response_timeout(mode) + (self.answer_space - self.timing.sifs)
    }
}
