//! The configuration as constants of the run.

use super::dialect::{self, BackoffRange, CollidingSenders, Durations, EifsEnd, Encapsulation, Reading, Sensing};
use super::exchange::Exchange;
use crate::access::RxEnd;
use crate::config::{Access, AfterMissed, Config, Delivery, EifsAfterCollision, Protection, Queues, Retries};
use crate::frame;
use crate::phy::{Band, ControlRates, Mode, Timing};
use crate::rate;
use acklab_base::{Bytes, Duration};
use acklab_path::queue;

/// ns-2's `DSSS_MaxPropagationDelay`, there and back (`mac-802_11.h`).
const NS2_PROPAGATION: Duration = Duration::from_micros(4);

/// The rules that all nodes of a cell obey.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) reading: Reading,
    pub(super) timing: Timing,
    pub(super) control: ControlRates,
    /// The mode of the frame that reserves the medium before each OFDM frame.
    pub(super) protection: Option<(Protection, Mode)>,
    pub(super) has_qos: bool,
    /// Is even a single frame sent within an A-MPDU?
    pub(super) always_delimits: bool,
    pub(super) rts_threshold: Option<Bytes>,
    pub(super) retries: Retries,
    /// How long after its first transmission a frame under a Block ACK agreement may be sent again.
    pub(super) transmit_lifetime: Option<Duration>,
    /// Transmissions of a Block ACK request; none for no limit.
    pub(super) max_requests: Option<u8>,
    pub(super) lifetime: Option<Duration>,
    /// Octets of an A-MPDU; none without aggregation.
    pub(super) max_aggregate: Option<Bytes>,
    pub(super) max_frames: u64,
    pub(super) max_time: Duration,
    pub(super) a_msdu: Bytes,
    pub(super) window: u16,
    pub(super) after_missed: AfterMissed,
    /// Are the MPDUs of an aggregate passed up as each ends, or with the PPDU?
    pub(super) passes_up_each_mpdu: bool,
    pub(super) eifs_after_collision: EifsAfterCollision,
    /// From the end of a frame to the beginning of its response: SIFS, or more.
    pub(super) response_space: Duration,
}

/// The settings of one node.
pub(super) struct NodeSettings<'a> {
    pub(super) name: &'a str,
    pub(super) queue: queue::Config,
    pub(super) queues: Queues,
    pub(super) access: &'a Access,
    pub(super) rate: rate::Config,
}

/// The response frame that a PPDU elicits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Response {
    None,
    Cts,
    Ack,
    BlockAck,
}

impl Rules {
    /// Returns `None` if a basic rate is no rate of the standard.
    pub(super) fn new(config: &Config) -> Option<Self> {
        let standard = config.standard;
        let control = ControlRates::new(standard, config.short_preamble, config.basic_rates.as_deref())?;
        // The highest basic rate of HR/DSSS (10.6.9), when none is given: 2 Mbps.
        let dsss = ControlRates::new(crate::phy::Standard::B, config.short_preamble, None)?;
        let protection = (config.protection != Protection::None && config.band() == Band::Ghz2)
            .then(|| (config.protection, dsss.response_to(Mode::dsss(3, config.short_preamble))));
        let is_short_slot = !config.long_slot && config.protection == Protection::None;
        let mut timing = Timing::new(standard, config.band(), is_short_slot);
        timing.packet_extension = config.packet_extension.duration();
        let reading = config.dialect.reading();
        match reading.sensing {
            Sensing::CcaTime => {}
            Sensing::FourMicros => timing.cca = Duration::from_micros(4),
            Sensing::FirstBit => timing.cca = Duration::ZERO,
        }
        timing.cca += config.late_sensing;
        timing.is_dsss_rounded = reading.durations == Durations::WholeFrames;
        Some(Self {
            reading,
            response_space: timing.sifs + config.late_answers,
            timing,
            control,
            protection,
            has_qos: standard.has_qos(),
            always_delimits: standard.data_format().phy().is_always_a_mpdu,
            rts_threshold: config.rts_threshold,
            retries: config.retries,
            transmit_lifetime: Some(config.retries.lifetime)
                .filter(|lifetime| !lifetime.is_zero() && config.max_aggregate().is_some()),
            max_requests: config.retries.requests.or(reading.limits_requests.then_some(config.retries.short)),
            lifetime: config.lifetime,
            max_aggregate: config.max_aggregate(),
            max_frames: u64::from(config.aggregation.max_frames.unwrap_or(u16::MAX).min(config.window())),
            max_time: config.aggregation.max_time,
            a_msdu: if standard.has_qos() { config.aggregation.a_msdu } else { Bytes::ZERO },
            window: config.window(),
            after_missed: config.aggregation.after_missed,
            passes_up_each_mpdu: match config.aggregation.delivery {
                Some(delivery) => delivery == Delivery::Each,
                None => reading.passes_up_each_mpdu,
            },
            eifs_after_collision: config.eifs_after_collision.unwrap_or(reading.eifs_after_collision),
        })
    }

    pub(super) fn node_settings<'a>(&self, config: &'a Config, node: usize) -> NodeSettings<'a> {
        let mut before = 0;
        for station in &config.station {
            before += usize::from(station.count);
            if (1..=before).contains(&node) {
                return NodeSettings {
                    name: &station.name,
                    queue: station.queue,
                    queues: Queues::PerStation,
                    access: &station.access,
                    rate: station.rate.unwrap_or(config.rate),
                };
            }
        }
        let ap = &config.ap;
        NodeSettings {
            name: &ap.name,
            queue: ap.queue,
            queues: ap.queues,
            access: &ap.access,
            rate: ap.rate.unwrap_or(config.rate),
        }
    }

    /// Octets of a response frame.
    pub(super) const fn response_octets(&self, response: Response) -> Bytes {
        match response {
            Response::None => Bytes::ZERO,
            Response::Cts | Response::Ack => frame::ACK,
            Response::BlockAck => frame::block_ack(self.window),
        }
    }

    /// The duration of a response frame in this mode.
    pub(super) fn response_time(&self, response: Response, mode: Mode) -> Duration {
        self.timing.duration(mode, self.response_octets(response))
    }

    /// Are response frames later than SIFS?
    pub(super) fn has_late_responses(&self) -> bool {
        self.response_space > self.timing.sifs
    }

    /// How the reception of a PPDU ends at nodes that have decoded it or not, and have detected its preamble or not.
    pub(super) fn rx_end(&self, is_correct: bool, is_detected: bool) -> RxEnd {
        match (is_correct, is_detected) {
            (true, _) => RxEnd::Correct,
            (false, true) => RxEnd::Erroneous(self.eifs_extra()),
            (false, false) => RxEnd::Undetected,
        }
    }

    /// How much longer than AIFS a node defers after a frame that it could not decode: EIFS (10.3.2.3.7).
    pub(super) fn eifs_extra(&self) -> Duration {
        let extra = self.timing.eifs_extra(self.control.lowest_mandatory(), frame::ACK);
        match self.reading.eifs_end {
            EifsEnd::FirstSlot => extra,
            EifsEnd::Difs => extra + self.timing.aifs(2),
        }
    }

    /// Do nodes that all sense alike begin to receive a PPDU that they cannot decode?
    pub(super) fn detects(&self, exchange: &Exchange) -> bool {
        !exchange.is_undetected || self.eifs_after_collision == EifsAfterCollision::Always
    }

    /// Does the sender of this PPDU of a collision defer for EIFS?
    pub(super) fn defers_as_sender(&self, exchange: &Exchange) -> bool {
        exchange.is_outlasted
            && self.reading.colliding_senders == CollidingSenders::DeferIfOutlasted
            && self.detects(exchange)
    }

    /// How long after the end of an RTS a node that heard it waits for a PPDU before it resets its NAV: NAVTimeout (10.3.2.4).
    pub(super) fn nav_timeout(&self, cts: Mode) -> Duration {
        self.timing.sifs * 2 + self.response_time(Response::Cts, cts) + cts.preamble() + self.timing.slot * 2
    }

    /// How long after the end of its frame an initiator waits for the start of a response frame in this mode.
    pub(super) fn response_timeout(&self, mode: Mode) -> Duration {
        match self.reading.timeout {
            dialect::ResponseTimeout::Start => {
                self.timing.response_timeout(mode) + (self.response_space - self.timing.sifs)
            }
            dialect::ResponseTimeout::End => {
                self.response_space + self.response_time(Response::Ack, mode) + NS2_PROPAGATION
            }
        }
    }

    /// The number of values from which a backoff is drawn: 0 to one less.
    pub(super) fn backoffs(&self, window: u16) -> u64 {
        match self.reading.backoff_range {
            BackoffRange::ToWindow => u64::from(window) + 1,
            BackoffRange::BelowWindow => u64::from(window).max(1),
        }
    }

    /// The MPDU that carries one packet.
    pub(super) const fn mpdu(&self, packet: Bytes) -> Bytes {
        match self.reading.encapsulation {
            Encapsulation::LlcSnap => frame::mpdu(packet, self.has_qos),
            Encapsulation::Ns2 => frame::ns2_mpdu(packet),
        }
    }

    /// A duration field that covers `time` (9.2.5).
    pub(super) fn duration_field(&self, time: Duration) -> Duration {
        match self.reading.durations {
            Durations::WholeFrames => time,
            Durations::WholeFields => Duration::from_micros((time.as_nanos() + 500) / 1_000),
        }
    }

    /// Does the NAV of bystanders not end with the exchange, so that they count other slots than its two nodes?
    pub(super) fn nav_is_inexact(&self) -> bool {
        self.reading.durations == Durations::WholeFields && self.rts_threshold.is_some()
    }
}
